//! Exit statuses. They are part of the contract with scripts (`docs/formats.md`).

use std::process::ExitCode;

use model::{Comparison, Reason, Verdict};

/// How a verb ended. Usage errors exit with 2 before any verb runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// 0: fine; of a comparison, nothing regressed and everything is decided.
    Fine,
    /// 1: the verb failed or was interrupted.
    Failed,
    /// 10: something regressed.
    Regressed,
    /// 11: nothing regressed, but something could not be decided.
    Inconclusive,
    /// 20: a trial failed.
    TrialFailed,
}

impl Exit {
    /// What comparisons say. An A/A control shows noise, so it is not asked. Where there is nothing to
    /// compare, nothing was shown to be fine.
    pub(crate) fn of<'a>(comparisons: impl Iterator<Item = &'a Comparison>) -> Self {
        let mut comparisons = comparisons.peekable();
        if comparisons.peek().is_none() {
            return Self::Inconclusive;
        }
        let mut exit = Self::Fine;
        for comparison in comparisons {
            match comparison.verdict {
                Verdict::Regressed => return Self::Regressed,
                Verdict::Improved
                | Verdict::Unchanged
                | Verdict::Inconclusive(Reason::NotJudged) => {}
                Verdict::Inconclusive(_) | Verdict::Incomparable(_) => exit = Self::Inconclusive,
            }
        }
        exit
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Fine => 0,
            Exit::Failed => 1,
            Exit::Regressed => 10,
            Exit::Inconclusive => 11,
            Exit::TrialFailed => 20,
        })
    }
}
