//! The families of a run: which cells tell something of each other's variance.

use std::collections::HashMap;

use model::{RunData, System};

use crate::class::Class;
use crate::grid::{Grid, Place, Row, logs};
use crate::moderate::{Family, Prior};
use crate::paired::Paired;

/// Each system is put beside so many of those that follow it in the plan. With fewer systems these
/// are all pairs; with hundreds, looking at all would take longer than it tells.
const NEIGHBOURS: usize = 8;

/// What is expected of the variances of a run, by metric and class of step.
pub(crate) struct Priors(HashMap<(usize, Class), Prior>);

impl Priors {
    /// From all pairs of systems, whichever of them is the base: so a comparison and its reverse
    /// rest on the same, and so do those of different candidates.
    pub(crate) fn of(grid: &Grid<'_>, data: &RunData) -> Self {
        let plan = &data.info.plan;
        let mut families: HashMap<(usize, Class), Family> = HashMap::new();
        for ((_, step, metric), row) in &grid.rows {
            let class = Class::of(&plan.workload, step);
            let family = families.entry((*metric, class)).or_default();
            add(family, row, &plan.systems);
        }
        let fitted = families
            .into_iter()
            .filter_map(|(which, family)| Some((which, Prior::fit(&family)?)));
        Self(fitted.collect())
    }

    /// Those of a row's family; `None` where the family is too small.
    pub(crate) fn of_row(&self, place: &Place<'_>, data: &RunData) -> Option<&Prior> {
        let (_, step, metric) = place;
        let class = Class::of(&data.info.plan.workload, step);
        self.0.get(&(*metric, class))
    }
}

/// Adds the cells of one step.
fn add(family: &mut Family, row: &Row<'_>, systems: &[System]) {
    let present: Vec<&System> = systems.iter().filter(|s| row.has(&s.name)).collect();
    let mut most = 0.0_f64;
    for (place, one) in present.iter().enumerate() {
        for other in present.iter().skip(place + 1).take(NEIGHBOURS) {
            if row.different_units(&one.name, &other.name).is_some() {
                continue;
            }
            let rounds = row.complete_rounds(&one.name, &other.name);
            let paired = logs(&rounds).and_then(|logs| Paired::of(&logs));
            let Some((paired, sd)) = paired.and_then(|p| Some((p, p.sd?))) else {
                continue;
            };
            family.variances.push((sd * sd, paired.df()));
            most = most.max(paired.df());
        }
    }
    if most > 0.0 {
        // All pairs of k systems are made of k − 1 independent differences.
        let candidates = present.len().saturating_sub(1);
        family.cells += candidates as u32;
        family.df += candidates as f64 * most;
    }
}
