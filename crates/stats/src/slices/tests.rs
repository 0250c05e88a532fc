use model::Rng;
use proptest::prelude::*;

use super::*;
use crate::tests::simulation::normal;

#[test]
fn worked_by_hand() {
    // Products: lag 0: 4; lag 1: 1 - 1 + 1 = 1; lag 2: -1 - 1 = -2; lag 3: -1. So the first two
    // are together 5, the next two below zero: τ = 2 · 5 / 4 - 1 = 1.5.
    let one = SlicePairs::of(&[vec![1.0, 1.0, -1.0, -1.0]]).unwrap();
    assert_eq!(one.pairs, 4);
    assert!((one.effective - 4.0 / 1.5).abs() < 1e-12, "{one:?}");
    assert!((one.error - (4.0 / 3.0 * 1.5 / 4.0_f64).sqrt()).abs() < 1e-12);
}

#[test]
fn swings_are_not_taken_for_more_pairs() {
    let swings = SlicePairs::of(&[vec![0.1, -0.1, 0.1, -0.1]]).unwrap();
    assert!((swings.effective - 4.0).abs() < 1e-12);
    let same = SlicePairs::of(&[vec![0.1; 4], vec![0.1; 4]]).unwrap();
    assert_eq!((same.pairs, same.error), (8, 0.0));
    assert_eq!(SlicePairs::of(&[vec![0.1], vec![]]), None);
    assert_eq!(SlicePairs::of(&[vec![0.1, f64::NAN]]), None);
}

