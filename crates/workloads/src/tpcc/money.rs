//! Amounts of money as whole cents, taxes and discounts as ten-thousandths: exact, without floating point.
//!
//! Servers keep them as `DECIMAL` and send them as text; SQLite, which would keep a decimal number as a
//! double, keeps the integers themselves.

use drivers::{Param, ParamType, Value};
use model::Dialect;

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
}
