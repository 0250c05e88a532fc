//! Charts: plain data in, SVG (in a little HTML where labels must wrap) out; one chart a file.
//!
//! Every chart is as wide as its place: horizontal positions are per cent, vertical ones pixels, so
//! that text keeps its size on a telephone. Nothing here knows about runs or systems.

pub(crate) mod axis;
pub(crate) mod dots;
pub(crate) mod forest;
pub(crate) mod interval;
pub(crate) mod levels;
pub(crate) mod line;
pub(crate) mod quantile;
pub(crate) mod scale;
pub(crate) mod sparkline;
pub(crate) mod style;
pub(crate) mod svg;
pub(crate) mod sweep;

use maud::{Markup, html};

/// A sentence in the place of a chart that would be empty.
pub(crate) fn nothing(why: &str) -> Markup {
    html! { p.nothing { (why) } }
}
