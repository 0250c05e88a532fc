//! The smallest change that a run detects, and the rounds and lengths of steps that detect most in a given time.

use std::ops::RangeInclusive;

use model::{Evidence, FEWEST_ROUNDS, Nanos, Scatter};

use crate::family::OF_A_START;
use crate::looks::{Looks, tail_among};
use crate::options::USUAL_Q;
use crate::paired::weight_of_pairs;
use crate::power::distance;
use crate::student::{FEWEST_STARTS, t_critical, z_critical};
use crate::summary::median;
use crate::verdict::{START_EFFECT, log_margin};

/// A change is detectable if a run calls it with this probability.
const DETECTED: f64 = 0.8;

/// The share of a whole step's variance that a longer window reduces. A step without slices does not show it.
const OF_THE_WINDOW: f64 = 0.5;

/// The rule that calls a change in one step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Calling {
    /// The steps that share the error.
    pub steps: u32,
    /// As a fraction.
    pub margin: f64,
    /// The rounds before the first look, if the number of rounds is not fixed.
    pub first_look: Option<u32>,
}

/// How much a step scatters, from a comparison over windows of this length; `None` for a fixed amount of work.
///
/// Slices show how much of a round's variance comes from the window: at most all of it, because slices that make up
/// for one another show too much. The rest is at least what two starts are expected to differ by.
/// Pairs that scatter more than rounds widened `sd`, with a weight that depends on the number of rounds; the excess is
/// without that weight.
pub fn scatter(evidence: &Evidence, window: Option<Nanos>) -> Scatter {
    let sd = if window.is_some() { evidence.sd_of_rounds } else { evidence.sd };
    let whole = sd * sd;
    let (within, least) = match (evidence.within, window) {
        (_, None) => (0.0, 0.0),
        (None, Some(_)) => (OF_THE_WINDOW * whole, 0.0),
        (Some(within), Some(_)) => (within.min(whole), OF_A_START * OF_A_START),
    };
    let between = (whole - within).max(least);
    let seconds = window.map_or(1.0, Nanos::as_secs_f64);
    let replicates = (evidence.df - evidence.prior_df).round() as u32 + 1;
    let widened = evidence.sd * evidence.sd - whole;
    let excess = seconds * widened / weight_of_pairs(replicates);
    Scatter { between, within: within * seconds, excess, prior_df: evidence.prior_df }
}

/// The smallest change, as a fraction, that so many rounds with windows of this length call with probability 0.8,
/// if no other step changes; infinite without a verdict.
///
/// A change µ is called if the test rejects and the mean is beyond the margin. The test statistic has a noncentral t
/// distribution with λ = µ√n/σ, the distance. Benjamini and Hochberg's rule gives a change that stands alone the
/// level q ÷ steps. Of several looks the last one counts.
pub fn detectable(scatter: &Scatter, seconds: f64, rounds: u32, calling: &Calling) -> f64 {
    if rounds < FEWEST_ROUNDS {
        return f64::INFINITY;
    }
    let looks = calling.first_look.filter(|first| *first < rounds);
    let looks = looks.and_then(|first| Looks::new(first, rounds));
    let n = f64::from(rounds);
    let within = scatter.within + weight_of_pairs(rounds) * scatter.excess;
    let error = ((scatter.between + within / seconds) / n).sqrt();
    let df = n - 1.0 + scatter.prior_df;
    let level = USUAL_Q / f64::from(calling.steps.max(1));
    let z = z_critical(1.0 - DETECTED);
    let distance = distance(t_critical(tail_among(looks, rounds, level), df), df, z);
    let least = if rounds < FEWEST_STARTS { log_margin(START_EFFECT) } else { 0.0 };
    let margin = log_margin(calling.margin).max(least);
    (distance * error).max(margin + z * error).exp_m1()
}

/// The same of the median step; `None` without steps.
pub fn in_median_step(
    steps: &[Scatter],
    seconds: f64,
    rounds: u32,
    calling: &Calling,
) -> Option<f64> {
    let each: Vec<f64> =
        steps.iter().map(|step| detectable(step, seconds, rounds, calling)).collect();
    median(&each)
}

/// The time of a run, and what a round takes of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Budget {
    pub time: Nanos,
    /// Before the first round.
    pub once: Nanos,
    /// A round with the shortest windows.
    pub round: Nanos,
    /// The windows of a round, at their shortest.
    pub windows: Nanos,
}

