//! `backslide profile`: profiled rounds for a run that exists.

use std::path::Path;

use anyhow::Result;
use lab::Secrets;

use super::run::carry_out;
use crate::args::ProfileArgs;
use crate::exit::Exit;
use crate::printer::Printer;
use crate::runs;

pub(crate) fn run(args: &ProfileArgs, root: &Path, printer: Printer) -> Result<Exit> {
    let mut lab = runs::open(root)?;
    let run = runs::choose(&lab, args.run.as_deref())?;
    let before = lab.add_profiled_rounds(&run, args.rounds, args.count)?;
    let exit = carry_out(&mut lab, &run, Secrets::default(), printer);
    match &exit {
        Ok(Exit::Failed) => {}
        Ok(_) => {
            printer.note(&format!("`backslide explain {run}` · `backslide report {run}`"));
            printer.result(&run.to_string());
        }
        Err(_) => {
            lab.take_back_added_rounds(&run, &before)?;
        }
    }
    exit
}
