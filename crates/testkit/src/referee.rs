//! The rules by which other tools call a regression, to be asked about the same data as ours.
//!
//! Each rule has its source beside it. They are facts about published programs and habits; nothing
//! of their code is here. A referee reads rates: higher is better.

mod largest_delta;
mod mann_whitney;
mod single_runs;
mod weighted_mean;

/// One test at one number of clients: what base and candidate had in each round.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// Clients.
    pub clients: u32,
    /// The base's rates, one a round.
    pub base: Vec<f64>,
    /// The candidate's.
    pub candidate: Vec<f64>,
}

impl Measured {
    /// The first round, for rules that run once: base, candidate.
    fn first(&self) -> Option<(f64, f64)> {
        Some((*self.base.first()?, *self.candidate.first()?))
    }
}

/// A rule that others go by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Referee {
    /// A ratio of two single runs of 0.95 or less, at any number of clients.
    SingleRuns,
    /// A loss of 5 % at the number of clients where the rates differ by most.
    LargestDelta,
    /// A loss of 2.5 % in the mean over all numbers of clients, weighted by them.
    WeightedMean,
    /// Mann and Whitney's test on ten runs each, at any number of clients.
    MannWhitney,
}

impl Referee {
    /// All of them.
    pub const ALL: [Self; 4] =
        [Self::SingleRuns, Self::LargestDelta, Self::WeightedMean, Self::MannWhitney];

    /// Its name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::SingleRuns => "5 % gate on single runs",
            Self::LargestDelta => "largest delta of all client counts, 5 %",
            Self::WeightedMean => "one mean weighted by clients, 2.5 %",
            Self::MannWhitney => "Mann–Whitney, 10 runs each, p ≤ 0.05",
        }
    }

    /// How many rounds it looks at; with fewer it finds nothing.
    pub const fn rounds(self) -> usize {
        match self {
            Self::SingleRuns | Self::LargestDelta | Self::WeightedMean => 1,
            Self::MannWhitney => mann_whitney::RUNS,
        }
    }

    /// Does it say that the candidate has regressed in this test, which was measured at these numbers
    /// of clients?
    pub fn finds_regression(self, test: &[Measured]) -> bool {
        match self {
            Self::SingleRuns => single_runs::finds_regression(test),
            Self::LargestDelta => largest_delta::finds_regression(test),
            Self::WeightedMean => weighted_mean::finds_regression(test),
            Self::MannWhitney => mann_whitney::finds_regression(test),
        }
    }
}

/// A test measured once at each of these numbers of clients: (clients, base, candidate).
#[cfg(test)]
fn once(points: &[(u32, f64, f64)]) -> Vec<Measured> {
    let cells = points.iter().map(|(clients, base, candidate)| Measured {
        clients: *clients,
        base: vec![*base],
        candidate: vec![*candidate],
    });
    cells.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_finds_anything_in_nothing_or_in_equal_values() {
        let equal = Measured { clients: 1, base: vec![100.0; 10], candidate: vec![100.0; 10] };
        let missing = Measured { candidate: Vec::new(), ..equal.clone() };
        for referee in Referee::ALL {
            assert!(!referee.finds_regression(&[]), "{}", referee.name());
            for cell in [&equal, &missing] {
                let found = referee.finds_regression(std::slice::from_ref(cell));
                assert!(!found, "{}", referee.name());
            }
        }
    }

    #[test]
    fn everybody_finds_a_loss_of_half_everywhere() {
        let halved: Vec<Measured> = [1, 8]
            .into_iter()
            .map(|clients| Measured {
                clients,
                base: (0..10).map(|n| 100.0 + f64::from(n)).collect(),
                candidate: (0..10).map(|n| 50.0 + f64::from(n)).collect(),
            })
            .collect();
        for referee in Referee::ALL {
            assert!(referee.finds_regression(&halved), "{}", referee.name());
        }
    }
}
