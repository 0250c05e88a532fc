//! `backslide list`: the runs of the lab.

use std::path::Path;

use anyhow::Result;
use report::{Cell, Header, Table};
use serde::Serialize;

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
}

pub(crate) fn run(args: &ListArgs, root: &Path, printer: Printer) -> Result<Exit> {
    let summaries = match runs::open(root) {
        Ok(lab) => lab.store.runs()?,
        // An empty list is the right answer for a lab that is not there yet.
        Err(_) if !root.join("lab.sqlite").exists() => Vec::new(),
        Err(error) => return Err(error),
    };
    let lines: Vec<Line<'_>> = summaries
        .iter()
        .map(|summary| Line {
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

fn as_table(lines: &[Line<'_>]) -> Table {
    let rows = lines.iter().map(|line| {
        let others = [(line.failed, "failed"), (line.quarantined, "quarantined")];
        let others = others.into_iter().filter(|(count, _)| *count > 0);
        let others = others.map(|(count, word)| format!(", {count} {word}"));
        let others = others.collect::<Vec<String>>().concat();
        let trials = format!("{}/{}{others}", line.completed, line.trials);
        vec![
            Cell::text(line.run),
            Cell::text(line.plan),
            Cell::text(line.workload),
            Cell::text(line.started),
            Cell::text(line.state),
            Cell::text(trials),
            Cell::text(line.systems.len().to_string()),
            Cell::text(line.base),
        ]
    });
    Table {
        title: String::new(),
        note: String::new(),
        headers: [
            "run", "plan", "workload", "started", "state", "trials", "systems", "base",
        ]
        .map(Header::words)
        .to_vec(),
        rows: rows.collect(),
    }
}
