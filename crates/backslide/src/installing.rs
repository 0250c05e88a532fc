//! Installing builds, with progress for people.

use std::time::Instant;

use anyhow::{Context, Result};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use lab::Builds;
use model::{Bytes, Nanos, ObtainEvent, Recipe};
use obtain::{Installed, ObtainError, Obtained};
use report::printable;

use crate::printer::Printer;

/// Installs one build of the catalog and says how long it took; one that is there already is said so.
pub(crate) fn install(builds: &Builds, recipe: &Recipe, printer: Printer) -> Result<Installed> {
    let there = builds.installed()?.iter().any(|i| i.name == recipe.name);
    if !there {
        printer.note(&format!(
            "{}: {} to download, {} on the disk, from {}",
            recipe.name,
            recipe.download,
            recipe.size,
            recipe.parcel.origin.describe()
        ));
        if let Some(other) = builds.much_smaller(recipe) {
            printer.note(&printer.wrapped(&format!(
                "{}, of the same series, is {} to download: press ^C and name that one if it will do",
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

pub(crate) fn say_done(installed: &Installed, begun: Instant, printer: Printer) {
    let size =
        if installed.size == Bytes(0) { String::new() } else { format!(", {}", installed.size) };
    printer.note(&format!(
        "{} is installed: {}{size}, in {}",
        installed.name,
        without_directory(&installed.build.version_line),
        Nanos::from(begun.elapsed())
    ));
}

/// Some servers begin what they say with the path that they were started by: only its last part is shown.
fn without_directory(version_line: &str) -> &str {
    let program = version_line.split(' ').next().unwrap_or_default();
    match program.rfind('/') {
        Some(slash) => &version_line[slash + 1..],
        None => version_line,
    }
}

/// Is told what happens while something is obtained.
type Listen<'a> = dyn FnMut(ObtainEvent) + 'a;

/// Runs `work` with a live line of what it does.
pub(crate) fn with_progress<T>(
    name: &str,
    printer: Printer,
    work: impl FnOnce(&mut Listen<'_>) -> Result<T, ObtainError>,
) -> Result<T, ObtainError> {
    let target = if printer.is_quiet() {
        ProgressDrawTarget::hidden()
    } else {
        ProgressDrawTarget::stderr()
    };
    let bar = ProgressBar::with_draw_target(None, target);
    if let Ok(style) = ProgressStyle::with_template("{prefix:.bold} {wide_msg}") {
        bar.set_style(style);
    }
    bar.set_prefix(name.to_owned());
    let result = work(&mut |event| {
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
        ObtainEvent::Checking { what } => format!("checking {what}"),
    }
}
