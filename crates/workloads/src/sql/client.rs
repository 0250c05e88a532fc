//! A client that runs operations: the hot path.

use std::sync::Arc;

use drivers::{Done, Param, Row, Session, SessionError, StatementId};
use model::{Dialect, Nanos, Rng, Verb};

use super::answers::{Answers, Checker};
use super::compile::{Operation, Params, Program, Sending, Sent};
use super::drawn::Values;
use super::sampled::{Answer, Sampled, Turn};
use super::shape::Shape;
use super::statements::{Facts, Ids};
use data::RowCounts;
use load::{
    Arrival, Client, ClientContext, Next, Queue, Recovering, Recovery, Refused, Result, Shared,
    Worker,
};

pub(super) fn name(number: u32) -> String {
    format!("client {}", number + 1)
}

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

impl Shared for Common {
    fn queue(&self) -> Option<&Queue> {
        self.queue.as_ref()
    }
}

impl Common {
    /// Has a client done what the window waits for? In a warm-up it waits for nobody.
    fn is_done(&self, context: &ClientContext<'_>, now: Nanos) -> bool {
        self.whole_after.is_some_and(|length| now >= length) && context.is_awaited()
    }

    fn prepare(&self, number: u32, session: &mut dyn Session) -> Result<Ids, Refused> {
        Ids::prepare(&self.program, &self.facts, self.pipeline, number, session)
    }
}

pub(super) struct SqlClient {
    common: Arc<Common>,
    own: Own,
}

struct Own {
    name: String,
    /// Its number, from zero.
    number: u32,
    session: Box<dyn Session>,
    ids: Ids,
    rng: Rng,
    checker: Checker,
    values: Values,
    /// The chosen copy for each block of the operation under way.
    copies: Vec<u32>,
    /// What the operation under way did to the tables' counts and sums: not yet committed.
    changes: Vec<Change>,
    turn: Turn,
    /// The answers to the operation under way, where they are kept.
    kept: Option<Vec<Answer>>,
    // Memory that is kept from statement to statement, not what is in it.
    sql: String,
    params: Vec<Param<'static>>,
    batch: Vec<(StatementId, &'static [Param<'static>])>,
    answered: Vec<Done>,
}

#[derive(Clone, Copy, Debug)]
struct Change {
    table: u32,
    copy: u32,
    /// The column whose sum has changed; `None` where the number of rows has.
    column: Option<u32>,
    by: i64,
}

struct Operating<'a> {
    own: &'a mut Own,
    common: &'a Common,
    operation: &'a Operation,
    next: usize,
    rows: u64,
    /// When its last statement ended, or it started.
    last: Nanos,
    tries: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    Done(Nanos),
    /// It was given up and counted as failed.
    Failed,
    /// The step was over before it succeeded.
    Over,
}

impl SqlClient {
    pub(super) fn connect(common: &Arc<Common>, number: u32, rng: Rng) -> Result<Self> {
        let Worker { name, mut session } =
            Worker::connect(&*common.recovery.connector, name(number))?;
        let ids = common.prepare(number, &mut *session);
        let ids = ids.map_err(|refused| refused.of(&name))?;
        let own = Own {
            name,
            number,
            session,
            ids,
            rng,
            checker: Checker::new(Arc::clone(&common.answers)),
            values: Values::default(),
            copies: Vec::new(),
            changes: Vec::new(),
            turn: Turn::new(),
            kept: None,
            sql: String::new(),
            params: Vec::new(),
            batch: Vec::new(),
            answered: Vec::new(),
        };
        Ok(Self { common: Arc::clone(common), own })
    }
}

impl Client for SqlClient {
    fn run(&mut self, context: &mut ClientContext<'_>) -> Result {
        let Self { common, own } = self;
        if let Some(kind) = common.every {
            context.recorder.count_also_in(kind);
        }
        match &common.queue {
            None => own.closed_loop(common, context)?,
            Some(queue) => own.open_loop(common, queue, context)?,
        }
        context.recorder.abandoned();
        Ok(())
    }
}

