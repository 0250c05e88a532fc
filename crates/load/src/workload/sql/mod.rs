//! Workloads of SQL statements: the microbenchmarks and users' own.
//!
//! Everything that such a workload does is data, see [`SqlSpec`]. Its tables are loaded by several
//! clients; then the clients of each step run its operations, compiled once, in a closed or an open loop.

pub(super) mod answers;
pub(super) mod checksum;
pub(super) mod client;
mod compile;
mod contents;
mod distribution;
mod drawn;
mod effects;
mod errand;
#[cfg(test)]
mod fixture;
mod index;
mod judge;
mod kinds;
pub(super) mod ledger;
pub(super) mod limits;
pub(super) mod literal;
pub(super) mod load;
mod misses;
mod reading;
mod reset;
mod rows;
mod run;
mod sampled;
pub(super) mod schema;
mod settle;
mod shape;
mod state;
mod statements;
mod tokens;
mod trouble;
pub(super) mod values;

use std::sync::{Arc, Mutex, PoisonError};

use model::{Check, Nanos, SqlRun, SqlSpec, SqlStep, SqlWork, StepId, Subject};

use self::contents::{Contents, Edge, Next};
use self::errand::{Errand, Job};
use self::kinds::Kinds;
use self::ledger::Ledger;
use self::run::RunStep;
use self::state::Loaded;
use crate::engine::{Observer, Stop};
use crate::workload::NOT_SLICEABLE;
use crate::{SlicedStep, StepError, StepOutline, StepResult, Target, Workload};

/// The phase in place of loading, in a trial on what another one loaded.
const WARM: &str = "warm";

/// The workload in one trial.
pub(super) struct Sql {
    spec: SqlSpec,
    seed: u64,
    ledger: Arc<Ledger>,
    stages: Vec<Stage>,
    /// What another one loaded, where that is where this one begins.
    loaded: Option<Loaded>,
    contents: Mutex<Contents>,
    /// Are the server's limits known to be high enough?
    fits: bool,
}

/// A step as it is carried out.
#[derive(Clone, Debug)]
struct Stage {
    id: StepId,
    clients: u32,
    work: Work,
}

#[derive(Clone, Debug)]
enum Work {
    /// Clients have a fixed amount of work.
    Errand(Errand),
    /// Clients run operations.
    Run(SqlRun),
}

impl Stage {
    fn of(step: &SqlStep) -> Self {
        let work = match &step.work {
            SqlWork::Load => Work::Errand(Errand::Load),
            SqlWork::Index => Work::Errand(Errand::Index),
            SqlWork::Settle(settle) => Work::Errand(Errand::Settle(*settle)),
            SqlWork::Reset => Work::Errand(Errand::Reset),
            SqlWork::Run(run) => Work::Run(run.clone()),
        };
        Self {
            id: step.id.clone(),
            clients: step.clients,
            work,
        }
    }

    /// Can what it does be done once for many trials?
    fn is_loading(&self) -> bool {
        match &self.work {
            Work::Errand(errand) => errand.is_loading(),
            Work::Run(_) => false,
        }
    }

    fn outline(&self) -> StepOutline {
        let (measured, kinds, subject) = match &self.work {
            Work::Run(run) => {
                let Kinds { specs, subject, .. } = Kinds::of(run);
                (run.measured, specs, subject)
            }
            Work::Errand(errand) => {
                let kinds = errand.kinds();
                let subject = Subject {
                    kind: kinds[0].name.clone(),
                    counts: errand.counts(),
                };
                (errand.is_measured(), kinds, subject)
            }
        };
        StepOutline {
            step: self.id.clone(),
            measured,
            kinds: kinds.into_iter().map(|kind| kind.name).collect(),
            subject,
            clients: self.clients,
        }
    }
}

impl Sql {
    pub(super) fn new(spec: SqlSpec, seed: u64) -> Self {
        Self {
            ledger: Arc::new(Ledger::new(&spec)),
            stages: spec.steps.iter().map(Stage::of).collect(),
            loaded: None,
            contents: Mutex::new(Contents::new()),
            fits: false,
            spec,
            seed,
        }
    }

    /// Before the first step: does the server let the clients do what the workload asks for?
    fn check_limits(&mut self, target: &Target) -> Result<(), StepError> {
        if !self.fits {
            limits::check(&self.spec, target)?;
            self.fits = true;
        }
        Ok(())
    }

