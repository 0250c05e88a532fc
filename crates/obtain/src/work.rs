//! What obtaining builds works with: the depot's directory, helpers, who says what a server is, who listens.

use std::path::{Path, PathBuf};

use model::{Build, Helper, ObtainEvent};

/// Asks the server in a directory what it is; the error is its answer or why there is none.
pub type Identify<'a> = dyn Fn(&Path) -> Result<Build, String> + 'a;

pub(crate) struct Work<'a> {
    pub(crate) root: &'a Path,
    pub(crate) helpers: &'a [Helper],
    pub(crate) identify: &'a Identify<'a>,
    pub(crate) listen: &'a mut dyn FnMut(ObtainEvent),
}

impl Work<'_> {
    /// What was fetched so far, and helpers that are ready.
    pub(crate) fn downloads(&self) -> PathBuf {
        self.root.join("downloads")
    }

    pub(crate) fn helper(&self, name: &str) -> Option<&Helper> {
        self.helpers.iter().find(|helper| helper.name == name)
    }
}
