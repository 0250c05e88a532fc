//! Commands that repeat what a report shows, as the command line has them.

use maud::{Markup, html};
use model::Step;

use crate::Report;

/// Those of a run: it is measured, compared and reported again.
pub(super) fn of_run(report: &Report<'_>) -> String {
    let (file, run) = (plan_file(report), run(report));
    let base = base(report);
    [
        format!("backslide plan {file}"),
        format!("backslide run {file}"),
        format!("backslide compare {run}{base}"),
        format!("backslide report {run}{base} -o report.html"),
    ]
    .join("\n")
}

/// Those of a step, behind a line that opens them, and what else differs between its systems.
pub(super) fn of_step(report: &Report<'_>, step: &Step) -> Markup {
    let is_imported = report.input.data.info.is_imported();
    html! {
        details {
            summary { "To repeat it" }
            @if !is_imported {
                p.note { "A step is measured with the rest of its plan, which stands in full under " a href="#repeat" { "To repeat the run" } "." }
            }
            pre tabindex="0" { (lines(report, step, is_imported).join("\n")) }
            (variables(report))
        }
    }
}

fn lines(report: &Report<'_>, step: &Step, is_imported: bool) -> Vec<String> {
    let (run, base) = (run(report), base(report));
    let mut lines = Vec::new();
    if !is_imported {
        lines.push(format!("backslide run {}", plan_file(report)));
    }
    if report.has_candidates() {
        let metric = &step.metric;
        lines.push(format!("backslide compare {run}{base} --all"));
        lines.push(format!(
            "backslide history {run} --step {} --metric {}",
            word(&step.id.0),
            word(&metric.0)
        ));
    }
    let other = report.candidates().find(|system| !system.is_control);
    if let Some(other) = other.filter(|_| report.input.differing.is_some()) {
        lines.push(format!(
            "backslide explain {run} --variables {} {}",
            word(report.base),
            word(other.name)
        ));
    }
    lines
}

/// Variables that are named where they are only pointed at.
const MOST: usize = 6;

/// How many server variables differ, and which of them are known to matter.
fn variables(report: &Report<'_>) -> Markup {
    let differing = report.input.differing.iter();
    let rows = differing.flat_map(|all| all.variables.iter().flat_map(|of_dbms| &of_dbms.rows));
    let rows: Vec<_> = rows.collect();
    let known = rows.iter().filter(|row| row.matters.is_some());
    let known: Vec<&str> = known.take(MOST).map(|row| row.name.as_str()).collect();
    html! {
        @if !rows.is_empty() {
            p.note {
                "Between the systems " a href="#variables" { (crate::format::plural(rows.len(), "server variable")) }
                @if rows.len() == 1 { " differs" } @else { " differ" }
                @if !known.is_empty() { ", of those known to matter: " (known.join(", ")) }
                "."
            }
        }
    }
}

/// The base, where it is not the plan's.
fn base(report: &Report<'_>) -> String {
    if report.base == report.input.data.info.plan.base {
        String::new()
    } else {
        format!(" --base {}", word(report.base))
    }
}

fn run(report: &Report<'_>) -> String {
    word(&report.input.data.info.id.0)
}

/// The plan's name as a file name that no shell takes apart.
pub(super) fn plan_file(report: &Report<'_>) -> String {
    file_name(&report.input.data.info.plan.name)
}

fn file_name(name: &str) -> String {
    let safe = |c: char| {
        if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' }
    };
    let stem: String = name.chars().map(safe).collect();
    format!("{}.toml", stem.trim_start_matches(['-', '.']))
}

/// A word that a shell takes as it is.
fn word(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./@=:+,%".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_shell_takes_it_apart() {
        assert_eq!(file_name("mysql-5.6-to-9.7"), "mysql-5.6-to-9.7.toml");
        assert_eq!(file_name("-a b;$(c)"), "a-b---c-.toml");
        assert_eq!(word("read-only_range=100@8"), "read-only_range=100@8");
        assert_eq!(word("9.7.4 with gtid"), "'9.7.4 with gtid'");
        assert_eq!(word("it's;$(c)"), "'it'\\''s;$(c)'");
        assert_eq!(word(""), "''");
    }
}
