//! Commits that were acknowledged, and what is left of them after a crash.
//!
//! Each terminal adds a line to a log as soon as the server reports its New-Order or Payment committed. The
//! log is a file, so that it outlives the process that wrote it, where that is the one to be killed. What
//! it says is looked for in the database that a crash left: each order by its number, each payment by all of
//! its values and as often as it was made. Deliveries leave no row of their own; the conditions prove that
//! each is there whole or not at all.

mod survived;

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use model::{Check, Nanos, TpccSpec};
use serde::{Deserialize, Serialize};

pub use self::survived::{Missing, Present, Survived, survived};
use super::check::{self, When};
use super::loading::Setting;
use super::outcome::Committed;
use super::run::RunStep;
use load::engine::{Blind, Stop};
use load::{StepError, Target, monotonic};

/// The log, as the terminals have it.
#[derive(Debug)]
pub(super) struct Acknowledged {
    path: PathBuf,
    file: File,
}

impl Acknowledged {
    fn create(path: &Path) -> Result<Self, StepError> {
        let file = File::options()
            .create_new(true)
            .append(true)
            .open(path)
            .map_err(StepError::log("create", path))?;
        Ok(Self { path: path.to_owned(), file })
    }

    /// Keeps that `terminal` was told right now that `what` is committed. The kernel has it when this
    /// returns.
    pub(super) fn committed(&self, terminal: u32, what: &Committed) -> Result<(), StepError> {
        let record = Record { at: monotonic(), terminal, row: *what };
        // One call for the whole line: the kernel puts the lines of all terminals one after the other.
        let line = record.line();
        let written = line.and_then(|line| (&self.file).write_all(line.as_bytes()));
        written.map_err(StepError::log("write", &self.path))
    }
}

/// One acknowledged commit: a line of the log, as JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Record {
    /// When it was, on the clock of [`monotonic`].
    at: Nanos,
    /// Who was told.
    terminal: u32,
    row: Committed,
}

impl Record {
    fn line(&self) -> io::Result<String> {
        Ok(serde_json::to_string(self)? + "\n")
    }
}

/// Shows each record of a log, in its order. A last line without its end is no record: who wrote it was
/// killed over it.
fn each(path: &Path, see: &mut dyn FnMut(Record)) -> Result<(), StepError> {
    let file = File::open(path).map_err(StepError::log("open", path))?;
    let mut log = BufReader::new(file);
    let mut line = String::new();
    for number in 1_u64.. {
        line.clear();
        log.read_line(&mut line).map_err(StepError::log("read", path))?;
        let Some(whole) = line.strip_suffix('\n') else {
            break;
        };
        let record = serde_json::from_str(whole).map_err(|error| {
            let cause = format!("line {number} is no record: `{whole}` ({error})");
            let cause = io::Error::other(cause);
            StepError::log("read", path)(cause)
        })?;
        see(record);
    }
    Ok(())
}

/// Transactions on a loaded database whose acknowledged commits are logged.
#[derive(Clone, Copy, Debug)]
pub struct LoggedRun<'a> {
    /// The workload; its seconds are how long this takes unless something ends it before.
    pub spec: &'a TpccSpec,
    /// The number of the run, from 1.
    pub number: u32,
    pub seed: u64,
    /// The seed of the rows that were loaded.
    pub rows_seed: u64,
    /// Where the log goes: a file that is not there yet.
    pub log: &'a Path,
}

/// Runs the terminals.
///
/// # Errors
/// What a terminal failed with, such as a connection that was lost because the server was killed. All
/// commits that were acknowledged until then are in the log.
pub fn run_logged(run: &LoggedRun<'_>, target: &Target, stop: &Stop) -> Result<(), StepError> {
    let LoggedRun { spec, number, seed, rows_seed, log } = *run;
    let log = Some(Arc::new(Acknowledged::create(log)?));
    let at = &Setting { spec, rows_seed, target, stop };
    RunStep { at, number, seed, log }.run(&mut Blind).map(drop)
}

/// Whether the conditions hold that must hold in any database of the workload on which transactions ran.
pub fn check_conditions(
    spec: &TpccSpec,
    rows_seed: u64,
    target: &Target,
    stop: &Stop,
) -> Result<Vec<Check>, StepError> {
    let at = Setting { spec, rows_seed, target, stop };
    let result = check::run(&at, When::Used, None, &mut Blind)?;
    Ok(result.checks)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(order: u32) -> Record {
        Record {
            at: Nanos(u64::MAX),
            terminal: 12,
            row: Committed::Order { warehouse: 1, district: 4, order },
        }
    }

    fn payment(cents: i64) -> Record {
        Record {
            at: Nanos(1),
            terminal: 0,
            row: Committed::Payment { warehouse: 1, district: 4, customer: (2, 5, 1_999), cents },
        }
    }

    #[test]
    fn a_line_is_read_as_it_was_written() {
        for record in [order(3_021), payment(100), payment(499_999)] {
            let line = record.line().unwrap();
            assert_eq!(line.lines().count(), 1);
            assert_eq!(read(&line).unwrap(), [record]);
        }
    }

    #[test]
    fn rows_are_told_in_words() {
        let told = |record: Record| record.row.to_string();
        assert_eq!(told(order(7)), "order 7 of district 4 of warehouse 1");
        assert_eq!(
            told(payment(1_205)),
            "payment of 12.05 in district 4 of warehouse 1 by customer 1999 of district 5 of warehouse 2"
        );
    }

    fn read(text: &str) -> Result<Vec<Record>, String> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("log");
        std::fs::write(&path, text).unwrap();
        let mut records = Vec::new();
        each(&path, &mut |record| records.push(record))
            .map_err(|error| error.to_string().replace(&path.display().to_string(), "LOG"))?;
        Ok(records)
    }

    #[test]
    fn a_torn_last_line_is_left_out_and_any_other_wrong_line_is_told() {
        let (one, two) = (order(1), payment(2));
        let [first, second] = [one, two].map(|record| record.line().unwrap());
        assert_eq!(read(&format!("{first}{second}")).unwrap(), [one, two]);
        assert_eq!(read(&format!("{first}{}", second.trim_end())).unwrap(), [one]);
        assert_eq!(read("").unwrap(), []);
        let error = read(&format!("{first}1 x\n{second}")).unwrap_err();
        assert!(
            error.starts_with(
                "cannot read LOG, the log of acknowledged commits: line 2 is no record: `1 x` ("
            ),
            "{error}"
        );
    }

    #[test]
    fn what_is_logged_is_read_again() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("log");
        let log = Acknowledged::create(&path).unwrap();
        let order = Committed::Order { warehouse: 2, district: 10, order: 3_001 };
        let payment = Committed::Payment {
            warehouse: 1,
            district: 4,
            customer: (2, 5, 1_999),
            cents: 500_000,
        };
        let before = monotonic();
        log.committed(0, &order).unwrap();
        log.committed(7, &payment).unwrap();
        let mut records = Vec::new();
        each(&path, &mut |record| records.push(record)).unwrap();
        let told: Vec<_> = records.iter().map(|r| (r.terminal, r.row)).collect();
        assert_eq!(told, [(0, order), (7, payment)]);
        assert!(before <= records[0].at && records[0].at <= records[1].at);
        let error = Acknowledged::create(&path).unwrap_err().to_string();
        assert!(error.starts_with("cannot create "), "{error}");
    }
}
