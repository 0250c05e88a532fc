//! Sends the rows of a batch: by `COPY` or `LOAD DATA`, by prepared INSERTs, by INSERTs as text.

use std::collections::HashMap;
use std::sync::Arc;

use drivers::{Session, SessionError, StatementId};

use super::batches::{SendBatch, Sending};
use super::{Load, switch_local_files_on};
use crate::sink::{Cells, Lines, Tuples};
use crate::source::{Rows, Source};
use crate::table::Batch;
use load::StepError;

/// Text that is made before some of it is sent by a bulk load.
const BLOCK: usize = 32 << 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    /// `COPY` or `LOAD DATA`.
    Bulk,
    Prepared,
    Text,
}

pub(super) struct Sender<S> {
    load: Arc<Load<S>>,
    method: Method,
    prepared: HashMap<Insert, StatementId>,
    /// The text that is being made; reused.
    text: String,
    /// The values of the rows of a statement; reused.
    cells: Cells,
}

/// A prepared INSERT: into which table, with or without NULLs, of how many rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Insert {
    table: usize,
    nulls: bool,
    rows: usize,
}

impl<S: Source> Sender<S> {
    pub(super) fn new(load: &Arc<Load<S>>, method: Method) -> Self {
        Self {
            load: Arc::clone(load),
            method,
            prepared: HashMap::new(),
            text: String::new(),
            cells: Cells::new(load.dialect),
        }
    }

    fn send_bulk(&mut self, batch: &Batch, to: &mut Sending<'_>) -> Result<(), SessionError> {
        let text = &mut self.text;
        let mut rows = self.load.work.source.rows(batch);
        let table = &self.load.work.tables[batch.table];
        let mut next = |out: &mut Vec<u8>| {
            text.clear();
            let mut lines = Lines::new(text);
            while lines.text.len() < BLOCK && rows.put(&mut lines) {}
            out.extend_from_slice(text.as_bytes());
            !text.is_empty()
        };
        to.add(|session| session.load_rows(&table.name, &table.loaded_names(), &mut next))
    }

    /// Several rows a statement. Rows with NULLs have statements of their own: NULL is no parameter.
    fn send_prepared(&mut self, batch: &Batch, to: &mut Sending<'_>) -> Result<(), SessionError> {
        let load = Arc::clone(&self.load);
        let most = load.rows_at_once[batch.table];
        let mut rows = load.work.source.rows(batch);
        while let Some(nulls) = rows.next_has_null() {
            self.cells.clear();
            while self.cells.rows < most
                && rows.next_has_null() == Some(nulls)
                && rows.put(&mut self.cells)
            {}
            let is_one = to.begin(load.dialect, rows.next_has_null().is_none())?;
            let all = self.cells.rows;
            let mut done = 0;
            while done < all {
                // What is left at the end goes by statements of 64, 32, … rows, so that a session has few to
                // prepare, whatever the lengths of batches.
                let left = all - done;
                let rows = if left == most || is_one { left } else { 1 << left.ilog2() };
                let insert = Insert { table: batch.table, nulls, rows };
                let statement = self.prepare(to.session, insert)?;
                let params = self.cells.params(done, rows);
                to.add(|session| Ok(session.count_prepared(statement, &params)?.affected))?;
                done += rows;
            }
        }
        to.commit()
    }

    fn prepare(
        &mut self,
        session: &mut dyn Session,
        insert: Insert,
    ) -> Result<StatementId, SessionError> {
        if let Some(statement) = self.prepared.get(&insert) {
            return Ok(*statement);
        }
        let Insert { table, nulls, rows } = insert;
        let table = &self.load.work.tables[table];
        let (sql, types) = table.insert_prepared(self.load.dialect, nulls, rows);
        let statement = session.prepare(&sql, &types)?;
        self.prepared.insert(insert, statement);
        Ok(statement)
    }

    fn send_text(&mut self, batch: &Batch, to: &mut Sending<'_>) -> Result<(), SessionError> {
        let load = &*self.load;
        let head = load.work.tables[batch.table].insert_head();
        let mut rows = load.work.source.rows(batch);
        while rows.next_has_null().is_some() {
            self.text.clear();
            self.text.push_str(&head);
            let mut tuples = Tuples::new(&mut self.text, load.dialect);
            while rows.put(&mut tuples) && tuples.text.len() < load.statement_size {}
            to.begin(load.dialect, rows.next_has_null().is_none())?;
            to.add(|session| Ok(session.execute(&self.text)?.affected))?;
        }
        to.commit()
    }
}

impl<S: Source> SendBatch for Sender<S> {
    type Batch = Batch;

    fn rows(&self, batch: &Batch) -> u64 {
        self.load.work.source.count(batch)
    }

    fn named(&self, batch: &Batch) -> String {
        self.load.work.tables[batch.table].place(batch)
    }

    fn count(&self, batch: &Batch) -> Result<String, StepError> {
        let table = &self.load.work.tables[batch.table];
        match table.condition(batch) {
            Some(condition) => Ok(format!("SELECT COUNT(*) FROM {} WHERE {condition}", table.name)),
            None => Err(StepError::Load(format!(
                "the connection was lost during the load of {}, and no column has the rows' numbers to tell \
                 whether they are there; load with one that has, or load again",
                table.place(batch)
            ))),
        }
    }

    fn send(&mut self, batch: &Batch, to: &mut Sending<'_>) -> Result<(), SessionError> {
        match self.method {
            Method::Bulk => self.send_bulk(batch, to),
            Method::Prepared => self.send_prepared(batch, to),
            Method::Text => self.send_text(batch, to),
        }
    }

    fn begin_anew(&mut self, session: &mut dyn Session) {
        self.prepared.clear();
        if self.load.local_files_switched {
            // The server may have been restarted. One that cannot refuses the files and says so.
            let _ = switch_local_files_on(session);
        }
    }
}
