//! `backslide merge`: joins the labs of several hosts.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Result;
use lab::Lab;
use model::{RunId, RunState};
use report::format::plural;

use crate::exit::Exit;
use crate::printer::Printer;

pub(crate) fn run(labs: &[PathBuf], output: &Path, printer: Printer) -> Result<Exit> {
    for run in merge(labs, output, printer)?.into_keys() {
        printer.result(&run.to_string());
    }
    Ok(Exit::Fine)
}

/// The runs that were merged, and whether each is whole now.
pub(super) fn merge(
    labs: &[PathBuf],
    output: &Path,
    printer: Printer,
) -> Result<BTreeMap<RunId, RunState>> {
    let (merged, warnings) = Lab::merge(output, labs)?;
    for one in &merged {
        let from = one.from.parent().unwrap_or(&one.from).display();
        let added = match one.added {
            0 => "nothing new".to_owned(),
            added => format!("{} added", plural(added as usize, "trial")),
        };
        printer.note(&format!("{} of {from} is {}: {added}", one.was, one.run));
    }
    for text in warnings {
        printer.note(&format!("warning: {text}"));
    }
    // The last word on a run counts: it has all of its parts by then.
    let runs: BTreeMap<RunId, RunState> =
        merged.into_iter().map(|one| (one.run, one.state)).collect();
    for (run, _) in runs.iter().filter(|(_, state)| **state == RunState::Unfinished) {
        printer.note(&format!(
            "{run} is unfinished: merge the missing parts too; `backslide run --resume {run}` would measure their rounds on this host"
        ));
    }
    Ok(runs)
}
