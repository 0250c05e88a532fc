//! The report as text: Markdown for a blog post or a pull request, the tables for a spreadsheet, the comparisons for
//! programs.

use std::fmt::Write;

use model::{Comparison, Group, Host, Outcome, RunInfo, guarded};
use serde::Serialize;

use crate::plain::in_line;
use crate::rounds::rounds;
use crate::{Align, Cell, Report, Table, findings, format, object, plain, pretty_json, tables};

impl Report<'_> {
    /// The summary in Markdown with GitHub's tables. Names are escaped.
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
        all.extend(Some(self.verdicts(&tables::Shown::default())).filter(Table::has_rows));
        // Where a table has dozens of rows, the first metric of each group stands for it.
        let most = if self.is_by_step() { 1 } else { usize::MAX };
        for group in [Group::Server, Group::Host, Group::Client] {
            let (absolute, relative) = (self.costs(group, false), self.costs(group, true));
            all.extend(absolute.into_iter().take(most));
            all.extend(relative.into_iter().take(most));
        }
        all.extend(self.sizes().into_iter().take(most));
        all.extend(self.errors());
        all.extend(self.printed());
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
            let (line, why) = (escape(&warning.line()), escape(&warning.text));
            format!("> - **{}**: {line}. {why}", escape(warning.condition.name()))
        });
        let lines = format::joined(lines, "\n");
        line(format!("> **{}.**\n>\n{lines}", findings::UNEQUAL));
    }
    for finding in report.findings() {
        line(format!("> **{}.** {}", escape(&finding.title), prose(&finding.text)));
    }
}

fn failed(text: &mut String, report: &Report<'_>) {
    for trial in &report.input.data.trials {
        let (word, reason) = match &trial.outcome {
            Outcome::Completed | Outcome::Profiled => continue,
            Outcome::Failed { reason, .. } => ("failed", reason),
            Outcome::Quarantined { reason } => ("quarantined", reason),
        };
        let (system, reason, round) = (escape(&trial.system), escape(reason), trial.round);
        let _infallible = writeln!(text, "- **{word}**: {system}, round {round}: {reason}");
    }
}

