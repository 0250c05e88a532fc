//! Calls the procedures and checks what they answer.

use drivers::{Param, Row, Session, SessionError, StatementId};
use model::{DISTRICTS, Dialect, TpccSpec, TpccTransaction};

use super::answer::{Answer, is_own};
use super::lines;
use crate::tpcc::input::{
    Customer, Delivery, Input, MOST_LINES, NewOrder, OrderStatus, Payment, StockLevel,
};
use crate::tpcc::money;
use crate::tpcc::outcome::{Committed, Outcome, Progress};

/// Calls the procedures in one session.
#[derive(Debug)]
pub(crate) struct ProcedureRunner {
    dialect: Dialect,
    /// Is each district of a Delivery a call of its own?
    by_district: bool,
    /// The calls, in the order of [`TpccTransaction::ALL`].
    calls: [StatementId; 5],
    lines: String,
}

impl ProcedureRunner {
    /// Prepares the calls. The procedures must have been made, see [`super::create`].
    pub(crate) fn prepare(
        session: &mut dyn Session,
        spec: &TpccSpec,
        dialect: Dialect,
    ) -> Result<Self, SessionError> {
        let mut calls = [StatementId(0); 5];
        for (place, transaction) in TpccTransaction::ALL.into_iter().enumerate() {
            let types = super::types(transaction, dialect);
            let sql = super::call(transaction, &types, dialect)?;
            calls[place] = session.prepare(&sql, &types)?;
        }
        Ok(Self {
            dialect,
            by_district: spec.delivery_by_district,
            calls,
            lines: String::with_capacity(MOST_LINES * lines::LENGTH),
        })
    }

    /// Does a whole transaction. After an error nothing of it stays and none is open in the database; where
    /// the districts of a Delivery are transactions of their own, `progress` tells of those that are done.
    pub(crate) fn run(
        &mut self,
        session: &mut dyn Session,
        input: &Input,
        progress: &mut Progress,
    ) -> Result<Outcome, SessionError> {
        match input {
            Input::NewOrder(input) => self.new_order(session, input),
            Input::Payment(input) => self.payment(session, input),
            Input::OrderStatus(input) => self.order_status(session, input),
            Input::Delivery(input) => self.delivery(session, *input, progress),
            Input::StockLevel(input) => self.stock_level(session, input),
        }
    }

    fn new_order(
        &mut self,
        session: &mut dyn Session,
        input: &NewOrder,
    ) -> Result<Outcome, SessionError> {
        lines::write(input.lines(), &mut self.lines);
        let params = [
            int(input.warehouse),
            int(input.district),
            int(input.customer),
            Param::Int(input.lines().len() as i64),
            Param::Int(i64::from(input.is_local())),
            Param::Int(i64::from(input.rolls_back)),
            Param::Text(&self.lines),
        ];
        let mut answer = Answer::default();
        // A function cannot end its transaction.
        if input.rolls_back && self.dialect == Dialect::Postgres {
            session.execute("BEGIN")?;
            let called = self.call(TpccTransaction::NewOrder, &params, session, &mut answer);
            let ended = session.execute("ROLLBACK");
            // The first error says more.
            called?;
            ended?;
        } else {
            self.call(TpccTransaction::NewOrder, &params, session, &mut answer)?;
        }
        let [order, rolled_back] = answer.numbers([0, 1]);
        answer.wrong_unless(rolled_back == i64::from(input.rolls_back), || {
            format!(
                "rolled back: {rolled_back}, and the order had to be {}",
                i64::from(input.rolls_back)
            )
        });
        let is_entered = answer.wrong.is_none() && !input.rolls_back;
        Ok(Outcome {
            rolled_back: input.rolls_back,
            rows: answer.rows,
            committed: is_entered.then_some(Committed::Order {
                warehouse: input.warehouse,
                district: input.district,
                order: order as u32,
            }),
            wrong: answer.wrong,
            ..Outcome::default()
        })
    }

