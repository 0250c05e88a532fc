//! Gridlines and their labels. Vertical labels stand on their gridline inside the plot, so that no
//! margin has to be guessed and none is ever cut.

use maud::{Markup, html};

use super::scale::Scale;
use super::svg::{percent, px};

/// A scale with its name and the way its values read.
#[derive(Clone, Debug)]
pub(crate) struct Axis {
    pub(crate) scale: Scale,
    /// What it shows, with the unit.
    pub(crate) name: String,
    pub(crate) text: fn(f64) -> String,
}

impl Axis {
    /// Its name, and whether it starts at zero.
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
    /// Where it begins, in pixels.
    pub(crate) top: f64,
    /// Where it ends, in pixels.
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

/// Ticks below the plot, turned inwards at the ends of the chart.
pub(crate) fn vertical(axis: &Axis, frame: Frame, wanted: usize) -> Markup {
    let ticks = axis.scale.ticks(wanted);
    html! {
        line.axis x1="0" x2=(percent(frame.width)) y1=(px(frame.bottom)) y2=(px(frame.bottom)) {}
        @for tick in &ticks {
            @if let Some(place) = axis.scale.place(*tick) {
                @let across = frame.x(place);
                @let x = percent(across);
                line.axis x1=(x) x2=(x) y1=(px(frame.bottom)) y2=(px(frame.bottom + 4.0)) {}
                text.tick x=(x) y=(px(frame.bottom + 16.0)) text-anchor=(anchor(across)) {
                    ((axis.text)(*tick))
                }
            }
        }
    }
}

/// Keeps a label inside the chart that stands so many per cent across it.
pub(crate) fn anchor(across: f64) -> &'static str {
    if across < 6.0 {
        "start"
    } else if across > 94.0 {
        "end"
    } else {
        "middle"
    }
}
