//! What other tools print is as exact as its last digit.

use std::collections::HashMap;

use model::{MetricId, RunData};

use crate::grid::Round;
use crate::paired::sum;

/// What has so many decimals was not rounded by anybody; nothing is gained by counting more.
const ENOUGH: usize = 12;

/// The last digit of the values of an imported run.
///
/// Published values are rounded, often to two or three digits, and three rounds that all say 0.009 agree in
/// nothing but these. What is measured here has all the digits of a double.
pub(crate) struct Rounding<'a> {
    /// The most decimals that any value of a metric has; whoever prints a metric prints all of it alike,
    /// but for zeros at the end.
    decimals: HashMap<&'a MetricId, usize>,
}

impl<'a> Rounding<'a> {
    pub(crate) fn of(data: &'a RunData) -> Self {
        let mut decimals: HashMap<&MetricId, usize> = HashMap::new();
        let cells = data.info.is_imported().then_some(&data.cells);
        for cell in cells.into_iter().flatten() {
            let most = decimals.entry(&cell.metric).or_default();
            if *most < ENOUGH {
                *most = (*most).max(decimals_of(cell.value));
            }
        }
        Self { decimals }
    }

    /// The standard error that rounding alone leaves to the mean log ratio of these rounds, none of whose
    /// values is zero; zero where nothing was rounded.
    ///
    /// A rounded value is off by anything up to half of its last digit, which has the variance of that digit
    /// squared over 12 (Sheppard 1898, *On the calculation of the most probable values of
    /// frequency-constants*, Proc. London Math. Soc. 29). Values that differ by less than the digit are off
    /// by the same in every round, so that more rounds do not make it less.
    pub(crate) fn error(&self, metric: &MetricId, rounds: &[Round]) -> f64 {
        let Some(decimals) = self.decimals.get(metric) else {
            return 0.0;
        };
        let digit = 0.1_f64.powi(*decimals as i32);
        let square = |value: f64| (digit / value).powi(2);
        let squares = rounds.iter().map(|r| square(r.base) + square(r.candidate));
        let squares: Vec<f64> = squares.collect();
        (sum(&squares) / (12.0 * rounds.len() as f64)).sqrt()
    }
}

/// Digits after the point of the shortest number that is this value.
fn decimals_of(value: f64) -> usize {
    let text = value.to_string();
    text.split_once('.').map_or(0, |(_, after)| after.len())
}

#[cfg(test)]
mod tests {
    use model::{BuildSource, Reason, Verdict};

    use super::*;
    use crate::fixture::{cell, run_of};
    use crate::{Options, compare};

    /// Three rounds that agree, as a table has them.
    fn imported(base: f64, candidate: f64) -> RunData {
        let mut data = run_of(&["a", "b"], "cs/o", &[[base, candidate]; 3]);
        for system in &mut data.info.plan.systems {
            system.build.source = BuildSource::Imported("table.csv".into());
        }
        data
    }

    #[test]
    fn worked_by_hand() {
        // 0.001 / √12 of 0.009 and of 0.020: 3.21 % and 1.44 %, together 3.52 %, in each round alike.
        let data = imported(0.009, 0.020);
        let round = Round {
            number: 1,
            base: 0.009,
            candidate: 0.020,
            slices: Vec::new(),
        };
        let rounds = vec![round; 3];
        let metric = MetricId::new("cs/o");
        let error = Rounding::of(&data).error(&metric, &rounds);
        assert!((error - 0.035_18).abs() < 1e-5, "{error}");
        let unknown = Rounding::of(&data).error(&MetricId::new("rate"), &rounds);
        assert!(unknown.abs() <= 0.0);
        let ours = run_of(&["a", "b"], "cs/o", &[[0.009, 0.020]; 3]);
        assert!(Rounding::of(&ours).error(&metric, &rounds).abs() <= 0.0);
    }

    #[test]
    fn two_digits_that_are_the_same_do_not_say_unchanged() {
        let of = |data: &RunData| compare(data, &Options::default()).unwrap().remove(0);
        let same = of(&imported(0.009, 0.009));
        assert_eq!(same.verdict, Verdict::Inconclusive(Reason::TooCoarse));
        assert!(same.low.unwrap() < 0.9 && same.high.unwrap() > 1.1);
        let twice = of(&imported(0.009, 0.020));
        assert_eq!(twice.verdict, Verdict::Regressed);
        // What the rounded values can have been: 0.0195 / 0.0095 to 0.0205 / 0.0085.
        assert!(twice.low.unwrap() < 2.05 && twice.high.unwrap() > 2.41);
        // Another step shows that the tool prints more digits than these need.
        let mut finer = imported(0.009, 0.009);
        finer.cells.push(cell(1, "a", "s1", "cs/o", 0.123_456_7));
        let same = of(&finer);
        assert_eq!(same.verdict, Verdict::Unchanged);
    }

    #[test]
    fn digits_are_counted_as_they_are_printed() {
        for (value, decimals) in [
            (8201.0, 0),
            (3.95, 2),
            (0.001_593, 6),
            (1e-9, 9),
            (1e300, 0),
        ] {
            assert_eq!(decimals_of(value), decimals, "{value}");
        }
        assert!(decimals_of(2.0_f64.sqrt()) >= ENOUGH);
    }
}
