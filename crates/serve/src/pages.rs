//! What is asked for, what is answered, and who makes it.

/// An address of a page: `/runs/r1?base=a` has the path `runs`, `r1`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Address {
    pub path: Vec<String>,
    pub query: Vec<(String, String)>,
}

impl Address {
    /// The first value of a key of the query, unless it is empty.
    pub fn asked(&self, key: &str) -> Option<&str> {
        let mut all = self.query.iter();
        all.find(|(name, value)| name == key && !value.is_empty()).map(|(_, value)| value.as_str())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Html,
    OpenMetrics,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    pub kind: Kind,
    pub text: String,
}

#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// Nothing is at this address; the text says what there is.
    #[error("{0}")]
    Missing(String),
    /// The address asks for what cannot be shown; the text says why.
    #[error("{0}")]
    Wrong(String),
    #[error("{0}")]
    Failed(String),
}

/// Who makes the pages. All methods are called from one thread.
pub trait Pages: Send + 'static {
    /// While this stays the same, so does the page. Cheap to find out. `None`: the page is made anew each time.
    fn state(&mut self, address: &Address) -> Result<Option<String>, Refusal>;

    fn page(&mut self, address: &Address) -> Result<Page, Refusal>;

    /// The part of the page of a run that changes while it is measured, as HTML, and whether it still changes.
    fn live(&mut self, run: &str) -> Result<(String, bool), Refusal>;
}
