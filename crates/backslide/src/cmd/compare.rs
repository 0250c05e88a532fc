//! `backslide compare`: verdicts in the terminal, and an exit status for scripts.

use std::path::Path;

use anyhow::{Result, bail};
use model::{Comparison, MetricId, RunData};
use report::Input;
use stats::Selection;

use crate::args::{CompareArgs, Format};
use crate::exit::Exit;
use crate::printer::Printer;
use crate::{runs, table};

pub(crate) fn run(args: &CompareArgs, root: &Path, printer: Printer) -> Result<Exit> {
    let lab = runs::open(root)?;
    let data = runs::load(&lab, args.run.as_deref(), runs::NUMBERS)?;
    let min_effect = match args.min_effect {
        Some(percent) if !percent.is_finite() || percent < 0.0 => {
            bail!("--min-effect must be a number of per cent, not {percent}")
        }
        percent => percent.map(|percent| percent / 100.0),
    };
    let selection = if args.metric.iter().any(|metric| metric == "all") {
        Selection::All
    } else {
        Selection::Only(args.metric.iter().map(MetricId::new).collect())
    };
    let comparisons = runs::compare(&data, args.base.as_deref(), selection, min_effect)?;
    match args.format {
        Format::Json => printer.raw(report::json(&comparisons).as_bytes())?,
        Format::Text => show(&data, &comparisons, args.all, printer),
    }
    let judged = comparisons
        .iter()
        .filter(|comparison| !is_control(&data, comparison));
    Ok(Exit::of(judged))
}

/// Prints a sentence per system, the verdicts, and what the control shows.
pub(crate) fn show(data: &RunData, comparisons: &[Comparison], all: bool, printer: Printer) {
    let input = Input {
        data,
        comparisons,
        differing: None,
        generated: "",
        findings: Vec::new(),
    };
    for sentence in report::sentences(&input) {
        printer.result(&format!("{} {}", sentence.system, sentence.text));
    }
    table::print(printer, &report::tables::verdicts(&input, all));
    printer.result(&format!("\n{}", report::control(&input)));
    for finding in report::findings(&input) {
        printer.result(&format!("{}: {}", finding.title, finding.text));
    }
}

fn is_control(data: &RunData, comparison: &Comparison) -> bool {
    data.info
        .plan
        .system(&comparison.system)
        .is_some_and(|system| system.control)
}
