//! Scales from values to positions, with round values for their ticks; gridlines and their labels. Vertical labels
//! stand on their gridline inside the plot, so that no margin has to be guessed and none is ever cut.

use maud::{Markup, html};

use super::style::{percent, px};

pub(crate) struct Axis {
    pub(crate) scale: Scale,
    /// What it shows, with the unit.
    pub(crate) name: String,
    pub(crate) text: fn(f64) -> String,
}

impl Axis {
    pub(crate) fn described(&self) -> String {
        match self.scale {
            Scale::Linear { low: 0.0, .. } => format!("{}, from zero", self.name),
            Scale::Linear { .. } => format!("{}, not from zero", self.name),
            Scale::Log { .. } => format!("{}, log scale", self.name),
            Scale::Nines { .. } => format!("{}, log scale towards 100 %", self.name),
        }
    }
}

/// The rectangle of a plot: per cent across, pixels down.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Frame {
    /// Its width, in per cent of the chart's; what is left holds the keys of the lines.
    pub(crate) width: f64,
    pub(crate) top: f64,
    pub(crate) bottom: f64,
}

impl Frame {
    /// Pixels down for a place from 0 (bottom) to 1 (top).
    pub(crate) fn y(self, place: f64) -> f64 {
        self.bottom - place.clamp(0.0, 1.0) * (self.bottom - self.top)
    }

    /// Per cent across for a place from 0 to 1.
    pub(crate) fn x(self, place: f64) -> f64 {
        place.clamp(0.0, 1.0) * self.width
    }
}

/// Ticks of a vertical axis.
const UP: usize = 4;

pub(crate) fn gridlines(axis: &Axis, frame: Frame) -> Markup {
    let ticks = axis.scale.ticks(UP);
    html! {
        @for place in ticks.iter().filter_map(|tick| axis.scale.place(*tick)) {
            @let y = px(frame.y(place));
            line.grid x1="0" x2=(percent(frame.width)) y1=(y) y2=(y) {}
        }
    }
}

/// The labels of the gridlines, above them at the left; drawn last, so that no line hides one.
pub(crate) fn grid_labels(axis: &Axis, frame: Frame) -> Markup {
    let ticks = axis.scale.ticks(UP);
    html! {
        @for tick in &ticks {
            @if let Some(place) = axis.scale.place(*tick) {
                text.tick x="0" y=(px(frame.y(place) - 3.0)) { ((axis.text)(*tick)) }
            }
        }
    }
}

/// Ticks below the plot.
pub(crate) fn vertical(axis: &Axis, frame: Frame, wanted: usize) -> Markup {
    let ticks = axis.scale.ticks(wanted).into_iter();
    let places = ticks.filter_map(|tick| Some((axis.scale.place(tick)?, Some((axis.text)(tick)))));
    tick_marks(frame, places)
}

/// Places from 0 to 1, each with its label where there is room; those at the ends of the chart are turned inwards.
pub(crate) fn tick_marks(
    frame: Frame,
    ticks: impl Iterator<Item = (f64, Option<String>)>,
) -> Markup {
    html! {
        line.axis x1="0" x2=(percent(frame.width)) y1=(px(frame.bottom)) y2=(px(frame.bottom)) {}
        @for (place, label) in ticks {
            @let across = frame.x(place);
            @let x = percent(across);
            line.axis x1=(x) x2=(x) y1=(px(frame.bottom)) y2=(px(frame.bottom + 4.0)) {}
            @if let Some(label) = label {
                text.tick x=(x) y=(px(frame.bottom + 16.0)) text-anchor=(anchor(across)) { (label) }
            }
        }
    }
}

/// Keeps a label inside the chart that stands so many per cent across it.
fn anchor(across: f64) -> &'static str {
    if across < 6.0 {
        "start"
    } else if across > 94.0 {
        "end"
    } else {
        "middle"
    }
}

/// How values map to the places from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Scale {
    /// Equal differences are equal distances.
    Linear { low: f64, high: f64 },
    /// Equal ratios are equal distances. Both ends are above zero.
    Log { low: f64, high: f64 },
    /// Shares of operations: 0, 90 %, 99 %, 99.9 % … are equal distances.
    Nines {
        /// How many nines there are at 1.
        most: f64,
    },
}

impl Scale {
    /// From zero to a little above the greatest of the values; `None` when none is above zero.
    pub(crate) fn from_zero(values: impl Iterator<Item = f64>) -> Option<Self> {
        let high = values.filter(|v| v.is_finite()).fold(0.0, f64::max);
        (high > 0.0).then_some(Self::Linear { low: 0.0, high: high * 1.04 })
    }

    /// Around all values that are above zero, at least a factor of two wide; `None` when none is.
    pub(crate) fn log(values: impl Iterator<Item = f64>) -> Option<Self> {
        let (low, high) = crate::index::range(values.filter(|v| *v > 0.0))?;
        let room = (2.0 / (high / low)).sqrt().max(1.08);
        Some(Self::Log { low: low / room, high: high * room })
    }

    /// 0 to 1 within the scale; `None` where it has no place for the value. Zero is at the lower end of a log scale.
    pub(crate) fn place(self, value: f64) -> Option<f64> {
        let place = match self {
            Self::Linear { low, high } => (value - low) / (high - low),
            Self::Log { .. } if value == 0.0 => 0.0,
            Self::Log { low, high } if value > 0.0 => (value / low).ln() / (high / low).ln(),
            Self::Nines { most } if value < 1.0 => -(1.0 - value).log10() / most,
            Self::Log { .. } | Self::Nines { .. } => return None,
        };
        place.is_finite().then_some(place)
    }

