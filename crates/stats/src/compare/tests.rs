use model::{Counts, Magnitude, Step, StepClass, StepId, StepPace, Subject, Unit};
use proptest::prelude::*;
use testkit::fixtures::{cell, empty_run, run_of, slice, trial};

use super::*;
use crate::{Looks, Selection};

fn only(data: &RunData) -> Comparison {
    let mut found = compare(data, &Options::default()).unwrap();
    assert_eq!(found.len(), 1, "{found:?}");
    found.remove(0)
}

#[test]
fn a_worked_example() {
    // Log ratios -0.10, -0.11, -0.09, -0.10: mean -0.1, sd 0.008165, t = -24.495, 3 degrees of
    // freedom, half-width 3.182 * 0.008165 / 2 = 0.012992.
    let rounds = [-0.10_f64, -0.11, -0.09, -0.10].map(|d| [1000.0, 1000.0 * d.exp()]);
    let found = only(&run_of(&["a", "b"], "rate", &rounds));
    let near = |value: Option<f64>, expected: f64| (value.unwrap() - expected).abs() < 1e-5;
    assert!(near(found.ratio, (-0.1_f64).exp()));
    assert!(near(found.low, (-0.112_992_f64).exp()), "{found:?}");
    assert!(near(found.high, (-0.087_008_f64).exp()), "{found:?}");
    assert!(near(found.q_value, 0.000_149), "{found:?}");
    assert_eq!(found.verdict, Verdict::Regressed);
    assert_eq!(found.magnitude, Some(Magnitude::Medium));
    assert_eq!((found.rounds, found.pairs.len()), (4, 4));
    assert_eq!((found.base.as_str(), found.system.as_str()), ("a", "b"));
    assert_eq!(found.pairs[0].0, 1);
    assert!((found.pairs[0].1 - (-0.10_f64).exp()).abs() < 1e-12);
}

#[test]
fn identical_values_are_unchanged_and_a_constant_change_is_certain() {
    let same = only(&run_of(&["a", "b"], "rate", &[[5.0, 5.0]; 3]));
    assert_eq!(same.verdict, Verdict::Unchanged);
    assert_eq!((same.ratio, same.q_value), (Some(1.0), Some(1.0)));
    let (low, high) = (same.low.unwrap(), same.high.unwrap());
    assert!(0.999_99 < low && low < 1.0 && 1.0 < high && high < 1.000_01);
    assert_eq!(same.magnitude, None);
    let half = only(&run_of(&["a", "b"], "server.cpu/o", &[[5.0, 2.5]; 3]));
    assert_eq!(half.verdict, Verdict::Improved);
    assert!(half.q_value.is_some_and(|q| q > 0.0 && q < 1e-9));
    assert!(half.low < half.ratio && half.ratio < half.high);
    assert_eq!(half.magnitude, Some(Magnitude::Large));
    // A metric that has no margin: as many errors in each round.
    let errors = only(&run_of(&["a", "b"], "errors.query", &[[3.0, 3.0]; 4]));
    assert_eq!(errors.verdict, Verdict::Unchanged);
}

#[test]
fn few_rounds_give_a_ratio_and_no_verdict() {
    let one = only(&run_of(&["a", "b"], "rate", &[[10.0, 20.0]]));
    assert!((one.ratio.unwrap() - 2.0).abs() < 1e-12);
    assert_eq!((one.low, one.high, one.q_value), (None, None, None));
    let two = only(&run_of(&["a", "b"], "rate", &[[10.0, 20.0], [10.0, 21.0]]));
    assert!(two.low.unwrap() < 2.0 && two.high.unwrap() > 2.1);
    assert_eq!(two.q_value, None);
    for (found, have) in [(one, 1), (two, 2)] {
        let reason = Reason::TooFewRounds { have, need: 3 };
        assert_eq!(found.verdict, Verdict::Inconclusive(reason));
        assert_eq!(found.magnitude, None);
    }
}

#[test]
fn only_complete_rounds_count() {
    let mut data = run_of(&["a", "b"], "rate", &[[10.0, 20.0]; 5]);
    data.cells.retain(|c| !(c.round == 2 && c.system == "b"));
    data.cells.retain(|c| !(c.round == 4 && c.system == "a"));
    let found = only(&data);
    assert_eq!(found.rounds, 3);
    let rounds: Vec<u32> = found.pairs.iter().map(|(round, _)| *round).collect();
    assert_eq!(rounds, [1, 3, 5]);
}