    fn payment(&self, session: &mut dyn Session, input: &Payment) -> Result<Outcome, SessionError> {
        let digits = money::digits(input.cents);
        let (id, name) = id_and_name(&input.customer);
        let params = [
            int(input.warehouse),
            int(input.district),
            int(input.customer_warehouse),
            int(input.customer_district),
            int(id),
            Param::Text(name),
            money::param(self.dialect, input.cents, &digits),
        ];
        let mut answer = Answer::default();
        self.call(TpccTransaction::Payment, &params, session, &mut answer)?;
        let [payer] = answer.numbers([0]);
        let customer = (input.customer_warehouse, input.customer_district, payer as u32);
        let is_paid = answer.wrong.is_none();
        Ok(Outcome {
            rows: answer.rows,
            committed: is_paid.then_some(Committed::Payment {
                warehouse: input.warehouse,
                district: input.district,
                customer,
                cents: input.cents,
            }),
            wrong: answer.wrong,
            ..Outcome::default()
        })
    }

    fn order_status(
        &self,
        session: &mut dyn Session,
        input: &OrderStatus,
    ) -> Result<Outcome, SessionError> {
        let (id, name) = id_and_name(&input.customer);
        let params = [int(input.warehouse), int(input.district), int(id), Param::Text(name)];
        // Neither the carrier nor the day of delivery is known of an order that waits for it.
        let mut answer = Answer::with_nullable(&[6, 11]);
        self.call(TpccTransaction::OrderStatus, &params, session, &mut answer)?;
        let [order, lines] = answer.numbers([1, 2]);
        let rows = answer.rows;
        answer.wrong_unless(lines as u64 == rows, || {
            format!("order {order} has {lines} lines, and {rows} were found")
        });
        Ok(Outcome { rows, wrong: answer.wrong, ..Outcome::default() })
    }

    fn delivery(
        &self,
        session: &mut dyn Session,
        input: Delivery,
        progress: &mut Progress,
    ) -> Result<Outcome, SessionError> {
        let mut outcome = Outcome::default();
        while progress.districts < DISTRICTS && outcome.wrong.is_none() {
            let first = progress.districts + 1;
            let last = if self.by_district { first } else { DISTRICTS };
            let params = [int(input.warehouse), int(first), int(last), int(input.carrier)];
            let mut answer = Answer::default();
            self.call(TpccTransaction::Delivery, &params, session, &mut answer)?;
            let [delivered, skipped] = answer.numbers([0, 1]);
            answer.wrong_unless(delivered + skipped == i64::from(last - first + 1), || {
                format!("districts {first} to {last}: {delivered} delivered, {skipped} skipped")
            });
            progress.districts = last;
            progress.skipped += skipped as u32;
            outcome.rows += answer.rows;
            outcome.wrong = answer.wrong;
        }
        outcome.skipped = progress.skipped;
        Ok(outcome)
    }

    fn stock_level(
        &self,
        session: &mut dyn Session,
        input: &StockLevel,
    ) -> Result<Outcome, SessionError> {
        let params = [int(input.warehouse), int(input.district), int(input.threshold)];
        let mut answer = Answer::default();
        self.call(TpccTransaction::StockLevel, &params, session, &mut answer)?;
        // How many items are low; any number of them is right.
        let [_low] = answer.numbers([0]);
        Ok(Outcome { rows: answer.rows, wrong: answer.wrong, ..Outcome::default() })
    }

    /// Sends a call and reads what comes back. What a procedure misses is no error but a wrong answer.
    fn call(
        &self,
        transaction: TpccTransaction,
        params: &[Param<'_>],
        session: &mut dyn Session,
        answer: &mut Answer,
    ) -> Result<(), SessionError> {
        let statement = self.calls[transaction as usize];
        let mut each = |row: &dyn Row| answer.read(row);
        match session.execute_prepared(statement, params, &mut each) {
            Ok(_) => {
                answer.wrong_unless(answer.rows > 0, || "a procedure returned nothing".to_owned());
            }
            Err(error) if is_own(&error) => answer.wrong = Some(error.to_string()),
            Err(error) => return Err(error),
        }
        Ok(())
    }
}

fn int(number: u32) -> Param<'static> {
    Param::Int(i64::from(number))
}

/// A customer as procedures expect it: a number, or zero and a last name.
fn id_and_name(customer: &Customer) -> (u32, &str) {
    match customer {
        Customer::Id(id) => (*id, ""),
        Customer::Name(name) => (0, name.as_str()),
    }
}
