//! Judges of regressions.

use model::Verdict;
use stats::{Options, compare};
use testkit::fixtures::{cell, empty_run};
use testkit::{Measured, Referee};

use crate::world::CLIENTS;

/// A rule that is asked about a simulated lab.
#[derive(Clone, Copy)]
pub(crate) enum Judge {
    /// Somebody else's.
    Referee(Referee),
    /// Ours.
    Backslide {
        /// The number of the lab's first rounds to use.
        rounds: usize,
        /// The margin as a fraction; `None` for the metric's own.
        margin: Option<f64>,
    },
}

impl Judge {
    pub(crate) fn name(self) -> String {
        match self {
            Self::Referee(referee) => referee.name().to_owned(),
            Self::Backslide { margin: None, .. } => "backslide".to_owned(),
            Self::Backslide { margin: Some(margin), .. } => {
                format!("backslide, margin {} %", 100.0 * margin)
            }
        }
    }

    /// How many runs of each system it reads.
    pub(crate) const fn rounds(self) -> usize {
        match self {
            Self::Referee(referee) => referee.rounds(),
            Self::Backslide { rounds, .. } => rounds,
        }
    }

    /// Of each test of the lab: does it say that it has regressed, at any number of clients?
    pub(crate) fn regressed(self, tests: &[Vec<Measured>]) -> Vec<bool> {
        match self {
            Self::Referee(referee) => {
                tests.iter().map(|test| referee.finds_regression(test)).collect()
            }
            Self::Backslide { rounds, margin } => by_backslide(tests, rounds, margin),
        }
    }
}

/// Each test at each number of clients is a step, as it is in a sweep.
fn by_backslide(tests: &[Vec<Measured>], rounds: usize, margin: Option<f64>) -> Vec<bool> {
    let mut data = empty_run(&["a", "b"]);
    for (ordinal, measured) in tests.iter().flatten().enumerate() {
        let step = format!("s{ordinal}");
        let pairs = measured.base.iter().zip(&measured.candidate);
        for (round, (base, candidate)) in (1..).zip(pairs.take(rounds)) {
            data.cells.push(cell(round, "a", &step, "rate", *base));
            data.cells.push(cell(round, "b", &step, "rate", *candidate));
        }
    }
    let options = Options { min_effect: margin, ..Options::default() };
    let mut regressed = vec![false; tests.len()];
    for comparison in compare(&data, &options).unwrap() {
        if comparison.verdict == Verdict::Regressed {
            regressed[comparison.ordinal as usize / CLIENTS.len()] = true;
        }
    }
    regressed
}
