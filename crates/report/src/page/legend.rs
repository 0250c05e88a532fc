//! Which letter, colour, dash and marker is which system; and what leads from one place of the page to another.

use maud::{Markup, html};

use crate::{Report, Seen};

pub(super) fn legend(report: &Report<'_>) -> Markup {
    html! {
        ul.legend {
            @for system in &report.systems {
                li data-system=(system.key) { (chip(system)) " " (system.style().swatch()) " " (name(system.name)) (role(system)) }
            }
        }
    }
}

/// The letter of a system in its colour.
pub(super) fn chip(system: &Seen<'_>) -> Markup {
    html! { span.chip.(system.style().class()) { (system.key) } }
}

/// Is it the base? The control is called so.
pub(super) fn role(system: &Seen<'_>) -> Markup {
    html! {
        @if system.is_base { span.role { " base" } }
    }
}

/// A name that a narrow column breaks after its slashes and underscores.
pub(super) fn name(text: &str) -> Markup {
    html! {
        @for (place, part) in text.split_inclusive(['/', '_']).enumerate() {
            @if place > 0 { wbr; }
            (part)
        }
    }
}

pub(crate) struct Link {
    pub(crate) to: Option<String>,
    /// The cell whose evidence scripts open instead.
    pub(crate) cell: Option<String>,
}

impl Link {
    /// The content as a link, or as it is.
    pub(super) fn around(&self, content: &Markup) -> Markup {
        html! {
            @if let Some(to) = &self.to { a href=(to) data-cell=[self.cell.as_ref()] { (content) } }
            @else { span.cell { (content) } }
        }
    }
}
