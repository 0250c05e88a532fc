//! Amounts of money as whole cents, taxes and discounts as ten-thousandths: exact, without floating point.
//!
//! Servers keep them as `DECIMAL` and send them as text; SQLite, which would keep a decimal number as a
//! double, keeps the integers themselves.

use drivers::{Param, ParamType, Value};
use model::Dialect;

/// Digits after the point of an amount of money.
const OF_CENTS: usize = 2;

/// Digits after the point of a tax or discount.
const OF_RATES: usize = 4;

/// An amount of money as a server returned it, in cents; `None` for NULL and what is none.
pub(super) fn cents(value: Value<'_>, dialect: Dialect) -> Option<i64> {
    units(value, dialect, OF_CENTS)
}

/// A tax or discount as a server returned it, in ten-thousandths; `None` for NULL and what is none.
pub(super) fn rate(value: Value<'_>, dialect: Dialect) -> Option<i64> {
    units(value, dialect, OF_RATES)
}

/// The type of a parameter that is an amount of money.
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

/// An amount of money in digits, in cents: `12.50`.
pub(super) fn parse_cents(digits: &[u8]) -> Option<i64> {
    parse(digits, OF_CENTS)
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

/// A decimal number in units of its last digit, where it has so many digits after the point or fewer.
fn parse(text: &[u8], decimals: usize) -> Option<i64> {
    let (is_negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    let point = digits.iter().position(|byte| *byte == b'.');
    let (whole, fraction) = digits.split_at(point.unwrap_or(digits.len()));
    let fraction = fraction.strip_prefix(b".").unwrap_or(fraction);
    let (fraction, beyond) = fraction.split_at(fraction.len().min(decimals));
    if whole.is_empty() || beyond.iter().any(|byte| *byte != b'0') {
        return None;
    }
    let mut units = 0_i64;
    let zeros = std::iter::repeat_n(&b'0', decimals - fraction.len());
    for byte in whole.iter().chain(fraction).chain(zeros) {
        let digit = byte.checked_sub(b'0').filter(|digit| *digit < 10)?;
        units = units.checked_mul(10)?.checked_add(i64::from(digit))?;
    }
    Some(if is_negative { -units } else { units })
}

/// The most characters of a number: sign, point and twenty digits.
const LENGTH: usize = 22;

/// A decimal number as text: `-12.50`. Making it allocates nothing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Digits {
    bytes: [u8; LENGTH],
    /// Where it begins; it ends at the end.
    start: usize,
}

impl Digits {
    /// An amount of money.
    #[inline]
    pub(super) fn cents(cents: i64) -> Self {
        Self::of(cents, OF_CENTS)
    }

    /// A tax or discount.
    #[inline]
    pub(super) fn rate(ten_thousandths: i64) -> Self {
        Self::of(ten_thousandths, OF_RATES)
    }

    /// The text.
    #[inline]
    pub(super) fn as_str(&self) -> &str {
        // Digits, point and sign are ASCII.
        std::str::from_utf8(&self.bytes[self.start..]).unwrap_or_default()
    }

    #[inline]
    fn of(units: i64, decimals: usize) -> Self {
        let mut bytes = [0; LENGTH];
        let mut start = LENGTH;
        let mut put = |byte: u8| {
            start -= 1;
            bytes[start] = byte;
        };
        let mut left = units.unsigned_abs();
        let mut place = 0;
        while left > 0 || place <= decimals {
            if place == decimals {
                put(b'.');
            }
            put(b'0' + (left % 10) as u8);
            left /= 10;
            place += 1;
        }
        if units < 0 {
            put(b'-');
        }
        Self { bytes, start }
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
            for none in [
                "",
                "-",
                ".",
                ".5",
                "1.234",
                "1,5",
                "1e3",
                "NULL",
                "9".repeat(30).as_str(),
            ] {
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
        let shown = |cents| Digits::cents(cents).as_str().to_owned();
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
        assert_eq!(Digits::rate(0).as_str(), "0.0000");
        assert_eq!(Digits::rate(1234).as_str(), "0.1234");
        let mut rng = model::Rng::new(1);
        for _ in 0..10_000 {
            let cents = rng.next_u64() as i64 >> rng.below(64);
            for dialect in SERVERS {
                let digits = Digits::cents(cents);
                let back = super::cents(text(digits.as_str()), dialect);
                // The smallest number has no positive counterpart.
                assert!(back == Some(cents) || cents == i64::MIN, "{cents}");
            }
        }
    }

    #[test]
    fn parameters_are_what_the_columns_are() {
        let digits = Digits::cents(-1250);
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
