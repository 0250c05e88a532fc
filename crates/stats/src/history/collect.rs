//! Runs become histories.

use std::collections::{BTreeMap, HashMap, HashSet};

use model::{Cell, MetricId, RunData, StepId, describe};

use super::alike::alike;
use super::lines::{At, History, HistoryLine, HistoryPoint, Ratio};
use super::question::{HistoryError, HistoryOptions};
use super::{Change, Found, Series, analyse};
use crate::options::Selection;
use crate::selected::Steps;
use crate::student::Quantiles;
use crate::verdict::{CONFIDENCE, FEWEST_ROUNDS, log_margin};

/// Systems of one run, in the order of the history.
#[derive(Clone, Debug)]
pub struct Part<'a> {
    /// The run.
    pub data: &'a RunData,
    /// Which of its systems, by name.
    pub systems: Vec<&'a str>,
}

/// The history of systems of one or several runs, in the order in which they are given.
///
/// # Errors
/// When there are too few builds, the runs are not alike, or the question makes no sense for them.
pub fn history(parts: &[Part<'_>], options: &HistoryOptions) -> Result<History, HistoryError> {
    if let Some(margin) = options.min_effect.filter(|m| !(m.is_finite() && *m >= 0.0)) {
        return Err(HistoryError::BadMargin(margin));
    }
    let builds: Vec<At> = parts.iter().flat_map(builds_of).collect();
    if builds.len() < 2 {
        return Err(HistoryError::TooFew(builds.len()));
    }
    alike(parts)?;
    known(parts, options)?;
    let rows = rows(parts, options);
    let mut families: BTreeMap<&MetricId, Vec<&Row<'_>>> = BTreeMap::new();
    for row in rows.values() {
        families.entry(&row.first.metric).or_default().push(row);
    }
    let mut lines: Vec<HistoryLine> = families
        .into_values()
        .flat_map(|family| lines(&family, parts, options))
        .collect();
    let place = |line: &HistoryLine| {
        let metrics = parts.iter().flat_map(|part| &part.data.cells);
        let mut metrics = metrics.map(|cell| &cell.metric);
        metrics.position(|metric| *metric == line.metric)
    };
    lines.sort_by_cached_key(|line| (line.ordinal, line.clients, place(line)));
    Ok(History {
        base: options.base.min(builds.len() - 1),
        builds,
        lines,
    })
}

fn builds_of(part: &Part<'_>) -> Vec<At> {
    let info = &part.data.info;
    let build = |name: &str| {
        let system = info.plan.system(name);
        system.map_or_else(|| name.to_owned(), |system| system.build.id())
    };
    let at = |name: &&str| At {
        run: info.id.clone(),
        system: (*name).to_owned(),
        build: build(name),
    };
    part.systems.iter().map(at).collect()
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
    let Selection::Only(metrics) = &options.metrics else {
        return Ok(());
    };
    let steps: Vec<Steps<'_>> = parts.iter().map(|part| Steps::of(part.data)).collect();
    let is_measured = |metric: &MetricId| {
        let mut parts = parts.iter().zip(&steps);
        parts.any(|(part, steps)| {
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

/// Where a row stands: ordinal, clients, step, metric, name of the unit. What has another unit is another row: no
/// ratio leads from the one to the other.
type Place<'a> = (u32, u32, &'a StepId, &'a MetricId, &'static str);

/// All values of one step and metric in one unit.
struct Row<'a> {
    first: &'a Cell,
    /// By part and system.
    values: HashMap<(usize, &'a str), BTreeMap<u32, f64>>,
    /// Which of them have a value of zero.
    zeros: HashSet<(usize, &'a str)>,
}

fn rows<'a>(parts: &[Part<'a>], options: &HistoryOptions) -> BTreeMap<Place<'a>, Row<'a>> {
    let mut rows: BTreeMap<Place<'_>, Row<'_>> = BTreeMap::new();
    for (number, part) in parts.iter().enumerate() {
        let steps = Steps::of(part.data);
        let asked = |cell: &&Cell| {
            steps.selects(&options.metrics, cell)
                && options.step.as_ref().is_none_or(|step| *step == cell.step)
                && part.systems.contains(&cell.system.as_str())
        };
        for cell in part.data.cells.iter().filter(asked) {
            let unit = cell.unit.name();
            let place = (cell.ordinal, cell.clients, &cell.step, &cell.metric, unit);
            let row = rows.entry(place).or_insert_with(|| Row {
                first: cell,
                values: HashMap::new(),
                zeros: HashSet::new(),
            });
            let build = (number, cell.system.as_str());
            // A value without a logarithm is no part of a series.
            if cell.value.is_finite() && cell.value > 0.0 {
                let rounds = row.values.entry(build);
                rounds.or_default().insert(cell.round, cell.value);
            } else if cell.value == 0.0 {
                row.zeros.insert(build);
            }
        }
    }
    rows
}

/// The values of a row in the order of the builds, empty where a build has none.
fn in_order(row: &Row<'_>, parts: &[Part<'_>]) -> Vec<Vec<BTreeMap<u32, f64>>> {
    let of_part = |(number, part): (usize, &Part<'_>)| {
        let systems = part.systems.iter();
        let of = |system: &&str| {
            row.values
                .get(&(number, *system))
                .cloned()
                .unwrap_or_default()
        };
        systems.map(of).collect()
    };
    parts.iter().enumerate().map(of_part).collect()
}

/// Places of the builds that have nothing but zeros.
fn zeros(row: &Row<'_>, parts: &[Part<'_>]) -> Vec<usize> {
    let builds = parts.iter().enumerate().flat_map(|(number, part)| {
        let systems = part.systems.iter();
        systems.map(move |system| (number, *system))
    });
    let is_zero =
        |build: &(usize, &str)| row.zeros.contains(build) && !row.values.contains_key(build);
    let zeros = builds.enumerate().filter(|(_, build)| is_zero(build));
    zeros.map(|(place, _)| place).collect()
}

/// The lines of one metric.
fn lines(family: &[&Row<'_>], parts: &[Part<'_>], options: &HistoryOptions) -> Vec<HistoryLine> {
    let values: Vec<Vec<Vec<BTreeMap<u32, f64>>>> =
        family.iter().map(|row| in_order(row, parts)).collect();
    let series: Vec<Series> = values
        .iter()
        .zip(family)
        .map(|(values, row)| {
            let own = describe(&row.first.metric).map_or(0.0, |is| is.margin);
            Series {
                margin: log_margin(options.min_effect.unwrap_or(own)),
                ..series(values)
            }
        })
        .collect();
    let found = analyse(&series).into_iter().zip(&series);
    let quantiles = Quantiles::default();
    let rows = family.iter().zip(&values);
    rows.zip(found)
        .map(|((row, values), (found, series))| {
            let rounds: Vec<&BTreeMap<u32, f64>> = values.iter().flatten().collect();
            HistoryLine {
                zeros: zeros(row, parts),
                ..line(row.first, &rounds, series, &found, options.base, &quantiles)
            }
        })
        .collect()
}

/// The series of a row: only builds that have a value; what the rounds of a run share is taken out.
fn series(parts: &[Vec<BTreeMap<u32, f64>>]) -> Series {
    let mut series = Series {
        one_run: parts
            .iter()
            .filter(|p| p.iter().any(|v| !v.is_empty()))
            .count()
            == 1,
        ..Series::default()
    };
    for systems in parts {
        let common = common_rounds(systems);
        series.shared += (common.len() as u32).saturating_sub(1);
        for rounds in systems.iter().filter(|rounds| !rounds.is_empty()) {
            let shift = |round: &u32| common.get(round).copied().unwrap_or(0.0);
            let logs = rounds
                .iter()
                .map(|(round, value)| value.ln() - shift(round));
            series.builds.push(logs.collect());
            let beside = rounds
                .keys()
                .filter(|round| common.contains_key(*round))
                .count();
            let is_beside = beside >= FEWEST_ROUNDS as usize;
            if series.builds.len() == 1 {
                series.first_beside = is_beside;
            }
            series.last_beside = is_beside;
        }
    }
    series
}

/// What each round that several systems have shares: the mean of how far they are from their own means. With
/// every value there this is the two-way analysis of variance.
fn common_rounds(systems: &[BTreeMap<u32, f64>]) -> BTreeMap<u32, f64> {
    let mut off: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for rounds in systems.iter().filter(|rounds| !rounds.is_empty()) {
        let mean = rounds.values().map(|v| v.ln()).sum::<f64>() / rounds.len() as f64;
        for (round, value) in rounds {
            off.entry(*round).or_default().push(value.ln() - mean);
        }
    }
    off.into_iter()
        .filter(|(_, off)| off.len() > 1)
        .map(|(round, off)| (round, off.iter().sum::<f64>() / off.len() as f64))
        .collect()
}

fn line(
    first: &Cell,
    rounds: &[&BTreeMap<u32, f64>],
    series: &Series,
    found: &Found,
    base: usize,
    quantiles: &Quantiles,
) -> HistoryLine {
    // Places of the builds that have a value, in the order of the series.
    let present: Vec<usize> = (0..rounds.len())
        .filter(|place| !rounds[*place].is_empty())
        .collect();
    let means: Vec<f64> = series
        .builds
        .iter()
        .map(|logs| logs.iter().sum::<f64>() / logs.len() as f64)
        .collect();
    let error = |place: usize| {
        let chance = found.chance.as_ref();
        chance.and_then(|(errors, _)| errors.get(place).copied())
    };
    let half_width = found
        .chance
        .as_ref()
        .map(|(_, df)| quantiles.t_critical((1.0 - CONFIDENCE) / 2.0, *df));
    let estimate = |of: usize, over: usize| {
        let log = means[of] - means[over];
        let ends = error(of).zip(error(over)).zip(half_width);
        Ratio {
            ratio: log.exp(),
            ends: ends.map(|((a, b), t)| {
                let half = t * a.hypot(b);
                ((log - half).exp(), (log + half).exp())
            }),
        }
    };
    let base = present.iter().position(|place| *place == base);
    let mut points: Vec<Option<HistoryPoint>> = vec![None; rounds.len()];
    for (place, build) in present.iter().enumerate() {
        points[*build] = Some(HistoryPoint {
            rounds: rounds[*build]
                .iter()
                .map(|(round, value)| (*round, *value))
                .collect(),
            value: means[place].exp(),
            error: error(place),
            to_previous: place.checked_sub(1).map(|before| estimate(place, before)),
            to_base: base
                .filter(|base| *base != place)
                .map(|base| estimate(place, base)),
            standing: found.standing.get(place).copied().unwrap_or_default(),
        });
    }
    let at = |change: &Change| Change {
        at: present.get(change.at).copied().unwrap_or(change.at),
        ..*change
    };
    HistoryLine {
        step: first.step.clone(),
        ordinal: first.ordinal,
        clients: first.clients,
        metric: first.metric.clone(),
        unit: first.unit,
        points,
        zeros: Vec::new(),
        changes: found.changes.iter().map(at).collect(),
    }
}
