use model::{BuildSource, Reason, Verdict};
use testkit::fixtures::{cell, run_of};

use super::*;
use crate::{Options, compare};

/// Three rounds that agree, as a table has them.
fn imported(base: f64, candidate: f64) -> RunData {
    let mut data = run_of(&["a", "b"], "cs/o", &[[base, candidate]; 3]);
    for system in &mut data.info.plan.systems {
        system.build.source = BuildSource::Imported("table.csv".into());
    }
    data
}

#[test]
fn worked_by_hand() {
    // 0.001 / √12 of 0.009 and of 0.020: 3.21 % and 1.44 %, together 3.52 %, in each round alike.
    let data = imported(0.009, 0.020);
    let round = Round {
        number: 1,
        host: 0,
        base: 0.009,
        candidate: 0.020,
        slices: Vec::new(),
        drift: None,
    };
    let rounds = vec![round; 3];
    let metric = MetricId::new("cs/o");
    let error = Rounding::of(&data).error(&metric, &rounds);
    assert!((error - 0.035_18).abs() < 1e-5, "{error}");
    let unknown = Rounding::of(&data).error(&MetricId::new("rate"), &rounds);
    assert!(unknown.abs() <= 0.0);
    let ours = run_of(&["a", "b"], "cs/o", &[[0.009, 0.020]; 3]);
    assert!(Rounding::of(&ours).error(&metric, &rounds).abs() <= 0.0);
}

#[test]
fn two_digits_that_are_the_same_do_not_say_unchanged() {
    let of = |data: &RunData| compare(data, &Options::default()).unwrap().remove(0);
    let same = of(&imported(0.009, 0.009));
    assert_eq!(same.verdict, Verdict::Inconclusive(Reason::TooCoarse));
    assert!(same.low.unwrap() < 0.9 && same.high.unwrap() > 1.1);
    let twice = of(&imported(0.009, 0.020));
    assert_eq!(twice.verdict, Verdict::Regressed);
    // What the rounded values can have been: 0.0195 / 0.0095 to 0.0205 / 0.0085.
    assert!(twice.low.unwrap() < 2.05 && twice.high.unwrap() > 2.41);
    // Another step shows that the tool prints more digits than these need.
    let mut finer = imported(0.009, 0.009);
    finer.cells.push(cell(1, "a", "s1", "cs/o", 0.123_456_7));
    let same = of(&finer);
    assert_eq!(same.verdict, Verdict::Unchanged);
}

#[test]
fn digits_are_counted_as_they_are_printed() {
    for (value, power) in [
        (8201.0, 0),
        (17_000.0, 3),
        (3.95, -2),
        (0.001_593, -6),
        (1e-9, -9),
        (1e300, 300),
        // 1.001 ms.
        (1.001 * 1e3, 0),
        (0.1 + 0.2, -1),
    ] {
        assert_eq!(last_digit(value), Some(power), "{value}");
    }
    assert_eq!(last_digit(0.0), None);
    assert!(last_digit(2.0_f64.sqrt()).unwrap() <= -11);
}

/// The digit of each value of the first metric.
fn digits(data: &RunData) -> Vec<f64> {
    let printed = Printed::of(data);
    let first = &data.cells[0].metric;
    let of_first = data.cells.iter().filter(|cell| cell.metric == *first);
    of_first.map(|cell| printed.digit(cell)).collect()
}

fn near(seen: &[f64], expected: &[f64]) {
    assert_eq!(seen.len(), expected.len());
    for (seen, expected) in seen.iter().zip(expected) {
        assert!((seen / expected - 1.0).abs() < 1e-9, "{seen} {expected}");
    }
}

/// A run of one round with these values in step `s0`, each of `a` and of `b`.
fn one_round(values: &[(&str, Unit, [f64; 2])]) -> RunData {
    let mut data = imported(1.0, 1.0);
    data.cells.clear();
    for (metric, unit, values) in values {
        for (system, value) in ["a", "b"].iter().zip(values) {
            let mut cell = cell(1, system, "s0", metric, *value);
            cell.unit = *unit;
            data.cells.push(cell);
        }
    }
    data
}

