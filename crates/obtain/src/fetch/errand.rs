//! What all sources need to fetch something.

use std::ffi::OsStr;
use std::fs;
use std::path::{self, Path, PathBuf};

use model::{Bytes, ObtainEvent, Origin};
use tempfile::TempDir;

use super::client::{Call, Clients, End, Finished};
use crate::Listen;
use crate::error::{FetchError, ObtainError, Result, Trouble};
use crate::tree;

/// How much may come of what nobody has recorded the size of; the largest archive of the catalog has 528 MiB.
const MOST_OF_UNKNOWN: Bytes = Bytes(8 << 30);

/// How much may come beyond twice the recorded size.
const SLACK: Bytes = Bytes(256 << 20);

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fetched {
    /// The archives that the parcel's placing is about.
    pub(crate) archives: Vec<PathBuf>,
    /// Archives of the libraries that their programs need; of packages of a distribution only.
    pub(crate) libraries: Vec<PathBuf>,
}

/// Should the libraries that packages need be fetched too?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Closure {
    /// So that the programs run on another release.
    Whole,
    /// The packages alone: they are themselves for this host.
    None,
}

pub(crate) struct Errand<'a> {
    pub(super) what: String,
    /// How much it is, about.
    pub(super) total: Bytes,
    /// The directory of the parcel: absolute, and it exists.
    pub(super) into: PathBuf,
    pub(super) clients: &'a Clients,
    listen: &'a mut Listen<'a>,
}

impl<'a> Errand<'a> {
    /// Fetches into `into`, the directory of a parcel, which need not exist yet.
    pub(crate) fn new(
        origin: &Origin,
        total: Bytes,
        into: &Path,
        clients: &'a Clients,
        listen: &'a mut Listen<'a>,
    ) -> Result<Self> {
        // Clients run in directories of their own, where a relative path would lead elsewhere.
        let into = path::absolute(into).map_err(ObtainError::io("find", into))?;
        make_directory(&into)?;
        Ok(Self { what: origin.describe(), total, into, clients, listen })
    }

    pub(super) fn tell(&mut self, done: u64) {
        (self.listen)(ObtainEvent::Fetching {
            what: self.what.clone(),
            done: Bytes(done),
            total: self.total,
        });
    }

    /// The first of these programs that is installed; `install` says what has them.
    pub(super) fn client(
        &self,
        names: &[&str],
        install: &'static str,
    ) -> Result<PathBuf, FetchError> {
        self.clients.find(names).ok_or_else(|| FetchError::NoClient {
            what: self.what.clone(),
            client: names.join(" or "),
            install,
        })
    }

    /// Runs a client; an error where it does not do what it was asked.
    pub(super) fn run(&mut self, call: &Call<'_>) -> Result<Finished> {
        let finished = self.attempt(call)?;
        if finished.is_well() {
            return Ok(finished);
        }
        Err(self.failed(&call.name(), Trouble::Said(finished.last_words())))
    }

    /// Runs a client that may fail; an error only where it could not be run, did nothing any more or would
    /// not end. A client's own limit would hold only where the server says the length.
    pub(super) fn attempt(&mut self, call: &Call<'_>) -> Result<Finished> {
        let patience = self.clients.patience;
        let most = self.most();
        let finished = call
            .run(patience, most, &mut |size| self.tell(size))
            .map_err(ObtainError::io("run", call.program))?;
        finished.found_room(&self.into)?;
        match finished.end {
            End::Exited(_) | End::NoSpace { .. } => Ok(finished),
            End::TooLarge => {
                // Going on from it would end in the same way.
                call.grows.map_or(Ok(()), tree::remove)?;
                Err(self.failed(&call.name(), Trouble::TooLarge(most)))
            }
            End::Stalled => {
                let said = finished.last_words();
                Err(self.failed(&call.name(), Trouble::Stalled { limit: patience, said }))
            }
        }
    }

    /// How much may come: what is recorded is about right, and clients keep a little beside it.
    fn most(&self) -> Bytes {
        match self.total {
            Bytes(0) => MOST_OF_UNKNOWN,
            Bytes(total) => Bytes(total.saturating_mul(2).saturating_add(SLACK.0)),
        }
    }

    pub(super) fn failed(&self, client: &str, trouble: Trouble) -> ObtainError {
        FetchError::Client { what: self.what.clone(), client: client.to_owned(), trouble }.into()
    }

    pub(super) fn keep(&self, call: &Call<'_>, made: &Path, archive: PathBuf) -> Result<PathBuf> {
        if !made.is_file() {
            let name = archive.file_name().unwrap_or_default().to_string_lossy().into_owned();
            return Err(self.failed(&call.name(), Trouble::NothingCame(name)));
        }
        fs::rename(made, &archive).map_err(ObtainError::io("move", made))?;
        Ok(archive)
    }

    /// A directory that parcels share. One process at a time uses it: whoever has the depot's lock.
    pub(super) fn shared(&self, name: &str) -> Result<PathBuf> {
        let directory = self.into.parent().unwrap_or(&self.into).join(name);
        make_directory(&directory)?;
        Ok(directory)
    }

    /// An empty directory for what a client writes; what an earlier one left there is gone.
    pub(super) fn workplace(&self) -> Result<TempDir> {
        let path = self.into.join("working");
        tree::remove(&path)?;
        let make = tempfile::Builder::new().prefix("working").rand_bytes(0).tempdir_in(&self.into);
        make.map_err(ObtainError::io("create", &path))
    }
}

pub(super) fn make_directory(path: &Path) -> Result<()> {
    fs::create_dir_all(path).map_err(ObtainError::io("create", path))
}

/// The files in a directory whose names satisfy `wanted`, by name.
pub(super) fn files_in(directory: &Path, wanted: impl Fn(&str) -> bool) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(directory).map_err(ObtainError::io("read", directory))?;
    let mut found: Vec<PathBuf> = entries
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .filter(|path| path.is_file())
        .filter(|path| path.file_name().and_then(OsStr::to_str).is_some_and(&wanted))
        .collect();
    found.sort();
    Ok(found)
}

/// Is this a part of coordinates that no client takes for an option and no directory for a way out?
pub(super) fn is_plain(part: &str, also: &str) -> bool {
    part.starts_with(|first: char| first.is_ascii_alphanumeric())
        && !part.contains("..")
        && part.chars().all(|c| c.is_ascii_alphanumeric() || "._+-".contains(c) || also.contains(c))
}
