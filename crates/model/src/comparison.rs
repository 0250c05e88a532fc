//! Candidate against base, and the verdict.

use serde::{Deserialize, Serialize, Serializer};

use crate::{MetricId, StepId, Unit};

/// The verdict of a comparison. Never two booleans: no data and too noisy are not "unchanged".
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Certainly worse, and by more than the margin.
    Regressed,
    /// Certainly better, and by more than the margin.
    Improved,
    /// The interval lies within the margin.
    Unchanged,
    Inconclusive(Reason),
    Incomparable(Reason),
}

impl Verdict {
    /// Is it certainly worse: regressed, or fallen to zero, which has no ratio and so is incomparable by its word?
    pub const fn is_regression(&self) -> bool {
        matches!(self, Self::Regressed) || self.fell_to_zero()
    }

    /// Has the candidate fallen to zero? That is certain, though it has no ratio.
    pub const fn fell_to_zero(&self) -> bool {
        matches!(self, Self::Incomparable(Reason::FellToZero { .. }))
    }

    pub const fn word(&self) -> &'static str {
        match self {
            Self::Regressed => "regressed",
            Self::Improved => "improved",
            Self::Unchanged => "unchanged",
            Self::Inconclusive(_) => "inconclusive",
            Self::Incomparable(_) => "incomparable",
        }
    }

    /// The reason of an uncertain verdict; empty for certain ones.
    pub fn reason(&self) -> String {
        match self {
            Self::Inconclusive(reason) | Self::Incomparable(reason) => reason.to_string(),
            Self::Regressed | Self::Improved | Self::Unchanged => String::new(),
        }
    }
}

/// Why a comparison ends without a yes or no.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// Fewer rounds than any interval needs.
    #[error("complete rounds: {have}, a verdict needs {need}")]
    TooFewRounds { have: u32, need: u32 },
    /// The interval crosses the margin; so many further rounds would decide it, `None` for more than a thousand.
    #[error("{}", further(*.more_rounds))]
    TooNoisy { more_rounds: Option<u32> },
    /// The interval is within the margin, but the whole windows are not: a few slices are far off, as by stalls.
    #[error("most slices agree, a few are far off: see response times")]
    FewSlices,
    /// The ratio, in thousandths, drifts within the window, so that a longer window would change the verdict.
    #[error("not steady: ratio {:.2} at the start of the window, {:.2} at its end", ratio(*.first), ratio(*.last))]
    Drifting { first: u32, last: u32 },
    /// The values are rounded so much that no number of rounds would decide it.
    #[error("more digits of the values, not more rounds")]
    TooCoarse,
    #[error("no complete round with {system}")]
    MissingTrials { system: String },
    /// Trials of this system failed, wrong answers among them; why the first of them did.
    #[error("no complete round: {system} failed: {why}")]
    FailedTrials { system: String, why: String },
    /// Trials of this system were disturbed and set aside.
    #[error("no complete round: {system} was quarantined: {why}")]
    QuarantinedTrials { system: String, why: String },
    /// In `what`: `TLS`, `scale`, `host`.
    #[error("{what} differs: {base} and {candidate}")]
    Different { what: String, base: String, candidate: String },
    /// A value is zero or not a number, so that it has no ratio.
    #[error("{system} has a value of zero")]
    NoRatio { system: String },
    /// The candidate has zero in every complete round and the base in none, where more is better.
    #[error("fell to zero in all {rounds} rounds")]
    FellToZero { rounds: u32 },
    /// The ratio explains, it is not judged.
    #[error("neither direction is better")]
    NotJudged,
    /// This system has no value of the metric, though its trials completed.
    #[error("not measured for {system}")]
    NoValue { system: String },
    /// The metric was asked for, and no system has a value of it.
    #[error("not measured in this run")]
    NotMeasured,
}

fn further(rounds: Option<u32>) -> String {
    match rounds {
        Some(1) => "about 1 more round".to_owned(),
        Some(n) => format!("about {n} more rounds"),
        None => "over 1000 more rounds".to_owned(),
    }
}

fn ratio(thousandths: u32) -> f64 {
    f64::from(thousandths) / 1_000.0
}

