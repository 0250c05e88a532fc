//! Runs become histories.

use std::collections::{BTreeMap, HashMap, HashSet};

use model::{Cell, FEWEST_ROUNDS, MetricId, RunData, StepId, describe};

use super::alike::alike;
use super::days::{ByRun, centre};
use super::lines::{
    At, History, HistoryError, HistoryLine, HistoryOptions, HistoryPoint, Ratio, Replicate,
};
use super::order::{Left, Member, in_order, without_copies};
use super::{Change, Found, Series, analyse};
use crate::options::{Selection, Steps};
use crate::rounding::Rounding;
use crate::student::{CONFIDENCE, Quantiles};
use crate::verdict::log_margin;

/// Systems of one run, in the order of the history.
#[derive(Clone, Debug)]
pub struct Part<'a> {
    pub data: &'a RunData,
    pub systems: Vec<&'a str>,
}

/// The history of systems of one or several runs, in the order of their versions.
///
/// # Errors
/// When there are too few builds, the runs are not alike, or the question makes no sense for them.
pub fn history(parts: &[Part<'_>], options: &HistoryOptions) -> Result<History, HistoryError> {
    if let Some(margin) = options.min_effect.filter(|m| !(m.is_finite() && *m >= 0.0)) {
        return Err(HistoryError::BadMargin(margin));
    }
    alike(parts)?;
    let (parts, left, copies) = without_copies(parts);
    let members = in_order(&parts);
    if members.len() < 2 {
        return Err(HistoryError::TooFew(members.len()));
    }
    known(&parts, options)?;
    let base = base(options.base.as_deref(), &members)?;
    let rounding = parts.iter().map(|part| Rounding::of(part.data)).collect();
    let runs = Runs { parts: &parts, members: &members, left: &left, rounding, base };
    let rows = rows(&runs, options);
    let mut families: BTreeMap<&MetricId, Vec<&MetricRow<'_>>> = BTreeMap::new();
    for row in rows.values() {
        families.entry(&row.first.metric).or_default().push(row);
    }
    let mut lines: Vec<HistoryLine> =
        families.into_values().flat_map(|family| lines(&family, &runs, options)).collect();
    let mut metrics: HashMap<&MetricId, usize> = HashMap::new();
    for cell in parts.iter().flat_map(|part| &part.data.cells) {
        let next = metrics.len();
        metrics.entry(&cell.metric).or_insert(next);
    }
    let place = |line: &HistoryLine| metrics.get(&line.metric).copied();
    lines.sort_by_cached_key(|line| (line.ordinal, line.clients, place(line)));
    let builds = members.into_iter().map(|member| member.at).collect();
    Ok(History { builds, base, lines, copies })
}

struct Runs<'a, 'd> {
    parts: &'a [Part<'d>],
    members: &'a [Member<'d>],
    left: &'a Left<'d>,
    /// Of each part.
    rounding: Vec<Rounding<'d>>,
    base: usize,
}

impl Runs<'_, '_> {
    /// The least variance of a replicate: all rounds are rounded alike, and their mean is as sure as one rounded value.
    /// The build with the coarsest values decides for all.
    fn rounded(&self, metric: &MetricId, builds: &[Measured<'_>]) -> f64 {
        let of_build = |runs: &Measured<'_>| {
            let rounds = runs.iter().flat_map(|(part, rounds)| {
                let digits = &self.rounding[*part];
                rounds.iter().map(|(round, value)| digits.variance(metric, *round, *value))
            });
            rounds.sum::<f64>()
        };
        builds.iter().map(of_build).fold(0.0, f64::max)
    }
}

fn base(named: Option<&str>, members: &[Member<'_>]) -> Result<usize, HistoryError> {
    let Some(name) = named else { return Ok(0) };
    let is_meant = |member: &Member<'_>| {
        let At { of, build, .. } = &member.at;
        let is_named = |run: &str, system: &str| {
            run == name || system == name || name.split_once('/') == Some((run, system))
        };
        build == name || of.iter().any(|(run, system)| is_named(&run.0, system))
    };
    members.iter().position(is_meant).ok_or_else(|| HistoryError::UnknownBase(name.to_owned()))
}

