//! `backslide explain`: what differs between two systems at run time.

use std::path::Path;

use anstyle::Style;
use anyhow::{Context, Result, anyhow, bail};
use explain::{Explanation, Facts, StepWhy, TextLine, Warning};
use lab::{Builds, Lab, Providers};
use model::{RunData, System};
use plan::{Catalog, SystemArguments};
use report::{BuildDifference, printable};
use serde::Serialize;

use super::named_system::system_of;
use crate::args::{ExplainArgs, Format};
use crate::exit::Exit;
use crate::printer::Printer;
use crate::{input, runs, table};

pub(crate) fn run(args: &ExplainArgs, root: &Path, printer: Printer) -> Result<Exit> {
    let names: Vec<&str> = args.names.iter().chain(&args.variables).map(String::as_str).collect();
    let (run, a, b) = match *names.as_slice() {
        [run] if runs::is_id(run) => return why(run, args.format, root, printer),
        [a, b] => (None, a, b),
        [run, a, b] => (Some(run), a, b),
        _ => bail!(
            "name a run with profiles or two systems: `backslide explain RUN`, `explain A B` or `explain RUN A B`"
        ),
    };
    let pair = match of_run(run, [a, b], root)? {
        Some(pair) => pair,
        None => started([a, b], root, printer)?,
    };
    let catalog = Catalog::embedded()?;
    let (rules_a, rules_b) = (catalog.variables(pair.a.dbms), catalog.variables(pair.b.dbms));
    let explanation = explain::explain(rules_a, &pair.a, &pair.b);
    let unequal = explain::unequal(&[(rules_a, &pair.a), (rules_b, &pair.b)]);
    let from = pair.from.as_str();
    match args.format {
        Format::Json => {
            printer.json(&Output { from, explanation: &explanation, unequal: &unequal });
        }
        Format::Text => {
            printer.note(&format!("from {from}"));
            let width = usize::from(printer.width());
            let bold = Style::new().bold();
            for line in explain::text(&explanation, &unequal, width, args.all) {
                match line {
                    TextLine::Heading(text) => {
                        printer.styled(&format!("{bold}{}{bold:#}", printable(&text)));
                    }
                    TextLine::Text(text) => printer.result(text.trim_end()),
                }
            }
        }
    }
    Ok(Exit::Fine)
}

/// Where the systems of a profiled run spend more than its base.
fn why(run: &str, format: Format, root: &Path, printer: Printer) -> Result<Exit> {
    let lab = runs::open(root)?;
    let data = runs::load(&lab, Some(run), runs::NUMBERS)?;
    let info = &data.info;
    let why = Why {
        builds: report::differing_builds(&data),
        steps: input::why(&lab, info, &input::profiled(&lab, info)?)?,
    };
    match format {
        Format::Json => printer.json(&why),
        Format::Text if why.steps.is_empty() => bail!(
            "run {} has no profiles of two systems: `backslide profile {0}` adds them",
            info.id
        ),
        Format::Text => {
            for build in &why.builds {
                printer.prose(&format!("The builds differ in {}", build.line()));
            }
            why.steps.iter().for_each(|one| table::print(printer, &report::tables::why(one)));
        }
    }
    Ok(Exit::Fine)
}

#[derive(Serialize)]
struct Why {
    builds: Vec<BuildDifference>,
    steps: Vec<StepWhy>,
}

#[derive(Serialize)]
struct Output<'a> {
    from: &'a str,
    #[serde(flatten)]
    explanation: &'a Explanation,
    unequal: &'a [Warning],
}

struct Pair {
    a: Facts,
    b: Facts,
    from: String,
}

/// Both systems as a run captured them. Where no run is named and the latest has not both of them, or
/// several that could be meant, there is none.
fn of_run(named: Option<&str>, pair: [&str; 2], root: &Path) -> Result<Option<Pair>> {
    if named.is_none() && !root.join("lab.sqlite").exists() {
        return Ok(None);
    }
    let lab = runs::open(root)?;
    if named.is_none() && lab.store.latest_run()?.is_none() {
        return Ok(None);
    }
    let data = runs::load(&lab, named, runs::NUMBERS)?;
    let systems = match (system(&data, pair[0]), system(&data, pair[1])) {
        (Ok(a), Ok(b)) => [a, b],
        _ if named.is_none() => return Ok(None),
        (Err(error), _) | (_, Err(error)) => return Err(error),
    };
    let run = &data.info.id;
    let mut facts = Vec::new();
    for system in systems {
        match input::facts(&lab, &data, system)? {
            Some(known) => facts.push(known),
            None if named.is_none() => return Ok(None),
            None => bail!(
                "run {run} has no variables of {}: no trial of it counts, or they could not be read",
                system.name
            ),
        }
    }
    let [a, b] = <[Facts; 2]>::try_from(facts).map_err(|_| anyhow!("two systems were expected"))?;
    let from = format!("run {run}, before its first step");
    Ok(Some(Pair { a, b, from }))
}

/// The one system of a run that `name` means.
fn system<'a>(data: &'a RunData, name: &str) -> Result<&'a System> {
    let run = &data.info.id;
    match runs::meant(data, name).as_slice() {
        [one] => Ok(one),
        [] => {
            let all: Vec<&System> = data.info.plan.systems.iter().collect();
            bail!("run {run} has no system `{name}`; it has {}", runs::names(&all))
        }
        several => bail!("`{name}` is ambiguous: it matches {} in run {run}", runs::names(several)),
    }
}

/// Both systems, started one after the other for this.
fn started(pair: [&str; 2], root: &Path, printer: Printer) -> Result<Pair> {
    let file = plan::of_arguments(&arguments(pair)?)?;
    let lab = Lab::open(root)?;
    let builds = Builds::of_user()?;
    let plan = super::run::expand_with(&file, &builds, lab.host()?.shape, printer)?;
    let claim = runs::claim(&lab, printer)?;
    let provider = Providers { secrets: builds.secrets(), ..Providers::default() };
    let read = |system: &System, letter: &str| {
        printer.note(&format!("starting {}", system.name));
        let told = lab::read_variables(&provider, system, plan.statement_timeout(), &claim, letter)
            .map_err(|error| anyhow!(error.with_lines()))
            .with_context(|| format!("cannot ask {}", system.name))?;
        Facts::new(system, &told.captures, &told.provenance).with_context(|| {
            let missing = told.missing.join("; ");
            format!("{} did not tell its variables: {missing}", system.name)
        })
    };
    let [a, b] = plan.systems.as_slice() else {
        bail!("two systems were expected");
    };
    Ok(Pair { a: read(a, "a")?, b: read(b, "b")?, from: "servers started for this".to_owned() })
}

/// Two systems, each written `BUILD[/ENGINE][/CONFIG]`.
fn arguments(pair: [&str; 2]) -> Result<[SystemArguments<'_>; 2]> {
    if pair[0] == pair[1] {
        bail!("`{}` is named twice: name two different systems", pair[0]);
    }
    Ok([system_of(pair[0])?, system_of(pair[1])?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_systems_differ() {
        assert!(arguments(["a", "a"]).is_err());
        assert!(plan::of_arguments(&arguments(["sqlite/wal", "sqlite/rollback"]).unwrap()).is_ok());
    }
}
