//! A client that runs operations: the hot path.

use std::sync::Arc;

use drivers::{Done, Param, Row, SessionError, StatementId};
use model::{Nanos, Rng, Verb};

use super::answers::{Checker, Sent};
use super::compile::{Operation, Params, Program, Sending, Statement};
use super::drawn::Values;
use super::own::{Change, Common, Counted, Ended, Own, Progress, name};
use super::sampled::{Answer, Turn};
use super::shape::Shape;
use data::row_counts::RowCounts;
use load::arrivals::Arrival;
use load::arrivals::Queue;
use load::{Client, ClientContext, StepError};

/// A client with its session, generator and memory.
pub(super) struct SqlClient {
    common: Arc<Common>,
    own: Own,
}

impl SqlClient {
    /// Connects client `number` and prepares its statements.
    pub(super) fn connect(common: &Arc<Common>, number: u32, rng: Rng) -> Result<Self, StepError> {
        let name = name(number);
        let mut session = match common.recovery.connector.connect() {
            Ok(session) => session,
            Err(source) => {
                return Err(StepError::Session { client: name, source });
            }
        };
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
    fn run(&mut self, context: &mut ClientContext<'_>) -> Result<(), StepError> {
        if let Some(kind) = self.common.every {
            context.recorder.count_also_in(kind);
        }
        match &self.common.queue {
            None => self.own.closed_loop(&self.common, context),
            Some(queue) => self.own.open_loop(&self.common, queue, context),
        }
    }
}

impl Own {
    fn closed_loop(
        &mut self,
        common: &Common,
        context: &mut ClientContext<'_>,
    ) -> Result<(), StepError> {
        let mut started = context.recorder.begin();
        while !context.is_over_at(started) && !common.is_done(context, started) {
            let operation = common.program.choose(&mut self.rng);
            started = match self.operate(common, operation, context, started, None)? {
                Ended::Done(end) => context.recorder.begin_after(end),
                Ended::Failed => context.recorder.begin(),
                Ended::Over => break,
            };
        }
        context.recorder.abandoned();
        Ok(())
    }

    fn open_loop(
        &mut self,
        common: &Common,
        queue: &Queue,
        context: &mut ClientContext<'_>,
    ) -> Result<(), StepError> {
        let mut now = context.recorder.clock().now();
        while !context.is_over()
            && let Some(arrival) = Arrival::next(queue, now, context)
        {
            let Arrival { due, started } = arrival;
            let operation = common.program.choose(&mut self.rng);
            now = match self.operate(common, operation, context, started, Some(due))? {
                Ended::Done(end) => end,
                Ended::Failed => context.recorder.clock().now(),
                Ended::Over => break,
            };
        }
        context.recorder.abandoned();
        Ok(())
    }

