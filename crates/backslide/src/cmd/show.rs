//! `backslide show`: one run, its systems and trials.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Result;
use lab::Lab;
use model::{Outcome, RunData, System, TrialRecord};
use serde::Serialize;

use crate::args::{Format, ShowArgs};
use crate::exit::Exit;
use crate::printer::Printer;
use crate::{disturbed, input, runs, table};

/// Lines of a failed trial's log that are shown.
const LOG_LINES: usize = 12;

pub(crate) fn run(args: &ShowArgs, root: &Path, printer: Printer) -> Result<Exit> {
    let lab = runs::open(root)?;
    let data = runs::load(&lab, args.run.as_deref(), runs::NUMBERS)?;
    if args.format == Format::Json {
        printer.json(&Output::of(&data))?;
        return Ok(Exit::Fine);
    }
    let info = &data.info;
    printer.result(&format!(
        "run {} · plan {} · {} · started {} · {}, {} · seed {} · backslide {}",
        info.id,
        info.plan.name,
        info.plan.workload.name(),
        info.started,
        info.state.word(),
        report::rounds(&data),
        info.plan.seed,
        info.backslide,
    ));
    let trials = data.trials.iter();
    let outcomes = trials.map(|trial| (trial.round, &trial.outcome));
    if let Some(rounds) = report::disturbed_rounds(&info.plan, outcomes) {
        printer.result(&rounds);
    }
    for system in &info.plan.systems {
        let role = if system.name == info.plan.base {
            " (base)"
        } else if system.control {
            " (control: a second copy of the base)"
        } else {
            ""
        };
        printer.result(&format!(
            "  {}{role}: {}",
            system.name, system.build.version_line
        ));
    }
    if !info.is_imported() {
        for line in report::tables::placement_lines(&info.plan.systems) {
            printer.result(&format!("  {line}"));
        }
    }
    let input = input::of(&lab, &data, &info.plan.base, &[])?;
    for line in report::unequal(&input) {
        printer.prose(&format!("Not equal: {line}"));
    }
    table::print(printer, &report::tables::trials(&input));
    for throughput in report::tables::throughput(&input) {
        table::print(printer, &throughput);
    }
    let arrivals = [
        report::tables::open_loop(&input),
        report::tables::tried(&input),
    ];
    for one in arrivals.into_iter().flatten() {
        table::print(printer, &one);
    }
    for line in report::unsustained(&input) {
        printer.prose(&line);
    }
    for transactions in report::tables::transactions(&input) {
        table::print(printer, &transactions);
    }
    for line in disturbed::trials(&data.trials) {
        printer.prose(&line);
    }
    for trial in &data.trials {
        failed(&lab, trial, printer);
    }
    Ok(Exit::Fine)
}

/// A run as programs see it.
#[derive(Serialize)]
struct Output<'a> {
    run: &'a str,
    plan: &'a str,
    workload: &'a str,
    started: &'a str,
    state: &'a str,
    backslide: &'a str,
    imported: bool,
    seed: u64,
    base: &'a str,
    rounds: u32,
    systems: Vec<ShownSystem<'a>>,
    steps: Vec<&'a str>,
    trials: Vec<Trial<'a>>,
}

#[derive(Serialize)]
struct ShownSystem<'a> {
    system: &'a str,
    role: &'static str,
    build: String,
    dbms: &'static str,
    version: String,
    program: &'a str,
    engine: &'static str,
    config: &'a str,
    set: &'a BTreeMap<String, String>,
}

#[derive(Serialize)]
struct Trial<'a> {
    round: u32,
    position: u32,
    system: &'a str,
    started: &'a str,
    seconds: f64,
    outcome: &'static str,
    step: Option<&'a str>,
    reason: Option<&'a str>,
    log: &'a [String],
}

impl<'a> Output<'a> {
    fn of(data: &'a RunData) -> Self {
        let info = &data.info;
        let plan = &info.plan;
        let role = |system: &System| match system {
            _ if system.name == plan.base => "base",
            _ if system.control => "control",
            _ => "candidate",
        };
        let systems = plan.systems.iter().map(|system| ShownSystem {
            system: &system.name,
            role: role(system),
            build: system.build.id(),
            dbms: system.build.dbms.name(),
            version: system.build.version.to_string(),
            program: &system.build.version_line,
            engine: system.engine.name(),
            config: &system.config.name,
            set: &system.set,
        });
        Self {
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
            systems: systems.collect(),
            steps: data.steps.iter().map(|step| step.step.0.as_str()).collect(),
            trials: data.trials.iter().map(Trial::of).collect(),
        }
    }
}

impl<'a> Trial<'a> {
    fn of(trial: &'a TrialRecord) -> Self {
        let (outcome, step, reason, log): (_, _, _, &[String]) = match &trial.outcome {
            Outcome::Completed => ("completed", None, None, &[]),
            Outcome::Quarantined { reason } => ("quarantined", None, Some(reason), &[]),
            Outcome::Failed {
                step,
                reason,
                log_tail,
            } => ("failed", step.as_ref(), Some(reason), log_tail),
        };
        Self {
            round: trial.round,
            position: trial.position,
            system: &trial.system,
            started: &trial.started,
            seconds: trial.duration.as_secs_f64(),
            outcome,
            step: step.map(|step| step.0.as_str()),
            reason: reason.map(String::as_str),
            log,
        }
    }
}

/// Why a trial failed, with the server's last lines; nothing of one that did not.
fn failed(lab: &Lab, trial: &TrialRecord, printer: Printer) {
    let Outcome::Failed {
        step,
        reason,
        log_tail,
    } = &trial.outcome
    else {
        return;
    };
    let at = step
        .as_ref()
        .map_or(String::new(), |step| format!(" in {step}"));
    printer.prose(&format!(
        "\nround {}, {} failed{at}: {reason}",
        trial.round, trial.system
    ));
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
