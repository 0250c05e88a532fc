//! `backslide plan`: what would run; starts nothing.

mod steps;
mod transactions;

use std::path::Path;

use anyhow::{Context, Result};
use model::{BuildSource, Bytes, Host, Nanos, Plan, Trial, WorkloadSpec};
use plan::Estimate;
use report::{Cell, Header, Table};
use serde::Serialize;

use crate::args::{Format, PlanArgs};
use crate::exit::Exit;
use crate::printer::Printer;
use crate::table;

/// An expanded plan as programs see it.
#[derive(Serialize)]
struct Expanded<'a> {
    name: &'a str,
    workload: &'a WorkloadSpec,
    rounds: u32,
    seed: u64,
    base: &'a str,
    template: bool,
    disk_bytes: u64,
    seconds: f64,
    systems: Vec<Line<'a>>,
    trials: Vec<Turn<'a>>,
}

#[derive(Serialize)]
struct Line<'a> {
    system: &'a str,
    build: String,
    engine: &'static str,
    config: &'a str,
    control: bool,
    settings: Vec<String>,
    disk_bytes: u64,
    seconds: f64,
    memory_bytes: u64,
}

#[derive(Serialize)]
struct Turn<'a> {
    index: usize,
    round: u32,
    position: u32,
    system: &'a str,
    seed: u64,
}

pub(crate) fn run(args: &PlanArgs, root: &Path, printer: Printer) -> Result<Exit> {
    let directory = root
        .ancestors()
        .find(|path| path.exists())
        .unwrap_or(Path::new("/"));
    let host = probes::identify(directory)?;
    let (file, builds) = super::run::read(&args.plan)?;
    let plan = super::run::expand(&file, &builds, host.shape)?;
    let estimate = plan::estimate(&plan);
    match args.format {
        Format::Json => printer.result(&serde_json::to_string_pretty(&expanded(&plan))?),
        Format::Text => {
            outline(&plan, &estimate, &host, directory, printer);
            for recipe in builds.take_wanted() {
                printer.result(&format!(
                    "{} is not installed: `run` installs it first, {} to download",
                    recipe.name, recipe.download
                ));
            }
            if plan.rounds < super::run::ROUNDS_FOR_A_VERDICT {
                printer.result(super::run::FEW_ROUNDS);
            }
            for remark in plan::remarks(&plan) {
                printer.result(&format!("note: {remark}"));
            }
            match &plan.workload {
                WorkloadSpec::Insert(_) => {}
                WorkloadSpec::Sql(spec) => {
                    table::print(printer, &steps::steps(&plan, spec));
                    printer.prose(&steps::where_time_goes(&plan, spec));
                }
                WorkloadSpec::Tpcc(spec) => {
                    table::print(printer, &transactions::steps(&plan, spec));
                }
            }
            table::print(printer, &order(&plan, &estimate.parts));
            if args.show_config {
                show_config(&plan, root, printer)?;
            }
        }
    }
    estimate.fits(host.disk.free, &directory.display().to_string())?;
    Ok(Exit::Fine)
}

/// How many trials, and what they need of time, disk and memory.
fn outline(plan: &Plan, needs: &Estimate, host: &Host, directory: &Path, printer: Printer) {
    printer.result(&format!(
        "plan {}: {} × {} rounds = {} trials, base {}, seed {}",
        plan.name,
        plan.systems.len(),
        plan.rounds,
        plan.trials().len(),
        plan.base,
        plan.seed
    ));
    printer.result(&format!(
        "about {} and {} of disk; {} are free in {}",
        needs.time,
        needs.disk,
        host.disk.free,
        directory.display()
    ));
    let memory = needs.memory.iter().map(|(_, memory)| memory.0).max();
    printer.result(&format!(
        "about {} of memory; the host has {}",
        Bytes(memory.unwrap_or(0)),
        host.shape.memory
    ));
    if plan.template {
        let disk: u64 = needs.templates.iter().map(|t| t.disk.0).sum();
        let time: u64 = needs.templates.iter().map(|t| t.time.0).sum();
        printer.result(&format!(
            "each system is loaded once, which takes about {}; the templates take about {}",
            Nanos(time),
            Bytes(disk)
        ));
    }
}

