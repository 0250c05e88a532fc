//! The input, indexed: who is compared with whom, and every value by its coordinates.

mod index;

use std::collections::{BTreeSet, HashMap, HashSet};

use model::{Comparison, Counts, MetricId, StepInfo, StepSeries, Unit, Verdict, WorkloadSpec};

use self::index::{Key, OfStep, Place, Values};
use crate::Input;
use crate::groups::{self, StepGroup};
use crate::spread::median;
use crate::sweep::Sweep;
use crate::transactions::Transactions;

/// A system as the report shows it.
#[derive(Clone, Debug)]
pub(crate) struct Seen<'a> {
    /// Its name.
    pub(crate) name: &'a str,
    /// The letter by which charts name it: `A`, `B`, … `Z`, `AA`.
    pub(crate) key: String,
    /// Its place in every table, which also gives its colour and marker.
    pub(crate) index: usize,
    /// Is it what the others are compared with?
    pub(crate) is_base: bool,
    /// Is it the second copy of the base?
    pub(crate) is_control: bool,
}

/// The input with indexes over it.
pub(crate) struct View<'a> {
    /// What it was made from.
    pub(crate) input: &'a Input<'a>,
    /// Name of the system that the others are compared with.
    pub(crate) base: &'a str,
    /// All systems: those of the plan in its order, then any others that were measured.
    pub(crate) systems: Vec<Seen<'a>>,
    /// The measured steps in the order in which they are listed.
    pub(crate) steps: Vec<StepInfo>,
    /// The headings above them.
    pub(crate) groups: Vec<StepGroup>,
    /// Tests at several client counts, where the run has any.
    pub(crate) sweep: Option<Sweep>,
    /// Do tables leave out the steps in which nothing certainly differs?
    pub(crate) differing_only: bool,
    /// Is the report made to be passed on, and short?
    pub(crate) is_brief: bool,
    values: HashMap<Key<'a>, Values>,
    comparisons: HashMap<Key<'a>, &'a Comparison>,
    by_place: HashMap<Place<'a>, Vec<&'a Comparison>>,
    by_step: HashMap<&'a str, OfStep<'a>>,
    /// Every name that is part of a key: turns a name from anywhere into the input's own.
    names: HashSet<&'a str>,
}

impl<'a> View<'a> {
    pub(crate) fn new(input: &'a Input<'a>) -> Self {
        let plan = &input.data.info.plan;
        let base = input
            .comparisons
            .first()
            .map_or(plan.base.as_str(), |c| c.base.as_str());
        let values = index::values(input);
        let comparisons = index::comparisons(input);
        let keys = values.keys().chain(comparisons.keys());
        let steps = groups::ordered(&input.data.steps, &plan.workload);
        let by_step = index::by_step(input, &steps, &values);
        Self {
            input,
            base,
            systems: systems(input, base),
            groups: groups::groups(&steps, &plan.workload),
            sweep: Sweep::of(&steps, &plan.workload),
            steps,
            differing_only: false,
            is_brief: false,
            names: keys.flat_map(|k| [k.0, k.1, k.3]).collect(),
            values,
            comparisons,
            by_place: index::by_place(input),
            by_step,
        }
    }

    /// The same of only some of its systems, by their places: tables and charts leave the others out.
    pub(crate) fn only(mut self, kept: &BTreeSet<usize>) -> Self {
        self.systems.retain(|system| kept.contains(&system.index));
        self
    }

