//! The input of a report, indexed: who is compared with whom, and every value by its coordinates.

use std::collections::BTreeSet;
use std::rc::Rc;

use model::{Comparison, Counts, MetricId, OverRounds, Step, StepSeries, Unit, describe};

use crate::chart::style::{Series, Style};
use crate::index::{Index, Values, median, range};
use crate::verdict::is_certain;
use crate::{Input, StepGroup, Sweep, groups};

#[derive(Clone, Debug)]
pub(crate) struct Seen<'a> {
    pub(crate) name: &'a str,
    /// The letter by which charts name it: `A`, `B`, … `Z`, `AA`.
    pub(crate) key: String,
    /// Its place in every table, which also gives its colour and marker.
    pub(crate) index: usize,
    pub(crate) is_base: bool,
    /// The second copy of the base.
    pub(crate) is_control: bool,
}

impl Seen<'_> {
    pub(crate) fn series(&self) -> Series {
        Series { style: self.style(), key: self.key.clone(), name: self.name.to_owned() }
    }

    pub(crate) const fn style(&self) -> Style {
        Style(self.index)
    }
}

/// A run and its comparisons. Making it reads the input once; each method yields one output, table or list.
#[derive(Clone)]
pub struct Report<'a> {
    pub(crate) input: &'a Input<'a>,
    /// Name of the system that the others are compared with.
    pub(crate) base: &'a str,
    /// All systems: those of the plan in its order, then any others that were measured.
    pub(crate) systems: Vec<Seen<'a>>,
    /// The measured steps in the order in which they are listed.
    pub(crate) steps: Rc<Vec<Step>>,
    pub(crate) groups: Rc<Vec<StepGroup>>,
    /// Tests at several client counts, where the run has any.
    pub(crate) sweep: Option<Rc<Sweep>>,
    /// Do tables leave out the steps in which nothing certainly differs?
    pub(crate) differing_only: bool,
    /// Is the report made to be passed on, and short?
    pub(crate) is_brief: bool,
    index: Rc<Index<'a>>,
}

impl<'a> Report<'a> {
    pub fn new(input: &'a Input<'a>) -> Self {
        let plan = &input.data.info.plan;
        let base = input.comparisons.first().map_or(plan.base.as_str(), |c| c.base.as_str());
        let steps = groups::ordered(&input.data.steps);
        let index = Index::of(input, &steps);
        Self {
            input,
            base,
            systems: systems(input, base),
            groups: Rc::new(groups::groups(&steps)),
            sweep: Sweep::of(&steps).map(Rc::new),
            steps: Rc::new(steps),
            differing_only: false,
            is_brief: false,
            index: Rc::new(index),
        }
    }

    /// The same of only some of its systems, by their places: tables and charts leave the others out.
    pub(crate) fn only(&self, kept: &BTreeSet<usize>) -> Self {
        let mut only = self.clone();
        only.systems.retain(|system| kept.contains(&system.index));
        only
    }

    /// The same, short. Of workloads with dozens of steps only those in which something differs.
    pub(crate) fn brief(&self) -> Self {
        Self { is_brief: true, differing_only: self.is_by_step(), ..self.clone() }
    }

    pub(crate) const fn at<'r>(&'r self, system: &'r Seen<'r>, step: &'r Step) -> At<'r> {
        At { report: self, system, step }
    }

    pub(crate) fn each_at<'r>(&'r self, step: &'r Step) -> impl Iterator<Item = At<'r>> {
        self.systems.iter().map(move |system| self.at(system, step))
    }

    pub(crate) fn candidates_at<'r>(&'r self, step: &'r Step) -> impl Iterator<Item = At<'r>> {
        self.each_at(step).filter(|at| !at.system.is_base)
    }

