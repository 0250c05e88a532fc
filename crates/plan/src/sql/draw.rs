//! Values of rows and statements: `{ int = [1, "rows"] }`, `{ template = "###-@@" }`.

use std::ops::RangeInclusive;

use model::{Distribution, Draw, HotValues, SqlDraw, SqlTable};

use super::names::identifier_key;
use super::scope::{Scope, signed};
use crate::document::{Node, Value};
use crate::fields::{Fields, Item};
use crate::{PlanError, Result};

/// What a value can be; a draw has exactly one of these.
const KINDS: [&str; 11] = [
    "int", "from", "plus", "next", "column", "template", "text", "fixed", "decimal", "datetime",
    "cycle",
];
const MORE: [&str; 2] = ["by", "count"];
/// The value of a column that is the number of its row.
const ROW: &str = "row";

const MAX_TEXT: u32 = 1_000_000;
/// More parameters than any Dbms takes are refused later, with the reason.
const MAX_COUNT: u32 = 1_000_000;
/// Integers that are drawn: sums and differences of two of them fit into 64 bits.
const MOST: i64 = 1_000_000_000_000_000_000;
const ANY: RangeInclusive<i64> = -MOST..=MOST;

pub(crate) fn of_column(item: Item<'_>, scope: &Scope) -> Result<Draw> {
    let item = scope.chosen(item)?;
    match &item.node.value {
        Value::Text(text) if text == ROW => return Ok(Draw::Row),
        Value::Table(_) => {}
        _ => return Err(item.wrong("\"row\", or a table such as { int = [1, 100] }")),
    }
    let (fields, kind) = fields(item.node)?;
    match kind.key {
        "plus" | "next" | "column" => Err(kind.conflict(format!(
            "`{}` is for statements: a column of loaded rows cannot have it",
            kind.key
        ))),
        "cycle" => Ok(Draw::Cycle(scope.within(kind, 1..=i64::MAX)? as u64)),
        _ => match fields.get("count") {
            Some(count) => Err(count.conflict("`count` is for statements: a column has one value")),
            // Loaded rows are the same whatever a plan says of the distribution.
            None => value(kind, &fields, scope, Distribution::Uniform),
        },
    }
}

pub(crate) fn of_block(
    item: Item<'_>,
    scope: &Scope,
    usual: Distribution,
    table: Option<&SqlTable>,
) -> Result<Vec<SqlDraw>> {
    let Value::Table(entries) = &item.node.value else {
        return Err(item.wrong("a table such as { id = { int = [1, \"rows\"] } }"));
    };
    let mut draws: Vec<SqlDraw> = Vec::with_capacity(entries.len());
    for entry in entries {
        let name = identifier_key(&entry.key, &entry.place)?;
        let item = scope.chosen(Item { key: &entry.key, node: &entry.node })?;
        let (fields, kind) = fields(item.node)?;
        let count = fields.get("count");
        let draw = match kind.key {
            "plus" => plus(kind, scope, &draws)?,
            "column" => like_column(kind, table)?,
            "cycle" => {
                return Err(kind.conflict("`cycle` is for columns of loaded rows: use `int`"));
            }
            _ => value(kind, &fields, scope, usual)?,
        };
        let count = match (count, &draw) {
            (None, _) => 1,
            (Some(count), Draw::Int { .. } | Draw::From(_)) => scope.small(count, 1..=MAX_COUNT)?,
            (Some(count), _) => {
                return Err(count.conflict("`count` goes with `int` and `from` only"));
            }
        };
        draws.push(SqlDraw { name, count, draw });
    }
    Ok(draws)
}

fn fields(node: &Node) -> Result<(Fields<'_>, Item<'_>)> {
    let fields = Fields::new(node, "a draw", &[&KINDS[..], &MORE[..]].concat())?;
    let Some(kind) = fields.exactly_one(&KINDS) else {
        return Err(node
            .place
            .conflict(format!("a draw has exactly one of `{}`", KINDS.join("`, `"))));
    };
    match fields.get("by") {
        Some(by) if kind.key != "int" => Err(by.conflict("`by` goes with `int` only")),
        _ => Ok((fields, kind)),
    }
}

const TEXT: &str = "text of at most a million characters";

fn is_short(text: &str) -> bool {
    text.len() <= MAX_TEXT as usize
}

