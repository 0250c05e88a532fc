//! A trial without a lab around it.

use std::ops::ControlFlow;

use load::{Observer, StepError, StepResult, Stop, Target, Workload};
use model::{Edge, Interval, TpccSpec, WorkloadSpec};

pub(crate) const SEED: u64 = 20_261_121;

/// Looks at nothing.
struct Seen;

impl Observer for Seen {
    fn edge(&mut self, _: Edge) {}

    fn interval(&mut self, _: Interval) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// A workload and how far it has come.
pub(crate) struct Trial {
    workload: Box<dyn Workload>,
    next: usize,
}

impl Trial {
    pub(crate) fn new(spec: &TpccSpec) -> Self {
        Self {
            workload: load::workload(&WorkloadSpec::Tpcc(spec.clone()), SEED),
            next: 0,
        }
    }

    /// One that has loaded into `target`, and proved it.
    pub(crate) fn loaded(spec: &TpccSpec, target: &Target) -> Self {
        let mut trial = Self::new(spec);
        let mut names: Vec<String> = Vec::new();
        while names.last().is_none_or(|name| name != "settle") {
            names.push(trial.name());
            trial.step(target);
        }
        assert!(names.contains(&"check.load".to_owned()), "{names:?}");
        trial
    }

    /// The name of the next step.
    pub(crate) fn name(&self) -> String {
        self.workload.steps()[self.next].step.0.clone()
    }

    /// One that goes on where another one has loaded.
    pub(crate) fn after_loading(spec: &TpccSpec) -> Self {
        let trial = Self::new(spec);
        let next = trial.workload.loading_steps();
        Self { next, ..trial }
    }

    /// Runs the next step, whose answers must be right.
    pub(crate) fn step(&mut self, target: &Target) -> StepResult {
        self.watched(target, &mut Seen)
    }

    /// The same before the eyes of somebody who may interfere.
    pub(crate) fn watched(&mut self, target: &Target, observer: &mut dyn Observer) -> StepResult {
        let name = self.name();
        let result = self.run(target, observer).unwrap();
        let failed = failed(&result);
        assert!(failed.is_empty(), "{name}: {failed:?} {:?}", result.notes);
        result
    }

    /// Runs the next step.
    pub(crate) fn attempt(&mut self, target: &Target) -> Result<StepResult, StepError> {
        self.run(target, &mut Seen)
    }

    /// Runs the next step, and leaves it the next one.
    pub(crate) fn again(&mut self, target: &Target) -> StepResult {
        let result = self.attempt(target).unwrap();
        self.next -= 1;
        result
    }

    fn run(
        &mut self,
        target: &Target,
        observer: &mut dyn Observer,
    ) -> Result<StepResult, StepError> {
        let next = self.next;
        self.next += 1;
        let stop = Stop::default();
        self.workload.run(next, target, &stop, observer)
    }
}

/// What does not hold: what was checked, and what was found.
pub(crate) fn failed(result: &StepResult) -> Vec<String> {
    let failed = result.checks.iter().filter(|check| !check.holds);
    failed
        .map(|check| format!("{} found {}", check.what, check.actual))
        .collect()
}

/// The names of the conditions that were checked.
pub(crate) fn conditions(result: &StepResult) -> Vec<&str> {
    let names = result
        .checks
        .iter()
        .map(|check| check.what.split(':').next());
    names.map(Option::unwrap).collect()
}

/// Operations of a kind.
pub(crate) fn ops(result: &StepResult, kind: &str) -> u64 {
    let kinds = &result.window.kinds;
    kinds.iter().find(|k| k.spec.name == kind).unwrap().sums.ops
}
