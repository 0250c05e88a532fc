//! The settle phase: the work that a load leaves behind is done, dirty pages are written back, a time passes
//! and what the server does by itself ends, so that what follows starts alike everywhere.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use drivers::{Done, Session, SessionError};
use model::{Dialect, Engine, Nanos, Settle, Version};

use super::drain::{self, Backlog};
use load::{Client, ClientContext, Clients, Notes, Result, Target, Worker, bounded, lock, note};
pub struct SettleWork {
    /// For each table, `{table}` replaced.
    each_table: &'static [&'static str],
    /// Once, after the tables.
    finally: &'static [&'static str],
    /// Global settings of the phase, set back after it: name, value. A version may lack some.
    settings: &'static [(&'static str, &'static str)],
}

impl SettleWork {
    pub fn of_table(&self, table: &str) -> Vec<String> {
        let statements = self.each_table.iter();
        statements.map(|s| s.replace("{table}", table)).collect()
    }
}

pub fn work(dialect: Dialect, engine: Engine, version: &Version) -> SettleWork {
    let mysql = SettleWork { each_table: &["ANALYZE TABLE {table}"], finally: &[], settings: &[] };
    match (dialect, engine) {
        (Dialect::Mysql, Engine::Innodb) => SettleWork {
            // They make InnoDB write dirty pages back while it is idle.
            settings: &[
                ("innodb_max_dirty_pages_pct_lwm", "1"),
                ("innodb_max_dirty_pages_pct", "1"),
                ("innodb_idle_flush_pct", "100"),
            ],
            ..mysql
        },
        (Dialect::Mysql, Engine::Myrocks) => SettleWork {
            finally: &[
                "SET GLOBAL rocksdb_force_flush_memtable_now = 1",
                "SET GLOBAL rocksdb_compact_cf = 'default'",
            ],
            ..mysql
        },
        (Dialect::Mysql, Engine::Tokudb | Engine::Heap | Engine::Btree | Engine::Other) => mysql,
        (Dialect::Postgres, _) => SettleWork {
            // Without the word, versions from 14 on may leave dead entries in the indexes.
            each_table: if version.major() >= 12 {
                &["VACUUM (ANALYZE, INDEX_CLEANUP ON) {table}"]
            } else {
                &["VACUUM (ANALYZE) {table}"]
            },
            finally: &["CHECKPOINT"],
            settings: &[],
        },
        (Dialect::Sqlite, _) => SettleWork {
            each_table: &["ANALYZE {table}"],
            finally: &["PRAGMA wal_checkpoint(TRUNCATE)"],
            settings: &[],
        },
    }
}

/// The least length of the phase after a load. The original's formula: min(1200, 60 + rows / 10^6) seconds.
pub fn length(settle: Settle, rows: u64) -> Nanos {
    match settle {
        Settle::Seconds(seconds) => Nanos::from_secs(u64::from(seconds)),
        Settle::Formula => Nanos::from_secs((60 + rows / 1_000_000).min(1200)),
    }
}

/// Connects the clients of a settle phase: one a table, and one that leads. What could not be done is noted.
pub fn clients(
    target: &Target,
    tables: &[String],
    at_least: Nanos,
    notes: &Notes,
) -> Result<Clients> {
    let work = work(target.dialect, target.engine, &target.version);
    let left = Arc::new(AtomicUsize::new(tables.len()));
    let mut clients = Clients::new();
    for table in tables {
        let name = format!("settle {table}");
        let settler = TableSettler {
            worker: Worker::connect(&*target.patient, name.clone())?,
            statements: work.of_table(table),
            left: Arc::clone(&left),
        };
        clients.push(bounded(name, settler));
    }
    let name = "settle".to_owned();
    let lead = SettleLead {
        worker: Worker::connect(&*target.patient, name.clone())?,
        work,
        left,
        backlog: Backlog { dialect: target.dialect, engine: target.engine, ours: target.ours },
        at_least,
        notes: Arc::clone(notes),
    };
    clients.push(bounded(name, lead));
    Ok(clients)
}
struct TableSettler {
    worker: Worker,
    statements: Vec<String>,
    left: Arc<AtomicUsize>,
}

impl Client for TableSettler {
    fn run(&mut self, context: &mut ClientContext<'_>) -> Result {
        for sql in &self.statements {
            self.worker.operate(context, 0, None, |session| Ok(session.execute(sql)?.affected))?;
        }
        self.left.fetch_sub(1, Ordering::Relaxed);
        Ok(())
    }
}

/// MySQL's code for an unknown system variable.
const UNKNOWN_VARIABLE: &str = "1193";
/// PostgreSQL's and MySQL's codes for a privilege that the user lacks.
const NOT_PERMITTED: [&str; 2] = ["42501", "1227"];

