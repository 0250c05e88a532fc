//! The interval of a ratio as a bar, small enough for the cell of a table.

use maud::{Markup, html};

use super::axis::Scale;
use super::style::{percent, px};

/// A ratio with its interval, and how far it must be from 1 to matter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ratio {
    /// Candidate / base.
    pub(crate) value: f64,
    /// Lower and upper end of its interval, where there is one.
    pub(crate) ends: Option<(f64, f64)>,
    /// The practical margin: 0.02 for 2 %.
    pub(crate) margin: f64,
}

const HEIGHT: f64 = 16.0;

/// A scale symmetrical about 1 that all of these share, so that bars can be compared across a table.
/// Ratios beyond a factor of four are drawn at its ends.
pub(crate) fn shared_scale(ratios: impl Iterator<Item = Ratio>) -> Scale {
    let parts = ratios.flat_map(|r| {
        let (low, high) = r.ends.unwrap_or((r.value, r.value));
        [low, r.value, high]
    });
    let usable = parts.filter(|v| v.is_finite() && *v > 0.0);
    let most = usable.map(|v| v.ln().abs().exp()).fold(1.1, f64::max);
    let end = (most * 1.02).min(4.0);
    Scale::Log { low: 1.0 / end, high: end }
}

/// The bar. Its colour comes from the class of what surrounds it.
pub(crate) fn interval(ratio: Ratio, scale: Scale) -> Markup {
    html! {
        svg.bar height=(px(HEIGHT)) aria-hidden="true" { (marks(ratio, scale, HEIGHT)) }
    }
}

/// Margin, line at 1, interval and point, for this and larger charts.
pub(crate) fn marks(ratio: Ratio, scale: Scale, height: f64) -> Markup {
    let at = |value: f64| scale.place(value).map(|p| 100.0 * p.clamp(0.0, 1.0));
    let middle = px(height / 2.0);
    // A factor up or down, as for the verdict.
    let factor = 1.0 + ratio.margin;
    let margin = (at(1.0 / factor), at(factor));
    html! {
        @if let (Some(from), Some(to)) = margin {
            rect.margin x=(percent(from)) y="0" width=(percent(to - from)) height=(px(height)) {}
        }
        @if let Some(one) = at(1.0) {
            line.one x1=(percent(one)) x2=(percent(one)) y1="0" y2=(px(height)) {}
        }
        @if let Some((from, to)) = ratio.ends.and_then(|(low, high)| Some((at(low)?, at(high)?))) {
            line.interval x1=(percent(from)) x2=(percent(to)) y1=(middle) y2=(middle) {}
        }
        @if let Some(point) = at(ratio.value) {
            circle.point cx=(percent(point)) cy=(middle) r="3.2" {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATIO: Ratio = Ratio { value: 0.8, ends: Some((0.75, 0.86)), margin: 0.02 };

    #[test]
    fn snapshot() {
        let scale = shared_scale([RATIO].into_iter());
        insta::assert_snapshot!(interval(RATIO, scale).0.replace("><", ">\n<"));
    }

    #[test]
    fn the_scale_is_symmetrical_and_bounded() {
        let absurd = Ratio { value: 1e9, ends: Some((f64::NAN, f64::INFINITY)), margin: 0.02 };
        assert_eq!(shared_scale([absurd].into_iter()), Scale::Log { low: 0.25, high: 4.0 });
        let svg = interval(absurd, shared_scale([absurd].into_iter())).0;
        assert!(!svg.contains("NaN") && !svg.contains("inf\""), "{svg}");
        let one = shared_scale(std::iter::empty()).place(1.0).unwrap();
        assert!((one - 0.5).abs() < 1e-9, "{one}");
    }
}
