//! A rank test on ten runs each.

use std::cmp::Ordering;
use std::sync::LazyLock;

use super::Measured;

/// vitessio/arewefastyet (`go/tools/macrobench/stats.go`) runs each side ten times and asks
/// `golang.org/x/perf/benchmath` with `AssumeNothing`: Mann & Whitney 1947, *On a test of whether one of
/// two random variables is stochastically larger than the other*, Ann. Math. Statist. 18(1), two-sided and
/// exact; a difference of the medians counts where p is at most 0.05. The runs are not paired, and each
/// comparison stands for itself.
pub(super) const RUNS: usize = 10;
const ALPHA: f64 = 0.05;

static TAIL: LazyLock<Vec<f64>> = LazyLock::new(|| lower_tail(RUNS));

pub(super) fn finds_regression(test: &[Measured]) -> bool {
    test.iter().any(|cell| {
        let (base, candidate) = (cell.base.get(..RUNS), cell.candidate.get(..RUNS));
        base.zip(candidate).is_some_and(|(base, candidate)| {
            median(candidate) < median(base) && two_sided_p(base, candidate, &TAIL) <= ALPHA
        })
    })
}

/// The exact p-value of "both are alike" for two samples of one size; `tail` is of that size.
///
/// A tie is half a win. Then U may lie between two whole numbers, and the one nearer to its mean is
/// taken, so that ties never make a difference more certain.
fn two_sided_p(base: &[f64], candidate: &[f64], tail: &[f64]) -> f64 {
    let wins = base.iter().flat_map(|b| candidate.iter().map(move |c| win(*b, *c))).sum::<f64>();
    let fewer = wins.min((base.len() * candidate.len()) as f64 - wins);
    let probability = tail.get(fewer.ceil() as usize).copied().unwrap_or(1.0);
    (2.0 * probability).min(1.0)
}

fn win(base: f64, candidate: f64) -> f64 {
    match candidate.total_cmp(&base) {
        Ordering::Greater => 1.0,
        Ordering::Equal => 0.5,
        Ordering::Less => 0.0,
    }
}

/// The probability that U is at most 0, 1, 2, … for two samples of `n` that are alike, without ties.
///
/// Counted: the values are gone through from the smallest up, and each is the base's or the candidate's;
/// one of the candidate's wins against every value of the base before it.
fn lower_tail(n: usize) -> Vec<f64> {
    let most = n * n;
    // orders[candidates][u]: in how many ways the values so far can have come.
    let mut orders = vec![vec![0.0_f64; most + 1]; n + 1];
    orders[0][0] = 1.0;
    for seen in 0..2 * n {
        for candidates in (0..=seen.min(n)).rev() {
            let bases = seen - candidates;
            if bases > n {
                continue;
            }
            if candidates < n {
                let before = orders[candidates].clone();
                for (u, ways) in before.iter().enumerate().take(most + 1 - bases) {
                    orders[candidates + 1][u + bases] += ways;
                }
            }
            // All of the base's have come: the next one cannot be one of them.
            if bases == n {
                orders[candidates].fill(0.0);
            }
        }
    }
    let total: f64 = orders[n].iter().sum();
    let cumulated = orders[n].iter().scan(0.0, |sum, ways| {
        *sum += ways;
        Some(*sum / total)
    });
    cumulated.collect()
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    if sorted.len() % 2 == 1 {
        sorted[middle]
    } else {
        f64::midpoint(sorted[middle - 1], sorted[middle])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The smallest p-values that samples of this size can have, as benchmath lists them.
    #[test]
    fn the_smallest_p_is_the_published_one() {
        for (n, least) in [
            (2, 0.333_333_333_333_333_3),
            (4, 0.028_571_428_571_428_57),
            (6, 0.002_164_502_164_502_164_5),
            (9, 4.113_533_525_298_231e-5),
        ] {
            let p = 2.0 * lower_tail(n)[0];
            assert!((p / least - 1.0).abs() < 1e-12, "{n}: {p}");
        }
    }

    /// Critical values of U, two-sided, 0.05, as tables have them.
    #[test]
    fn critical_values_are_those_of_the_tables() {
        for (n, critical) in [(4, 0), (5, 2), (6, 5), (7, 8), (8, 13), (9, 17), (10, 23)] {
            let tail = lower_tail(n);
            assert!(2.0 * tail[critical] <= 0.05, "{n}");
            assert!(2.0 * tail[critical + 1] > 0.05, "{n}");
        }
    }

    #[test]
    fn u_is_symmetric_and_ties_are_no_evidence() {
        let tail = lower_tail(3);
        let p = |a: &[f64], b: &[f64]| two_sided_p(a, b, &tail);
        assert!((p(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0]) - 0.1).abs() < 1e-12);
        assert!((p(&[4.0, 5.0, 6.0], &[1.0, 2.0, 3.0]) - 0.1).abs() < 1e-12);
        assert!((p(&[1.0, 1.0, 1.0], &[1.0, 1.0, 1.0]) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn only_what_is_lower_has_regressed() {
        let cell = |base: f64, candidate: f64| Measured {
            clients: 1,
            base: (0..10).map(|n| base + f64::from(n)).collect(),
            candidate: (0..10).map(|n| candidate + f64::from(n)).collect(),
        };
        assert!(finds_regression(&[cell(100.0, 80.0)]));
        assert!(!finds_regression(&[cell(80.0, 100.0)]));
    }
}
