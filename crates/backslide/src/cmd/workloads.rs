//! `backslide workloads`: the workload files of the catalog, the steps of one, the SQL of a step.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::Result;
use model::{Dialect, SqlOperation, SqlPace, SqlRun, SqlSpec, SqlStep, SqlWork, WarmUpEnd};
use plan::{Catalog, Choices, PlanError, WorkloadListing};
use report::format::plural;
use report::{Cell, Columns, Table, Tone, object, statements};
use serde::Serialize;

use crate::args::{Format, WorkloadsArgs};
use crate::exit::Exit;
use crate::input;
use crate::printer::Printer;
use crate::table;

pub(crate) fn run(args: &WorkloadsArgs, printer: Printer) -> Result<Exit> {
    let catalog = Catalog::embedded()?;
    let Some(name) = &args.workload else {
        list(&catalog, args.format, printer)?;
        return Ok(Exit::Fine);
    };
    let mut listing = named(&catalog, name)?;
    if let Some(step) = &args.step {
        listing.spec.steps = vec![only(&listing, step)?];
    }
    match args.format {
        Format::Json => printer.json(&fields(&listing)),
        Format::Text if args.step.is_some() => show_step(&listing, printer),
        Format::Text => show(&listing, printer),
    }
    Ok(Exit::Fine)
}

/// The workload that a person named: one of the catalog, or a file by its path.
fn named(catalog: &Catalog, name: &str) -> Result<WorkloadListing> {
    if !plan::is_workload_path(name) {
        return Ok(catalog.workload(name)?);
    }
    Ok(plan::read_workload(&input::text_of(Path::new(name))?, name)?)
}

fn only(listing: &WorkloadListing, name: &str) -> Result<SqlStep> {
    let steps = &listing.spec.steps;
    if let Some(step) = steps.iter().find(|step| step.test == name) {
        return Ok(step.clone());
    }
    let tests = steps.iter().filter(|step| run_of(step).is_none_or(|run| run.measured));
    let choices = Choices::new(name, tests.map(|step| step.test.as_str()));
    Err(PlanError::UnknownName {
        place: format!("workload {}", listing.name),
        what: "step".to_owned(),
        name: name.to_owned(),
        choices: choices.listed_by(&format!("backslide workloads {}", listing.name)),
    }
    .into())
}

fn fields(listing: &WorkloadListing) -> impl Serialize {
    let sets = listing.sets.iter().map(|set| object! { set: &set.name, tests: &set.tests });
    let steps = listing.spec.steps.iter();
    object! {
        workload: &listing.name,
        summary: &listing.summary,
        sets: sets.collect::<Vec<_>>(),
        steps: steps.map(|one| of_step(&listing.spec, one)).collect::<Vec<_>>(),
    }
}

fn of_step(spec: &SqlSpec, step: &SqlStep) -> impl Serialize {
    let run = run_of(step);
    let operations = run.map_or(&[][..], |run| run.operations.as_slice()).iter();
    object! {
        step: &step.test,
        group: &step.group,
        work: work(&step.work),
        measured: step.work.is_result(),
        writes: run.is_none_or(|run| run.writes),
        seconds: run.map(|run| run.seconds),
        warmup: run.map(|run| run.warmup_end.word()),
        warmup_seconds: run.map(|run| run.warmup_seconds),
        operations: operations.map(|one| of_operation(spec, one)).collect::<Vec<_>>(),
    }
}

fn of_operation(spec: &SqlSpec, operation: &SqlOperation) -> impl Serialize {
    let sent = |dialect| statements::operation(spec, operation, dialect);
    object! {
        operation: &operation.name,
        weight: operation.weight,
        transaction: operation.transaction,
        statements: operation.statements(),
        mysql: sent(Dialect::Mysql),
        postgres: sent(Dialect::Postgres),
        sqlite: sent(Dialect::Sqlite),
        values: statements::values(operation),
    }
}

const fn run_of(step: &SqlStep) -> Option<&SqlRun> {
    match &step.work {
        SqlWork::Run(run) => Some(run),
        SqlWork::Load | SqlWork::Index | SqlWork::Settle(_) | SqlWork::Reset => None,
    }
}

const fn work(work: &SqlWork) -> &'static str {
    match work {
        SqlWork::Load => "load",
        SqlWork::Index => "index",
        SqlWork::Settle(_) => "settle",
        SqlWork::Reset => "reset",
        SqlWork::Run(_) => "run",
    }
}

fn list(catalog: &Catalog, format: Format, printer: Printer) -> Result<()> {
    let mut all = Vec::new();
    for name in catalog.workload_names() {
        all.push(catalog.workload(name)?);
    }
    match format {
        Format::Json => printer.json(&all.iter().map(fields).collect::<Vec<_>>()),
        Format::Text => {
            table::print(printer, &overview(&all));
            printer.note(&printer.wrapped(
                "`backslide workloads NAME` lists the steps of one; name your own workload file by its path, here and in a plan",
            ));
        }
    }
    Ok(())
}

fn overview(all: &[WorkloadListing]) -> Table {
    let tests = |listing: &&WorkloadListing| {
        let runs = listing.spec.steps.iter().filter_map(run_of);
        number(Some(runs.filter(|run| run.measured).count() as u32))
    };
    let sets = |listing: &&WorkloadListing| {
        let sets: Vec<&str> = listing.sets.iter().map(|set| set.name.as_str()).collect();
        Cell::text(sets.join(", "))
    };
    Columns::new()
        .words("workload", |listing: &&WorkloadListing| Cell::text(&listing.name))
        .numbers("tests", "", tests)
        .words("sets", sets)
        .words("what it is", |listing| Cell::text(&listing.summary))
        .table("", "", all)
}

