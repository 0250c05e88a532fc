//! Why something could not be fetched.

use std::path::PathBuf;
use std::time::Duration;

use model::Bytes;

use super::debian::SUITES;

/// A source did not give what was asked of it.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// Coordinates that are none.
    #[error("`{given}` are no coordinates of {source_name}: write {form}")]
    Coordinates {
        /// `Maven`.
        source_name: &'static str,
        /// As they are.
        given: String,
        /// As they are to be.
        form: &'static str,
    },
    /// An address that no client of ours may open.
    #[error(
        "cannot fetch {address}: only addresses that begin with http:// or https:// are opened"
    )]
    Address {
        /// The address.
        address: String,
    },
    /// A file that is not there, or no file.
    #[error("{} is no file that can be read: give the path of an archive", .path.display())]
    NoFile {
        /// The path.
        path: PathBuf,
    },
    /// A file of the user's own that is not the one that is meant.
    #[error(
        "{} is not what it should be: its SHA-256 is {found}, expected is {expected}",
        .path.display()
    )]
    OtherFile {
        /// The file.
        path: PathBuf,
        /// As it is known.
        expected: String,
        /// As it is.
        found: String,
    },
    /// The client of a source is not installed.
    #[error(
        "cannot fetch {what}: there is no {client} on this machine: install {install}, or fetch the archive elsewhere and say `backslide add NAME --archive FILE`"
    )]
    NoClient {
        /// Coordinates.
        what: String,
        /// The program, or those of which one is enough.
        client: String,
        /// What has it.
        install: &'static str,
    },
    /// A client gave up.
    #[error("cannot fetch {what}: {client} said: {said}")]
    Refused {
        /// Coordinates.
        what: String,
        /// The program.
        client: String,
        /// Its own last words.
        said: String,
    },
    /// A client that no longer does anything.
    #[error(
        "cannot fetch {what}: {client} was ended, because nothing came for {}; its last words: {said}. Try again: what is there already is kept",
        words(*.limit)
    )]
    Stalled {
        /// Coordinates.
        what: String,
        /// The program.
        client: String,
        /// How long it was quiet.
        limit: Duration,
        /// Its own last words.
        said: String,
    },
    /// A download without end, or of something else.
    #[error(
        "cannot fetch {what}: {client} was ended after {most}, more than the archive can have; what came is removed. If the archive is that large, fetch it elsewhere and say `backslide add NAME --archive FILE`"
    )]
    TooLarge {
        /// Coordinates.
        what: String,
        /// The program.
        client: String,
        /// How much may come.
        most: Bytes,
    },
    /// A client that says it is done, and is not.
    #[error("cannot fetch {what}: {client} ended well, but {missing} is not there")]
    NothingCame {
        /// Coordinates.
        what: String,
        /// The program.
        client: String,
        /// The file.
        missing: String,
    },
    /// A suite that is not known here.
    #[error("cannot fetch from Debian's suite `{suite}`: the suites are {}, and {{release}}-security", SUITES.join(", "))]
    Suite {
        /// As it is asked for.
        suite: String,
    },
    /// The host names no mirror of Debian.
    #[error(
        "cannot fetch {what}: this machine's apt knows no {mirror} of Debian: describe one in /etc/apt/sources.list.d (with `Enabled: no` it serves nothing else), or fetch the archive elsewhere and say `backslide add NAME --archive FILE`"
    )]
    NoMirror {
        /// Coordinates.
        what: String,
        /// `mirror` or `security mirror`.
        mirror: &'static str,
    },
    /// A package that a suite does not have, or no longer in this version.
    #[error("cannot fetch {what}: {suite} has no package {package}{}", instead(.versions))]
    NoPackage {
        /// Coordinates.
        what: String,
        /// The suite.
        suite: String,
        /// The package, as it is asked for.
        package: String,
        /// The versions that the suite has now.
        versions: Vec<String>,
    },
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
