//! Why something could not be fetched.

use std::path::PathBuf;
use std::time::Duration;

use model::Bytes;

#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    #[error("`{given}` are no coordinates of {source_name}: write {form}")]
    Coordinates { source_name: &'static str, given: String, form: &'static str },
    #[error(
        "cannot fetch {address}: only addresses that begin with http:// or https:// are opened"
    )]
    Address { address: String },
    #[error("{} is not a readable file: give the path of an archive", .path.display())]
    NoFile { path: PathBuf },
    #[error(
        "{} has the wrong SHA-256: found {found}, expected {expected}",
        .path.display()
    )]
    OtherFile { path: PathBuf, expected: String, found: String },
    #[error(
        "cannot fetch {what}: {client} is missing on this machine: install {install}, or fetch the archive elsewhere and say `backslide add NAME --archive FILE`"
    )]
    NoClient { what: String, client: String, install: &'static str },
    #[error("cannot fetch {what}: {client} {trouble}")]
    Client { what: String, client: String, trouble: Trouble },
    #[error(
        "cannot fetch from Debian's suite `{suite}`: the suites are {}, and {{release}}-security",
        known
    )]
    Suite { suite: String, known: String },
    #[error(
        "cannot fetch {what}: this machine's apt knows no {mirror} of Debian: describe one in /etc/apt/sources.list.d (with `Enabled: no` it serves nothing else), or fetch the archive elsewhere and say `backslide add NAME --archive FILE`"
    )]
    NoMirror { what: String, mirror: &'static str },
    #[error("cannot fetch {what}: {suite} has no package {package}{}", instead(.versions))]
    NoPackage { what: String, suite: String, package: String, versions: Vec<String> },
}

/// What a client did instead of fetching; continues a sentence.
#[derive(Debug, thiserror::Error)]
pub enum Trouble {
    #[error("said: {0}")]
    Said(String),
    #[error(
        "was ended, because nothing came for {}; its last words: {said}. Try again: what is there already is kept",
        words(*.limit)
    )]
    Stalled { limit: Duration, said: String },
    #[error(
        "was ended after {0}, more than the archive can have; what came is removed. If the archive is that large, fetch it elsewhere and say `backslide add NAME --archive FILE`"
    )]
    TooLarge(Bytes),
    #[error("ended well, but {0} is not there")]
    NothingCame(String),
}

/// A limit as people say it.
fn words(limit: Duration) -> String {
    model::Nanos::from(limit).to_string()
}

/// What a suite has instead.
fn instead(versions: &[String]) -> String {
    if versions.is_empty() {
        " in any version".to_owned()
    } else {
        format!(
            ": it has {} now, and packages of a suite are replaced; a build of one's own is added by `backslide add`",
            versions.join(", ")
        )
    }
}
