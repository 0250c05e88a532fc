//! Student's t and the normal distribution, from `statrs`; how sure is sure enough.

use std::cell::RefCell;
use std::collections::HashMap;

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

/// The probability that |T| is at least |`t`|, with `df` degrees of freedom.
///
/// From the survival function, not from one minus the distribution function, so that small
/// probabilities keep their digits.
pub(crate) fn two_sided_p(t: f64, df: f64) -> f64 {
    StudentsT::new(0.0, 1.0, df).map_or(f64::NAN, |d| 2.0 * d.sf(t.abs()))
}

/// The value that T exceeds with probability `tail`, between 0 and 0.5; infinite for a tail of nothing.
pub(crate) fn t_critical(tail: f64, df: f64) -> f64 {
    let Ok(student) = StudentsT::new(0.0, 1.0, df) else { return f64::NAN };
    if tail.is_nan() || tail <= 0.0 {
        return f64::INFINITY;
    }
    if tail >= SMALL_TAIL {
        return -student.inverse_cdf(tail.min(0.5));
    }
    // The library's inverse is made for the tails of tables. Far out, halving the logarithm's
    // range finds the value as well as a double can hold it.
    let (mut low, mut high) = (0.0_f64, f64::MAX.ln() / 2.0);
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        if student.sf(middle.exp()) > tail {
            low = middle;
        } else {
            high = middle;
        }
    }
    high.exp()
}

/// Below this, [`t_critical`] does not ask the library.
const SMALL_TAIL: f64 = 1e-6;

/// After this many halvings a range of 355 is as narrow as the digits of a double.
const HALVINGS: u32 = 60;

/// The value that a standard normal exceeds with probability `tail`.
pub(crate) fn z_critical(tail: f64) -> f64 {
    if tail.is_nan() {
        return f64::NAN;
    }
    -Normal::standard().inverse_cdf(tail.clamp(0.0, 1.0))
}

/// The probability that a standard normal exceeds `z`.
pub(crate) fn z_tail(z: f64) -> f64 {
    Normal::standard().sf(z)
}

/// Quantiles of t that were asked for before: one costs more than all the rest of a cell, and families share them.
#[derive(Debug, Default)]
pub(crate) struct Quantiles(RefCell<HashMap<(u64, u64), f64>>);

impl Quantiles {
    pub(crate) fn t_critical(&self, tail: f64, df: f64) -> f64 {
        let key = (tail.to_bits(), df.to_bits());
        *self.0.borrow_mut().entry(key).or_insert_with(|| t_critical(tail, df))
    }
}

/// The confidence of every interval that is shown or judged by.
pub const CONFIDENCE: f64 = 0.95;

pub(crate) const LEVEL: f64 = 0.05;

/// Rounds below which nothing is said about less than what another start changes.
pub(crate) const FEWEST_STARTS: u32 = 4;

#[cfg(test)]
mod tests {
    use super::*;

    /// NIST/SEMATECH e-Handbook of Statistical Methods, §1.3.6.7.2: upper critical values.
    #[test]
    fn agrees_with_the_published_t_table() {
        let table = [
            (1, 0.025, 12.706),
            (2, 0.025, 4.303),
            (3, 0.025, 3.182),
            (5, 0.025, 2.571),
            (10, 0.025, 2.228),
            (30, 0.025, 2.042),
            (100, 0.025, 1.984),
            (3, 0.005, 5.841),
            (3, 0.001, 10.215),
            (9, 0.10, 1.383),
        ];
        for (df, tail, critical) in table {
            let df = f64::from(df);
            let t = t_critical(tail, df);
            assert!((t - critical).abs() < 0.000_6, "df {df}, tail {tail}: {t}");
            let back = two_sided_p(t, df) / 2.0;
            assert!((back - tail).abs() < 1e-9, "df {df}, tail {tail}: {back}");
        }
        // The most rounds that `further_rounds` considers.
        assert!((t_critical(0.025, 1000.0) - 1.962_339).abs() < 2e-5);
        assert!((z_critical(0.1) - 1.281_552).abs() < 1e-5);
        assert!((z_tail(1.959_964) - 0.025).abs() < 1e-6);
    }

    #[test]
    fn small_probabilities_keep_their_digits_there_and_back() {
        // With two degrees of freedom the tail is 1 - t / sqrt(2 + t²) = 1/t² - 3/(2 t⁴) + …
        let p = two_sided_p(1e6, 2.0);
        assert!((p / 1e-12 - 1.0).abs() < 1e-6, "{p}");
        for (tail, df) in [(1e-7, 2.0), (1e-12, 3.0), (1e-40, 6.5), (1e-100, 96.0)] {
            let t = t_critical(tail, df);
            let back = two_sided_p(t, df) / 2.0;
            assert!((back / tail - 1.0).abs() < 1e-6, "{tail} {df}: {t} {back}");
        }
        assert!(t_critical(0.0, 3.0).is_infinite() && z_critical(0.0).is_infinite());
    }

    #[test]
    fn what_was_asked_before_is_the_same() {
        let quantiles = Quantiles::default();
        for _ in 0..2 {
            let again = quantiles.t_critical(0.025, 7.5);
            assert_eq!(Some(again), Some(t_critical(0.025, 7.5)));
        }
    }
}
