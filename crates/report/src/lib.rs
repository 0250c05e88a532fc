//! Stored run in, report out: HTML, Markdown, TSV, JSON.
//!
//! Pure functions from [`Input`] to text: no socket, file or clock. What several outputs show is
//! built once as a [`Table`] (see [`tables`]) or as a [`Sentence`]; each output only sets it.

mod before;
mod chart;
mod charts;
mod comment;
mod deciding;
mod findings;
pub mod format;
mod groups;
mod history;
mod input;
mod json;
mod junit;
mod markdown;
mod open_loop;
mod page;
mod plain;
mod policy;
mod rounds;
mod sentence;
mod series;
mod spread;
pub mod statements;
mod steps;
mod sweep;
mod table;
pub mod tables;
mod transactions;
mod tsv;
mod view;

pub use charts::{ChartFile, chart_links, charts};
pub use comment::comment;
pub use findings::{findings, unequal};
pub use groups::title as group_title;
pub use history::{history_html, history_json, history_markdown, history_sentence, history_tables};
pub use input::{Differing, Finding, Input};
pub use json::json;
pub use junit::junit;
pub use markdown::markdown;
pub use open_loop::unsustained;
pub use page::{html, html_brief};
pub use plain::{pretty_json, printable};
pub use rounds::{disturbed_rounds, planned_rounds, rounds};
pub use sentence::{Sentence, control, sentences};
pub use sweep::{Crossover, crossovers};
pub use table::{Align, Cell, Header, Table, Tone};
pub use tsv::tsv;
