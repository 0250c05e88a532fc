//! A plan being executed, or executed, as it is stored and read back, whole or piece by piece.

use serde::{Deserialize, Serialize};

use crate::{
    Bytes, Capture, Interval, Latency, MetricId, Moment, Nanos, NoteKind, Plan, Profile,
    Provenance, Step, StepClass, StepId, StepRecord, Unit, words,
};

/// The id of a run: `r1`, `r2`, … within its lab.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RunId(pub String);

shown!(RunId, |id| &id.0);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RunState {
    /// Trials are left: it runs now, or was interrupted and can be resumed.
    Unfinished,
    /// Every trial that it was to have has an outcome.
    Finished,
}

impl RunState {
    pub fn word(self) -> &'static str {
        words::<Self>()[self as usize]
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "lowercase")]
pub enum Outcome {
    /// All that was planned was done.
    Completed,
    /// All was done, and something disturbed it too much: compared only if [`RunData::counts_disturbed`].
    Quarantined { reason: String },
    /// All was done, and its stacks were sampled, which slows it down: it explains verdicts, and is in no comparison.
    Profiled,
    /// It did not, or its answers were wrong: in this step, if it got that far; why; the server's last log lines.
    Failed { step: Option<StepId>, reason: String, log_tail: Vec<String> },
}

impl Outcome {
    pub const fn is_completed(&self) -> bool {
        matches!(self, Self::Completed)
    }

    pub const fn is_profiled(&self) -> bool {
        matches!(self, Self::Profiled)
    }

    pub const fn is_quarantined(&self) -> bool {
        matches!(self, Self::Quarantined { .. })
    }

    pub const fn quarantined_for(&self) -> Option<&str> {
        if let Self::Quarantined { reason } = self { Some(reason.as_str()) } else { None }
    }

