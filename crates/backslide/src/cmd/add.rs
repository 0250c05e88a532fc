//! `backslide add`: a build of the user's own.

use std::time::Instant;

use anyhow::{Context, Result};
use lab::Builds;
use obtain::Added;

use crate::args::AddArgs;
use crate::exit::Exit;
use crate::installing::{self, with_progress};
use crate::printer::Printer;

pub(crate) fn run(args: &AddArgs, printer: Printer) -> Result<Exit> {
    let builds = Builds::of_user()?;
    let what = match (&args.path, &args.archive) {
        (Some(path), _) => Added::Path(path.clone()),
        (None, archive) => Added::Archive(archive.clone().unwrap_or_default()),
    };
    let begun = Instant::now();
    let installed = with_progress(&args.name, printer, |listen| {
        builds.add(&args.name, &what, listen)
    })
    .with_context(|| format!("{} was not added", args.name))?;
    installing::say_done(&installed, begun, printer);
    printer.result(&installed.name);
    Ok(Exit::Fine)
}
