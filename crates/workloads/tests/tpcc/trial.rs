//! A trial without a lab around it.

use load::{Blind, Observer, StepError, Stop, Target, Workload};
use model::{Step, StepRecord, TpccSpec};

pub(crate) const SEED: u64 = 20_261_121;

/// A workload and how far it has come.
pub(crate) struct Trial {
    workload: Box<dyn Workload>,
    steps: Vec<Step>,
    next: usize,
}

impl Trial {
    pub(crate) fn new(spec: &TpccSpec) -> Self {
        let workload = workloads::workload(&spec.clone().into(), SEED);
        Self { workload, steps: spec.trial_steps(), next: 0 }
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
        self.steps[self.next].id.0.clone()
    }

    /// One that goes on where another one has loaded.
    pub(crate) fn after_loading(spec: &TpccSpec) -> Self {
        let trial = Self::new(spec);
        let next = trial.steps.iter().filter(|step| step.loads).count();
        Self { next, ..trial }
    }

    /// Runs the next step, whose answers must be right.
    pub(crate) fn step(&mut self, target: &Target) -> StepRecord {
        self.watched(target, &mut Blind)
    }

    /// The same before the eyes of somebody who may interfere.
    pub(crate) fn watched(&mut self, target: &Target, observer: &mut dyn Observer) -> StepRecord {
        let name = self.name();
        let result = self.run(target, observer).unwrap();
        let failed = failed(&result);
        assert!(failed.is_empty(), "{name}: {failed:?} {:?}", result.notes);
        result
    }

    /// Runs the next step.
    pub(crate) fn attempt(&mut self, target: &Target) -> Result<StepRecord, StepError> {
        self.run(target, &mut Blind)
    }

    /// Runs the next step, and leaves it the next one.
    pub(crate) fn again(&mut self, target: &Target) -> StepRecord {
        let result = self.attempt(target).unwrap();
        self.next -= 1;
        result
    }

    fn run(
        &mut self,
        target: &Target,
        observer: &mut dyn Observer,
    ) -> Result<StepRecord, StepError> {
        let next = self.next;
        self.next += 1;
        let stop = Stop::default();
        self.workload.run(next, target, &stop, observer)
    }
}

/// What does not hold: what was checked, and what was found.
pub(crate) fn failed(result: &StepRecord) -> Vec<String> {
    let failed = result.checks.iter().filter(|check| !check.holds);
    failed.map(|check| format!("{} found {}", check.what, check.actual)).collect()
}

/// The names of the conditions that were checked.
pub(crate) fn conditions(result: &StepRecord) -> Vec<&str> {
    let names = result.checks.iter().map(|check| check.what.split(':').next());
    names.map(Option::unwrap).collect()
}

/// Operations of a kind.
pub(crate) fn ops(result: &StepRecord, kind: &str) -> u64 {
    let kinds = &result.kinds;
    kinds.iter().find(|k| k.spec.name == kind).unwrap().sums.ops
}