impl Own {
    fn closed_loop(&mut self, common: &Common, context: &mut ClientContext<'_>) -> Result {
        let mut started = context.recorder.begin();
        while !context.is_over_at(started) && !common.is_done(context, started) {
            started = match self.operate(common, context, started, None)? {
                Ended::Done(end) => context.recorder.begin_after(end),
                Ended::Failed => context.recorder.begin(),
                Ended::Over => break,
            };
        }
        Ok(())
    }

    fn open_loop(
        &mut self,
        common: &Common,
        queue: &Queue,
        context: &mut ClientContext<'_>,
    ) -> Result {
        let mut now = context.recorder.clock().now();
        while !context.is_over()
            && let Some(Arrival { due, started }) = Arrival::next(queue, now, context)
        {
            now = match self.operate(common, context, started, Some(due))? {
                Ended::Done(end) => end,
                Ended::Failed => context.recorder.clock().now(),
                Ended::Over => break,
            };
        }
        Ok(())
    }

    /// Runs one operation and records it. Repeated tries send the same values and count into its time.
    fn operate(
        &mut self,
        common: &Common,
        context: &mut ClientContext<'_>,
        started: Nanos,
        intended: Option<Nanos>,
    ) -> Result<Ended> {
        let (rng, counts) = (&mut self.rng, &common.counts);
        let operation = common.program.choose(rng);
        operation.draw(&mut self.values, &mut self.copies, rng, counts, self.number);
        let is_pipelined = self.ids.pipelined[operation.index];
        self.kept = self.turn.comes().then(Vec::new);
        let mut operating =
            Operating { own: self, common, operation, next: 0, rows: 0, last: started, tries: 1 };
        loop {
            let attempt =
                if is_pipelined { operating.pipeline() } else { operating.attempt(context) };
            let Err(error) = attempt else { break };
            if let Some(ended) = operating.react(context, error)? {
                return Ok(ended);
            }
        }
        let Operating { rows, last, .. } = operating;
        self.commit(counts);
        let (recorder, kind) = (&mut context.recorder, operation.kind);
        // The end of the last statement, where each was recorded, is the end of the operation.
        let end = if is_pipelined || operation.sends.len() < 2 {
            recorder.done(kind, started, intended, rows)
        } else {
            recorder.record(kind, started, intended, last, rows);
            last
        };
        if let Some(kept) = self.kept.take() {
            common.sampled.keep(self.number, kept, &mut self.turn);
        }
        Ok(Ended::Done(end))
    }

    #[inline]
    fn send(&mut self, dialect: Dialect, sent: Sent<'_>) -> Result<Done, SessionError> {
        let Sent { statement, sending: Sending { base, .. }, copy } = sent;
        if self.kept.is_some()
            && let Some(shape) = &statement.shape
        {
            return self.send_and_keep(dialect, sent, shape);
        }
        let Some(id) = self.ids.places[statement.place(copy)] else {
            self.sql.clear();
            sent.write(dialect, &self.values, &mut self.sql);
            return self.session.execute(&self.sql);
        };
        match &statement.params {
            Params::InPlace { first, count } => {
                let params = self.values.ints(*base, *first, *count);
                self.session.count_prepared(id, params)
            }
            gathered @ Params::Gathered(_) => {
                let mut params: Vec<Param<'_>> = std::mem::take(&mut self.params);
                gathered.gather(&self.values, *base, &mut params);
                let done = self.session.count_prepared(id, &params);
                self.params = emptied(params);
                done
            }
        }
    }

