//! The parts of the page: what they are made from, and the heading of one.

use maud::{Markup, html};

use super::evidence::Cells;
use super::room::Extent;
use super::sections::Sections;
use crate::{Report, Table};

/// What the parts of a page are made from.
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

/// A section that people who jump from one to the next know by its heading.
pub(super) fn part(id: &str, title: &str, content: &Markup) -> Markup {
    html! {
        section id=(id) aria-labelledby={ (id) "-title" } {
            h2 id={ (id) "-title" } { (title) }
            (content)
        }
    }
}
