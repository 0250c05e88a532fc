//! Statistics without the normal distribution: the permutation test and the median of means,
//! beside the t-test and the mean.

use crate::paired::{Paired, sum};

/// With fewer rounds the smallest p-value there can be is above 1 in 20.
const FEWEST: usize = 6;

/// With more, the flips are too many to be gone through for every cell of a report.
const MOST: usize = 24;

/// Two sums that differ by less than this share of all values are the same: rounding.
const SAME: f64 = 1e-9;

/// The exact two-sided p-value of "no difference" by permutation: the share of the 2ⁿ ways to set
/// the signs of the log ratios whose mean is at least as far from zero as the one found. `None`
/// for fewer than 6 and more than 24 rounds.
///
/// If base and candidate are alike, each round could as well have come out the other way round
/// (Fisher 1935, *The Design of Experiments*, §21). The sums of two halves are made separately
/// and put together by search, so that 2^(n/2) of them are enough.
pub fn sign_flip(logs: &[f64]) -> Option<f64> {
    if !(FEWEST..=MOST).contains(&logs.len()) || logs.iter().any(|d| !d.is_finite()) {
        return None;
    }
    let sizes: Vec<f64> = logs.iter().map(|d| d.abs()).collect();
    let far = sum(logs).abs() - SAME * sum(&sizes);
    if far <= 0.0 {
        return Some(1.0);
    }
    let (left, right) = logs.split_at(logs.len() / 2);
    let mut right = signed_sums(right);
    right.sort_unstable_by(f64::total_cmp);
    let as_far = |left: f64| {
        let above = right.len() - right.partition_point(|right| left + right < far);
        above + right.partition_point(|right| left + right <= -far)
    };
    let flips: usize = signed_sums(left).into_iter().map(as_far).sum();
    Some(flips as f64 / 2.0_f64.powi(logs.len() as i32))
}

fn signed_sums(values: &[f64]) -> Vec<f64> {
    values.iter().fold(vec![0.0_f64], |sums, value| {
        sums.iter().flat_map(|sum| [sum + value, sum - value]).collect()
    })
}

/// The median of the means of all pairs, each value with itself among them: an estimate of the
/// centre that a few wild values hardly move. `None` for no value and for one that is not finite.
///
/// Hodges & Lehmann 1963, *Estimates of location based on rank tests*, Ann. Math. Statist. 34(2).
pub fn hodges_lehmann(values: &[f64]) -> Option<f64> {
    if values.is_empty() || values.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let pairs = sorted.len() * (sorted.len() + 1) / 2;
    let upper = mean_at(&sorted, pairs / 2);
    if pairs % 2 == 1 {
        return Some(upper);
    }
    Some(f64::midpoint(mean_at(&sorted, pairs / 2 - 1), upper))
}