    /// Systems other than the base.
    pub(crate) fn candidates(&self) -> impl Iterator<Item = &Seen<'a>> {
        self.systems.iter().filter(|s| !s.is_base)
    }

    /// Has a table a row for each step and a column for each system, rather than the reverse? Workloads
    /// of SQL statements have dozens of steps.
    pub(crate) fn is_by_step(&self) -> bool {
        match self.input.data.info.plan.workload {
            WorkloadSpec::Insert(_) | WorkloadSpec::Tpcc(_) => false,
            WorkloadSpec::Sql(_) => true,
        }
    }

    /// Did transactions of the TPC-C-like workload run?
    pub(crate) fn has_transactions(&self) -> bool {
        Transactions::of(self).is_some()
    }

    /// Does a metric of this step certainly differ for any candidate but the control?
    pub(crate) fn differs(&self, step: &StepInfo, metric: &str) -> bool {
        self.candidates()
            .filter(|s| !s.is_control)
            .filter_map(|s| self.comparison(s.name, step, metric))
            .any(|c| is_certain(&c.verdict))
    }

    /// Is this metric of this step listed?
    pub(crate) fn lists(&self, step: &StepInfo, metric: &str) -> bool {
        self.unit(step, metric).is_some() && (!self.differing_only || self.differs(step, metric))
    }

    /// Is there anything to compare with the base?
    pub(crate) fn has_candidates(&self) -> bool {
        self.candidates().next().is_some()
    }

    /// The values of one metric of one system in one step, by round.
    pub(crate) fn values(&self, system: &str, step: &StepInfo, metric: &str) -> Option<&Values> {
        self.values.get(&self.key(system, step, metric)?)
    }

    fn key(&self, system: &str, step: &StepInfo, metric: &str) -> Option<Key<'a>> {
        let (system, name, clients) = self.place(system, step)?;
        Some((system, name, clients, self.name(metric)?))
    }

    fn place(&self, system: &str, step: &StepInfo) -> Option<Place<'a>> {
        Some((self.name(system)?, self.name(&step.step.0)?, step.clients))
    }

    fn name(&self, name: &str) -> Option<&'a str> {
        self.names.get(name).copied()
    }

    /// Their median over the rounds.
    pub(crate) fn median(&self, system: &str, step: &StepInfo, metric: &str) -> Option<f64> {
        let values = self.values(system, step, metric)?;
        median(values.rounds.iter().map(|(_, v)| *v))
    }

    /// The comparison of a system with the base.
    pub(crate) fn comparison(
        &self,
        system: &str,
        step: &StepInfo,
        metric: &str,
    ) -> Option<&'a Comparison> {
        let key = self.key(system, step, metric)?;
        self.comparisons.get(&key).copied()
    }

    /// All comparisons of a system with the base in a step.
    pub(crate) fn compared(&self, system: &str, step: &StepInfo) -> &[&'a Comparison] {
        let place = self.place(system, step);
        let compared = place.and_then(|place| self.by_place.get(&place));
        compared.map(Vec::as_slice).unwrap_or_default()
    }

    /// The metric that decides a step: throughput, unless the plan says its rate or looks for the highest.
    pub(crate) fn deciding(&self, step: &StepInfo) -> MetricId {
        self.input.data.info.plan.workload.deciding_metric(step)
    }

    /// Is a step decided by its throughput?
    pub(crate) fn is_of_throughput(&self, step: &StepInfo) -> bool {
        self.deciding(step).0 == MetricId::RATE
    }

    /// The comparison of a system with the base in the metric that decides a step.
    pub(crate) fn decision(&self, system: &str, step: &StepInfo) -> Option<&'a Comparison> {
        self.comparison(system, step, &self.deciding(step).0)
    }

    /// Those of one system, in the order of the steps.
    pub(crate) fn decisions(&self, system: &str) -> Vec<&'a Comparison> {
        self.steps
            .iter()
            .filter_map(|step| self.decision(system, step))
            .collect()
    }

    /// The unit of a metric in a step, from the first system that has it.
    pub(crate) fn unit(&self, step: &StepInfo, metric: &str) -> Option<Unit> {
        self.systems
            .iter()
            .find_map(|s| self.values(s.name, step, metric))
            .map(|v| v.unit)
    }

    /// Was this metric measured for any system in any step?
    pub(crate) fn has(&self, metric: &str) -> bool {
        self.steps
            .iter()
            .any(|step| self.unit(step, metric).is_some())
    }

    /// The unit of a step's throughput.
    pub(crate) fn rate_unit(&self, step: &StepInfo) -> Unit {
        self.unit(step, MetricId::RATE)
            .unwrap_or(if step.counts.is_rows() {
                Unit::RowsPerSecond
            } else {
                Unit::OpsPerSecond
            })
    }

    /// The same as people read it: what transactions of several statements do is counted in statements.
    pub(crate) fn rate_unit_name(&self, step: &StepInfo) -> &'static str {
        match step.counts {
            Counts::Statements(_) => "statements/s",
            Counts::Rows | Counts::Operations => self.rate_unit(step).name(),
        }
    }

    /// A step's name; with its clients where the workload has the step several times.
    pub(crate) fn label(&self, step: &StepInfo) -> String {
        let of_step = self.by_step.get(step.step.0.as_str());
        if of_step.is_some_and(|of_step| of_step.places.len() > 1) {
            format!("{} ×{}", step.step, step.clients)
        } else {
            step.step.0.clone()
        }
    }

    /// The operation kinds of a step of which any ended: what it is about first, the others by name.
    pub(crate) fn kinds(&self, step: &StepInfo) -> Vec<String> {
        let of_step = self.by_step.get(step.step.0.as_str());
        let others = of_step.into_iter().flat_map(|of_step| &of_step.kinds);
        let (subject, others): (Vec<&str>, Vec<&str>) =
            others.copied().partition(|kind| *kind == step.subject);
        subject
            .into_iter()
            .chain(others)
            .map(str::to_owned)
            .collect()
    }

    /// The series of one system in one step, a round each.
    pub(crate) fn series(&self, system: &str, step: &StepInfo) -> Vec<&'a StepSeries> {
        let of_step = self.by_step.get(step.step.0.as_str());
        let series = of_step.into_iter().flat_map(|of_step| &of_step.series);
        series.copied().filter(|s| s.system == system).collect()
    }

    /// The step that a comparison is of.
    pub(crate) fn step_of(&self, comparison: &Comparison) -> Option<&StepInfo> {
        let of_step = self.by_step.get(comparison.step.0.as_str())?;
        let mut steps = of_step.places.iter().map(|place| &self.steps[*place]);
        steps.find(|step| step.clients == comparison.clients)
    }
}

