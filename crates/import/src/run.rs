//! Rows become a run as the store keeps it: a plan, a host that is not this one, and trials with steps.

use std::collections::{BTreeMap, HashMap, HashSet};

use model::{
    Bytes, DiskFacts, ErrorRules, Host, HostShape, LoadMethod, LoadSpec, Measurement, Nanos, Plan,
    Readings, SqlPace, SqlRun, SqlSpec, SqlStep, SqlWork, Statements, StepId, StepRecord, TrialKey,
    WarmUpEnd, WorkloadSpec,
};

use crate::file::{Line, quote};
use crate::system::{CONTROL, system};
use crate::{ImportError, Mode, Options, Row};

/// Rounds that a run may have.
const MOST_ROUNDS: u32 = 10_000;
/// Systems that a run may have.
const MOST_SYSTEMS: usize = 10_000;

/// Systems that an error names.
const NAMED: usize = 20;

/// What is known of a run besides its rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct About {
    /// Its name.
    pub name: String,
    /// The system that the others are compared with; else the first.
    pub base: Option<String>,
    /// What was imported, for the record.
    pub source: String,
}

/// A run to be kept.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportedRun {
    /// Systems, steps and rounds.
    pub plan: Plan,
    /// What is known of where it ran: the number of CPUs, at most.
    pub host: Host,
    /// Trials in the order of their rounds.
    pub trials: Vec<ImportedTrial>,
}

/// A trial with all that was measured.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportedTrial {
    /// Which.
    pub key: TrialKey,
    /// Its steps, in order.
    pub steps: Vec<(StepRecord, Vec<Measurement>)>,
}

/// A run of rows. The steps come in the order in which rows first have them, and so do the systems.
///
/// # Errors
/// When there is no row, a name says no product, a step is there twice in a round, or the base is not
/// there.
pub fn run(rows: &[Row], about: &About, options: &Options) -> Result<ImportedRun, ImportError> {
    let first = rows
        .first()
        .ok_or_else(|| place_of_source(about).wrong("nothing to import"))?;
    let rounds = rounds(rows)?;
    let base = about.base.clone().unwrap_or_else(|| first.system.clone());
    let systems = systems(rows, &base, options)?;
    if !systems.iter().any(|system| system.name == base) {
        let names = systems.iter().take(NAMED).map(|system| quote(&system.name));
        let (base, names) = (quote(&base), names.collect::<Vec<_>>().join(", "));
        let what = format!("no system {base} to be the base; there are {names}");
        return Err(place_of(first).wrong(what));
    }
    let steps = steps(rows);
    let plan = Plan {
        name: about.name.clone(),
        workload: WorkloadSpec::Sql(workload(&about.name, &steps, options.mode)),
        rounds: rounds.iter().copied().max().unwrap_or(1),
        seed: 0,
        base,
        systems,
        course: model::Course::default(),
        template: false,
        source: about.source.clone(),
    };
    let trials = trials(rows, &rounds, &steps, &plan, options.mode);
    Ok(ImportedRun {
        plan,
        host: host(
            options
                .cpus
                .or_else(|| rows.iter().find_map(|row| row.cpus)),
        ),
        trials,
    })
}

fn place_of(row: &Row) -> Line<'_> {
    Line {
        origin: &row.origin,
        number: row.line,
        text: "",
    }
}

fn place_of_source(about: &About) -> Line<'_> {
    Line {
        origin: &about.source,
        number: 1,
        text: "",
    }
}

/// The round of each row: what it says, else how often its step was there for its system before.
fn rounds(rows: &[Row]) -> Result<Vec<u32>, ImportError> {
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
            return Err(place_of(row).wrong(what));
        }
        if !taken.insert((step.0, step.1, step.2, round)) {
            let (system, test) = (quote(&row.system), quote(&row.test));
            let what = format!("{test} of {system} is there twice in round {round}");
            return Err(place_of(row).wrong(what));
        }
        rounds.push(round);
    }
    Ok(rounds)
}

/// The systems. A control is a copy of the base, so that its product is the base's.
fn systems(rows: &[Row], base: &str, options: &Options) -> Result<Vec<model::System>, ImportError> {
    let of_base = || Some(system(base, None, "").ok()?.build.dbms);
    let mut seen = HashSet::new();
    let mut systems = Vec::new();
    for row in rows {
        if seen.insert(row.system.as_str()) {
            if systems.len() == MOST_SYSTEMS {
                let what = format!("more than {MOST_SYSTEMS} systems");
                return Err(place_of(row).wrong(what));
            }
            let is_control = row.system == CONTROL;
            let of_control = || is_control.then(of_base).flatten();
            let usual = options.dbms.or_else(of_control);
            let made = system(&row.system, usual, &row.origin);
            systems.push(made.map_err(|what| place_of(row).wrong(what))?);
        }
    }
    Ok(systems)
}