#[test]
fn seconds_and_milliseconds_keep_their_digits_in_microseconds() {
    let of = |metric, values| digits(&one_round(&[(metric, Unit::Micros, values)]));
    near(&of("service.query.max", [0.017 * 1e6, 0.02 * 1e6]), &[1000.0; 2]);
    near(&of("service.event.mean", [1.001 * 1e3, 2.5 * 1e3]), &[1.0; 2]);
    near(&of("service.event.mean", [1.25 * 1e3, 2.5 * 1e3]), &[10.0; 2]);
    // Whole seconds are not rounded to tens of them.
    near(&of("service.query.max", [10.0 * 1e6, 20.0 * 1e6]), &[1e6; 2]);
    // Other numbers are taken as they are printed.
    let rows = ("rows.insert", Unit::RowsPerSecond, [100.0, 200.0]);
    near(&digits(&one_round(&[rows])), &[1.0; 2]);
}

#[test]
fn a_quotient_is_as_exact_as_what_was_divided() {
    let rates = [6886.0, 7238.0];
    let rate = ("rate", Unit::OpsPerSecond, rates);
    let inserted = ("rows.insert", Unit::RowsPerSecond, [100.0, 99.0]);
    let by_rate = |printed: [f64; 2], factor: f64| {
        let [a, b] = printed;
        [a * factor / rates[0], b * factor / rates[1]]
    };
    let of = |metric, unit, values| {
        let mut data = one_round(&[(metric, unit, values), rate, inserted]);
        data.info.host.shape.cpus = 8;
        digits(&data)
    };
    let reads = of("r/o", Unit::PerOp, by_rate([2.0, 3.0], 1.0));
    near(&reads, &by_rate([1.0; 2], 1.0));
    // What is printed per operation has its own digits.
    near(&of("r/o", Unit::PerOp, [0.012, 0.31]), &[0.001; 2]);
    let cpu = of("cpu/o", Unit::MicrosPerOp, by_rate([25.8, 27.0], 8e4));
    near(&cpu, &by_rate([0.1; 2], 8e4));
    let of_met = [0.000_098 * 8e4, 0.000_11 * 8e4];
    near(&of("cpu/o", Unit::MicrosPerOp, of_met), &[1e-6 * 8e4; 2]);
    near(&of("cpu/o", Unit::MicrosPerOp, [150.0, 149.0]), &[1.0; 2]);
    let [a, b] = by_rate([1.058, 1.884], 1.0);
    let written = of("wKB/o", Unit::KbPerOp, [a * 100.0, b * 99.0]);
    near(&written, &[0.1 / rates[0], 0.099 / rates[1]]);
    let kept = of("sla.insert", Unit::Percent, [100.0 * 100.0 / 300.0, 33.0]);
    near(&kept, &[100.0 / 300.0; 2]);
    // Averages over samples are not rounded.
    let sampled = of("cs/o", Unit::PerOp, by_rate([2.0_f64.sqrt(), 3.0_f64.sqrt()], 1.0));
    assert!(sampled.iter().all(|digit| *digit < 1e-12), "{sampled:?}");
}

#[test]
fn three_rounds_of_one_quotient_do_not_say_unchanged() {
    let mut data = imported(2.0 / 6886.0, 2.0 / 6886.0);
    for (round, system) in (1..=3).flat_map(|round| [(round, "a"), (round, "b")]) {
        data.cells.push(cell(round, system, "s0", "rate", 6886.0));
    }
    let options = Options {
        metrics: crate::Selection::Only(vec![MetricId::new("cs/o")]),
        ..Options::default()
    };
    let same = compare(&data, &options).unwrap().remove(0);
    assert_eq!(same.verdict, Verdict::Inconclusive(Reason::TooCoarse));
}