fn known(parts: &[Part<'_>], options: &HistoryOptions) -> Result<(), HistoryError> {
    let all = || parts.iter().flat_map(|part| &part.data.cells);
    let listed = |mut names: Vec<String>| {
        names.sort_unstable();
        names.dedup();
        names
    };
    if let Some(step) = &options.step
        && !all().any(|cell| cell.step == *step)
    {
        return Err(HistoryError::UnknownStep {
            step: step.clone(),
            known: listed(all().map(|cell| cell.step.0.clone()).collect()),
        });
    }
    let Selection::Only(metrics) = &options.metrics else { return Ok(()) };
    let steps: Vec<Steps<'_>> = parts.iter().map(|part| Steps::of(part.data)).collect();
    let is_measured = |metric: &MetricId| {
        parts.iter().zip(&steps).any(|(part, steps)| {
            let mut cells = part.data.cells.iter();
            cells.any(|cell| steps.means(metric, cell))
        })
    };
    match metrics.iter().find(|metric| !is_measured(metric)) {
        None => Ok(()),
        Some(metric) => Err(HistoryError::UnknownMetric {
            metric: metric.clone(),
            known: listed(all().map(|cell| cell.metric.0.clone()).collect()),
        }),
    }
}

/// Ordinal, clients, step, metric, name of the unit: no ratio leads from one unit to another.
type Place<'a> = (u32, u32, &'a StepId, &'a MetricId, &'static str);

struct MetricRow<'a> {
    first: &'a Cell,
    values: HashMap<(usize, &'a str), BTreeMap<u32, f64>>,
    zeros: HashSet<(usize, &'a str)>,
}

fn rows<'a>(runs: &Runs<'_, 'a>, options: &HistoryOptions) -> BTreeMap<Place<'a>, MetricRow<'a>> {
    let mut rows: BTreeMap<Place<'_>, MetricRow<'_>> = BTreeMap::new();
    for (number, part) in runs.parts.iter().enumerate() {
        let steps = Steps::of(part.data);
        let asked = |cell: &&Cell| {
            steps.selects(&options.metrics, cell)
                && options.step.as_ref().is_none_or(|step| *step == cell.step)
                && part.systems.contains(&cell.system.as_str())
                && !runs.left.contains(&(number, cell.system.as_str(), cell.round))
        };
        for cell in part.data.cells.iter().filter(asked) {
            let place = (cell.ordinal, cell.clients, &cell.step, &cell.metric, cell.unit.name());
            let row = rows.entry(place).or_insert_with(|| MetricRow {
                first: cell,
                values: HashMap::new(),
                zeros: HashSet::new(),
            });
            let build = (number, cell.system.as_str());
            // A value without a logarithm is not part of a series.
            if cell.value.is_finite() && cell.value > 0.0 {
                row.values.entry(build).or_default().insert(cell.round, cell.value);
            } else if cell.value == 0.0 {
                row.zeros.insert(build);
            }
        }
    }
    rows
}

/// The values of a build, run by run: the place of the part, and by round.
type Measured<'a> = Vec<(usize, &'a BTreeMap<u32, f64>)>;

/// The values of a row in the order of the builds, empty where a build has none.
fn in_members<'r>(row: &'r MetricRow<'r>, members: &'r [Member<'r>]) -> Vec<Measured<'r>> {
    let measured = |of: &(usize, &'r str)| Some((of.0, row.values.get(of)?));
    members.iter().map(|member| member.of.iter().filter_map(measured).collect()).collect()
}

fn zeros(row: &MetricRow<'_>, members: &[Member<'_>]) -> Vec<usize> {
    let is_zero = |member: &Member<'_>| {
        let mut of = member.of.iter();
        of.clone().any(|of| row.zeros.contains(of)) && !of.any(|of| row.values.contains_key(of))
    };
    let zeros = members.iter().enumerate().filter(|(_, member)| is_zero(member));
    zeros.map(|(place, _)| place).collect()
}

