//! Rows become a run as the store keeps it: a plan, a host that is not this one, and trials with steps.

mod unknown;

use std::collections::{BTreeMap, HashMap, HashSet};

use model::{Host, Measurement, Plan, StepId, StepRecord, System, TrialKey};

use crate::file::{FileLine, quote};
use crate::system::system;
use crate::{ImportError, ImportedStep, Mode, Options, conditions};

const MOST_ROUNDS: u32 = 10_000;
const MOST_SYSTEMS: usize = 10_000;

const NAMED: usize = 20;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct About {
    pub name: String,
    /// The system that the others are compared with; else the first.
    pub base: Option<String>,
    /// What was imported, for the record.
    pub source: String,
    /// Are the systems to stand in the order of their versions, where that of the files says nothing?
    pub by_version: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ImportedRun {
    pub plan: Plan,
    /// What is known of where it ran: the number of CPUs, at most.
    pub host: Host,
    pub trials: Vec<ImportedTrial>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ImportedTrial {
    pub key: TrialKey,
    pub steps: Vec<(StepRecord, Vec<Measurement>)>,
}

/// A run of rows. The steps come in the order in which rows first have them, and so do the systems, unless it is said
/// that these go by version; steps of the Insert Benchmark have an order of their own.
///
/// # Errors
/// When there is no row, a system has no name, a step is there twice in a round, the base is not there,
/// or hosts, scales or units differ.
pub fn run(
    rows: &[ImportedStep],
    about: &About,
    options: &Options,
) -> Result<ImportedRun, ImportError> {
    place_of_source(about).check_name(&about.name)?;
    let first = rows.first().ok_or_else(|| place_of_source(about).wrong("nothing to import"))?;
    let rounds = rounds(rows)?;
    let named = about.base.as_deref().unwrap_or(&first.system);
    let mut systems = systems(rows, named, options)?;
    if about.by_version {
        // Zero stands for a version that is not known: no good base.
        systems.sort_by_cached_key(|system| {
            let (dbms, version) = (system.build.dbms, system.build.version.clone());
            (dbms, version.major() == 0, version)
        });
    }
    let oldest = systems.first().filter(|_| about.by_version);
    let usual = oldest.map_or(&first.system, |system| &system.name);
    let base = about.base.clone().unwrap_or_else(|| usual.clone());
    if !systems.iter().any(|system| system.name == base) {
        let names = systems.iter().take(NAMED).map(|system| quote(&system.name));
        let (base, names) = (quote(&base), names.collect::<Vec<_>>().join(", "));
        let what = format!("no system {base} to be the base; there are {names}");
        return Err(first.place().wrong(what));
    }
    let cpus = conditions::cpus(rows, options.cpus)?;
    let scales = conditions::scales(rows)?;
    conditions::units(rows)?;
    let mut steps = steps(rows);
    steps.sort_by_key(|(_, _, row)| row.order);
    let planned = steps
        .iter()
        .zip(0..)
        .map(|((_, id, row), ordinal)| unknown::step(row, id, ordinal, options.mode));
    let workload = unknown::workload(&about.name, &scales, options.mode).into();
    let plan = Plan {
        steps: planned.collect(),
        rounds: rounds.iter().copied().max().unwrap_or(1),
        base,
        source: about.source.clone(),
        ..Plan::new(&about.name, workload, systems)
    };
    let trials = trials(rows, &rounds, &steps, &plan, options.mode);
    Ok(ImportedRun { plan, host: unknown::host(cpus), trials })
}

fn place_of_source(about: &About) -> FileLine<'_> {
    FileLine::at(about.source.trim_end(), 1)
}

/// The round of each row: what it says, otherwise the number of earlier rows of its step and system.
pub(crate) fn rounds(rows: &[ImportedStep]) -> Result<Vec<u32>, ImportError> {
    let mut seen: HashMap<(&str, &str, u32), u32> = HashMap::new();
    let mut taken: HashSet<(&str, &str, u32, u32)> = HashSet::new();
    let mut rounds = Vec::with_capacity(rows.len());
    for row in rows {
        let step = (row.system.as_str(), row.test.as_str(), row.clients);
        let before = seen.entry(step).or_default();
        *before += 1;
        let round = row.round.unwrap_or(*before);
        if round > MOST_ROUNDS {
            let what = format!("round {round}: a run has at most {MOST_ROUNDS} rounds");
            return Err(row.place().wrong(what));
        }
        if !taken.insert((step.0, step.1, step.2, round)) {
            let (system, test) = (quote(&row.system), quote(&row.test));
            let what = format!(
                "{test} of {system} is there twice in round {round}; results of other numbers of clients need --clients or PATH@N, and further rounds a column `round`"
            );
            return Err(row.place().wrong(what));
        }
        rounds.push(round);
    }
    Ok(rounds)
}

/// The systems. A control is a copy of the base, so that its product is the base's.
fn systems(
    rows: &[ImportedStep],
    base: &str,
    options: &Options,
) -> Result<Vec<System>, ImportError> {
    let of_base = || Some(system(base, None, "").ok()?.build.dbms);
    let mut seen = HashSet::new();
    let mut systems = Vec::new();
    for row in rows {
        if seen.insert(row.system.as_str()) {
            if systems.len() == MOST_SYSTEMS {
                let what = format!("more than {MOST_SYSTEMS} systems");
                return Err(row.place().wrong(what));
            }
            let is_control = row.system == System::CONTROL;
            let of_control = || is_control.then(of_base).flatten();
            let usual = options.dbms.or(row.dbms).or_else(of_control);
            let made = system(&row.system, usual, &row.origin);
            systems.push(made.map_err(|what| row.place().wrong(what))?);
        }
    }
    Ok(systems)
}

type Step<'a> = (&'a str, u32);

