//! How one series is told from another: colour, dashes and marker together.

use maud::{Markup, html};

use super::svg::{percent, px};

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

/// What a row or a line of a chart is of.
#[derive(Clone, Debug)]
pub(crate) struct Series {
    pub(crate) style: Style,
    pub(crate) key: String,
    pub(crate) name: String,
}

/// The look of the series at this place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Style(pub(crate) usize);

impl Style {
    /// The class that sets its colour.
    pub(crate) fn class(self) -> String {
        format!("k{}", self.0 % COLOURS)
    }

    /// The value of `stroke-dasharray`; empty for a solid line. Two series share neither colour and
    /// dashes nor colour and marker until there are more than can be told apart by any eye.
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
