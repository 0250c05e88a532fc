//! What a crash left of what was acknowledged before it.

use std::collections::HashMap;
use std::path::Path;

use drivers::Row;
use model::{Dialect, Nanos};

use super::log::{Record, each};
use crate::tpcc::input::Committed;
use crate::tpcc::money;
use load::{Result, StepError, Target, Worker};

/// Missing commits that are listed one by one.
const SHOWN: usize = 10;

/// What a crash left of the commits that were acknowledged before it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Survived {
    pub orders: u64,
    pub payments: u64,
    pub missing: u64,
    /// When the first of the missing was acknowledged, on the clock of [`load::monotonic`].
    pub oldest: Option<Nanos>,
    /// The first of the missing. Of payments that are equal the later ones count as missing.
    pub shown: Vec<Missing>,
    /// Orders and payments that were there before the first of the log and are not there any more.
    pub vanished: u64,
    /// Orders and payments that are there and were not acknowledged: a commit that was under way may be
    /// there or not, so there may be one for each terminal.
    pub unacknowledged: u64,
}

/// An acknowledged commit that is not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    pub what: String,
    /// The number of the terminal, from 0.
    pub terminal: u32,
    /// When it was acknowledged, on the clock of [`load::monotonic`].
    pub at: Nanos,
}

/// Looks in the database of `target` for what `log` acknowledged since `before`. Nobody else writes to it.
pub fn survived(log: &Path, before: Present, target: &Target) -> Result<Survived> {
    let mut comparison = Comparison::new(before);
    each_row(target, &mut |row| comparison.found(row))?;
    each(log, &mut |record| comparison.acknowledged(record))?;
    Ok(comparison.close())
}

/// Rows that are not yet accounted for. All rows are found before the first acknowledged one is looked for.
struct Comparison {
    before: HashMap<Committed, u32>,
    since: HashMap<Committed, u32>,
    survived: Survived,
}

impl Comparison {
    fn new(before: Present) -> Self {
        Self { before: before.0, since: HashMap::new(), survived: Survived::default() }
    }

    fn found(&mut self, row: Committed) {
        if !take(&mut self.before, &row) {
            *self.since.entry(row).or_insert(0) += 1;
        }
    }

    fn acknowledged(&mut self, record: Record) {
        let Record { at, terminal, row } = record;
        let survived = &mut self.survived;
        match row {
            Committed::Order { .. } => survived.orders += 1,
            Committed::Payment { .. } => survived.payments += 1,
        }
        if take(&mut self.since, &row) {
            return;
        }
        survived.missing += 1;
        survived.oldest = Some(survived.oldest.map_or(at, |oldest| oldest.min(at)));
        if survived.shown.len() < SHOWN {
            survived.shown.push(Missing { what: row.to_string(), terminal, at });
        }
    }

    fn close(mut self) -> Survived {
        let left = |rows: HashMap<Committed, u32>| rows.into_values().map(u64::from).sum();
        self.survived.vanished = left(self.before);
        self.survived.unacknowledged = left(self.since);
        self.survived
    }
}

fn take(rows: &mut HashMap<Committed, u32>, row: &Committed) -> bool {
    match rows.get_mut(row) {
        Some(left) if *left > 0 => {
            *left -= 1;
            true
        }
        Some(_) | None => false,
    }
}

const ORDERS: &str = "SELECT o_w_id, o_d_id, o_id FROM orders";
const PAYMENTS: &str = "SELECT h_w_id, h_d_id, h_c_w_id, h_c_d_id, h_c_id, h_amount FROM history";

type Read = fn(&dyn Row, Dialect) -> Option<Committed>;

/// All orders and payments of a database, each with its number. Each takes some hundred bytes of memory.
#[derive(Debug, Default)]
pub struct Present(HashMap<Committed, u32>);

impl Present {
    pub fn read(target: &Target) -> Result<Self> {
        let mut rows = HashMap::new();
        each_row(target, &mut |row| *rows.entry(row).or_insert(0) += 1)?;
        Ok(Self(rows))
    }
}

fn each_row(target: &Target, see: &mut dyn FnMut(Committed)) -> Result {
    let tables: [(&str, Read); 2] = [(ORDERS, order), (PAYMENTS, payment)];
    let mut worker = Worker::connect(&*target.patient, "reading orders and payments".to_owned())?;
    for (sql, read) in tables {
        let mut wrong = None;
        worker.rows(sql, &mut |answer| match read(answer, target.dialect) {
            Some(row) => see(row),
            None => wrong = Some(text(answer)),
        })?;
        if let Some(text) = wrong {
            let text = format!("the answer to `{sql}` has a row that cannot be read: {text}");
            return Err(StepError::Load(text));
        }
    }
    Ok(())
}