/// A test with a number of clients.
type Step<'a> = (&'a str, u32);

/// The steps in order, and of each its name and a row that has it.
fn steps(rows: &[Row]) -> Vec<(Step<'_>, StepId, &Row)> {
    let mut clients: HashMap<&str, HashSet<u32>> = HashMap::new();
    for row in rows {
        let of_test = clients.entry(row.test.as_str()).or_default();
        of_test.insert(row.clients);
    }
    let mut seen = HashSet::new();
    let firsts = rows
        .iter()
        .filter(|row| seen.insert((row.test.as_str(), row.clients)));
    let named = firsts.map(|row| {
        let is_swept = clients
            .get(row.test.as_str())
            .is_some_and(|of| of.len() > 1);
        let name = if is_swept {
            format!("{}@{}", row.test, row.clients)
        } else {
            row.test.clone()
        };
        ((row.test.as_str(), row.clients), StepId(name), row)
    });
    named.collect()
}

/// A workload of which only the names and groups of its steps are known; it cannot be run.
fn workload(name: &str, steps: &[(Step<'_>, StepId, &Row)], mode: Mode) -> SqlSpec {
    let step = |(_, id, row): &(Step<'_>, StepId, &Row)| SqlStep {
        id: id.clone(),
        test: row.test.clone(),
        group: row.group.clone(),
        clients: row.clients,
        work: SqlWork::Run(SqlRun {
            measured: true,
            seconds: (row.window.0 / Nanos::SECOND.0) as u32,
            warmup_seconds: 0,
            warmup_end: WarmUpEnd::Fixed,
            writes: true,
            whole: false,
            pace: SqlPace::Unlimited,
            operations: Vec::new(),
        }),
    };
    SqlSpec {
        name: name.to_owned(),
        tables: Vec::new(),
        load: LoadSpec {
            clients: 1,
            method: LoadMethod::Fastest,
            rows_per_commit: 1,
            indexes_first: false,
        },
        steps: steps.iter().map(step).collect(),
        statements: Statements::Usual,
        errors: ErrorRules {
            ignore: Vec::new(),
            retry: Vec::new(),
            fatal: Vec::new(),
            tries: 1,
            reconnect_seconds: 0,
        },
        statement_timeout: 60,
        compat: mode == Mode::Compat,
    }
}

fn trials(
    rows: &[Row],
    rounds: &[u32],
    steps: &[(Step<'_>, StepId, &Row)],
    plan: &Plan,
    mode: Mode,
) -> Vec<ImportedTrial> {
    let positions: HashMap<&str, u32> = plan
        .systems
        .iter()
        .zip(1..)
        .map(|(system, position)| (system.name.as_str(), position))
        .collect();
    let ordinals: HashMap<Step<'_>, (u32, &StepId)> = steps
        .iter()
        .zip(0..)
        .map(|((step, id, _), ordinal)| (*step, (ordinal, id)))
        .collect();
    let mut trials: BTreeMap<(u32, u32), ImportedTrial> = BTreeMap::new();
    for (row, round) in rows.iter().zip(rounds) {
        let position = positions.get(row.system.as_str()).copied().unwrap_or(1);
        let Some(&(ordinal, id)) = ordinals.get(&(row.test.as_str(), row.clients)) else {
            continue;
        };
        let trial = trials
            .entry((*round, position))
            .or_insert_with(|| ImportedTrial {
                key: TrialKey {
                    round: *round,
                    position,
                    system: row.system.clone(),
                },
                steps: Vec::new(),
            });
        let record = record(row, id, ordinal, mode);
        trial.steps.push((record, row.measurements.clone()));
    }
    let mut trials: Vec<ImportedTrial> = trials.into_values().collect();
    for trial in &mut trials {
        trial.steps.sort_by_key(|(record, _)| record.ordinal);
    }
    trials
}

/// A record that has no counters and no histograms: only the measurements are known.
fn record(row: &Row, id: &StepId, ordinal: u32, mode: Mode) -> StepRecord {
    let mut notes = vec![("imported from".to_owned(), row.origin.clone())];
    notes.extend(row.notes.iter().cloned());
    StepRecord {
        step: id.clone(),
        ordinal,
        measured: true,
        clients: row.clients,
        window: row.window,
        elapsed: row.window,
        subject: row.subject.clone(),
        kinds: Vec::new(),
        errors: Vec::new(),
        target_rate: row.target_rate,
        seconds_on_target: None,
        requested_rows: 0,
        open_loop: None,
        tpcc: None,
        counters: Readings::default(),
        before: None,
        sizes: None,
        checks: Vec::new(),
        notes,
        compat: mode == Mode::Compat,
    }
}

/// A host of which at most the number of CPUs is known; zero where that is not.
fn host(cpus: Option<u32>) -> Host {
    let unknown = || "not known (imported)".to_owned();
    Host {
        name: "imported".to_owned(),
        cpu_model: unknown(),
        shape: HostShape {
            cpus: cpus.unwrap_or(0),
            memory: Bytes(0),
        },
        threads_per_core: 1,
        kernel: unknown(),
        os: unknown(),
        governor: None,
        clock_source: None,
        thp: None,
        swap: Bytes(0),
        virtualization: None,
        disk: DiskFacts {
            device: None,
            filesystem: unknown(),
            options: String::new(),
            size: Bytes(0),
            free: Bytes(0),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::file;
    use model::Unit;

    fn row(system: &str, test: &str, clients: u32, rate: f64) -> Row {
        let file = file("x.csv", "a\nb");
        let mut row = Row::new(file.end(), system, test, clients);
        row.put("rate", Unit::OpsPerSecond, rate);
        row
    }

    fn about() -> About {
        About {
            name: "imported".into(),
            base: None,
            source: "x.csv".into(),
        }
    }

    #[test]
    fn the_same_step_again_is_the_next_round() {
        let rows = [
            row("mysql-8.0.31", "point", 1, 100.0),
            row("mysql-8.0.31", "scan", 1, 5.0),
            row("mysql-9.7.4", "point", 1, 90.0),
            row("mysql-8.0.31", "point", 1, 101.0),
            row("mysql-9.7.4", "point", 8, 700.0),
        ];
        let run = run(&rows, &about(), &Options::default()).unwrap();
        assert_eq!(
            (run.plan.rounds, run.plan.base.as_str()),
            (2, "mysql-8.0.31")
        );
        let shape: Vec<String> = run
            .trials
            .iter()
            .map(|trial| {
                let steps = trial.steps.iter();
                let steps: Vec<&str> = steps.map(|(record, _)| record.step.0.as_str()).collect();
                format!(
                    "{} {}: {}",
                    trial.key.round,
                    trial.key.system,
                    steps.join(" ")
                )
            })
            .collect();
        let expected = [
            "1 mysql-8.0.31: point@1 scan",
            "1 mysql-9.7.4: point@1 point@8",
            "2 mysql-8.0.31: point@1",
        ];
        assert_eq!(shape, expected);
    }

    #[test]
    fn a_control_is_of_the_product_of_the_base() {
        let rows = [
            row("control", "p", 1, 1.0),
            row("postgres-18.1/z13a", "p", 1, 1.0),
        ];
        let about = About {
            base: Some("postgres-18.1/z13a".into()),
            ..about()
        };
        let run = run(&rows, &about, &Options::default()).unwrap();
        let control = run.plan.system("control").unwrap();
        assert!(control.control);
        assert_eq!(control.build.dbms, model::Dbms::Postgres);
    }

    #[test]
    fn what_does_not_make_a_run_is_told() {
        let mut twice = [row("mysql-8", "p", 1, 1.0), row("mysql-8", "p", 1, 2.0)];
        for row in &mut twice {
            row.round = Some(3);
        }
        let absurd = Row {
            round: Some(u32::MAX),
            ..row("mysql-8", "p", 1, 1.0)
        };
        let cases: [(&[Row], &str); 4] = [
            (&[], "nothing to import"),
            (&twice, "twice in round 3"),
            (&[absurd], "at most 10000 rounds"),
            (&[row("fast", "p", 1, 1.0)], "does not say which product"),
        ];
        for (rows, what) in cases {
            let error = run(rows, &about(), &Options::default()).unwrap_err();
            assert!(error.what.contains(what), "{error}");
        }
        let no_base = About {
            base: Some("other".into()),
            ..about()
        };
        assert!(run(&twice[..1], &no_base, &Options::default()).is_err());
    }
}
