//! Joins labs: copies the runs of several into a copy of the target, which then takes its place.
//!
//! So a full disk or `kill -9` in the middle leaves the target as it was. `copy.rs` moves the rows, `hosts.rs` says
//! whose they are, `same_plan.rs` which runs may join.

mod copy;
mod hosts;
mod same_plan;

use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use model::{RunId, RunInfo, RunState};
use rusqlite::{Connection, OpenFlags, OptionalExtension, params};

use crate::Store;
use crate::error::{Fault, NotOneRun, Result, StoreError};
use crate::pack::to_json;
use crate::read::{id_of, run_info};
use crate::read_only::{has_log, uri};
use crate::sqlite::beside;
use crate::write::CAMPAIGN;
use copy::{Picked, Trial};
use hosts::{keep_hosts, keep_own_host};
use same_plan::difference;

/// A run of a lab that was merged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Merged {
    pub from: PathBuf,
    /// Its id there.
    pub was: RunId,
    /// Its id in the target.
    pub run: RunId,
    /// Trials that the target did not have.
    pub added: u32,
    pub state: RunState,
}

/// Merges the stores `sources` into `target`, which is made where it is missing. Nobody may use the target meanwhile.
///
/// Parts of one campaign join, all other runs are added; a trial that is there already is left alone.
///
/// # Errors
/// Also when parts do not belong together, and when the target is one of the sources or in use.
pub fn merge(target: &Path, sources: &[PathBuf]) -> Result<Vec<Merged>> {
    for source in sources {
        let same = |path: &Path| fs::canonicalize(path).ok();
        if !source.is_file() {
            return Err(StoreError::NoLab { path: source.clone() });
        }
        if same(source) == same(target) {
            return Err(StoreError::IntoItself { path: source.clone() });
        }
    }
    let scratch = target.with_extension("sqlite.merging");
    let result = write(target, sources, &scratch);
    remove(&scratch);
    result
}

fn write(target: &Path, sources: &[PathBuf], scratch: &Path) -> Result<Vec<Merged>> {
    remove(scratch);
    let held = if target.is_file() { Some(hold(target)?) } else { None };
    let copied = held.as_ref().map(|_| copy_target(target, scratch)).transpose()?;
    if copied.is_none() {
        drop(Store::open(scratch)?);
    }
    let mut merger = Merger::new(scratch, target, held.is_none())?;
    let mut merged = Vec::new();
    for source in sources {
        // As any command would open it: one of an older backslide is migrated.
        merged.extend(merger.add(&Store::open(source)?)?);
    }
    drop(merger);
    adopt(scratch, target)
        .map_err(|cause| Fault::other(cause).at(target, "taking the merged file"))?;
    drop(held);
    drop(copied);
    Ok(merged)
}

/// The target without a write-ahead log, which would be applied to the new file, and locked against writers.
fn hold(target: &Path) -> Result<Store> {
    let held = Store::open(target)?;
    let in_use = |_| StoreError::InUse { path: target.to_owned() };
    let mode: String = held
        .connection
        .query_row("PRAGMA journal_mode = DELETE", [], |row| row.get(0))
        .map_err(in_use)?;
    if mode != "delete" {
        return Err(StoreError::InUse { path: target.to_owned() });
    }
    held.connection.execute_batch("BEGIN IMMEDIATE").map_err(in_use)?;
    Ok(held)
}

/// Copies the target, which is held. Returns the target's file, to be closed after it was held: in the process that
/// closes a file, all locks on it end.
fn copy_target(target: &Path, scratch: &Path) -> Result<File> {
    let copied = File::open(target).and_then(|mut from| {
        let mut to = File::create(scratch)?;
        to.set_permissions(from.metadata()?.permissions())?;
        io::copy(&mut from, &mut to).map(|_| from)
    });
    let doing = "copying the target";
    let from = copied.map_err(|cause| match cause.kind() {
        io::ErrorKind::StorageFull => StoreError::Full { path: scratch.to_owned(), doing },
        _ => Fault::other(cause).at(scratch, doing),
    })?;
    let copy = Store::open(scratch)?;
    // A trial that was interrupted here may have been measured by a source.
    let deleted = copy.connection.execute("DELETE FROM trial WHERE outcome IS NULL", []);
    deleted.map_err(|error| Fault::from(error).at(scratch, doing))?;
    Ok(from)
}

fn adopt(scratch: &Path, target: &Path) -> io::Result<()> {
    File::open(scratch)?.sync_all()?;
    fs::rename(scratch, target)?;
    File::open(target.parent().unwrap_or(Path::new(".")))?.sync_all()
}

/// Removes what a merge that was killed has left.
fn remove(scratch: &Path) {
    for suffix in ["", "-wal", "-shm", "-journal"] {
        let _missing = fs::remove_file(beside(scratch, suffix));
    }
}

