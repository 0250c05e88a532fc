//! The tests of one group in a few numbers, as the published summaries have them.

use model::{Comparison, HostRounds};

use crate::hosts::replicates;
use crate::paired::Paired;
use crate::student::CONFIDENCE;
use crate::summary::{geometric_mean, max, mean, median, min};

/// The ratios of a group of tests of one candidate to the base.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GroupSummary {
    pub tests: u32,
    pub min: f64,
    pub max: f64,
    /// The arithmetic mean: the average of the published tables.
    pub average: f64,
    pub median: f64,
    /// The geometric mean, the only one that does not depend on which side is the base.
    pub geometric_mean: f64,
    /// That of 95 %, from the rounds that are complete for all of these tests; `None` with fewer than two.
    pub ends: Option<(f64, f64)>,
}

/// Summarises the comparisons of one candidate in the tests of one group; those without a ratio are
/// left out, `None` where none has one.
///
/// The interval comes from the rounds, as every other: the mean log ratio over the tests is one number
/// a round, mean ± t(0.975, n−1)·s/√n. If three or more of the run's `hosts` measured the rounds, it is one number a
/// host. The interval shows how well the mean of these tests is known, not what other tests would show.
pub fn summarise(comparisons: &[&Comparison], hosts: &[HostRounds]) -> Option<GroupSummary> {
    let with_ratio = comparisons
        .iter()
        .filter_map(|c| Some((*c, c.ratio.filter(|r| r.is_finite() && *r > 0.0)?)));
    let (used, ratios): (Vec<&Comparison>, Vec<f64>) = with_ratio.unzip();
    let by_rounds = Paired::of(&replicates(hosts, &means_of_rounds(&used)));
    Some(GroupSummary {
        tests: ratios.len() as u32,
        min: min(&ratios)?,
        max: max(&ratios)?,
        average: mean(&ratios)?,
        median: median(&ratios)?,
        geometric_mean: match by_rounds {
            Some(rounds) => rounds.ratio(),
            None => geometric_mean(&ratios)?,
        },
        ends: by_rounds
            .and_then(|rounds| rounds.interval(CONFIDENCE))
            .map(|(low, high)| (low.exp(), high.exp())),
    })
}

/// For each round that is complete in all of them, the mean of their log ratios.
fn means_of_rounds(comparisons: &[&Comparison]) -> Vec<(u32, f64)> {
    let Some(first) = comparisons.first() else { return Vec::new() };
    let of_round = |round: u32| -> Option<f64> {
        let logs = comparisons.iter().map(|c| {
            let (_, ratio) = c.pairs.iter().find(|(r, _)| *r == round)?;
            Some(ratio.ln()).filter(|log| log.is_finite())
        });
        mean(&logs.collect::<Option<Vec<f64>>>()?)
    };
    first.pairs.iter().filter_map(|(round, _)| Some((*round, of_round(*round)?))).collect()
}