fn provenance(text: &mut String, report: &Report<'_>) {
    let info = &report.input.data.info;
    let facts = [&info.id.0, &info.started, &host(info), &info.backslide, &placement(info)];
    let [run, started, host, by, placement] = facts.map(|fact| escape(fact));
    let (rounds, seed) = (rounds(report.input.data), info.plan.seed);
    let _infallible = write!(
        text,
        "\nRun {run} of {started}, {rounds}, seed {seed}, on {host}, by backslide {by}.{placement} Report of {}.\n",
        escape(report.input.generated)
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
    if let Some(unknown) = format::unknown_host(info) {
        return unknown;
    }
    let one = |host: &Host| {
        format!(
            "{} ({}, {}, {}, {}, {})",
            host.name,
            host.cpu_model,
            format::plural(host.shape.cpus as usize, "CPU"),
            host.shape.memory,
            host.os,
            host.kernel
        )
    };
    match info.hosts.len() {
        0 => one(&info.host),
        hosts => {
            let each = info.hosts.iter().map(|each| one(&each.host));
            format!("{}: {}", format::plural(hosts, "host"), format::joined(each, "; "))
        }
    }
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
    let heads = table.headers.iter().map(|header| escape(&header.with_unit()));
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
    let _infallible = writeln!(text, "| {} |", format::joined(cells, " | "));
}

/// An [`escape`]d text in which our own commands are code. Their words are plain, so that no name can leave the code.
pub(crate) fn prose(text: &str) -> String {
    const COMMAND: &str = "`backslide ";
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == ' ';
    let (mut safe, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once(COMMAND) {
        safe.push_str(&escape(before));
        let command = after.split_once('`').filter(|(words, _)| words.chars().all(is_plain));
        if let Some((words, behind)) = command {
            let _infallible = write!(safe, "{COMMAND}{words}`");
            rest = behind;
        } else {
            safe.push_str(&escape(COMMAND));
            rest = after;
        }
    }
    safe + &escape(rest)
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

impl Report<'_> {
    /// Tab separated: a line `# title`, one of column names (with the unit in brackets), the rows, an empty line.
    /// Numbers are unrounded, without marks. Headings above rows become the first column, `group`.
    pub fn tsv(&self) -> String {
        let mut all = vec![
            self.verdicts(&tables::Shown { all_metrics: true, ..tables::Shown::default() }),
            self.absolute(),
            self.relative(),
        ];
        all.extend(self.transaction_tables(tables::Which::All));
        all.extend(self.group_summary());
        all.extend(self.background());
        all.extend(self.open_loop());
        all.extend(self.scale_up());
        all.extend(self.crossover_table());
        for group in [Group::Server, Group::Host, Group::Client] {
            all.extend(self.costs(group, false));
            all.extend(self.costs(group, true));
        }
        all.extend(self.sizes());
        all.extend(self.errors());
        all.extend(self.printed());
        all.push(self.trials());
        all.iter().map(tsv_table).collect()
    }
}

impl Report<'_> {
    /// All comparisons as a JSON list of `{step, metric, unit, base, system, ratio, low, high, rounds, q_value,
    /// verdict, reason, evidence}`, indented, with a newline at its end. Missing values are `null`, a missing reason
    /// is empty. These fields are a contract: `docs/formats.md`.
    pub fn json(&self) -> String {
        let all: Vec<_> = self.input.comparisons.iter().map(fields).collect();
        pretty_json(&all)
    }
}

fn fields(one: &Comparison) -> impl Serialize {
    let finite = |value: Option<f64>| value.filter(|v| v.is_finite());
    object! {
        step: &one.step.0,
        metric: &one.metric.0,
        unit: one.unit.name(),
        base: &one.base,
        system: &one.system,
        ratio: finite(one.ratio),
        low: finite(one.low),
        high: finite(one.high),
        rounds: one.rounds,
        q_value: finite(one.q_value),
        verdict: one.verdict.word(),
        reason: one.verdict.reason(),
        evidence: &one.evidence,
    }
}

fn tsv_table(table: &Table) -> String {
    // What stands above rows for people is a column of its own in a spreadsheet.
    let has_headings = table.rows.iter().any(|row| Table::is_heading(row));
    let names = table.headers.iter();
    let names = names.map(|header| guarded(&plain::line(&header.with_unit())).into_owned());
    let group = has_headings.then(|| "group".to_owned());
    let head = format::joined(group.into_iter().chain(names), "\t");
    let mut heading = String::new();
    let mut rows = String::new();
    for row in &table.rows {
        if Table::is_heading(row) {
            heading = row.first().map(tsv_cell).unwrap_or_default();
            continue;
        }
        let group = has_headings.then(|| heading.clone());
        rows.push_str(&format::joined(group.into_iter().chain(row.iter().map(tsv_cell)), "\t"));
        rows.push('\n');
    }
    format!("# {}\n{head}\n{rows}\n", plain::line(&table.title))
}

fn tsv_cell(cell: &Cell) -> String {
    match cell.value {
        Some(value) => format::exact(value),
        None if cell.text == format::ABSENT => String::new(),
        None => guarded(&plain::line(&cell.text)).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::{escape, prose};

    #[test]
    fn commands_of_ours_are_code_and_names_are_not() {
        for (text, markdown) in [
            (
                "*; `backslide run --resume r7` goes on.",
                "\\*; `backslide run --resume r7` goes on.",
            ),
            ("a``backslide show r7``<b>", "a\\``backslide show r7`\\`&lt;b&gt;"),
            ("`backslide <b>`", "\\`backslide &lt;b&gt;\\`"),
            ("`backslide show", "\\`backslide show"),
            ("`rm`", "\\`rm\\`"),
        ] {
            assert_eq!(prose(text), markdown);
        }
    }

    #[test]
    fn markup_in_names_stays_text() {
        assert_eq!(escape("<b>a|b</b>\n*x*"), "&lt;b&gt;a\\|b&lt;/b&gt; \\*x\\*");
        assert_eq!(escape("l.i0 [0.29, 0.33]"), "l.i0 \\[0.29, 0.33\\]");
        assert_eq!(escape("\u{1b}[31mred"), "\u{fffd}\\[31mred");
    }
}

#[cfg(test)]
mod tests_of_tsv {
    use super::*;
    use crate::{Header, Tone};

    #[test]
    fn no_cell_with_text_is_a_formula_for_a_spreadsheet() {
        let text = tsv_table(&Table {
            title: "A table".to_owned(),
            headers: vec![Header::words("=a"), Header::words("b"), Header::words("c")],
            rows: vec![
                vec![Cell::text("@group").with_tone(Tone::Heading)],
                vec![
                    Cell::text("=cmd|' /C calc'!A0"),
                    Cell::number(-1.5, "−1.5".to_owned()),
                    Cell::absent(),
                ],
            ],
            note: String::new(),
        });
        assert_eq!(text, "# A table\ngroup\t'=a\tb\tc\n'@group\t'=cmd|' /C calc'!A0\t-1.5\t\n\n");
    }
}
