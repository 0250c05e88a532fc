//! Loading: all tables, by several clients, by the fastest statements that the server takes.
//!
//! A chunk of rows is one transaction: by COPY or LOAD DATA it is one statement, by INSERT as many as it
//! takes. It is in its table whole or not at all, so a client that lost its connection looks whether
//! the chunk under way is there and goes on; nothing that was loaded is loaded again.

pub(in crate::workload) mod chunks;
mod loader;
pub(in crate::workload) mod local_files;
mod sender;

use std::sync::Arc;

use drivers::{Connector, Session};
use model::{Dialect, LoadMethod, LoadSpec, SqlColumn, SqlSpec, SqlTable};

use self::chunks::{Chunks, Parts};
pub(super) use self::loader::Loader;
use self::local_files::LocalFiles;
use super::ledger::Ledger;
use super::rows::Rows;
use super::schema;
use crate::workload::batches::Recovery;
use crate::workload::settle::{Clients, Notes, bounded};
use crate::workload::worker::Worker;
use crate::{StepError, Target};

/// Length of an INSERT of many rows, as the field's tools have it.
const STATEMENT: usize = 512 << 10;

/// Rows of a prepared INSERT. With fewer the round trips show, with more nothing is gained, and a server
/// that works on one has its caches full of the values of the next.
pub(in crate::workload) const ROWS_AT_ONCE: usize = 100;

/// Bytes of a number or a time, at most.
const LONGEST_NUMBER: usize = 24;

/// Parameters that every server takes in one statement: SQLite 32,766, the others 65,535.
const PARAMETERS: usize = 32_766;

/// A copy of a table.
#[derive(Clone, Debug)]
pub(super) struct TableCopy {
    /// Index of the table in its workload.
    pub(super) table: usize,
    /// Number of the copy, from 0.
    pub(super) number: u32,
    /// Its name.
    pub(super) name: String,
    /// Rows that are loaded into it.
    pub(super) rows: u64,
}

/// All copies of all tables, in order.
pub(super) fn copies(tables: &[SqlTable]) -> Vec<TableCopy> {
    let of = |(index, table): (usize, &SqlTable)| -> Vec<TableCopy> {
        let copies = 0..table.copies;
        let copies = copies.map(|number| TableCopy {
            table: index,
            number,
            name: table.name_of(number),
            rows: table.rows,
        });
        copies.collect()
    };
    tables.iter().enumerate().flat_map(of).collect()
}

/// How a client sends rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::workload) enum Method {
    /// `COPY` or `LOAD DATA`.
    Bulk,
    /// A prepared INSERT of several rows.
    Prepared,
    /// INSERT of as many rows as fit, as text.
    Text,
}

/// What all clients of a load share.
pub(super) struct Load {
    tables: Vec<SqlTable>,
    /// The rows of each table.
    rows: Vec<Rows>,
    copies: Vec<TableCopy>,
    chunks: Chunks,
    dialect: Dialect,
    wanted: LoadMethod,
    /// An INSERT as text gets no more rows when it is so long.
    statement_size: usize,
    /// Rows of a prepared INSERT, by table.
    rows_at_once: Vec<u64>,
    recovery: Recovery,
    local_files: LocalFiles,
    notes: Notes,
}

/// Makes all tables, which must not exist, and connects the clients that load them: as many as the spec
/// says. Their operation kind, the first of the step, is the statement that adds rows. The ledger says
/// from now on that everything is loaded.
pub(super) fn clients_of_load(
    spec: &SqlSpec,
    seed: u64,
    target: &Target,
    ledger: &Arc<Ledger>,
    notes: &Notes,
) -> Result<Clients, StepError> {
    let mut worker = Worker::connect(&*target.patient, "create tables".to_owned())?;
    refuse_existing(&mut worker, spec, target.dialect)?;
    create_tables(&mut worker, spec, target)?;
    let load = Load::new(spec, seed, target, &target.connector, &mut worker, notes)?;
    ledger.set_loaded();
    // Its session ends here: a step holds no more sessions than it has clients.
    drop(worker);
    let clients = 0..spec.load.clients.max(1);
    let clients = clients.map(|number| {
        let loader = Loader::connect(&load, number, 0)?;
        Ok(bounded(format!("load {}", number + 1), loader))
    });
    clients.collect()
}

/// A trial begins with an empty database; what is in it is somebody else's.
fn refuse_existing(worker: &mut Worker, spec: &SqlSpec, dialect: Dialect) -> Result<(), StepError> {
    for TableCopy { name, .. } in copies(&spec.tables) {
        if worker.number(&schema::count_tables(dialect, &name))? > 0 {
            let rows = worker.number(&format!("SELECT COUNT(*) FROM {name}"))?;
            return Err(StepError::Load(format!(
                "table {name} exists already and has {rows} rows, and would be loaded; drop it \
                 (DROP TABLE {name}) or give another database"
            )));
        }
    }
    Ok(())
}

