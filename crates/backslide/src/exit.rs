//! Exit statuses. They are part of the contract with scripts (`docs/formats.md`).

use std::process::ExitCode;

use model::{Comparison, Direction, Reason, Verdict, describe};

/// How a verb ended. Usage errors exit with 2 before any verb runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Of a comparison: nothing regressed and everything is decided.
    Fine = 0,
    /// The verb failed or was interrupted.
    Failed = 1,
    /// Something regressed; of a crash check, something is lost that was promised to be kept.
    Regressed = 10,
    /// Nothing regressed, but something could not be decided, or was asked for and not measured.
    Inconclusive = 11,
    TrialFailed = 20,
}

impl Exit {
    /// What comparisons say. An A/A control shows noise, so it is not asked; a metric of which neither
    /// direction is better is not judged.
    pub(crate) fn of<'a>(comparisons: impl Iterator<Item = &'a Comparison>) -> Self {
        let judged = comparisons.filter(|comparison| {
            describe(&comparison.metric).is_none_or(|is| is.direction != Direction::Neither)
        });
        let mut exit = Self::Fine;
        for comparison in judged {
            match comparison.verdict {
                Verdict::Regressed | Verdict::Incomparable(Reason::FellToZero { .. }) => {
                    return Self::Regressed;
                }
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
        Self::from(exit as u8)
    }
}

#[cfg(test)]
mod tests {
    use model::MetricId;

    use super::*;
    use testkit::made_up::{self, micro::Micro};

    #[test]
    fn what_fell_to_zero_is_a_regression_and_what_has_no_ratio_is_open() {
        let data = made_up::micro::run(&Micro { tests: 1, ..Micro::usual() });
        let mut comparisons = made_up::comparisons(&data);
        comparisons.retain(|one| one.metric.0 == MetricId::RATE);
        let mut exit = |verdict: Verdict| {
            for one in &mut comparisons {
                one.verdict = Verdict::Unchanged;
            }
            comparisons[0].verdict = verdict;
            Exit::of(comparisons.iter())
        };
        assert_eq!(exit(Verdict::Unchanged), Exit::Fine);
        let system = "b".to_owned();
        let no_ratio = Verdict::Incomparable(Reason::NoRatio { system });
        assert_eq!(exit(no_ratio), Exit::Inconclusive);
        let fell = Verdict::Incomparable(Reason::FellToZero { rounds: 4 });
        assert_eq!(exit(fell), Exit::Regressed);
    }
}
