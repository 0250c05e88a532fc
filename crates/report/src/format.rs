//! How numbers become text: the only place that rounds. Every output goes through here, so that a
//! value reads the same in the page, in the terminal and in a blog post.

use std::fmt::Display;

use model::{Bytes, Comparison, Nanos, RunInfo, Unit, group_digits};

pub use model::grouped as count;

pub const ABSENT: &str = "–";

/// Said of a step of which nothing is left.
pub const FELL_TO_ZERO: &str = "fell to zero";

/// At least three significant digits, with grouped thousands: `48,211`, `104`, `18.3`, `0.0042`.
pub fn number(value: f64) -> String {
    if !value.is_finite() {
        return ABSENT.to_owned();
    }
    let decimals = match value.abs() {
        0.0 => return "0".to_owned(),
        size if size >= 1e15 => return format!("{value:.2e}"),
        size if size >= 999.5 => return grouped(value),
        size if size >= 99.95 => 0,
        size if size >= 9.995 => 1,
        size if size >= 0.9995 => 2,
        size if size >= 0.1 => 3,
        size if size >= 1e-6 => (1.0 - size.log10().floor()).clamp(0.0, 9.0) as usize,
        _ => return format!("{value:.1e}"),
    };
    format!("{value:.decimals$}")
}

/// A tick of an axis: a number without the zeros that a column of a table needs.
pub fn tick(value: f64) -> String {
    without_zeros(&number(value))
}

/// A tick of a time axis, in the largest fitting unit: `10ms`.
pub fn tick_seconds(seconds: f64) -> String {
    let text = micros(seconds * 1e6);
    let unit = text.find(char::is_alphabetic).unwrap_or(text.len());
    let (digits, unit) = text.split_at(unit);
    format!("{}{unit}", without_zeros(digits))
}

/// A number without zeros behind its point.
pub(crate) fn without_zeros(text: &str) -> String {
    let short = text.trim_end_matches('0').trim_end_matches('.');
    if text.contains('.') { short.to_owned() } else { text.to_owned() }
}

fn grouped(value: f64) -> String {
    let digits = format!("{:.0}", value.abs());
    let sign = if value < 0.0 { "-" } else { "" };
    format!("{sign}{}", group_digits(&digits, ','))
}

/// A place between client counts: `3.4`, `13`.
pub fn clients(value: f64) -> String {
    if value < 9.95 { with_decimals(value, 1) } else { with_decimals(value, 0) }
}

/// A ratio as the published tables print it: two decimals, fewer above ten, more below 0.1.
pub fn ratio(value: f64) -> String {
    with_decimals(value, ratio_decimals(value, 2))
}

fn ratio_decimals(value: f64, most: usize) -> usize {
    match value.abs() {
        size if size >= 99.95 => 0,
        size if size >= 9.995 => 1,
        _ => most,
    }
}

/// So many decimals; below 0.1 two significant digits, because 0.00 would say nothing.
fn with_decimals(value: f64, decimals: usize) -> String {
    if value == 0.0 || (0.1..999.5).contains(&value.abs()) {
        format!("{value:.decimals$}")
    } else {
        number(value)
    }
}

/// The ratio of one round, as evidence: three decimals.
pub fn pair(value: f64) -> String {
    with_decimals(value, 3)
}

/// With its 95 % interval: `0.31 [0.29, 0.33]`. A narrow one gets a third decimal, so that its ends can be told apart.
pub fn ratio_and_interval(comparison: &Comparison) -> String {
    let ratio = ratio_of(comparison);
    match interval(comparison).filter(|_| comparison.ratio.is_some()) {
        Some(ends) => format!("{ratio} {ends}"),
        None => ratio,
    }
}

/// `0.912 [0.897, 0.927]`, each number as `text` has it.
pub(crate) fn with_ends(value: f64, ends: Option<(f64, f64)>, text: fn(f64) -> String) -> String {
    let ends = ends.map(|(low, high)| format!(" [{}, {}]", text(low), text(high)));
    text(value) + &ends.unwrap_or_default()
}

/// The 95 % interval of a comparison: `[0.29, 0.33]`; `None` where there is none.
pub fn interval(comparison: &Comparison) -> Option<String> {
    let (low, high) = finite_pair(comparison.low, comparison.high)?;
    let decimals = interval_decimals(comparison);
    Some(format!("[{}, {}]", with_decimals(low, decimals), with_decimals(high, decimals)))
}

/// The ratio with as many decimals as its interval has.
pub fn ratio_of(comparison: &Comparison) -> String {
    let decimals = interval_decimals(comparison);
    comparison.ratio.map_or_else(|| ABSENT.to_owned(), |ratio| with_decimals(ratio, decimals))
}

