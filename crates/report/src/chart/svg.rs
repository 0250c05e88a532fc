//! Numbers and paths as SVG text: fixed decimals, so that the same data gives the same bytes.

use std::fmt::Write;

/// How outlines count across: so many units for the width of a plot, with so many decimals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Across {
    units: f64,
    decimals: usize,
}

impl Across {
    /// In the page, which stretches them to the width that there is.
    pub(crate) const PAGE: Self = Self { units: 1000.0, decimals: 0 };

    /// In a picture whose plot is so many pixels wide: not all that shows pictures can stretch an outline
    /// without its stroke.
    pub(crate) const fn pixels(width: f64) -> Self {
        Self { units: width, decimals: 1 }
    }

    /// The `viewBox` of outlines that are so many pixels high.
    pub(crate) fn view_box(self, height: f64) -> String {
        format!("0 0 {} {}", fixed(self.units, 2), px(height))
    }
}

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
    if short == "-0" { "0".to_owned() } else { short.to_owned() }
}

/// A path through points given as (place across from 0 to 1, pixels down).
pub(crate) fn path(points: impl Iterator<Item = (f64, f64)>, across: Across) -> String {
    let mut d = String::new();
    let decimals = across.decimals;
    for (place, y) in points {
        let command = if d.is_empty() { 'M' } else { 'L' };
        let x = place * across.units;
        let _infallible = write!(d, "{command}{x:.decimals$} {}", px(y));
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
        let points = || [(0.0, 10.0), (0.5, 12.34)].into_iter();
        assert_eq!(path(points(), Across::PAGE), "M0 10L500 12.3");
        let narrow = Across::pixels(691.84);
        assert_eq!(path(points(), narrow), "M0.0 10L345.9 12.3");
        assert_eq!(narrow.view_box(260.0), "0 0 691.84 260");
        assert_eq!(Across::PAGE.view_box(34.0), "0 0 1000 34");
    }
}
