//! Loading: all tables, by several clients, by the fastest statements that the server takes.
//!
//! A batch of rows is one transaction: by COPY or LOAD DATA it is one statement, by INSERT as many as it
//! takes. It is in its table whole or not at all, so a client that lost its connection looks whether
//! the batch under way is there and goes on; nothing that was loaded is loaded again.

pub(crate) mod batches;
mod handout;
mod sender;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use drivers::{Connector, Session, SessionError};
use model::{Dialect, ErrorRules, LoadMethod, LoadSpec, Nanos, SqlSpec};

use self::batches::{Batches, Loaded, Recovery};
use self::handout::Handout;
use self::sender::{Method, Sender};
use crate::rows::SqlRows;
use crate::schema;
use crate::source::Source;
use crate::table::Table;
use load::clients::{Notes, bounded, note};
use load::worker::Worker;
use load::{Client, ClientContext, StepError, Target};

/// Length of an INSERT of many rows, as the field's tools have it.
const STATEMENT: usize = 512 << 10;

/// Rows of a prepared INSERT. With fewer the round trips show, with more nothing is gained, and a server
/// that works on one has its caches full of the values of the next.
const ROWS_AT_ONCE: usize = 100;

/// Parameters that every server takes in one statement: SQLite 32,766, the others 65,535.
const PARAMETERS: usize = 32_766;

pub struct LoadWork<S> {
    pub source: S,
    pub tables: Vec<Table>,
    pub spec: LoadSpec,
    pub errors: ErrorRules,
    /// The tables in the order in which they are begun.
    pub order: Vec<usize>,
    /// Parts of a table whose rows are ordered by their key.
    pub parts: u32,
    /// Is it noted how long each table took?
    pub with_times: bool,
}

/// What the clients of a load share.
pub struct Load<S> {
    work: LoadWork<S>,
    handout: Handout,
    dialect: Dialect,
    /// Bytes of an INSERT as text beyond which it gets no more rows.
    statement_size: usize,
    /// By table.
    rows_at_once: Vec<usize>,
    recovery: Recovery,
    /// Was `LOAD DATA LOCAL` off, and is it on for the load?
    local_files_switched: bool,
    notes: Notes,
    /// Rows of each table, and the time that the statements took which added them, all clients together.
    loaded: Vec<[AtomicU64; 2]>,
    left: AtomicUsize,
}

impl LoadWork<SqlRows> {
    pub fn of_sql(spec: &SqlSpec, seed: u64, target: &Target) -> Result<Self, StepError> {
        let tables = schema::tables(&spec.tables, target.dialect, target.engine)?;
        Ok(Self {
            source: SqlRows::new(&spec.tables, seed),
            spec: spec.load.clone(),
            errors: spec.errors.clone(),
            order: (0..tables.len()).collect(),
            parts: spec.load.clients.div_ceil(tables.len().max(1) as u32),
            with_times: false,
            tables,
        })
    }
}

impl<S: Source> LoadWork<S> {
    /// Makes the tables. They are loaded by sessions of `connector`; `worker` asks the server what it takes.
    pub fn begin(
        self,
        target: &Target,
        connector: &Arc<dyn Connector>,
        worker: &mut Worker,
        notes: &Notes,
    ) -> Result<Arc<Load<S>>, StepError> {
        let Self { source, tables, spec, .. } = &self;
        for table in tables {
            let indexes = if spec.indexes_first { table.create_indexes() } else { Vec::new() };
            for sql in table.create(target.dialect).iter().chain(&indexes) {
                worker.run(sql)?;
            }
        }
        let statement_size = statement_size(target.dialect, worker)?;
        let batches = |table: &usize| (*table, source.batches(*table, spec.rows_per_commit));
        let lengths: Vec<(usize, u64)> = self.order.iter().map(batches).collect();
        let parts = match target.dialect {
            // Its engines order rows by their key.
            Dialect::Mysql => self.parts,
            Dialect::Postgres | Dialect::Sqlite => 1,
        };
        let session = &mut *worker.session;
        Ok(Arc::new(Load {
            handout: Handout::new(&lengths, parts.into()),
            dialect: target.dialect,
            statement_size,
            rows_at_once: tables.iter().map(|table| rows_at_once(table, statement_size)).collect(),
            recovery: Recovery::new(&self.errors, target.dialect, connector),
            local_files_switched: allow_local_files(session, target, spec.method, notes),
            notes: Arc::clone(notes),
            loaded: tables.iter().map(|_| Default::default()).collect(),
            left: AtomicUsize::new(spec.clients.max(1) as usize),
            work: self,
        }))
    }
}