#[test]
fn a_missing_side_is_named() {
    for (gone, kept) in [("a", "b"), ("b", "a")] {
        let mut data = run_of(&["a", "b"], "rate", &[[10.0, 20.0]; 3]);
        data.cells.retain(|c| c.system == kept);
        let reason = Reason::MissingTrials { system: gone.into() };
        let found = only(&data);
        assert_eq!(found.verdict, Verdict::Incomparable(reason));
        assert_eq!((found.ratio, found.rounds), (None, 0));
    }
    // Each has values, but never in the same round.
    let mut data = run_of(&["a", "b"], "rate", &[[10.0, 20.0]; 2]);
    data.cells.retain(|c| (c.round == 1) == (c.system == "a"));
    let reason = Reason::MissingTrials { system: "b".into() };
    assert_eq!(only(&data).verdict, Verdict::Incomparable(reason));
}

#[test]
fn what_has_no_ratio_is_named_and_nothing_against_nothing_is_left_out() {
    let verdict = |rounds: &[[f64; 2]]| only(&run_of(&["a", "b"], "errors.query", rounds)).verdict;
    let no_ratio = |system: &str| Verdict::Incomparable(Reason::NoRatio { system: system.into() });
    assert_eq!(verdict(&[[0.0, 3.0], [1.0, 1.0], [1.0, 1.0]]), no_ratio("a"));
    assert_eq!(verdict(&[[1.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), no_ratio("b"));
    assert_eq!(verdict(&[[1.0, f64::NAN], [1.0, 1.0]]), no_ratio("b"));
    assert_eq!(verdict(&[[f64::INFINITY, 1.0], [1.0, 1.0]]), no_ratio("a"));
    assert_eq!(verdict(&[[-1.0, 1.0], [1.0, 1.0]]), no_ratio("a"));
    assert_eq!(verdict(&[[0.0, 0.0], [1.0, 1.0]]), no_ratio("a"));
    let nothing = run_of(&["a", "b"], "errors.query", &[[0.0, 0.0]; 3]);
    assert_eq!(compare(&nothing, &Options::default()), Ok(Vec::new()));
}

#[test]
fn what_falls_to_zero_in_every_round_is_a_regression_without_a_ratio() {
    let of = |metric: &str, rounds: &[[f64; 2]]| only(&run_of(&["a", "b"], metric, rounds));
    let fell = of("rate", &[[5.0, 0.0], [6.0, 0.0], [5.0, 0.0]]);
    let reason = Reason::FellToZero { rounds: 3 };
    assert_eq!(fell.verdict, Verdict::Incomparable(reason));
    assert!(fell.verdict.is_regression());
    assert_eq!(fell.verdict.reason(), "fell to zero in all 3 rounds");
    assert_eq!((fell.ratio, fell.low, fell.q_value), (None, None, None));
    let no_ratio = |system: &str| Verdict::Incomparable(Reason::NoRatio { system: system.into() });
    for (metric, rounds, system) in [
        // Fewer rounds than a verdict needs.
        ("rate", vec![[5.0, 0.0]; 2], "b"),
        // Not in every round, and not a number.
        ("rate", vec![[5.0, 0.0], [5.0, 0.0], [5.0, 4.0]], "b"),
        ("rate", vec![[5.0, 0.0], [5.0, 0.0], [5.0, f64::NAN]], "b"),
        // The base has nothing either in one of them, or nothing at all.
        ("rate", vec![[5.0, 0.0], [0.0, 0.0], [5.0, 0.0]], "b"),
        ("rate", vec![[0.0, 5.0]; 3], "a"),
        // Fewer are better, and neither is.
        ("errors.query", vec![[5.0, 0.0]; 3], "b"),
        ("steal", vec![[5.0, 0.0]; 3], "b"),
    ] {
        let found = of(metric, &rounds);
        assert_eq!(found.verdict, no_ratio(system), "{metric} {rounds:?}");
        assert!(!found.verdict.is_regression());
    }
}

#[test]
fn another_unit_is_another_quantity() {
    let mut data = run_of(
        &["a", "b", "c"],
        "rate",
        &[[100.0, 50.0, 101.0], [101.0, 50.5, 100.0], [99.0, 49.0, 99.0]],
    );
    for cell in data.cells.iter_mut().filter(|cell| cell.system == "b") {
        cell.unit = Unit::RowsPerSecond;
    }
    let reasons = |data: &RunData, base: &str| -> Vec<String> {
        let options = Options { base: Some(base.into()), ..Options::default() };
        let found = compare(data, &options).unwrap().into_iter();
        found.map(|c| c.verdict.reason()).collect()
    };
    assert_eq!(reasons(&data, "a")[0], "unit differs: ops/s and rows/s", "b against a");
    assert_eq!(reasons(&data, "b")[0], "unit differs: rows/s and ops/s");
    let beside = &compare(&data, &Options::default()).unwrap()[1];
    assert!(beside.ratio.is_some(), "{beside:?}");
    // A system that has both in its rounds is comparable with none.
    data.cells.iter_mut().for_each(|c| c.unit = Unit::OpsPerSecond);
    data.cells[0].unit = Unit::RowsPerSecond;
    assert_eq!(reasons(&data, "a"), vec!["unit differs: rows/s, ops/s and ops/s"; 2]);
}

/// Three closed loops, which throughput decides, and three open ones, which response time does.
fn closed_and_open() -> RunData {
    let mut data = empty_run(&["a", "b"]);
    let names: Vec<String> = (0..6).map(|place| format!("s{place}")).collect();
    for (ordinal, name) in (0..).zip(&names) {
        let subject = Subject { kind: "get".into(), counts: Counts::Operations };
        let pace = if ordinal < 3 { StepPace::Closed } else { StepPace::Rate { per_second: 100 } };
        data.steps.push(Step {
            class: StepClass::Reading,
            pace,
            metric: pace.deciding(&subject),
            ..Step::new(StepId::new(name), ordinal, 1, subject)
        });
        for (round, d) in (1..).zip([0.010, -0.012, 0.008, -0.009_f64]) {
            for metric in ["rate", "response.get.p99", "server.cpu/o"] {
                // The further down, the larger the effect.
                let effect = 0.01 * f64::from(ordinal) + d * f64::from(metric.len() as u32 % 5 + 1);
                data.cells.push(cell(round, "a", name, metric, 100.0));
                let slower = 100.0 * effect.exp();
                data.cells.push(cell(round, "b", name, metric, slower));
            }
        }
    }
    data
}

#[test]
fn a_verdict_does_not_depend_on_the_question() {
    let data = closed_and_open();
    let asked = |metrics: Selection| {
        let options = Options { metrics, ..Options::default() };
        compare(&data, &options).unwrap()
    };
    let all = asked(Selection::All);
    assert_eq!(all.len(), 18);
    let only = |metric: &str| asked(Selection::Only(vec![MetricId::new(metric)]));
    for (found, expected) in [
        (only("rate"), 6),
        (only("response.get.p99"), 6),
        (only("response.p99"), 6),
        (only("server.cpu/o"), 6),
        (asked(Selection::Deciding), 6),
    ] {
        assert_eq!(found.len(), expected);
        for one in &found {
            assert!(all.contains(one), "judged in another way: {one:?}");
            assert!(one.q_value.is_some());
        }
    }
}

#[test]
fn what_has_no_better_direction_is_shown_and_not_judged() {
    for metric in ["steal", "something.unheard.of"] {
        let found = only(&run_of(&["a", "b"], metric, &[[1.0, 2.0], [1.0, 3.0], [1.0, 2.5]]));
        assert_eq!(found.verdict, Verdict::Inconclusive(Reason::NotJudged));
        assert!(found.ratio.is_some() && found.low.is_some());
        assert_eq!(found.q_value, None);
    }
}

#[test]
fn the_family_is_the_judged_steps_of_one_metric_and_candidate() {
    let mut data = empty_run(&["a", "b", "c"]);
    let noise = [0.00, 0.01, -0.01, 0.005];
    for (round, d) in (1..).zip(noise) {
        for step in ["s0", "s1", "s2"] {
            data.cells.push(cell(round, "a", step, "rate", 100.0));
            data.cells.push(cell(round, "c", step, "rate", 50.0));
        }
        let quick = 100.0 * (0.1_f64 + d).exp();
        data.cells.push(cell(round, "b", "s0", "rate", quick));
        data.cells.push(cell(round, "b", "s1", "rate", 100.0 * d.exp()));
        data.cells.push(cell(round, "a", "s0", "steal", 1.0));
        data.cells.push(cell(round, "b", "s0", "steal", 1.0 + f64::from(round)));
        if round < 3 {
            data.cells.push(cell(round, "b", "s2", "rate", 100.0));
        }
    }
    let found = compare(&data, &Options::default()).unwrap();
    let logs: Vec<f64> = noise.iter().map(|d| 0.1 + d).collect();
    let p = Paired::of(&logs).unwrap().p_value().unwrap();
    // Two judged steps: the smaller p-value doubles. The third step has two rounds only.
    assert!((found[0].q_value.unwrap() / (2.0 * p) - 1.0).abs() < 1e-6);
    let order: Vec<(&str, &str, &str)> =
        found.iter().map(|c| (c.system.as_str(), c.step.0.as_str(), c.metric.0.as_str())).collect();
    assert_eq!(
        order,
        [
            ("b", "s0", "rate"),
            ("b", "s0", "steal"),
            ("b", "s1", "rate"),
            ("b", "s2", "rate"),
            ("c", "s0", "rate"),
            ("c", "s0", "steal"),
            ("c", "s1", "rate"),
            ("c", "s2", "rate"),
        ]
    );
}

#[test]
fn base_metrics_and_margin_can_be_chosen() {
    let mut data = run_of(&["a", "b"], "rate", &[[100.0, 104.0]; 3]);
    data.cells.push(cell(1, "a", "s0", "cpu/o", 1.0));
    let options = Options {
        base: Some("b".into()),
        metrics: Selection::Only(vec![MetricId::new("rate")]),
        min_effect: Some(0.05),
        ..Options::default()
    };
    let found = compare(&data, &options).unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].base.as_str(), found[0].system.as_str()), ("b", "a"));
    assert_eq!(found[0].verdict, Verdict::Unchanged);
}