    #[cold]
    fn send_and_keep(
        &mut self,
        dialect: Dialect,
        sent: Sent<'_>,
        shape: &Shape,
    ) -> Result<Done, SessionError> {
        let mut answer = answer_to(&self.values, sent, shape);
        let each = &mut |row: &dyn Row| answer.take(shape, row);
        let done = match self.ids.places[sent.statement.place(sent.copy)] {
            None => {
                self.sql.clear();
                sent.write(dialect, &self.values, &mut self.sql);
                self.session.query(&self.sql, each)?
            }
            Some(id) => {
                let mut params = Vec::new();
                sent.statement.params.gather(&self.values, sent.sending.base, &mut params);
                self.session.execute_prepared(id, &params, each)?
            }
        };
        self.kept.get_or_insert_default().push(answer);
        Ok(done)
    }

    /// Checks the answer to a statement and accounts for the rows; how many it touched.
    #[expect(clippy::inline_always, reason = "a call costs a tenth of the operation of a client")]
    #[inline(always)]
    fn see(&mut self, common: &Common, sent: Sent<'_>, done: Done) -> u64 {
        let Sent { statement, sending, copy } = sent;
        let table = statement.table;
        let found = match statement.verb {
            Verb::Select => done.rows,
            Verb::Insert | Verb::Update | Verb::Delete | Verb::Other => done.affected,
        };
        self.checker.see(sent, common.program.dialect, &self.values, found);
        let rows = found as i64;
        let mut change = |rows| {
            self.changes.push(Change { table, copy, column: None, by: rows });
        };
        match statement.verb {
            Verb::Select => {}
            Verb::Update => {
                let additions = statement.additions.iter();
                self.changes.extend(additions.map(|addition| {
                    Change {
                        table: addition.table,
                        // Another table than the block's has one copy.
                        copy: if addition.table == table { copy } else { 0 },
                        column: Some(addition.column),
                        by: addition.amount(&self.values, sending.base).wrapping_mul(rows),
                    }
                }));
            }
            Verb::Insert => change(rows),
            Verb::Delete => change(-rows),
            Verb::Other => common.counts.forget(),
        }
        if statement.scans { common.counts.rows(table, copy) } else { found }
    }

    #[inline]
    fn commit(&mut self, counts: &RowCounts) {
        // An operation that only reads: draining nothing costs as much as drawing a key.
        if self.changes.is_empty() {
            return;
        }
        for Change { table, copy, column, by } in self.changes.drain(..) {
            counts.add(table, copy, column, by);
        }
    }
}

impl Operating<'_> {
    fn attempt(&mut self, context: &mut ClientContext<'_>) -> Result<(), SessionError> {
        let Self { common, operation, .. } = *self;
        for sending in &operation.sends[self.next..] {
            let sent = common.program.sent(sending, &self.own.copies);
            let done = self.own.send(common.program.dialect, sent)?;
            let rows = self.own.see(common, sent, done);
            self.next += 1;
            self.rows += rows;
            if let Some(kind) = sent.statement.kind {
                self.last = context.recorder.part(kind, self.last, rows);
            }
            if !operation.transaction {
                self.own.commit(&common.counts);
            }
        }
        Ok(())
    }

    fn pipeline(&mut self) -> Result<(), SessionError> {
        let Self { common: Common { program, .. }, operation, .. } = *self;
        let own = &mut *self.own;
        own.answered.clear();
        let mut params: Vec<Param<'_>> = std::mem::take(&mut own.params);
        let mut batch: Vec<(StatementId, &[Param<'_>])> = std::mem::take(&mut own.batch);
        for sending in &operation.sends {
            let statement = &program.statements[sending.statement];
            statement.params.gather(&own.values, sending.base, &mut params);
        }
        let mut rest = params.as_slice();
        let mut kept = Vec::new();
        for sending in &operation.sends {
            let sent = program.sent(sending, &own.copies);
            let (these, others) = rest.split_at(sent.statement.params.count());
            rest = others;
            // All of its statements are prepared.
            if let Some(id) = own.ids.places[sent.statement.place(sent.copy)] {
                batch.push((id, these));
            }
            if own.kept.is_some() {
                let shape = sent.statement.shape.as_ref();
                kept.push(shape.map(|shape| (shape, answer_to(&own.values, sent, shape))));
            }
        }
        let each = &mut |index: usize, row: &dyn Row| {
            if let Some((shape, answer)) = kept.get_mut(index).and_then(Option::as_mut) {
                answer.take(shape, row);
            }
        };
        let answered = &mut own.answered;
        let result =
            own.session.execute_pipelined(&batch, each, &mut |_, done| answered.push(done));
        if let Some(own) = &mut own.kept {
            own.extend(kept.into_iter().flatten().map(|(_, answer)| answer));
        }
        batch.clear();
        let nothing: &'static [Param<'static>] = &[];
        own.batch = batch.into_iter().map(|(id, _)| (id, nothing)).collect();
        own.params = emptied(params);
        result?;
        for (index, sending) in operation.sends.iter().enumerate() {
            let sent = program.sent(sending, &own.copies);
            let done = own.answered.get(index).copied().unwrap_or_default();
            self.rows += own.see(self.common, sent, done);
        }
        Ok(())
    }

    /// Does what an error asks for; the end of the operation, `None` where it is tried again.
    #[cold]
    fn react(
        &mut self,
        context: &mut ClientContext<'_>,
        error: SessionError,
    ) -> Result<Option<Ended>> {
        let Self { common, operation, tries, .. } = *self;
        self.own.changes.clear();
        match common.recovery.react(self, context, (operation.kind, tries), error)? {
            Next::GivenUp => Ok(Some(Ended::Failed)),
            Next::Over => Ok(Some(Ended::Over)),
            Next::Again => {
                // Where each statement is a transaction of its own, those that succeeded stay.
                if operation.transaction || self.own.ids.pipelined[operation.index] {
                    (self.next, self.rows) = (0, 0);
                }
                self.last = context.recorder.clock().now();
                self.tries += 1;
                Ok(None)
            }
        }
    }
}

