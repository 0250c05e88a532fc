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
pub(super) mod limits;
pub(super) mod part;
mod report;
mod run;
mod sampled;
mod shape;
mod statements;
mod tokens;

use std::sync::{Arc, Mutex};

use model::{Check, SqlSpec, SqlStep, SqlWork, Step, StepId, StepRecord};

use self::contents::{Contents, Edge, Next};
use self::run::RunStep;
use data::{Loaded, RowCounts, state};
use load::{Observer, Result, Share, Stop, Target, Workload, lock};

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
    /// `None` where it reads what another trial loaded.
    work: Option<SqlWork>,
}

impl Sql {
    pub(super) fn new(spec: SqlSpec, seed: u64) -> Self {
        let stage = |step: &SqlStep| Stage {
            id: step.id.clone(),
            clients: step.clients,
            work: Some(step.work.clone()),
        };
        Self {
            counts: Arc::new(RowCounts::new(&spec)),
            stages: spec.steps.iter().map(stage).collect(),
            loaded: None,
            contents: Mutex::default(),
            fits: false,
            spec,
            seed,
        }
    }

    fn edge<'a>(&'a self, index: usize, target: &'a Target) -> Edge<'a> {
        let Stage { id, work, .. } = &self.stages[index];
        Edge {
            spec: &self.spec,
            target,
            counts: &self.counts,
            step: id,
            run: work.as_ref().and_then(SqlWork::run),
            next: match self.stages.get(index + 1).map(|stage| &stage.work) {
                None | Some(Some(SqlWork::Load | SqlWork::Reset)) => Next::End,
                Some(Some(SqlWork::Index | SqlWork::Settle(_)) | None) => Next::Same,
                Some(Some(SqlWork::Run(run))) => Next::Run(run),
            },
        }
    }

    /// What a stage without operations has left.
    fn check(&self, index: usize, target: &Target, stop: &Stop) -> Result<Vec<Check>> {
        let edge = self.edge(index, target);
        let mut contents = lock(&self.contents);
        match self.stages[index].work {
            Some(SqlWork::Load | SqlWork::Reset) | None => {
                contents.set_loaded(&self.spec, self.rows_seed(), edge.step);
                Ok(Vec::new())
            }
            Some(SqlWork::Index | SqlWork::Settle(_) | SqlWork::Run(_)) => {
                contents.check(&edge, stop)
            }
        }
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
    ) -> Result<StepRecord> {
        if !self.fits {
            limits::check(&self.spec, target)?;
            self.fits = true;
        }
        let Stage { clients, work, .. } = &self.stages[index];
        let edge = self.edge(index, target);
        if let Some(run) = edge.run {
            let step = RunStep { seed: self.seed, edge, share: Share::whole(*clients), run };
            return step.run(&mut lock(&self.contents), stop, observer);
        }
        let mut result = self.run_fixed(work.as_ref(), target, stop, observer)?;
        result.checks.extend(self.check(index, target, stop)?);
        Ok(result)
    }

    fn state(&self, _target: &Target) -> Result<String> {
        state::state(&self.spec, self.rows_seed())
    }

    fn restore(&mut self, state: &str) -> Result {
        self.loaded = Some(state::restore(state, &self.spec, &self.counts)?);
        let clients = self.spec.load.clients;
        let warm = Stage { id: Step::warm(clients).id, clients, work: None };
        let is_loading = |stage: &Stage| stage.work.as_ref().is_some_and(SqlWork::is_loading);
        let rest = self.stages.iter().position(|stage| !is_loading(stage));
        self.stages.splice(..rest.unwrap_or(0), [warm]);
        Ok(())
    }
}

/// All of `spec` that decides what loading leaves: the tables, how they are loaded, and what is done
/// before the first step that is no part of it.
pub(super) fn loading(spec: &SqlSpec) -> Result<String> {
    let works = spec.steps.iter().map(|step| &step.work);
    let works: Vec<&SqlWork> = works.take_while(|work| work.is_loading()).collect();
    state::write(&(&spec.tables, &spec.load, works))
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