#[test]
fn the_error_of_a_correlated_series_is_told_as_large_as_it_is() {
    // x' = 0.6 x + e: τ = (1 + 0.6) / (1 - 0.6) = 4.
    let mut rng = Rng::new(41);
    let (runs, length) = (400, 400);
    let (mut errors, mut means) = (0.0, 0.0);
    for _ in 0..runs {
        let mut x = normal(&mut rng) / 0.8;
        let series: Vec<f64> = (0..length)
            .map(|_| {
                x = 0.6 * x + normal(&mut rng);
                x
            })
            .collect();
        let mean = series.iter().sum::<f64>() / f64::from(length);
        means += mean * mean;
        errors += SlicePairs::of(&[series]).unwrap().error.powi(2);
    }
    let share = (errors / means).sqrt();
    eprintln!("slices with autocorrelation 0.6: error told / true error = {share:.3}");
    assert!((0.85..=1.15).contains(&share), "{share}");
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[test]
fn the_middle_half_counts() {
    let pairs = [0.9, 0.1, 0.2, 0.3, 0.4, -5.0, 0.2, 0.0];
    // Sorted: -5, 0, | 0.1, 0.2, 0.2, 0.3, | 0.4, 0.9.
    let counts = steadied(&pairs);
    assert!((mean(&counts) - 0.2).abs() < 1e-12);
    // Put to the ends of the middle: 0.3, 0.1, 0.2, 0.3, 0.3, 0.1, 0.2, 0.1, whose mean is 0.2.
    let scatter: Vec<f64> = counts.iter().map(|log| (log - 0.2) / 2.0).collect();
    let expected = [0.1, -0.1, 0.0, 0.1, 0.1, -0.1, 0.0, -0.1];
    for (found, expected) in scatter.iter().zip(expected) {
        assert!((found - expected).abs() < 1e-12, "{scatter:?}");
    }
    // Three are all in the middle.
    assert!((mean(&steadied(&[0.1, 0.2, 0.6])) - 0.3).abs() < 1e-12);
    assert!(steadied(&[]).is_empty());
    assert!(steadied(&[0.1, f64::NAN]).iter().any(|log| log.is_nan()));
}

/// Pairs of four rounds with noise of 1 % in which now and then one is further off.
fn rounds(rng: &mut Rng, off: impl Fn(&mut Rng) -> f64) -> Vec<Vec<f64>> {
    let mut pair = |_| 0.01 * normal(rng) + off(rng);
    let round = |pair: &mut dyn FnMut(u32) -> f64| (0..16).map(pair).collect();
    (0..4).map(|_| round(&mut pair)).collect()
}

/// The standard deviation of the means of so many repetitions, and what their errors say.
fn scatter(
    counting: fn(Vec<Vec<f64>>) -> Vec<Vec<f64>>,
    off: impl Fn(&mut Rng) -> f64 + Copy,
) -> (f64, f64, f64) {
    let mut rng = Rng::new(43);
    let (mut means, mut squares, mut errors) = (0.0, 0.0, 0.0);
    let runs = 2_000;
    for _ in 0..runs {
        let counts = counting(rounds(&mut rng, off));
        let mean = mean_of_rounds(&counts).unwrap();
        means += mean;
        squares += mean * mean;
        errors += SlicePairs::of(&counts).unwrap().error.powi(2);
    }
    let runs = f64::from(runs);
    let centre = means / runs;
    ((squares / runs - centre * centre).sqrt(), (errors / runs).sqrt(), centre)
}

#[test]
fn bursts_that_meet_both_do_not_count() {
    let burst = |rng: &mut Rng| {
        if rng.below(8) == 0 { 0.1 * normal(rng) } else { 0.0 }
    };
    let (all, _, _) = scatter(|rounds| rounds, burst);
    let (middle, told, centre) = scatter(counting, burst);
    eprintln!("bursts: all pairs {all:.5}, what counts {middle:.5}, told {told:.5}");
    assert!(middle < 0.6 * all, "{middle} of {all}");
    assert!((0.85..=1.25).contains(&(told / middle)), "{told} of {middle}");
    assert!(centre.abs() < 0.0002, "{centre}");
    // Without bursts little is lost.
    let (all, _, _) = scatter(|rounds| rounds, |_| 0.0);
    let (middle, told, _) = scatter(counting, |_| 0.0);
    eprintln!("no bursts: all pairs {all:.5}, what counts {middle:.5}, told {told:.5}");
    assert!(middle < 1.15 * all, "{middle} of {all}");
    assert!((0.9..=1.15).contains(&(told / middle)), "{told} of {middle}");
}

#[test]
fn stalls_of_one_system_count() {
    let stall = |rng: &mut Rng| if rng.below(8) == 0 { -0.4 } else { 0.0 };
    let (_, _, centre) = scatter(counting, stall);
    eprintln!("stalls that cost 5 %: what counts {centre:.4}");
    assert!(centre < -0.04, "{centre}");
}

proptest! {
    #[test]
    fn what_counts_is_mirrored_exactly(
        logs in prop::collection::vec(prop::collection::vec(-1.0..1.0f64, 0..9), 1..5),
        turn in 0usize..5,
    ) {
        let there = counting(logs.clone());
        let negated = |rounds: &[Vec<f64>]| -> Vec<Vec<f64>> {
            rounds.iter().map(|round| round.iter().map(|d| -d).collect()).collect()
        };
        prop_assert_eq!(negated(&there), counting(negated(&logs)));
        let (mut turned, mut expected) = (logs, there);
        let turn = turn % turned.len();
        turned.rotate_left(turn);
        expected.rotate_left(turn);
        prop_assert_eq!(expected, counting(turned));
    }

    #[test]
    fn the_mirror_is_exact(
        logs in prop::collection::vec(prop::collection::vec(-1.0..1.0f64, 4..9), 1..5),
        turn in 0usize..5,
    ) {
        let there = SlicePairs::of(&logs);
        let negated = |round: &Vec<f64>| round.iter().map(|d| -d).collect();
        let back: Vec<Vec<f64>> = logs.iter().map(negated).collect();
        prop_assert_eq!(there, SlicePairs::of(&back));
        let mut turned = logs.clone();
        turned.rotate_left(turn % logs.len());
        prop_assert_eq!(there, SlicePairs::of(&turned));
    }
}
