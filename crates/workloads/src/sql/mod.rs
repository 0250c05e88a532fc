//! Workloads of SQL statements: the microbenchmarks and users' own.
//!
//! Everything that such a workload does is data, see [`SqlSpec`]. Its tables are loaded by several
//! clients; then the clients of each step run its operations, compiled once, in a closed or an open loop.

pub(super) mod answers;
pub(super) mod client;
mod compile;
mod contents;
mod drawn;
mod effects;
mod fixed;
mod index;
pub(super) mod limits;
mod misses;
mod own;
mod reset;
mod run;
mod sampled;
mod settle;
mod shape;
mod statements;
mod tokens;
mod trouble;

use std::sync::{Arc, Mutex, PoisonError};

use model::{Check, SqlRun, SqlSpec, SqlStep, SqlWork, Step, StepId, StepRecord};

use self::contents::{Contents, Edge, Next};
use self::fixed::{Job, Work};
use self::run::RunStep;
use data::row_counts::RowCounts;
use data::state::{self, Loaded};
use load::engine::{Observer, Stop};
use load::{StepError, Target, Workload};

pub(super) struct Sql {
    spec: SqlSpec,
    seed: u64,
    counts: Arc<RowCounts>,
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

impl Stage {
    fn of(step: &SqlStep) -> Self {
        let work = Work::OfSpec(step.work.clone());
        Self { id: step.id.clone(), clients: step.clients, work }
    }
}

impl Sql {
    pub(super) fn new(spec: SqlSpec, seed: u64) -> Self {
        Self {
            counts: Arc::new(RowCounts::new(&spec)),
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
            None | Some(Work::OfSpec(SqlWork::Load | SqlWork::Reset)) => Next::End,
            Some(Work::OfSpec(SqlWork::Index | SqlWork::Settle(_)) | Work::Read) => Next::Same,
            Some(Work::OfSpec(SqlWork::Run(run))) => Next::Run(run),
        }
    }

    /// What a stage without operations has left.
    fn check(&self, index: usize, target: &Target, stop: &Stop) -> Result<Vec<Check>, StepError> {
        let Stage { id: step, work, .. } = &self.stages[index];
        let mut contents = self.contents.lock().unwrap_or_else(PoisonError::into_inner);
        match work {
            Work::OfSpec(SqlWork::Load | SqlWork::Reset) | Work::Read => {
                contents.set_loaded(&self.spec, self.rows_seed(), step);
                Ok(Vec::new())
            }
            Work::OfSpec(SqlWork::Index | SqlWork::Settle(_) | SqlWork::Run(_)) => {
                let edge = Edge {
                    spec: &self.spec,
                    target,
                    counts: &self.counts,
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
            counts: &self.counts,
            contents: &self.contents,
            next: self.next(index),
        }
    }

    /// How many of the first stages load.
    fn loading_steps(&self) -> usize {
        let rest = self.stages.iter().position(|stage| !stage.work.is_loading());
        rest.unwrap_or(0)
    }

    /// The seed of the rows: that of the trial which loaded them.
    fn rows_seed(&self) -> u64 {
        self.loaded.as_ref().map_or(self.seed, |loaded| loaded.seed)
    }
}

impl Workload for Sql {
    fn run(
        &mut self,
        index: usize,
        target: &Target,
        stop: &Stop,
        observer: &mut dyn Observer,
    ) -> Result<StepRecord, StepError> {
        self.check_limits(target)?;
        let stage = &self.stages[index];
        if let Work::OfSpec(SqlWork::Run(run)) = &stage.work {
            return self.run_step(index, stage, run, target).run(stop, observer);
        }
        let job = Job {
            work: &stage.work,
            spec: &self.spec,
            seed: self.rows_seed(),
            target,
            counts: &self.counts,
            loaded: self.loaded.as_ref(),
        };
        let mut result = job.run(stop, observer)?;
        result.checks.extend(self.check(index, target, stop)?);
        Ok(result)
    }

    fn state(&self, _target: &Target) -> Result<String, StepError> {
        state::state(&self.spec, self.rows_seed())
    }

    fn restore(&mut self, state: &str) -> Result<(), StepError> {
        self.loaded = Some(state::restore(state, &self.spec, &self.counts)?);
        let warm = Stage {
            id: Step::warm(self.spec.load.clients).id,
            clients: self.spec.load.clients,
            work: Work::Read,
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
    let loading = steps.take_while(|step| Stage::of(step).work.is_loading());
    let works: Vec<&SqlWork> = loading.map(|step| &step.work).collect();
    serde_json::to_string(&(&spec.tables, &spec.load, works))
        .map_err(|error| StepError::State(error.to_string()))
}

#[cfg(test)]
mod tests {
    pub(super) mod fixture;

    use model::Settle;

    use self::fixture::{operation, run, spec, step};
    use super::*;

    fn whole() -> SqlSpec {
        let point = || run(vec![operation("point", false, 1, &["point"])]);
        let of = |name: &str, work| SqlStep { work, ..step(name, 2, point()) };
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
    fn after_a_restore_the_data_is_read_in_place_of_the_loading() {
        let loaded = Sql::new(whole(), 7);
        let state = state::state(&loaded.spec, loaded.rows_seed()).unwrap();
        let mut rest = Sql::new(whole(), 8);
        rest.restore(&state).unwrap();
        let names: Vec<&str> = rest.stages.iter().map(|stage| stage.id.0.as_str()).collect();
        assert_eq!(names, ["warm", "point", "reset", "again"]);
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
