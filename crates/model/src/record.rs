//! What a step of a trial yields: intervals while it runs, a record when it ends.

use serde::{Deserialize, Serialize};

use crate::{Bytes, KindSpec, Latency, Nanos, Note, Readings, Step, StepId, Subject, TpccFacts};

/// What the operations of one kind did in one interval. Stored without its histograms.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct KindInterval {
    /// Operations that succeeded.
    pub ops: u64,
    /// Rows that they inserted, deleted or returned.
    pub rows: u64,
    /// Operations that failed for good; in neither `ops` nor the histograms.
    pub errors: u64,
    /// Attempts that failed and were repeated.
    pub retries: u64,
    /// From sending to the complete reply.
    #[serde(skip)]
    pub service: Latency,
    /// From the intended start to the complete reply; only where there is a schedule.
    #[serde(skip)]
    pub response: Option<Latency>,
}

impl KindInterval {
    pub fn merge(&mut self, other: &Self) {
        self.ops += other.ops;
        self.rows += other.rows;
        self.errors += other.errors;
        self.retries += other.retries;
        self.service.merge(&other.service);
        if let Some(theirs) = &other.response {
            self.response.get_or_insert_default().merge(theirs);
        }
    }
}

/// One second of one step; the last one may be shorter. Of a step that is measured in slices or turns, one of these.
#[derive(Clone, Debug, PartialEq)]
pub struct Interval {
    pub index: u32,
    /// Where it starts, since the window's opening edge; the time between slices is no part of the window.
    pub start: Nanos,
    pub length: Nanos,
    /// In the order of the step's kinds.
    pub kinds: Vec<KindInterval>,
    /// Age of the oldest operation still under way at the interval's end: a stall shows while it lasts.
    pub stalled: Nanos,
    pub readings: Readings,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorCount {
    pub kind: String,
    /// The server's code, or a word such as `lost`.
    pub code: String,
    pub count: u64,
    pub retried: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KindTotals {
    pub spec: KindSpec,
    #[serde(flatten)]
    pub sums: KindInterval,
    /// Operations that were under way when the window closed and ended after it; in no other number.
    pub late: u64,
}

impl KindTotals {
    /// Was any such operation begun? Pipelined statements are announced and never recorded one by one.
    pub fn happened(&self) -> bool {
        let sums = &self.sums;
        [sums.ops, sums.errors, sums.retries, self.late] != [0; 4]
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// What was checked: `rows in pi1 after l.i0`.
    pub what: String,
    pub expected: String,
    pub actual: String,
    pub holds: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sizes {
    /// Tables and indexes of the benchmark, logical size.
    pub data: Bytes,
    /// Redo, undo, binlog, WAL.
    pub log: Bytes,
    /// The whole instance, logical size.
    pub total: Bytes,
    /// The whole instance, allocated blocks.
    pub allocated: Bytes,
}

/// What became of operations that arrive whether clients are free or not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenLoop {
    /// Operations per second that arrived, all clients together.
    pub per_second: u64,
    pub arrived: u64,
    /// Of these, how many found the queue full and were never started.
    pub shed: u64,
    /// Of these, how many still waited when the window closed.
    pub waiting: u64,
    /// The highest rate that kept the limit on response time, where the step looked for it; zero when none did.
    pub highest_rate: Option<u64>,
}

impl OpenLoop {
    /// Was nothing shed, and no more waiting at the end than arrives in a tenth of a second?
    pub const fn is_sustained(&self) -> bool {
        self.shed == 0 && self.waiting <= self.per_second / 10 + 1
    }
}

/// Everything measured in one step of one trial, over exactly its window. The recorder begins it, the workload adds
/// what it found out, the lab which step it is of and what the probes saw. It is stored as it is; a field that is
/// added needs `#[serde(default)]`, so that older labs stay readable.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct StepRecord {
    pub step: StepId,
    /// Its place in the workload, from zero.
    pub ordinal: u32,
    /// Is it one of the workload's results (or a phase between them, such as settle)?
    pub measured: bool,
    pub clients: u32,
    /// Length of the window between the two edges; of all slices together where it was measured in slices.
    pub window: Nanos,
    /// From before the first connect to after the last close, without others' turns; other tools divide by it.
    pub elapsed: Nanos,
    pub subject: Subject,
    pub kinds: Vec<KindTotals>,
    pub errors: Vec<ErrorCount>,
    /// Rows per second that the writers were asked to insert, all clients together.
    pub target_rate: Option<u64>,
    /// Share of the window's seconds in which the writers kept 95 % of the target.
    pub seconds_on_target: Option<(u32, u32)>,
    /// Rows that the plan asked for, all clients together; what other tools divide.
    pub requested_rows: u64,
    #[serde(default)]
    pub open_loop: Option<OpenLoop>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tpcc: Option<TpccFacts>,
    pub counters: Readings,
    /// How the step drifted, where its window has a length in time rather than an amount of work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drift: Option<Drift>,
    /// Sizes before the step: those after the step before it in the trial.
    #[serde(default)]
    pub before: Option<Sizes>,
    pub sizes: Option<Sizes>,
    pub checks: Vec<Check>,
    /// Facts worth keeping that are no metric: `min query` times, how long warm-up took.
    pub notes: Vec<Note>,
    /// Did the plan ask for the original's behaviour, and so for its rates beside ours?
    #[serde(default)]
    pub compat: bool,
    /// Does the window's length follow from a time or a pace, rather than from an amount of work?
    #[serde(skip)]
    pub timed: bool,
    #[serde(skip)]
    pub cut_short: bool,
}

impl StepRecord {
    /// A record of this step in which nothing happened.
    pub fn of(step: &Step, window: Nanos) -> Self {
        Self { window, elapsed: window, ..Self::default() }.of_step(step)
    }

    #[must_use]
    pub fn of_step(self, step: &Step) -> Self {
        Self {
            step: step.id.clone(),
            ordinal: step.ordinal,
            measured: step.measured,
            clients: step.clients,
            subject: step.subject.clone(),
            target_rate: step.target_rate,
            compat: step.compat,
            ..self
        }
    }

    /// The step of a plan that this is, as far as the record does not know better.
    pub fn step_of(&self, planned: &[Step]) -> Step {
        let there = planned.get(self.ordinal as usize).filter(|step| step.id == self.step);
        let found = there.or_else(|| planned.iter().find(|step| step.id == self.step));
        let (id, subject) = (self.step.clone(), self.subject.clone());
        let planned = found.cloned();
        let planned = planned.unwrap_or_else(|| Step::new(id, self.ordinal, self.clients, subject));
        Step {
            ordinal: self.ordinal,
            clients: self.clients,
            subject: self.subject.clone(),
            target_rate: self.target_rate,
            ..planned
        }
    }

    pub fn kind(&self, name: &str) -> Option<&KindTotals> {
        self.kinds.iter().find(|k| k.spec.name == name)
    }

    /// How many of what the step is about were done in the window.
    pub fn subject_count(&self) -> u64 {
        self.kind(&self.subject.kind)
            .map_or(0, |k| self.subject.counts.count(k.sums.ops, k.sums.rows))
    }
}

/// The last third of a step's window compared with its first third.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Drift {
    /// Throughput, last ÷ first.
    pub rate: f64,
    /// Server CPU per operation, last ÷ first; `None` where the server's CPU was not read.
    pub server_cpu: Option<f64>,
}

/// A part of a window: one interval, or several that follow each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stretch {
    pub length: Nanos,
    pub count: u64,
    pub server_cpu: Option<Nanos>,
}