/// Is it certain that something changed?
pub(crate) const fn is_certain(verdict: &Verdict) -> bool {
    match verdict {
        Verdict::Regressed | Verdict::Improved => true,
        Verdict::Unchanged | Verdict::Inconclusive(_) => false,
        Verdict::Incomparable(_) => verdict.fell_to_zero(),
    }
}

/// The word under which a verdict is counted: what fell to zero regressed.
pub(crate) const fn counted_as(verdict: &Verdict) -> &'static str {
    if verdict.is_regression() {
        "regressed"
    } else {
        verdict.word()
    }
}

/// The ratio of a comparison, where it is one that has a logarithm and so a place on a scale.
pub(crate) fn usable_ratio(comparison: &Comparison) -> Option<f64> {
    comparison.ratio.filter(|r| r.is_finite() && *r > 0.0)
}

fn systems<'a>(input: &'a Input<'a>, base: &str) -> Vec<Seen<'a>> {
    let plan = &input.data.info.plan;
    let planned = plan.systems.iter().map(|s| s.name.as_str());
    let tried = input.data.trials.iter().map(|t| t.system.as_str());
    let measured = input.data.cells.iter().map(|c| c.system.as_str());
    let mut known = BTreeSet::new();
    planned
        .chain(tried)
        .chain(measured)
        .filter(|name| known.insert(*name))
        .enumerate()
        .map(|(index, name)| Seen {
            name,
            key: key(index),
            index,
            is_base: name == base,
            is_control: plan.is_control(name),
        })
        .collect()
}

/// `A` to `Z`, then `AA`, `AB`, …
fn key(index: usize) -> String {
    let letter = char::from(b'A' + (index % 26) as u8);
    if index < 26 {
        letter.to_string()
    } else {
        format!("{}{letter}", key(index / 26 - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::key;

    #[test]
    fn keys_go_on_after_z() {
        let keys: Vec<String> = [0, 25, 26, 51, 52, 701, 702].into_iter().map(key).collect();
        assert_eq!(keys, ["A", "Z", "AA", "AZ", "BA", "ZZ", "AAA"]);
    }
}
