//! What the statements of an event were, for whoever records them.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// How sysbench counts a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SentKind {
    /// It returns rows.
    Read,
    /// It changed rows.
    Write,
    Other,
    /// No statement: the script itself counts an error.
    Error,
    /// No statement either: the script has connected anew.
    Reconnect,
}

/// A statement that succeeded.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    pub kind: SentKind,
    pub started: Instant,
    pub ended: Instant,
    /// Rows returned or changed.
    pub rows: u64,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Ledger(Arc<Mutex<Vec<Sent>>>);

impl Ledger {
    pub(crate) fn add(&self, kind: SentKind, started: Instant, rows: u64) {
        self.lock().push(Sent { kind, started, ended: Instant::now(), rows });
    }

    /// Moves all entries to `sent`, which is emptied before.
    pub(crate) fn take(&self, sent: &mut Vec<Sent>) {
        sent.clear();
        std::mem::swap(sent, &mut self.lock());
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Sent>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
