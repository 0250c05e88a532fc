//! `backslide list`: the runs of the lab.

use std::path::Path;

use anyhow::Result;
use lab::Lab;
use report::{Cell, Header, Table};
use serde::Serialize;
use store::RunSummary;

use crate::args::{Format, ListArgs};
use crate::exit::Exit;
use crate::printer::Printer;
use crate::{runs, table};

/// A run as programs see it.
#[derive(Serialize)]
struct Line<'a> {
    run: &'a str,
    plan: &'a str,
    workload: &'a str,
    started: &'a str,
    state: &'a str,
    systems: Vec<&'a str>,
    base: &'a str,
    rounds: u32,
    trials: u32,
    completed: u32,
    failed: u32,
    quarantined: u32,
    /// How many rounds are complete, where some were disturbed: for people.
    #[serde(skip)]
    rounds_complete: Option<String>,
}

pub(crate) fn run(args: &ListArgs, root: &Path, printer: Printer) -> Result<Exit> {
    let summaries = match runs::open(root) {
        Ok(lab) => with_rounds(&lab)?,
        // An empty list is the right answer for a lab that is not there yet.
        Err(_) if !root.join("lab.sqlite").exists() => Vec::new(),
        Err(error) => return Err(error),
    };
    let lines: Vec<Line<'_>> = summaries
        .iter()
        .map(|(summary, rounds_complete)| Line {
            run: &summary.info.id.0,
            plan: &summary.info.plan.name,
            workload: summary.info.plan.workload.name(),
            started: &summary.info.started,
            state: summary.info.state.word(),
            systems: summary
                .info
                .plan
                .systems
                .iter()
                .map(|s| s.name.as_str())
                .collect(),
            base: &summary.info.plan.base,
            rounds: summary.info.plan.rounds,
            trials: summary.total,
            completed: summary.completed,
            failed: summary.failed,
            quarantined: summary.quarantined,
            rounds_complete: rounds_complete.clone(),
        })
        .collect();
    match args.format {
        Format::Json => printer.json(&lines)?,
        Format::Text if lines.is_empty() => {
            printer.note("this lab has no runs yet: `backslide demo` or `backslide run PLAN`");
        }
        Format::Text => table::print(printer, &as_table(&lines)),
    }
    Ok(Exit::Fine)
}

/// The runs of a lab, each with how many of its rounds are complete, where some were disturbed.
fn with_rounds(lab: &Lab) -> Result<Vec<(RunSummary, Option<String>)>> {
    let mut runs = Vec::new();
    for summary in lab.store.runs()? {
        let rounds = rounds_complete(lab, &summary)?;
        runs.push((summary, rounds));
    }
    Ok(runs)
}

fn rounds_complete(lab: &Lab, summary: &RunSummary) -> Result<Option<String>> {
    if summary.quarantined == 0 {
        return Ok(None);
    }
    let journal = lab.store.journal(&summary.info.id)?;
    let outcomes = journal.iter().map(|(key, outcome)| (key.round, outcome));
    Ok(report::disturbed_rounds(&summary.info.plan, outcomes))
}

fn as_table(lines: &[Line<'_>]) -> Table {
    let rows = lines.iter().map(|line| {
        let others = [(line.failed, "failed"), (line.quarantined, "quarantined")];
        let others = others.into_iter().filter(|(count, _)| *count > 0);
        let others = others.map(|(count, word)| format!(", {count} {word}"));
        let others = others.collect::<Vec<String>>().concat();
        let rounds = line.rounds_complete.as_ref();
        let rounds = rounds.map_or_else(String::new, |rounds| format!("; {rounds}"));
        let trials = format!("{}/{}{others}{rounds}", line.completed, line.trials);
        vec![
            Cell::text(line.run),
            Cell::text(line.plan),
            Cell::text(line.workload),
            Cell::text(to_the_minute(line.started)),
            Cell::text(line.state),
            Cell::text(trials),
            Cell::text(line.systems.len().to_string()),
            Cell::text(line.base),
        ]
    });
    Table {
        title: String::new(),
        note: String::new(),
        headers: vec![
            Header::words("run"),
            Header::words("plan"),
            Header::words("workload").spared(2),
            // Set as a number, so that it stays on one line.
            Header::numbers("started", "UTC"),
            Header::words("state"),
            Header::words("trials"),
            Header::words("systems").spared(3),
            Header::words("base").spared(1),
        ],
        rows: rows.collect(),
    }
}

/// `2026-11-23 16:56` of `2026-11-23T16:56:20Z`: seconds tell hardly any runs apart.
fn to_the_minute(started: &str) -> String {
    match started.parse::<jiff::Timestamp>() {
        Ok(time) => time.strftime("%Y-%m-%d %H:%M").to_string(),
        Err(_) => started.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_one_table_at_both_widths() {
        let line = |run: &'static str, plan: &'static str, rounds: Option<&str>| Line {
            run,
            plan,
            workload: "micro",
            started: "2026-11-23T16:56:20Z",
            state: "unfinished",
            systems: vec!["a", "b"],
            base: "mysql-8.0.31/innodb/z12a_c8r32",
            rounds: 3,
            trials: 6,
            completed: 4,
            failed: 0,
            quarantined: 2,
            rounds_complete: rounds.map(str::to_owned),
        };
        let table = as_table(&[
            line("r1", "mysql-5.6-to-9.7", None),
            line(
                "r12",
                "nightly",
                Some("1 of 3 rounds complete, 2 disturbed"),
            ),
        ]);
        let shown = |width: u16| {
            let (table, left_out) = table::with_room(&table, usize::from(width));
            let text = table::text(&table, width);
            let plain = anstream::adapter::strip_str(&text).to_string();
            assert_eq!(plain.matches("run ").count(), 1, "{plain}");
            (plain, left_out)
        };
        let (narrow, left_out) = shown(80);
        insta::assert_snapshot!(narrow);
        assert_eq!(left_out, ["systems"]);
        let (wide, left_out) = shown(140);
        insta::assert_snapshot!(wide);
        assert!(left_out.is_empty());
    }

    #[test]
    fn disturbed_rounds_are_told_beside_the_trials() {
        let line = |quarantined: u32, rounds: Option<&str>| Line {
            run: "r1",
            plan: "p",
            workload: "micro",
            started: "now",
            state: "finished",
            systems: vec!["a", "b"],
            base: "a",
            rounds: 3,
            trials: 6,
            completed: 6 - quarantined,
            failed: 0,
            quarantined,
            rounds_complete: rounds.map(str::to_owned),
        };
        let table = as_table(&[
            line(0, None),
            line(2, Some("1 of 3 rounds complete, 2 disturbed")),
        ]);
        let trials: Vec<&str> = table.rows.iter().map(|row| row[5].text.as_str()).collect();
        assert_eq!(
            trials,
            [
                "6/6",
                "4/6, 2 quarantined; 1 of 3 rounds complete, 2 disturbed"
            ]
        );
    }
}
