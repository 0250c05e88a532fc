//! Which letter, colour, dash and marker is which system.

use maud::{Markup, html};

use crate::chart::style::Style;
use crate::view::{Seen, View};

/// All systems.
pub(super) fn legend(view: &View<'_>) -> Markup {
    html! {
        ul.legend {
            @for system in &view.systems {
                li data-system=(system.key) { (chip(system)) " " (Style(system.index).swatch()) " " (name(system.name)) (role(system)) }
            }
        }
    }
}

/// The letter of a system in its colour.
pub(super) fn chip(system: &Seen<'_>) -> Markup {
    html! { span.chip.(Style(system.index).class()) { (system.key) } }
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