/// The steps in order, and of each its name and a row that has it.
fn steps(rows: &[ImportedStep]) -> Vec<(Step<'_>, StepId, &ImportedStep)> {
    let mut clients: HashMap<&str, HashSet<u32>> = HashMap::new();
    for row in rows {
        let of_test = clients.entry(row.test.as_str()).or_default();
        of_test.insert(row.clients);
    }
    let mut seen = HashSet::new();
    let firsts = rows.iter().filter(|row| seen.insert((row.test.as_str(), row.clients)));
    let named = firsts.map(|row| {
        let is_swept = clients.get(row.test.as_str()).is_some_and(|of| of.len() > 1);
        let name =
            if is_swept { format!("{}@{}", row.test, row.clients) } else { row.test.clone() };
        ((row.test.as_str(), row.clients), StepId(name), row)
    });
    named.collect()
}

fn trials(
    rows: &[ImportedStep],
    rounds: &[u32],
    steps: &[(Step<'_>, StepId, &ImportedStep)],
    plan: &Plan,
    mode: Mode,
) -> Vec<ImportedTrial> {
    let positions: HashMap<&str, u32> = plan
        .systems
        .iter()
        .zip(1..)
        .map(|(system, position)| (system.name.as_str(), position))
        .collect();
    let ordinals: HashMap<Step<'_>, (u32, &StepId)> =
        steps.iter().zip(0..).map(|((step, id, _), ordinal)| (*step, (ordinal, id))).collect();
    let mut trials: BTreeMap<(u32, u32), ImportedTrial> = BTreeMap::new();
    for (row, round) in rows.iter().zip(rounds) {
        let position = positions.get(row.system.as_str()).copied().unwrap_or(1);
        let Some(&(ordinal, id)) = ordinals.get(&(row.test.as_str(), row.clients)) else {
            continue;
        };
        let trial = trials.entry((*round, position)).or_insert_with(|| ImportedTrial {
            key: TrialKey { round: *round, position, system: row.system.clone() },
            steps: Vec::new(),
        });
        let record = unknown::record(row, id, ordinal, mode);
        trial.steps.push((record, row.measurements.clone()));
    }
    let mut trials: Vec<ImportedTrial> = trials.into_values().collect();
    for trial in &mut trials {
        trial.steps.sort_by_key(|(record, _)| record.ordinal);
    }
    trials
}

#[cfg(test)]
mod tests;