fn order(answer: &dyn Row, _: Dialect) -> Option<Committed> {
    let [warehouse, district, order] = numbers(answer)?;
    Some(Committed::Order { warehouse, district, order })
}

fn payment(answer: &dyn Row, dialect: Dialect) -> Option<Committed> {
    let [warehouse, district, of_warehouse, of_district, number] = numbers(answer)?;
    let cents = money::cents(answer.value(5), dialect)?;
    Some(Committed::Payment {
        warehouse,
        district,
        customer: (of_warehouse, of_district, number),
        cents,
    })
}

fn numbers<const N: usize>(answer: &dyn Row) -> Option<[u32; N]> {
    let mut numbers = [0; N];
    for (column, number) in numbers.iter_mut().enumerate() {
        *number = answer.value(column).as_int()?.try_into().ok()?;
    }
    Some(numbers)
}

fn text(answer: &dyn Row) -> String {
    let values = (0..answer.len()).map(|column| answer.value(column).to_text());
    values.map(|value| value.unwrap_or_else(|| "NULL".to_owned())).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(order: u32) -> Committed {
        Committed::Order { warehouse: 1, district: 1, order }
    }

    fn payment(cents: i64) -> Committed {
        Committed::Payment { warehouse: 1, district: 1, customer: (1, 1, 5), cents }
    }

    /// What is concluded from the rows before, those after, and those that were acknowledged, the first at 0.
    fn concluded(
        before: &[Committed],
        after: &[Committed],
        acknowledged: &[Committed],
    ) -> Survived {
        let mut present = Present::default();
        for row in before {
            *present.0.entry(*row).or_insert(0) += 1;
        }
        let mut comparison = Comparison::new(present);
        for row in after {
            comparison.found(*row);
        }
        for (at, row) in (0..).zip(acknowledged) {
            comparison.acknowledged(Record { at: Nanos(at), terminal: 3, row: *row });
        }
        comparison.close()
    }

    #[test]
    fn all_that_was_acknowledged_is_there() {
        let before = [order(1), payment(1_000)];
        let after = [order(1), payment(1_000), order(2), payment(1_000)];
        let found = concluded(&before, &after, &[order(2), payment(1_000)]);
        let expected = Survived { orders: 1, payments: 1, ..Survived::default() };
        assert_eq!(found, expected);
    }

    #[test]
    fn what_is_missing_is_told_with_the_oldest_of_it() {
        let acknowledged = [order(2), order(3), payment(7), order(4)];
        let found = concluded(&[order(1)], &[order(1), order(2)], &acknowledged);
        assert_eq!((found.orders, found.payments, found.missing), (3, 1, 3));
        assert_eq!(found.oldest, Some(Nanos(1)));
        let first = &found.shown[0];
        assert_eq!(first.what, "order 3 of district 1 of warehouse 1");
        assert_eq!((first.terminal, first.at), (3, Nanos(1)));
        assert_eq!((found.vanished, found.unacknowledged), (0, 0));
    }

    #[test]
    fn payments_that_are_equal_are_counted() {
        let twice = [payment(5), payment(5)];
        // One was there before, two were acknowledged, and there are two now.
        let found = concluded(&twice[..1], &twice, &twice);
        assert_eq!((found.missing, found.oldest), (1, Some(Nanos(1))));
        let thrice = [payment(5), payment(5), payment(5)];
        assert_eq!(concluded(&twice[..1], &thrice, &twice).missing, 0);
    }

    #[test]
    fn what_was_not_acknowledged_and_what_vanished_are_counted() {
        let found = concluded(&[order(1), payment(1)], &[order(1), order(9)], &[]);
        assert_eq!((found.vanished, found.unacknowledged), (1, 1));
        assert_eq!(found.missing, 0);
    }

    #[test]
    fn an_order_that_two_were_promised_is_there_once() {
        let found = concluded(&[], &[order(2)], &[order(2), order(2)]);
        assert_eq!((found.missing, found.oldest), (1, Some(Nanos(1))));
    }

    #[test]
    fn of_many_only_the_first_are_shown() {
        let acknowledged: Vec<Committed> = (0..50).map(order).collect();
        let found = concluded(&[], &[], &acknowledged);
        assert_eq!((found.missing, found.shown.len()), (50, SHOWN));
    }
}