struct Merger {
    scratch: Store,
    target: PathBuf,
    /// The lab and run that a round came from; round 0 for the first part of a run.
    origins: HashMap<(i64, u32), (PathBuf, RunId)>,
    /// Does the lab that is added keep its ids? The first one of a new target does.
    keeps_ids: bool,
}

/// A run of a source.
struct Source<'a> {
    path: &'a Path,
    row: i64,
    identity: String,
    info: RunInfo,
}

impl Source<'_> {
    /// Is it of a campaign, or merged from parts of one?
    fn is_part(&self) -> bool {
        self.identity.starts_with(CAMPAIGN)
    }

    fn is_finished(&self) -> bool {
        self.info.state == RunState::Finished
    }

    fn merged(&self, row: i64, added: u32, finished: bool) -> Merged {
        Merged {
            from: self.path.to_owned(),
            was: self.info.id.clone(),
            run: id_of(row),
            added,
            state: if finished { RunState::Finished } else { RunState::Unfinished },
        }
    }
}

impl Merger {
    /// Into a file that nobody else opens and that is thrown away after a failure: it needs no journal.
    fn new(scratch: &Path, target: &Path, keeps_ids: bool) -> Result<Self> {
        let failed = |source| Fault::Sqlite(source).at(scratch, "merging");
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_URI;
        let connection =
            Connection::open_with_flags(uri(scratch, "mode=rw"), flags).map_err(failed)?;
        let journal = connection.query_row("PRAGMA main.journal_mode = OFF", [], |_| Ok(()));
        journal.map_err(failed)?;
        connection
            .execute_batch(
                "PRAGMA synchronous = OFF; PRAGMA foreign_keys = OFF; PRAGMA cache_size = -65536;",
            )
            .map_err(failed)?;
        connection.execute_batch(copy::PICKED).map_err(failed)?;
        let scratch = Store { connection, path: scratch.to_owned() };
        Ok(Self { scratch, target: target.to_owned(), origins: HashMap::new(), keeps_ids })
    }

    fn add(&mut self, source: &Store) -> Result<Vec<Merged>> {
        let path = &source.path;
        let reading = |fault: Fault| source.failed("reading it", fault);
        attach(&self.scratch.connection, path).map_err(reading)?;
        let mut merged = Vec::new();
        for (row, identity) in identities(&source.connection).map_err(reading)? {
            let info = run_info(&source.connection, row).map_err(reading)?;
            let run = Source { path, row, identity, info };
            let copied = self.copy(&run).map_err(|fault| fault.at(&self.scratch.path, "merging"));
            merged.push(copied?);
        }
        self.keeps_ids = false;
        let detached = self.scratch.connection.execute_batch("DETACH part");
        detached.map_err(|error| reading(error.into()))?;
        Ok(merged)
    }

    fn copy(&mut self, source: &Source<'_>) -> Result<Merged, Fault> {
        let row = self.place(source)?;
        let known = run_info(&self.scratch.connection, row)?;
        let there = copy::trials(&self.scratch.connection, "main", row)?;
        let picked = self.pick(source, row, &known, &there)?;
        for round in picked.rounds() {
            let origin = (source.path.to_owned(), source.info.id.clone());
            self.origins.entry((row, round)).or_insert(origin);
        }
        let state = &self.scratch.connection;
        let added = picked.copy(state, row, self.keeps_ids)?;
        let mut info = known;
        if info.plan.course.part.is_some() {
            keep_own_host(state, &info, row, there.iter().map(|trial| trial.round))?;
        }
        let (course, theirs) = (&mut info.plan.course, &source.info.plan.course);
        if theirs.added.len() > course.added.len() {
            course.added.clone_from(&theirs.added);
            course.added_counted.clone_from(&theirs.added_counted);
        }
        // The merged run has all parts.
        info.plan.course.part = None;
        let finished = if source.is_part() {
            // Rounds that were added to the whole run may be open.
            let is_open = !source.info.plan.course.added.is_empty() && !source.is_finished();
            keep_hosts(state, &source.info, source.row, row, picked.rounds())? && !is_open
        } else {
            info.state == RunState::Finished || source.is_finished()
        };
        state.execute(
            "UPDATE run SET plan = ?2, finished = ?3 WHERE id = ?1",
            params![row, to_json(&info.plan)?, finished],
        )?;
        if added > 0 {
            // Its verdicts are counted anew where they were of less.
            state.execute("DELETE FROM main.control WHERE run = ?1", [row])?;
            state.execute(
                "INSERT INTO main.control SELECT ?1, cells, changed FROM part.control
                 WHERE run = ?2 AND NOT ?3",
                params![row, source.row, source.is_part()],
            )?;
        }
        Ok(source.merged(row, added, finished))
    }

