//! What the terminals of a step share, and what each has for itself.

use std::sync::Arc;

use drivers::Session;
use model::{Dialect, Nanos, Rng, TpccSpec, TpccTransaction};

use super::tally::{Tallies, Tally};
use crate::recovery::Recovery;
use crate::sql::answers::Answers;
use crate::tpcc::acknowledged::Acknowledged;
use crate::tpcc::deck::Deck;
use crate::tpcc::input::{Input, Inputs};
use crate::tpcc::population::Population;
use crate::tpcc::random::Constants;
use crate::tpcc::statements::StepStatements;
use crate::tpcc::transactions::Runner;
use load::arrivals::Queue;
use load::outages::Refused;

/// Place of the kind of a transaction; its name is [`TpccTransaction::name`].
pub(crate) const fn kind(transaction: TpccTransaction) -> usize {
    transaction as usize
}

/// Place of the kind of New-Orders that are rolled back on purpose, after those of the transactions.
pub(crate) const ROLLED_BACK: usize = TpccTransaction::ALL.len();

/// What all terminals of a step share.
pub(crate) struct Common {
    pub(crate) spec: Arc<TpccSpec>,
    pub(crate) dialect: Dialect,
    pub(crate) constants: Constants,
    /// What was loaded.
    pub(crate) population: Population,
    pub(crate) statements: Arc<StepStatements>,
    /// The statement that a session begins with, where there is one.
    pub(crate) isolate: Option<String>,
    pub(crate) recovery: Recovery,
    pub(crate) answers: Answers,
    pub(crate) tallies: Tallies,
    /// Where transactions arrive by themselves; `None` where terminals decide.
    pub(crate) queue: Option<Queue>,
    /// Where commits are written down as soon as they are acknowledged.
    pub(crate) log: Option<Arc<Acknowledged>>,
}

impl Common {
    /// Makes a session ready for transactions.
    pub(super) fn prepare(&self, session: &mut dyn Session) -> Result<Runner, Refused> {
        if let Some(sql) = &self.isolate {
            session.execute(sql).map_err(|source| Refused { statement: sql.clone(), source })?;
        }
        Runner::prepare(&self.spec, &self.statements, self.population, self.dialect, session)
    }
}

/// What a terminal has for itself.
pub(super) struct Own {
    /// For messages: `terminal 3`.
    pub(super) name: String,
    pub(super) number: u32,
    pub(super) session: Box<dyn Session>,
    pub(super) runner: Runner,
    pub(super) inputs: Inputs,
    pub(super) deck: Deck,
    pub(super) rng: Rng,
    pub(super) next: Input,
    /// How long it waits before that, where it keeps to keying and think times.
    pub(super) left: Nanos,
    pub(super) tally: Tally,
}

/// How a transaction ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// It is done, or was given up and counted.
    Done,
    /// The step was over before it succeeded.
    Over,
}

/// Name of terminal `number`, from zero, for messages.
pub(crate) fn name(number: u32) -> String {
    format!("terminal {}", number + 1)
}
