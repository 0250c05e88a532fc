//! The statements of a transaction. They are recorded when it is committed: what was rolled back is in no
//! number.

use model::Nanos;

use load::ClientContext;

/// The statements of the transaction under way.
#[derive(Debug, Default)]
pub(super) struct Sent(Vec<Statement>);

/// A statement that succeeded.
#[derive(Clone, Copy, Debug)]
struct Statement {
    started: Nanos,
    ended: Nanos,
    rows: u64,
}

/// What the statements of a transaction did together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Loaded {
    pub(super) rows: u64,
    pub(super) took: Nanos,
}

impl Sent {
    /// A statement that started at `started` succeeded now; it added `rows`.
    pub(super) fn add(&mut self, started: Nanos, context: &ClientContext<'_>, rows: u64) {
        self.0.push(Statement { started, ended: context.recorder.clock().now(), rows });
    }

    /// The transaction began at `began` and is committed now: BEGIN counts into the time of its first
    /// statement, COMMIT into that of its last.
    pub(super) fn enclose(&mut self, began: Nanos, context: &ClientContext<'_>) {
        if let Some(first) = self.0.first_mut() {
            first.started = began;
        }
        if let Some(last) = self.0.last_mut() {
            last.ended = context.recorder.clock().now();
        }
    }

    pub(super) fn forget(&mut self) {
        self.0.clear();
    }

    /// The transaction was committed: its statements are operations of `kind`.
    pub(super) fn record(&mut self, kind: usize, context: &mut ClientContext<'_>) -> Loaded {
        let mut loaded = Loaded::default();
        for statement in self.0.drain(..) {
            let Statement { started, ended, rows } = statement;
            loaded.rows += rows;
            loaded.took += ended.saturating_sub(started);
            context.recorder.record(kind, started, None, ended, rows);
        }
        loaded
    }
}