impl Stretch {
    fn plus(self, later: Self) -> Self {
        Self {
            length: self.length + later.length,
            count: self.count + later.count,
            server_cpu: self.server_cpu.zip(later.server_cpu).map(|(one, other)| one + other),
        }
    }

    fn rate(self) -> f64 {
        self.count as f64 / self.length.as_secs_f64()
    }

    fn server_cpu(self) -> Option<f64> {
        Some(self.server_cpu?.0 as f64 / self.count as f64)
    }
}

/// Collects a window's intervals in bounded memory.
#[derive(Clone, Debug, Default)]
pub struct Stretches {
    /// Each but the last has `each` intervals.
    all: Vec<Stretch>,
    each: usize,
    in_last: usize,
}

/// Stretches kept at most; when there are more, neighbours are joined. Even, so that none is left over.
const MOST: usize = 600;

impl Stretches {
    pub fn add(&mut self, interval: Stretch) {
        self.each = self.each.max(1);
        if let Some(last) = self.all.last_mut()
            && self.in_last < self.each
        {
            *last = last.plus(interval);
            self.in_last += 1;
            return;
        }
        if self.all.len() == MOST {
            let pairs = self.all.chunks(2);
            self.all =
                pairs.filter_map(|pair| pair.iter().copied().reduce(Stretch::plus)).collect();
            self.each *= 2;
        }
        self.all.push(interval);
        self.in_last = 1;
    }