/// The mean at place `rank` in the order of the means of all pairs of sorted values; there are more than
/// `rank` pairs.
///
/// They are not made: 10,000 rounds have 50 million. How many are at most `x` is counted by going through
/// the values once, and halving the doubles between the lowest and the highest value, 64 times at most,
/// finds the smallest `x` that enough of them reach. That is one of the means, to the last bit.
fn mean_at(sorted: &[f64], rank: usize) -> f64 {
    let (Some(first), Some(last)) = (sorted.first(), sorted.last()) else { return f64::NAN };
    let (mut low, mut high) = (place_of(*first), place_of(*last));
    while low < high {
        let middle = u64::midpoint(low, high);
        if means_up_to(sorted, double_at(middle)) > rank {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    double_at(low)
}

/// How many means of pairs are at most `x`.
fn means_up_to(sorted: &[f64], x: f64) -> usize {
    let mut count = 0;
    // The higher the one of a pair, the fewer others are low enough.
    let mut end = sorted.len();
    for (place, one) in sorted.iter().enumerate() {
        let is_above = |other: f64| f64::midpoint(*one, other).total_cmp(&x).is_gt();
        while end > place && is_above(sorted[end - 1]) {
            end -= 1;
        }
        if end <= place {
            break;
        }
        count += end - place;
    }
    count
}

/// The bit of a double that says whether it is negative.
const SIGN: u64 = 1 << 63;

/// The place of a value among all doubles, in the order of [`f64::total_cmp`].
fn place_of(value: f64) -> u64 {
    let bits = value.to_bits();
    if bits & SIGN == 0 { bits | SIGN } else { !bits }
}

fn double_at(place: u64) -> f64 {
    f64::from_bits(if place & SIGN == 0 { !place } else { place & !SIGN })
}

/// Twice the standard error of the mean without the value that is farthest from `centre`; `None` for fewer than 6 values.
/// A single wild value makes the standard error of all as large as its own pull, so that it would hide itself. Of six
/// normal values 1 set in 100 then has a wild one, of twelve 1 in 1000.
pub(crate) fn quiet_error(values: &[f64], centre: f64) -> Option<f64> {
    let distance = |value: &f64| (value - centre).abs();
    let far = |a: &usize, b: &usize| distance(&values[*a]).total_cmp(&distance(&values[*b]));
    let farthest = (0..values.len()).filter(|_| values.len() >= FEWEST).max_by(far)?;
    let (before, rest) = values.split_at(farthest);
    let others = [before, &rest[1..]].concat();
    let of_others = Paired::of(&others)?;
    Some(2.0 * of_others.sd? / f64::from(of_others.rounds).sqrt())
}

/// The rounds that pull the mean away from `centre` by more than its standard error: the outermost
/// ones, as many as have to be left out until it no longer is. Empty where mean and centre agree.
/// They are marked, not dropped.
pub(crate) fn outlying(rounds: &[(u32, f64)], centre: f64, error: f64) -> Vec<u32> {
    let off = rounds.iter().map(|(round, log)| (*round, log - centre));
    let mut left: Vec<(u32, f64)> = off.collect();
    let mut all = sum(&left.iter().map(|(_, off)| *off).collect::<Vec<f64>>());
    let mut outlying = Vec::new();
    while !left.is_empty() {
        let pull = all / left.len() as f64;
        if pull.abs() <= error {
            break;
        }
        let reach = |(_, off): &(u32, f64)| off * pull.signum();
        let farthest = (0..left.len()).max_by(|a, b| reach(&left[*a]).total_cmp(&reach(&left[*b])));
        let Some(farthest) = farthest else { break };
        let (round, off) = left.swap_remove(farthest);
        all -= off;
        outlying.push(round);
    }
    outlying.sort_unstable();
    outlying
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Darwin's maize, crossed less self-fertilised, in eighths of an inch (Fisher 1935, §17). In
    /// 863 of the 32,768 ways the sum is at least the 314 found, so the test gives 5.267 % (§21).
    const MAIZE: [f64; 15] =
        [49.0, -67.0, 8.0, 16.0, 6.0, 23.0, 28.0, 41.0, 14.0, 29.0, 56.0, 24.0, 75.0, 60.0, -48.0];

    #[test]
    fn fishers_own_example() {
        assert_eq!(sign_flip(&MAIZE), Some(2.0 * 863.0 / 32_768.0));
    }

    #[test]
    fn six_rounds_that_agree_leave_two_of_64_ways() {
        let rounds = [0.01, 0.02, 0.03, 0.01, 0.02, 0.03];
        assert_eq!(sign_flip(&rounds), Some(2.0 / 64.0));
        assert_eq!(sign_flip(&[0.0; 6]), Some(1.0));
        assert_eq!(sign_flip(&rounds[..5]), None);
        assert_eq!(sign_flip(&[0.1; 25]), None);
        assert_eq!(sign_flip(&[f64::NAN; 6]), None);
    }

    /// Hollander & Wolfe 1973, *Nonparametric Statistical Methods*, table 3.1: Hamilton's scale
    /// of depression before and after a tranquilizer; the estimate is −0.46.
    #[test]
    #[expect(clippy::approx_constant, reason = "a patient's score, not π")]
    fn hollander_and_wolfes_example() {
        let before = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30];
        let after = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29];
        let change: Vec<f64> = before.iter().zip(after).map(|(b, a)| a - b).collect();
        let centre = hodges_lehmann(&change).unwrap();
        assert!((centre + 0.46).abs() < 0.005, "{centre}");
        assert_eq!(hodges_lehmann(&[]), None);
    }

    #[test]
    fn a_wild_round_is_named_and_a_wide_spread_is_not_wild() {
        let outlying = |rounds: &[(u32, f64)], error: f64| {
            let logs: Vec<f64> = rounds.iter().map(|(_, log)| *log).collect();
            outlying(rounds, hodges_lehmann(&logs).unwrap(), error)
        };
        let rounds = |logs: &[f64]| (1..).zip(logs.iter().copied()).collect::<Vec<_>>();
        let wild = rounds(&[0.010, 0.011, -0.400, 0.009, 0.010, 0.012]);
        assert_eq!(outlying(&wild, 0.005), [3]);
        assert!(outlying(&wild, 0.1).is_empty());
        let wide = rounds(&[-0.03, 0.01, 0.02, -0.02, 0.03, -0.01]);
        assert!(outlying(&wide, 0.005).is_empty());
        assert!(super::outlying(&[], 0.0, 0.1).is_empty());
        assert!(outlying(&rounds(&[0.1; 4]), 0.0).is_empty());
    }

    #[test]
    fn a_single_wild_value_does_not_hide_itself() {
        let logs = [0.001, -0.002, 0.003, -4.6, 0.000, -0.001, 0.002, 0.001];
        let centre = hodges_lehmann(&logs).unwrap();
        let all = Paired::of(&logs).unwrap();
        let rounds: Vec<(u32, f64)> = (1..).zip(logs).collect();
        // Its pull is the standard error of all.
        assert!(outlying(&rounds, centre, all.sd.unwrap() / 8.0_f64.sqrt()).is_empty());
        assert_eq!(outlying(&rounds, centre, quiet_error(&logs, centre).unwrap()), [4]);
        assert_eq!(quiet_error(&logs[..5], centre), None);
    }

    /// Ten thousand rounds, which an imported run may have, make 50 million pairs.
    #[test]
    fn the_pairs_of_many_rounds_are_not_held() {
        let many: Vec<f64> = (0..10_000).map(|round| f64::from(round * round)).collect();
        let centre = hodges_lehmann(&many).unwrap();
        // Half of the pairs lie within the quarter of a circle: (x² + y²) / 2 = c at π/4 · 2c = n² / 2.
        let expected = 1e8 / std::f64::consts::PI;
        assert!((centre / expected - 1.0).abs() < 1e-3, "{centre}");
        let rounds: Vec<(u32, f64)> = (1..).zip(many).collect();
        let wild = outlying(&rounds, centre, 1e6);
        assert!(!wild.is_empty() && wild.last() == Some(&10_000));
    }

    proptest! {
        #[test]
        fn the_centre_is_the_median_of_the_means_of_all_pairs(
            values in prop::collection::vec(prop_oneof![-1.0..1.0f64, Just(0.0), Just(-0.5)], 1..40),
        ) {
            let pairs = values.iter().enumerate().flat_map(|(place, one)| {
                let others = values[place..].iter();
                others.map(move |other| f64::midpoint(*one, *other))
            });
            let median = crate::summary::median(&pairs.collect::<Vec<f64>>());
            prop_assert_eq!(hodges_lehmann(&values), median);
        }

        #[test]
        fn neither_knows_side_or_order(
            logs in prop::collection::vec(-1.0..1.0f64, 6..14),
            turn in 0usize..14,
        ) {
            let back: Vec<f64> = logs.iter().map(|d| -d).collect();
            prop_assert_eq!(sign_flip(&logs), sign_flip(&back));
            prop_assert_eq!(hodges_lehmann(&logs), hodges_lehmann(&back).map(|c| -c));
            let mut turned = logs.clone();
            turned.rotate_left(turn % logs.len());
            prop_assert_eq!(sign_flip(&logs), sign_flip(&turned));
            prop_assert_eq!(hodges_lehmann(&logs), hodges_lehmann(&turned));
        }

        #[test]
        fn the_search_finds_what_counting_finds(logs in prop::collection::vec(-1.0..1.0f64, 6..9)) {
            let found: f64 = logs.iter().sum();
            let counted = signed_sums(&logs)
                .into_iter()
                .filter(|sum| sum.abs() >= found.abs() - 1e-9)
                .count();
            let share = counted as f64 / 2.0_f64.powi(logs.len() as i32);
            prop_assert_eq!(sign_flip(&logs), Some(share));
        }
    }
}
