//! Several readers of a run of many steps, for the first look at it. Where nothing of the file is in memory yet,
//! each page of it is waited for alone, and the pages of a step do not follow each other in the file, so that the
//! kernel does not read ahead. Readers wait at the same time; where all is in memory they share the CPUs.
//!
//! Nothing else may read ahead: who closes the file by other means than `SQLite`'s takes its locks away.

use std::panic::resume_unwind;
use std::path::Path;
use std::thread;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, params};

use super::below::Below;
use super::finished::{FinishedStep, Want};
use crate::error::Fault;
use crate::sqlite::keep_plans;

/// Minimum number of steps for several readers; fewer steps load in less than a tenth of a second.
pub(crate) const MANY: usize = 256;

/// How many there are. A disk without moving parts answers as many about as fast as one.
const READERS: usize = 8;

/// A step as another connection must find it.
const SAME: &str = "SELECT 1 FROM step JOIN trial ON trial.id = step.trial
     WHERE step.id = ?1 AND name = ?2 AND system = ?3 AND round = ?4";

/// What lies below the steps. Where they are many, the first of them are read here, and each further part by a
/// thread of its own, with a connection of its own to the file at `path`.
pub(super) fn read_below(
    state: &Connection,
    path: &Path,
    steps: &[&FinishedStep],
    want: Want,
) -> Result<Below, Fault> {
    if steps.len() < MANY {
        return Below::read(state, steps, want);
    }
    let each = steps.len().div_ceil(READERS);
    let (first, further) = steps.split_at(each);
    thread::scope(|scope| {
        let readers = further.chunks(each).map(|part| {
            let read = move || read_beside(path, part, want);
            (part, thread::Builder::new().spawn_scoped(scope, read).ok())
        });
        // All begin now.
        let readers: Vec<_> = readers.collect();
        let mut below = Below::read(state, first, want)?;
        for (part, reader) in readers {
            // Without a thread it takes longer. What the other connection could not read this one may, or says
            // what is wrong.
            let read =
                reader.map(|reader| reader.join().unwrap_or_else(|panic| resume_unwind(panic)));
            let rest = read.and_then(|read| read.ok().flatten());
            below.append(rest.map_or_else(|| Below::read(state, part, want), Ok)?);
        }
        Ok(below)
    })
}

/// Reads by a connection of its own. `None` where that does not find all of the steps: another file may be in the
/// place of ours.
pub(crate) fn read_beside(
    path: &Path,
    steps: &[&FinishedStep],
    want: Want,
) -> Result<Option<Below>, Fault> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    // Instead of waiting for who locks the file, who may wait for our first connection.
    connection.busy_timeout(Duration::ZERO)?;
    keep_plans(&connection)?;
    let state = connection.unchecked_transaction()?;
    let mut same = state.prepare(SAME)?;
    for step in steps {
        if !same.exists(params![step.id, step.name.0, step.system, step.round])? {
            return Ok(None);
        }
    }
    Below::read(&state, steps, want).map(Some)
}
