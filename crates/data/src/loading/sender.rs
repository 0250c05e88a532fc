//! Sends the rows of a batch: by `COPY` or `LOAD DATA`, by prepared INSERTs, by INSERTs as text.

use std::collections::HashMap;
use std::sync::Arc;

use drivers::{Session, SessionError, StatementId};
use model::{Dialect, LoadMethod};

use super::batches::{SendBatch, Sending};
use crate::sink::{Cells, Lines, Tuples};
use crate::source::{Rows, Source};
use crate::statements::takes_several_rows;
use crate::table::{Batch, Table};
use load::{Notes, Result, StepError, Target, Worker, note};

/// Text that is made before some of it is sent by a bulk load.
const BLOCK: usize = 32 << 10;

/// Length of an INSERT of many rows, as the field's tools have it.
const STATEMENT: usize = 512 << 10;

/// Rows of a prepared INSERT. With fewer the round trips show, with more nothing is gained, and a server
/// that works on one has its caches full of the values of the next.
const ROWS_AT_ONCE: usize = 100;

/// Parameters that every server takes in one statement: SQLite 32,766, the others 65,535.
const PARAMETERS: usize = 32_766;

pub(super) struct Shared<S> {
    pub(super) source: S,
    pub(super) tables: Vec<Table>,
    pub(super) dialect: Dialect,
    /// Bytes of an INSERT as text beyond which it gets no more rows.
    pub(super) statement_size: usize,
    /// By table.
    pub(super) rows_at_once: Vec<usize>,
    /// Was `LOAD DATA LOCAL` off, and is it on for the load?
    pub(super) local_files_switched: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Method {
    /// `COPY` or `LOAD DATA`.
    Bulk,
    Prepared,
    Text,
}

pub(super) struct Sender<S> {
    shared: Arc<Shared<S>>,
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
    pub(super) fn new(
        shared: &Arc<Shared<S>>,
        wanted: LoadMethod,
        session: &dyn Session,
    ) -> Result<Self> {
        Ok(Self {
            shared: Arc::clone(shared),
            method: method(wanted, shared.dialect, session)?,
            prepared: HashMap::new(),
            text: String::new(),
            cells: Cells::new(shared.dialect),
        })
    }