    pub const fn is_failed(&self) -> bool {
        matches!(self, Self::Failed { .. })
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunInfo {
    pub id: RunId,
    pub plan: Plan,
    pub host: Host,
    pub backslide: String,
    /// When it started: RFC 3339, in UTC.
    pub started: String,
    pub state: RunState,
    /// The hosts of a run that was merged from parts; empty where `host` measured all of it.
    #[serde(default)]
    pub hosts: Vec<HostRounds>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostRounds {
    pub host: Host,
    /// In ascending order.
    pub rounds: Vec<u32>,
}

impl HostRounds {
    /// The place of a round's host among these; 0 where none is listed.
    pub fn place(hosts: &[Self], round: u32) -> usize {
        hosts.iter().position(|one| one.rounds.contains(&round)).unwrap_or(0)
    }
}

impl RunInfo {
    /// The place of a round's host among `hosts`; 0 where there is one.
    pub fn host_place(&self, round: u32) -> usize {
        HostRounds::place(&self.hosts, round)
    }

    pub fn host_of(&self, round: u32) -> &Host {
        self.hosts.get(self.host_place(round)).map_or(&self.host, |one| &one.host)
    }

    pub fn is_imported(&self) -> bool {
        self.plan.is_imported()
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostShape {
    /// CPUs that this process may use.
    pub cpus: u32,
    pub memory: Bytes,
}

/// The machine's identity: every result needs it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Host {
    pub name: String,
    pub cpu_model: String,
    pub shape: HostShape,
    /// Threads per core; 1 where SMT is off or hidden.
    pub threads_per_core: u32,
    pub kernel: String,
    /// Distribution, from `os-release`.
    pub os: String,
    /// Frequency governor, where the kernel shows one.
    pub governor: Option<String>,
    pub clock_source: Option<String>,
    /// Transparent huge pages: `always`, `madvise` or `never`.
    pub thp: Option<String>,
    /// Swap in use and configured.
    pub swap: Bytes,
    pub virtualization: Option<String>,
    pub disk: DiskFacts,
}

impl Host {
    /// Is it the same machine in the same state? Room on the disk does not count.
    pub fn is_same(&self, other: &Self) -> bool {
        let disk = DiskFacts { free: self.disk.free, ..other.disk.clone() };
        *self == Self { disk, ..other.clone() }
    }

    /// Is it the same machine, whatever runs on it by now?
    pub fn is_machine_of(&self, other: &Self) -> bool {
        self.name == other.name && self.cpu_model == other.cpu_model && self.shape == other.shape
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiskFacts {
    /// Block device as `/proc/diskstats` names it; `None` where the filesystem has none (tmpfs, overlay).
    pub device: Option<String>,
    pub filesystem: String,
    pub options: String,
    pub size: Bytes,
    pub free: Bytes,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrialRecord {
    pub round: u32,
    pub position: u32,
    pub system: String,
    /// When it started: RFC 3339, in UTC.
    pub started: String,
    pub duration: Nanos,
    pub outcome: Outcome,
    /// What the server said of itself: version, TLS, authentication, and what else was asked.
    pub provenance: Provenance,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    pub round: u32,
    pub position: u32,
    pub system: String,
    pub step: StepId,
    pub ordinal: u32,
    pub clients: u32,
    pub metric: MetricId,
    pub unit: Unit,
    pub value: f64,
}

/// The one-second series of one step of one trial, without histograms.
#[derive(Clone, Debug, PartialEq)]
pub struct StepSeries {
    pub round: u32,
    pub system: String,
    pub step: StepId,
    /// Start and length of each interval, in seconds.
    pub spans: Vec<(f64, f64)>,
    /// One column a kind, in the order of the step's kinds.
    pub kinds: Vec<KindSeries>,
}

/// The series of one operation kind; each column has one entry an interval.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KindSeries {
    pub kind: String,
    pub ops: Vec<u64>,
    pub rows: Vec<u64>,
    pub p50: Vec<Nanos>,
    pub p99: Vec<Nanos>,
    /// Longest service time; where a stall was under way, its age if that is longer.
    pub max: Vec<Nanos>,
}

/// The merged histogram of one kind in one step of one trial.
#[derive(Clone, Debug, PartialEq)]
pub struct StepHistogram {
    pub round: u32,
    pub system: String,
    pub step: StepId,
    pub kind: String,
    /// Response time (from the intended start) rather than service time?
    pub is_response: bool,
    pub latency: Latency,
}

#[derive(Clone, Debug, PartialEq)]
pub struct SliceSeries {
    pub metric: MetricId,
    /// One a slice, above zero; not a number where nothing ended in the slice, which counts in the next one.
    pub values: Vec<f64>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct SliceValue {
    pub round: u32,
    pub system: String,
    pub step: StepId,
    pub metric: MetricId,
    /// Slices of a round with the same number ran beside each other and are compared; rising with time.
    pub pair: u32,
    pub value: f64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepNote {
    pub round: u32,
    pub system: String,
    pub step: StepId,
    pub what: NoteKind,
    pub text: String,
}

/// A whole run, read back for comparison and report. Only trials that [count](Self::counted) have cells.
#[derive(Clone, Debug, PartialEq)]
pub struct RunData {
    pub info: RunInfo,
    /// All trials that have an outcome, in the order in which they ran.
    pub trials: Vec<TrialRecord>,
    pub steps: Vec<Step>,
    pub cells: Vec<Cell>,
    /// What there is to know of the steps of these trials beside their measurements.
    pub notes: Vec<StepNote>,
    /// Series; empty where they were not asked for.
    pub series: Vec<StepSeries>,
    /// Histograms; empty where they were not asked for.
    pub histograms: Vec<StepHistogram>,
    pub slices: Vec<SliceValue>,
}

impl RunData {
    /// The class of a step by its place; of one that nobody knows that of most.
    pub fn class_of(&self, ordinal: u32, step: &StepId) -> StepClass {
        let measured = self.steps.binary_search_by_key(&ordinal, |step| step.ordinal).ok();
        let measured = measured.and_then(|place| self.steps.get(place));
        let known = measured.filter(|known| known.id == *step);
        let planned = || self.info.plan.steps.iter().find(|planned| planned.id == *step);
        known.or_else(planned).map_or(StepClass::Writing, |step| step.class)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepPlace {
    pub trial: TrialKey,
    pub step: StepId,
    pub clients: u32,
    /// Names of its operation kinds, in the order of every interval.
    pub kinds: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
/// An [`Interval`](crate::Interval) without its histograms.
pub struct IntervalNumbers {
    pub index: u32,
    pub start: Nanos,
    pub length: Nanos,
    pub stalled: Nanos,
    pub kinds: Vec<KindNumbers>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KindNumbers {
    pub ops: u64,
    pub rows: u64,
    pub errors: u64,
    pub retries: u64,
    pub p50: Nanos,
    pub p99: Nanos,
    pub max: Nanos,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrialKey {
    pub round: u32,
    /// Place within its round, from 1.
    pub position: u32,
    pub system: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edge {
    /// Clients are connected and wait; nothing has been sent.
    Open,
    /// The last bounded client has its last reply.
    Close,
}

/// What happens while a plan is carried out. Progress, log and store are consumers of one stream.
#[derive(Clone, Debug)]
pub enum Event {
    /// The template of a system is being loaded; its steps follow.
    TemplateStarted { system: String },
    /// The template of a system is there: loaded now, or by an earlier run; its size, when and how it was loaded.
    TemplateReady { system: String, summary: String },
    /// A trial begins; `of` is the number of trials in the run, `index` counts from 1.
    TrialStarted { trial: TrialKey, index: u32, of: u32 },
    /// What follows is of this trial, which began before. A trial that begins has its turn at once.
    Turn { trial: TrialKey },
    /// The server answers; what it said of itself.
    ServerReady { provenance: Provenance },
    /// What it will do.
    StepStarted { step: Box<Step> },
    /// A second of it is over.
    IntervalClosed { interval: Box<Interval> },
    /// Something was read from the server.
    Captured { step: StepId, moment: Moment, capture: Capture },
    /// The step, which is about to finish, was measured in slices.
    Sliced { series: Vec<SliceSeries> },
    /// The step, which is about to finish, was profiled.
    Profiled { profile: Box<Profile> },
    /// What it came to.
    StepFinished { record: Box<StepRecord> },
    /// A trial is over, and how it ended.
    TrialFinished { trial: TrialKey, outcome: Outcome },
    /// The run was looked at after so many undisturbed rounds: are more needed? Of the comparisons so many are undecided.
    Looked { rounds: u32, most: u32, undecided: u32, goes_on: bool },
    /// `round` takes the place of the planned round `disturbed`, for the `times`-th time of `most`; its trials follow.
    RoundAgain { round: u32, disturbed: u32, times: u32, most: u32 },
    /// Something that the user should know and that stops nothing: what, and what to do.
    Warning { text: String },
}