    /// The same in per cent, at the nearer end for what lies beyond the scale.
    pub(crate) fn percent(self, value: f64) -> Option<f64> {
        self.place(value).map(|place| 100.0 * place.clamp(0.0, 1.0))
    }

    pub(crate) fn high(self) -> f64 {
        match self {
            Self::Linear { high, .. } | Self::Log { high, .. } => high,
            Self::Nines { most } => 1.0 - 10f64.powf(-most),
        }
    }

    pub(crate) fn low(self) -> f64 {
        match self {
            Self::Linear { low, .. } | Self::Log { low, .. } => low,
            Self::Nines { .. } => 0.0,
        }
    }

    /// Round values within the scale, about `wanted` of them.
    pub(crate) fn ticks(self, wanted: usize) -> Vec<f64> {
        match self {
            Self::Linear { low, high } => linear_ticks(low, high, wanted),
            Self::Log { low, high } => log_ticks(low, high, wanted),
            Self::Nines { most } => {
                let nines = (1..=most.floor() as i32).map(|n| 1.0 - 10f64.powi(-n));
                std::iter::once(0.5).chain(nines).collect()
            }
        }
    }
}

fn linear_ticks(low: f64, high: f64, wanted: usize) -> Vec<f64> {
    let span = high - low;
    if !(span.is_finite() && span > 0.0) {
        return Vec::new();
    }
    let step = nice(span / wanted.max(1) as f64);
    let first = (low / step).ceil() as i64;
    let last = (high / step).floor() as i64;
    (first..=last).take(50).map(|i| i as f64 * step).collect()
}

/// The next of 1, 2, 5 × a power of ten.
fn nice(step: f64) -> f64 {
    let power = 10f64.powf(step.log10().floor());
    let times = [1.0, 2.0, 5.0, 10.0];
    times.into_iter().find(|t| t * power >= step * 0.999_999).unwrap_or(10.0) * power
}

fn log_ticks(low: f64, high: f64, wanted: usize) -> Vec<f64> {
    if high / low < 4.0 {
        // Round values of a ratio are steps of a difference: 0.8, 1.0, 1.2.
        return linear_ticks(low, high, wanted + 2);
    }
    let decades = (high / low).log10();
    let times: &[f64] = if decades < 1.5 { &[1.0, 2.0, 5.0] } else { &[1.0] };
    let every = (decades / wanted.max(1) as f64).round().max(1.0) as usize;
    let powers = (low.log10().floor() as i32..=high.log10().ceil() as i32).step_by(every);
    powers
        .flat_map(|p| times.iter().map(move |t| t * 10f64.powi(p)))
        .filter(|v| *v >= low && *v <= high)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ticks_are_round() {
        let linear = Scale::Linear { low: 0.0, high: 48_211.0 };
        assert_eq!(linear.ticks(4), [0.0, 20_000.0, 40_000.0]);
        let log = Scale::Log { low: 2e-5, high: 3.0 };
        let rounded: Vec<String> = log.ticks(5).iter().map(|t| format!("{t:.0e}")).collect();
        assert_eq!(rounded, ["1e-4", "1e-3", "1e-2", "1e-1", "1e0"]);
        let ratio = Scale::Log { low: 0.9, high: 1.1 };
        let rounded: Vec<String> = ratio.ticks(4).iter().map(|t| format!("{t:.2}")).collect();
        assert_eq!(rounded, ["0.90", "0.95", "1.00", "1.05", "1.10"]);
        assert_eq!(Scale::Nines { most: 3.5 }.ticks(9).len(), 4);
    }

    #[test]
    fn places() {
        let near = |a: Option<f64>, b: f64| assert!((a.unwrap() - b).abs() < 1e-12, "{a:?} {b}");
        near(Scale::Linear { low: 0.0, high: 4.0 }.place(1.0), 0.25);
        near(Scale::Log { low: 0.1, high: 10.0 }.place(1.0), 0.5);
        near(Scale::Nines { most: 4.0 }.place(0.99), 0.5);
        assert_eq!(Scale::Log { low: 0.1, high: 10.0 }.place(0.0), Some(0.0));
        assert_eq!(Scale::Log { low: 0.1, high: 10.0 }.place(-1.0), None);
        assert_eq!(Scale::Nines { most: 4.0 }.place(1.0), None);
        assert_eq!(Scale::Linear { low: 1.0, high: 1.0 }.place(1.0), None);
        assert_eq!(Scale::from_zero([0.0, f64::NAN].into_iter()), None);
        assert_eq!(Scale::log([0.0].into_iter()), None);
    }

    proptest! {
        #[test]
        fn ticks_lie_within_and_are_few(a in 1e-9f64..1e9, factor in 1.001f64..1e9, wanted in 2usize..8) {
            let b = a * factor;
            for scale in [Scale::Linear { low: 0.0, high: a }, Scale::Linear { low: a, high: b }, Scale::Log { low: a, high: b }] {
                let ticks = scale.ticks(wanted);
                prop_assert!(ticks.len() <= 3 * wanted + 1, "{:?}: {:?}", scale, ticks);
                for tick in ticks {
                    let place = scale.place(tick).unwrap();
                    prop_assert!((-1e-9..=1.0 + 1e-9).contains(&place), "{:?}: {}", scale, tick);
                }
            }
        }
    }
}
