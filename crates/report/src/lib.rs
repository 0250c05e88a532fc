//! Stored run in, report out: HTML, Markdown, TSV, JSON.
//!
//! [`Report::new`] reads an [`Input`] once; its methods yield text: no socket, file or clock. What several outputs
//! show is built as a [`Table`] (see [`tables`]) or as a [`Sentence`]; each output only sets it.

mod builds;
mod chart;
mod charts;
mod findings;
mod for_ci;
pub mod format;
mod groups;
mod history;
mod index;
mod input;
mod list_page;
mod markdown;
mod names;
mod page;
mod plain;
mod report;
mod rounds;
mod sentence;
mod series;
pub mod statements;
mod table;
pub mod tables;
mod transactions;
mod verdict;

pub use builds::{BuildDifference, BuildValue, differing_builds};
pub use charts::{ChartFile, chart_links, file_names};
pub use groups::title as group_title;
pub(crate) use groups::{StepGroup, Sweep, Test};
pub use history::{
    history_html, history_json, history_markdown, history_sentence, history_svg, history_tables,
    of_two_builds,
};
pub use input::{Differing, Finding, Input};
pub use list_page::{Filter, List, ListPage, Live, live_html};
pub use names::short_names;
pub use plain::{pretty_json, printable};
pub use report::Report;
pub(crate) use report::Seen;
pub use rounds::{disturbed_rounds, planned_rounds, rounds};
pub use sentence::Sentence;
pub use table::{Align, Cell, Columns, Header, Table, Tone};
pub use tables::Crossover;
pub(crate) use transactions::Transactions;
