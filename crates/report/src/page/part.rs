//! A part of the page under its heading.

use maud::{Markup, html};

/// A section that people who jump from one to the next know by its heading.
pub(super) fn part(id: &str, title: &str, content: &Markup) -> Markup {
    html! {
        section id=(id) aria-labelledby={ (id) "-title" } {
            h2 id={ (id) "-title" } { (title) }
            (content)
        }
    }
}