    fn send_bulk(&mut self, batch: &Batch, to: &mut Sending<'_>) -> Result<(), SessionError> {
        let text = &mut self.text;
        let mut rows = self.shared.source.rows(batch);
        let table = &self.shared.tables[batch.table];
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
        let shared = Arc::clone(&self.shared);
        let most = shared.rows_at_once[batch.table];
        let mut rows = shared.source.rows(batch);
        while let Some(nulls) = rows.next_has_null() {
            self.cells.clear();
            while self.cells.rows < most
                && rows.next_has_null() == Some(nulls)
                && rows.put(&mut self.cells)
            {}
            let is_one = to.begin(shared.dialect, rows.next_has_null().is_none())?;
            let all = self.cells.rows;
            let mut done = 0;
            while done < all {
                // The rest goes by statements of 64, 32, … rows, so that a session has few to prepare.
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
        let table = &self.shared.tables[table];
        let (sql, types) = table.insert_prepared(self.shared.dialect, nulls, rows);
        let statement = session.prepare(&sql, &types)?;
        self.prepared.insert(insert, statement);
        Ok(statement)
    }

    fn send_text(&mut self, batch: &Batch, to: &mut Sending<'_>) -> Result<(), SessionError> {
        let shared = &*self.shared;
        let head = shared.tables[batch.table].insert_head();
        let mut rows = shared.source.rows(batch);
        while rows.next_has_null().is_some() {
            self.text.clear();
            self.text.push_str(&head);
            let mut tuples = Tuples::new(&mut self.text, shared.dialect);
            while rows.put(&mut tuples) && tuples.text.len() < shared.statement_size {}
            to.begin(shared.dialect, rows.next_has_null().is_none())?;
            to.add(|session| Ok(session.execute(&self.text)?.affected))?;
        }
        to.commit()
    }
}

impl<S: Source> SendBatch for Sender<S> {
    type Batch = Batch;

    fn rows(&self, batch: &Batch) -> u64 {
        self.shared.source.count(batch)
    }

    fn named(&self, batch: &Batch) -> String {
        self.shared.tables[batch.table].place(batch)
    }

    fn count(&self, batch: &Batch) -> Result<String> {
        let table = &self.shared.tables[batch.table];
        match table.condition(batch) {
            Some(condition) => Ok(format!("SELECT COUNT(*) FROM {} WHERE {condition}", table.name)),
            None => Err(StepError::Load(format!(
                "the connection was lost during the load of {}, and no column numbers the rows to tell \
                 whether they arrived; add such a column, or load again",
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
        if self.shared.local_files_switched {
            // The server may have been restarted. One that cannot refuses the files and says so.
            let _ = switch_local_files_on(session);
        }
    }
}

/// How a session sends rows.
///
/// The fastest for PostgreSQL is COPY. For the MySQL family it is not LOAD DATA, which takes its text
/// apart byte by byte: INSERTs of binary parameters cost MariaDB's server a quarter less and MySQL's
/// about the same, and need no leave to read local files. For SQLite they save parsing and calls.
fn method(wanted: LoadMethod, dialect: Dialect, session: &dyn Session) -> Result<Method> {
    match (wanted, dialect) {
        (LoadMethod::Insert, _) => Ok(Method::Text),
        (LoadMethod::Fastest, Dialect::Mysql | Dialect::Sqlite) => Ok(Method::Prepared),
        (LoadMethod::Fastest, Dialect::Postgres) if !session.can_load_rows() => {
            Ok(Method::Prepared)
        }
        (LoadMethod::Fastest | LoadMethod::Bulk, _) if session.can_load_rows() => Ok(Method::Bulk),
        (LoadMethod::Fastest | LoadMethod::Bulk, _) => Err(StepError::Unsupported(
            "this database offers neither COPY nor LOAD DATA LOCAL: set the load method to \
             `fastest` or `insert`"
                .to_owned(),
        )),
    }
}

/// An INSERT gets no more rows when it is so long; `worker` asks the server. With zero, each has one row.
pub(super) fn statement_size(target: &Target, worker: &mut Worker) -> Result<usize> {
    match target.dialect {
        dialect if !takes_several_rows(dialect, &target.version) => Ok(0),
        // Servers before 5.6 take 1 MiB by default, and some are set to less.
        Dialect::Mysql => {
            let packet = worker.number("SELECT @@max_allowed_packet")?;
            Ok(STATEMENT.min(packet as usize / 2))
        }
        Dialect::Postgres | Dialect::Sqlite => Ok(STATEMENT),
    }
}

/// Rows of a prepared INSERT into a table: no more than its parameters and its length allow.
pub(super) fn rows_at_once(table: &Table, statement_size: usize) -> usize {
    let by_parameters = PARAMETERS / table.loaded().count().max(1);
    let by_length = statement_size / table.row_bytes.max(1);
    ROWS_AT_ONCE.min(by_parameters).min(by_length).max(1)
}

/// Switches on `LOAD DATA LOCAL`, off by default since MySQL 8.0, where it is off, the server is ours and the
/// method needs it; tells whether it did. What cannot be done is noted; the server then refuses the files.
pub(super) fn allow_local_files(
    session: &mut dyn Session,
    target: &Target,
    method: LoadMethod,
    notes: &Notes,
) -> bool {
    if !target.ours || target.dialect != Dialect::Mysql || method != LoadMethod::Bulk {
        return false;
    }
    let switched = switch_local_files_on(session);
    match &switched {
        Ok(true) => note(notes, "local_infile was off, and on for the load".to_owned()),
        Ok(false) => {}
        Err(error) => note(notes, format!("local_infile not switched on: {error}")),
    }
    switched.unwrap_or(false)
}

fn switch_local_files_on(session: &mut dyn Session) -> Result<bool, SessionError> {
    let mut is_off = false;
    session.query("SELECT @@GLOBAL.local_infile", &mut |row| {
        is_off = row.value(0).as_int() == Some(0);
    })?;
    if is_off {
        session.execute("SET GLOBAL local_infile = 1")?;
    }
    Ok(is_off)
}

#[cfg(test)]
mod tests {
    use model::{Draw, Engine, SqlTable};

    use super::*;
    use crate::schema::{self, tests::sbtest};

    #[test]
    fn a_statement_has_no_more_rows_than_fit() {
        let rows = |table: SqlTable, statement_size| {
            let tables = schema::tables(&[table], Dialect::Sqlite, Engine::Btree).unwrap();
            rows_at_once(&tables[0], statement_size)
        };
        let of = |draw: Draw, statement_size| {
            let mut table = sbtest();
            table.columns[2].value = draw;
            rows(table, statement_size)
        };
        let short = || Draw::Fixed("#".repeat(119));
        assert_eq!(of(short(), STATEMENT), 100);
        assert_eq!(of(short(), 512), 3);
        assert_eq!(of(short(), 10), 1);
        assert_eq!(of(Draw::Text { min: 0, max: 50_000 }, STATEMENT), 10);
        let mut wide = sbtest();
        wide.columns = vec![wide.columns[0].clone(); 1000];
        assert_eq!(rows(wide, STATEMENT), 21);
    }
}
