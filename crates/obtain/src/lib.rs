//! Obtains builds of database servers: fetched by the user's own clients, unpacked with distrust,
//! verified, and kept by content in the [`Depot`].
//!
//! **coordinates → archives → checked files → a directory under its digest → a name.** A
//! [`model::Recipe`] says where a build comes from and what goes where; the clients (`npm`, `cargo`,
//! `mvn`, `pip`, `apt-get`, `curl`) bring the user's own mirrors and proxies along. What a build is, its
//! own server says: this crate asks through [`Identify`], and knows of servers only what their programs
//! are called.

mod archive;
mod compile;
mod depot;
mod error;
mod fetch;
mod library;
mod place;
mod repository;
#[cfg(test)]
mod tests;
mod tree;

use std::path::{Path, PathBuf};

use model::{Build, Cause, Helper, ObtainEvent};

pub use archive::Flaw;
pub use depot::{Added, Depot, Effort, Held, Installed, Obtained, now};
pub use error::ObtainError;
pub use repository::{Commit, CommitBuilds, Repository};
pub use tree::{file_digest, text_digest};

/// Asks the server in a directory what it is; the error is its answer or why there is none.
pub type Identify<'a> = dyn Fn(&Path) -> Result<Build, Cause> + 'a;

/// Is told what is done.
pub type Listen<'a> = dyn FnMut(ObtainEvent) + 'a;

/// What obtaining builds works with: the depot's directory, helpers, who says what a server is, who listens.
pub(crate) struct Work<'a> {
    pub(crate) root: &'a Path,
    pub(crate) helpers: &'a [Helper],
    pub(crate) identify: &'a Identify<'a>,
    pub(crate) listen: &'a mut Listen<'a>,
    pub(crate) effort: Effort,
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
