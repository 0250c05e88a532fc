//! A trial on an SQLite file, without a lab around it.

use std::ops::ControlFlow;

use load::{Observer, StepError, Stop, Target, Workload};
use model::{Check, Edge, Interval, SqlSpec, Step, StepRecord, WorkloadSpec};
use testkit::databases::Database;

pub(crate) const SEED: u64 = 20_261_121;

/// The same over both tables, added up.
pub(crate) fn sum(database: &Database, what: &str) -> i64 {
    let of = |table| database.number(&format!("SELECT {what} FROM {table}"));
    of("sbtest1") + of("sbtest2")
}

/// Counts what it is told.
#[derive(Default)]
pub(crate) struct Seen {
    pub(crate) edges: Vec<Edge>,
    /// Operations of each kind, by second.
    pub(crate) seconds: Vec<Vec<u64>>,
}

impl Observer for Seen {
    fn edge(&mut self, edge: Edge) {
        self.edges.push(edge);
    }

    fn interval(&mut self, interval: Interval) -> ControlFlow<()> {
        let ops = interval.kinds.iter().map(|kind| kind.ops);
        self.seconds.push(ops.collect());
        ControlFlow::Continue(())
    }
}

/// A step that was run.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) result: StepRecord,
    /// Operations of each kind, by second.
    pub(crate) seconds: Vec<Vec<u64>>,
}

impl Done {
    /// Operations and rows of a kind.
    pub(crate) fn sums(&self, kind: &str) -> (u64, u64) {
        let kinds = &self.result.kinds;
        let found = kinds.iter().find(|k| k.spec.name == kind);
        let sums = &found.unwrap_or_else(|| panic!("no kind {kind}")).sums;
        (sums.ops, sums.rows)
    }

    /// Operations of a kind.
    pub(crate) fn ops(&self, kind: &str) -> u64 {
        self.sums(kind).0
    }

    /// Operations that ended after the window.
    pub(crate) fn late(&self, kind: &str) -> u64 {
        let kinds = &self.result.kinds;
        kinds.iter().find(|k| k.spec.name == kind).unwrap().late
    }

    /// The notes with this name.
    pub(crate) fn notes(&self, name: &str) -> Vec<&str> {
        let notes = self.result.notes.iter().filter(|note| note.what.word() == name);
        notes.map(|note| note.text.as_str()).collect()
    }

    /// How many copies of tables had their rows counted.
    pub(crate) fn checked_rows(&self) -> usize {
        let checks = self.result.checks.iter();
        checks.filter(|c| c.what.starts_with("rows in ")).count()
    }

    /// Checks that do not hold.
    pub(crate) fn failed(&self) -> Vec<&Check> {
        self.result.checks.iter().filter(|c| !c.holds).collect()
    }

    /// How often a code came.
    pub(crate) fn errors(&self, code: &str, retried: bool) -> u64 {
        let errors = self.result.errors.iter();
        let of = errors.filter(|e| e.code == code && e.retried == retried);
        of.map(|e| e.count).sum()
    }
}

/// A workload and how far it has come.
pub(crate) struct Trial {
    workload: Box<dyn Workload>,
    steps: Vec<Step>,
    next: usize,
}

impl Trial {
    pub(crate) fn new(spec: &SqlSpec, seed: u64) -> Self {
        let spec = WorkloadSpec::Sql(spec.clone());
        Self::of(workloads::workload(&spec, seed), spec.steps())
    }

    pub(crate) fn of(workload: Box<dyn Workload>, steps: Vec<Step>) -> Self {
        Self { workload, steps, next: 0 }
    }

    /// A trial on `database` that has loaded.
    pub(crate) fn loaded(spec: &SqlSpec, database: &Database) -> Self {
        let mut trial = Self::new(spec, SEED);
        trial.step(&database.target());
        trial
    }

    /// Goes on after the first step, which another trial on the same database has run.
    pub(crate) fn skip_loading(&mut self) {
        self.next = 1;
    }

    /// Runs the next step, whose answers must be right.
    pub(crate) fn step(&mut self, target: &Target) -> Done {
        let done = self.attempt(target).unwrap();
        assert!(done.failed().is_empty(), "{:?} {:?}", done.failed(), done.result.notes);
        done
    }

    /// Runs the next step.
    pub(crate) fn attempt(&mut self, target: &Target) -> Result<Done, StepError> {
        let mut seen = Seen::default();
        let step = &self.steps[self.next];
        let result = self.workload.run(self.next, target, &Stop::default(), &mut seen)?;
        self.next += 1;
        assert_eq!(seen.edges, [Edge::Open, Edge::Close]);
        let kinds = result.kinds.iter().map(|kind| kind.spec.clone());
        assert_eq!(kinds.collect::<Vec<_>>(), step.kinds);
        for (place, kind) in result.kinds.iter().enumerate() {
            let told: u64 = seen.seconds.iter().map(|kinds| kinds[place]).sum();
            assert_eq!(told, kind.sums.ops, "{}", kind.spec.name);
        }
        Ok(Done { result, seconds: seen.seconds })
    }
}
