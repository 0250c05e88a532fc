//! Values and comparisons by their coordinates.

use std::collections::{BTreeSet, HashMap, HashSet};

use model::{Comparison, StepInfo, StepSeries, Unit};

use crate::Input;

/// The values of one metric of one system in one step.
#[derive(Clone, Debug)]
pub(crate) struct Values {
    /// Their unit.
    pub(crate) unit: Unit,
    /// (round, value), by round.
    pub(crate) rounds: Vec<(u32, f64)>,
}

/// System, step, clients, metric.
pub(super) type Key<'a> = (&'a str, &'a str, u32, &'a str);

/// System, step, clients.
pub(super) type Place<'a> = (&'a str, &'a str, u32);

/// What there is of a step by its name.
#[derive(Debug, Default)]
pub(super) struct OfStep<'a> {
    /// Its places among the ordered steps, one for each number of clients.
    pub(super) places: Vec<usize>,
    /// In the order of the input.
    pub(super) series: Vec<&'a StepSeries>,
    /// The operation kinds of which any ended.
    pub(super) kinds: BTreeSet<&'a str>,
}

/// By the steps' names: an import may have thousands.
pub(super) fn by_step<'a>(
    input: &'a Input<'a>,
    steps: &[StepInfo],
    values: &HashMap<Key<'a>, Values>,
) -> HashMap<&'a str, OfStep<'a>> {
    let data = input.data;
    let mut by_step: HashMap<&'a str, OfStep<'a>> = HashMap::new();
    for series in &data.series {
        let of_step = by_step.entry(&series.step.0).or_default();
        of_step.series.push(series);
        let kinds = series.kinds.iter();
        let ended = kinds.filter(|kind| kind.ops.iter().any(|ops| *ops > 0));
        of_step.kinds.extend(ended.map(|kind| kind.kind.as_str()));
    }
    for histogram in &data.histograms {
        let of_step = by_step.entry(&histogram.step.0).or_default();
        of_step.kinds.insert(&histogram.kind);
    }
    for (_, step, _, metric) in values.keys() {
        let kind = metric.strip_prefix("service.");
        if let Some(kind) = kind.and_then(|rest| rest.strip_suffix(".p50")) {
            by_step.entry(step).or_default().kinds.insert(kind);
        }
    }
    let names = data.steps.iter().map(|step| step.step.0.as_str());
    let names: HashSet<&'a str> = names.collect();
    for (place, step) in steps.iter().enumerate() {
        if let Some(name) = names.get(step.step.0.as_str()) {
            by_step.entry(name).or_default().places.push(place);
        }
    }
    by_step
}

pub(super) fn comparisons<'a>(input: &'a Input<'a>) -> HashMap<Key<'a>, &'a Comparison> {
    let key = |c: &'a Comparison| {
        let (step, metric) = (c.step.0.as_str(), c.metric.0.as_str());
        (c.system.as_str(), step, c.clients, metric)
    };
    input.comparisons.iter().map(|c| (key(c), c)).collect()
}

/// All of a place together, in the order of the input: hundreds of systems have hundreds of thousands.
pub(super) fn by_place<'a>(input: &'a Input<'a>) -> HashMap<Place<'a>, Vec<&'a Comparison>> {
    let mut by_place: HashMap<Place<'a>, Vec<&'a Comparison>> = HashMap::new();
    for comparison in input.comparisons {
        let (system, step) = (comparison.system.as_str(), comparison.step.0.as_str());
        let place = (system, step, comparison.clients);
        by_place.entry(place).or_default().push(comparison);
    }
    by_place
}

/// Rounds in different units, as imported files may have them, have neither middle nor place in a table.
pub(super) fn values<'a>(input: &'a Input<'a>) -> HashMap<Key<'a>, Values> {
    let mut values: HashMap<Key<'a>, Values> = HashMap::new();
    let mut mixed: HashSet<Key<'a>> = HashSet::new();
    for cell in input.data.cells.iter().filter(|c| c.value.is_finite()) {
        let key = (
            cell.system.as_str(),
            cell.step.0.as_str(),
            cell.clients,
            cell.metric.0.as_str(),
        );
        let entry = values.entry(key).or_insert_with(|| Values {
            unit: cell.unit,
            rounds: Vec::new(),
        });
        entry.rounds.push((cell.round, cell.value));
        if entry.unit != cell.unit {
            mixed.insert(key);
        }
    }
    values.retain(|key, _| !mixed.contains(key));
    for entry in values.values_mut() {
        entry.rounds.sort_by_key(|(round, _)| *round);
    }
    values
}
