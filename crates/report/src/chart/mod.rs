//! Charts: plain data in, SVG (in a little HTML where labels must wrap) out.
//!
//! Every chart is as wide as its place: horizontal positions are per cent, vertical ones pixels, so
//! that text keeps its size on a telephone. Each can be set in the page or in a picture that stands alone
//! ([`column`]). Nothing here knows about runs or systems.

pub(crate) mod axis;
pub(crate) mod column;
pub(crate) mod dots;
pub(crate) mod flame;
pub(crate) mod line;
pub(crate) mod ratios;
pub(crate) mod rows;
pub(crate) mod sparkline;
pub(crate) mod style;
pub(crate) mod sweep;

use maud::{Markup, Render, html};

use self::column::Column;
use self::flame::FlameChart;
use self::line::LineChart;
use self::rows::Rows;
use self::style::Series;

pub(crate) enum Chart {
    Rows(Rows),
    Lines(LineChart),
    Flame(FlameChart),
    /// A sentence in the place of a chart that would be empty.
    Nothing(&'static str),
}

impl Chart {
    pub(crate) fn lines(chart: LineChart) -> Self {
        if chart.lines.iter().all(|line| line.points.is_empty()) {
            return Self::Nothing("Nothing was recorded for this chart.");
        }
        Self::Lines(chart)
    }

    pub(crate) fn flame(chart: FlameChart) -> Self {
        if chart.is_empty() { Self::Nothing("No samples were taken.") } else { Self::Flame(chart) }
    }

    /// Draws it below what is in the column already; nothing where it would be empty.
    pub(crate) fn set_in(&self, column: &mut Column) {
        match self {
            Self::Rows(rows) => rows.set_in(column),
            Self::Lines(chart) => chart.set_in(column),
            Self::Flame(chart) => chart.set_in(column),
            Self::Nothing(_) => {}
        }
    }

    pub(crate) const fn is_empty(&self) -> bool {
        matches!(self, Self::Nothing(_))
    }

    /// The letters in it that only a legend explains.
    pub(crate) fn keys(&self) -> Vec<&str> {
        let drawn: Vec<&Series> = match self {
            Self::Lines(chart) => {
                let lines = chart.lines.iter().filter(|line| !line.points.is_empty());
                lines.map(|line| &line.of).collect()
            }
            Self::Flame(chart) => chart.looks.of.iter().collect(),
            Self::Rows(_) | Self::Nothing(_) => Vec::new(),
        };
        drawn.into_iter().map(|series| series.key.as_str()).collect()
    }
}

impl Render for Chart {
    fn render(&self) -> Markup {
        match self {
            Self::Rows(rows) => rows.page(),
            Self::Lines(chart) => chart.page(),
            Self::Flame(chart) => chart.page(),
            Self::Nothing(why) => html! { p.nothing { (why) } },
        }
    }
}
