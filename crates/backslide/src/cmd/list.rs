//! `backslide list`: the runs of the lab.

use std::path::Path;

use anyhow::Result;
use lab::Lab;
use report::{Cell, Columns, Header, Table, object};
use serde::Serialize;
use store::RunSummary;

use crate::args::Format;
use crate::exit::Exit;
use crate::printer::Printer;
use crate::{runs, table};

pub(crate) fn run(format: Format, root: &Path, printer: Printer) -> Result<Exit> {
    let listed = if runs::lab_exists(root)? {
        let lab = runs::open(root)?;
        with_rounds(&lab, lab.store.runs()?)?
    } else {
        // An empty list is the right answer for a lab that is not there yet.
        Vec::new()
    };
    match format {
        Format::Json => printer.json(&listed.iter().map(fields).collect::<Vec<_>>()),
        Format::Text if listed.is_empty() => {
            let directory = root.display();
            let next = "`backslide demo` or `backslide run PLAN` makes the first";
            printer.note(&format!("no runs in {directory} yet: {next}"));
        }
        Format::Text => table::print(printer, &as_table(&listed)),
    }
    Ok(Exit::Fine)
}

/// What `--format json` prints of a run; documented in docs/formats.md.
fn fields((summary, _): &Listed) -> impl Serialize {
    let (info, plan) = (&summary.info, &summary.info.plan);
    object! {
        run: &info.id.0,
        plan: &plan.name,
        workload: plan.workload.name(),
        started: &info.started,
        state: info.state.word(),
        systems: plan.systems.iter().map(|system| &system.name).collect::<Vec<_>>(),
        base: &plan.base,
        rounds: plan.rounds,
        trials: summary.total,
        completed: summary.completed,
        failed: summary.failed,
        quarantined: summary.quarantined,
    }
}

/// A run, and how many of its rounds are complete, where some were disturbed.
pub(crate) type Listed = (RunSummary, Option<String>);

pub(crate) fn with_rounds(lab: &Lab, runs: Vec<RunSummary>) -> Result<Vec<Listed>> {
    let listed = runs.into_iter().map(|summary| {
        let mut rounds = None;
        if summary.quarantined > 0 {
            let journal = lab.store.journal(&summary.info.id)?;
            let outcomes = journal.iter().map(|(key, outcome)| (key.round, outcome));
            rounds = report::disturbed_rounds(&summary.info.plan, outcomes);
        }
        Ok((summary, rounds))
    });
    listed.collect()
}

pub(crate) fn as_table(listed: &[Listed]) -> Table {
    Columns::new()
        .words("run", |(run, _): &&Listed| Cell::text(&run.info.id.0))
        .column(Header::words("plan").kept_whole(), |(run, _)| Cell::text(&run.info.plan.name))
        .column(Header::words("workload").spared(2), |(run, _)| {
            Cell::text(run.info.plan.workload.name())
        })
        // Set as a number, so that it stays on one line.
        .numbers("started", "UTC", |(run, _)| Cell::text(to_the_minute(&run.info.started)))
        .words("state", |(run, _)| Cell::text(run.info.state.word()))
        .words("trials", |(run, rounds)| Cell::text(trials(run, rounds.as_deref())))
        .column(Header::words("systems").spared(3), |(run, _)| {
            Cell::text(run.info.plan.systems.len().to_string())
        })
        .column(Header::words("base").kept_whole().spared(1), |(run, _)| {
            Cell::text(&run.info.plan.base)
        })
        .table("", "", listed)
}

/// `4/6, 2 quarantined; 1 of 3 rounds complete, 2 disturbed`.
fn trials(run: &RunSummary, rounds_complete: Option<&str>) -> String {
    let others = [(run.failed, "failed"), (run.quarantined, "quarantined")];
    let others = others.into_iter().filter(|(count, _)| *count > 0);
    let others: Vec<String> = others.map(|(count, word)| format!(", {count} {word}")).collect();
    let rounds = rounds_complete.map_or_else(String::new, |rounds| format!("; {rounds}"));
    format!("{}/{}{}{rounds}", run.completed, run.total, others.concat())
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
    use model::RunState;
    use testkit::made_up::{self, micro::Micro};

    use super::*;

    #[test]
    fn a_list_is_one_table_at_both_widths() {
        let mut runs = [listed("r1", None), listed("r12", Some(DISTURBED))];
        for ((run, _), plan) in runs.iter_mut().zip(["mysql-5.6-to-9.7", "nightly"]) {
            run.info.plan.name = plan.to_owned();
            (run.completed, run.quarantined) = (4, 2);
        }
        let table = as_table(&runs);
        let shown = |width: u16| {
            let (text, left_out) = table::fitted(&table, width);
            let plain = anstream::adapter::strip_str(&text).to_string();
            assert_eq!(plain.matches("run ").count(), 1, "{plain}");
            (plain, left_out)
        };
        let (narrow, left_out) = shown(80);
        insta::assert_snapshot!(narrow);
        assert_eq!(left_out, ["systems", "workload", "base"]);
        let (wide, left_out) = shown(140);
        insta::assert_snapshot!(wide);
        assert!(left_out.is_empty());
    }

    #[test]
    fn disturbed_rounds_are_told_beside_the_trials() {
        let mut disturbed = listed("r1", Some(DISTURBED));
        (disturbed.0.completed, disturbed.0.quarantined) = (4, 2);
        let table = as_table(&[listed("r1", None), disturbed]);
        let trials: Vec<&str> = table.rows.iter().map(|row| row[5].text.as_str()).collect();
        assert_eq!(trials, ["6/6", "4/6, 2 quarantined; 1 of 3 rounds complete, 2 disturbed"]);
    }

    const DISTURBED: &str = "1 of 3 rounds complete, 2 disturbed";

    fn listed(run: &str, rounds_complete: Option<&str>) -> Listed {
        let mut info = made_up::micro::run(&Micro { tests: 0, ..Micro::usual() }).info;
        info.id.0 = run.to_owned();
        info.started = "2026-11-23T16:56:20Z".to_owned();
        info.state = RunState::Unfinished;
        info.plan.systems.truncate(2);
        info.plan.base = "mysql-8.0.31/innodb/z12a_c8r32".to_owned();
        let summary = RunSummary { info, completed: 6, failed: 0, quarantined: 0, total: 6 };
        (summary, rounds_complete.map(str::to_owned))
    }
}
