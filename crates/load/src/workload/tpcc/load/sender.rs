//! Sends the rows of a unit: by `COPY` or `LOAD DATA`, by prepared INSERTs, by INSERTs as text.

use std::collections::HashMap;
use std::sync::Arc;

use drivers::{Session, SessionError, StatementId};

use super::Load;
use crate::workload::batches::{SendBatch, Sent};
use crate::workload::sql::load::Method;
use crate::workload::sql::schema;
use crate::workload::tpcc::population::{Cells, Lines, Tuples, Unit};
use crate::workload::tpcc::tables::{self, Table};
use crate::{ClientContext, StepError};

/// Text that is made before some of it is sent by a bulk load.
const BLOCK: usize = 32 << 10;

/// Sends units in one session.
pub(super) struct Sender {
    load: Arc<Load>,
    method: Method,
    /// The INSERTs that the session has prepared.
    prepared: HashMap<Insert, StatementId>,
    /// The text that is being made; reused.
    text: String,
    /// The values of the rows of a statement; reused.
    cells: Cells,
}

/// A prepared INSERT: into which table, with or without NULLs, of how many rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Insert {
    table: Table,
    nulls: bool,
    rows: usize,
}

impl Sender {
    pub(super) fn new(load: &Arc<Load>, method: Method) -> Self {
        Self {
            load: Arc::clone(load),
            method,
            prepared: HashMap::new(),
            text: String::new(),
            cells: Cells::new(load.dialect),
        }
    }

    /// One statement.
    fn send_bulk(
        &mut self,
        session: &mut dyn Session,
        unit: &Unit,
        sent: &mut Sent,
        context: &ClientContext<'_>,
    ) -> Result<u64, SessionError> {
        let text = &mut self.text;
        let mut rows = self.load.population.rows(unit);
        let started = context.recorder.begin();
        let mut next = |out: &mut Vec<u8>| {
            text.clear();
            let mut lines = Lines::new(text);
            while lines.len() < BLOCK && rows.put(&mut lines) {}
            out.extend_from_slice(text.as_bytes());
            !text.is_empty()
        };
        let (name, columns) = (unit.table.name(), unit.table.column_names());
        let added = session.load_rows(name, &columns, &mut next)?;
        sent.add(started, context, added);
        Ok(added)
    }

    /// Several rows a statement. Rows with NULLs have statements of their own: NULL is no parameter.
    fn send_prepared(
        &mut self,
        session: &mut dyn Session,
        unit: &Unit,
        sent: &mut Sent,
        context: &ClientContext<'_>,
    ) -> Result<u64, SessionError> {
        let load = Arc::clone(&self.load);
        let mut rows = load.population.rows(unit);
        let mut added = 0;
        session.execute(schema::begin(load.dialect))?;
        while let Some(nulls) = rows.next_has_null() {
            self.cells.clear();
            let mut count = 0;
            while count < load.rows_at_once
                && rows.next_has_null() == Some(nulls)
                && rows.put(&mut self.cells)
            {
                count += 1;
            }
            let insert = Insert {
                table: unit.table,
                nulls,
                rows: count,
            };
            added += self.insert(session, insert, sent, context)?;
        }
        session.execute("COMMIT")?;
        Ok(added)
    }

    /// Inserts the rows whose values are made: by one statement where they are as many as are sent at once.
    /// What is left at the end of a unit goes by statements of 64, 32, … rows, so that a session has few to
    /// prepare, whatever the units' lengths.
    fn insert(
        &mut self,
        session: &mut dyn Session,
        insert: Insert,
        sent: &mut Sent,
        context: &ClientContext<'_>,
    ) -> Result<u64, SessionError> {
        let values_of_row = self.cells.len() / insert.rows.max(1);
        let (mut done, mut added) = (0, 0);
        while done < insert.rows {
            let left = insert.rows - done;
            let rows = if left == self.load.rows_at_once {
                left
            } else {
                1 << left.ilog2()
            };
            let statement = self.prepare(session, Insert { rows, ..insert })?;
            let (first, count) = (done * values_of_row, rows * values_of_row);
            let params = self.cells.params(first, count);
            let started = context.recorder.begin();
            let answer = session.execute_prepared(statement, &params, &mut |_| ())?;
            sent.add(started, context, answer.affected);
            added += answer.affected;
            done += rows;
        }
        Ok(added)
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
        let (sql, types) = tables::insert_prepared(table, self.load.dialect, nulls, rows);
        let statement = session.prepare(&sql, &types)?;
        self.prepared.insert(insert, statement);
        Ok(statement)
    }

    /// As many rows a statement as fit.
    fn send_text(
        &mut self,
        session: &mut dyn Session,
        unit: &Unit,
        sent: &mut Sent,
        context: &ClientContext<'_>,
    ) -> Result<u64, SessionError> {
        let load = Arc::clone(&self.load);
        let head = tables::insert_head(unit.table);
        let mut rows = load.population.rows(unit);
        let mut added = 0;
        session.execute(schema::begin(load.dialect))?;
        while rows.next_has_null().is_some() {
            self.text.clear();
            self.text.push_str(&head);
            let mut tuples = Tuples::new(&mut self.text, load.dialect);
            while rows.put(&mut tuples) && tuples.len() < load.statement_size {}
            let started = context.recorder.begin();
            let affected = session.execute(&self.text)?.affected;
            sent.add(started, context, affected);
            added += affected;
        }
        session.execute("COMMIT")?;
        Ok(added)
    }
}

impl SendBatch for Sender {
    type Batch = Unit;

    fn rows(&self, unit: &Unit) -> u64 {
        self.load.population.count(unit)
    }

    fn named(&self, unit: &Unit) -> String {
        format!("rows of {unit}")
    }

    fn count(&self, unit: &Unit) -> Result<String, StepError> {
        let (name, condition) = (unit.table.name(), unit.condition());
        Ok(format!("SELECT COUNT(*) FROM {name} WHERE {condition}"))
    }

    /// BEGIN counts into the time of the first statement, COMMIT into that of the last.
    fn send(
        &mut self,
        session: &mut dyn Session,
        unit: &Unit,
        sent: &mut Sent,
        context: &ClientContext<'_>,
    ) -> Result<u64, SessionError> {
        let began = context.recorder.begin();
        let added = match self.method {
            Method::Bulk => self.send_bulk(session, unit, sent, context),
            Method::Prepared => self.send_prepared(session, unit, sent, context),
            Method::Text => self.send_text(session, unit, sent, context),
        }?;
        sent.enclose(began, context);
        Ok(added)
    }

    fn begin_anew(&mut self, session: &mut dyn Session) {
        self.prepared.clear();
        self.load.local_files.allow_again(session);
    }
}