fn lines(
    family: &[&MetricRow<'_>],
    runs: &Runs<'_, '_>,
    options: &HistoryOptions,
) -> Vec<HistoryLine> {
    let values: Vec<Vec<Measured<'_>>> =
        family.iter().map(|row| in_members(row, runs.members)).collect();
    let of_row = |(values, row): (&Vec<Measured<'_>>, &&MetricRow<'_>)| {
        let own = describe(&row.first.metric).map_or(0.0, |is| is.margin);
        let (series, days) = series(values);
        let margin = log_margin(options.min_effect.unwrap_or(own));
        let rounded = runs.rounded(&row.first.metric, values);
        (Series { margin, rounded, ..series }, days)
    };
    let (series, days): (Vec<Series>, Vec<BTreeMap<usize, f64>>) =
        values.iter().zip(family).map(of_row).unzip();
    let found = analyse(&series).into_iter().zip(&series).zip(&days);
    let quantiles = Quantiles::default();
    let rows = family.iter().zip(&values);
    rows.zip(found)
        .map(|((row, values), ((found, series), days))| {
            let id = |part: usize| runs.parts[part].data.info.id.clone();
            let factors = days.iter().map(|(part, shift)| (id(*part), (-shift).exp()));
            let estimates = Estimates::of(series, &found, &quantiles);
            HistoryLine { days: factors.collect(), ..line(row, values, runs, &estimates, &found) }
        })
        .collect()
}

/// Only builds that have a value, without what the rounds of a run share, then without their day. With it what was
/// taken from the logarithms of each part for its day.
fn series(builds: &[Measured<'_>]) -> (Series, BTreeMap<usize, f64>) {
    let mut of_part: BTreeMap<usize, Vec<&BTreeMap<u32, f64>>> = BTreeMap::new();
    for (part, rounds) in builds.iter().flatten() {
        of_part.entry(*part).or_default().push(rounds);
    }
    let common: BTreeMap<usize, BTreeMap<u32, f64>> =
        of_part.iter().map(|(part, systems)| (*part, common_rounds(systems))).collect();
    let free = |rounds: &BTreeMap<u32, f64>| (rounds.len() as u32).saturating_sub(1);
    let present: Vec<&Measured<'_>> = builds.iter().filter(|runs| !runs.is_empty()).collect();
    let logs = |(part, rounds): &(usize, &BTreeMap<u32, f64>)| {
        let shift = |round: &u32| common[part].get(round).copied().unwrap_or(0.0);
        (*part, rounds.iter().map(|(round, value)| value.ln() - shift(round)).collect())
    };
    let by_run: Vec<ByRun> = present.iter().map(|runs| runs.iter().map(logs).collect()).collect();
    let is_beside = |runs: Option<&&Measured<'_>>| {
        let rounds = runs.into_iter().flat_map(|runs| runs.iter()).map(|(part, rounds)| {
            rounds.keys().filter(|round| common[part].contains_key(*round)).count()
        });
        rounds.sum::<usize>() >= FEWEST_ROUNDS as usize
    };
    let centred = centre(&by_run);
    let series = Series {
        builds: centred.builds,
        shared: common.values().map(free).sum::<u32>() + centred.free,
        is_linked: centred.is_linked,
        first_beside: is_beside(present.first()),
        last_beside: is_beside(present.last()),
        margin: 0.0,
        rounded: 0.0,
        days: centred.days,
    };
    (series, centred.shifts)
}

/// What each round that several systems have shares: the mean of how far they are from their own means. With
/// every value there this is the two-way analysis of variance.
fn common_rounds(systems: &[&BTreeMap<u32, f64>]) -> BTreeMap<u32, f64> {
    let mut off: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for rounds in systems {
        let mean = rounds.values().map(|v| v.ln()).sum::<f64>() / rounds.len() as f64;
        for (round, value) in *rounds {
            off.entry(*round).or_default().push(value.ln() - mean);
        }
    }
    off.into_iter()
        .filter(|(_, off)| off.len() > 1)
        .map(|(round, off)| (round, off.iter().sum::<f64>() / off.len() as f64))
        .collect()
}

fn line(
    row: &MetricRow<'_>,
    builds: &[Measured<'_>],
    runs: &Runs<'_, '_>,
    estimates: &Estimates<'_>,
    found: &Found,
) -> HistoryLine {
    // Places of the builds that have a value, in the order of the series.
    let present: Vec<usize> =
        (0..builds.len()).filter(|place| !builds[*place].is_empty()).collect();
    let base = present.iter().position(|place| *place == runs.base);
    let mut points: Vec<Option<HistoryPoint>> = vec![None; builds.len()];
    for (place, build) in present.iter().enumerate() {
        points[*build] = Some(HistoryPoint {
            rounds: replicates(&builds[*build], runs),
            value: estimates.means[place].exp(),
            error: estimates.error(place),
            to_previous: place.checked_sub(1).map(|before| estimates.ratio(place, before)),
            to_base: base.filter(|base| *base != place).map(|base| estimates.ratio(place, base)),
            standing: found.standing.get(place).copied().unwrap_or_default(),
        });
    }
    let at = |change: &Change| Change {
        at: present.get(change.at).copied().unwrap_or(change.at),
        ..*change
    };
    let first = row.first;
    HistoryLine {
        step: first.step.clone(),
        ordinal: first.ordinal,
        clients: first.clients,
        metric: first.metric.clone(),
        unit: first.unit,
        points,
        zeros: zeros(row, runs.members),
        changes: found.changes.iter().map(at).collect(),
        days: Vec::new(),
    }
}

fn replicates(measured: &Measured<'_>, runs: &Runs<'_, '_>) -> Vec<Replicate> {
    let of_run = |(part, rounds): &(usize, &BTreeMap<u32, f64>)| {
        let run = &runs.parts[*part].data.info.id;
        let rounds = rounds.iter().map(|(round, value)| Replicate {
            run: run.clone(),
            round: *round,
            value: *value,
        });
        rounds.collect::<Vec<_>>()
    };
    measured.iter().flat_map(of_run).collect()
}

struct Estimates<'a> {
    series: &'a Series,
    means: Vec<f64>,
    /// The variance of a replicate, and half the width of an interval in standard errors.
    chance: Option<(f64, f64)>,
}

impl<'a> Estimates<'a> {
    fn of(series: &'a Series, found: &Found, quantiles: &Quantiles) -> Self {
        let builds = series.builds.iter();
        let half = |df: f64| quantiles.t_critical((1.0 - CONFIDENCE) / 2.0, df);
        Self {
            means: builds.map(|logs| logs.iter().sum::<f64>() / logs.len() as f64).collect(),
            chance: found.chance.map(|(variance, df)| (variance, half(df))),
            series,
        }
    }

    fn error(&self, place: usize) -> Option<f64> {
        let replicates = self.series.builds[place].len().max(1) as f64;
        self.chance.map(|(variance, _)| (variance / replicates).sqrt())
    }

    /// One build over another; without an interval where nothing links their days.
    fn ratio(&self, of: usize, over: usize) -> Ratio {
        let days = &self.series.days;
        let log = self.means[of] - self.means[over];
        let alone = |place: usize| 1.0 / self.series.builds[place].len().max(1) as f64;
        let spread = if days.is_one() {
            Some(alone(of) + alone(over))
        } else {
            let sums = |place: usize| days.sums(std::iter::once(place));
            days.across(&sums(over), &sums(of))
        };
        Ratio {
            ratio: log.exp(),
            ends: self.chance.zip(spread).map(|((variance, half), spread)| {
                let half = half * (variance * spread).sqrt();
                ((log - half).exp(), (log + half).exp())
            }),
        }
    }
}
