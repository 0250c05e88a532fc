//! The families of a run: which cells tell something of each other's variance.

use std::collections::HashMap;

use model::{RunData, StepClass, System};

use crate::grid::{Grid, MetricRow, Round, logs, variance_within};
use crate::moderate::{Family, Prior};
use crate::paired::Paired;

/// The following systems in the plan that each is paired with: of hundreds, looking at all would take too long.
const NEIGHBOURS: usize = 8;

/// How far two starts of a server are apart, whatever their slices say: a standard deviation of log ratios.
pub(crate) const OF_A_START: f64 = 0.005;

/// The expected variances of a run: by metric and class of step, apart for those in slices.
pub(crate) struct Priors(HashMap<Which, Prior>);

type Which = (usize, StepClass, bool);

impl Priors {
    /// From all pairs of systems, whichever is the base: so a comparison and its reverse rest on the same.
    pub(crate) fn of(grid: &Grid<'_>, data: &RunData) -> Self {
        let plan = &data.info.plan;
        let mut families: HashMap<Which, Family> = HashMap::new();
        for row in grid.rows.values() {
            add(families.entry(which(row, data)).or_default(), row, &plan.systems);
        }
        let fitted =
            families.into_iter().filter_map(|(which, family)| Some((which, Prior::fit(&family)?)));
        Self(fitted.collect())
    }

    /// The expected variance of a cell with these rounds; `None` if its family is too small.
    pub(crate) fn of_cell(
        &self,
        row: &MetricRow<'_>,
        rounds: &[Round],
        data: &RunData,
    ) -> Option<Prior> {
        Some(self.0.get(&which(row, data))?.times(unit(row, rounds)?))
    }
}

fn which(row: &MetricRow<'_>, data: &RunData) -> Which {
    (row.metric, data.class_of(row.first.ordinal, &row.first.step), row.is_sliced())
}

/// The divisor that makes a cell's variance comparable within its family; 1 without slices.
///
/// How much a round's mean scatters by what its own slices do is known of each step, and differs by a factor of
/// hundred between them. What is left is alike: a variance beyond what slices and starts explain (a prior whose
/// mean follows a covariate: Sartor et al. 2006, *Intensity-based hierarchical Bayes method improves testing for
/// differentially expressed genes in microarray experiments*, BMC Bioinformatics 7:538). `None` where slices are
/// missing.
fn unit(row: &MetricRow<'_>, rounds: &[Round]) -> Option<f64> {
    if !row.is_sliced() {
        return Some(1.0);
    }
    Some(variance_within(rounds)? + OF_A_START * OF_A_START)
}

fn add(family: &mut Family, row: &MetricRow<'_>, systems: &[System]) {
    let present: Vec<&System> = systems.iter().filter(|s| row.has(&s.name)).collect();
    let before = family.variances.len();
    let mut is_paired = vec![false; present.len()];
    let mut most = 0.0_f64;
    for (place, one) in present.iter().enumerate() {
        for (after, other) in present.iter().enumerate().skip(place + 1).take(NEIGHBOURS) {
            if row.different_units(&one.name, &other.name).is_some() {
                continue;
            }
            let rounds = row.complete_rounds(&one.name, &other.name);
            let paired = logs(&rounds).and_then(|logs| Paired::of(&logs));
            let paired = paired.and_then(|p| Some((p, p.sd?)));
            let (Some((paired, sd)), Some(unit)) = (paired, unit(row, &rounds)) else { continue };
            family.variances.push((sd * sd / unit, paired.df()));
            most = most.max(paired.df());
            is_paired[place] = true;
            is_paired[after] = true;
        }
    }
    if most > 0.0 {
        // All pairs of k systems are made of k − 1 independent differences.
        let systems = is_paired.into_iter().filter(|paired| *paired).count();
        let pairs = family.variances.len() - before;
        let candidates = pairs.min(systems.saturating_sub(1));
        family.cells += candidates as u32;
        family.df += candidates as f64 * most;
    }
}
