//! SVG as text, with fixed decimals, so that the same data gives the same bytes; and how one series is told from
//! another: colour, dashes and marker together.

use std::fmt::Write;

use maud::{Markup, html};

/// Colours that the stylesheet defines, `--c0` to `--c7`.
pub(crate) const COLOURS: usize = 8;

const DASHES: [&str; 4] = ["", "7 3", "2 3", "9 3 2 3"];

/// Circle, square, triangle, diamond, triangle upside down, cross; about 8 pixels around their middle.
const MARKERS: [&str; 6] = [
    "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z",
    "M-3.6-3.6h7.2v7.2h-7.2z",
    "M0-4.6 4.4 3.4h-8.8z",
    "M0-5 4.6 0 0 5-4.6 0z",
    "M0 4.6-4.4-3.4h8.8z",
    "M-4.2-1.4h2.8v-2.8h2.8v2.8h2.8v2.8h-2.8v2.8h-2.8v-2.8h-2.8z",
];

/// The shapes that [`Style::marker`] refers to, for a page. They must stand once in whatever holds the charts.
pub(crate) fn shapes() -> Markup {
    html! { svg.shapes width="0" height="0" aria-hidden="true" { (markers()) } }
}

/// The same for a picture.
pub(crate) fn markers() -> Markup {
    html! {
        defs {
            @for (place, shape) in MARKERS.iter().enumerate() {
                path id={ "mark" (place) } d=(shape) {}
            }
        }
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Series {
    pub(crate) style: Style,
    pub(crate) key: String,
    pub(crate) name: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Style(pub(crate) usize);

impl Style {
    pub(crate) fn class(self) -> String {
        format!("k{}", self.0 % COLOURS)
    }

    /// The value of `stroke-dasharray`; empty for a solid line. Two series share neither colour and dashes nor colour
    /// and marker until there are more than can be told apart.
    pub(crate) fn dash(self) -> &'static str {
        let turn = self.0 / COLOURS;
        DASHES.get((self.0 + turn) % DASHES.len()).copied().unwrap_or_default()
    }

    /// Its marker, at a place in per cent across and pixels down.
    pub(crate) fn marker(self, x: f64, y: f64, title: Option<&str>) -> Markup {
        let shape = (self.0 + self.0 / COLOURS) % MARKERS.len();
        html! {
            use.mark.(self.class()) href={ "#mark" (shape) } x=(percent(x)) y=(px(y)) {
                @if let Some(title) = title { title { (title) } }
            }
        }
    }

    /// A short piece of its line with its marker, for legends.
    pub(crate) fn swatch(self) -> Markup {
        html! {
            svg.swatch.(self.class()) width="34" height="12" aria-hidden="true" {
                line x1="1" x2="33" y1="6" y2="6" stroke-dasharray=[Some(self.dash()).filter(|d| !d.is_empty())] {}
                (self.marker(50.0, 6.0, None))
            }
        }
    }
}

/// How outlines count across: so many units for the width of a plot, with so many decimals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Across {
    units: f64,
    decimals: usize,
}

impl Across {
    /// In the page, which stretches them to the width that there is.
    pub(crate) const PAGE: Self = Self { units: 1000.0, decimals: 0 };

    /// In a picture whose plot is so wide: not every viewer can stretch an outline without its stroke.
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
    use std::collections::HashSet;

    #[test]
    fn neighbours_differ_in_more_than_colour() {
        for i in 0..40 {
            let (a, b) = (Style(i), Style(i + 1));
            assert_ne!(a.dash(), b.dash());
            assert_ne!(a.marker(0.0, 0.0, None).0, b.marker(0.0, 0.0, None).0);
        }
        let looks: HashSet<(String, &str)> =
            (0..30).map(|i| (Style(i).class(), Style(i).dash())).collect();
        assert_eq!(looks.len(), 30);
    }
}

#[cfg(test)]
mod tests_of_svg {
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
