//! The loader that ours is held against: rows one by one, each by a prepared INSERT, a hundred a transaction.

use std::collections::HashMap;
use std::thread;
use std::time::Instant;

use anyhow::{Context, Result};
use drivers::{Connector, ParamType, Session, StatementId};
use load::Target;
use model::Dialect;

use crate::rows::{Cell, Rows};

/// Rows of a transaction.
const ROWS: usize = 100;

/// The prefix of its table names.
const PREFIX: &str = "by_row_";

/// Makes empty tables like those that were read, as they are now: without secondary indexes before there are
/// any.
pub(crate) fn create(target: &Target, tables: &[Rows]) -> Result<()> {
    let mut session = target.patient.connect()?;
    for Rows { table, .. } in tables {
        session.execute(&match target.dialect {
            Dialect::Mysql => format!("CREATE TABLE {PREFIX}{table} LIKE {table}"),
            Dialect::Postgres | Dialect::Sqlite => {
                format!("CREATE TABLE {PREFIX}{table} (LIKE {table} INCLUDING ALL)")
            }
        })?;
    }
    Ok(())
}

/// Loads them with this many sessions; returns the seconds.
pub(crate) fn load(target: &Target, tables: &[Rows], sessions: usize) -> Result<f64> {
    let begin = Instant::now();
    thread::scope(|scope| {
        let all: Vec<_> = (0..sessions)
            .map(|number| {
                let share = (number, sessions);
                scope.spawn(move || load_share(&*target.patient, target.dialect, tables, share))
            })
            .collect();
        all.into_iter().try_for_each(|one| {
            let ended = one.join();
            ended.map_err(|_| anyhow::anyhow!("a loader panicked"))?
        })
    })?;
    Ok(begin.elapsed().as_secs_f64())
}

/// Are there as many rows as were to be loaded?
pub(crate) fn check(target: &Target, tables: &[Rows]) -> Result<()> {
    let mut session = target.patient.connect()?;
    for rows in tables {
        let sql = format!("SELECT COUNT(*) FROM {PREFIX}{}", rows.table);
        let mut found = None;
        session.query(&sql, &mut |row| found = row.value(0).as_int())?;
        let found = found.context("no count")?;
        anyhow::ensure!(
            found == rows.count() as i64,
            "{PREFIX}{} has {found} rows of {}",
            rows.table,
            rows.count()
        );
    }
    Ok(())
}

/// Removes them.
pub(crate) fn drop_tables(target: &Target, tables: &[Rows]) -> Result<()> {
    let mut session = target.patient.connect()?;
    for Rows { table, .. } in tables {
        session.execute(&format!("DROP TABLE {PREFIX}{table}"))?;
    }
    Ok(())
}

/// Loads a session's share of each table: one of several equal parts.
fn load_share(
    connector: &dyn Connector,
    dialect: Dialect,
    tables: &[Rows],
    (part, of): (usize, usize),
) -> Result<()> {
    let mut session = connector.connect()?;
    for rows in tables {
        let (first, end) = (rows.count() * part / of, rows.count() * (part + 1) / of);
        let mut statements = Statements::new(rows, dialect);
        let mut share = rows.rows().skip(first).take(end - first).peekable();
        while share.peek().is_some() {
            session.execute("BEGIN")?;
            for row in share.by_ref().take(ROWS) {
                statements.insert(&mut *session, row)?;
            }
            session.execute("COMMIT")?;
        }
    }
    Ok(())
}

/// The INSERTs of one table: NULL is no parameter, so each set of columns that are NULL has one of its own.
struct Statements<'a> {
    rows: &'a Rows,
    dialect: Dialect,
    /// By the columns that are NULL, as bits.
    prepared: HashMap<u32, StatementId>,
}

impl<'a> Statements<'a> {
    fn new(rows: &'a Rows, dialect: Dialect) -> Self {
        Self { rows, dialect, prepared: HashMap::new() }
    }

    fn insert(&mut self, session: &mut dyn Session, row: &[Cell]) -> Result<()> {
        let nulls = row.iter().enumerate().fold(0, |nulls, (column, cell)| {
            nulls | u32::from(matches!(cell, Cell::Null)) << column
        });
        let statement = match self.prepared.get(&nulls) {
            Some(statement) => *statement,
            None => self.prepare(session, nulls)?,
        };
        let mut params = Vec::with_capacity(row.len());
        params.extend(row.iter().filter_map(Cell::param));
        session.execute_prepared(statement, &params, &mut |_| ())?;
        Ok(())
    }

    fn prepare(&mut self, session: &mut dyn Session, nulls: u32) -> Result<StatementId> {
        let mut types: Vec<ParamType> = Vec::new();
        let mut values: Vec<String> = Vec::new();
        for (column, kind) in self.rows.types.iter().enumerate() {
            if nulls & 1 << column != 0 {
                values.push("NULL".to_owned());
                continue;
            }
            types.push(*kind);
            values.push(match self.dialect {
                Dialect::Postgres => format!("${}", types.len()),
                Dialect::Mysql | Dialect::Sqlite => "?".to_owned(),
            });
        }
        let table = self.rows.table;
        let sql = format!("INSERT INTO {PREFIX}{table} VALUES ({})", values.join(", "));
        let statement = session.prepare(&sql, &types)?;
        self.prepared.insert(nulls, statement);
        Ok(statement)
    }
}