#[test]
fn the_margin_of_one_metric_can_be_chosen() {
    let data = run_of(&["a", "b"], "rate", &[[100.0, 104.0]; 4]);
    let verdict = |options: Options| compare(&data, &options).unwrap()[0].verdict.clone();
    let margins = [(MetricId::new("rate"), 0.05)].into();
    let wide = Options { margins, ..Options::default() };
    assert_eq!(verdict(Options::default()), Verdict::Improved);
    assert_eq!(verdict(wide.clone()), Verdict::Unchanged);
    let asked = Options { min_effect: Some(0.01), ..wide };
    assert_eq!(verdict(asked), Verdict::Improved);
}

#[test]
fn a_failed_trial_is_the_reason_and_so_is_another_connection() {
    let mut data = run_of(&["a", "b"], "rate", &[[10.0, 20.0]; 3]);
    let ended = |outcome: Outcome| model::TrialRecord { outcome, ..trial("b", "off") };
    let failed = Outcome::Failed {
        step: None,
        reason: "3 rows were expected, 2 came".into(),
        log_tail: Vec::new(),
    };
    data.trials = vec![trial("a", "off"), trial("b", "TLSv1.3")];
    let different = only(&data).verdict.reason();
    assert_eq!(different, "TLS differs: off and on");
    let disturbed = Outcome::Quarantined {
        reason: "qr100: other processes took 80.0 % of one CPU (limit 30 %)".into(),
    };
    data.trials = vec![ended(disturbed.clone())];
    data.cells.retain(|c| c.system == "a");
    assert_eq!(
        only(&data).verdict.reason(),
        "no complete round: b was quarantined: qr100: other processes took 80.0 % of one CPU (limit 30 %)"
    );
    data.trials = vec![ended(disturbed), ended(failed)];
    assert_eq!(
        only(&data).verdict.reason(),
        "no complete round: b failed: 3 rows were expected, 2 came"
    );
}