fn value(kind: Item<'_>, fields: &Fields<'_>, scope: &Scope, usual: Distribution) -> Result<Draw> {
    match kind.key {
        "int" => {
            let by = fields.maybe("by", |by| distribution(scope.chosen(by)?))?;
            int(kind, scope, by.unwrap_or(usual))
        }
        "from" => scope.within(kind, ANY).map(Draw::From),
        "next" if kind.switch()? => Ok(Draw::Next),
        "next" => Err(kind.wrong("true, or left out")),
        "template" => kind.fitting(TEXT, is_short).map(Draw::Template),
        "text" => {
            let [low, high] = pair(kind)?;
            let (min, max) = (scope.small(low, 0..=MAX_TEXT)?, scope.small(high, 0..=MAX_TEXT)?);
            check_order(kind, i64::from(min), i64::from(max))?;
            Ok(Draw::Text { min, max })
        }
        "fixed" => match &kind.node.value {
            Value::Text(text) if is_short(text) => Ok(Draw::Fixed(text.clone())),
            _ => Err(kind.wrong(TEXT)),
        },
        "decimal" => decimal(kind),
        _ => {
            let [low, high] = pair(kind)?;
            let (low, high) = (datetime(low)?, datetime(high)?);
            check_order(kind, low, high)?;
            Ok(Draw::Datetime { low, high })
        }
    }
}

fn pair(item: Item<'_>) -> Result<[Item<'_>; 2]> {
    let both = match item.node.value {
        Value::List(_) => item.list()?,
        _ => Vec::new(),
    };
    both.try_into().map_err(|_| item.wrong("a list of the lowest and the highest value"))
}

fn int(kind: Item<'_>, scope: &Scope, by: Distribution) -> Result<Draw> {
    let [low_item, high_item] = pair(kind)?;
    let (low_item, high_item) = (scope.chosen(low_item)?, scope.chosen(high_item)?);
    let (low, high) = (scope.within(low_item, ANY)?, scope.within(high_item, ANY)?);
    if low <= high {
        return Ok(Draw::Int { low, high, by });
    }
    let texts = [low_item, high_item].map(|item| match &item.node.value {
        Value::Text(text) => text.as_str(),
        _ => "",
    });
    let values = scope.values_in(&texts.join(" "));
    if values.is_empty() {
        return Err(in_order(kind));
    }
    Err(scope.too_small(
        kind,
        &format!(
            "draws integers from {} to {}{values}, which is an empty range",
            signed(low),
            signed(high)
        ),
    ))
}

/// Another draw and a number on top: `["from", "range - 1"]`.
fn plus(kind: Item<'_>, scope: &Scope, before: &[SqlDraw]) -> Result<Draw> {
    let [other, add] = pair(kind)
        .map_err(|_| kind.wrong("a list of another draw and a number, such as [\"first\", 99]"))?;
    let name = other.text()?;
    let names = before.iter().map(|draw| draw.name.as_str());
    let of = other.one_of("draw before this one", name, names)?;
    let base = &before[of];
    if base.count > 1 {
        return Err(other.conflict(format!("`{name}` is a list: `plus` needs a single number")));
    }
    let Some((low, high)) = bounds(before, &base.draw) else {
        return Err(other.conflict(format!("`{name}` is not an integer: `plus` needs one")));
    };
    let draw = Draw::Plus { of: of as u32, add: scope.within(add, ANY)? };
    match bounds(before, &draw) {
        Some(_) => Ok(draw),
        None => Err(kind.conflict(format!(
            "`{name}` is from {} to {}: that much on top is more than 64 bits hold",
            signed(low),
            signed(high)
        ))),
    }
}

/// The lowest and the highest integer that a draw can be; `None` where it is none, or too large.
fn bounds(before: &[SqlDraw], draw: &Draw) -> Option<(i64, i64)> {
    match draw {
        Draw::Int { low, high, .. } => Some((*low, *high)),
        Draw::From(number) => Some((*number, *number)),
        Draw::Next => Some((1, MOST)),
        Draw::Plus { of, add } => {
            let (low, high) = bounds(before, &before.get(*of as usize)?.draw)?;
            Some((low.checked_add(*add)?, high.checked_add(*add)?))
        }
        Draw::Row
        | Draw::Cycle(_)
        | Draw::Template(_)
        | Draw::Text { .. }
        | Draw::Fixed(_)
        | Draw::Decimal { .. }
        | Draw::Datetime { .. } => None,
    }
}

