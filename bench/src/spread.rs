//! A few repeats of one measurement.

use std::fmt;

/// Values of one measurement, in order.
#[derive(Clone, Debug, Default)]
pub struct Spread(Vec<f64>);

impl Spread {
    /// Adds one.
    pub fn add(&mut self, value: f64) {
        self.0.push(value);
    }

    /// Each value divided by the one of `other` that was taken with it.
    #[must_use]
    pub fn over(&self, other: &Self) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(a, b)| a / b).collect())
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// The median; NaN when there are none.
    pub fn median(&self) -> f64 {
        stats::median(&self.0).unwrap_or(f64::NAN)
    }

    fn max(&self) -> f64 {
        stats::max(&self.0).unwrap_or(f64::NAN)
    }

    fn min(&self) -> f64 {
        stats::min(&self.0).unwrap_or(f64::NAN)
    }
}

impl fmt::Display for Spread {
    /// `median [min–max]`, each with the precision that the format asks for.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = f.precision().unwrap_or(2);
        let (median, min, max) = (self.median(), self.min(), self.max());
        write!(f, "{median:.digits$} [{min:.digits$}–{max:.digits$}]")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_shown_with_its_range() {
        let mut spread = Spread::default();
        for value in [3.0, 1.0, 2.0] {
            spread.add(value);
        }
        assert_eq!(format!("{spread:.1}"), "2.0 [1.0–3.0]");
        assert_eq!(format!("{:.0}", spread.over(&spread)), "1 [1–1]");
    }
}
