//! The list of metrics in the documentation is the table of metrics.
//!
//! `BLESS=1 cargo test -p model --test docs` writes it.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::path::PathBuf;
use std::{env, fs};

use model::{Direction, Metric, Unit, metrics};

const BEGIN: &str = "<!-- metrics: written by `BLESS=1 cargo test -p model --test docs` -->\n";
const END: &str = "<!-- end of metrics -->";

fn unit(metric: &Metric) -> &'static str {
    metric.unit.map_or("rows/s, ops/s", Unit::name)
}

/// `2 %`; what is not judged has no margin.
fn margin(metric: &Metric) -> String {
    match metric.direction {
        Direction::Neither => String::new(),
        Direction::Higher | Direction::Lower => format!("{} %", 100.0 * metric.margin),
    }
}

fn line(metric: &Metric) -> String {
    let better = match metric.direction {
        Direction::Higher => "↑",
        Direction::Lower => "↓",
        Direction::Neither => "–",
    };
    let (id, formula) = (metric.id.replace("{kind}", "KIND"), metric.formula);
    format!("| `{id}` | {formula} | {} | {better} | {} |\n", unit(metric), margin(metric))
}

/// The page with the list, and its text.
fn page() -> (PathBuf, String) {
    let docs = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let pages = fs::read_dir(docs).unwrap().map(|page| page.unwrap().path());
    let pages = pages.filter(|page| page.extension().is_some_and(|ending| ending == "md"));
    let mut pages = pages.map(|page| (page.clone(), fs::read_to_string(page).unwrap()));
    pages.find(|(_, text)| text.contains(BEGIN)).unwrap()
}

#[test]
fn the_list_of_metrics_is_that_of_the_table() {
    let (path, text) = page();
    let (before, rest) = text.split_once(BEGIN).unwrap();
    let (listed, after) = rest.split_once(END).unwrap();
    let head = "\n| metric | formula | unit | | margin |\n|---|---|---|---|---|\n";
    let lines: String = metrics().map(line).collect();
    let expected = format!("{head}{lines}\n");
    if env::var_os("BLESS").is_some() {
        fs::write(path, format!("{before}{BEGIN}{expected}{END}{after}")).unwrap();
        return;
    }
    assert_eq!(listed, expected, "BLESS=1 cargo test -p model --test docs writes {path:?}");
}
