//! What `prepare` left, for trials that begin with a copy of it: the tables and their row counts.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use model::{Check, Dialect, KindSpec, LuaSpec, StepRecord};

use super::name;
use data::state;
use load::{
    Client, ClientContext, Observer, Result, StepError, Stop, Target, Worker, bounded, fixed_work,
    lock,
};

/// The row count of each table, by its name as quoted in SQL.
pub(super) type Tables = BTreeMap<String, u64>;

/// Everything that determines what `prepare` leaves: the script with its options, and each script that it may require.
pub(crate) fn loading(spec: &LuaSpec) -> Result<String> {
    let files = spec.path.iter().filter_map(|place| fs::read_dir(place).ok()).flatten().flatten();
    let scripts =
        files.map(|file| file.path()).filter(|path| path.extension() == Some("lua".as_ref()));
    let text = |path: &PathBuf| Some(String::from_utf8_lossy(&fs::read(path).ok()?).into_owned());
    let texts: BTreeMap<PathBuf, Option<String>> =
        scripts.map(|path| (path.clone(), text(&path))).collect();
    let spec = LuaSpec { commands: Vec::new(), sweep: Vec::new(), ..spec.clone() };
    state::write(&(spec, texts))
}

/// Counts the rows of each table in the database.
pub(super) fn tables(target: &Target) -> Result<Tables> {
    let mut worker = Worker::connect(&*target.patient, "count rows".to_owned())?;
    let mut names = Vec::new();
    worker.rows(names_of(target.dialect), &mut |row| names.extend(row.value(0).to_text()))?;
    let counted = names.into_iter().map(|name| {
        let rows = worker.run(&read(&name))?.rows;
        Ok((name, rows))
    });
    counted.collect()
}

/// A query of the names of all tables, in quotes.
const fn names_of(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Mysql => {
            "SELECT CONCAT('`', REPLACE(table_name, '`', '``'), '`') FROM information_schema.tables \
             WHERE table_schema = DATABASE() AND table_type = 'BASE TABLE'"
        }
        Dialect::Postgres => {
            "SELECT format('%I.%I', schemaname, tablename) FROM pg_tables \
             WHERE schemaname NOT IN ('pg_catalog', 'information_schema')"
        }
        Dialect::Sqlite => {
            "SELECT '\"' || replace(name, '\"', '\"\"') || '\"' FROM sqlite_master \
             WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
        }
    }
}

fn read(table: &str) -> String {
    format!("SELECT * FROM {table}")
}

/// Reads all tables once, so that the caches hold what fits, and compares their rows with those that were loaded.
pub(super) fn warm(
    loaded: &Tables,
    clients: u32,
    target: &Target,
    stop: &Stop,
    observer: &mut dyn Observer,
) -> Result<StepRecord> {
    let found = Arc::new(Mutex::new(Tables::new()));
    let readers = (0..clients).map(|number| {
        let own = loaded.keys().skip(number as usize).step_by(clients as usize);
        let worker = Worker::connect(&*target.patient, name(number))?;
        let reader = Reader { worker, tables: own.cloned().collect(), found: Arc::clone(&found) };
        Ok(bounded(name(number), reader))
    });
    let (kinds, clients) = ([KindSpec::unscheduled("scan")], readers.collect::<Result<_>>()?);
    let mut record = fixed_work(&kinds, clients, &stop.clock(), stop, observer)?;
    let found = std::mem::take(&mut *lock(&found));
    let checks = loaded.iter().map(|(table, rows)| Check {
        what: format!("rows in {table} of the template"),
        expected: rows.to_string(),
        actual: found.get(table).map_or_else(|| "not read".to_owned(), u64::to_string),
        holds: found.get(table) == Some(rows),
    });
    record.checks = checks.collect();
    Ok(record)
}

struct Reader {
    worker: Worker,
    tables: Vec<String>,
    found: Arc<Mutex<Tables>>,
}

impl Client for Reader {
    fn run(&mut self, context: &mut ClientContext<'_>) -> Result {
        for table in &self.tables {
            if context.is_interrupted() {
                return Err(StepError::Interrupted);
            }
            let query = read(table);
            let rows = self
                .worker
                .operate(context, 0, None, |session| Ok(session.execute(&query)?.rows))?;
            let Some(rows) = rows else { break };
            lock(&self.found).insert(table.clone(), rows);
        }
        Ok(())
    }
}
