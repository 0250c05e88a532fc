//! Why a server has not got the libraries that it needs.

use std::path::PathBuf;

use crate::error::ObtainError;

/// A server cannot have the libraries that it needs.
#[derive(Debug, thiserror::Error)]
pub enum LibraryError {
    /// One that this host does not have, and that is not known how to get.
    #[error(
        "the server needs the library {library}, which this machine does not have: install the distribution's package that has it (`apt-file search {library}` or `dnf provides '*/{library}'` name it), or copy it into the build's lib directory"
    )]
    Missing {
        /// The file.
        library: String,
    },
    /// One that this host does not have, and that could not be fetched.
    #[error(
        "the server needs the library {library}, which this machine does not have: install the distribution's package that has it, or see why it cannot be fetched: {cause}"
    )]
    NotFetched {
        /// The file.
        library: String,
        /// Why.
        cause: Box<ObtainError>,
    },
    /// One that is where it should be, and is not found there.
    #[error("the server does not find lib/{library} of its own directory: {answer}")]
    NotFoundThere {
        /// The file.
        library: String,
        /// What it says.
        answer: String,
    },
    /// A helper whose archive does not have it.
    #[error("{what} has no {name} in it where the catalog says")]
    NotInside {
        /// Coordinates.
        what: String,
        /// The file.
        name: String,
    },
    /// The libraries of a release without its loader or C library.
    #[error("the libraries of the packages are not whole: there is no {missing} among them")]
    NotWhole {
        /// The file.
        missing: &'static str,
    },
    /// The tool that leads programs to other libraries.
    #[error(
        "cannot make these programs use the libraries of their own release: there is no patchelf; install patchelf, or see why it cannot be fetched: {cause}"
    )]
    NoPatchelf {
        /// Why.
        cause: Box<ObtainError>,
    },
    /// It fails.
    #[error("cannot make {} use the libraries of its own release: patchelf said: {said}", .program.display())]
    Patchelf {
        /// The program.
        program: PathBuf,
        /// Its own last words.
        said: String,
    },
}
