//! The five transactions, as a client carries them out: what was asked for goes in, what came of it comes
//! out. Every answer is checked on the way.

pub(super) mod amounts;
mod clerk;
mod customer;
mod delivery;
mod delivery_lists;
#[cfg(test)]
pub(super) mod fixture;
mod new_order;
mod order_lists;
mod order_status;
mod payment;
mod sample;
mod stock_level;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use drivers::{Session, SessionError};
use model::{Dialect, TpccForm, TpccSpec};

use self::clerk::Clerk;
use super::input::Input;
use super::population::Population;
use super::procedures::Caller;
use super::statements::Book;
use crate::workload::session::Refused;

/// What came of a transaction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Outcome {
    /// Was it a New-Order that was rolled back, as it had to be?
    pub(super) rolled_back: bool,
    /// Districts that a Delivery found without an order.
    pub(super) skipped: u32,
    /// Rows that it read and wrote.
    pub(super) rows: u64,
    /// What is in the database now, where it leaves a row of its own.
    pub(super) committed: Option<Committed>,
    /// An answer that was not what it had to be, in words.
    pub(super) wrong: Option<String>,
}

/// What a transaction left in the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Committed {
    /// An order.
    Order {
        /// Its warehouse.
        warehouse: u32,
        /// Its district.
        district: u32,
        /// Its number.
        order: u32,
    },
    /// A payment.
    Payment {
        /// Where it was paid.
        warehouse: u32,
        /// Where it was paid.
        district: u32,
        /// Who paid: warehouse, district, id.
        customer: (u32, u32, u32),
        /// How much.
        cents: i64,
    },
}

/// How far a transaction has come that is several of the database: tried again, it goes on from there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Progress {
    /// Districts that are done.
    pub(super) districts: u32,
    /// Of these, how many had no order.
    pub(super) skipped: u32,
}

/// Runs transactions in one session.
pub(super) enum Runner {
    /// By statements of the client.
    Statements(Box<Clerk>),
    /// By stored procedures.
    Procedures(Box<Caller>),
}

impl Runner {
    /// Prepares in `session` what transactions need; `population` was loaded.
    pub(super) fn prepare(
        spec: &TpccSpec,
        book: &Arc<Book>,
        population: Population,
        dialect: Dialect,
        session: &mut dyn Session,
    ) -> Result<Self, Refused> {
        match spec.form {
            TpccForm::Single | TpccForm::Batched => {
                let clerk = Clerk::prepare(spec, book, population, dialect, session)?;
                Ok(Self::Statements(Box::new(clerk)))
            }
            TpccForm::Procedures => match Caller::prepare(session, spec, dialect) {
                Ok(caller) => Ok(Self::Procedures(Box::new(caller))),
                Err(source) => Err(Refused {
                    statement: "the stored procedures".to_owned(),
                    source,
                }),
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
            Self::Statements(clerk) => clerk.run(session, input, progress),
            Self::Procedures(caller) => caller.run(session, input, progress),
        }
    }

    /// Had the transaction that ended in an error come so far that it may be committed all the same, where
    /// the answer was lost?
    pub(super) fn may_be_committed(&self) -> bool {
        match self {
            Self::Statements(clerk) => clerk.has_sent_commit(),
            Self::Procedures(_) => true,
        }
    }
}
