//! `backslide add`: a build of the user's own.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use lab::Builds;
use obtain::Added;

use crate::args::AddArgs;
use crate::exit::Exit;
use crate::installing::{self, with_progress};
use crate::printer::Printer;

/// Where the archive is: a path, or an address that a client can fetch.
fn place(archive: &str) -> Result<&str> {
    let path = archive.strip_prefix("file://").unwrap_or(archive);
    if path.contains("://") && !path.starts_with("http://") && !path.starts_with("https://") {
        bail!("{path}: an address begins with https:// or http://; fetch it and give the file");
    }
    if Path::new(path).is_dir() {
        bail!("{path} is a directory: give it with --path");
    }
    Ok(path)
}

pub(crate) fn run(args: &AddArgs, printer: Printer) -> Result<Exit> {
    let builds = Builds::of_user()?;
    let what = match (&args.path, &args.archive) {
        (Some(path), _) => Added::Path(path.clone()),
        (None, archive) => {
            Added::Archive(place(archive.as_deref().unwrap_or_default())?.to_owned())
        }
    };
    let begun = Instant::now();
    let installed =
        with_progress(&args.name, printer, |listen| builds.add(&args.name, &what, listen))
            .with_context(|| format!("{} was not added", args.name))?;
    installing::say_done(&installed, begun, printer);
    printer.result(&installed.name);
    Ok(Exit::Fine)
}
