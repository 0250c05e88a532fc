//! Numbers and paths as SVG text: fixed decimals, so that the same data gives the same bytes.

use std::fmt::Write;

/// Units across a plot's own coordinate system, which is stretched to the width that there is.
pub(crate) const ACROSS: f64 = 1000.0;

/// A horizontal position: `43.2%`.
pub(crate) fn percent(value: f64) -> String {
    format!("{}%", fixed(value, 2))
}

/// A vertical position: `43.2`.
pub(crate) fn px(value: f64) -> String {
    fixed(value, 1)
}

/// A number for a data attribute: enough digits to compute with.
pub(crate) fn attribute(value: f64) -> String {
    format!("{:.5e}", if value.is_finite() { value } else { 0.0 })
}

fn fixed(value: f64, decimals: usize) -> String {
    let text = format!("{:.decimals$}", if value.is_finite() { value } else { 0.0 });
    let short = text.trim_end_matches('0').trim_end_matches('.');
    if short == "-0" {
        "0".to_owned()
    } else {
        short.to_owned()
    }
}

/// A path through points given as (place across from 0 to 1, pixels down).
pub(crate) fn path(points: impl Iterator<Item = (f64, f64)>) -> String {
    let mut d = String::new();
    for (place, y) in points {
        let command = if d.is_empty() { 'M' } else { 'L' };
        let _infallible = write!(d, "{command}{:.0} {}", place * ACROSS, px(y));
    }
    d
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fixed_decimals_without_waste() {
        assert_eq!(percent(12.3456), "12.35%");
        assert_eq!(percent(50.0), "50%");
        assert_eq!(px(-0.01), "0");
        assert_eq!(px(f64::NAN), "0");
        assert_eq!(px(100.0), "100");
        assert_eq!(
            path([(0.0, 10.0), (0.5, 12.34)].into_iter()),
            "M0 10L500 12.3"
        );
    }
}
