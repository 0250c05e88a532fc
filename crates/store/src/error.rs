//! Errors of the store, and their remedies.

use std::path::{Path, PathBuf};

use model::RunId;
use rusqlite::ErrorCode;
use rusqlite::ffi::SQLITE_IOERR_SHMSIZE;

/// An operation on the lab's store that failed. Nothing of a failed write is kept.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("cannot open {}; check that its directory exists and that you may read and write there", .path.display())]
    Open { path: PathBuf, source: rusqlite::Error },
    #[error("{} is a directory, not the store of a lab; move it away, or use another lab directory (--lab)", .path.display())]
    Directory { path: PathBuf },
    #[error("{} is read-only here, {doing} failed; use a lab that you may write to", .path.display())]
    ReadOnly { path: PathBuf, doing: &'static str },
    #[error("{} is read-only here and cannot be read: {why}; copy the lab to a directory that you may write to", .path.display())]
    NeedsWriting { path: PathBuf, why: &'static str },
    #[error("{} is not the store of a lab; choose another lab directory", .path.display())]
    NotALab { path: PathBuf },
    #[error(
        "{} was written by backslide {written_by} (schema {found}, this one knows {known}); use that version or another lab directory",
        .path.display()
    )]
    Newer { path: PathBuf, written_by: String, found: u32, known: u32 },
    #[error("{} is locked by another process, {doing} failed; wait for it, or end it", .path.display())]
    Locked { path: PathBuf, doing: &'static str },
    #[error("the disk that holds {} is full, {doing} failed; make room", .path.display())]
    Full { path: PathBuf, doing: &'static str },
    #[error("{} is damaged: {what}: {cause}; restore it from a copy, or use another lab directory", .path.display())]
    Damaged { path: PathBuf, what: String, cause: String },
    #[error("{} has no run {id}; `backslide list` prints the available runs", .path.display())]
    UnknownRun { path: PathBuf, id: RunId },
    /// The trial has an outcome already and is not done again.
    #[error("the trial of {system} in round {round} of run {run} is over already")]
    TrialIsOver { run: RunId, round: u32, system: String },
    /// The target of a write is gone: another process started the same trial again.
    #[error("{} no longer has the {what} that is being written; is the same run going on in another process?", .path.display())]
    Gone { path: PathBuf, what: &'static str },
    #[error(
        "this lab has a part of campaign `{campaign}` already, {run}: resume that, use another lab (--lab), or name another campaign (--campaign)"
    )]
    CampaignTaken { run: RunId, campaign: String },
    #[error("{} is not a lab: it has no lab.sqlite", .path.display())]
    NoLab { path: PathBuf },
    #[error("{} is the lab to merge into; name only other labs before `-o`", .path.display())]
    IntoItself { path: PathBuf },
    #[error("{} is in use by another process; end it, then merge again", .path.display())]
    InUse { path: PathBuf },
    #[error(transparent)]
    NotOneRun(Box<NotOneRun>),
    #[error("{doing} failed in {}", .path.display())]
    Sqlite { path: PathBuf, doing: &'static str, source: rusqlite::Error },
}

/// Two labs have parts that do not belong together.
#[derive(Debug, thiserror::Error)]
#[error("{run} of {} cannot join {other_run} of {}: {what} differs: `{here}` and `{there}`; {remedy}", .path.display(), .other.display())]
pub struct NotOneRun {
    pub run: RunId,
    pub path: PathBuf,
    pub other_run: RunId,
    pub other: PathBuf,
    pub what: String,
    pub here: String,
    pub there: String,
    pub remedy: &'static str,
}

pub(crate) type Result<T, E = StoreError> = std::result::Result<T, E>;

/// An error inside a transaction, before file and purpose are added.
#[derive(Debug)]
pub(crate) enum Fault {
    Sqlite(rusqlite::Error),
    Damaged { what: String, cause: String },
    Gone(&'static str),
    UnknownRun(RunId),
    Known(Box<StoreError>),
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        Self::Known(Box::new(error))
    }
}

impl Fault {
    /// What is no error of `SQLite` itself: a value that it cannot store, a file that is not moved.
    pub(crate) fn other(cause: impl std::error::Error + Send + Sync + 'static) -> Self {
        Self::Sqlite(rusqlite::Error::ToSqlConversionFailure(Box::new(cause)))
    }

    pub(crate) fn damaged(what: impl Into<String>, cause: &impl ToString) -> Self {
        Self::Damaged { what: what.into(), cause: cause.to_string() }
    }

    pub(crate) fn at(self, path: &Path, doing: &'static str) -> StoreError {
        let path = path.to_owned();
        match self {
            Self::Known(error) => *error,
            Self::Gone(what) => StoreError::Gone { path, what },
            Self::UnknownRun(id) => StoreError::UnknownRun { path, id },
            Self::Damaged { what, cause } => StoreError::Damaged { path, what, cause },
            Self::Sqlite(source) => of_sqlite(source, path, doing),
        }
    }
}

fn of_sqlite(source: rusqlite::Error, path: PathBuf, doing: &'static str) -> StoreError {
    let cause = source.sqlite_error();
    // The index of the write-ahead log could not grow: also a full disk, under another name.
    let is_full = cause.is_some_and(|e| e.extended_code == SQLITE_IOERR_SHMSIZE);
    match cause.map(|e| e.code) {
        Some(ErrorCode::DatabaseCorrupt) => damaged(&source, path, doing),
        None if is_wrong_value(&source) => damaged(&source, path, doing),
        _ if is_full => StoreError::Full { path, doing },
        Some(ErrorCode::DiskFull) => StoreError::Full { path, doing },
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            StoreError::Locked { path, doing }
        }
        Some(ErrorCode::NotADatabase) => StoreError::NotALab { path },
        Some(ErrorCode::ReadOnly) => StoreError::ReadOnly { path, doing },
        Some(ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
            StoreError::Open { path, source }
        }
        _ => StoreError::Sqlite { path, doing, source },
    }
}

fn damaged(source: &rusqlite::Error, path: PathBuf, doing: &str) -> StoreError {
    StoreError::Damaged { path, what: format!("{doing} failed"), cause: source.to_string() }
}

/// Does a column violate the schema?
fn is_wrong_value(error: &rusqlite::Error) -> bool {
    matches!(
        error,
        rusqlite::Error::FromSqlConversionFailure(..)
            | rusqlite::Error::IntegralValueOutOfRange(..)
            | rusqlite::Error::InvalidColumnType(..)
            | rusqlite::Error::Utf8Error(..)
    )
}
