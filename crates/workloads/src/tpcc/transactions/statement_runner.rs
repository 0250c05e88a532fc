//! Carries transactions out statement by statement.

use std::sync::Arc;

use drivers::{Session, SessionError};
use model::TpccSpec;

use super::exchange::{Exchange, Stopped};
use super::memory::Memory;
use super::{delivery, new_order, order_status, payment, stock_level};
use crate::tpcc::input::Input;
use crate::tpcc::outcome::{Outcome, Progress};
use crate::tpcc::population::Population;
use crate::tpcc::statements::{PreparedStatements, StepStatements};
use load::outages::Refused;

/// Runs transactions in one session.
pub(crate) struct StatementRunner {
    statements: PreparedStatements,
    spec: Arc<TpccSpec>,
    memory: Memory,
    has_sent_commit: bool,
    population: Population,
}

impl StatementRunner {
    /// Prepares the statements of `statements` in `session`.
    pub(super) fn prepare(
        spec: &Arc<TpccSpec>,
        statements: &Arc<StepStatements>,
        population: Population,
        session: &mut dyn Session,
    ) -> Result<Self, Refused> {
        Ok(Self {
            statements: PreparedStatements::prepare(statements, session)?,
            spec: Arc::clone(spec),
            memory: Memory::default(),
            has_sent_commit: false,
            population,
        })
    }

    pub(super) fn run(
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
            has_sent_commit: &mut self.has_sent_commit,
            rows: 0,
        };
        let ended = match input {
            Input::NewOrder(order) => new_order::run(&mut exchange, memory, order),
            Input::Payment(payment) => payment::run(&mut exchange, memory, payment),
            Input::OrderStatus(status) => order_status::run(&mut exchange, memory, status),
            Input::Delivery(delivery) => delivery::run(&mut exchange, memory, *delivery, progress),
            Input::StockLevel(level) => stock_level::run(&mut exchange, memory, level),
        };
        let rows = exchange.rows;
        match ended {
            Ok(outcome) => Ok(Outcome { rows, wrong: self.wrong_read(input), ..outcome }),
            Err(Stopped::Session(error)) => Err(error),
            Err(Stopped::Wrong(text)) => {
                // A lost connection shows in the next statement.
                let _ = exchange.roll_back();
                Ok(Outcome { wrong: Some(text), ..Outcome::default() })
            }
        }
    }

    /// What the transaction has read and is not as it was loaded, where that is looked at.
    #[inline]
    fn wrong_read(&self, input: &Input) -> Option<String> {
        let sample = &self.memory.sample;
        match input {
            Input::NewOrder(_) => sample.wrong_item(&self.population),
            Input::OrderStatus(status) => {
                sample.wrong_line(&self.population, self.spec.profile, status)
            }
            Input::Payment(_) | Input::Delivery(_) | Input::StockLevel(_) => None,
        }
    }

    /// Did the last transaction come as far as its COMMIT?
    pub(super) const fn has_sent_commit(&self) -> bool {
        self.has_sent_commit
    }
}
