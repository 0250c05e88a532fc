//! One mean over all numbers of clients.

use super::Measured;

/// `HammerDB` 6, `modules/jobs-1.0.tm`: `jobs_profile_diff` yields the relative difference of the mean rates
/// over the numbers of virtual users that both profiles have, each weighted by `max(1, users / cores)`,
/// one run a point, printed with two decimals; the chart `diff` and the pipelines fail below −0.025.
/// The cores are half of the logical CPUs, rounded up. With no more than 0.005 of difference it prints
/// four decimals, which is far from the limit.
const THRESHOLD: f64 = 0.025;

/// Physical cores of the machine that the simulated rates are of: it has eight logical CPUs.
const CORES: f64 = 4.0;

pub(super) fn finds_regression(test: &[Measured]) -> bool {
    relative_difference(test).is_some_and(|difference| two_decimals(difference) < -THRESHOLD)
}

/// The weighted mean of the candidate over that of the base, less one; `None` without a run.
fn relative_difference(test: &[Measured]) -> Option<f64> {
    let (mut of_base, mut of_candidate) = (0.0, 0.0);
    for cell in test {
        let (base, candidate) = cell.first()?;
        let weight = (f64::from(cell.clients) / CORES).max(1.0);
        of_base += weight * base;
        of_candidate += weight * candidate;
    }
    (of_base > 0.0).then(|| of_candidate / of_base - 1.0)
}

fn two_decimals(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

#[cfg(test)]
mod tests {
    use super::super::once;
    use super::*;

    #[test]
    fn forty_per_cent_less_at_one_client_moves_it_by_less_than_one() {
        let profile = [(1, 8_000.0), (8, 40_000.0), (16, 53_000.0), (32, 64_000.0), (64, 71_000.0)];
        let with_loss = |loss: f64| {
            let points = profile.map(|(clients, rate)| {
                let lost = if clients == 1 { loss } else { 0.0 };
                (clients, rate, rate * (1.0 - lost))
            });
            once(&points)
        };
        let moved = relative_difference(&with_loss(0.4)).unwrap();
        assert!((-0.01..0.0).contains(&moved), "{moved}");
        assert!(!finds_regression(&with_loss(0.4)));
        assert!(!finds_regression(&with_loss(1.0)));
    }

    #[test]
    fn the_weights_are_clients_per_core_and_at_least_one() {
        // Weights 1 and 4: (100 + 4 · 90) / (100 + 4 · 100) = 0.92.
        let points = once(&[(2, 100.0, 100.0), (16, 100.0, 90.0)]);
        assert!((relative_difference(&points).unwrap() + 0.08).abs() < 1e-12);
    }

    #[test]
    fn what_is_printed_is_what_fails() {
        let fails = |candidate| finds_regression(&once(&[(1, 1_000.0, candidate)]));
        assert!(!fails(976.0) && fails(974.0) && fails(900.0) && !fails(1_100.0));
    }
}
