//! A terminal: a client that carries out one transaction after the other.

mod own;
mod tally;
#[cfg(test)]
mod tests;
mod trouble;
mod waits;

use std::sync::Arc;

use drivers::SessionError;
use model::{Nanos, Rng, TpccPace, mix};

pub(super) use self::own::{Common, ROLLED_BACK, kind, name};
use self::own::{Ended, Own};
pub(super) use self::tally::Tallies;
use self::tally::Tally;
use self::trouble::Failed;
use super::audit;
use super::deck::Deck;
use super::input::{Input, Inputs};
use super::outcome::{Committed, Outcome, Progress};
use crate::recovery::Next;
use load::arrivals::Arrival;
use load::arrivals::Queue;
use load::{Client, ClientContext, StepError};

/// Code of a transaction of which an answer was wrong.
const WRONG: &str = "wrong answer";

/// A terminal with its session, generators and memory.
pub(super) struct Terminal {
    common: Arc<Common>,
    own: Own,
}

impl Terminal {
    /// Connects terminal `number`, from zero; `seed` decides all that it does.
    pub(super) fn connect(common: &Arc<Common>, number: u32, seed: u64) -> Result<Self, StepError> {
        let name = name(number);
        let mut session = match common.recovery.connector.connect() {
            Ok(session) => session,
            Err(source) => {
                return Err(StepError::Session { client: name, source });
            }
        };
        let runner = common.prepare(&mut *session);
        let runner = runner.map_err(|refused| refused.of(&name))?;
        let spec = &common.spec;
        let mut inputs = Inputs::new(spec, common.constants, number, Rng::new(mix(seed, &[1])));
        let mut deck = Deck::new(spec.mix);
        let mut rng = Rng::new(mix(seed, &[2]));
        let next = inputs.draw(deck.draw(&mut rng));
        let left = waits::first(&spec.pace, next.transaction(), &mut rng);
        let own = Own {
            name,
            number,
            session,
            runner,
            inputs,
            deck,
            rng,
            next,
            left,
            tally: Tally::default(),
        };
        Ok(Self { common: Arc::clone(common), own })
    }
}

impl Client for Terminal {
    fn run(&mut self, context: &mut ClientContext<'_>) -> Result<(), StepError> {
        let (common, own) = (&*self.common, &mut self.own);
        let ended = match (&common.queue, &common.spec.pace) {
            (Some(queue), _) => own.open_loop(common, queue, context),
            (None, TpccPace::Wait { percent }) => own.with_waits(common, *percent, context),
            (None, TpccPace::NoWait | TpccPace::Rate { .. } | TpccPace::Ramp { .. }) => {
                own.closed_loop(common, context)
            }
        };
        common.tallies.add(&std::mem::take(&mut own.tally));
        ended
    }
}

impl Own {
    /// Starts each transaction when the last one has ended and the next one is thought of.
    fn closed_loop(
        &mut self,
        common: &Common,
        context: &mut ClientContext<'_>,
    ) -> Result<(), StepError> {
        while !context.is_over() {
            let started = context.recorder.begin();
            if self.operate(common, context, started, None)? == Ended::Over {
                break;
            }
        }
        context.recorder.abandoned();
        Ok(())
    }

    /// Keys each transaction in before and thinks after it. What is left of a wait when the window closes
    /// goes on in the next one, so that terminals do not begin it all together.
    fn with_waits(
        &mut self,
        common: &Common,
        percent: u32,
        context: &mut ClientContext<'_>,
    ) -> Result<(), StepError> {
        let clock = context.recorder.clock().clone();
        let mut now = clock.now();
        loop {
            let due = now + self.left;
            if context.wait_from(now, due).is_none() {
                self.left = due.saturating_sub(clock.now());
                break;
            }
            let started = context.recorder.begin();
            let done = self.next.transaction();
            let ended = self.operate(common, context, started, None)?;
            now = clock.now();
            self.left = waits::think(done, percent, &mut self.rng)
                + waits::keying(self.next.transaction(), percent);
            if ended == Ended::Over {
                break;
            }
        }
        context.recorder.abandoned();
        Ok(())
    }

    /// Takes transactions as they arrive.
    fn open_loop(
        &mut self,
        common: &Common,
        queue: &Queue,
        context: &mut ClientContext<'_>,
    ) -> Result<(), StepError> {
        while !context.is_over() {
            let now = context.recorder.clock().now();
            let Some(Arrival { due, started }) = Arrival::next(queue, now, context) else {
                break;
            };
            if self.operate(common, context, started, Some(due))? == Ended::Over {
                break;
            }
        }
        context.recorder.abandoned();
        Ok(())
    }

    /// Carries out what comes next, and thinks of what comes after it.
    fn operate(
        &mut self,
        common: &Common,
        context: &mut ClientContext<'_>,
        started: Nanos,
        intended: Option<Nanos>,
    ) -> Result<Ended, StepError> {
        let input = self.next;
        audit::count(&mut self.tally.audit, &input);
        self.tally.transactions += 1;
        let ended = self.carry_out(common, context, &input, (started, intended))?;
        self.next = self.inputs.draw(self.deck.draw(&mut self.rng));
        Ok(ended)
    }

    /// Carries a transaction out, as often as it takes, and records it. All tries count into its time.
    fn carry_out(
        &mut self,
        common: &Common,
        context: &mut ClientContext<'_>,
        input: &Input,
        began: (Nanos, Option<Nanos>),
    ) -> Result<Ended, StepError> {
        let mut progress = Progress::default();
        for tries in 1.. {
            let error = match self.try_once(input, &mut progress) {
                Ok(outcome) => {
                    self.finish(common, context, input, began, outcome)?;
                    break;
                }
                Err(error) => error,
            };
            let place = (kind(input.transaction()), tries);
            let mut failed = Failed { own: self, common, input };
            match common.recovery.react(&mut failed, context, place, error)? {
                Next::Again => {}
                Next::GivenUp => break,
                Next::Over => return Ok(Ended::Over),
            }
        }
        Ok(Ended::Done)
    }

    #[inline]
    fn try_once(
        &mut self,
        input: &Input,
        progress: &mut Progress,
    ) -> Result<Outcome, SessionError> {
        self.runner.run(&mut *self.session, input, progress)
    }

    /// Records what came of a transaction.
    fn finish(
        &mut self,
        common: &Common,
        context: &mut ClientContext<'_>,
        input: &Input,
        (started, intended): (Nanos, Option<Nanos>),
        outcome: Outcome,
    ) -> Result<(), StepError> {
        let end = context.recorder.clock().now();
        if let Some(what) = &outcome.committed {
            if let Some(log) = &common.log {
                log.committed(self.number, what)?;
            }
            self.tally.committed += u64::from(matches!(what, Committed::Order { .. }));
            self.tally.receipts.committed(input, what);
        }
        self.tally.skipped += u64::from(outcome.skipped);
        let (transaction, recorder) = (input.transaction(), &mut context.recorder);
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
