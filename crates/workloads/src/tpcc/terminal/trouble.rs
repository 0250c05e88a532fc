//! What an error means to a terminal.

use drivers::{Session, SessionError};
use model::TpccTransaction;

use super::own::{Common, Own};
use crate::recovery::Recovering;
use crate::tpcc::input::Input;
use crate::tpcc::transactions::Runner;
use load::outages::Refused;

/// A terminal with the transaction that ended in an error.
pub(super) struct Failed<'a> {
    pub(super) own: &'a mut Own,
    pub(super) common: &'a Common,
    pub(super) input: &'a Input,
}

impl Recovering for Failed<'_> {
    type Ready = Runner;

    fn session(&mut self) -> &mut dyn Session {
        &mut *self.own.session
    }

    fn name(&self, is_exact: bool) -> String {
        let (name, transaction) = (&self.own.name, self.input.transaction());
        if is_exact { format!("{name}, in `{}`", transaction.name()) } else { name.clone() }
    }

    fn prepare(&self, session: &mut dyn Session) -> Result<Runner, Refused> {
        self.common.prepare(session)
    }

    fn replace(&mut self, session: Box<dyn Session>, runner: Runner) {
        (self.own.session, self.own.runner) = (session, runner);
    }

    fn is_in_transaction(&self) -> bool {
        true
    }

    /// Nobody knows whether a transaction is committed that leaves a row.
    fn lost(&mut self) {
        let (own, transaction) = (&mut *self.own, self.input.transaction());
        let may_be_there = own.runner.may_be_committed();
        let is_order = transaction == TpccTransaction::NewOrder;
        let is_payment = transaction == TpccTransaction::Payment;
        own.tally.unknown += u64::from(is_order && may_be_there);
        own.tally.receipts.unknown += u64::from((is_order || is_payment) && may_be_there);
    }

    /// What the rules ignore without being told to is a duplicate key. No transaction may make one: two had
    /// the same order number.
    fn ignored(&mut self, error: &SessionError) {
        if !self.common.recovery.rules.is_of_plan(error) {
            self.common.answers.add(|| format!("{}: {error}", self.name(true)));
        }
    }
}