/// Leads the settle phase: settings, the tables, the final work, the waits, the settings back.
struct SettleLead {
    worker: Worker,
    work: SettleWork,
    left: Arc<AtomicUsize>,
    backlog: Backlog,
    at_least: Nanos,
    notes: Notes,
}

impl Client for SettleLead {
    fn run(&mut self, context: &mut ClientContext<'_>) -> Result {
        let saved = self.change_settings();
        while self.left.load(Ordering::Relaxed) > 0 && !context.is_over() {
            context.nap();
        }
        for sql in self.work.finally {
            if context.is_over() {
                break;
            }
            let (ours, notes) = (self.backlog.ours, &self.notes);
            let run = |session: &mut dyn Session| permitted(session.execute(sql), ours, notes);
            self.worker.operate(context, 0, None, run)?;
        }
        let worked = context.recorder.clock().now();
        context.wait_until(self.at_least);
        let session = &mut *self.worker.session;
        let told = self.backlog.drain(session, context, worked, drain::LONGEST);
        lock(&self.notes).extend(told.map(|(name, text)| (Some(name), text)));
        self.restore(saved);
        Ok(())
    }
}

impl SettleLead {
    /// Changes the settings of the phase and returns the old values; those that cannot be changed are left alone.
    fn change_settings(&mut self) -> Vec<(&'static str, String)> {
        let mut saved = Vec::new();
        if !self.backlog.ours {
            return saved;
        }
        for (name, value) in self.work.settings {
            let session = &mut *self.worker.session;
            let old = global(session, name);
            let changed = old.and_then(|old| {
                session.execute(&format!("SET GLOBAL {name} = {value}"))?;
                Ok(old)
            });
            match changed {
                Ok(Some(old)) => saved.push((*name, old)),
                Ok(None) => note(&self.notes, format!("{name} had no value")),
                // This version does not have it.
                Err(error) if error.code() == UNKNOWN_VARIABLE => {}
                Err(error) => note(&self.notes, format!("{name} not changed: {error}")),
            }
        }
        saved
    }

    /// Sets the values back, last first: InnoDB's maximum must come back before the low-water mark below it.
    fn restore(&mut self, saved: Vec<(&'static str, String)>) {
        for (name, old) in saved.into_iter().rev() {
            let session = &mut *self.worker.session;
            let set = session.execute(&format!("SET GLOBAL {name} = {old}"));
            match set.and_then(|_| global(session, name)) {
                Err(error) => note(&self.notes, format!("{name} not set back to {old}: {error}")),
                Ok(now) if now.as_ref() != Some(&old) => {
                    let text = format!("{name} was {old}, is {now:?} after the settle phase");
                    note(&self.notes, text);
                }
                Ok(_) => {}
            }
        }
    }
}

/// The rows that a statement affected; none where the user of another's server may not run it, which is noted.
fn permitted(
    done: Result<Done, SessionError>,
    ours: bool,
    notes: &Notes,
) -> Result<u64, SessionError> {
    match done {
        Err(error) if !ours && NOT_PERMITTED.contains(&error.code()) => {
            note(notes, format!("left out: {error}"));
            Ok(0)
        }
        done => Ok(done?.affected),
    }
}

fn global(session: &mut dyn Session, name: &str) -> Result<Option<String>, SessionError> {
    let mut value = None;
    let read = format!("SELECT @@GLOBAL.{name}");
    session.query(&read, &mut |row| value = row.value(0).to_text())?;
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_formula_is_the_original_one() {
        let seconds = |rows| length(Settle::Formula, rows).0 / 1_000_000_000;
        assert_eq!(seconds(0), 60);
        assert_eq!(seconds(10_000_000 * 20), 260);
        assert_eq!(seconds(30_000_000), 90);
        assert_eq!(seconds(800_000_000 * 8), 1200);
        assert_eq!(length(Settle::Seconds(7), 1 << 40), Nanos::from_secs(7));
    }

    #[test]
    fn what_only_the_owner_of_a_server_may_do_is_left_out_on_somebody_elses() {
        let refused = |code: &str| SessionError::Server {
            code: code.to_owned(),
            state: "".into(),
            message: "must be superuser".to_owned(),
            statement: "CHECKPOINT".to_owned(),
        };
        let notes = Notes::default();
        assert!(permitted(Err(refused("42501")), true, &notes).is_err());
        assert!(permitted(Err(refused("58030")), false, &notes).is_err());
        assert!(lock(&notes).is_empty());
        assert_eq!(permitted(Err(refused("42501")), false, &notes).unwrap(), 0);
        assert!(lock(&notes)[0].1.contains("CHECKPOINT"));
    }

    #[test]
    fn each_table_is_named() {
        let version = "18.0".parse().unwrap();
        let work = work(Dialect::Postgres, Engine::Heap, &version);
        assert_eq!(work.of_table("sbtest7"), ["VACUUM (ANALYZE, INDEX_CLEANUP ON) sbtest7"]);
    }
}
