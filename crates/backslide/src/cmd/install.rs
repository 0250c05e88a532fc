//! `backslide install`: builds of the catalog onto this machine.

use anyhow::Result;
use lab::Builds;

use crate::args::InstallArgs;
use crate::exit::Exit;
use crate::installing;
use crate::printer::Printer;

pub(crate) fn run(args: &InstallArgs, printer: Printer) -> Result<Exit> {
    let builds = Builds::of_user()?;
    // All names are looked up before anything is fetched.
    let recipes = args.builds.iter().map(|name| builds.recipe(name));
    let recipes = recipes.collect::<Result<Vec<_>, _>>().map_err(anyhow::Error::msg)?;
    let mut failed = false;
    for recipe in recipes {
        match installing::install(&builds, recipe, printer) {
            Ok(installed) => printer.result(&installed.name),
            // The others may still be had.
            Err(error) => {
                printer.error(&error);
                failed = true;
            }
        }
    }
    Ok(if failed { Exit::Failed } else { Exit::Fine })
}
