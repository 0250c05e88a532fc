//! What the clients of a step share, and what each has for itself.

use std::sync::Arc;

use drivers::{Done, Param, Session, StatementId};
use model::{Nanos, Rng};

use super::answers::{Answers, Checker};
use super::compile::Program;
use super::drawn::Values;
use super::sampled::{Answer, Sampled, Turn};
use super::statements::{Facts, Ids};
use crate::recovery::Recovery;
use data::row_counts::RowCounts;
use load::ClientContext;
use load::arrivals::Queue;
use load::outages::Refused;

/// What all clients of a step share.
pub(super) struct Common {
    pub(super) program: Program,
    pub(super) counts: Arc<RowCounts>,
    pub(super) recovery: Recovery,
    pub(super) answers: Arc<Answers>,
    pub(super) facts: Facts,
    /// Where operations arrive by themselves; `None` in a closed loop.
    pub(super) queue: Option<Queue>,
    /// Clients end with the first operation that ends at this time or later, where that is asked for.
    pub(super) whole_after: Option<Nanos>,
    /// Place of the kind of all operations, where there is one.
    pub(super) every: Option<usize>,
    /// Are all statements of an operation sent before the first answer is read, where that can be done?
    pub(super) pipeline: bool,
    pub(super) sampled: Sampled,
}

/// What a client has for itself.
pub(super) struct Own {
    pub(super) name: String,
    /// Its number, from zero.
    pub(super) number: u32,
    pub(super) session: Box<dyn Session>,
    pub(super) ids: Ids,
    pub(super) rng: Rng,
    pub(super) checker: Checker,
    pub(super) values: Values,
    /// The chosen copy for each block of the operation under way.
    pub(super) copies: Vec<u32>,
    /// What the operation under way did to the tables' counts and sums: not yet committed.
    pub(super) changes: Vec<Change>,
    pub(super) turn: Turn,
    /// The answers to the operation under way, where they are kept.
    pub(super) kept: Option<Vec<Answer>>,
    // Memory that is kept from statement to statement, not what is in it.
    pub(super) sql: String,
    pub(super) params: Vec<Param<'static>>,
    pub(super) batch: Vec<(StatementId, &'static [Param<'static>])>,
    pub(super) answered: Vec<Done>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Change {
    pub(super) table: u32,
    pub(super) copy: u32,
    pub(super) what: Counted,
    pub(super) by: i64,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Counted {
    Rows,
    Sum(u32),
}

/// How far an operation has come.
#[derive(Clone, Copy, Debug)]
pub(super) struct Progress {
    /// The next of its sendings.
    pub(super) next: usize,
    pub(super) rows: u64,
    /// When its last statement ended, or it started.
    pub(super) last: Nanos,
    pub(super) tries: u32,
}

/// How an operation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    Done(Nanos),
    /// It was given up and counted as failed.
    Failed,
    /// The step was over before it succeeded.
    Over,
}

/// Name of client `number`, for messages.
pub(super) fn name(number: u32) -> String {
    format!("client {}", number + 1)
}

impl Common {
    /// Prepares in a session what client `client` sends.
    pub(super) fn prepare(&self, client: u32, session: &mut dyn Session) -> Result<Ids, Refused> {
        Ids::prepare(&self.program, client, self.pipeline, session, &self.facts)
    }

    /// Has a client done what the window waits for? In a warm-up it waits for nobody.
    pub(super) fn is_done(&self, context: &ClientContext<'_>, now: Nanos) -> bool {
        self.whole_after.is_some_and(|length| now >= length) && context.is_awaited()
    }
}