    pub(crate) fn candidates(&self) -> impl Iterator<Item = &Seen<'a>> {
        self.systems.iter().filter(|s| !s.is_base)
    }

    pub(crate) fn judged(&self) -> impl Iterator<Item = &Seen<'a>> {
        self.candidates().filter(|s| !s.is_control)
    }

    /// Has a table a row for each step, not for each system? Workloads of SQL statements have dozens of steps.
    pub(crate) fn is_by_step(&self) -> bool {
        self.input.data.info.plan.workload.lists_many_steps()
    }

    pub(crate) fn steps_of(&self, group: &StepGroup) -> &[Step] {
        self.steps.get(group.places.clone()).unwrap_or_default()
    }

    pub(crate) fn lists(&self, step: &Step, metric: &str) -> bool {
        let differs = || {
            let judged = self.candidates_at(step).filter(|at| !at.system.is_control);
            judged.filter_map(|at| at.comparison(metric)).any(|c| is_certain(&c.verdict))
        };
        self.unit(step, metric).is_some() && (!self.differing_only || differs())
    }

    pub(crate) fn has_candidates(&self) -> bool {
        self.candidates().next().is_some()
    }

    pub(crate) fn values(&self, system: &str, step: &Step, metric: &str) -> Option<&Values> {
        let key = (system, step.id.0.as_str(), step.clients, metric);
        self.index.values.get(*self.index.places.get(&key)?)
    }

    pub(crate) fn median(&self, system: &str, step: &Step, metric: &str) -> Option<f64> {
        median(self.values(system, step, metric)?.rounds.iter().map(|(_, v)| *v))
    }

    pub(crate) fn is_all_of_throughput(&self) -> bool {
        self.steps.iter().all(Step::is_of_throughput)
    }

    /// The comparisons of a system with the base in the metrics that decide the steps, in the order of the steps.
    pub(crate) fn decisions(&self, system: &Seen<'_>) -> Vec<&'a Comparison> {
        let of = |step: &Step| self.comparison(system.name, step, &step.metric.0);
        self.steps.iter().filter_map(of).collect()
    }

    pub(crate) fn comparison(&self, system: &str, step: &Step, of: &str) -> Option<&'a Comparison> {
        let place = self.index.by_place.get(&(system, step.id.0.as_str(), step.clients))?;
        place.iter().rfind(|comparison| comparison.metric.0 == of).copied()
    }

    /// The unit of a metric in a step, from the first system that has it.
    pub(crate) fn unit(&self, step: &Step, metric: &str) -> Option<Unit> {
        self.systems.iter().find_map(|s| self.values(s.name, step, metric)).map(|v| v.unit)
    }

    pub(crate) fn has(&self, metric: &str) -> bool {
        self.steps.iter().any(|step| self.unit(step, metric).is_some())
    }

    /// As people read it: what transactions of several statements do is counted in statements.
    pub(crate) fn rate_unit_name(&self, step: &Step) -> &'static str {
        let unit = match step.subject.counts {
            Counts::Statements(_) => return "statements/s",
            Counts::Rows => Unit::RowsPerSecond,
            Counts::Operations => Unit::OpsPerSecond,
        };
        self.unit(step, MetricId::RATE).unwrap_or(unit).name()
    }

    /// A step's name; with its clients where the workload has the step several times.
    pub(crate) fn label(&self, step: &Step) -> String {
        let of_step = self.index.by_step.get(step.id.0.as_str());
        if of_step.is_some_and(|of_step| of_step.places.len() > 1) {
            format!("{} ×{}", step.id, step.clients)
        } else {
            step.id.0.clone()
        }
    }

    pub(crate) fn label_of(&self, comparison: &Comparison) -> String {
        let step = self.step_of(comparison);
        step.map_or_else(|| comparison.step.0.clone(), |step| self.label(step))
    }

    /// The operation kinds of a step of which any ended: what it is about first, the others by name.
    pub(crate) fn kinds(&self, step: &Step) -> Vec<String> {
        let of_step = self.index.by_step.get(step.id.0.as_str());
        let others = of_step.into_iter().flat_map(|of_step| &of_step.kinds);
        let (subject, others): (Vec<&str>, Vec<&str>) =
            others.copied().partition(|kind| *kind == step.subject.kind);
        subject.into_iter().chain(others).map(str::to_owned).collect()
    }

    pub(crate) fn step_of(&self, comparison: &Comparison) -> Option<&Step> {
        let of_step = self.index.by_step.get(comparison.step.0.as_str())?;
        let mut steps = of_step.places.iter().map(|place| &self.steps[*place]);
        steps.find(|step| step.clients == comparison.clients)
    }
}

