//! What the parts of the page are made from, the heading of one.

use maud::{Markup, html};

use super::evidence::Cells;
use super::legend::Link;
use super::sections::{Extent, Sections};
use crate::{Report, Seen, Table};

pub(super) struct Page<'p, 'a> {
    pub(super) all: &'p Report<'a>,
    /// The systems that tables over all steps have room for.
    pub(super) listed: &'p Report<'a>,
    /// The systems that are shown step by step.
    pub(super) near: &'p Report<'a>,
    pub(super) sections: &'p Sections,
    pub(super) cells: &'p Cells,
    /// The groups of tests, where the workload has any.
    pub(super) groups: Option<Table>,
    /// How much of each step there is room for.
    pub(super) extent: Extent,
}

impl Page<'_, '_> {
    /// What leads from a cell to the section of its step, or elsewhere where it has none; scripts open the
    /// evidence instead.
    pub(super) fn link(&self, system: &Seen<'_>, place: usize, elsewhere: &str) -> Link {
        let to = self.sections.link(place).to.unwrap_or_else(|| elsewhere.to_owned());
        Link { to: Some(to), cell: self.cells.key(system, place) }
    }
}

/// A section that people who jump from one to the next know by its heading.
pub(super) fn part(id: &str, title: &str, content: &Markup) -> Markup {
    html! {
        section id=(id) aria-labelledby={ (id) "-title" } {
            h2 id={ (id) "-title" } { (title) }
            (content)
        }
    }
}
