//! Commits that were acknowledged, and what is left of them after a crash.
//!
//! Each terminal adds a line to a log as soon as the server reports its New-Order or Payment committed. The
//! log is a file, so that it outlives the process that wrote it, where that is the one to be killed. What
//! it says is looked for in the database that a crash left: each order by its number, each payment by all of
//! its values and as often as it was made. Deliveries leave no row of their own; the conditions prove that
//! each is there whole or not at all.

mod present;
mod record;
mod survived;
mod terminals;

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};

pub use self::present::Present;
use self::record::Record;
pub use self::survived::{Missing, Survived, survived};
pub use self::terminals::{LoggedRun, check_conditions, run_logged};
use super::outcome::Committed;
use load::StepError;
use load::monotonic;

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

#[cfg(test)]
mod tests {
    use super::*;

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
        record::each(&path, &mut |record| records.push(record)).unwrap();
        let told: Vec<_> = records.iter().map(|r| (r.terminal, r.row)).collect();
        assert_eq!(told, [(0, order), (7, payment)]);
        assert!(before <= records[0].at && records[0].at <= records[1].at);
        let error = Acknowledged::create(&path).unwrap_err().to_string();
        assert!(error.starts_with("cannot create "), "{error}");
    }
}
