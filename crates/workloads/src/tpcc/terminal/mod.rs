//! A terminal: a client that carries out one transaction after the other.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use drivers::{Session, SessionError};
use model::{Dialect, Nanos, Rng, TpccPace, TpccSpec, TpccTransaction, mix};

use super::acknowledged::log::Acknowledged;
use super::audit::{self, Tallies, Tally};
use super::deck::{self, Deck};
use super::input::{Committed, Input, Inputs, Outcome, Progress};
use super::population::Population;
use super::random::Constants;
use super::statements::StepStatements;
use super::transactions::Runner;
use crate::sql::answers::Answers;
use load::{
    Arrival, Client, ClientContext, Next, Queue, Recovering, Recovery, Refused, Result, Shared,
    Worker,
};

/// Code of a transaction of which an answer was wrong.
const WRONG: &str = "wrong answer";

/// Place of the kind of New-Orders that are rolled back on purpose, after those of the transactions.
pub(super) const ROLLED_BACK: usize = TpccTransaction::ALL.len();

/// Place of the kind of a transaction; its name is [`TpccTransaction::name`].
pub(super) const fn kind(transaction: TpccTransaction) -> usize {
    transaction as usize
}

/// Name of terminal `number`, from zero, for messages.
pub(super) fn name(number: u32) -> String {
    format!("terminal {}", number + 1)
}

/// What all terminals of a step share.
pub(super) struct Common {
    pub(super) spec: Arc<TpccSpec>,
    pub(super) dialect: Dialect,
    pub(super) constants: Constants,
    pub(super) population: Population,
    pub(super) statements: Arc<StepStatements>,
    /// The statement that a session begins with, where there is one.
    pub(super) isolate: Option<String>,
    pub(super) recovery: Recovery,
    pub(super) answers: Answers,
    pub(super) tallies: Tallies,
    /// Where transactions arrive by themselves; `None` where terminals decide.
    pub(super) queue: Option<Queue>,
    /// Where commits are written down as soon as they are acknowledged.
    pub(super) log: Option<Arc<Acknowledged>>,
}

impl Shared for Common {
    fn queue(&self) -> Option<&Queue> {
        self.queue.as_ref()
    }

    fn opens(&self) {
        self.tallies.open();
    }
}

impl Common {
    fn prepare(&self, session: &mut dyn Session) -> Result<Runner, Refused> {
        if let Some(sql) = &self.isolate {
            session.execute(sql).map_err(|source| Refused { statement: sql.clone(), source })?;
        }
        Runner::prepare(&self.spec, &self.statements, self.population, self.dialect, session)
    }
}

pub(super) struct Terminal {
    common: Arc<Common>,
    name: String,
    number: u32,
    session: Box<dyn Session>,
    runner: Runner,
    inputs: Inputs,
    deck: Deck,
    rng: Rng,
    /// What it does next, or does.
    next: Input,
    /// How long it waits before that, where it keeps to keying and think times.
    left: Nanos,
    tally: Tally,
}

impl Client for Terminal {
    fn run(&mut self, context: &mut ClientContext<'_>) -> Result {
        let common = Arc::clone(&self.common);
        let ended = self.run_all(&common, context);
        common.tallies.add(&std::mem::take(&mut self.tally));
        ended
    }
}

impl Terminal {
    /// Connects terminal `number`, from zero; `seed` decides all that it does.
    pub(super) fn connect(common: &Arc<Common>, number: u32, seed: u64) -> Result<Self> {
        let Worker { name, mut session } =
            Worker::connect(&*common.recovery.connector, name(number))?;
        let runner = common.prepare(&mut *session).map_err(|refused| refused.of(&name))?;
        let spec = &common.spec;
        let mut inputs = Inputs::new(spec, common.constants, number, Rng::new(mix(seed, &[1])));
        let mut deck = Deck::new(spec.mix);
        let mut rng = Rng::new(mix(seed, &[2]));
        let next = inputs.draw(deck.draw(&mut rng));
        let left = deck::first(&spec.pace, next.transaction(), &mut rng);
        let (common, tally) = (Arc::clone(common), Tally::default());
        Ok(Self { common, name, number, session, runner, inputs, deck, rng, next, left, tally })
    }

    fn run_all(&mut self, common: &Common, context: &mut ClientContext<'_>) -> Result {
        while let Some((started, due)) = self.start(common, context) {
            let done = self.next.transaction();
            let goes_on = self.operate(common, context, (started, due))?;
            if let (None, TpccPace::Wait { percent }) = (due, &common.spec.pace) {
                self.left = deck::think(done, *percent, &mut self.rng)
                    + deck::keying(self.next.transaction(), *percent);
            }
            if !goes_on {
                break;
            }
        }
        context.recorder.abandoned();
        Ok(())
    }

