//! The five transactions, as a client carries them out: what was asked for goes in, what came of it comes
//! out. Every answer is checked on the way.

mod delivery;
mod exchange;
mod memory;
mod new_order;
mod payment;
mod reads;
mod sample;
#[cfg(test)]
pub(super) mod tests;

use std::sync::Arc;

use drivers::{Session, SessionError};
use model::{Dialect, TpccForm, TpccSpec};

use self::exchange::{Exchange, Stopped};
use self::memory::Memory;
use super::input::Input;
use super::outcome::{Outcome, Progress};
use super::population::Population;
use super::procedures::ProcedureRunner;
use super::statements::{PreparedStatements, StepStatements};
use load::outages::Refused;

/// Runs transactions in one session.
pub(super) enum Runner {
    /// By statements of the client.
    Statements(Box<StatementRunner>),
    /// By stored procedures.
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
    ) -> Result<Outcome, SessionError> {
        match self {
            Self::Statements(runner) => runner.run(session, input, progress),
            Self::Procedures(runner) => runner.run(session, input, progress),
        }
    }

    /// Had the transaction that ended in an error come so far that it may be committed all the same, where
    /// the answer was lost?
    pub(super) fn may_be_committed(&self) -> bool {
        match self {
            Self::Statements(runner) => runner.has_sent_commit,
            Self::Procedures(_) => true,
        }
    }
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
    ) -> Result<Outcome, SessionError> {
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