impl Recovering for Operating<'_> {
    type Ready = Ids;

    fn session(&mut self) -> &mut dyn Session {
        &mut *self.own.session
    }

    fn name(&self, is_exact: bool) -> String {
        let (name, operation) = (&self.own.name, self.operation);
        if !is_exact {
            return name.clone();
        }
        let is_one = operation.sends.len() < 2 || self.own.ids.pipelined[operation.index];
        match operation.sends.get(self.next) {
            Some(sending) if !is_one => {
                let statement = &self.common.program.statements[sending.statement];
                format!("{name}, at `{}` of `{}`", statement.name, operation.name)
            }
            Some(_) | None => format!("{name}, at `{}`", operation.name),
        }
    }

    fn prepare(&self, session: &mut dyn Session) -> Result<Ids, Refused> {
        self.common.prepare(self.own.number, session)
    }

    fn replace(&mut self, session: Box<dyn Session>, ids: Ids) {
        (self.own.session, self.own.ids) = (session, ids);
    }

    fn is_in_transaction(&self) -> bool {
        self.operation.transaction
    }

    fn lost(&mut self) {
        if self.operation.writes {
            self.common.counts.forget();
        }
    }

    fn ignored(&mut self, _: &SessionError) {}
}

fn answer_to(values: &Values, sent: Sent<'_>, shape: &Shape) -> Answer {
    let Sent { sending, copy, .. } = sent;
    let numbers = |place| values.numbers(sending.base, place).collect();
    Answer::new(sending.statement, copy, shape, numbers)
}

/// The memory of parameters that are no longer needed: collecting into the same layout keeps the allocation.
pub(crate) fn emptied(mut params: Vec<Param<'_>>) -> Vec<Param<'static>> {
    params.clear();
    params.into_iter().map(|_| Param::Int(0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_memory_of_parameters_is_kept() {
        let text = "x".repeat(9);
        let mut params = Vec::with_capacity(100);
        let memory = params.as_ptr();
        for _ in 0..3 {
            params.extend([Param::Int(1), Param::Text(&text)]);
            params = emptied(params);
            assert!(params.is_empty());
            assert_eq!((params.as_ptr(), params.capacity()), (memory, 100));
        }
    }
}