    /// When the next transaction starts and, where it arrived, when it was due; `None` when the step is over
    /// before. It starts after the last one and what is left of think and keying time, or when it arrives.
    fn start(
        &mut self,
        common: &Common,
        context: &mut ClientContext<'_>,
    ) -> Option<(Nanos, Option<Nanos>)> {
        if context.is_over() {
            return None;
        }
        if let Some(queue) = &common.queue {
            let now = context.recorder.clock().now();
            let Arrival { due, started } = Arrival::next(queue, now, context)?;
            return Some((started, Some(due)));
        }
        if let TpccPace::Wait { .. } = common.spec.pace {
            let now = context.recorder.clock().now();
            let due = now + self.left;
            if context.wait_from(now, due).is_none() {
                // It goes on in the next window, so that terminals do not begin it all together.
                self.left = due.saturating_sub(context.recorder.clock().now());
                return None;
            }
        }
        Some((context.recorder.begin(), None))
    }

    /// Carries out what comes next, as often as it takes, records it, and thinks of what comes after it. All tries
    /// count into its time. False where the step was over before it succeeded.
    fn operate(
        &mut self,
        common: &Common,
        context: &mut ClientContext<'_>,
        began: (Nanos, Option<Nanos>),
    ) -> Result<bool> {
        let input = self.next;
        audit::count(&mut self.tally.audit, &input);
        self.tally.transactions += 1;
        let mut progress = Progress::default();
        let mut goes_on = true;
        for tries in 1.. {
            let error = match self.runner.run(&mut *self.session, &input, &mut progress) {
                Ok(outcome) => {
                    self.finish(common, context, began, outcome)?;
                    break;
                }
                Err(error) => error,
            };
            let place = (kind(input.transaction()), tries);
            match common.recovery.react(self, context, place, error)? {
                Next::Again => {}
                Next::GivenUp => break,
                Next::Over => {
                    goes_on = false;
                    break;
                }
            }
        }
        self.next = self.inputs.draw(self.deck.draw(&mut self.rng));
        Ok(goes_on)
    }

    fn finish(
        &mut self,
        common: &Common,
        context: &mut ClientContext<'_>,
        (started, intended): (Nanos, Option<Nanos>),
        outcome: Outcome,
    ) -> Result {
        let end = context.recorder.clock().now();
        if let Some(what) = &outcome.committed {
            if let Some(log) = &common.log {
                log.committed(self.number, what)?;
            }
            self.tally.committed += u64::from(matches!(what, Committed::Order { .. }));
            self.tally.receipts.committed(&self.next, what);
        }
        self.tally.skipped += u64::from(outcome.skipped);
        let (transaction, recorder) = (self.next.transaction(), &mut context.recorder);
        if let Some(wrong) = outcome.wrong {
            recorder.failed(kind(transaction), WRONG, false);
            let told = || format!("{}, {}: {wrong}", self.name, transaction.name());
            common.answers.add(told);
            return Ok(());
        }
        recorder.record(kind(transaction), started, intended, end, outcome.rows);
        if outcome.rolled_back {
            recorder.record(ROLLED_BACK, started, intended, end, 0);
        }
        Ok(())
    }
}

impl Recovering for Terminal {
    type Ready = Runner;

    fn session(&mut self) -> &mut dyn Session {
        &mut *self.session
    }

    fn name(&self, is_exact: bool) -> String {
        let (name, transaction) = (&self.name, self.next.transaction());
        if is_exact { format!("{name}, in `{}`", transaction.name()) } else { name.clone() }
    }

    fn prepare(&self, session: &mut dyn Session) -> Result<Runner, Refused> {
        self.common.prepare(session)
    }

    fn replace(&mut self, session: Box<dyn Session>, runner: Runner) {
        (self.session, self.runner) = (session, runner);
    }

    fn is_in_transaction(&self) -> bool {
        true
    }

    /// Nobody knows whether a transaction is committed that leaves a row.
    fn lost(&mut self) {
        if !self.runner.may_be_committed() {
            return;
        }
        let tally = &mut self.tally;
        let is_order = matches!(self.next, Input::NewOrder(_));
        tally.unknown += u64::from(is_order);
        tally.receipts.unknown += u64::from(is_order || matches!(self.next, Input::Payment(_)));
    }

    /// The rules by themselves ignore a duplicate key. Here it means that two orders had the same number.
    fn ignored(&mut self, error: &SessionError) {
        let common = &self.common;
        if !common.recovery.rules.is_of_plan(error) {
            common.answers.add(|| format!("{}: {error}", self.name(true)));
        }
    }
}
