//! Student's t and the normal distribution, from `statrs`.

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

/// The probability that |T| is at least |`t`|, with `df` degrees of freedom.
///
/// From the survival function, not from one minus the distribution function, so that small
/// probabilities keep their digits.
pub(crate) fn two_sided_p(t: f64, df: u32) -> f64 {
    StudentsT::new(0.0, 1.0, f64::from(df)).map_or(f64::NAN, |d| 2.0 * d.sf(t.abs()))
}

/// The value that T with `df` degrees of freedom stays below with probability `p`, which lies
/// between 0 and 1.
pub(crate) fn t_quantile(p: f64, df: u32) -> f64 {
    StudentsT::new(0.0, 1.0, f64::from(df)).map_or(f64::NAN, |d| d.inverse_cdf(p))
}

/// The value that a standard normal stays below with probability `p`, which lies between 0 and 1.
pub(crate) fn z_quantile(p: f64) -> f64 {
    Normal::standard().inverse_cdf(p)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// NIST/SEMATECH e-Handbook of Statistical Methods, §1.3.6.7.2: upper critical values.
    #[test]
    fn agrees_with_the_published_t_table() {
        let table = [
            (1, 0.975, 12.706),
            (2, 0.975, 4.303),
            (3, 0.975, 3.182),
            (5, 0.975, 2.571),
            (10, 0.975, 2.228),
            (30, 0.975, 2.042),
            (100, 0.975, 1.984),
            (3, 0.995, 5.841),
            (3, 0.999, 10.215),
            (9, 0.90, 1.383),
        ];
        for (df, p, critical) in table {
            let t = t_quantile(p, df);
            assert!((t - critical).abs() < 0.000_6, "df {df}, p {p}: {t}");
            let back = two_sided_p(t, df) / 2.0;
            assert!((back - (1.0 - p)).abs() < 1e-9, "df {df}, p {p}: {back}");
        }
        // The most rounds that `further_rounds` considers.
        assert!((t_quantile(0.975, 1000) - 1.962_339).abs() < 2e-5);
        assert!((z_quantile(0.9) - 1.281_552).abs() < 1e-5);
    }

    #[test]
    fn small_probabilities_keep_their_digits() {
        // With two degrees of freedom the tail is 1 - t / sqrt(2 + t²) = 1/t² - 3/(2 t⁴) + …
        let p = two_sided_p(1e6, 2);
        assert!((p / 1e-12 - 1.0).abs() < 1e-6, "{p}");
    }
}
