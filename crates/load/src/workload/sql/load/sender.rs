//! Sends the rows of a chunk: by `COPY` or `LOAD DATA`, by prepared INSERTs, by INSERTs as text.

use std::collections::HashMap;
use std::sync::Arc;

use drivers::{Done, Param, Session, SessionError, StatementId};
use model::Dialect;

use super::chunks::Chunk;
use super::{Load, Method, TableCopy};
use crate::workload::batches::{SendBatch, Sent};
use crate::workload::sql::rows::Cell;
use crate::workload::sql::schema;
use crate::{ClientContext, StepError};

/// Text that is made before some of it is sent by a bulk load.
const BLOCK: usize = 32 << 10;

/// Sends chunks in one session.
pub(super) struct Sender {
    load: Arc<Load>,
    method: Method,
    /// The INSERTs that the session has prepared, by copy and number of rows.
    prepared: HashMap<(usize, u64), StatementId>,
    /// The text that is being made; reused.
    text: String,
    /// The values of the rows of a statement, by table; reused.
    cells: Vec<Vec<Cell>>,
}

impl Sender {
    pub(super) fn new(load: &Arc<Load>, method: Method) -> Self {
        Self {
            load: Arc::clone(load),
            method,
            prepared: HashMap::new(),
            text: String::new(),
            cells: vec![Vec::new(); load.tables.len()],
        }
    }

    /// One statement.
    fn send_bulk(
        &mut self,
        session: &mut dyn Session,
        chunk: Chunk,
        sent: &mut Sent,
        context: &ClientContext<'_>,
    ) -> Result<u64, SessionError> {
        let (load, text) = (&*self.load, &mut self.text);
        let copy = &load.copies[chunk.copy];
        let rows = &load.rows[copy.table];
        let columns = schema::column_names(&load.tables[copy.table]);
        let started = context.recorder.begin();
        let mut row = chunk.first;
        let mut next = |out: &mut Vec<u8>| {
            text.clear();
            while row <= chunk.last && text.len() < BLOCK {
                rows.put_line(copy.number, row, text);
                row += 1;
            }
            out.extend_from_slice(text.as_bytes());
            !text.is_empty()
        };
        let added = session.load_rows(&copy.name, &columns, &mut next)?;
        sent.add(started, context, added);
        Ok(added)
    }

    /// Several rows a statement, a transaction where it takes several.
    fn send_prepared(
        &mut self,
        session: &mut dyn Session,
        chunk: Chunk,
        sent: &mut Sent,
        context: &ClientContext<'_>,
    ) -> Result<u64, SessionError> {
        let load = Arc::clone(&self.load);
        let TableCopy { table, number, .. } = load.copies[chunk.copy];
        let mut added = 0;
        let mut first = chunk.first;
        while first <= chunk.last {
            let last = chunk.last.min(first + load.rows_at_once[table] - 1);
            let statement = self.prepare(session, chunk.copy, last - first + 1)?;
            let cells = load.rows[table].fill(number, first, last, &mut self.cells[table]);
            let params: Vec<Param<'_>> = cells.iter().map(Cell::param).collect();
            let place = (first == chunk.first, last == chunk.last);
            let started = context.recorder.begin();
            let affected = in_transaction(session, load.dialect, place, |session| {
                session.count_prepared(statement, &params)
            })?;
            sent.add(started, context, affected);
            added += affected;
            first = last + 1;
        }
        Ok(added)
    }

    /// The prepared INSERT of so many rows into a copy.
    fn prepare(
        &mut self,
        session: &mut dyn Session,
        copy: usize,
        rows: u64,
    ) -> Result<StatementId, SessionError> {
        if let Some(statement) = self.prepared.get(&(copy, rows)) {
            return Ok(*statement);
        }
        let load = &*self.load;
        let TableCopy { table, number, .. } = load.copies[copy];
        let sql = schema::insert_prepared(load.dialect, &load.tables[table], number, rows);
        let types = load.rows[table].param_types().repeat(rows as usize);
        let statement = session.prepare(&sql, &types)?;
        self.prepared.insert((copy, rows), statement);
        Ok(statement)
    }

    /// As many rows a statement as fit, a transaction where it takes several.
    fn send_text(
        &mut self,
        session: &mut dyn Session,
        chunk: Chunk,
        sent: &mut Sent,
        context: &ClientContext<'_>,
    ) -> Result<u64, SessionError> {
        let load = Arc::clone(&self.load);
        let copy = &load.copies[chunk.copy];
        let rows = &load.rows[copy.table];
        let head = schema::insert_head(&load.tables[copy.table], copy.number);
        let mut added = 0;
        let mut row = chunk.first;
        while row <= chunk.last {
            let first = row;
            self.text.clear();
            self.text.push_str(&head);
            while row <= chunk.last && (row == first || self.text.len() < load.statement_size) {
                if row > first {
                    self.text.push(',');
                }
                rows.put_tuple(load.dialect, copy.number, row, &mut self.text);
                row += 1;
            }
            let place = (first == chunk.first, row > chunk.last);
            let started = context.recorder.begin();
            let affected = in_transaction(session, load.dialect, place, |session| {
                session.execute(&self.text)
            })?;
            sent.add(started, context, affected);
            added += affected;
        }
        Ok(added)
    }
}

impl SendBatch for Sender {
    type Batch = Chunk;

    fn rows(&self, chunk: &Chunk) -> u64 {
        chunk.rows()
    }

    fn named(&self, chunk: &Chunk) -> String {
        let Chunk { first, last, .. } = chunk;
        format!(
            "rows {first} to {last} of {}",
            self.load.copies[chunk.copy].name
        )
    }

    fn count(&self, chunk: &Chunk) -> Result<String, StepError> {
        let TableCopy { table, name, .. } = &self.load.copies[chunk.copy];
        let Chunk { first, last, .. } = chunk;
        let Some(column) = schema::number_column(&self.load.tables[*table]) else {
            return Err(StepError::Load(format!(
                "the connection was lost while {} were loaded, and no column has their numbers to tell \
                 whether they are there; load with one that has, or begin anew",
                self.named(chunk)
            )));
        };
        Ok(format!(
            "SELECT COUNT(*) FROM {name} WHERE {column} BETWEEN {first} AND {last}"
        ))
    }

    fn send(
        &mut self,
        session: &mut dyn Session,
        chunk: &Chunk,
        sent: &mut Sent,
        context: &ClientContext<'_>,
    ) -> Result<u64, SessionError> {
        match self.method {
            Method::Bulk => self.send_bulk(session, *chunk, sent, context),
            Method::Prepared => self.send_prepared(session, *chunk, sent, context),
            Method::Text => self.send_text(session, *chunk, sent, context),
        }
    }

    fn begin_anew(&mut self, session: &mut dyn Session) {
        self.prepared.clear();
        self.load.local_files.allow_again(session);
    }
}

/// Runs a statement of a chunk, the first or the last of it or both or neither, in the transaction of the
/// chunk; one that is all of it is a transaction by itself. Rows that it added.
fn in_transaction(
    session: &mut dyn Session,
    dialect: Dialect,
    (is_first, is_last): (bool, bool),
    run: impl FnOnce(&mut dyn Session) -> Result<Done, SessionError>,
) -> Result<u64, SessionError> {
    if is_first && !is_last {
        session.execute(schema::begin(dialect))?;
    }
    let done = run(session)?;
    if is_last && !is_first {
        session.execute("COMMIT")?;
    }
    Ok(done.affected)
}