fn order(plan: &Plan, times: &[(String, Nanos)]) -> Table {
    let trials = plan.trials();
    let rows = trials.iter().enumerate().map(|(index, trial)| {
        let system = &plan.systems[trial.system].name;
        let time = times
            .iter()
            .find(|(name, _)| name == system)
            .map(|(_, time)| *time);
        vec![
            Cell::text((index + 1).to_string()),
            Cell::text(trial.round.to_string()),
            Cell::text(system),
            time.map_or_else(Cell::absent, |t| {
                Cell::number(t.as_secs_f64(), t.to_string())
            }),
        ]
    });
    Table {
        title: String::new(),
        note: String::new(),
        headers: vec![
            Header::numbers("trial", ""),
            Header::numbers("round", ""),
            Header::words("system"),
            Header::numbers("about", ""),
        ],
        rows: rows.collect(),
    }
}

/// The file that each server would get; what the plan sets, where it is no server of ours.
fn show_config(plan: &Plan, root: &Path, printer: Printer) -> Result<()> {
    for system in &plan.systems {
        let config = &system.config;
        printer.result(&format!("\n# {}: {}", system.name, config.summary));
        if !system.preload.is_empty() {
            printer.result(&format!("# preloaded: {}", system.preload));
        }
        for option in &config.left_out {
            printer.result(&format!("# left out, this version has none: {option}"));
        }
        let directory = root.join("instances").join("RUN-ROUND-POSITION");
        let file = lab::preview_config(system, &directory)
            .with_context(|| format!("{} cannot be started", system.name))?;
        if let Some(file) = file {
            printer.result(file.trim_end());
            continue;
        }
        if matches!(system.build.source, BuildSource::Installed { .. }) {
            printer.result("# not installed yet: these are the settings; the file adds what isolates the server");
        }
        if config.settings.is_empty() {
            printer.result("# nothing set: the server's own defaults");
        }
        for setting in &config.settings {
            printer.result(&setting.to_string());
        }
    }
    Ok(())
}

fn expanded(plan: &Plan) -> Expanded<'_> {
    let estimate = plan::estimate(plan);
    let disk = |name: &str| part(&estimate.systems, name).unwrap_or(Bytes(0)).0;
    let memory = |name: &str| part(&estimate.memory, name).unwrap_or(Bytes(0)).0;
    let time = |name: &str| {
        part(&estimate.parts, name)
            .unwrap_or(Nanos(0))
            .as_secs_f64()
    };
    Expanded {
        name: &plan.name,
        workload: &plan.workload,
        rounds: plan.rounds,
        seed: plan.seed,
        base: &plan.base,
        template: plan.template,
        disk_bytes: estimate.disk.0,
        seconds: estimate.time.as_secs_f64(),
        systems: plan
            .systems
            .iter()
            .map(|system| Line {
                system: &system.name,
                build: system.build.id(),
                engine: system.engine.name(),
                config: &system.config.name,
                control: system.control,
                settings: system
                    .config
                    .settings
                    .iter()
                    .map(ToString::to_string)
                    .collect(),
                disk_bytes: disk(&system.name),
                seconds: time(&system.name),
                memory_bytes: memory(&system.name),
            })
            .collect(),
        trials: plan
            .trials()
            .into_iter()
            .zip(1..)
            .map(|(t, index)| turn(plan, &t, index))
            .collect(),
    }
}

fn turn<'a>(plan: &'a Plan, trial: &Trial, index: usize) -> Turn<'a> {
    Turn {
        index,
        round: trial.round,
        position: trial.position,
        system: &plan.systems[trial.system].name,
        seed: trial.seed,
    }
}

fn part<T: Copy>(parts: &[(String, T)], name: &str) -> Option<T> {
    parts
        .iter()
        .find(|(part, _)| part == name)
        .map(|(_, value)| *value)
}
