//! `backslide show`: one run, its systems and trials.

use std::path::Path;

use anyhow::Result;
use lab::Lab;
use model::{NoteKind, Outcome, Plan, RunData, RunInfo, StepNote, System, TrialRecord};
use report::{Report, object, printable};
use serde::Serialize;

use super::install::without_directory;
use crate::args::{Format, ShowArgs};
use crate::exit::Exit;
use crate::printer::Printer;
use crate::{disturbed, input, runs, table};

const LOG_LINES: usize = 12;
/// Lines of scripts.
const MOST_PRINTED: usize = 200;

pub(crate) fn run(args: &ShowArgs, root: &Path, printer: Printer) -> Result<Exit> {
    let lab = runs::open(root)?;
    let data = runs::load(&lab, args.run.as_deref(), runs::NUMBERS)?;
    if args.format == Format::Json {
        printer.json(&fields(&data));
        return Ok(Exit::Fine);
    }
    let info = &data.info;
    let RunInfo { id, plan, started, backslide, .. } = info;
    let (workload, state, rounds) =
        (plan.workload.name(), info.state.word(), report::rounds(&data));
    printer.prose(&format!(
        "run {id} · plan {} · {workload} · started {started} · {state}, {rounds} · seed {} · backslide {backslide}",
        plan.name, plan.seed
    ));
    let trials = data.trials.iter();
    let outcomes = trials.map(|trial| (trial.round, &trial.outcome));
    if let Some(rounds) = report::disturbed_rounds(&info.plan, outcomes) {
        printer.prose(&rounds);
    }
    for system in &info.plan.systems {
        let role = if system.name == info.plan.base {
            " (base)"
        } else if system.control {
            " (control: a second copy of the base)"
        } else {
            ""
        };
        let version = without_directory(&system.build.version_line);
        printer.prose(&format!("  {}{role}: {version}", system.name));
    }
    if !info.is_imported() {
        for line in report::tables::placement_lines(&info.plan.systems) {
            printer.prose(&format!("  {line}"));
        }
    }
    tables(&lab, &data, printer)?;
    printed(&data, printer);
    for trial in &data.trials {
        failed(&lab, trial, printer);
    }
    Ok(Exit::Fine)
}

fn tables(lab: &Lab, data: &RunData, printer: Printer) -> Result<()> {
    let input = input::of(lab, data, &data.info.plan.base, &[])?;
    let report = Report::new(&input);
    for line in report.unequal() {
        printer.prose(&format!("Not equal: {line}"));
    }
    let trials = (!data.trials.is_empty()).then(|| report.trials());
    if trials.is_none() {
        printer.prose("no trial has ended yet");
    }
    let tables = trials.into_iter().chain(report.throughput());
    for one in tables.chain(report.open_loop()).chain(report.tried()) {
        table::print(printer, &one);
    }
    for line in report.unsustained() {
        printer.prose(&line);
    }
    for transactions in report.transactions() {
        table::print(printer, &transactions);
    }
    for line in disturbed::trials(&data.trials) {
        printer.prose(&line);
    }
    if let Some(warning) = disturbed::compared(data) {
        printer.prose(&warning);
    }
    Ok(())
}

/// What scripts of sysbench have printed.
fn printed(data: &RunData, printer: Printer) {
    let all = || data.notes.iter().filter(|note| note.what == NoteKind::Script);
    for note in all().take(MOST_PRINTED) {
        let StepNote { round, system, step, text, .. } = note;
        printer.prose(&format!("round {round} · {system} · {step}: {}", printable(text)));
    }
    if let more @ 1.. = all().count().saturating_sub(MOST_PRINTED) {
        printer.prose(&format!("and {more} more lines that the script printed"));
    }
}

/// What `--format json` prints; documented in docs/formats.md.
fn fields(data: &RunData) -> impl Serialize {
    let (info, plan) = (&data.info, &data.info.plan);
    object! {
        run: &info.id.0,
        plan: &plan.name,
        workload: plan.workload.name(),
        started: &info.started,
        state: info.state.word(),
        backslide: &info.backslide,
        imported: info.is_imported(),
        seed: plan.seed,
        base: &plan.base,
        rounds: plan.rounds,
        systems: plan.systems.iter().map(|system| of_system(plan, system)).collect::<Vec<_>>(),
        steps: data.steps.iter().map(|step| &step.id.0).collect::<Vec<_>>(),
        trials: data.trials.iter().map(of_trial).collect::<Vec<_>>(),
    }
}

fn of_system(plan: &Plan, system: &System) -> impl Serialize {
    object! {
        system: &system.name,
        role: match system {
            _ if system.name == plan.base => "base",
            _ if system.control => "control",
            _ => "candidate",
        },
        build: system.build.id(),
        dbms: system.build.dbms.name(),
        version: system.build.version.to_string(),
        program: &system.build.version_line,
        engine: system.engine.name(),
        config: &system.config.name,
        set: &system.set,
    }
}

fn of_trial(trial: &TrialRecord) -> impl Serialize {
    let (outcome, step, reason, log): (_, _, _, &[String]) = match &trial.outcome {
        Outcome::Completed => ("completed", None, None, &[]),
        Outcome::Profiled => ("profiled", None, None, &[]),
        Outcome::Quarantined { reason } => ("quarantined", None, Some(reason), &[]),
        Outcome::Failed { step, reason, log_tail } => {
            ("failed", step.as_ref(), Some(reason), log_tail)
        }
    };
    object! {
        round: trial.round,
        position: trial.position,
        system: &trial.system,
        started: &trial.started,
        seconds: trial.duration.as_secs_f64(),
        outcome: outcome,
        step: step.map(|step| &step.0),
        reason: reason,
        log: log,
    }
}

/// Why a trial failed, with the server's last lines; nothing of one that did not.
fn failed(lab: &Lab, trial: &TrialRecord, printer: Printer) {
    let Outcome::Failed { step, reason, log_tail } = &trial.outcome else { return };
    let at = step.as_ref().map_or(String::new(), |step| format!(" in {step}"));
    printer.prose(&format!("\nround {}, {} failed{at}: {reason}", trial.round, trial.system));
    // Where the reason has the telling lines already, they are not repeated; else they come first.
    let most = if reason.contains('\n') { 0 } else { LOG_LINES };
    for line in log_tail.iter().take(most) {
        printer.result(&format!("  | {line}"));
    }
    if log_tail.len() > most {
        let logs = lab.root().join("logs");
        printer.result(&format!("  | … the rest is in {}", logs.display()));
    }
}