fn interval_decimals(comparison: &Comparison) -> usize {
    let most = match finite_pair(comparison.low, comparison.high) {
        Some((low, high)) if high - low < 0.04 => 3,
        _ => 2,
    };
    ratio_decimals(comparison.ratio.unwrap_or(1.0), most)
}

/// Both values, where both are there and finite.
pub(crate) fn finite_pair(low: Option<f64>, high: Option<f64>) -> Option<(f64, f64)> {
    Some((low.filter(|v| v.is_finite())?, high.filter(|v| v.is_finite())?))
}

/// Per cent with one decimal and no sign: `97.3`; small ones keep two digits.
pub fn percent(value: f64) -> String {
    if value == 0.0 || (0.95..1e6).contains(&value.abs()) {
        format!("{value:.1}")
    } else {
        number(value)
    }
}

/// In per cent as the published response-time tables have it: blank for none, `nonzero` for what would round to none.
pub fn share(part: u64, all: u64) -> String {
    if part == 0 || all == 0 {
        return String::new();
    }
    let text = format!("{:.3}", 100.0 * part as f64 / all as f64);
    if text == "0.000" { "nonzero".to_owned() } else { text }
}

/// Microseconds in the largest fitting unit: `18.3µs`, `2.05ms`, `1.20s`.
pub fn micros(value: f64) -> String {
    if value.is_finite() && value >= 0.0 {
        Nanos((value * 1e3).round() as u64).to_string()
    } else {
        ABSENT.to_owned()
    }
}

/// Gibibytes in the largest fitting binary unit: `2.05 MiB`, `23.5 GiB`.
pub fn gib(value: f64) -> String {
    if value.is_finite() && value >= 0.0 {
        Bytes((value * (1u64 << 30) as f64).round() as u64).to_string()
    } else {
        ABSENT.to_owned()
    }
}

/// A value of this unit. Times and sizes carry their own unit; for the others the header names it.
pub fn in_unit(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Micros => micros(value),
        Unit::Gib => gib(value),
        Unit::Percent => percent(value),
        Unit::Count if value.abs() < 1e15 => grouped(value),
        Unit::OpsPerSecond
        | Unit::RowsPerSecond
        | Unit::PerMinute
        | Unit::MbPerSecond
        | Unit::KbPerSecondPerTpmc
        | Unit::MicroPercentPerTpmc
        | Unit::MicrosPerOp
        | Unit::PerOp
        | Unit::KbPerOp
        | Unit::Count => number(value),
    }
}

/// The unit that a header names for values printed by [`in_unit`]; empty where each value carries its own.
pub fn header_unit(unit: Unit) -> &'static str {
    if matches!(unit, Unit::Micros | Unit::Gib) { "" } else { unit.name() }
}

/// An adjusted p-value: three decimals, `<0.001` below.
pub fn q_value(value: f64) -> String {
    match value {
        _ if !value.is_finite() => ABSENT.to_owned(),
        ..0.001 => "<0.001".to_owned(),
        0.001..=1.0 => format!("{value:.3}"),
        _ => number(value),
    }
}

/// The shortest text that reads back as the same number, for programs; empty when not finite.
pub fn exact(value: f64) -> String {
    if value.is_finite() { value.to_string() } else { String::new() }
}

pub(crate) fn capitalised(text: &str) -> String {
    let mut rest = text.chars();
    rest.next().map_or_else(String::new, |first| first.to_uppercase().chain(rest).collect())
}