    /// What comes after stage `index`.
    fn next(&self, index: usize) -> Next<'_> {
        match self.stages.get(index + 1).map(|stage| &stage.work) {
            None | Some(Work::Errand(Errand::Load | Errand::Reset)) => Next::End,
            Some(Work::Errand(Errand::Index | Errand::Settle(_) | Errand::Read)) => Next::Same,
            Some(Work::Run(run)) => Next::Run(run),
        }
    }

    /// What a stage without operations has left.
    fn check(
        &self,
        index: usize,
        errand: Errand,
        target: &Target,
        stop: &Stop,
    ) -> Result<Vec<Check>, StepError> {
        let step = &self.stages[index].id;
        let mut contents = self.contents.lock().unwrap_or_else(PoisonError::into_inner);
        match errand {
            Errand::Load | Errand::Reset | Errand::Read => {
                contents.set_loaded(&self.spec, self.rows_seed(), step);
                Ok(Vec::new())
            }
            Errand::Index | Errand::Settle(_) => {
                let edge = Edge {
                    spec: &self.spec,
                    target,
                    ledger: &self.ledger,
                    step,
                    run: None,
                    next: self.next(index),
                };
                contents.check(&edge, stop)
            }
        }
    }

    /// A stage that runs operations, about to be run.
    fn run_step<'a>(
        &'a self,
        index: usize,
        stage: &'a Stage,
        run: &'a SqlRun,
        target: &'a Target,
    ) -> RunStep<'a> {
        RunStep {
            spec: &self.spec,
            id: &stage.id,
            clients: stage.clients,
            run,
            seed: self.seed,
            target,
            ledger: &self.ledger,
            contents: &self.contents,
            next: self.next(index),
        }
    }

    /// The seed of the rows: that of the trial which loaded them.
    fn rows_seed(&self) -> u64 {
        self.loaded.as_ref().map_or(self.seed, |loaded| loaded.seed)
    }
}

impl Workload for Sql {
    fn steps(&self) -> Vec<StepOutline> {
        self.stages.iter().map(Stage::outline).collect()
    }

    fn run(
        &mut self,
        index: usize,
        target: &Target,
        stop: &Stop,
        observer: &mut dyn Observer,
    ) -> Result<StepResult, StepError> {
        self.check_limits(target)?;
        let stage = &self.stages[index];
        match &stage.work {
            Work::Errand(errand) => {
                let job = Job {
                    errand: *errand,
                    spec: &self.spec,
                    seed: self.rows_seed(),
                    target,
                    ledger: &self.ledger,
                    loaded: self.loaded.as_ref(),
                };
                let mut result = job.run(stop, observer)?;
                let checks = self.check(index, *errand, target, stop)?;
                result.checks.extend(checks);
                Ok(result)
            }
            Work::Run(run) => self.run_step(index, stage, run, target).run(stop, observer),
        }
    }

    fn sliceable(&self, index: usize) -> Option<Nanos> {
        match &self.stages.get(index)?.work {
            Work::Run(run) => run::sliceable(run),
            Work::Errand(_) => None,
        }
    }

    fn open_slices<'a>(
        &'a mut self,
        index: usize,
        target: &'a Target,
        stop: &Stop,
    ) -> Result<Box<dyn SlicedStep + 'a>, StepError> {
        self.check_limits(target)?;
        let stage = &self.stages[index];
        match &stage.work {
            Work::Run(run) => {
                let step = self.run_step(index, stage, run, target);
                Ok(Box::new(step.open(stop)?))
            }
            Work::Errand(_) => Err(StepError::Unsupported(NOT_SLICEABLE.to_owned())),
        }
    }

    fn loading_steps(&self) -> usize {
        let rest = self.stages.iter().position(|stage| !stage.is_loading());
        rest.unwrap_or(0)
    }

    fn state(&self, _target: &Target) -> Result<String, StepError> {
        state::state(&self.spec, self.rows_seed())
    }

    fn restore(&mut self, state: &str) -> Result<(), StepError> {
        self.loaded = Some(state::restore(state, &self.spec, &self.ledger)?);
        let warm = Stage {
            id: StepId::new(WARM),
            clients: self.spec.load.clients,
            work: Work::Errand(Errand::Read),
        };
        let done = self.loading_steps();
        self.stages.splice(..done, [warm]);
        Ok(())
    }
}

/// All of `spec` that decides what loading leaves: the tables, how they are loaded, and what is done
/// before the first step that is no part of it.
pub(super) fn loading(spec: &SqlSpec) -> Result<String, StepError> {
    let steps = spec.steps.iter();
    let loading = steps.take_while(|step| Stage::of(step).is_loading());
    let works: Vec<&SqlWork> = loading.map(|step| &step.work).collect();
    serde_json::to_string(&(&spec.tables, &spec.load, works))
        .map_err(|error| StepError::State(error.to_string()))
}

