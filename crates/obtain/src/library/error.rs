//! Why a server has not got the libraries that it needs.

use std::path::PathBuf;

/// An error of the whole crate, which has this one in it.
type Cause = Box<dyn std::error::Error + Send + Sync>;

#[derive(Debug, thiserror::Error)]
pub enum LibraryError {
    #[error(
        "the server needs the library {library}, which this machine does not have: install the distribution's package that has it (`apt-file search {library}` or `dnf provides '*/{library}'` name it), or copy it into the build's lib directory"
    )]
    Missing { library: String },
    #[error(
        "the server needs the library {library}, which this machine does not have: install the distribution's package that has it, or see why it cannot be fetched: {cause}"
    )]
    NotFetched { library: String, cause: Cause },
    #[error("the server does not find lib/{library} of its own directory: {answer}")]
    NotFoundThere { library: String, answer: String },
    #[error("{what} has no {name} in it where the catalog says")]
    NotInside { what: String, name: String },
    #[error("the libraries of the packages are incomplete: {missing} is missing")]
    NotWhole { missing: &'static str },
    #[error(
        "cannot make these programs use the libraries of their own release: patchelf is missing; install patchelf, or see why it cannot be fetched: {cause}"
    )]
    NoPatchelf { cause: Cause },
    #[error("cannot make {} use the libraries of its own release: patchelf said: {said}", .program.display())]
    Patchelf { program: PathBuf, said: String },
}
