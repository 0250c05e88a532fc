//! What is known of a customer (`c_data`): what was loaded, behind one note for each payment of a customer
//! with bad credit, the newest first, cut to 500 characters.

use drivers::{Row, Value};
use model::TpccProfile;

use super::findings::Unlike;
use super::made::Seeded;
use crate::tpcc::money::{self, OF_CENTS};
use crate::tpcc::population::FIRST_PAYMENT;
use data::Cells;
use data::decimal::parse;

const MOST: usize = 500;

struct Customer {
    key: [u32; 3],
    is_bad: bool,
    /// Payments since the load, and their sum in cents; `None` where the profile does not count them.
    payments: Option<(i64, i64)>,
}

/// The columns of a customer that tell what must be known of him.
pub(super) const COLUMNS: [&str; 4] = ["c_credit", "c_payment_cnt", "c_ytd_payment", "c_data"];

/// What must be known of a customer, whose [`COLUMNS`] are at these places, where it is something else.
pub(super) fn unlike(
    seeded: &Seeded,
    [credit, count, paid, data]: [usize; 4],
    row: &dyn Row,
    loaded: &Cells,
    [warehouse, district, number, _]: [u32; 4],
) -> Option<Unlike> {
    let payments = match seeded.profile {
        TpccProfile::Percona => None,
        TpccProfile::Standard => Some((
            row.value(count).as_int()? - 1,
            money::cents(row.value(paid), seeded.dialect)? - FIRST_PAYMENT,
        )),
    };
    let is_bad = row.value(credit) == Value::Bytes(b"BC");
    let customer = Customer { key: [warehouse, district, number], is_bad, payments };
    let text = loaded.value(data).to_text().unwrap_or_default();
    let Value::Bytes(known) = row.value(data) else {
        return Some((data, text));
    };
    let expected = match (is_bad, payments) {
        (true, Some((count, _))) => format!("notes of {count} payments, then {text}"),
        (true, None) => format!("notes of payments, then {text}"),
        (false, _) => text.clone(),
    };
    (!customer.knows(known, text.as_bytes())).then_some((data, expected))
}

impl Customer {
    /// Can `found` be what is known of the customer, of whom `loaded` was known at first?
    fn knows(&self, found: &[u8], loaded: &[u8]) -> bool {
        if !self.is_bad {
            return found == loaded;
        }
        let (mut rest, mut count, mut cents) = (found, 0, 0);
        loop {
            // What was loaded has no blank, so it is no note.
            let room = loaded.len().min(MOST - (found.len() - rest.len()).min(MOST));
            let is_whole = self.payments.is_none_or(|paid| paid == (count, cents));
            if is_whole && rest == &loaded[..room] {
                return true;
            }
            match self.note(rest) {
                Some((paid, after)) => (rest, count, cents) = (after, count + 1, cents + paid),
                None => break,
            }
        }
        // The last note is cut.
        let is_possible = self.payments.is_none_or(|paid| count < paid.0);
        let own = self.own();
        let may_begin = own.as_bytes().starts_with(rest) || rest.starts_with(own.as_bytes());
        found.len() == MOST && is_possible && may_begin
    }

    /// The amount of the note that a text begins with, and what follows.
    fn note<'a>(&self, text: &'a [u8]) -> Option<(i64, &'a [u8])> {
        let rest = text.strip_prefix(self.own().as_bytes())?;
        let mut parts = rest.splitn(4, |byte| *byte == b' ');
        for _place in 0..2 {
            let number = std::str::from_utf8(parts.next()?).ok()?;
            number.parse::<u32>().ok()?;
        }
        let cents = parse(parts.next()?, OF_CENTS)?;
        Some((cents, parts.next()?))
    }

    fn own(&self) -> String {
        let [warehouse, district, id] = self.key;
        format!("{id} {district} {warehouse} ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOADED: &str = "12abcXYZ";

    fn customer(payments: Option<(i64, i64)>) -> Customer {
        Customer { key: [3, 4, 12], is_bad: true, payments }
    }

    fn knows(payments: Option<(i64, i64)>, found: &str) -> bool {
        customer(payments).knows(found.as_bytes(), LOADED.as_bytes())
    }

    #[test]
    fn of_good_credit_nothing_is_noted() {
        let good = Customer { is_bad: false, ..customer(Some((2, 700))) };
        assert!(good.knows(LOADED.as_bytes(), LOADED.as_bytes()));
        assert!(!good.knows(b"12 4 3 1 1 7.00 12abcXYZ", LOADED.as_bytes()));
    }

    #[test]
    fn each_payment_of_bad_credit_is_noted() {
        let one = "12 4 3 1 1 7.00 12abcXYZ";
        let two = "12 4 3 10 2 1000.05 12 4 3 1 1 7.00 12abcXYZ";
        assert!(knows(Some((0, 0)), LOADED));
        assert!(knows(Some((1, 700)), one));
        assert!(knows(Some((2, 100_705)), two));
        assert!(knows(None, LOADED) && knows(None, one) && knows(None, two));
        // A payment too few, another amount, another customer, another end.
        assert!(!knows(Some((2, 100_705)), one));
        assert!(!knows(Some((0, 0)), one));
        assert!(!knows(Some((1, 701)), one));
        for wrong in [
            "13 4 3 1 1 7.00 12abcXYZ",
            "12 4 3 1 1 7.00 12abcXYz",
            "12 4 3 1 1 7.00 ",
            "12 4 3 1 1 7.00",
            "overwritten",
            "",
        ] {
            assert!(!knows(None, wrong), "{wrong}");
            assert!(!knows(Some((1, 700)), wrong), "{wrong}");
        }
    }

    #[test]
    fn what_has_no_room_is_cut() {
        let loaded = "x".repeat(495);
        let knows = |count: i64, found: &str| {
            customer(Some((count, 700 * count))).knows(found.as_bytes(), loaded.as_bytes())
        };
        let notes = |count: i64| {
            let mut text = "12 4 3 1 1 7.00 ".repeat(count as usize) + &loaded;
            text.truncate(MOST);
            text
        };
        for count in [0, 1, 2, 31, 32, 40] {
            assert!(knows(count, &notes(count)), "{count}");
        }
        assert!(!knows(2, &notes(1)) && !knows(1, &notes(2)));
        assert!(!knows(31, &notes(32)) && !knows(1, &notes(40)));
        assert!(!knows(40, &notes(40).replacen("12 4", "12 5", 1)));
        assert!(!knows(1, &notes(1)[..499]));
    }
}