/// A text as one word of a shell, whatever is in it.
pub fn in_shell_quotes(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// `1 step`, `3 steps`.
pub fn plural(count: usize, word: &str) -> String {
    if count == 1 { format!("1 {word}") } else { format!("{count} {word}s") }
}

pub(crate) fn joined<T: Display>(all: impl IntoIterator<Item = T>, between: &str) -> String {
    all.into_iter().map(|one| one.to_string()).collect::<Vec<_>>().join(between)
}

/// The first of these, and in the words of `more` how many there are besides.
pub(crate) fn first(
    most: usize,
    mut all: Vec<String>,
    more: impl FnOnce(usize) -> String,
) -> Vec<String> {
    let others = all.len().saturating_sub(most);
    all.truncate(most);
    all.extend((others > 0).then(|| more(others)));
    all
}

/// Where it ran, in short: `name, 8 CPUs, 32 GiB`; of an imported run no more than the CPUs.
pub(crate) fn host(info: &RunInfo) -> String {
    let (name, shape) = (&info.host.name, info.host.shape);
    match (info.is_imported(), shape.cpus) {
        (true, 0) => name.clone(),
        (true, cpus) => format!("{name}, {}", plural(cpus as usize, "CPU")),
        (false, cpus) => format!("{name}, {}, {}", plural(cpus as usize, "CPU"), shape.memory),
    }
}

/// Where an imported run was measured, in a sentence; `None` for a run of ours.
pub(crate) fn unknown_host(info: &RunInfo) -> Option<String> {
    let said = || format!("an unknown host ({})", host(info));
    info.is_imported().then(said)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{MetricId, StepId, Verdict};
    use proptest::prelude::*;

    #[test]
    fn numbers_keep_three_digits() {
        let table = [
            (0.0, "0"),
            (0.000_000_12, "1.2e-7"),
            (0.004_21, "0.0042"),
            (0.123_44, "0.123"),
            (1.234_5, "1.23"),
            (18.34, "18.3"),
            (104.4, "104"),
            (999.7, "1,000"),
            (48_211.4, "48,211"),
            (1_234_567.0, "1,234,567"),
            (-48_211.4, "-48,211"),
            (1.5e300, "1.50e300"),
            (f64::NAN, "–"),
            (f64::INFINITY, "–"),
        ];
        for (value, text) in table {
            assert_eq!(number(value), text);
        }
    }

    #[test]
    fn ticks_are_short() {
        let ticks: Vec<String> = [5.0, 0.25, 20_000.0, 0.0, 12.5].map(tick).into();
        assert_eq!(ticks, ["5", "0.25", "20,000", "0", "12.5"]);
        let times: Vec<String> = [0.01, 1.5e-3, 2e-4, 100.0].map(tick_seconds).into();
        assert_eq!(times, ["10ms", "1.5ms", "200µs", "1m40s"]);
    }

    #[test]
    fn ratios_and_shares() {
        assert_eq!(ratio(0.314_5), "0.31");
        assert_eq!(ratio(12.34), "12.3");
        assert_eq!(ratio(150.4), "150");
        assert_eq!(ratio(0.004_21), "0.0042");
        assert_eq!(ratio(0.0), "0.00");
        assert_eq!(ratio(1e300), "1.00e300");
        assert_eq!(pair(0.98765), "0.988");
        assert_eq!(clients(3.42), "3.4");
        assert_eq!(clients(12.6), "13");
        assert_eq!(share(0, 9), "");
        assert_eq!(share(1, 10_000_000), "nonzero");
        assert_eq!(share(1, 3), "33.333");
        assert_eq!(percent(0.012), "0.012");
        assert_eq!(percent(97.25), "97.2");
        assert_eq!(micros(2_050.0), "2.05ms");
        assert_eq!(micros(-1.0), "–");
        assert_eq!(gib(0.002), "2.05 MiB");
        assert_eq!(q_value(0.000_4), "<0.001");
    }

    fn compared(ratio: f64, low: f64, high: f64) -> Comparison {
        Comparison {
            step: StepId::new("l.i0"),
            ordinal: 0,
            clients: 1,
            metric: MetricId::new("rate"),
            unit: Unit::RowsPerSecond,
            base: "a".into(),
            system: "b".into(),
            ratio: Some(ratio),
            low: Some(low),
            high: Some(high),
            rounds: 4,
            pairs: Vec::new(),
            q_value: None,
            verdict: Verdict::Unchanged,
            magnitude: None,
            evidence: None,
        }
    }

    #[test]
    fn a_narrow_interval_gets_a_third_decimal() {
        assert_eq!(ratio_and_interval(&compared(0.31, 0.29, 0.33)), "0.31 [0.29, 0.33]");
        assert_eq!(ratio_and_interval(&compared(0.988, 0.983, 0.993)), "0.988 [0.983, 0.993]");
        // An end above zero is not printed as zero.
        assert_eq!(ratio_and_interval(&compared(0.12, 0.004_21, 3.4)), "0.12 [0.0042, 3.40]");
        let mut no_interval = compared(0.5, 0.4, 0.6);
        no_interval.low = None;
        assert_eq!(ratio_and_interval(&no_interval), "0.50");
        no_interval.ratio = None;
        assert_eq!(ratio_and_interval(&no_interval), ABSENT);
    }

    proptest! {
        #[test]
        fn whatever_the_number_the_text_is_short_and_finite(bits in any::<u64>()) {
            let value = f64::from_bits(bits);
            for text in [number(value), ratio(value), percent(value), micros(value), gib(value), q_value(value), exact(value)] {
                prop_assert!(!text.contains("NaN") && !text.contains("inf"), "{}", text);
                prop_assert!(text.len() < 30 || text == exact(value), "{}", text);
            }
        }

        #[test]
        fn exact_reads_back(value in any::<f64>().prop_filter("finite", |v| v.is_finite())) {
            prop_assert_eq!(exact(value).parse::<f64>().unwrap().to_bits(), value.to_bits());
        }
    }
}