/// What a column of the block's table has in the rows that are loaded.
fn like_column(kind: Item<'_>, table: Option<&SqlTable>) -> Result<Draw> {
    let Some(table) = table else {
        return Err(kind.conflict(
            "`column` is one of the block's table, and there are several: write `table = \"…\"` in the block",
        ));
    };
    let name = kind.text()?;
    let at = kind.one_of("column", name, table.columns.iter().map(|c| c.name.as_str()))?;
    match &table.columns[at].value {
        Draw::Row | Draw::Cycle(_) => Err(kind.conflict(format!(
            "`{name}` is counted from row to row: draw it with `int` or `next`"
        ))),
        value => Ok(value.clone()),
    }
}

fn decimal(kind: Item<'_>) -> Result<Draw> {
    let expected = "a number in quotes with at most 18 digits, such as \"0.01\"";
    let read = |item: Item<'_>| match &item.node.value {
        Value::Text(text) => decimal_of(text).ok_or_else(|| item.wrong(expected)),
        Value::Integer(number) => Ok((*number, 0)),
        _ => Err(item.wrong(expected)),
    };
    let [low, high] = pair(kind)?;
    let ((low, low_scale), (high, high_scale)) = (read(low)?, read(high)?);
    let scale = low_scale.max(high_scale);
    let scaled = |number: i64, from: u32| {
        let scaled = number.checked_mul(10_i64.pow(scale - from));
        scaled.ok_or_else(|| kind.wrong(expected))
    };
    let (low, high) = (scaled(low, low_scale)?, scaled(high, high_scale)?);
    check_order(kind, low, high)?;
    Ok(Draw::Decimal { low, high, scale })
}

/// A date as text, or as TOML has it.
fn datetime(item: Item<'_>) -> Result<i64> {
    let text = match &item.node.value {
        Value::Text(text) | Value::Other(text) => seconds_of(text),
        _ => None,
    };
    text.ok_or_else(|| {
        item.wrong(
            "a date such as \"2024-12-31\" or \"2024-12-31 23:59:59\" of the years 1000 to 9999",
        )
    })
}

fn check_order(kind: Item<'_>, low: i64, high: i64) -> Result<()> {
    if low <= high { Ok(()) } else { Err(in_order(kind)) }
}

fn in_order(kind: Item<'_>) -> PlanError {
    kind.conflict(format!("`{}`: the lowest value is greater than the highest", kind.key))
}

/// Digits that a decimal number may have: its smallest unit is counted in 64 bits.
const MAX_DIGITS: usize = 18;

