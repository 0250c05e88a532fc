//! `backslide show`: one run, its systems and trials.

use std::path::Path;

use anyhow::Result;
use lab::Lab;
use model::{Outcome, TrialRecord};

use crate::args::ShowArgs;
use crate::exit::Exit;
use crate::printer::Printer;
use crate::{disturbed, input, runs, table};

/// Lines of a failed trial's log that are shown.
const LOG_LINES: usize = 12;

pub(crate) fn run(args: &ShowArgs, root: &Path, printer: Printer) -> Result<Exit> {
    let lab = runs::open(root)?;
    let data = runs::load(&lab, args.run.as_deref(), runs::NUMBERS)?;
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