/// How big an effect is; never changes the verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Magnitude {
    /// Below 5 %.
    Small,
    /// Below 15 %.
    Medium,
    /// 15 % and more.
    Large,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    pub step: StepId,
    pub ordinal: u32,
    pub clients: u32,
    pub metric: MetricId,
    pub unit: Unit,
    pub base: String,
    pub system: String,
    /// Geometric mean over the rounds of candidate / base.
    pub ratio: Option<f64>,
    pub low: Option<f64>,
    pub high: Option<f64>,
    pub rounds: u32,
    /// The paired ratio of each complete round, for the evidence: (round, ratio).
    pub pairs: Vec<(u32, f64)>,
    /// False-discovery-rate adjusted p-value over the steps of this metric and system.
    pub q_value: Option<f64>,
    pub verdict: Verdict,
    pub magnitude: Option<Magnitude>,
    /// The evidence for ratio, interval and verdict; `None` without an interval.
    #[serde(default)]
    pub evidence: Option<Evidence>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// Standard deviation of a round's log ratio, in the light of the comparison's family.
    pub sd: f64,
    /// The same of the rounds alone, without the increase from slice pairs that scatter more.
    #[serde(default)]
    pub sd_of_rounds: f64,
    pub df: f64,
    /// Degrees of freedom that the family adds; 0 where the rounds have to do alone.
    pub prior_df: f64,
    /// The margin that the verdict was given with, as a fraction.
    pub margin: f64,
    /// Two-sided p-value of "no difference", before it is adjusted for other steps.
    pub p_value: f64,
    /// The same by exact permutation of the rounds' signs; `None` for fewer than 6 and more than 24 rounds.
    pub sign_flip: Option<f64>,
    /// The ratio by Hodges and Lehmann's estimate, which a few wild rounds hardly move.
    pub centre: f64,
    /// Rounds that pull the ratio away from that by more than its standard error.
    pub outlying: Vec<u32>,
    /// Independent slice pairs that those measured are worth; `None` for steps without slices.
    pub slice_pairs: Option<f64>,
    /// The variance of a round's log ratio that its slice pairs explain; `None` for steps without slices.
    #[serde(default)]
    pub within: Option<f64>,
}

/// How much the log ratios of a step scatter from round to round. The variances add up.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scatter {
    /// Variance that does not depend on the length of the window: starts, loads, the hour.
    pub between: f64,
    /// Variance of a window of one second; that of a longer one is smaller in proportion.
    pub within: f64,
    /// Excess of the pairs' variance over the rounds', for a window of one second. More rounds reduce its weight.
    #[serde(default)]
    pub excess: f64,
    /// Degrees of freedom that the step's family adds to those of the rounds.
    pub prior_df: f64,
}

/// Verdicts on the controls of runs. Base and control are identical, so each reported change is a false alarm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FalseAlarms {
    pub runs: u64,
    /// Cells of these controls that were judged, over all metrics.
    pub cells: u64,
    pub changed: u64,
}

/// What a comparison must keep equal, unless it is what the comparison is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Condition {
    /// What survives a crash once a commit is reported.
    Durability,
    /// Is a page that a crash left half written repaired?
    TornPages,
    /// Is there a binary log beside the engine's own, and what goes to it?
    BinaryLog,
    /// Which changes of others a transaction sees.
    Isolation,
    CharacterSet,
    Collation,
    Tls,
    /// Over what the session that measures runs, and how.
    Connection,
    /// What the server counts and times of each statement.
    Instrumentation,
}

impl Condition {
    /// All of them, the heaviest first.
    pub const ALL: [Self; 9] = [
        Self::Durability,
        Self::TornPages,
        Self::BinaryLog,
        Self::Isolation,
        Self::CharacterSet,
        Self::Collation,
        Self::Tls,
        Self::Connection,
        Self::Instrumentation,
    ];

    pub const fn name(self) -> &'static str {
        self.words().0
    }

    pub const fn why(self) -> &'static str {
        self.words().1
    }

    const fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Durability => (
                "durability of a commit",
                "A commit that waits for the disk costs far more than one that does not.",
            ),
            Self::TornPages => ("protection from torn pages", "The protection writes pages twice."),
            Self::BinaryLog => {
                ("log for replicas", "It is written, and may be synced, at each commit.")
            }
            Self::Isolation => (
                "isolation level",
                "It decides which row versions are kept and which locks are taken.",
            ),
            Self::CharacterSet => ("character set", "It decides how many bytes text takes."),
            Self::Collation => ("collation", "It decides what sorting and indexing text costs."),
            Self::Tls => ("TLS of the session", "Encryption costs CPU for every packet."),
            Self::Connection => (
                "connection",
                "TCP, compression, pipelining and described portals change what each statement costs on both sides.",
            ),
            Self::Instrumentation => {
                ("instrumentation", "Counting and timing costs CPU in every statement.")
            }
        }
    }
}

shown!(Condition, |condition| condition.name());

impl Serialize for Condition {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}