    /// Runs one operation and records it. Repeated tries send the same values and count into its time.
    fn operate(
        &mut self,
        common: &Common,
        operation: &Operation,
        context: &mut ClientContext<'_>,
        started: Nanos,
        intended: Option<Nanos>,
    ) -> Result<Ended, StepError> {
        let (rng, counts) = (&mut self.rng, &common.counts);
        operation.draw(&mut self.values, &mut self.copies, rng, counts, self.number);
        let is_pipelined = self.ids.is_pipelined(operation.index);
        self.kept = self.turn.comes().then(Vec::new);
        let mut progress = Progress { next: 0, rows: 0, last: started, tries: 1 };
        loop {
            let attempt = if is_pipelined {
                self.pipeline(common, operation, &mut progress)
            } else {
                self.attempt(common, operation, context, &mut progress)
            };
            let Err(error) = attempt else { break };
            if let Some(ended) = self.react(common, operation, context, &mut progress, error)? {
                return Ok(ended);
            }
        }
        self.commit(&common.counts);
        let Progress { rows, last, .. } = progress;
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

    fn attempt(
        &mut self,
        common: &Common,
        operation: &Operation,
        context: &mut ClientContext<'_>,
        progress: &mut Progress,
    ) -> Result<(), SessionError> {
        let program = &common.program;
        for sending in &operation.sends[progress.next..] {
            let statement = &program.statements[sending.statement];
            let copy = sending.copy(&self.copies);
            let done = self.send(program, statement, sending, copy)?;
            let rows = self.see(common, statement, sending, copy, done);
            progress.next += 1;
            progress.rows += rows;
            if let Some(kind) = statement.kind {
                progress.last = context.recorder.part(kind, progress.last, rows);
            }
            if !operation.transaction {
                self.commit(&common.counts);
            }
        }
        Ok(())
    }

    #[inline]
    fn send(
        &mut self,
        program: &Program,
        statement: &Statement,
        sending: &Sending,
        copy: u32,
    ) -> Result<Done, SessionError> {
        let base = sending.base;
        if self.kept.is_some()
            && let Some(shape) = &statement.shape
        {
            return self.send_and_keep(program, sending, shape, copy);
        }
        let Some(id) = self.ids.get(statement.place(copy)) else {
            self.sql.clear();
            statement.write(program.dialect, copy, &self.values, base, &mut self.sql);
            return self.session.execute(&self.sql);
        };
        match &statement.params {
            Params::InPlace { first, count } => {
                let params = self.values.ints(base, *first, *count);
                self.session.count_prepared(id, params)
            }
            gathered @ Params::Gathered(_) => {
                let mut params: Vec<Param<'_>> = std::mem::take(&mut self.params);
                gathered.gather(&self.values, base, &mut params);
                let done = self.session.count_prepared(id, &params);
                self.params = emptied(params);
                done
            }
        }
    }

    #[cold]
    fn send_and_keep(
        &mut self,
        program: &Program,
        sending: &Sending,
        shape: &Shape,
        copy: u32,
    ) -> Result<Done, SessionError> {
        let statement = &program.statements[sending.statement];
        let base = sending.base;
        let mut answer = answer_to(&self.values, sending, shape, copy);
        let each = &mut |row: &dyn Row| answer.take(shape, row);
        let done = match self.ids.get(statement.place(copy)) {
            None => {
                self.sql.clear();
                statement.write(program.dialect, copy, &self.values, base, &mut self.sql);
                self.session.query(&self.sql, each)?
            }
            Some(id) => {
                let mut params = Vec::new();
                statement.params.gather(&self.values, base, &mut params);
                self.session.execute_prepared(id, &params, each)?
            }
        };
        self.kept.get_or_insert_default().push(answer);
        Ok(done)
    }

    fn pipeline(
        &mut self,
        common: &Common,
        operation: &Operation,
        progress: &mut Progress,
    ) -> Result<(), SessionError> {
        let program = &common.program;
        self.answered.clear();
        let answered = &mut self.answered;
        let mut params: Vec<Param<'_>> = std::mem::take(&mut self.params);
        let mut batch: Vec<(StatementId, &[Param<'_>])> = std::mem::take(&mut self.batch);
        for sending in &operation.sends {
            let statement = &program.statements[sending.statement];
            statement.params.gather(&self.values, sending.base, &mut params);
        }
        let mut rest = params.as_slice();
        for sending in &operation.sends {
            let statement = &program.statements[sending.statement];
            let (these, others) = rest.split_at(statement.params.count());
            rest = others;
            // All of its statements are prepared.
            if let Some(id) = self.ids.get(statement.place(sending.copy(&self.copies))) {
                batch.push((id, these));
            }
        }
        let mut kept = Vec::new();
        if self.kept.is_some() {
            kept.extend(operation.sends.iter().map(|sending| {
                let shape = program.statements[sending.statement].shape.as_ref()?;
                let copy = sending.copy(&self.copies);
                Some((shape, answer_to(&self.values, sending, shape, copy)))
            }));
        }
        let each = &mut |index: usize, row: &dyn Row| {
            if let Some((shape, answer)) = kept.get_mut(index).and_then(Option::as_mut) {
                answer.take(shape, row);
            }
        };
        let result =
            self.session.execute_pipelined(&batch, each, &mut |_, done| answered.push(done));
        if let Some(own) = &mut self.kept {
            own.extend(kept.into_iter().flatten().map(|(_, answer)| answer));
        }
        batch.clear();
        let nothing: &'static [Param<'static>] = &[];
        self.batch = batch.into_iter().map(|(id, _)| (id, nothing)).collect();
        self.params = emptied(params);
        result?;
        for (sending, index) in operation.sends.iter().zip(0..) {
            let statement = &program.statements[sending.statement];
            let copy = sending.copy(&self.copies);
            let done = self.answered.get(index).copied().unwrap_or_default();
            progress.rows += self.see(common, statement, sending, copy, done);
        }
        Ok(())
    }

    /// Checks the answer to a statement and accounts for the rows; how many it touched.
    #[inline]
    fn see(
        &mut self,
        common: &Common,
        statement: &Statement,
        sending: &Sending,
        copy: u32,
        done: Done,
    ) -> u64 {
        let table = statement.table;
        let found = match statement.verb {
            Verb::Select => done.rows,
            Verb::Insert | Verb::Update | Verb::Delete | Verb::Other => done.affected,
        };
        let sent = Sent {
            statement,
            sending,
            copy,
            values: &self.values,
            dialect: common.program.dialect,
        };
        self.checker.see(&sent, found);
        let rows = found as i64;
        let mut change = |rows| {
            self.changes.push(Change { table, copy, what: Counted::Rows, by: rows });
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
                        what: Counted::Sum(addition.column),
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
        for Change { table, copy, what, by } in self.changes.drain(..) {
            match what {
                Counted::Rows => counts.add(table, copy, by),
                Counted::Sum(column) => counts.add_to(table, copy, column, by),
            }
        }
    }
}

fn answer_to(values: &Values, sending: &Sending, shape: &Shape, copy: u32) -> Answer {
    let numbers = |place| values.numbers(sending.base, place).collect();
    Answer::new(sending.statement, copy, shape, numbers)
}

/// The memory of parameters that are no longer needed. Collecting into the same layout takes over the
/// allocation, and nothing in it borrows any more.
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
