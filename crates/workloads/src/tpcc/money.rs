//! Amounts of money as whole cents, taxes and discounts as ten-thousandths: exact, without floating point.
//!
//! Servers keep them as `DECIMAL` and send text; SQLite, which would keep a double, keeps the integers.

use drivers::{Param, ParamType, Value};
use model::{Dialect, TpccProfile};

use data::decimal::{Digits, parse};

/// Digits after the point of an amount of money.
pub(super) const OF_CENTS: usize = 2;

/// Digits after the point of a tax or discount.
pub(super) const OF_RATES: usize = 4;

/// An amount of money as a server returned it, in cents; `None` for NULL and what is none.
pub(super) fn cents(value: Value<'_>, dialect: Dialect) -> Option<i64> {
    units(value, dialect, OF_CENTS)
}

/// A tax or discount as a server returned it, in ten-thousandths; `None` for NULL and what is none.
pub(super) fn rate(value: Value<'_>, dialect: Dialect) -> Option<i64> {
    units(value, dialect, OF_RATES)
}

pub(super) const fn param_type(dialect: Dialect) -> ParamType {
    match dialect {
        Dialect::Mysql | Dialect::Postgres => ParamType::Decimal,
        Dialect::Sqlite => ParamType::Int,
    }
}

/// An amount of money as a parameter; `digits` are those of `cents`.
pub(super) fn param(dialect: Dialect, cents: i64, digits: &Digits) -> Param<'_> {
    match dialect {
        Dialect::Mysql | Dialect::Postgres => Param::Text(digits.as_str()),
        Dialect::Sqlite => Param::Int(cents),
    }
}

fn units(value: Value<'_>, dialect: Dialect, decimals: usize) -> Option<i64> {
    match (dialect, value) {
        (Dialect::Sqlite, _) => value.as_int(),
        (Dialect::Mysql | Dialect::Postgres, Value::Bytes(text)) => parse(text, decimals),
        // A whole number: `COALESCE(NULL, 0)`.
        (Dialect::Mysql | Dialect::Postgres, Value::Int(whole)) => {
            whole.checked_mul(10_i64.pow(decimals as u32))
        }
        (Dialect::Mysql | Dialect::Postgres, Value::Null | Value::Real(_)) => None,
    }
}

/// An amount of money as text: `-12.50`.
#[inline]
pub(super) fn digits(cents: i64) -> Digits {
    Digits::of(cents, OF_CENTS)
}

/// What an order costs besides its goods, in ten-thousandths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Terms {
    pub(super) warehouse_tax: i64,
    pub(super) district_tax: i64,
    pub(super) discount: i64,
}

impl Terms {
    /// An amount with the taxes and without the discount, rounded to whole cents, half of one up.
    pub(super) const fn apply(&self, cents: i64) -> i64 {
        let taxed = cents * (ONE + self.warehouse_tax + self.district_tax);
        (taxed * (ONE - self.discount) + ONE * ONE / 2) / (ONE * ONE)
    }
}

/// 1 in ten-thousandths.
const ONE: i64 = 10_000;