#[cfg(test)]
mod tests {
    use model::{Arrivals, Settle, SqlPace, Verb};

    use super::fixture::{operation, run, spec, step};
    use super::*;

    fn whole() -> SqlSpec {
        let point = || run(vec![operation("point", false, 1, &["point"])]);
        let of = |name: &str, work| SqlStep {
            work,
            ..step(name, 2, point())
        };
        spec(vec![
            of("load", SqlWork::Load),
            of("index", SqlWork::Index),
            of("settle", SqlWork::Settle(Settle::Seconds(0))),
            step("point", 4, point()),
            of("reset", SqlWork::Reset),
            step("again", 4, point()),
        ])
    }

    #[test]
    fn every_step_is_announced() {
        let steps = Sql::new(whole(), 1).steps();
        let told: Vec<_> = steps
            .iter()
            .map(|o| {
                (
                    o.step.0.as_str(),
                    o.measured,
                    o.subject.kind.as_str(),
                    o.clients,
                )
            })
            .collect();
        assert_eq!(
            told,
            [
                ("load", true, "insert", 2),
                ("index", true, "create_index", 2),
                ("settle", false, "settle", 2),
                ("point", true, "point", 4),
                ("reset", false, "insert", 2),
                ("again", true, "point", 4),
            ]
        );
        assert_eq!(steps[4].kinds, ["insert", "create_index"]);
    }

    #[test]
    fn steps_that_read_for_a_time_can_be_measured_in_slices() {
        let sql = Sql::new(whole(), 1);
        let lengths: Vec<Option<Nanos>> = (0..7).map(|index| sql.sliceable(index)).collect();
        let second = Some(Nanos::SECOND);
        assert_eq!(lengths, [None, None, None, second, None, second, None]);
    }

    #[test]
    fn steps_that_are_no_such_result_cannot_be_measured_in_slices() {
        let of = |change: fn(&mut SqlRun)| {
            let mut reads = run(vec![operation("point", false, 2, &["point"])]);
            change(&mut reads);
            run::sliceable(&reads)
        };
        assert_eq!(of(|run| run.seconds = 4), Some(Nanos::from_secs(4)));
        assert_eq!(of(|run| run.measured = false), None);
        assert_eq!(of(|run| run.writes = true), None);
        assert_eq!(of(|run| run.whole = true), None);
        let rate = |run: &mut SqlRun| {
            run.pace = SqlPace::Rate {
                per_second: 10,
                arrivals: Arrivals::Even,
                queue: 10,
            };
        };
        assert_eq!(of(rate), None);
        // Whatever the file says of it.
        let locks = |run: &mut SqlRun| {
            run.operations[0].blocks[0].statements[0].verb = Verb::Other;
        };
        assert_eq!(of(locks), None);
    }

    #[test]
    fn loading_ends_where_operations_begin() {
        assert_eq!(Sql::new(whole(), 1).loading_steps(), 3);
        let mut only = whole();
        only.steps.truncate(3);
        assert_eq!(Sql::new(only, 1).loading_steps(), 0);
    }

    #[test]
    fn after_a_restore_the_data_is_read_in_place_of_the_loading() {
        let loaded = Sql::new(whole(), 7);
        let state = state::state(&loaded.spec, loaded.rows_seed()).unwrap();
        let mut rest = Sql::new(whole(), 8);
        rest.restore(&state).unwrap();
        let names: Vec<String> = rest.steps().into_iter().map(|o| o.step.0).collect();
        assert_eq!(names, ["warm", "point", "reset", "again"]);
        assert_eq!(rest.steps()[0].subject.kind, "scan");
        // What is loaded again are the rows that were there, not those of this trial's seed.
        assert_eq!((rest.rows_seed(), rest.seed), (7, 8));
    }

    #[test]
    fn what_operations_do_is_no_part_of_the_loading() {
        let of = |spec: &SqlSpec| loading(spec).unwrap();
        let mut same = whole();
        same.steps.truncate(4);
        same.statements = model::Statements::Text;
        assert_eq!(of(&whole()), of(&same));
        let mut other = whole();
        other.tables[0].rows += 1;
        assert_ne!(of(&whole()), of(&other));
        let mut other = whole();
        other.load.clients += 1;
        assert_ne!(of(&whole()), of(&other));
        let mut other = whole();
        other.steps.remove(1);
        assert_ne!(of(&whole()), of(&other));
    }
}