/// Makes all tables, with their secondary indexes where these come first.
pub(super) fn create_tables(
    worker: &mut Worker,
    spec: &SqlSpec,
    target: &Target,
) -> Result<(), StepError> {
    for TableCopy { table, number, .. } in copies(&spec.tables) {
        let table = &spec.tables[table];
        for sql in schema::create_table(target.dialect, target.engine, table, number)? {
            worker.run(&sql)?;
        }
        if spec.load.indexes_first {
            for sql in schema::create_indexes(table, number) {
                worker.run(&sql)?;
            }
        }
    }
    Ok(())
}

impl Load {
    /// A load of all tables, which are empty, by sessions of `connector`. `worker` asks the server what
    /// it takes.
    pub(super) fn new(
        spec: &SqlSpec,
        seed: u64,
        target: &Target,
        connector: &Arc<dyn Connector>,
        worker: &mut Worker,
        notes: &Notes,
    ) -> Result<Arc<Self>, StepError> {
        let LoadSpec {
            clients,
            method,
            rows_per_commit,
            ..
        } = spec.load;
        let statement_size = statement_size(target.dialect, worker)?;
        let session = &mut *worker.session;
        let rows = spec.tables.iter().enumerate();
        let copies = copies(&spec.tables);
        Ok(Arc::new(Self {
            rows: rows
                .map(|(index, table)| Rows::new(table, index, seed))
                .collect(),
            chunks: Chunks::new(
                &copies.iter().map(|copy| copy.rows).collect::<Vec<_>>(),
                rows_per_commit,
                match target.dialect {
                    // Its engines order rows by their key.
                    Dialect::Mysql => Parts::OfClients(clients),
                    Dialect::Postgres | Dialect::Sqlite => Parts::Whole,
                },
            ),
            copies,
            tables: spec.tables.clone(),
            dialect: target.dialect,
            wanted: method,
            statement_size,
            rows_at_once: spec
                .tables
                .iter()
                .map(|t| rows_at_once(t, statement_size))
                .collect(),
            recovery: Recovery::new(&spec.errors, target.dialect, connector),
            local_files: LocalFiles::allow(session, target, method, clients.max(1), notes),
            notes: Arc::clone(notes),
        }))
    }
}

/// How a session sends rows.
///
/// The fastest for PostgreSQL is COPY. For the MySQL family it is not LOAD DATA, which takes its text
/// apart byte by byte: INSERTs of binary parameters cost MariaDB's server a quarter less and MySQL's
/// about the same, and need no leave to read local files. SQLite has no wire: what is left to save is
/// parsing and calls.
pub(in crate::workload) fn method(
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
pub(in crate::workload) fn statement_size(
    dialect: Dialect,
    worker: &mut Worker,
) -> Result<usize, StepError> {
    match dialect {
        // Servers before 5.6 take 1 MiB by default, and some are told to take less.
        Dialect::Mysql => {
            let packet = worker.number("SELECT @@max_allowed_packet")?;
            Ok(STATEMENT.min(packet as usize / 2))
        }
        Dialect::Postgres | Dialect::Sqlite => Ok(STATEMENT),
    }
}

/// Rows of a prepared INSERT into a table: no more than its parameters and its length allow.
fn rows_at_once(table: &SqlTable, statement_size: usize) -> u64 {
    let longest = |column: &SqlColumn| {
        let text = column.value.text_bytes();
        text.map_or(LONGEST_NUMBER, |(_, longest)| longest as usize)
    };
    let row: usize = table.columns.iter().map(longest).sum();
    let by_parameters = PARAMETERS / table.columns.len().max(1);
    let by_length = statement_size / row.max(1);
    ROWS_AT_ONCE.min(by_parameters).min(by_length).max(1) as u64
}

#[cfg(test)]
mod tests {
    use model::Draw;

    use super::schema::tests::sbtest;
    use super::*;

    #[test]
    fn a_statement_has_no_more_rows_than_fit() {
        let of = |draw: Draw, statement_size| {
            let mut table = sbtest();
            table.columns[2].value = draw;
            rows_at_once(&table, statement_size)
        };
        let short = || Draw::Fixed("#".repeat(119));
        assert_eq!(of(short(), STATEMENT), 100);
        assert_eq!(of(short(), 512), 3);
        assert_eq!(of(short(), 10), 1);
        assert_eq!(
            of(
                Draw::Text {
                    min: 0,
                    max: 50_000
                },
                STATEMENT
            ),
            10
        );
        let mut wide = sbtest();
        wide.columns = vec![wide.columns[0].clone(); 1000];
        assert_eq!(rows_at_once(&wide, STATEMENT), 21);
    }
}
