//! Values and comparisons by their coordinates: an import may have thousands of steps and hundreds of systems; the
//! middle and the ends of a few values.

use std::collections::{BTreeSet, HashMap, HashSet};

use model::{Clock, Comparison, Step, StepSeries, Unit};

use crate::Input;

/// The values of one metric of one system in one step.
#[derive(Clone, Debug)]
pub(crate) struct Values {
    pub(crate) unit: Unit,
    /// (round, value), by round.
    pub(crate) rounds: Vec<(u32, f64)>,
}

/// System, step, clients, metric.
pub(crate) type Key<'a> = (&'a str, &'a str, u32, &'a str);

/// System, step, clients.
pub(crate) type Place<'a> = (&'a str, &'a str, u32);

/// What there is of a step by its name.
#[derive(Debug, Default)]
pub(crate) struct OfStep<'a> {
    /// Its places among the ordered steps, one for each number of clients.
    pub(crate) places: Vec<usize>,
    /// In the order of the input.
    pub(crate) series: Vec<&'a StepSeries>,
    /// The operation kinds of which any ended.
    pub(crate) kinds: BTreeSet<&'a str>,
}

pub(crate) struct Index<'a> {
    pub(crate) values: Vec<Values>,
    /// Where each of them stands.
    pub(crate) places: HashMap<Key<'a>, usize>,
    /// All of a place together, in the order of the input.
    pub(crate) by_place: HashMap<Place<'a>, Vec<&'a Comparison>>,
    pub(crate) by_step: HashMap<&'a str, OfStep<'a>>,
}

impl<'a> Index<'a> {
    pub(crate) fn of(input: &'a Input<'a>, steps: &[Step]) -> Self {
        let values = values(input);
        let mut by_place: HashMap<Place<'a>, Vec<&'a Comparison>> = HashMap::new();
        for one in input.comparisons {
            by_place.entry((&one.system, &one.step.0, one.clients)).or_default().push(one);
        }
        let by_step = by_step(input, steps, &values);
        let (keys, values): (Vec<Key<'a>>, Vec<Values>) = values.into_iter().unzip();
        let places = keys.into_iter().zip(0..).collect();
        Self { values, places, by_place, by_step }
    }
}

fn by_step<'a>(
    input: &'a Input<'a>,
    steps: &[Step],
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
        by_step.entry(&histogram.step.0).or_default().kinds.insert(&histogram.kind);
    }
    let median = Clock::Service.metric("p50");
    for (_, step, _, metric) in values.keys() {
        if let Some(kind) = median.and_then(|median| median.kind_in(metric)) {
            by_step.entry(step).or_default().kinds.insert(kind);
        }
    }
    let names = data.steps.iter().map(|step| step.id.0.as_str());
    let names: HashSet<&'a str> = names.collect();
    for (place, step) in steps.iter().enumerate() {
        if let Some(name) = names.get(step.id.0.as_str()) {
            by_step.entry(name).or_default().places.push(place);
        }
    }
    by_step
}

/// Rounds in different units, as imported files may have them, have neither middle nor place in a table.
fn values<'a>(input: &'a Input<'a>) -> HashMap<Key<'a>, Values> {
    let mut values: HashMap<Key<'a>, Values> = HashMap::new();
    let mut mixed: HashSet<Key<'a>> = HashSet::new();
    for cell in input.data.cells.iter().filter(|c| c.value.is_finite()) {
        let key =
            (cell.system.as_str(), cell.step.0.as_str(), cell.clients, cell.metric.0.as_str());
        let entry =
            values.entry(key).or_insert_with(|| Values { unit: cell.unit, rounds: Vec::new() });
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

/// The median of the finite values; `None` when there are none.
pub(crate) fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    stats::median(&values.filter(|v| v.is_finite()).collect::<Vec<f64>>())
}

/// The least and the greatest of the finite values; `None` when there are none.
pub(crate) fn range(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values
        .filter(|v| v.is_finite())
        .map(|v| (v, v))
        .reduce(|(low, high), (v, _)| (low.min(v), high.max(v)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_odd_even_none_and_nonsense() {
        assert_eq!(median([3.0, 1.0, 2.0].into_iter()), Some(2.0));
        assert_eq!(median([4.0, 1.0].into_iter()), Some(2.5));
        assert_eq!(median([f64::NAN].into_iter()), None);
        assert_eq!(range([2.0, f64::NAN, -1.0].into_iter()), Some((-1.0, 2.0)));
        assert_eq!(range(std::iter::empty()), None);
    }
}