#[test]
fn evidence_says_what_a_verdict_rests_on() {
    let mut rounds =
        [0.010, 0.012, 0.008, 0.011, 0.009, 0.010, -0.300].map(|d: f64| [100.0, 100.0 * d.exp()]);
    let evidence = only(&run_of(&["a", "b"], "rate", &rounds)).evidence.unwrap();
    assert_eq!((evidence.df, evidence.prior_df), (6.0, 0.0));
    assert_eq!((evidence.margin, evidence.slice_pairs), (0.02, None));
    assert!(evidence.sign_flip.unwrap() > 0.1, "{evidence:?}");
    assert!((evidence.centre.ln() - 0.010).abs() < 0.001, "{evidence:?}");
    assert_eq!(evidence.outlying, [7]);
    rounds[6] = [100.0, 101.0];
    let quiet = only(&run_of(&["a", "b"], "rate", &rounds)).evidence.unwrap();
    assert_eq!(quiet.sign_flip, Some(2.0 / 128.0));
}

/// Twelve steps of four rounds that scatter by 1 %, all alike except the named one.
fn family_of_twelve(odd: &str, log: f64) -> RunData {
    let mut data = empty_run(&["a", "b"]);
    for step in 0..12 {
        let name = format!("s{step}");
        for (round, d) in (1..).zip([0.01, -0.01, 0.012, -0.008]) {
            let is_odd = name == odd && round == 2;
            let d: f64 = if is_odd { log } else { d };
            data.cells.push(cell(round, "a", &name, "rate", 1000.0));
            data.cells.push(cell(round, "b", &name, "rate", 1000.0 * d.exp()));
        }
    }
    data
}

