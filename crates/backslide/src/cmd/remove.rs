//! `backslide remove`: installed builds off this machine.

use anyhow::Result;
use lab::Builds;

use crate::args::RemoveArgs;
use crate::exit::Exit;
use crate::installing::with_progress;
use crate::printer::Printer;

pub(crate) fn run(args: &RemoveArgs, printer: Printer) -> Result<Exit> {
    let builds = Builds::of_user()?;
    for name in &args.builds {
        let freed = with_progress(name, printer, |listen| builds.remove(name, listen))?;
        printer.note(&format!("{name} is removed: {freed} freed"));
    }
    Ok(Exit::Fine)
}
