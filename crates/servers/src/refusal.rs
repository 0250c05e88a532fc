//! What a build or a server cannot be given.

use std::path::PathBuf;

use model::Engine;

/// A part of a build that initialisation needs and that is not there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} is missing from {}", .place.display())]
pub struct Missing {
    pub what: String,
    pub place: PathBuf,
}

/// A setting that cannot be given to this server.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("setting `{name}` {problem}")]
pub struct SettingError {
    pub name: String,
    pub problem: &'static str,
}

/// An engine that a build does not have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{build} has no {engine}: {why}; {who}")]
pub struct EngineMissing {
    pub build: String,
    pub engine: Engine,
    pub why: String,
    pub who: String,
}

/// A library to preload that cannot be had.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PreloadError {
    #[error(
        "the library to preload, `{name}`, is not there: looked for {files} in {places}; install it, or give its whole path"
    )]
    NotFound { name: String, files: String, places: String },
    #[error(
        "the library to preload, `{name}`, is neither a name nor a whole path: write `jemalloc` or `/…/libjemalloc.so.2`"
    )]
    Relative { name: String },
    #[error(
        "the library to preload, {}, has a blank or a colon in its path, where the loader sees the end of it: link it to another place", .path.display()
    )]
    Separator { path: PathBuf },
}
