//! The question to a history, and its answer: builds, and a line for each metric of each step.

use model::{Made, MetricId, RunId, StepId, Unit};

use super::{Change, Standing};
use crate::options::Selection;

/// A build of a history, as one run or several measured it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct At {
    /// The runs, as they were given, and the system's name in each; there is at least one.
    pub of: Vec<(RunId, String)>,
    pub build: String,
    /// How it was made, as the first of the runs knows.
    pub made: Made,
}

impl At {
    pub fn runs(&self) -> impl Iterator<Item = &RunId> {
        self.of.iter().map(|(run, _)| run)
    }

    /// Its name in the first of the runs.
    pub fn system(&self) -> &str {
        self.of.first().map_or("", |(_, system)| system)
    }
}

/// Trials of a run that an earlier one has too, to the last digit: they count once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Copied {
    /// The run whose trials do not count, and the one whose trials do.
    pub run: RunId,
    pub of: RunId,
    pub system: String,
    pub rounds: u32,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Replicate {
    pub run: RunId,
    pub round: u32,
    /// In the line's unit.
    pub value: f64,
}

/// A ratio, with its 95 % interval where there is one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    pub ratio: f64,
    pub ends: Option<(f64, f64)>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct HistoryPoint {
    pub rounds: Vec<Replicate>,
    /// Their geometric mean, those of other days multiplied as [`HistoryLine::days`] says.
    pub value: f64,
    /// Relative standard error of that, where anything tells.
    pub error: Option<f64>,
    /// Over the build before it that has a value.
    pub to_previous: Option<Ratio>,
    pub to_base: Option<Ratio>,
    pub standing: Standing,
}

/// One metric of one step over the builds; values in another unit make another line.
#[derive(Clone, Debug, PartialEq)]
pub struct HistoryLine {
    pub step: StepId,
    pub ordinal: u32,
    pub clients: u32,
    pub metric: MetricId,
    pub unit: Unit,
    /// One entry a build; `None` where it has no value, or one that has no logarithm.
    pub points: Vec<Option<HistoryPoint>>,
    /// Places of the builds that have zero in every round: a value, but no logarithm and so no point.
    pub zeros: Vec<usize>,
    /// Where the level changed; [`Change::at`] is the place of a build.
    pub changes: Vec<Change>,
    /// The factor that takes out the day of each run, where builds that several runs measured tell it.
    pub days: Vec<(RunId, f64)>,
}

impl HistoryLine {
    /// Could a change have been found? Not where nothing tells how much values scatter.
    pub fn is_tested(&self) -> bool {
        self.points.iter().flatten().any(|point| point.error.is_some())
    }

    /// Has the last build zero in every round, and one before it more?
    pub fn ends_at_zero(&self) -> bool {
        let last = self.points.len().checked_sub(1);
        last.is_some_and(|last| self.zeros.contains(&last))
            && self.points.iter().any(Option::is_some)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct History {
    pub builds: Vec<At>,
    pub base: usize,
    /// By step, then by metric as the runs have them.
    pub lines: Vec<HistoryLine>,
    pub copies: Vec<Copied>,
}

impl History {
    /// The place of the build that this run measured under this name.
    pub fn place(&self, run: &RunId, system: &str) -> Option<usize> {
        let is_meant = |(of, name): &(RunId, String)| of == run && name == system;
        self.builds.iter().position(|at| at.of.iter().any(is_meant))
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct HistoryOptions {
    pub metrics: Selection,
    pub step: Option<StepId>,
    /// The practical margin for every metric, as a fraction; `None` for each metric's own.
    pub min_effect: Option<f64>,
    /// The first with this system, build, run, or run and system (`r7/mysql-8.0.31`); `None` for the first of all.
    pub base: Option<String>,
}

/// A history that cannot be made as it was asked for.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum HistoryError {
    #[error(
        "a history needs at least two builds, not {0}; name more runs, or a run of several systems (runs of one version are one build)"
    )]
    TooFew(usize),
    #[error("no build of this history is called `{0}`: name a run, a system or a build")]
    UnknownBase(String),
    #[error("{one} and {other} cannot be in one history: {why}; name runs that are alike")]
    Unlike { one: String, other: String, why: String },
    #[error("these runs have no step `{step}`; their steps are {}", .known.join(", "))]
    UnknownStep { step: StepId, known: Vec<String> },
    #[error("these runs have no metric `{metric}`; they have {}", .known.join(", "))]
    UnknownMetric { metric: MetricId, known: Vec<String> },
    #[error("the margin must be a fraction of at least 0, not {0}")]
    BadMargin(f64),
}