/// A system in a step: where most values and comparisons are found.
#[derive(Clone, Copy)]
pub(crate) struct At<'r> {
    pub(crate) report: &'r Report<'r>,
    pub(crate) system: &'r Seen<'r>,
    pub(crate) step: &'r Step,
}

impl<'r> At<'r> {
    pub(crate) fn values(self, metric: &str) -> Option<&'r Values> {
        self.report.values(self.system.name, self.step, metric)
    }

    pub(crate) fn median(self, metric: &str) -> Option<f64> {
        self.report.median(self.system.name, self.step, metric)
    }

    /// What stands for the rounds in tables: of most metrics the median.
    pub(crate) fn over_rounds(self, metric: &str) -> Option<f64> {
        let values = self.values(metric)?.rounds.iter().map(|(_, value)| *value);
        let is = describe(&MetricId::new(metric));
        match is.map_or(OverRounds::Median, |is| is.over_rounds) {
            OverRounds::Median => median(values),
            OverRounds::Sum => Some(values.sum()),
            OverRounds::Most => range(values).map(|(_, most)| most),
        }
    }

    pub(crate) fn in_round(self, metric: &str, round: u32) -> Option<f64> {
        let rounds = &self.values(metric)?.rounds;
        rounds.iter().find(|(r, _)| *r == round).map(|(_, value)| *value)
    }

    pub(crate) fn comparison(self, metric: &str) -> Option<&'r Comparison> {
        self.report.comparison(self.system.name, self.step, metric)
    }

    pub(crate) fn comparisons(self) -> &'r [&'r Comparison] {
        let place = (self.system.name, self.step.id.0.as_str(), self.step.clients);
        self.report.index.by_place.get(&place).map(Vec::as_slice).unwrap_or_default()
    }

    /// The comparison in the metric that decides the step.
    pub(crate) fn decision(self) -> Option<&'r Comparison> {
        self.comparison(&self.step.metric.0)
    }

    pub(crate) fn series(self) -> impl Iterator<Item = &'r StepSeries> {
        let of_step = self.report.index.by_step.get(self.step.id.0.as_str());
        let series = of_step.into_iter().flat_map(|of_step| &of_step.series);
        series.copied().filter(move |series| series.system == self.system.name)
    }
}

/// A sentence or two on a step. Of an imported one no more is known than what it counts.
pub(crate) fn about(step: &Step) -> String {
    if !step.description.is_empty() {
        return step.description.clone();
    }
    match step.subject.counts {
        Counts::Rows => "Counts the rows that are read.".to_owned(),
        Counts::Statements(n) => format!(
            "An operation is {n} statements, BEGIN and COMMIT among them; throughput and costs count statements, response times are of whole operations."
        ),
        Counts::Operations => "Counts statements.".to_owned(),
    }
}

fn systems<'a>(input: &'a Input<'a>, base: &str) -> Vec<Seen<'a>> {
    let plan = &input.data.info.plan;
    let planned = plan.systems.iter().map(|s| s.name.as_str());
    let tried = input.data.trials.iter().map(|t| t.system.as_str());
    let measured = input.data.cells.iter().map(|c| c.system.as_str());
    let mut known = BTreeSet::new();
    let all = planned.chain(tried).chain(measured).filter(|name| known.insert(*name));
    let seen = all.enumerate().map(|(index, name)| Seen {
        name,
        key: key(index),
        index,
        is_base: name == base,
        is_control: plan.is_control(name),
    });
    seen.collect()
}

/// `A` to `Z`, then `AA`, `AB`, …
fn key(index: usize) -> String {
    let letter = char::from(b'A' + (index % 26) as u8);
    if index < 26 { letter.to_string() } else { format!("{}{letter}", key(index / 26 - 1)) }
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
