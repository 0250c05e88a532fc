//! `backslide try`: do builds work here?

use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use lab::{Builds, Claim, Lab, TRYOUT_ROWS, Tryout};
use model::{Dbms, System};
use plan::{Argument, BuildRequest, SystemArguments};
use report::{Cell, Columns, Table};

use crate::args::TryArgs;
use crate::exit::Exit;
use crate::printer::Printer;
use crate::runs;
use crate::table::{self, time};

pub(crate) fn run(args: &TryArgs, root: &Path, printer: Printer) -> Result<Exit> {
    let builds = Builds::of_user()?;
    let names = if args.all {
        let servers = builds.leading().into_iter().filter(|name| !is_embedded(name));
        servers.map(str::to_owned).collect()
    } else {
        args.builds.clone()
    };
    if names.is_empty() {
        bail!("name the builds to try, or give --all");
    }
    let lab = Lab::open(root)?;
    let claim = runs::claim(&lab, printer)?;
    let mut done = Vec::new();
    let mut failed = false;
    for name in &names {
        match one(args, name, &builds, &lab, &claim, printer) {
            Ok(tried) => {
                printer.note(&format!("{}: works", tried.0.name));
                done.push(tried);
            }
            Err(error) => {
                failed = true;
                printer.error(&error.context(format!("{name} does not work here")));
            }
        }
    }
    if !done.is_empty() {
        table::print(printer, &as_table(done));
    }
    Ok(if failed { Exit::Failed } else { Exit::Fine })
}

/// There is no server to start and to stop.
fn is_embedded(name: &str) -> bool {
    BuildRequest::named(name).dbms.is_some_and(Dbms::is_embedded)
}

/// Installs the build where it is not here, and tries it out: the one system that the arguments describe, as a plan
/// would have it.
fn one(
    args: &TryArgs,
    name: &str,
    builds: &Builds,
    lab: &Lab,
    claim: &Claim,
    printer: Printer,
) -> Result<(System, Tryout)> {
    let argument = |name, text| Argument { name, text };
    let system = SystemArguments {
        engine: args.engine.as_deref().map(|engine| argument("--engine", engine)),
        config: Some(argument("--config", &args.config)),
        ..SystemArguments::of(argument("BUILD", name))
    };
    let file = plan::of_arguments(&[system])?;
    let plan = super::run::expand_with(&file, builds, lab.host()?.shape, printer)?;
    let system = plan.systems.into_iter().next().context("no system")?;
    let tried = lab::try_out(&system, claim).map_err(|error| anyhow!(error.with_lines()))?;
    Ok((system, tried))
}

fn as_table(tried: Vec<(System, Tryout)>) -> Table {
    let note =
        format!("load: {TRYOUT_ROWS} rows inserted, read back, and read again after the restart");
    Columns::new()
        .words("system", |(system, _): &(System, Tryout)| Cell::text(&system.name))
        .words("says", |(_, tryout)| Cell::text(&tryout.server_version))
        .numbers("init", "", |(_, tryout)| time(tryout.init))
        .numbers("start", "", |(_, tryout)| time(tryout.start))
        .numbers("load", "", |(_, tryout)| time(tryout.load))
        .numbers("stop", "", |(_, tryout)| time(tryout.stop))
        .numbers("restart", "", |(_, tryout)| time(tryout.restart))
        .table("", note, tried)
}