impl<S> Load<S> {
    /// A client is done; the last one switches local files back and tells how long each table took.
    fn client_done(&self, session: &mut dyn Session) {
        if self.left.fetch_sub(1, Ordering::AcqRel) != 1 {
            return;
        }
        if self.local_files_switched
            && let Err(error) = session.execute("SET GLOBAL local_infile = 0")
        {
            note(&self.notes, format!("local_infile not switched off again: {error}"));
        }
        let LoadWork { tables, with_times, .. } = &self.work;
        for (table, loaded) in tables.iter().zip(&self.loaded).filter(|_| *with_times) {
            let [rows, time] = loaded.each_ref().map(|number| number.load(Ordering::Relaxed));
            let (name, time) = (&table.name, Nanos(time));
            note(&self.notes, format!("{name}: {rows} rows in {time} of all clients"));
        }
    }
}

/// A client that loads: takes batches until none are left.
pub struct Loader<S: Source> {
    load: Arc<Load<S>>,
    batches: Batches<Sender<S>>,
}

impl<S: Source> Loader<S> {
    /// Client `number`, from 0, connected; its operations are of kind 0.
    pub fn connect(load: &Arc<Load<S>>, number: u32) -> Result<Self, StepError> {
        let worker = Worker::connect(&*load.recovery.connector, name(number))?;
        let method = method(load.work.spec.method, load.dialect, &*worker.session)?;
        let batches = Batches { worker, sender: Sender::new(load, method), sent: Vec::new() };
        Ok(Self { load: Arc::clone(load), batches })
    }

    /// The client's session, for work that comes after the load.
    pub fn worker(&mut self) -> &mut Worker {
        &mut self.batches.worker
    }
}

/// Name of client `number`, from 0.
pub fn name(number: u32) -> String {
    format!("load {}", number + 1)
}

pub fn bounded_loader<S: Source>(
    load: &Arc<Load<S>>,
    number: u32,
) -> Result<(load::engine::Role, Box<dyn Client>), StepError> {
    Ok(bounded(name(number), Loader::connect(load, number)?))
}

impl<S: Source> Client for Loader<S> {
    fn run(&mut self, context: &mut ClientContext<'_>) -> Result<(), StepError> {
        let load = &*self.load;
        let mut at = None;
        while !context.is_over()
            && let Some((table, number)) = load.handout.take(&mut at)
        {
            let LoadWork { source, spec, .. } = &load.work;
            let batch = source.batch(table, spec.rows_per_commit, number);
            let loaded = self.batches.load(&load.recovery, &batch, context)?;
            if let Some(Loaded { rows, took }) = loaded {
                let [all, time] = &load.loaded[table];
                all.fetch_add(rows, Ordering::Relaxed);
                time.fetch_add(took.0, Ordering::Relaxed);
            }
        }
        load.client_done(&mut *self.batches.worker.session);
        Ok(())
    }
}

/// Switches on `LOAD DATA LOCAL`, off by default since MySQL 8.0, where it is off, the server is ours and the
/// method needs it; tells whether it did. What cannot be done is noted; the server then refuses the files.
fn allow_local_files(
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

/// How a session sends rows.
///
/// The fastest for PostgreSQL is COPY. For the MySQL family it is not LOAD DATA, which takes its text
/// apart byte by byte: INSERTs of binary parameters cost MariaDB's server a quarter less and MySQL's
/// about the same, and need no leave to read local files. SQLite has no wire: what is left to save is
/// parsing and calls.
fn method(
    wanted: LoadMethod,
    dialect: Dialect,
    session: &dyn Session,
) -> Result<Method, StepError> {
    match (wanted, dialect) {
        (LoadMethod::Insert, _) => Ok(Method::Text),
        (LoadMethod::Fastest, Dialect::Mysql | Dialect::Sqlite) => Ok(Method::Prepared),
        (LoadMethod::Fastest, Dialect::Postgres) if !session.can_load_rows() => {
            Ok(Method::Prepared)
        }
        (LoadMethod::Fastest | LoadMethod::Bulk, _) if session.can_load_rows() => Ok(Method::Bulk),
        (LoadMethod::Fastest | LoadMethod::Bulk, _) => Err(StepError::Unsupported(
            "this database offers neither COPY nor LOAD DATA LOCAL: let the load's method be \
             `fastest` or `insert`"
                .to_owned(),
        )),
    }
}

/// An INSERT as text gets no more rows when it is so long; `worker` asks the server.
fn statement_size(dialect: Dialect, worker: &mut Worker) -> Result<usize, StepError> {
    match dialect {
        // Servers before 5.6 take 1 MiB by default, and some are set to less.
        Dialect::Mysql => {
            let packet = worker.number("SELECT @@max_allowed_packet")?;
            Ok(STATEMENT.min(packet as usize / 2))
        }
        Dialect::Postgres | Dialect::Sqlite => Ok(STATEMENT),
    }
}

/// Rows of a prepared INSERT into a table: no more than its parameters and its length allow.
fn rows_at_once(table: &Table, statement_size: usize) -> usize {
    let by_parameters = PARAMETERS / table.loaded().count().max(1);
    let by_length = statement_size / table.row_bytes.max(1);
    ROWS_AT_ONCE.min(by_parameters).min(by_length).max(1)
}

#[cfg(test)]
mod tests {
    use model::{Draw, Engine, SqlTable};

    use super::schema::tests::sbtest;
    use super::*;

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