#[test]
fn a_family_gives_degrees_of_freedom_and_shows_wild_rounds() {
    let found = compare(&family_of_twelve("s3", -0.3), &Options::default()).unwrap();
    let evidence = |place: usize| found[place].evidence.clone().unwrap();
    assert_eq!(evidence(3).outlying, [2]);
    assert!(evidence(4).outlying.is_empty());
    assert!(evidence(4).prior_df > 0.0, "{:?}", evidence(4));
    let alike = compare(&family_of_twelve("", 0.0), &Options::default()).unwrap();
    let evidence = alike[0].evidence.clone().unwrap();
    assert!((14.0..=36.0).contains(&evidence.df), "{evidence:?}");
}

#[test]
fn more_looks_ask_for_more() {
    let data = family_of_twelve("", 0.0);
    let options = Options { looks: Looks::new(3, 12), ..Options::default() };
    let once = compare(&data, &Options::default()).unwrap();
    let often = compare(&data, &options).unwrap();
    for (once, often) in once.iter().zip(&often) {
        assert!(once.low > often.low && once.high < often.high);
        assert!(once.q_value <= often.q_value);
    }
    // A plan that has its runs looked at need not be told so again.
    let mut planned = data.clone();
    planned.info.plan.rounds = 12;
    planned.info.plan.course.first_look = Some(3);
    assert_eq!(compare(&planned, &Options::default()).unwrap(), often);
}

#[test]
fn slices_are_compared_pair_by_pair_and_are_no_rounds() {
    let mut data = empty_run(&["a", "b"]);
    for round in 1..=4 {
        for (system, shift) in [("a", 0.0), ("b", 0.05)] {
            data.cells.push(cell(round, system, "s0", "rate", 1000.0));
            for pair in 0..20 {
                // Pairs share their hour; each system has a little of its own.
                let hour = f64::from(pair % 5) * 0.1;
                let own = 0.001 * f64::from((pair + round) % 3) * shift;
                let value = 1000.0 * (hour + shift + own).exp();
                data.slices.push(slice(round, system, "s0", pair, value));
            }
        }
    }
    let found = compare(&data, &Options::default()).unwrap();
    assert!((found[0].ratio.unwrap().ln() - 0.05).abs() < 0.001);
    assert_eq!((found[0].rounds, found[0].pairs.len()), (4, 4));
    assert_eq!(found[0].verdict, Verdict::Improved);
    let evidence = found[0].evidence.clone().unwrap();
    assert!(evidence.slice_pairs.is_some_and(|pairs| pairs <= 80.0));
    data.slices.clear();
    assert_eq!(only(&data).ratio, Some(1.0));
}

