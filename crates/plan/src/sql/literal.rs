//! Decimal numbers and dates as workload files write them.

/// Digits that a decimal number may have: its smallest unit is counted in 64 bits.
const MAX_DIGITS: usize = 18;

/// A decimal number: its value in its smallest unit, and its digits after the point. `12.50` is
/// (1250, 2). `None` where it is none, or has more than 18 digits.
pub(crate) fn decimal(text: &str) -> Option<(i64, u32)> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    let is_number = |digits: &str| digits.bytes().all(|b| b.is_ascii_digit());
    let has_point = digits.contains('.');
    if whole.is_empty() || (has_point && part.is_empty()) || whole.len() + part.len() > MAX_DIGITS {
        return None;
    }
    if !is_number(whole) || !is_number(part) {
        return None;
    }
    let value: i64 = format!("{whole}{part}").parse().ok()?;
    let sign = if text.starts_with('-') { -1 } else { 1 };
    Some((sign * value, part.len() as u32))
}

/// Seconds from 1970-01-01 00:00:00 to a date, `2024-12-31`, or a date and time, `2024-12-31 23:59:59`;
/// of the years 1000 to 9999, which every Dbms has.
pub(crate) fn datetime(text: &str) -> Option<i64> {
    let toml::value::Datetime { date: Some(date), time, offset: None } = text.parse().ok()? else {
        return None;
    };
    let seconds = match time {
        None => 0,
        Some(toml::value::Time { hour, minute, second: Some(second @ ..60), nanosecond: None }) => {
            i64::from(hour) * 3_600 + i64::from(minute) * 60 + i64::from(second)
        }
        Some(_) => return None,
    };
    let days = days(date.year.into(), date.month.into(), date.day.into());
    (date.year >= 1000).then_some(days * 86_400 + seconds)
}

/// Days from 1970-01-01 to a date of the Gregorian calendar. Years begin in March here, so that the leap
/// day is the last of its year, and the days before a month are (153 m + 2) / 5.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leap_days = year / 4 - year / 100 + year / 400;
    let since_year_zero = 365 * year + leap_days + (153 * month + 2) / 5 + day - 1;
    // From 0000-03-01 to 1970-01-01.
    since_year_zero - 719_468
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn decimals() {
        let table = [
            ("0.01", Some((1, 2))),
            ("99.99", Some((9999, 2))),
            ("-5", Some((-5, 0))),
            ("-0.50", Some((-50, 2))),
            ("999999999999999999", Some((999_999_999_999_999_999, 0))),
            ("1000000000000000000", None),
            ("", None),
            (".5", None),
            ("5.", None),
            ("1e3", None),
            ("--1", None),
            ("1.2.3", None),
            ("+1", None),
        ];
        for (text, expected) in table {
            assert_eq!(decimal(text), expected, "{text}");
        }
    }

    #[test]
    fn dates() {
        let table = [
            ("1970-01-01", Some(0)),
            ("2020-01-01", Some(1_577_836_800)),
            ("2024-02-29 12:00:01", Some(1_709_208_001)),
            ("2024-12-31T23:59:59", Some(1_735_689_599)),
            ("1000-01-01", Some(-30_610_224_000)),
            ("2023-02-29", None),
            ("2024-13-01", None),
            ("2024-1-1", None),
            ("0999-12-31", None),
            ("2024-01-01 24:00:00", None),
            ("2024-01-01T00:00:00Z", None),
            ("2024-01-01-01", None),
            ("", None),
        ];
        for (text, expected) in table {
            assert_eq!(datetime(text), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_day_later_is_a_day_more(year in 1000i64..9999, month in 1i64..13, day in 1i64..28) {
            let text = |day| format!("{year:04}-{month:02}-{day:02}");
            prop_assert_eq!(datetime(&text(day + 1)).unwrap() - datetime(&text(day)).unwrap(), 86_400);
        }

        #[test]
        fn any_text_is_a_date_or_not(text in "[0-9: T.-]{0,24}") {
            let _ = (datetime(&text), decimal(&text));
        }
    }
}
