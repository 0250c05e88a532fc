//! Events in order, as lines of text.

use std::sync::{Arc, Mutex, PoisonError};

/// Shared by everything that has side effects in a test; copies write into the same lines.
#[derive(Clone, Debug, Default)]
pub struct Diary(Arc<Mutex<Vec<String>>>);

impl Diary {
    /// Adds a line.
    pub fn note(&self, line: impl Into<String>) {
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        lines.push(line.into());
    }

    /// All lines so far.
    pub fn lines(&self) -> Vec<String> {
        let lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        lines.clone()
    }
}
