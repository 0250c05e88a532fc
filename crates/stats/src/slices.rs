//! Steps that were measured in alternating slices: many pairs in a round, none of them by itself.

use crate::paired::{Paired, sum};

/// What slice pairs are worth, by themselves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SlicePairs {
    /// Pairs there are.
    pub pairs: u32,
    /// How many independent ones would be worth as much.
    pub effective: f64,
    /// The standard error of their mean.
    pub error: f64,
}

impl SlicePairs {
    /// From the log ratios of the pairs of each round, in the order of time; `None` for fewer than
    /// two pairs and for values that are not finite.
    ///
    /// Slices that follow each other are alike. The variance of the mean is `s²·τ/N`, where
    /// `τ = 1 + 2Σρ(k)`; the sum of autocorrelations ends where two that follow each other are
    /// together no longer positive (Geyer 1992, *Practical Markov chain Monte Carlo*, Statistical
    /// Science 7(4): the initial positive sequence). Products are taken within rounds only.
    /// Negative correlation, which would make pairs worth more than they are many, is not believed.
    pub fn of(rounds: &[Vec<f64>]) -> Option<Self> {
        let all: Vec<f64> = rounds.iter().flatten().copied().collect();
        let paired = Paired::of(&all)?;
        let variance = paired.sd? * paired.sd?;
        let pairs = all.len() as f64;
        let centred: Vec<Vec<f64>> = rounds
            .iter()
            .map(|round| round.iter().map(|log| log - paired.mean).collect())
            .collect();
        let effective = pairs / correlation_time(&centred);
        Some(Self {
            pairs: paired.rounds,
            effective,
            error: (variance / effective).sqrt(),
        })
    }
}

/// τ of series that have no mean, at least 1.
fn correlation_time(series: &[Vec<f64>]) -> f64 {
    let at = |lag: usize| {
        let of_round = |round: &Vec<f64>| -> f64 {
            let later = round.iter().skip(lag);
            later.zip(round).map(|(later, now)| later * now).sum()
        };
        sum(&series.iter().map(of_round).collect::<Vec<f64>>())
    };
    let longest = series.iter().map(Vec::len).max().unwrap_or(0);
    let nothing_apart = at(0);
    if nothing_apart <= 0.0 {
        return 1.0;
    }
    let positive: f64 = (0..longest)
        .step_by(2)
        .map(|lag| at(lag) + at(lag + 1))
        .take_while(|two| *two > 0.0)
        .sum();
    (2.0 * positive / nothing_apart - 1.0).max(1.0)
}

#[cfg(test)]
mod tests {
    use model::Rng;
    use proptest::prelude::*;

    use super::*;
    use crate::simulation::normal;

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

    proptest! {
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
}
