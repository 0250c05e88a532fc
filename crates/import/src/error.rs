//! What is wrong with a file that was to be imported.

/// A file that cannot be imported: which, where in it, and what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{origin}:{line}: {what}")]
pub struct ImportError {
    pub origin: String,
    /// The line, from 1; where something is missing, the last one.
    pub line: usize,
    pub what: String,
}
