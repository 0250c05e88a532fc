//! The log of acknowledged commits.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};

use model::Nanos;
use serde::{Deserialize, Serialize};

use crate::tpcc::input::Committed;
use load::{Result, StepError, monotonic};

/// The log, as the terminals have it.
#[derive(Debug)]
pub(crate) struct Acknowledged {
    path: PathBuf,
    file: File,
}

impl Acknowledged {
    pub(super) fn create(path: &Path) -> Result<Self> {
        let file = File::options()
            .create_new(true)
            .append(true)
            .open(path)
            .map_err(StepError::log("create", path))?;
        Ok(Self { path: path.to_owned(), file })
    }

    /// Logs that `terminal` just heard that `what` is committed. The kernel has it when this returns.
    pub(crate) fn committed(&self, terminal: u32, what: &Committed) -> Result {
        let record = Record { at: monotonic(), terminal, row: *what };
        // One call for the whole line: the kernel puts the lines of all terminals one after the other.
        let line = record.line();
        let written = line.and_then(|line| (&self.file).write_all(line.as_bytes()));
        written.map_err(StepError::log("write", &self.path))
    }
}

/// One acknowledged commit: a line of the log, as JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Record {
    /// When it was, on the clock of [`monotonic`].
    pub(super) at: Nanos,
    /// Who was told.
    pub(super) terminal: u32,
    pub(super) row: Committed,
}

impl Record {
    fn line(&self) -> io::Result<String> {
        Ok(serde_json::to_string(self)? + "\n")
    }
}

/// Shows each record of a log, in order. A last line without its end is none: its writer was killed.
pub(super) fn each(path: &Path, see: &mut dyn FnMut(Record)) -> Result {
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
            let cause = format!("line {number} is not a record: `{whole}` ({error})");
            let cause = io::Error::other(cause);
            StepError::log("read", path)(cause)
        })?;
        see(record);
    }
    Ok(())
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
                "cannot read LOG, the log of acknowledged commits: line 2 is not a record: `1 x` ("
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
