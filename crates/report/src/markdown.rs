//! The report for a blog post or a pull request.

use std::fmt::Write;

use model::{Group, Outcome, RunInfo};

use crate::plain::in_line;
use crate::rounds::rounds;
use crate::{Align, Report, Table, findings, format, tables};

impl Report<'_> {
    /// The summary of a report in Markdown with GitHub's tables: sentences, control, findings, the summary
    /// tables, crossovers, cost per operation, sizes, failed trials and where it ran. Names are escaped.
    pub fn markdown(&self) -> String {
        let mut text = String::new();
        head(&mut text, self);
        let mut all = self.transaction_tables(tables::Which::Ends);
        all.extend(self.ratios());
        all.extend(self.crossover_table());
        all.extend(self.group_summary());
        all.extend(self.throughput());
        all.extend(self.background());
        all.extend(self.open_loop());
        all.extend(self.tried());
        all.extend(self.scale_up());
        let verdicts = self.verdicts(&tables::Shown::default());
        all.extend(Some(verdicts).filter(Table::has_rows));
        // Where a table has dozens of rows, the first metric of each group stands for it.
        let most = if self.is_by_step() { 1 } else { usize::MAX };
        for group in [Group::Server, Group::Host, Group::Client] {
            let (absolute, relative) = (self.costs(group, false), self.costs(group, true));
            all.extend(absolute.into_iter().take(most));
            all.extend(relative.into_iter().take(most));
        }
        all.extend(self.sizes().into_iter().take(most));
        all.extend(self.errors());
        for one in &all {
            text.push_str(&table(one));
        }
        failed(&mut text, self);
        provenance(&mut text, self);
        text
    }
}

fn head(text: &mut String, report: &Report<'_>) {
    let mut line = |content: String| {
        text.push_str(&content);
        text.push_str("\n\n");
    };
    line(format!("# {}", escape(&report.input.data.info.plan.name)));
    for one in report.sentences() {
        line(format!("**{}** {}", escape(&one.system), escape(&one.text)));
    }
    line(escape(&report.control()));
    let unequal = report.unequal_conditions();
    if !unequal.is_empty() {
        let lines = unequal.iter().map(|warning| {
            format!(
                "> - **{}**: {}. {}",
                escape(warning.condition.name()),
                escape(&warning.line()),
                escape(&warning.text)
            )
        });
        let lines: Vec<String> = lines.collect();
        line(format!("> **{}.**\n>\n{}", findings::UNEQUAL, lines.join("\n")));
    }
    for finding in report.findings() {
        line(format!("> **{}.** {}", escape(&finding.title), escape(&finding.text)));
    }
}

fn failed(text: &mut String, report: &Report<'_>) {
    for trial in &report.input.data.trials {
        let (word, reason) = match &trial.outcome {
            Outcome::Completed => continue,
            Outcome::Failed { reason, .. } => ("failed", reason),
            Outcome::Quarantined { reason } => ("quarantined", reason),
        };
        let _infallible = writeln!(
            text,
            "- **{word}**: {}, round {}: {}",
            escape(&trial.system),
            trial.round,
            escape(reason)
        );
    }
}

fn provenance(text: &mut String, report: &Report<'_>) {
    let info = &report.input.data.info;
    let _infallible = write!(
        text,
        "\nRun {} of {}, {}, seed {}, on {}, by backslide {}.{} Report of {}.\n",
        escape(&info.id.0),
        escape(&info.started),
        rounds(report.input.data),
        info.plan.seed,
        escape(&host(info)),
        escape(&info.backslide),
        escape(&placement(info)),
        escape(report.input.generated),
    );
}

/// ` Placement: together on CPU 1.`; nothing for an imported run, of which it is not known.
fn placement(info: &RunInfo) -> String {
    let systems = &info.plan.systems;
    match tables::shared_placement(systems) {
        _ if info.is_imported() => String::new(),
        Some(words) => format!(" Placement: {words}."),
        None => format!(" Placement: {}.", tables::each_placement(systems)),
    }
}

/// `name (CPU model, 8 CPUs, 32 GiB, system, kernel)`; of an imported run no more than the CPUs.
fn host(info: &RunInfo) -> String {
    let host = &info.host;
    if let Some(unknown) = format::unknown_host(info) {
        return unknown;
    }
    format!(
        "{} ({}, {} CPUs, {}, {}, {})",
        host.name, host.cpu_model, host.shape.cpus, host.shape.memory, host.os, host.kernel
    )
}

pub(crate) fn table(table: &Table) -> String {
    let mut text = format!("## {}\n\n", escape(&table.title));
    if !table.note.is_empty() {
        let _infallible = write!(text, "{}\n\n", escape(&table.note));
    }
    grid(&mut text, table);
    text.push('\n');
    text
}

/// A table without title and note.
pub(crate) fn grid(text: &mut String, table: &Table) {
    let heads = table.headers.iter().map(|h| {
        let unit = if h.unit.is_empty() { String::new() } else { format!(" ({})", h.unit) };
        escape(&format!("{}{unit}", h.text))
    });
    let rules = table.headers.iter().map(|h| match h.align {
        Align::Left => ":--".to_owned(),
        Align::Right => "--:".to_owned(),
    });
    push_row(text, heads);
    push_row(text, rules);
    for row in &table.rows {
        let is_heading = Table::is_heading(row);
        let cells = row.iter().map(|cell| {
            let shown = escape(&cell.shown());
            if is_heading && !shown.is_empty() { format!("**{shown}**") } else { shown }
        });
        push_row(text, cells);
    }
}

fn push_row(text: &mut String, cells: impl Iterator<Item = String>) {
    let cells: Vec<String> = cells.collect();
    let _infallible = writeln!(text, "| {} |", cells.join(" | "));
}

/// Keeps names from becoming markup, or orders to a terminal.
pub(crate) fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars().map(in_line) {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '\\' | '|' | '*' | '_' | '`' | '[' | ']' | '~' | '#' => {
                safe.push('\\');
                safe.push(c);
            }
            _ => safe.push(c),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::escape;

    #[test]
    fn markup_in_names_stays_text() {
        assert_eq!(escape("<b>a|b</b>\n*x*"), "&lt;b&gt;a\\|b&lt;/b&gt; \\*x\\*");
        assert_eq!(escape("l.i0 [0.29, 0.33]"), "l.i0 \\[0.29, 0.33\\]");
        assert_eq!(escape("\u{1b}[31mred"), "\u{fffd}\\[31mred");
    }
}