    pub fn extend(&mut self, later: &Self) {
        later.all.iter().for_each(|stretch| self.add(*stretch));
    }

    /// The drift over the window; `None` with fewer than three intervals, or where the first third has no operation.
    pub fn drift(&self) -> Option<Drift> {
        let third = self.all.len() / 3;
        let sum = |of: &[Stretch]| of.iter().copied().reduce(Stretch::plus);
        let first = sum(self.all.get(..third)?)?;
        let last = sum(self.all.get(self.all.len() - third..)?)?;
        let ratio = |last: f64, first: f64| Some(last / first).filter(|r| r.is_finite());
        Some(Drift {
            rate: ratio(last.rate(), first.rate())?,
            server_cpu: last
                .server_cpu()
                .zip(first.server_cpu())
                .and_then(|(last, first)| ratio(last, first)),
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Moment {
    Before,
    After,
}

/// Status, variables or another listing of a server at one moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capture {
    /// What it is: `variables`, `status`, `innodb_status`.
    pub name: String,
    pub columns: Vec<String>,
    /// Rows as text; `None` is NULL.
    pub rows: Vec<Vec<Option<String>>>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn second(count: u64, micros: u64) -> Stretch {
        Stretch { length: Nanos::SECOND, count, server_cpu: Some(Nanos(1_000 * micros * count)) }
    }

    fn drift(seconds: impl IntoIterator<Item = Stretch>) -> Option<Drift> {
        let mut all = Stretches::default();
        seconds.into_iter().for_each(|second| all.add(second));
        all.drift()
    }

    #[test]
    fn the_last_third_is_compared_with_the_first() {
        let seconds = [(100, 20), (999, 1), (120, 15)].map(|(count, cpu)| second(count, cpu));
        let found = drift(seconds).unwrap();
        assert_eq!((found.rate, found.server_cpu), (1.2, Some(0.75)));
    }

    #[test]
    fn a_short_last_interval_counts_by_its_length() {
        let short = Stretch { length: Nanos::from_millis(100), ..second(10, 20) };
        let found = drift([second(100, 20), second(100, 20), short]).unwrap();
        assert!((found.rate - 1.0).abs() < 1e-12, "{found:?}");
    }

    #[test]
    fn what_cannot_be_told_is_absent() {
        assert_eq!(drift([second(1, 1); 2]), None);
        assert_eq!(drift([second(0, 0), second(5, 1), second(5, 1)]), None);
        // It stood still: there is no cost of an operation.
        let stood = drift([second(5, 1), second(5, 1), second(0, 0)]).unwrap();
        assert_eq!((stood.rate, stood.server_cpu), (0.0, None));
        let blind = |count| Stretch { server_cpu: None, ..second(count, 0) };
        let found = drift([blind(10), blind(10), blind(20)]).unwrap();
        assert_eq!((found.rate, found.server_cpu), (2.0, None));
    }

    #[test]
    fn a_long_window_needs_no_more_memory_and_drifts_alike() {
        let mut all = Stretches::default();
        let hours = 100_000;
        for at in 0..hours {
            all.add(second(1_000 + at / 100, 20));
            assert!(all.all.len() <= MOST);
        }
        let seconds: u64 = all.all.iter().map(|s| s.length.0).sum();
        assert_eq!(seconds, hours * Nanos::SECOND.0);
        // From 1,167 a second in the middle of the first third to 1,833 in that of the last.
        let found = all.drift().unwrap();
        assert!((found.rate - 1_833.0 / 1_167.0).abs() < 0.01, "{found:?}");
        assert!((found.server_cpu.unwrap() - 1.0).abs() < 1e-12);
    }
}