#[test]
fn one_stall_a_round_is_not_unchanged() {
    let of = |stalled: bool| {
        let mut data = empty_run(&["a", "b"]);
        for round in 1..=3 {
            for system in ["a", "b"] {
                let values: Vec<f64> = (0..16)
                    .map(|pair| {
                        let is_stall = stalled && system == "b" && pair == 3 + round;
                        let own = 1.0 + 0.001 * f64::from((pair + round) % 3);
                        if is_stall { 500.0 } else { 1000.0 * own }
                    })
                    .collect();
                let whole = values.iter().sum::<f64>() / 16.0;
                data.cells.push(cell(round, system, "s0", "rate", whole));
                for (pair, value) in (0..).zip(values) {
                    data.slices.push(slice(round, system, "s0", pair, value));
                }
            }
        }
        only(&data).verdict
    };
    assert_eq!(of(false), Verdict::Unchanged);
    assert_eq!(of(true), Verdict::Inconclusive(Reason::FewSlices));
}

#[test]
fn two_hundred_systems_are_compared_each_with_the_base() {
    let names: Vec<String> = (0..200).map(|number| format!("v{number}")).collect();
    let mut data = empty_run(&names.iter().map(String::as_str).collect::<Vec<_>>());
    for (number, name) in names.iter().enumerate() {
        for step in 0..3 {
            for round in 1..=4 {
                let chance = 0.002 * f64::from((number as u32 * 7 + step * 5 + round * 3) % 11);
                let slow = if number == 150 { 0.9 } else { 1.0 };
                let (step, value) = (format!("s{step}"), 1000.0 * slow * chance.exp());
                data.cells.push(cell(round, name, &step, "rate", value));
            }
        }
    }
    let found = compare(&data, &Options::default()).unwrap();
    assert_eq!(found.len(), 199 * 3);
    let regressed = found.iter().filter(|c| c.verdict == Verdict::Regressed);
    assert!(regressed.clone().all(|c| c.system == "v150"));
    assert_eq!(regressed.count(), 3);
}

fn flipped(verdict: &Verdict) -> Verdict {
    match verdict {
        Verdict::Regressed => Verdict::Improved,
        Verdict::Improved => Verdict::Regressed,
        other => other.clone(),
    }
}

/// So many that they are a family.
const STEPS: usize = 9;

/// Three to eight rounds of two systems, at noise levels that reach all verdicts.
fn a_run() -> impl Strategy<Value = RunData> {
    let step = (-0.1..0.1f64, 0.0..0.03f64);
    let deviation = prop::collection::vec(-1.0..1.0f64, 8 * STEPS);
    (prop::collection::vec(step, STEPS), deviation, 3u32..=8).prop_map(
        |(steps, deviations, rounds)| {
            let mut data = empty_run(&["a", "b"]);
            let mut deviations = deviations.into_iter();
            for round in 1..=rounds {
                for (place, (effect, noise)) in steps.iter().enumerate() {
                    let d = effect + noise * deviations.next().unwrap();
                    let step = format!("s{place}");
                    data.cells.push(cell(round, "a", &step, "rate", 1000.0));
                    data.cells.push(cell(round, "b", &step, "rate", 1000.0 * d.exp()));
                }
            }
            data
        },
    )
}

fn alike(left: &[Comparison], right: &[Comparison]) -> Result<(), TestCaseError> {
    let near = |a: Option<f64>, b: Option<f64>, tolerance: f64| match (a, b) {
        (Some(a), Some(b)) => (a - b).abs() <= tolerance * a.abs().max(1e-9),
        (a, b) => a == b,
    };
    prop_assert_eq!(left.len(), right.len());
    for (l, r) in left.iter().zip(right) {
        prop_assert!(near(l.ratio, r.ratio, 1e-12));
        prop_assert!(near(l.low, r.low, 1e-9));
        prop_assert!(near(l.high, r.high, 1e-9));
        prop_assert!(near(l.q_value, r.q_value, 1e-6));
        prop_assert_eq!(l.verdict.word(), r.verdict.word());
    }
    Ok(())
}

/// Values that a broken run may hold.
fn a_value() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => 0.5..2.0f64,
        1 => prop::num::f64::ANY,
        1 => prop::sample::select(vec![0.0, -0.0, f64::NAN, f64::INFINITY, f64::MAX, 5e-324]),
    ]
}

