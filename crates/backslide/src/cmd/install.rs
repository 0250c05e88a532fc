//! `backslide install`, `add` and `remove`: builds onto this machine and off it, with progress for people.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use lab::Builds;
use model::{Bytes, Compile, Dbms, Nanos, ObtainEvent, Recipe};
use obtain::{Added, Effort, Installed, ObtainError, Obtained};
use plan::BuildRequest;
use report::printable;

use crate::args::{AddArgs, InstallArgs};
use crate::exit::Exit;
use crate::printer::Printer;

pub(crate) fn run(args: &InstallArgs, printer: Printer) -> Result<Exit> {
    let mut builds = Builds::of_user()?;
    let effort = &mut builds.depot.effort;
    *effort = Effort { jobs: args.jobs.unwrap_or(effort.jobs), nice: args.nice };
    // All names are looked up before anything is fetched.
    let recipes = args.builds.iter().map(|name| {
        if args.from_source { builds.recipe_from_source(name) } else { builds.recipe(name) }
    });
    let recipes = recipes.collect::<Result<Vec<_>, _>>()?;
    let mut failed = false;
    for recipe in recipes {
        match install(&builds, recipe, printer) {
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

pub(crate) fn add(args: &AddArgs, printer: Printer) -> Result<Exit> {
    let builds = Builds::of_user()?;
    let archive = args.archive.as_deref().unwrap_or_default();
    let what = match (&args.path, &args.source) {
        (Some(path), _) => Added::Path(path.clone()),
        (None, Some(file)) => Added::Source(file.clone(), Box::new(how_to_compile(&builds)?)),
        (None, None) => Added::Archive(place(archive)?.to_owned()),
    };
    let installed = add_build(&builds, &args.name, &what, printer)?;
    if !BuildRequest::named(&args.name).fits(&installed.build) {
        let id = installed.build.id();
        printer.note(&format!("its name says otherwise, but backslide runs it as {id}"));
    }
    printer.result(&installed.name);
    Ok(Exit::Fine)
}

fn add_build(builds: &Builds, name: &str, what: &Added, printer: Printer) -> Result<Installed> {
    let begun = Instant::now();
    let installed = with_progress(name, printer, |listen| builds.add(name, what, listen))
        .with_context(|| format!("{name} was not added"))?;
    say_done(&installed, begun, printer);
    Ok(installed)
}

pub(crate) fn remove(names: &[String], printer: Printer) -> Result<Exit> {
    let builds = Builds::of_user()?;
    for name in names {
        let freed = with_progress(name, printer, |listen| builds.depot.remove(name, listen))?;
        printer.note(&format!("{name} is removed: {freed} freed"));
    }
    Ok(Exit::Fine)
}

/// As the catalog's builds of the embedded product are compiled, so that nothing but the source differs.
fn how_to_compile(builds: &Builds) -> Result<Compile> {
    let embedded = Dbms::all().into_iter().find(|dbms| dbms.is_embedded());
    let found = embedded.and_then(|dbms| builds.catalog.compile(dbms)).cloned();
    found.context("the catalog does not say how to compile")
}

/// Where the archive is: a path, or an address that a client can fetch.
fn place(archive: &str) -> Result<&str> {
    let path = archive.strip_prefix("file://").unwrap_or(archive);
    if path.contains("://") && !path.starts_with("http://") && !path.starts_with("https://") {
        bail!(
            "{path}: backslide fetches only https:// and http://; download the archive and give the file"
        );
    }
    if Path::new(path).is_dir() {
        bail!("{path} is a directory: give it with --path");
    }
    Ok(path)
}

/// Installs one build of the catalog and says how long it took; one that is there already is said so.
pub(super) fn install(builds: &Builds, recipe: &Recipe, printer: Printer) -> Result<Installed> {
    let there = builds.depot.installed()?.iter().any(|i| i.name == recipe.name);
    if !there {
        let Recipe { name, download, size, parcel, .. } = recipe;
        let from = parcel.origin.describe();
        printer.note(&format!("{name}: {download} to download, {size} on the disk, from {from}"));
        if let Some(other) = builds.much_smaller(recipe) {
            printer.note(&printer.wrapped(&format!(
                "{}, of the same series, is only {} to download: to use it instead, press ^C and install it",
                other.name, other.download
            )));
        }
    }
    let begun = Instant::now();
    let Obtained { build, made } =
        with_progress(&recipe.name, printer, |listen| builds.install(recipe, listen))
            .with_context(|| format!("{} was not installed", recipe.name))?;
    if made {
        say_done(&build, begun, printer);
    } else {
        printer.note(&format!("{} is installed already", recipe.name));
    }
    Ok(build)
}

fn say_done(installed: &Installed, begun: Instant, printer: Printer) {
    let size =
        if installed.size == Bytes(0) { String::new() } else { format!(", {}", installed.size) };
    let version = without_directory(&installed.build.version_line);
    let (name, took) = (&installed.name, Nanos::from(begun.elapsed()));
    printer.note(&format!("{name} is installed: {version}{size}, in {took}"));
}

/// Some servers begin what they say with the path that they were started by: only its last part is shown.
pub(super) fn without_directory(version_line: &str) -> &str {
    let program = version_line.split(' ').next().unwrap_or_default();
    program.rfind('/').map_or(version_line, |slash| &version_line[slash + 1..])
}

/// Runs `work` with a live line of what it does.
fn with_progress<T>(
    name: &str,
    printer: Printer,
    work: impl FnOnce(&mut dyn FnMut(ObtainEvent)) -> Result<T, ObtainError>,
) -> Result<T, ObtainError> {
    let bar = printer.live_line(None);
    bar.set_prefix(name.to_owned());
    let result = work(&mut |event| {
        // The wait may take an hour, so it is also printed if there is no live line.
        if matches!(event, ObtainEvent::Waiting) {
            bar.suspend(|| printer.note(&text(&event)));
        }
        bar.set_message(printable(&text(&event)));
        bar.tick();
    });
    bar.finish_and_clear();
    result
}

fn text(event: &ObtainEvent) -> String {
    match event {
        ObtainEvent::Fetching { what, done, total } => {
            format!("fetching {what}: {done} of about {total}")
        }
        ObtainEvent::Unpacking { what } => format!("unpacking {what}"),
        ObtainEvent::Compiling { what, doing, passed, about } => {
            format!("compiling {what}: {passed} of about {about}, {doing}")
        }
        ObtainEvent::Checking { what } => format!("checking {what}"),
        ObtainEvent::Waiting => {
            "waiting for another backslide to finish an installation".to_owned()
        }
    }
}