impl Budget {
    /// Of so many rounds, and windows up to so many times as long as the shortest, which last `seconds`: those that fit
    /// and detect the smallest change in the median step. `None` if nothing fits.
    pub fn choose(
        &self,
        steps: &[Scatter],
        seconds: f64,
        calling: &Calling,
        rounds: RangeInclusive<u32>,
        most: u32,
    ) -> Option<(u32, u32)> {
        let time = self.time.saturating_sub(self.once).0;
        let ways = rounds.filter_map(|rounds| {
            let left = (time / u64::from(rounds)).checked_sub(self.round.0)?;
            let more = (left / self.windows.0.max(1)).min(u64::from(most.saturating_sub(1)));
            let times = more as u32 + 1;
            let reach = in_median_step(steps, seconds * f64::from(times), rounds, calling)?;
            Some((reach, (rounds, times)))
        });
        ways.min_by(|(one, _), (other, _)| one.total_cmp(other)).map(|(_, way)| way)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::paired::Spread;
    use crate::power::{Situation, decides};
    use crate::student::Quantiles;

    #[test]
    fn agrees_with_a_textbook_power() {
        // One-sample t-test, two-sided 5 %, power 80 %. R: `power.t.test(n = 10, power = 0.8, type = "one.sample")`
        // gives an effect of 0.996 standard deviations; of 20 rounds 0.660, of 5 rounds 1.682.
        let z = z_critical(0.2);
        for (n, effect) in [(5.0, 1.682), (10.0, 0.996), (20.0, 0.660_f64)] {
            let found = distance(t_critical(0.025, n - 1.0), n - 1.0, z) / n.sqrt();
            assert!((found / effect - 1.0).abs() < 0.02, "{n}: {found}");
        }
    }

    const ALONE: Calling = Calling { steps: 1, margin: 0.0, first_look: None };

    #[test]
    fn a_change_must_be_certain_and_beyond_the_margin() {
        let quiet = Scatter { between: 1e-8, within: 0.0, excess: 0.0, prior_df: 0.0 };
        let with = |margin| detectable(&quiet, 1.0, 4, &Calling { margin, ..ALONE });
        assert!(with(0.0) < 0.001 && (with(0.02) - 0.02).abs() < 0.001, "{}", with(0.02));
        // Nothing is called after two rounds, and less than 2 % not after three.
        assert!(detectable(&quiet, 1.0, 2, &ALONE).is_infinite());
        assert!(detectable(&quiet, 1.0, 3, &ALONE) > 0.02);
        let noisy = Scatter { between: 1e-4, ..quiet };
        let alone = detectable(&noisy, 1.0, 6, &ALONE);
        let among = detectable(&noisy, 1.0, 6, &Calling { steps: 30, ..ALONE });
        let looked = detectable(&noisy, 1.0, 6, &Calling { first_look: Some(4), ..ALONE });
        let fixed = detectable(&noisy, 1.0, 6, &Calling { first_look: Some(6), ..ALONE });
        assert!(alone < looked && alone < among && (fixed - alone).abs() < f64::EPSILON);
    }

    #[test]
    fn what_is_detectable_takes_as_many_rounds_as_an_undecided_cell_needs() {
        let cases = [(4, None, 0.0), (8, None, 4e-4), (20, None, 4e-4), (12, Some(4), 0.0)];
        for (rounds, first_look, excess) in cases {
            let scatter = Scatter { between: 1e-4, within: 0.0, excess, prior_df: 6.0 };
            let calling = Calling { steps: 10, margin: 0.002, first_look };
            let effect = detectable(&scatter, 1.0, rounds, &calling).ln_1p();
            let decided = |mean, rounds| {
                let looks = first_look.and_then(|first| Looks::new(first, rounds));
                let (between, pairs) = (scatter.between, scatter.between + excess);
                let spread = Spread { rounds: between.sqrt(), pairs: pairs.sqrt() };
                let prior_df = scatter.prior_df;
                let (margin, alpha) = (log_margin(calling.margin), USUAL_Q / 10.0);
                let now = Situation { rounds: 3, mean, spread, prior_df, margin, alpha, looks };
                decides(&now, rounds, DETECTED, &Quantiles::default())
            };
            assert!(decided(1.001 * effect, rounds) && !decided(0.999 * effect, rounds));
            assert!(!decided(effect, rounds - 1), "{rounds}");
        }
    }

    #[test]
    fn the_scatter_seen_does_not_depend_on_the_rounds_that_showed_it() {
        let seen = |rounds: u32| {
            let spread = Spread { rounds: 0.01, pairs: 0.03 };
            let evidence = Evidence {
                sd: spread.after(rounds),
                sd_of_rounds: spread.rounds,
                df: f64::from(rounds - 1) + 2.5,
                prior_df: 2.5,
                margin: 0.0,
                p_value: 0.5,
                sign_flip: None,
                centre: 1.0,
                outlying: Vec::new(),
                slice_pairs: Some(20.0),
                within: Some(9e-4),
            };
            scatter(&evidence, Some(Nanos::from_secs(2)))
        };
        for rounds in [4, 20] {
            let seen = seen(rounds);
            assert!((seen.within - 2e-4).abs() < 1e-12 && (seen.excess - 16e-4).abs() < 1e-12);
        }
    }

    #[test]
    fn longer_windows_are_worth_it_where_windows_scatter() {
        let budget = |seconds| Budget {
            time: Nanos::from_secs(seconds),
            once: Nanos::from_secs(20),
            round: Nanos::from_secs(30),
            windows: Nanos::from_secs(10),
        };
        let chosen = |between, within, seconds| {
            let step = Scatter { between, within, excess: 0.0, prior_df: 6.0 };
            budget(seconds).choose(&[step], 2.0, &ALONE, 4..=20, 20)
        };
        assert_eq!(chosen(1e-4, 0.0, 100), None);
        assert_eq!(chosen(1e-4, 0.0, 140), Some((4, 1)));
        // Starts scatter: as many starts as fit. Windows scatter: time that starts would take.
        assert_eq!(chosen(1e-4, 0.0, 620), Some((20, 1)));
        let (rounds, times) = chosen(1e-8, 1e-2, 620).unwrap();
        assert!(rounds < 10 && times > 3, "{rounds} {times}");
    }

    fn steps() -> impl Strategy<Value = Vec<Scatter>> {
        let numbers = (1e-6..1e-3f64, 0.0..1e-1f64, 0.0..1e-1f64, 0.0..10.0f64);
        let step = numbers.prop_map(|(between, within, excess, prior_df)| Scatter {
            between,
            within,
            excess,
            prior_df,
        });
        prop::collection::vec(step, 1..6)
    }

    proptest! {
        #[test]
        fn nothing_that_fits_detects_less_than_what_is_chosen(
            steps in steps(),
            time in 60u64..4000,
            round in 5u64..120,
            windows in 1u64..60,
            first_look in prop::option::of(3u32..5),
        ) {
            let calling = Calling { steps: steps.len() as u32, margin: 0.02, first_look };
            let secs = Nanos::from_secs;
            let budget =
                Budget { time: secs(time), once: secs(7), round: secs(round), windows: secs(windows) };
            let needs = |rounds: u32, times: u32| {
                7 + u64::from(rounds) * (round + windows * u64::from(times - 1))
            };
            let reach = |rounds, times: u32| {
                in_median_step(&steps, 2.0 * f64::from(times), rounds, &calling).unwrap()
            };
            let all = (4..=20).flat_map(|rounds| (1..=20).map(move |times| (rounds, times)));
            let fits = all.filter(|(rounds, times)| needs(*rounds, *times) <= time);
            let best = fits.map(|(rounds, times)| reach(rounds, times)).reduce(f64::min);
            let chosen = budget.choose(&steps, 2.0, &calling, 4..=20, 20);
            prop_assert_eq!(chosen.map(|(rounds, times)| reach(rounds, times)), best);
            if let Some((rounds, times)) = chosen {
                prop_assert!(needs(rounds, times) <= time);
            }
        }

        #[test]
        fn more_rounds_longer_windows_and_less_noise_detect_more(
            between in 1e-6..1e-3f64,
            within in 1e-6..1e-1f64,
            excess in 0.0..1e-1f64,
            rounds in 3u32..20,
            seconds in 1.0..30.0f64,
        ) {
            let step = Scatter { between, within, excess, prior_df: 0.0 };
            let now = detectable(&step, seconds, rounds, &ALONE);
            prop_assert!(detectable(&step, seconds, rounds + 1, &ALONE) <= now);
            prop_assert!(detectable(&step, seconds + 1.0, rounds, &ALONE) <= now);
            let louder = Scatter { between: 2.0 * between, ..step };
            prop_assert!(detectable(&louder, seconds, rounds, &ALONE) >= now);
        }
    }
}
