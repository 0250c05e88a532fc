//! `backslide demo`: a real comparison of two SQLite configurations, and its report.

use std::path::Path;

use anyhow::Result;
use lab::{Builds, Lab, Secrets};
use model::{Plan, RunData};
use report::tables::Shown;

use super::{compare, run};
use crate::args::DemoArgs;
use crate::exit::Exit;
use crate::printer::Printer;
use crate::runs;

pub(crate) fn run(args: &DemoArgs, root: &Path, printer: Printer) -> Result<Exit> {
    let mut lab = Lab::open(root)?;
    let builds = Builds::of_user()?;
    let file = run::of_catalog("demo", &builds)?;
    let plan = run::expand(&file, &builds, lab.host()?.shape)?;
    let measured = measure(&mut lab, &plan, Secrets::default(), args.output.as_deref(), printer)?;
    Ok(measured.err().unwrap_or(Exit::Fine))
}

/// Carries a new plan out, prints its verdicts and writes its report to `output`, otherwise into the lab; what was
/// measured, or how the run ended where it was not carried to its end.
pub(super) fn measure(
    lab: &mut Lab,
    plan: &Plan,
    secrets: Secrets,
    output: Option<&Path>,
    printer: Printer,
) -> Result<Result<RunData, Exit>> {
    let run = lab.begin(plan, env!("CARGO_PKG_VERSION"))?;
    let exit = run::carry_out(lab, &run, secrets, printer)?;
    if exit != Exit::Fine {
        return Ok(Err(exit));
    }
    let data = runs::load(lab, Some(&run.0), runs::EVERYTHING)?;
    let comparisons = runs::compare_all(&data, None, None)?;
    compare::show(lab, &data.info.plan.base, &data, &comparisons, &Shown::default(), printer)?;
    let output = super::report::destination(lab, &run, output)?;
    super::report::write(lab, &data, &comparisons, &output, super::report::Form::default())?;
    printer.result(&format!("\nReport: {}", output.display()));
    printer
        .note(&format!("Run {run}; more: `backslide show {run}`, `backslide compare {run} --all`"));
    Ok(Ok(data))
}
