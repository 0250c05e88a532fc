//! The values of a run, put where they can be compared.

use std::collections::{BTreeMap, HashMap, HashSet};

use model::{Cell, MetricId, RunData, RunInfo, StepId, Unit, describe, metrics};

use crate::hosts::means_of_hosts;
use crate::options::{Options, Steps};
use crate::paired::log_ratio;
use crate::slices;
use crate::summary::mean;

/// Where a row stands: by step, then by the place at which the run first has the metric.
pub(crate) type Place<'a> = (u32, &'a StepId, usize);

type Slices = BTreeMap<u32, BTreeMap<u32, f64>>;

pub(crate) struct Grid<'a> {
    pub(crate) steps: Steps<'a>,
    /// In the order of the listed comparisons.
    pub(crate) rows: BTreeMap<Place<'a>, MetricRow<'a>>,
}

pub(crate) struct MetricRow<'a> {
    pub(crate) first: &'a Cell,
    /// Is it asked for? Others are judged with it, or tell how much the metric scatters.
    pub(crate) is_asked: bool,
    /// The place at which the run first has its metric.
    pub(crate) metric: usize,
    values: HashMap<&'a str, Values>,
    /// By system; empty for steps without slices.
    slices: HashMap<&'a str, Slices>,
    /// By system and round, ln(last ÷ first third of the window).
    drifts: HashMap<&'a str, BTreeMap<u32, f64>>,
    info: &'a RunInfo,
}

#[derive(Default)]
struct Values {
    by_round: BTreeMap<u32, f64>,
    /// Their units: one, but for files that were imported.
    units: Vec<Unit>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Round {
    pub(crate) number: u32,
    /// The place of its host in the run's list.
    pub(crate) host: usize,
    pub(crate) base: f64,
    pub(crate) candidate: f64,
    /// The counted log ratios of the slice pairs, in order; empty without slices.
    pub(crate) slices: Vec<f64>,
    /// How far the log ratio of the last third of the window is from that of the first; `None` where it is unknown.
    pub(crate) drift: Option<f64>,
}

impl<'a> Grid<'a> {
    /// The values of the metrics that are asked for, and of those that decide a step, of all steps: what one of
    /// them scatters tells something of the others, and they share their error, whether these are asked for or
    /// not. So verdicts do not depend on the question.
    pub(crate) fn of(data: &'a RunData, options: &Options) -> Self {
        let mut places: HashMap<&MetricId, usize> = HashMap::new();
        let mut found: HashMap<(&StepId, &MetricId), Place<'_>> = HashMap::new();
        let mut rows: BTreeMap<Place<'_>, MetricRow<'_>> = BTreeMap::new();
        let steps = Steps::of(data);
        let is_asked = |cell: &Cell| steps.selects(&options.metrics, cell);
        let has_say = |cell: &&Cell| is_asked(cell) || steps.decides(cell.ordinal, &cell.metric);
        let having_say = data.cells.iter().filter(has_say);
        let metrics: HashSet<&MetricId> = having_say.map(|cell| &cell.metric).collect();
        let of_these = |cell: &&Cell| metrics.contains(&cell.metric);
        for cell in data.cells.iter().filter(of_these) {
            let next = places.len();
            let place = *places.entry(&cell.metric).or_insert(next);
            let place = (cell.ordinal, &cell.step, place);
            found.insert((&cell.step, &cell.metric), place);
            let row = rows.entry(place).or_insert_with(|| MetricRow {
                first: cell,
                is_asked: is_asked(cell),
                metric: place.2,
                values: HashMap::new(),
                slices: HashMap::new(),
                drifts: HashMap::new(),
                info: &data.info,
            });
            let values = row.values.entry(&cell.system).or_default();
            values.by_round.insert(cell.round, cell.value);
            if !values.units.contains(&cell.unit) {
                values.units.push(cell.unit);
            }
        }
        for slice in &data.slices {
            let place = found.get(&(&slice.step, &slice.metric));
            if let Some(row) = place.and_then(|place| rows.get_mut(place)) {
                let rounds = row.slices.entry(&slice.system).or_default();
                rounds.entry(slice.round).or_default().insert(slice.pair, slice.value);
            }
        }
        let mut grid = Self { steps, rows };
        grid.add_drifts(data);
        grid
    }

