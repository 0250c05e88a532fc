//! What the statements of an event were, for whoever records them.

use std::sync::{Arc, Mutex};

use model::Nanos;

use crate::lock;

/// The clock of a script's step; it stops between the turns of its system.
pub type Clock = Arc<dyn Fn() -> Nanos + Send + Sync>;

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
    /// On the clock of the script's step, as `ended`.
    pub started: Nanos,
    pub ended: Nanos,
    /// Rows returned or changed.
    pub rows: u64,
}

#[derive(Clone)]
pub(crate) struct Ledger {
    clock: Clock,
    sent: Arc<Mutex<Vec<Sent>>>,
}

impl Ledger {
    pub(crate) fn new(clock: Clock) -> Self {
        Self { clock, sent: Arc::default() }
    }

    pub(crate) fn now(&self) -> Nanos {
        (self.clock)()
    }

    pub(crate) fn add(&self, kind: SentKind, started: Nanos, rows: u64) {
        lock(&self.sent).push(Sent { kind, started, ended: self.now(), rows });
    }

    /// Moves all entries to `sent`, which is emptied before.
    pub(crate) fn take(&self, sent: &mut Vec<Sent>) {
        sent.clear();
        std::mem::swap(sent, &mut lock(&self.sent));
    }
}
