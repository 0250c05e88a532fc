//! What leads from one place of the page to another.

use maud::{Markup, html};

/// A place in the page, where it is there.
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