/// Up to five systems, ten steps and nine rounds, with many values missing or absurd.
fn a_broken_run() -> impl Strategy<Value = RunData> {
    let one = (1u32..10, 0usize..5, 0u32..10, a_value());
    prop::collection::vec(one, 0..300).prop_map(|values| {
        let names = ["a", "b", "c", "d", "e"];
        let mut data = empty_run(&names);
        for (round, system, step, value) in values {
            let step = format!("s{step}");
            data.cells.push(cell(round, names[system], &step, "rate", value));
        }
        data
    })
}

proptest! {
    #[test]
    fn whatever_a_run_holds_is_compared_or_said_to_be_incomparable(data in a_broken_run()) {
        for looks in [None, Looks::new(3, 12)] {
            for c in compare(&data, &Options { looks, ..Options::default() }).unwrap() {
                prop_assert!(c.ratio.is_none_or(|ratio| ratio >= 0.0), "{:?}", c);
                if let (Some(low), Some(ratio), Some(high)) = (c.low, c.ratio, c.high) {
                    prop_assert!(low <= ratio && ratio <= high, "{:?}", c);
                }
                prop_assert!(c.q_value.is_none_or(|q| (0.0..=1.0).contains(&q)), "{:?}", c);
            }
        }
        let systems = vec!["a", "b", "c", "d", "e"];
        let part = crate::Part { data: &data, systems };
        let found = crate::history(&[part], &crate::HistoryOptions::default()).unwrap();
        for change in found.lines.iter().flat_map(|line| &line.changes) {
            prop_assert!(change.low <= change.ratio && change.ratio <= change.high);
        }
    }

    #[test]
    fn there_and_back_are_mirror_images(data in a_run()) {
        let there = compare(&data, &Options::default()).unwrap();
        let options = Options { base: Some("b".into()), ..Options::default() };
        let back = compare(&data, &options).unwrap();
        for (a, b) in there.iter().zip(&back) {
            prop_assert_eq!(&a.verdict, &flipped(&b.verdict));
            prop_assert_eq!(a.magnitude, b.magnitude);
            prop_assert_eq!(a.q_value, b.q_value);
            for (one, other) in [(a.ratio, b.ratio), (a.low, b.high), (a.high, b.low)] {
                let (one, other) = (one.unwrap(), other.unwrap());
                prop_assert_eq!(Some(one.min(other)), Some(one.max(other).recip()));
            }
            let (a, b) = (a.evidence.clone().unwrap(), b.evidence.clone().unwrap());
            prop_assert_eq!((a.sd, a.df, a.p_value), (b.sd, b.df, b.p_value));
            prop_assert_eq!((a.sign_flip, &a.outlying), (b.sign_flip, &b.outlying));
        }
    }

    #[test]
    fn the_unit_does_not_matter(data in a_run(), factor in 1e-6..1e6f64) {
        let mut scaled = data.clone();
        scaled.cells.iter_mut().for_each(|c| c.value *= factor);
        let options = Options::default();
        alike(&compare(&data, &options).unwrap(), &compare(&scaled, &options).unwrap())?;
    }

    #[test]
    fn twice_as_much_of_both_is_exactly_the_same(data in a_run(), doublings in -20i32..20) {
        let mut scaled = data.clone();
        let factor = 2.0_f64.powi(doublings);
        scaled.cells.iter_mut().for_each(|c| c.value *= factor);
        let options = Options::default();
        prop_assert_eq!(compare(&data, &options), compare(&scaled, &options));
    }

    #[test]
    fn the_order_of_rounds_does_not_matter(data in a_run(), turn in 1u32..8) {
        let rounds = data.cells.iter().map(|c| c.round).max().unwrap();
        let mut turned = data.clone();
        for cell in &mut turned.cells {
            cell.round = (cell.round + turn) % rounds + 1;
        }
        turned.cells.reverse();
        let options = Options::default();
        let exact = |data: &RunData| -> Vec<_> {
            let found = compare(data, &options).unwrap().into_iter();
            found
                .map(|c| (c.step, c.ratio, c.low, c.high, c.q_value, c.verdict))
                .collect()
        };
        prop_assert_eq!(exact(&data), exact(&turned));
    }
}