/// Value in the smallest unit and digits after the point: `12.50` is (1250, 2). `None` for more than 18 digits.
fn decimal_of(text: &str) -> Option<(i64, u32)> {
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

/// Seconds from 1970-01-01 00:00:00 to `2024-12-31` or `2024-12-31 23:59:59`; of the years 1000 to 9999.
fn seconds_of(text: &str) -> Option<i64> {
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

/// The shapes that a word alone stands for; those of sysbench.
const WORDS: [(&str, Distribution); 5] = [
    ("uniform", Distribution::Uniform),
    ("zipfian", Distribution::Zipfian { exponent: 800 }),
    ("gaussian", Distribution::Gaussian { draws: 12 }),
    ("pareto", Distribution::Pareto { h: 200 }),
    (
        "special",
        Distribution::Special {
            draws: 12,
            hot_percent: 1,
            draws_percent: 75,
            hot: HotValues::Upper,
        },
    ),
];

/// Uniform draws that a bell is made of, at most: each costs time with every value.
const MAX_DRAWS: u32 = 100;

/// `"uniform"`, `{ zipfian = 0.8 }`, `{ special = { draws = 12, hot_percent = 1, draws_percent = 75 } }`.
pub(crate) fn distribution(item: Item<'_>) -> Result<Distribution> {
    match &item.node.value {
        Value::Text(_) => item.word("distribution", &WORDS),
        Value::Table(_) => shaped(item),
        _ => Err(item.wrong("a distribution such as \"uniform\" or { zipfian = 0.8 }")),
    }
}

fn shaped(item: Item<'_>) -> Result<Distribution> {
    let keys = ["zipfian", "gaussian", "pareto", "special"];
    let fields = Fields::new(item.node, "a distribution", &keys)?;
    let Some(shape) = fields.exactly_one(&keys) else {
        return Err(item.wrong("a table with one distribution such as { zipfian = 0.8 }"));
    };
    match shape.key {
        "zipfian" => Ok(Distribution::Zipfian { exponent: per_mille(shape, 1, 5_000)? }),
        "gaussian" => Ok(Distribution::Gaussian { draws: shape.small(1..=MAX_DRAWS)? }),
        "pareto" => Ok(Distribution::Pareto { h: per_mille(shape, 1, 499)? }),
        _ => special(shape.node),
    }
}

fn special(node: &Node) -> Result<Distribution> {
    let fields = Fields::new(node, "special", &["draws", "hot_percent", "draws_percent"])?;
    let number = |key, range, usual| fields.get(key).map_or(Ok(usual), |item| item.small(range));
    Ok(Distribution::Special {
        draws: number("draws", 1..=MAX_DRAWS, 12)?,
        hot_percent: number("hot_percent", 1..=100, 1)?,
        draws_percent: number("draws_percent", 0..=100, 75)?,
        hot: HotValues::Upper,
    })
}

/// A number with at most three digits after the point, in thousandths.
fn per_mille(item: Item<'_>, low: u32, high: u32) -> Result<u32> {
    item.decimal(3, low..=high).ok_or_else(|| {
        let (low, high) = (f64::from(low) / 1000.0, f64::from(high) / 1000.0);
        item.wrong(&format!(
            "a number from {low} to {high} with at most three digits after the point"
        ))
    })
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
            assert_eq!(decimal_of(text), expected, "{text}");
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
            assert_eq!(seconds_of(text), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_day_later_is_a_day_more(year in 1000i64..9999, month in 1i64..13, day in 1i64..28) {
            let text = |day| format!("{year:04}-{month:02}-{day:02}");
            prop_assert_eq!(seconds_of(&text(day + 1)).unwrap() - seconds_of(&text(day)).unwrap(), 86_400);
        }

        #[test]
        fn any_text_is_a_date_or_not(text in "[0-9: T.-]{0,24}") {
            let _ = (seconds_of(&text), decimal_of(&text));
        }
    }
}

#[cfg(test)]
mod distributions {
    use insta::assert_snapshot;

    use super::*;
    use crate::document;

    fn read(text: &str) -> Result<Distribution> {
        let root = document::parse(&format!("by = {text}"), "x").unwrap();
        let fields = Fields::new(&root, "x", &["by"]).unwrap();
        distribution(fields.need("by").unwrap())
    }

    #[test]
    fn a_word_or_a_shape() {
        assert_eq!(read("\"uniform\"").unwrap(), Distribution::Uniform);
        assert_eq!(read("{ zipfian = 0.8 }").unwrap(), read("\"zipfian\"").unwrap());
        assert_eq!(read("{ zipfian = 1 }").unwrap(), Distribution::Zipfian { exponent: 1000 });
        assert_eq!(read("{ special = {} }").unwrap(), read("\"special\"").unwrap());
        assert_eq!(read("{ pareto = 0.125 }").unwrap(), Distribution::Pareto { h: 125 });
    }

    #[test]
    fn what_is_none_is_refused() {
        let error = |text| read(text).unwrap_err().to_string();
        assert_snapshot!(error("\"zipf\""), @"x:1: no distribution `zipf`; available: uniform, zipfian, gaussian, pareto, special");
        assert_snapshot!(error("{ zipfian = 0.0001 }"), @"x:1: `zipfian` must be a number from 0.001 to 5 with at most three digits after the point, not 0.0001");
        assert_snapshot!(error("{ pareto = 0.5 }"), @"x:1: `pareto` must be a number from 0.001 to 0.499 with at most three digits after the point, not 0.5");
        assert_snapshot!(error("{ zipfian = nan }"), @"x:1: `zipfian` must be a number from 0.001 to 5 with at most three digits after the point, not NaN");
        assert_snapshot!(error("{ gaussian = 0 }"), @"x:1: `gaussian` must be a whole number from 1 to 100, not 0");
        assert_snapshot!(error("{}"), @"x:1: `by` must be a table with one distribution such as { zipfian = 0.8 }, not a table");
        assert_snapshot!(error("{ zipfian = 1, pareto = 0.2 }"), @"x:1: `by` must be a table with one distribution such as { zipfian = 0.8 }, not a table");
        assert_snapshot!(error("3"), @r#"x:1: `by` must be a distribution such as "uniform" or { zipfian = 0.8 }, not 3"#);
    }
}
