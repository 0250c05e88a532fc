//! The phase that begins a trial on data that another one loaded: everything is read once, by the table
//! and by each index, so that the caches hold what fits, as they do after a load; and what is found must
//! be what was loaded.

use std::sync::{Arc, Mutex};

use drivers::{Session, SessionError};
use model::{Check, Dialect};

use super::sql;
use super::state::TableLoad;
use data::row_counts::check;
use data::statements::around_index;
use load::worker::{Worker, number};
use load::{Client, ClientContext, StepError};

/// A number that a query must return.
struct Expected {
    what: String,
    query: String,
    number: u64,
    /// Is it a number of rows that were read?
    is_count: bool,
}

/// Reads one table and its indexes.
pub(super) struct TableReader {
    worker: Worker,
    expected: Vec<Expected>,
    checks: Arc<Mutex<Vec<Check>>>,
}

impl TableReader {
    /// A reader of `table` with its first `indexes` secondary indexes, in which `load` must be found.
    pub(super) fn new(
        mut worker: Worker,
        dialect: Dialect,
        table: &str,
        indexes: usize,
        load: &TableLoad,
        checks: &Arc<Mutex<Vec<Check>>>,
    ) -> Result<Self, StepError> {
        for statement in around_index(dialect).0 {
            worker.run(statement)?;
        }
        let rows = |index: Option<usize>| Expected {
            what: match index {
                None => format!("rows in {table}"),
                Some(index) => format!("rows in index {} of {table}", index + 1),
            },
            query: sql::scan(dialect, table, index),
            number: load.rows(),
            is_count: true,
        };
        let key = |end: &str, number| Expected {
            what: format!("{end}(transactionid) of {table}"),
            query: format!("SELECT {end}(transactionid) FROM {table}"),
            number,
            is_count: false,
        };
        let mut expected = vec![key("MIN", load.lowest), key("MAX", load.highest), rows(None)];
        expected.extend((0..indexes).map(|index| rows(Some(index))));
        Ok(Self { worker, expected, checks: Arc::clone(checks) })
    }
}

impl Client for TableReader {
    fn run(&mut self, context: &mut ClientContext<'_>) -> Result<(), StepError> {
        for expected in &self.expected {
            let mut found = 0;
            let read = |session: &mut dyn Session| -> Result<u64, SessionError> {
                found = number(session, &expected.query)?;
                Ok(if expected.is_count { found } else { 1 })
            };
            if self.worker.operate(context, 0, None, read)?.is_none() {
                break;
            }
            if let Ok(mut checks) = self.checks.lock() {
                checks.push(check(expected.what.clone(), expected.number, found));
            }
        }
        Ok(())
    }
}
