//! What is wrong with a file that was to be imported.

/// A file that cannot be imported: which, where in it, and what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{origin}:{line}: {what}")]
pub struct ImportError {
    /// The file, as people know it.
    pub origin: String,
    /// The line, from 1; where something is missing, the last one.
    pub line: usize,
    /// What is wrong.
    pub what: String,
}
