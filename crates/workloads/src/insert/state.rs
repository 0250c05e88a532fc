//! What the loading steps left, for a trial that continues in another process, and that trial's first phase.

use model::{Dialect, InsertScale, InsertSpec, InsertStage as Stage, Pacing, Statements};
use serde::{Deserialize, Serialize};

use super::sql;
use data::{Found, Table, check};
use load::worker::number;
use load::{Client, ClientContext, Result, StepError, Worker, lock};
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct State {
    pub(super) tables: Vec<TableLoad>,
    /// Number of the next row of each client.
    pub(super) next_row: Vec<u64>,
    pub(super) seed: u64,
}

/// Raised when the state's content changes: earlier loads cannot be used with it.
pub(super) const VERSION: u32 = 2;
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct TableLoad {
    pub(super) inserted: u64,
    pub(super) deleted: u64,
    pub(super) lowest: u64,
    pub(super) highest: u64,
}

impl TableLoad {
    pub(super) const fn rows(&self) -> u64 {
        self.inserted.saturating_sub(self.deleted)
    }
}

impl State {
    pub(super) fn read(text: &str, tables: usize, clients: usize) -> Result<Self> {
        let state: Self = data::state::read(text)?;
        let has = (state.tables.len(), state.next_row.len());
        if has != (tables, clients) {
            return Err(StepError::State(format!(
                "it has tables: {}, clients: {}; the plan has tables: {tables}, clients: {clients}",
                has.0, has.1
            )));
        }
        Ok(state)
    }
}

pub(super) fn of_loading(spec: &InsertSpec) -> InsertSpec {
    let all = Stage::of_trial(spec);
    let loading = &all[..Stage::loading(&all)];
    let steps = spec.steps.iter().filter(|step| loading.iter().any(|stage| stage.id() == **step));
    InsertSpec {
        // The name of the numbers that follow.
        scale: InsertScale::Tiny,
        rates: Vec::new(),
        queries: Vec::new(),
        query_seconds: 0,
        query_sessions: 0,
        query_rows_per_commit: 0,
        rows_per_query: 0,
        max_refresh: 0,
        reads: Statements::Usual,
        pacing: Pacing::Even,
        sla_percent: 0,
        statement_timeout: 0,
        compat: false,
        steps: steps.cloned().collect(),
        ..spec.clone()
    }
}

/// Reads one table and its indexes once, to fill the caches as a load does; compares with what was loaded.
pub(super) struct TableReader {
    pub(super) worker: Worker,
    pub(super) dialect: Dialect,
    pub(super) table: Table,
    pub(super) load: TableLoad,
    pub(super) checks: Found,
}

impl TableReader {
    /// The questions: name, query, the number that it must return, and whether that counts the rows read.
    fn expected(&self) -> Vec<(String, String, u64, bool)> {
        let (load, name) = (&self.load, &self.table.name);
        let key = |end: &str, number| {
            let query = format!("SELECT {end}(transactionid) FROM {name}");
            (format!("{end}(transactionid) of {name}"), query, number, false)
        };
        let scan = |what: String, index| {
            (what, sql::scan(self.dialect, &self.table, index), load.rows(), true)
        };
        let mut expected = vec![key("MIN", load.lowest), key("MAX", load.highest)];
        expected.push(scan(format!("rows in {name}"), None));
        let indexes = 0..self.table.indexes.len();
        let number = |index| format!("rows in index {} of {name}", index + 1);
        expected.extend(indexes.map(|index| scan(number(index), Some(index))));
        expected
    }
}

impl Client for TableReader {
    fn run(&mut self, context: &mut ClientContext<'_>) -> Result {
        for (what, query, expected, is_count) in self.expected() {
            let mut found = 0;
            let read = self.worker.operate(context, 0, None, |session| {
                found = number(session, &query)?;
                Ok(if is_count { found } else { 1 })
            })?;
            if read.is_none() {
                break;
            }
            lock(&self.checks).push(check(what, expected, found));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::spec;
    use super::*;

    #[test]
    fn a_state_survives_and_other_texts_are_refused() {
        let state = State {
            tables: vec![TableLoad { inserted: 5, deleted: 2, lowest: 3, highest: 1 << 40 }],
            next_row: vec![5, 0],
            seed: u64::MAX,
        };
        let text = data::state::write(&state).unwrap();
        assert_eq!(State::read(&text, 1, 2).unwrap(), state);
        assert_eq!(state.tables[0].rows(), 3);
        let message = |text: &str, clients| State::read(text, 1, clients).unwrap_err().to_string();
        assert_eq!(
            message(&text, 3),
            "the state of the loaded data cannot be used: it has tables: 1, clients: 2; \
             the plan has tables: 1, clients: 3"
        );
        assert!(message("{}", 2).contains("missing field"));
        assert!(message("", 2).contains("EOF"));
    }

    #[test]
    fn what_the_queries_do_is_no_part_of_the_loading() {
        let of = |spec: &InsertSpec| of_loading(spec);
        let same = InsertSpec {
            rates: vec![7],
            query_seconds: 9,
            reads: Statements::Prepared,
            steps: [&spec().steps[..4], &[model::StepId::new("qr7")]].concat(),
            ..spec()
        };
        assert_eq!(of(&spec()), of(&same));
        assert_eq!(of(&same).steps.len(), 4);
        let other = InsertSpec { i2_rows: 3, ..spec() };
        assert_ne!(of(&spec()), of(&other));
    }
}
