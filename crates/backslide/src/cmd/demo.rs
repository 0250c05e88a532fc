//! `backslide demo`: a real comparison of two SQLite configurations, and its report.

use std::path::Path;

use anyhow::Result;
use lab::{Builds, Lab, Secrets};
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
    let run = lab.begin(&plan, env!("CARGO_PKG_VERSION"))?;
    let exit = run::carry_out(&mut lab, &run, Secrets::default(), printer)?;
    if exit != Exit::Fine {
        return Ok(exit);
    }
    let data = runs::load(&lab, Some(&run.0), runs::EVERYTHING)?;
    let comparisons = runs::compare_all(&data, None, None)?;
    compare::show(
        &lab,
        &data.info.plan.base,
        &data,
        &comparisons,
        &Shown::default(),
        printer,
    )?;
    let output = super::report::destination(&lab, &run, args.output.as_deref())?;
    super::report::write(
        &lab,
        &data,
        &comparisons,
        &output,
        super::report::Form::default(),
    )?;
    printer.result(&format!("\nReport: {}", output.display()));
    printer.note(&format!(
        "Run {run}; more: `backslide show {run}`, `backslide compare {run} --all`"
    ));
    Ok(Exit::Fine)
}
