//! Calls the procedures and checks what they answer.

use drivers::{Param, Result, Row, Session, StatementId, Value};
use model::{DISTRICTS, Dialect, TpccSpec, TpccTransaction};

use crate::tpcc::input::{
    Committed, Customer, Delivery, Input, Line, MOST_LINES, NewOrder, OrderStatus, Outcome,
    Payment, Progress, StockLevel,
};
use crate::tpcc::money;

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
    ) -> Result<Self> {
        let mut calls = [StatementId(0); 5];
        for (id, transaction) in calls.iter_mut().zip(TpccTransaction::ALL) {
            let types = super::types(transaction, dialect);
            *id = session.prepare(&super::call(transaction, &types, dialect)?, &types)?;
        }
        let lines = String::with_capacity(MOST_LINES * LINE);
        Ok(Self { dialect, by_district: spec.delivery_by_district, calls, lines })
    }

    /// Does a whole transaction. After an error nothing of it stays and none is open in the database; where
    /// the districts of a Delivery are transactions of their own, `progress` tells of those that are done.
    pub(crate) fn run(
        &mut self,
        session: &mut dyn Session,
        input: &Input,
        progress: &mut Progress,
    ) -> Result<Outcome> {
        match input {
            Input::NewOrder(input) => self.new_order(session, input),
            Input::Payment(input) => self.payment(session, input),
            Input::OrderStatus(input) => self.order_status(session, input),
            Input::Delivery(input) => self.delivery(session, *input, progress),
            Input::StockLevel(input) => self.stock_level(session, input),
        }
    }

    fn new_order(&mut self, session: &mut dyn Session, input: &NewOrder) -> Result<Outcome> {
        write(input.lines(), &mut self.lines);
        let params = [
            int(input.warehouse),
            int(input.district),
            int(input.customer),
            Param::Int(input.lines().len() as i64),
            Param::Int(i64::from(input.is_local())),
            Param::Int(i64::from(input.rolls_back)),
            Param::Text(&self.lines),
        ];
        // A function cannot end its transaction.
        let ends_here = input.rolls_back && self.dialect == Dialect::Postgres;
        if ends_here {
            session.execute("BEGIN")?;
        }
        let called = self.call(TpccTransaction::NewOrder, &params, session, &[]);
        let ended = if ends_here { session.execute("ROLLBACK").map(drop) } else { Ok(()) };
        // The first error says more.
        let mut answer = called?;
        ended?;
        let [order, rolled_back] = answer.numbers([0, 1]);
        let wanted = i64::from(input.rolls_back);
        answer.wrong_unless(rolled_back == wanted, || {
            format!("rolled back: {rolled_back}, and the order had to be {wanted}")
        });
        let entered = (!input.rolls_back).then(|| input.entered(order as u32));
        Ok(Outcome { rolled_back: input.rolls_back, ..answer.outcome(entered) })
    }

    fn payment(&self, session: &mut dyn Session, input: &Payment) -> Result<Outcome> {
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
        let mut answer = self.call(TpccTransaction::Payment, &params, session, &[])?;
        let [payer] = answer.numbers([0]);
        Ok(answer.outcome(Some(input.paid(payer as u32))))
    }

    fn order_status(&self, session: &mut dyn Session, input: &OrderStatus) -> Result<Outcome> {
        let (id, name) = id_and_name(&input.customer);
        let params = [int(input.warehouse), int(input.district), int(id), Param::Text(name)];
        // Neither the carrier nor the day of delivery is known of an order that waits for it.
        let mut answer = self.call(TpccTransaction::OrderStatus, &params, session, &[6, 11])?;
        let [order, lines] = answer.numbers([1, 2]);
        let rows = answer.rows;
        answer.wrong_unless(lines as u64 == rows, || {
            format!("order {order} has {lines} lines, and {rows} were found")
        });
        Ok(answer.outcome(None))
    }

    fn delivery(
        &self,
        session: &mut dyn Session,
        input: Delivery,
        progress: &mut Progress,
    ) -> Result<Outcome> {
        let mut outcome = Outcome::default();
        while progress.districts < DISTRICTS && outcome.wrong.is_none() {
            let first = progress.districts + 1;
            let last = if self.by_district { first } else { DISTRICTS };
            let params = [int(input.warehouse), int(first), int(last), int(input.carrier)];
            let mut answer = self.call(TpccTransaction::Delivery, &params, session, &[])?;
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

    fn stock_level(&self, session: &mut dyn Session, input: &StockLevel) -> Result<Outcome> {
        let params = [int(input.warehouse), int(input.district), int(input.threshold)];
        let mut answer = self.call(TpccTransaction::StockLevel, &params, session, &[])?;
        // How many items are low; any number of them is right.
        let [_low] = answer.numbers([0]);
        Ok(answer.outcome(None))
    }

    /// Sends a call and reads the answer, where only `nullable` columns may be NULL. Others make it wrong.
    fn call(
        &self,
        transaction: TpccTransaction,
        params: &[Param<'_>],
        session: &mut dyn Session,
        nullable: &[usize],
    ) -> Result<Answer> {
        let mut answer = Answer::default();
        let statement = self.calls[transaction as usize];
        let mut each = |row: &dyn Row| answer.read(row, nullable);
        match session.execute_prepared(statement, params, &mut each) {
            Ok(_) => {
                answer.wrong_unless(answer.rows > 0, || "a procedure returned nothing".to_owned());
            }
            // An error that a procedure raised itself: the codes of MySQL's `SIGNAL` and PostgreSQL's `RAISE`.
            Err(error) if matches!(error.code(), "1644" | "P0001") => {
                answer.wrong = Some(error.to_string());
            }
            Err(error) => return Err(error),
        }
        Ok(answer)
    }
}

#[derive(Debug, Default)]
struct Answer {
    rows: u64,
    /// The first columns of the last row, where they are integers: as many as a procedure returns at most.
    kept: [Option<i64>; 3],
    wrong: Option<String>,
}

impl Answer {
    fn read(&mut self, row: &dyn Row, nullable: &[usize]) {
        self.rows += 1;
        for column in 0..row.len() {
            let value = row.value(column);
            if let Some(kept) = self.kept.get_mut(column) {
                *kept = value.as_int();
            }
            self.wrong_unless(value != Value::Null || nullable.contains(&column), || {
                format!("column {} of a procedure is NULL", column + 1)
            });
        }
    }

    fn numbers<const N: usize>(&mut self, columns: [usize; N]) -> [i64; N] {
        columns.map(|column| {
            let number = self.kept[column];
            self.wrong_unless(number.is_some_and(|number| number >= 0), || {
                format!("column {} of a procedure is not a number", column + 1)
            });
            number.unwrap_or(0)
        })
    }

    fn wrong_unless(&mut self, holds: bool, what: impl FnOnce() -> String) {
        if !holds && self.wrong.is_none() {
            self.wrong = Some(what());
        }
    }

    /// What came of the transaction, which left this where its answer is right.
    fn outcome(self, committed: Option<Committed>) -> Outcome {
        let Self { rows, wrong, .. } = self;
        let committed = committed.filter(|_| wrong.is_none());
        Outcome { rows, committed, wrong, ..Outcome::default() }
    }
}

fn int(number: u32) -> Param<'static> {
    Param::Int(i64::from(number))
}

/// A customer as procedures expect it: a number, or zero and a last name.
fn id_and_name(customer: &Customer) -> (u32, &str) {
    match customer {
        Customer::Id(id) => (*id, ""),
        Customer::Name(name) => (0, name),
    }
}

/// Digits of a warehouse and of an item, which are any 32-bit numbers, and of a quantity.
const WIDE: usize = 10;
const NARROW: usize = 2;

const LINE: usize = 2 * WIDE + NARROW;

/// Writes the lines of an order: supplying warehouse, item and quantity of each, with leading zeros.
fn write(lines: &[Line], out: &mut String) {
    const ZEROS: &str = "0000000000";
    out.clear();
    for line in lines {
        for (number, width) in [(line.supply, WIDE), (line.item, WIDE), (line.quantity, NARROW)] {
            let mut buffer = itoa::Buffer::new();
            let digits = buffer.format(number);
            out.push_str(&ZEROS[..width.saturating_sub(digits.len())]);
            out.push_str(digits);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_numbers_of_a_fixed_width() {
        let line = |supply, item, quantity| Line { item, supply, quantity };
        let mut text = "old".to_owned();
        write(&[line(1, 100_001, 10), line(u32::MAX, 7, 3)], &mut text);
        assert_eq!(text, "00000000010000100001104294967295000000000703");
        assert_eq!(text.len(), 2 * LINE);
    }
}
