//! Steps that were measured in alternating slices: many pairs in a round, none of them by itself.

use crate::paired::{Paired, sum};
use crate::summary::mean;

/// By so many of its own standard errors the mean of all pairs must be away from that of their middle halves to
/// count instead.
const ONE_SIDED: f64 = 2.0;

/// The counted part of each round's pairs: values whose mean is the round's log ratio, and whose scatter says how
/// sure it is. From the log ratios of the pairs, in the order of time, by round.
///
/// Noise of a shared machine comes in bursts that are as long as some slices and meet the one system or the
/// other. The mean of the middle half of the pairs (the interquartile mean) does not follow them. What a system
/// does to itself, such as stalls, is on one side. Where there is so much of it that the mean of all pairs is
/// surely another, that counts, with all of its scatter. A few stalls in a run are not told from noise that way:
/// "unchanged" needs whole windows to agree, too.
pub(crate) fn counting(rounds: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    let steadied: Vec<Vec<f64>> = rounds.iter().map(|round| steadied(round)).collect();
    let (Some(all), Some(middle)) = (mean_of_rounds(&rounds), mean_of_rounds(&steadied)) else {
        return rounds;
    };
    let error = SlicePairs::of(&rounds).map_or(0.0, |pairs| pairs.error);
    if (all - middle).abs() > ONE_SIDED * error { rounds } else { steadied }
}

/// Values with the mean of the middle half of these, in their order; as they are where they are few or not
/// finite.
///
/// A quarter at either end is put to where the middle half ends (Winsor's way), and the distances from their
/// mean are drawn out by all ÷ middle half. The variance of their mean is so that of the trimmed mean:
/// Tukey and `McLaughlin` 1963, *Less vulnerable confidence and significance procedures*, Sankhyā A 25(3).
fn steadied(pairs: &[f64]) -> Vec<f64> {
    if !pairs.iter().all(|log| log.is_finite()) {
        return pairs.to_vec();
    }
    let mut sorted = pairs.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let cut = sorted.len() / 4;
    let middle = sorted.get(cut..sorted.len() - cut).unwrap_or_default();
    let (Some(low), Some(high)) = (middle.first(), middle.last()) else { return Vec::new() };
    let held: Vec<f64> = pairs.iter().map(|log| log.clamp(*low, *high)).collect();
    let of_held: f64 = held.iter().sum();
    // In the order of time, so that the mirror is exact.
    let of_middle = (of_held - cut as f64 * (low + high)) / middle.len() as f64;
    let of_held = of_held / held.len() as f64;
    let drawn_out = sorted.len() as f64 / middle.len() as f64;
    held.into_iter().map(|log: f64| of_middle + (log - of_held) * drawn_out).collect()
}

/// The mean of the rounds' means; `None` if none has one.
fn mean_of_rounds(rounds: &[Vec<f64>]) -> Option<f64> {
    let means: Vec<f64> = rounds.iter().filter_map(|round| mean(round)).collect();
    Paired::of(&means).map(|rounds| rounds.mean)
}

fn centred(round: &[f64], mean: f64) -> Vec<f64> {
    round.iter().map(|log| log - mean).collect()
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SlicePairs {
    pub pairs: u32,
    /// How many independent ones would be worth as much.
    pub effective: f64,
    pub error: f64,
}

/// The variance of a round's mean by its own pairs, on average; `None` where a round has fewer than two.
pub(crate) fn variance_of_round(rounds: &[&[f64]]) -> Option<f64> {
    let centred = rounds.iter().map(|round| Some(centred(round, mean(round)?)));
    let centred = centred.collect::<Option<Vec<Vec<f64>>>>()?;
    let correlation = correlation_time(&centred);
    let variances = centred.iter().map(|round| {
        let pairs = round.len() as f64;
        (pairs > 1.0).then(|| squares(round) / (pairs - 1.0) * correlation / pairs)
    });
    Some(Paired::of(&variances.collect::<Option<Vec<f64>>>()?)?.mean)
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
        let sums: Vec<f64> = rounds.iter().map(|round| round.iter().sum()).collect();
        let count: usize = rounds.iter().map(Vec::len).sum();
        let pairs = count as f64;
        let mean = sum(&sums) / pairs;
        if count < 2 || !mean.is_finite() {
            return None;
        }
        let centred: Vec<Vec<f64>> = rounds.iter().map(|round| centred(round, mean)).collect();
        let squares: Vec<f64> = centred.iter().map(|round| squares(round)).collect();
        let variance = sum(&squares) / (pairs - 1.0);
        let effective = pairs / correlation_time(&centred);
        Some(Self { pairs: count as u32, effective, error: (variance / effective).sqrt() })
    }
}

fn squares(values: &[f64]) -> f64 {
    values.iter().map(|value| value * value).sum()
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
    let positive: f64 =
        (0..longest).step_by(2).map(|lag| at(lag) + at(lag + 1)).take_while(|two| *two > 0.0).sum();
    (2.0 * positive / nothing_apart - 1.0).max(1.0)
}

#[cfg(test)]
mod tests;