/// The amount of a line. In the standard taxes and discount are of the whole order, and only shown.
pub(super) const fn line(profile: TpccProfile, quantity: i64, price: i64, terms: &Terms) -> i64 {
    let cents = quantity * price;
    match profile {
        TpccProfile::Standard => cents,
        TpccProfile::Percona => terms.apply(cents),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SERVERS: [Dialect; 2] = [Dialect::Mysql, Dialect::Postgres];

    fn text(text: &str) -> Value<'_> {
        Value::Bytes(text.as_bytes())
    }

    #[test]
    fn what_servers_send_is_read_exactly() {
        for dialect in SERVERS {
            let cents = |value: Value<'_>| cents(value, dialect);
            for (shown, expected) in [
                ("0.00", 0),
                ("0.01", 1),
                ("-10.00", -1000),
                ("300000.00", 30_000_000),
                ("12.5", 1250),
                ("7", 700),
                ("-0.05", -5),
                ("1.2300", 123),
                ("92233720368547758.07", i64::MAX),
            ] {
                assert_eq!(cents(text(shown)), Some(expected), "{shown}");
            }
            for none in ["", "-", ".", ".5", "1.234", "1,5", "1e3", "NULL", "9".repeat(30).as_str()]
            {
                assert_eq!(cents(text(none)), None, "{none}");
            }
            assert_eq!(cents(Value::Int(0)), Some(0));
            assert_eq!(cents(Value::Int(-3)), Some(-300));
            assert_eq!(cents(Value::Int(i64::MAX)), None);
            assert_eq!(cents(Value::Null), None);
            assert_eq!(rate(text("0.2000"), dialect), Some(2000));
            assert_eq!(rate(text("0.15"), dialect), Some(1500));
            assert_eq!(rate(text("0.00001"), dialect), None);
        }
    }

    #[test]
    fn sqlite_has_the_integers() {
        assert_eq!(cents(Value::Int(-1000), Dialect::Sqlite), Some(-1000));
        assert_eq!(rate(Value::Int(2000), Dialect::Sqlite), Some(2000));
        assert_eq!(cents(Value::Null, Dialect::Sqlite), None);
        assert_eq!(cents(Value::Real(1.5), Dialect::Sqlite), None);
    }

    #[test]
    fn digits_are_those_of_the_number() {
        let shown = |cents| digits(cents).as_str().to_owned();
        for (cents, expected) in [
            (0, "0.00"),
            (5, "0.05"),
            (-5, "-0.05"),
            (100, "1.00"),
            (-1250, "-12.50"),
            (5_000_000, "50000.00"),
            (i64::MAX, "92233720368547758.07"),
            (i64::MIN, "-92233720368547758.08"),
        ] {
            assert_eq!(shown(cents), expected);
        }
        assert_eq!(Digits::of(0, OF_RATES).as_str(), "0.0000");
        assert_eq!(Digits::of(1234, OF_RATES).as_str(), "0.1234");
        let mut rng = model::Rng::new(1);
        for _ in 0..10_000 {
            let cents = rng.next_u64() as i64 >> rng.below(64);
            for dialect in SERVERS {
                let digits = digits(cents);
                let back = super::cents(text(digits.as_str()), dialect);
                // The smallest number has no positive counterpart.
                assert!(back == Some(cents) || cents == i64::MIN, "{cents}");
            }
        }
    }

    #[test]
    fn parameters_are_what_the_columns_are() {
        let digits = digits(-1250);
        for dialect in SERVERS {
            assert_eq!(param_type(dialect), ParamType::Decimal);
            let param = param(dialect, -1250, &digits);
            assert!(matches!(param, Param::Text("-12.50")), "{param:?}");
        }
        assert_eq!(param_type(Dialect::Sqlite), ParamType::Int);
        let param = param(Dialect::Sqlite, -1250, &digits);
        assert!(matches!(param, Param::Int(-1250)), "{param:?}");
    }

    #[test]
    fn taxes_and_discount_are_in_the_amount_of_a_line_in_one_profile_only() {
        let terms = Terms { warehouse_tax: 2_000, district_tax: 1_000, discount: 5_000 };
        // 3 * 1.01 * 1.3 * 0.5 = 1.9695
        assert_eq!(line(TpccProfile::Percona, 3, 101, &terms), 197);
        assert_eq!(line(TpccProfile::Standard, 3, 101, &terms), 303);
        // 0.01 * 1.0 * 0.5 = 0.005, rounded up
        let half = Terms { discount: 5_000, ..Terms::default() };
        assert_eq!(half.apply(1), 1);
        assert_eq!(Terms::default().apply(123), 123);
        // The most that there is: 10 * 100.00 * 1.4.
        let most = Terms { warehouse_tax: 2_000, district_tax: 2_000, discount: 0 };
        assert_eq!(line(TpccProfile::Percona, 10, 10_000, &most), 140_000);
    }
}
