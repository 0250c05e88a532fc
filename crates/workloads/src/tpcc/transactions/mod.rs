//! The five transactions as a client carries them out, from input to outcome. Every answer is checked.

mod delivery;
mod exchange;
mod new_order;
mod payment;
mod reads;
mod sample;
#[cfg(test)]
pub(super) mod tests;

use std::sync::Arc;

use drivers::{Param, Result, Session};
use model::{Dialect, TpccForm, TpccSpec};

use self::exchange::{Exchange, Stopped};
use self::sample::Sample;
use super::input::{Input, Line, Outcome, Progress};
use super::population::Population;
use super::procedures::ProcedureRunner;
use super::statements::{PreparedStatements, StepStatements};
use load::Refused;

pub(super) enum Runner {
    Statements(Box<StatementRunner>),
    Procedures(Box<ProcedureRunner>),
}

impl Runner {
    /// Prepares in `session` what transactions need; `population` was loaded.
    pub(super) fn prepare(
        spec: &Arc<TpccSpec>,
        statements: &Arc<StepStatements>,
        population: Population,
        dialect: Dialect,
        session: &mut dyn Session,
    ) -> Result<Self, Refused> {
        match spec.form {
            TpccForm::Single | TpccForm::Batched => {
                Ok(Self::Statements(Box::new(StatementRunner {
                    statements: PreparedStatements::prepare(statements, session)?,
                    spec: Arc::clone(spec),
                    dialect,
                    memory: Memory::default(),
                    has_sent_commit: false,
                    population,
                })))
            }
            TpccForm::Procedures => match ProcedureRunner::prepare(session, spec, dialect) {
                Ok(runner) => Ok(Self::Procedures(Box::new(runner))),
                Err(source) => {
                    Err(Refused { statement: "the stored procedures".to_owned(), source })
                }
            },
        }
    }

    /// Runs one transaction. After an error it may still be open; `progress` is that of the tries before.
    #[inline]
    pub(super) fn run(
        &mut self,
        session: &mut dyn Session,
        input: &Input,
        progress: &mut Progress,
    ) -> Result<Outcome> {
        match self {
            Self::Statements(runner) => runner.run(session, input, progress),
            Self::Procedures(runner) => runner.run(session, input, progress),
        }
    }

    /// May the transaction be committed although it ended in an error, because the answer was lost?
    pub(super) fn may_be_committed(&self) -> bool {
        match self {
            Self::Statements(runner) => runner.has_sent_commit,
            Self::Procedures(_) => true,
        }
    }
}

/// Memory that is kept from transaction to transaction, not what is in it.
#[derive(Debug, Default)]
struct Memory {
    warehouse_name: String,
    district_name: String,
    text: String,
    data: String,
    customers: Vec<(u32, i64)>,
    items: Vec<u32>,
    lines: Vec<Work>,
    parcels: Vec<Parcel>,
    params: Vec<Param<'static>>,
    sample: Sample,
}

/// A line of a batched order, and what was read for it.
#[derive(Debug, Default)]
struct Work {
    line: Line,
    /// Once its item was read.
    price: Option<i64>,
    may_be_original: bool,
    /// What its stock row has; at last, what is left of it.
    quantity: Option<i64>,
    dist_info: String,
    amount: i64,
}

#[derive(Debug)]
struct Parcel {
    district: u32,
    order: u32,
    customer: u32,
    cents: i64,
}

/// Runs transactions in one session, statement by statement.
pub(super) struct StatementRunner {
    statements: PreparedStatements,
    spec: Arc<TpccSpec>,
    dialect: Dialect,
    memory: Memory,
    /// Did the last transaction come as far as its COMMIT?
    has_sent_commit: bool,
    population: Population,
}

impl StatementRunner {
    fn run(
        &mut self,
        session: &mut dyn Session,
        input: &Input,
        progress: &mut Progress,
    ) -> Result<Outcome> {
        self.has_sent_commit = false;
        let memory = &mut self.memory;
        memory.sample.begin();
        let mut exchange = Exchange {
            session,
            statements: &mut self.statements,
            spec: &self.spec,
            dialect: self.dialect,
            has_sent_commit: &mut self.has_sent_commit,
            rows: 0,
        };
        let ended = match input {
            Input::NewOrder(order) => exchange.new_order(memory, order),
            Input::Payment(payment) => exchange.payment(memory, payment),
            Input::OrderStatus(status) => exchange.order_status(memory, status),
            Input::Delivery(delivery) => exchange.delivery(memory, *delivery, progress),
            Input::StockLevel(level) => exchange.stock_level(memory, level),
        };
        match ended {
            Ok(outcome) => {
                let rows = exchange.rows;
                let wrong = memory.sample.wrong(input, &self.population, self.spec.profile);
                Ok(Outcome { rows, wrong, ..outcome })
            }
            Err(Stopped::Session(error)) => Err(error),
            Err(Stopped::Wrong(text)) => {
                // A lost connection shows in the next statement.
                let _ = exchange.roll_back();
                Ok(Outcome { wrong: Some(text), ..Outcome::default() })
            }
        }
    }
}