fn number(value: Option<u32>) -> Cell {
    value.map_or(Cell::text(""), |n| Cell::number(f64::from(n), n.to_string()))
}

fn show(listing: &WorkloadListing, printer: Printer) {
    printer.prose(&format!("{}: {}", listing.name, listing.summary));
    for (place, set) in listing.sets.iter().enumerate() {
        let usual = if place == 0 { ", unless a plan says otherwise" } else { "" };
        let (tests, names) = (plural(set.tests.len(), "test"), set.tests.join(" "));
        printer.prose(&format!("  set {} ({tests}{usual}): {names}", set.name));
    }
    table::print(printer, &steps(&listing.spec));
    let groups = listing.spec.steps.iter().find(|step| !step.group.is_empty());
    let groups = groups.map_or_else(String::new, |step| {
        format!("; `tests = [\"group:{}\"]` in a plan runs a group", step.group)
    });
    printer.note(&printer.wrapped(&format!(
        "`backslide workloads {} --step STEP` shows what one sends{groups}",
        listing.name
    )));
}

/// The steps in the order in which they run, each with its group: an order by group would hide which
/// test leaves what behind for the next.
fn steps(spec: &SqlSpec) -> Table {
    let is_result = |step: &SqlStep| run_of(step).is_none_or(|run| run.measured);
    let what = |step: &SqlStep| match run_of(step) {
        Some(run) if !run.measured => "warm-up",
        Some(run) if run.writes => "test, writes",
        Some(_) => "test",
        None => work(&step.work),
    };
    let statements =
        |run: &SqlRun| run.operations.iter().map(SqlOperation::statements).max().unwrap_or(0);
    let mut table = Columns::new()
        .words("step", |step: &&SqlStep| Cell::text(&step.test))
        .words("group", |step| Cell::text(&step.group))
        .words("what", |step| Cell::text(what(step)))
        .numbers("statements", "", |step| number(run_of(step).map(statements)))
        .numbers("seconds", "", |step| number(run_of(step).map(|run| run.seconds)))
        .table("Steps, in execution order", "", &spec.steps);
    let rows = table.rows.iter_mut().zip(&spec.steps);
    for (row, _) in rows.filter(|(_, step)| !is_result(step)) {
        for cell in row {
            cell.tone = Tone::Muted;
        }
    }
    table
}

/// What one step sends, in every dialect whose SQL is another.
fn show_step(listing: &WorkloadListing, printer: Printer) {
    for step in &listing.spec.steps {
        printer.prose(&format!("{}: {}", step.test, about(step)));
        let Some(run) = run_of(step) else { continue };
        for operation in &run.operations {
            let of_many = if run.operations.len() > 1 {
                format!("\n{}, weight {}", operation.name, operation.weight)
            } else {
                String::new()
            };
            printer.result(&of_many);
            for (dialects, lines) in by_dialect(&listing.spec, operation) {
                if !dialects.is_empty() {
                    printer.result(&format!("{dialects}:"));
                }
                for line in lines {
                    printer.prose(&format!("  {line}"));
                }
            }
            let values = statements::values(operation);
            if !values.is_empty() {
                printer.result("where");
            }
            for value in values {
                printer.prose(&format!("  {value}"));
            }
        }
    }
}

/// The statements of an operation, with the names of the dialects that have them; without names where
/// all have the same.
fn by_dialect(spec: &SqlSpec, operation: &SqlOperation) -> Vec<(String, Vec<String>)> {
    let mut found: Vec<(String, Vec<String>)> = Vec::new();
    let dialects = [
        (Dialect::Mysql, "MySQL and MariaDB"),
        (Dialect::Postgres, "PostgreSQL"),
        (Dialect::Sqlite, "SQLite"),
    ];
    for (dialect, name) in dialects {
        let lines = statements::operation(spec, operation, dialect);
        match found.iter_mut().find(|(_, known)| *known == lines) {
            Some((names, _)) => {
                let _infallible = write!(names, ", {name}");
            }
            None => found.push((name.to_owned(), lines)),
        }
    }
    if let [(names, _)] = found.as_mut_slice() {
        names.clear();
    }
    found
}

fn about(step: &SqlStep) -> String {
    let Some(run) = run_of(step) else { return work(&step.work).to_owned() };
    let mut text = if run.measured { "test" } else { "warm-up" }.to_owned();
    if !step.group.is_empty() {
        let _infallible = write!(text, ", {}", report::group_title(&step.group).to_lowercase());
    }
    let SqlRun { seconds, warmup_seconds, .. } = run;
    let _infallible = match run.warmup_end {
        WarmUpEnd::Fixed => write!(text, ", {seconds} s after {warmup_seconds} s of warm-up"),
        WarmUpEnd::Steady => {
            write!(text, ", {seconds} s once the rate is steady, after {warmup_seconds} s at most")
        }
    };
    match &run.pace {
        SqlPace::Unlimited => text,
        SqlPace::Rate { per_second, .. } => text + &format!(", {per_second} operations/s arrive"),
        SqlPace::Ramp { .. } => text + ", looks for the highest rate",
    }
}
