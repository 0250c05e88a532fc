//! Builds on this machine, kept by content: a directory a digest, a small file a name.

use std::path::{Path, PathBuf};

use model::{Build, BuildFacts, Bytes, Helper, ObtainEvent, Recipe};
use serde::{Deserialize, Serialize};

use crate::error::ObtainError;

/// Asks the server in a directory what it is; the error is its answer or why there is none.
pub type Identify<'a> = dyn Fn(&Path) -> Result<Build, String> + 'a;

/// A build that is on this machine under a name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Installed {
    /// Its name: what a plan calls it.
    pub name: String,
    /// What its server says that it is; the source is [`model::BuildSource::Installed`], or
    /// [`model::BuildSource::Path`] for a directory of the user's own.
    pub build: Build,
    /// SHA-256 of the archive that it came from, where it was one.
    pub archive: Option<String>,
    /// What it takes on the disk; zero for a directory of the user's own.
    pub size: Bytes,
    /// When it was installed: RFC 3339, in UTC.
    pub installed: String,
}

/// What the user adds himself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Added {
    /// A directory that stays where it is.
    Path(PathBuf),
    /// An archive: a file or an address.
    Archive(String),
}

/// The builds of this user, shared by all labs.
#[derive(Clone, Debug)]
pub struct Depot {
    root: PathBuf,
}

impl Depot {
    /// The depot in `root`, which need not exist yet.
    pub fn new(root: PathBuf) -> Self {
        Self { root }
    }

    /// Every build that is installed, by name.
    pub fn installed(&self) -> Result<Vec<Installed>, ObtainError> {
        let _ = &self.root;
        Ok(Vec::new())
    }

    /// The build with this name.
    pub fn find(&self, _name: &str) -> Result<Option<Installed>, ObtainError> {
        Ok(None)
    }

    /// Installs what `recipe` says; one that is there already is only looked at.
    pub fn install(
        &self,
        _recipe: &Recipe,
        _helpers: &[Helper],
        _identify: &Identify<'_>,
        _listen: &mut dyn FnMut(ObtainEvent),
    ) -> Result<Installed, ObtainError> {
        Err(ObtainError::Unfinished)
    }

    /// Adds a build of the user's own under `name`.
    pub fn add(
        &self,
        _name: &str,
        _what: &Added,
        _helpers: &[Helper],
        _identify: &Identify<'_>,
        _listen: &mut dyn FnMut(ObtainEvent),
    ) -> Result<Installed, ObtainError> {
        let _ = BuildFacts::default();
        Err(ObtainError::Unfinished)
    }

    /// Forgets the build and removes its files, unless another name still has them. What it took.
    pub fn remove(&self, _name: &str) -> Result<Bytes, ObtainError> {
        Ok(Bytes(0))
    }
}
