//! The five transactions, as a client carries them out: what was asked for goes in, what came of it comes
//! out. Every answer is checked on the way.

pub(super) mod amounts;
mod customer;
mod delivery;
mod delivery_lists;
mod exchange;
mod memory;
mod new_order;
mod order_lists;
mod order_status;
mod payment;
mod sample;
mod statement_runner;
mod stock_level;
#[cfg(test)]
pub(super) mod tests;

use std::sync::Arc;

use drivers::{Session, SessionError};
use model::{Dialect, TpccForm, TpccSpec};

use self::statement_runner::StatementRunner;
use super::input::Input;
use super::outcome::{Outcome, Progress};
use super::population::Population;
use super::procedures::ProcedureRunner;
use super::statements::StepStatements;
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
                let runner = StatementRunner::prepare(spec, statements, population, session)?;
                Ok(Self::Statements(Box::new(runner)))
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
            Self::Statements(runner) => runner.has_sent_commit(),
            Self::Procedures(_) => true,
        }
    }
}
