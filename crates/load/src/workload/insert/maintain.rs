//! Index builds and the settle phase.

use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use model::Nanos;

use super::sql::SettleWork;
use super::worker::Worker;
use crate::engine::NAP;
use crate::{Client, ClientContext, StepError};

/// Builds the secondary indexes of one table.
pub(super) struct IndexBuilder {
    pub(super) worker: Worker,
    pub(super) kind: usize,
    pub(super) statements: Vec<String>,
    /// Rows that the table has; counted once, whatever the number of indexes.
    pub(super) rows: u64,
    /// Inserts that come first, as the original does.
    pub(super) first: Box<dyn Client>,
}

impl Client for IndexBuilder {
    fn run(&mut self, context: &mut ClientContext<'_>) -> Result<(), StepError> {
        self.first.run(context)?;
        let last = self.statements.len().saturating_sub(1);
        for (n, sql) in self.statements.iter().enumerate() {
            if context.is_over() {
                break;
            }
            let rows = if n == last { self.rows } else { 0 };
            self.worker.operate(context, self.kind, None, |session| {
                session.execute(sql)?;
                Ok(rows)
            })?;
        }
        Ok(())
    }
}

/// Does the settle work of one table.
pub(super) struct TableSettler {
    pub(super) worker: Worker,
    pub(super) statements: Vec<String>,
    pub(super) left: Arc<AtomicUsize>,
}

impl Client for TableSettler {
    fn run(&mut self, context: &mut ClientContext<'_>) -> Result<(), StepError> {
        for sql in &self.statements {
            self.worker.operate(context, 0, None, |session| {
                Ok(session.execute(sql)?.affected)
            })?;
        }
        self.left.fetch_sub(1, Ordering::Relaxed);
        Ok(())
    }
}

/// MySQL's code for a system variable that there is not.
const UNKNOWN_VARIABLE: &str = "1193";

/// Leads the settle phase: settings, the tables, the final work, the wait, the settings back.
pub(super) struct SettleLead {
    pub(super) worker: Worker,
    pub(super) work: SettleWork,
    /// Tables that are still worked on.
    pub(super) left: Arc<AtomicUsize>,
    /// Is the server ours, so that its global settings may be changed for a while?
    pub(super) may_change_settings: bool,
    /// The least length of the phase.
    pub(super) at_least: Nanos,
    /// What could not be done, for the record.
    pub(super) notes: Arc<Mutex<Vec<String>>>,
}

impl Client for SettleLead {
    fn run(&mut self, context: &mut ClientContext<'_>) -> Result<(), StepError> {
        let saved = self.change_settings();
        while self.left.load(Ordering::Relaxed) > 0 && !context.is_over() {
            std::thread::sleep(NAP);
        }
        for sql in self.work.finally {
            if context.is_over() {
                break;
            }
            self.worker.operate(context, 0, None, |session| {
                Ok(session.execute(sql)?.affected)
            })?;
        }
        context.wait_until(self.at_least);
        self.restore(saved);
        Ok(())
    }
}

impl SettleLead {
    /// Changes the settings of the phase and returns the old values. What a version does not have,
    /// or a user may not change, is noted and left alone.
    fn change_settings(&mut self) -> Vec<(&'static str, String)> {
        let mut saved = Vec::new();
        if !self.may_change_settings {
            return saved;
        }
        for (name, value) in self.work.settings {
            let mut old = None;
            let read = self
                .worker
                .session
                .query(&format!("SELECT @@GLOBAL.{name}"), &mut |row| {
                    old = row.value(0).to_text();
                });
            let set = read.and_then(|_| {
                self.worker
                    .session
                    .execute(&format!("SET GLOBAL {name} = {value}"))
            });
            match (set, old) {
                (Ok(_), Some(old)) => saved.push((*name, old)),
                (Ok(_), None) => self.note(format!("{name} had no value")),
                // This version does not have it.
                (Err(error), _) if error.code() == UNKNOWN_VARIABLE => {}
                (Err(error), _) => self.note(format!("{name} not changed: {error}")),
            }
        }
        saved
    }

    /// Sets the values back, last first: InnoDB keeps the low-water mark below the maximum, so the
    /// maximum must come back before it.
    fn restore(&mut self, saved: Vec<(&'static str, String)>) {
        for (name, old) in saved.into_iter().rev() {
            let mut now = None;
            let set = self
                .worker
                .session
                .execute(&format!("SET GLOBAL {name} = {old}"))
                .and_then(|_| {
                    let read = format!("SELECT @@GLOBAL.{name}");
                    self.worker
                        .session
                        .query(&read, &mut |row| now = row.value(0).to_text())
                });
            match set {
                Err(error) => self.note(format!("{name} not set back to {old}: {error}")),
                Ok(_) if now.as_ref() != Some(&old) => {
                    self.note(format!(
                        "{name} was {old}, is {now:?} after the settle phase"
                    ));
                }
                Ok(_) => {}
            }
        }
    }

    fn note(&self, text: String) {
        if let Ok(mut notes) = self.notes.lock() {
            notes.push(text);
        }
    }
}
