//! Rows become a run as the store keeps it: a plan, a host that is not this one, and trials with steps.

use std::collections::{BTreeMap, HashMap, HashSet};

use model::{
    Bytes, DiskFacts, Host, HostShape, ImportedScale, ImportedSpec, Measurement, Note, NoteKind,
    Plan, Step, StepId, StepRecord, System, TrialKey, WorkloadSpec,
};

use crate::file::{FileLine, quote};
use crate::system::system;
use crate::{ImportedStep, Mode, Options, Result, Scale, conditions};

const MOST_ROUNDS: u32 = 10_000;
const MOST_SYSTEMS: usize = 10_000;
const NAMED: usize = 20;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct About {
    pub name: String,
    /// The system that the others are compared with; else the first.
    pub base: Option<String>,
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
pub fn run(rows: &[ImportedStep], about: &About, options: &Options) -> Result<ImportedRun> {
    place_of_source(about).check_name(&about.name)?;
    let first = rows.first().ok_or_else(|| place_of_source(about).wrong("nothing to import"))?;
    let rounds = rounds(rows)?;
    let mut systems = systems(rows, about.base.as_deref().unwrap_or(&first.system), options)?;
    if about.by_version {
        // Zero stands for a version that is not known: no good base.
        systems.sort_by_cached_key(|system| {
            let (dbms, version) = (system.build.dbms, system.build.version.clone());
            (dbms, version.major() == 0, version)
        });
    }
    let base = about.base.clone().unwrap_or_else(|| systems[0].name.clone());
    if !systems.iter().any(|system| system.name == base) {
        let names = systems.iter().take(NAMED).map(|system| quote(&system.name));
        let (base, names) = (quote(&base), names.collect::<Vec<_>>().join(", "));
        let what = format!("no system {base} to use as the base; the systems are {names}");
        return Err(first.place().wrong(what));
    }
    let cpus = conditions::cpus(rows, options.cpus)?;
    let scales = conditions::scales(rows)?;
    conditions::units(rows)?;
    let mut steps = steps(rows);
    steps.sort_by_key(|(_, row)| row.order);
    let planned =
        steps.iter().zip(0..).map(|((id, row), ordinal)| step_of(row, id, ordinal, options.mode));
    let plan = Plan {
        steps: planned.collect(),
        rounds: rounds.iter().copied().max().unwrap_or(1),
        base,
        source: about.source.clone(),
        ..Plan::new(&about.name, workload(&about.name, &scales, options.mode), systems)
    };
    let trials = trials(rows, &rounds, &plan, options.mode);
    Ok(ImportedRun { plan, host: host(cpus), trials })
}

fn place_of_source(about: &About) -> FileLine<'_> {
    FileLine::at(about.source.trim_end(), 1)
}

/// The round of each row: what it says, otherwise the number of earlier rows of its step and system.
pub(crate) fn rounds(rows: &[ImportedStep]) -> Result<Vec<u32>> {
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
                "{test} of {system} appears twice in round {round}; other numbers of clients need --clients or PATH@N, and further rounds need a column `round`"
            );
            return Err(row.place().wrong(what));
        }
        rounds.push(round);
    }
    Ok(rounds)
}

/// The systems. A control is a copy of the base, so that its product is the base's.
fn systems(rows: &[ImportedStep], base: &str, options: &Options) -> Result<Vec<System>> {
    let of_base = || Some(system(base, None, "")?.build.dbms);
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
            let unnamed = || row.place().wrong("a system has no name: give it one (NAME=PATH)");
            systems.push(system(&row.system, usual, &row.origin).ok_or_else(unnamed)?);
        }
    }
    Ok(systems)
}

/// A row of each step, with the step's name.
fn steps(rows: &[ImportedStep]) -> Vec<(StepId, &ImportedStep)> {
    let mut clients: HashMap<&str, HashSet<u32>> = HashMap::new();
    for row in rows {
        clients.entry(row.test.as_str()).or_default().insert(row.clients);
    }
    let mut seen = HashSet::new();
    let firsts = rows.iter().filter(|row| seen.insert((row.test.as_str(), row.clients)));
    let named = firsts.map(|row| {
        let is_swept = clients.get(row.test.as_str()).is_some_and(|of| of.len() > 1);
        let name =
            if is_swept { format!("{}@{}", row.test, row.clients) } else { row.test.clone() };
        (StepId(name), row)
    });
    named.collect()
}

fn trials(rows: &[ImportedStep], rounds: &[u32], plan: &Plan, mode: Mode) -> Vec<ImportedTrial> {
    let positions: HashMap<&str, u32> =
        plan.systems.iter().map(|system| system.name.as_str()).zip(1..).collect();
    let planned: HashMap<(&str, u32), &Step> =
        plan.steps.iter().map(|step| ((step.test.as_str(), step.clients), step)).collect();
    let mut trials: BTreeMap<(u32, u32), ImportedTrial> = BTreeMap::new();
    for (row, round) in rows.iter().zip(rounds) {
        let position = positions.get(row.system.as_str()).copied().unwrap_or(1);
        let Some(step) = planned.get(&(row.test.as_str(), row.clients)) else { continue };
        let trial = trials.entry((*round, position)).or_insert_with(|| ImportedTrial {
            key: TrialKey { round: *round, position, system: row.system.clone() },
            steps: Vec::new(),
        });
        let record = record(row, &step_of(row, &step.id, step.ordinal, mode));
        trial.steps.push((record, row.measurements.clone()));
    }
    let mut trials: Vec<ImportedTrial> = trials.into_values().collect();
    for trial in &mut trials {
        trial.steps.sort_by_key(|(record, _)| record.ordinal);
    }
    trials
}

fn step_of(row: &ImportedStep, id: &StepId, ordinal: u32, mode: Mode) -> Step {
    Step {
        test: row.test.clone(),
        group: row.group.clone(),
        target_rate: row.target_rate,
        compat: mode == Mode::Compat,
        ..Step::new(id.clone(), ordinal, row.clients, row.subject.clone())
    }
}

/// A record that has no counters and no histograms: only the measurements are known.
fn record(row: &ImportedStep, step: &Step) -> StepRecord {
    let mut notes = vec![Note::new(NoteKind::ImportedFrom, row.origin.as_str())];
    notes.extend(row.notes.iter().cloned());
    StepRecord { notes, ..StepRecord::of(step, row.window) }
}

/// A workload of which only the name is known, and of some tests their scale.
fn workload(name: &str, scales: &[(&str, Scale)], mode: Mode) -> WorkloadSpec {
    let scales = scales.iter().map(|(test, scale)| {
        let (tables, rows) = scale.tables();
        ImportedScale { test: (*test).to_owned(), tables, rows }
    });
    let (name, scales) = (name.to_owned(), scales.collect());
    WorkloadSpec::Imported(ImportedSpec { name, scales, compat: mode == Mode::Compat })
}

/// A host of which at most the number of CPUs is known; zero where that is not.
fn host(cpus: Option<u32>) -> Host {
    let unknown = || "not known (imported)".to_owned();
    Host {
        name: "imported".to_owned(),
        cpu_model: unknown(),
        shape: HostShape { cpus: cpus.unwrap_or(0), memory: Bytes(0) },
        threads_per_core: 1,
        kernel: unknown(),
        os: unknown(),
        disk: DiskFacts { filesystem: unknown(), ..DiskFacts::default() },
        ..Host::default()
    }
}

#[cfg(test)]
mod tests;