    fn add_drifts(&mut self, data: &'a RunData) {
        let mut known: HashMap<(&StepId, &str), Vec<&Cell>> = HashMap::new();
        let ids: Vec<&str> = metrics().filter_map(|metric| metric.drift).collect();
        for cell in &data.cells {
            if ids.contains(&cell.metric.0.as_str()) {
                known.entry((&cell.step, &cell.metric.0)).or_default().push(cell);
            }
        }
        for row in self.rows.values_mut() {
            let drift = describe(&row.first.metric).and_then(|metric| metric.drift);
            let cells = drift.and_then(|id| known.get(&(&row.first.step, id)));
            for cell in cells.into_iter().flatten() {
                let of_system = row.drifts.entry(&cell.system).or_default();
                // A system that stood still has no logarithm.
                let log = Some((cell.value / 100.0).ln_1p()).filter(|log| log.is_finite());
                of_system.extend(log.map(|log| (cell.round, log)));
            }
        }
    }
}

impl MetricRow<'_> {
    pub(crate) fn has(&self, system: &str) -> bool {
        self.values.contains_key(system)
    }

    pub(crate) fn is_sliced(&self) -> bool {
        !self.slices.is_empty()
    }

    /// The units of both if they differ, so that no ratio exists.
    pub(crate) fn different_units(&self, base: &str, candidate: &str) -> Option<[String; 2]> {
        let sides = [base, candidate].map(|system| {
            let values = self.values.get(system);
            values.map_or(&[][..], |values| values.units.as_slice())
        });
        let mut all = sides.iter().flat_map(|units| units.iter());
        let first = all.next()?;
        let names = |units: &[Unit]| {
            let names: Vec<&str> = units.iter().map(|unit| unit.name()).collect();
            names.join(", ")
        };
        all.any(|unit| unit != first).then(|| sides.map(names))
    }

    pub(crate) fn complete_rounds(&self, base: &str, candidate: &str) -> Vec<Round> {
        let (Some(of_base), Some(of_candidate)) =
            (self.values.get(base), self.values.get(candidate))
        else {
            return Vec::new();
        };
        let both = of_base.by_round.iter().filter_map(|(round, of_base)| {
            let of_candidate = of_candidate.by_round.get(round)?;
            Some((*round, *of_base, *of_candidate))
        });
        let both: Vec<(u32, f64, f64)> = both.collect();
        let pairs = both.iter().map(|(round, ..)| self.slice_pairs(*round, base, candidate));
        let counting = slices::counting(pairs.collect());
        let drift = |round: u32, system: &str| self.drifts.get(system)?.get(&round).copied();
        let rounds = both.into_iter().zip(counting);
        rounds
            .map(|((number, of_base, of_candidate), slices)| Round {
                number,
                host: self.info.host_place(number),
                base: of_base,
                candidate: of_candidate,
                slices,
                drift: drift(number, candidate)
                    .zip(drift(number, base))
                    .map(|(candidate, base)| candidate - base),
            })
            .collect()
    }

    fn slice_pairs(&self, round: u32, base: &str, candidate: &str) -> Vec<f64> {
        let of = |system: &str| self.slices.get(system)?.get(&round);
        let (Some(of_base), Some(of_candidate)) = (of(base), of(candidate)) else {
            return Vec::new();
        };
        let pairs = of_base.iter();
        pairs.filter_map(|(pair, b)| Some(log_ratio(*b, *of_candidate.get(pair)?))).collect()
    }
}

impl Round {
    /// ln(candidate / base): with slices, the mean of their counted pairs.
    pub(crate) fn log(&self) -> f64 {
        mean(&self.slices).unwrap_or_else(|| self.log_of_windows())
    }

    /// The same of whole windows, with all slices.
    pub(crate) fn log_of_windows(&self) -> f64 {
        log_ratio(self.base, self.candidate)
    }
}

/// The mean of each host, where many measured the rounds; see [`means_of_hosts`].
pub(crate) fn of_hosts(rounds: &[Round], logs: &[f64]) -> Option<Vec<f64>> {
    means_of_hosts(rounds.iter().map(|round| round.host).zip(logs.iter().copied()))
}

/// What the slices of these rounds explain of the variance of their log ratios; `None` where slices are missing.
pub(crate) fn variance_within(rounds: &[Round]) -> Option<f64> {
    let pairs: Vec<&[f64]> = rounds.iter().map(|round| &*round.slices).collect();
    slices::variance_of_round(&pairs)
}

/// Has this value no ratio to any other?
pub(crate) fn is_broken(value: f64) -> bool {
    !(value.is_finite() && value > 0.0)
}

/// The log ratios of rounds; `None` if a value has no ratio, or without rounds.
pub(crate) fn logs(rounds: &[Round]) -> Option<Vec<f64>> {
    let whole = |round: &Round| !is_broken(round.base) && !is_broken(round.candidate);
    (!rounds.is_empty() && rounds.iter().all(whole))
        .then(|| rounds.iter().map(Round::log).collect())
}
