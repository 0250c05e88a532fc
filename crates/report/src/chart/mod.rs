//! Charts: plain data in, SVG (in a little HTML where labels must wrap) out; one chart a file.
//!
//! Every chart is as wide as its place: horizontal positions are per cent, vertical ones pixels, so
//! that text keeps its size on a telephone. Each can be set in the page or in a picture that stands alone
//! ([`column`]). Nothing here knows about runs or systems.

pub(crate) mod axis;
pub(crate) mod column;
pub(crate) mod dots;
pub(crate) mod forest;
pub(crate) mod interval;
pub(crate) mod levels;
pub(crate) mod line;
pub(crate) mod quantile;
pub(crate) mod rows;
pub(crate) mod sparkline;
pub(crate) mod style;
pub(crate) mod sweep;

use maud::{Markup, Render, html};

use self::column::Column;
use self::line::LineChart;
use self::rows::Rows;
use self::sweep::SweepChart;

/// A chart, to be set in the page or in a picture.
#[derive(Clone, Debug)]
pub(crate) enum Chart {
    Rows(Rows),
    Lines(LineChart),
    Sweep(SweepChart),
    /// A sentence in the place of a chart that would be empty.
    Nothing(&'static str),
}

impl Chart {
    /// A sentence when no line has a point.
    pub(crate) fn lines(chart: LineChart) -> Self {
        if chart.lines.iter().all(|line| line.points.is_empty()) {
            return Self::Nothing("Nothing was recorded for this chart.");
        }
        Self::Lines(chart)
    }

    /// A sentence when there is no ratio.
    pub(crate) fn sweep(chart: Option<SweepChart>) -> Self {
        chart.map_or(Self::Nothing("There is no ratio to the base."), Self::Sweep)
    }

    /// Draws it below what is in the column already; nothing where it would be empty.
    pub(crate) fn set_in(&self, column: &mut Column) {
        match self {
            Self::Rows(rows) => rows.set_in(column),
            Self::Lines(chart) => chart.set_in(column),
            Self::Sweep(chart) => chart.set_in(column),
            Self::Nothing(_) => {}
        }
    }

    pub(crate) const fn is_empty(&self) -> bool {
        matches!(self, Self::Nothing(_))
    }

    /// The letters in it that only a legend explains.
    pub(crate) fn keys(&self) -> Vec<&str> {
        match self {
            Self::Lines(chart) => {
                let drawn = chart.lines.iter().filter(|line| !line.points.is_empty());
                drawn.map(|line| line.of.key.as_str()).collect()
            }
            Self::Sweep(chart) => {
                let drawn = chart.lines.iter().filter(|line| !line.marks.is_empty());
                drawn.map(|line| line.of.key.as_str()).collect()
            }
            Self::Rows(_) | Self::Nothing(_) => Vec::new(),
        }
    }
}

impl Render for Chart {
    fn render(&self) -> Markup {
        match self {
            Self::Rows(rows) => rows.page(),
            Self::Lines(chart) => chart.page(),
            Self::Sweep(chart) => chart.page(),
            Self::Nothing(why) => html! { p.nothing { (why) } },
        }
    }
}