    /// The row of the run that a source belongs to, made where it is the first of it.
    fn place(&mut self, source: &Source<'_>) -> Result<i64, Fault> {
        let state = &self.scratch.connection;
        let known = state
            .query_row("SELECT id FROM main.run WHERE identity = ?1", [&source.identity], |row| {
                row.get(0)
            })
            .optional()?;
        if let Some(row) = known {
            let info = run_info(state, row)?;
            let other = (info.backslide.clone(), source.info.backslide.clone());
            let differs = (other.0 != other.1)
                .then(|| ("the version of backslide".to_owned(), other.1, other.0))
                .or(difference(&source.info.plan, &info.plan)?);
            let remedy =
                "measure both with the same plan, builds and backslide, or name another campaign";
            return differs.map_or(Ok(row), |what| Err(self.refusal(source, row, 0, what, remedy)));
        }
        let id = self.keeps_ids.then_some(source.row);
        state.execute(
            "INSERT INTO main.run (id, plan, host, backslide, started, identity)
             SELECT ?2, plan, host, backslide, started, identity FROM part.run WHERE id = ?1",
            params![source.row, id],
        )?;
        let row = state.last_insert_rowid();
        self.origins.insert((row, 0), (source.path.to_owned(), source.info.id.clone()));
        Ok(row)
    }

    /// The trials of a source that are not there yet. Of a part only whole rounds: the rest of one may be measured
    /// again on another host.
    fn pick(
        &self,
        source: &Source<'_>,
        row: i64,
        known: &RunInfo,
        there: &[Trial],
    ) -> Result<Picked, Fault> {
        let there: BTreeMap<(u32, &str), &Trial> =
            there.iter().map(|trial| ((trial.round, trial.system.as_str()), trial)).collect();
        let plan = &source.info.plan;
        let mut systems: BTreeMap<u32, usize> = BTreeMap::new();
        let all = copy::trials(&self.scratch.connection, "part", source.row)?;
        for trial in &all {
            *systems.entry(trial.round).or_default() += 1;
        }
        let is_whole = |round: u32| {
            !source.is_part()
                || source.is_finished()
                || systems[&round] == plan.systems_of(round).len()
        };
        let mut picked = Picked::default();
        for trial in all.into_iter().filter(|trial| is_whole(trial.round)) {
            let Some(same) = there.get(&(trial.round, trial.system.as_str())) else {
                picked.0.push(trial);
                continue;
            };
            let hosts = [(&source.info, &trial), (known, *same)];
            let [here, there] = hosts.map(|(info, trial)| {
                format!("{} at {}", info.host_of(trial.round).name, trial.started)
            });
            if here != there {
                let what =
                    (format!("where and when round {} was measured", trial.round), here, there);
                let remedy = "merge only one of them";
                return Err(self.refusal(source, row, trial.round, what, remedy));
            }
        }
        Ok(picked)
    }

    fn refusal(
        &self,
        source: &Source<'_>,
        row: i64,
        round: u32,
        (what, here, there): (String, String, String),
        remedy: &'static str,
    ) -> Fault {
        let origin = self.origins.get(&(row, round)).or_else(|| self.origins.get(&(row, 0)));
        let (other, other_run) =
            origin.cloned().unwrap_or_else(|| (self.target.clone(), id_of(row)));
        Fault::from(StoreError::NotOneRun(Box::new(NotOneRun {
            run: source.info.id.clone(),
            path: source.path.to_owned(),
            other_run,
            other,
            what,
            here,
            there,
            remedy,
        })))
    }
}

/// The runs of a lab, in order.
fn identities(state: &Connection) -> Result<Vec<(i64, String)>, Fault> {
    let mut query = state.prepare("SELECT id, identity FROM run ORDER BY id")?;
    let runs = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(runs.collect::<rusqlite::Result<_>>()?)
}

/// Makes a file readable as `part`, also one that nobody can write to.
fn attach(connection: &Connection, path: &Path) -> Result<(), Fault> {
    let attach = |query| -> rusqlite::Result<()> {
        let address = uri(path, query);
        connection.execute("ATTACH ?1 AS part", [address.to_string_lossy()])?;
        let read = connection.query_row("SELECT count(*) FROM part.run", [], |_| Ok(()));
        if read.is_err() {
            connection.execute_batch("DETACH part")?;
        }
        read
    };
    Ok(match attach("mode=ro") {
        Err(_) if !has_log(path) => attach("immutable=1"),
        outcome => outcome,
    }?)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;

    use super::*;

    /// To close a file ends the locks that this process has on it, also those of another descriptor.
    #[test]
    fn a_target_stays_locked_when_it_has_been_copied() {
        let lab = tempfile::tempdir().unwrap();
        let (target, scratch) = (lab.path().join("lab.sqlite"), lab.path().join("copy"));
        drop(Store::open(&target).unwrap());
        let held = hold(&target).unwrap();
        let of_target = format!(":{} ", fs::metadata(&target).unwrap().ino());
        let is_locked = || fs::read_to_string("/proc/locks").unwrap().contains(&of_target);
        assert!(is_locked());
        let copied = copy_target(&target, &scratch).unwrap();
        assert!(is_locked());
        drop(held);
        assert!(!is_locked());
        drop(copied);
    }
}
