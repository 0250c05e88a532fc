//! `backslide plan`: what would run; starts nothing.

mod steps;

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result};
use model::{BuildSource, Bytes, Host, Interleave, Nanos, Plan, Quarantine, System, Trial};
use plan::{Estimate, KeyDoc, KeyTable};
use report::{Cell, Columns, Table, object};
use serde::Serialize;

use crate::args::{Format, PlanArgs};
use crate::exit::Exit;
use crate::foreseen::Noise;
use crate::printer::Printer;
use crate::{disturbed, table, time_needed};

pub(crate) fn run(args: &PlanArgs, root: &Path, printer: Printer) -> Result<Exit> {
    let Some(plan) = &args.plan else {
        for keys in &plan::key_tables() {
            table::print(printer, &key_table(keys));
        }
        return Ok(Exit::Fine);
    };
    let directory = super::existing(root)?;
    let host = probes::identify(directory)?;
    let (file, builds) = super::run::read(plan, &args.with.overrides())?;
    file.check_cpus(lab::refused_cpus)?;
    let plan = super::run::expand(&file, &builds, host.shape)?;
    super::run::check_script(&plan, Some(&file))?;
    let estimate = plan::estimate(&plan);
    match args.format {
        Format::Json => printer.json(&expanded(&plan, &estimate)),
        Format::Text => {
            outline(&plan, &estimate, &host, directory, printer);
            let lab = lab::Lab::open_to_read(root).ok();
            if let Some(sentence) = Noise::of(lab.as_ref(), &plan)?.sentence(&plan, estimate.time) {
                printer.prose(&sentence);
            }
            for recipe in builds.take_wanted() {
                printer.result(&format!(
                    "{} is not installed: `run` installs it first, {} to download",
                    recipe.name, recipe.download
                ));
            }
            if let Some(note) = super::run::few_rounds(&plan, &builds.catalog) {
                printer.result(note);
            }
            if let Some(note) = estimate.lacks_memory(host.shape.memory) {
                printer.prose(&note);
            }
            for remark in plan::remarks(&plan) {
                printer.prose(&format!("note: {remark}"));
            }
            if let Some(spec) = plan.workload.sql() {
                table::print(printer, &steps::steps(&plan, spec));
                let parts = time_needed::where_it_goes(&plan, spec);
                printer.prose(&format!("time by part: {parts}"));
            }
            if let Some(spec) = plan.workload.tpcc() {
                table::print(printer, &steps::transactions(&plan, spec));
            }
            table::print(printer, &order(&plan, &estimate.parts));
            if args.show_config {
                show_config(&plan, root, printer)?;
            }
        }
    }
    lab::raise_limits_of(&plan, &plan.systems.iter().collect::<Vec<_>>())?;
    estimate.fits(host.disk.free, &directory.display().to_string())?;
    Ok(Exit::Fine)
}

fn key_table(keys: &KeyTable) -> Table {
    let plain = |text: &str| Cell::text(without_links(&text.replace('`', "")));
    Columns::new()
        .words("key", |key: &&KeyDoc| plain(key.key))
        .words("takes", |key| plain(&key.takes))
        .words("default", |key| plain(&key.default))
        .words("meaning", |key| plain(key.meaning))
        .table(format!("keys of `{}`", keys.name), "", &keys.keys)
}

fn outline(plan: &Plan, needs: &Estimate, host: &Host, directory: &Path, printer: Printer) {
    let at_most = if plan.course.first_look.is_some() { "at most " } else { "" };
    let Plan { name, base, seed, .. } = plan;
    let (systems, rounds) = (plan.trials_a_round(), report::planned_rounds(plan));
    let trials = plan.trials().len();
    printer.prose(&format!(
        "plan {name}: {systems} × {rounds} = {at_most}{trials} trials, base {base}, seed {seed}"
    ));
    let shortest = needs.shortest.map_or(String::new(), |time| format!("{time} to "));
    let longest =
        needs.longest.map_or(String::new(), |time| format!(" (up to {time} with re-run rounds)"));
    let (Estimate { time, disk, .. }, free, place) = (needs, host.disk.free, directory.display());
    let is_script = plan.workload.script().is_some();
    let without = if is_script { ", without what the script loads" } else { "" };
    printer.prose(&format!(
        "about {shortest}{time}{longest} and {disk} of disk{without}; {free} are free in {place}"
    ));
    printer.prose(&format!(
        "about {} of memory; the host has {}",
        needs.peak_memory, host.shape.memory
    ));
    for line in course(plan) {
        printer.prose(&line);
    }
    printer.prose(&disturbed::limits(plan));
    for line in report::tables::placement_lines(&plan.systems) {
        printer.prose(&line);
    }
    if plan.template {
        let disk: u64 = needs.templates.iter().map(|t| t.disk.0).sum();
        let time: u64 = needs.templates.iter().map(|t| t.time.0).sum();
        let (time, disk) = (Nanos(time), Bytes(disk));
        printer.prose(&format!(
            "each system is loaded once, which takes about {time}; the templates take about {disk}"
        ));
    }
}

/// How the rounds are carried out and judged, where the plan asks for more than a number of them.
fn course(plan: &Plan) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(first) = plan.fewest_rounds() {
        lines.push(format!(
            "looked at after {} and after each further one; ends as soon as everything is decided",
            report::format::plural(first as usize, "round")
        ));
    }
    let all = if plan.course.pairs { "both" } else { "all" };
    match plan.course.interleave {
        Interleave::Trials => {}
        Interleave::Slices(length) => lines.push(format!(
            "in slices of {length}, where a step changes no data: {all} systems of a round run at once"
        )),
        Interleave::Turns(length) => {
            let except = plan.never_frozen().map_or_else(String::new, |System { name, .. }| {
                format!("; in rounds with {name}, which backslide must not freeze, only where a step changes no data")
            });
            lines.push(format!(
                "in turns of at most {length} in every step: {all} systems of a round run at once, and each stands still outside its turns{except}"
            ));
        }
    }
    if plan.course.pairs {
        lines.push(format!(
            "in pairs: each round holds the base and one other system, in {} for each",
            report::format::plural(plan.rounds_of_each() as usize, "round")
        ));
    }
    let margins = plan.course.margins.iter();
    let margins: Vec<String> = margins.map(|(m, margin)| format!("{m} {margin}")).collect();
    if !margins.is_empty() {
        lines.push(format!("margins: {}; other metrics keep their own", margins.join(", ")));
    }
    lines
}

fn order(plan: &Plan, times: &[(String, Nanos)]) -> Table {
    let trials = plan.trials();
    let name = |trial: &Trial| &plan.systems[trial.system].name;
    let time = |trial: &Trial| {
        let time = times.iter().find(|(system, _)| system == name(trial));
        time.map_or_else(Cell::absent, |(_, about)| table::time(*about))
    };
    let note = if plan.course.interleave.is_at_once() {
        "The trials of a round alternate: it takes the sum of their times."
    } else {
        ""
    };
    Columns::new()
        .numbers("trial", "", |(_, number): &(&Trial, u32)| Cell::text(number.to_string()))
        .numbers("round", "", |(trial, _)| Cell::text(trial.round.to_string()))
        .words("system", |(trial, _)| Cell::text(name(trial)))
        .numbers("about", "", |(trial, _)| time(trial))
        .table("", note, trials.iter().zip(1..))
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
        if matches!(system.build.source, BuildSource::Obtainable { .. }) {
            printer.result(
                "# not installed yet: settings only; the file will also isolate the server",
            );
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

fn expanded(plan: &Plan, estimate: &Estimate) -> impl Serialize {
    let millis = |length: Nanos| Some(length.0 / Nanos::from_millis(1).0);
    let (interleave, slice_ms) = match plan.course.interleave {
        Interleave::Trials => ("trials", None),
        Interleave::Slices(length) => ("slices", millis(length)),
        Interleave::Turns(length) => ("turns", millis(length)),
    };
    let margins = plan.course.margins.iter();
    let margins = margins.map(|(metric, margin)| (metric.0.clone(), margin.as_percent()));
    let trials = plan.trials().into_iter().zip(1..);
    object! {
        name: plan.name.clone(),
        workload: plan.workload.clone(),
        rounds: plan.rounds,
        seed: plan.seed,
        base: plan.base.clone(),
        template: plan.template,
        disk_bytes: estimate.disk.0,
        seconds: estimate.time.as_secs_f64(),
        systems: plan.systems.iter().map(|one| of_system(one, estimate)).collect::<Vec<_>>(),
        trials: trials.map(|(trial, index)| of_trial(plan, &trial, index)).collect::<Vec<_>>(),
        first_look: plan.course.first_look,
        shortest_seconds: estimate.shortest.map(Nanos::as_secs_f64),
        interleave: interleave,
        slice_ms: slice_ms,
        quarantine: plan.course.quarantine.map(limits),
        memory_bytes: estimate.peak_memory.0,
        margins: margins.collect::<BTreeMap<String, f64>>(),
        longest_seconds: estimate.longest.map(Nanos::as_secs_f64),
    }
}

fn limits(limits: Quarantine) -> impl Serialize {
    let percent = |permille: u32| f64::from(permille) / 10.0;
    object! {
        steal_percent: percent(limits.steal_permille),
        foreign_percent: percent(limits.foreign_permille),
        throttled_percent: percent(limits.throttled_permille),
        swapped_pages: limits.swapped_pages,
        reruns: limits.reruns,
        major_faults: limits.major_faults,
    }
}

fn of_system(system: &System, estimate: &Estimate) -> impl Serialize + use<> {
    object! {
        system: system.name.clone(),
        build: system.build.id(),
        engine: system.engine.name(),
        config: system.config.name.clone(),
        control: system.control,
        placement: system.placement(),
        settings: system.config.settings.iter().map(ToString::to_string).collect::<Vec<_>>(),
        disk_bytes: part(&estimate.systems, &system.name).unwrap_or(Bytes(0)).0,
        seconds: part(&estimate.parts, &system.name).unwrap_or(Nanos(0)).as_secs_f64(),
        memory_bytes: part(&estimate.memory, &system.name).unwrap_or(Bytes(0)).0,
    }
}

fn of_trial(plan: &Plan, trial: &Trial, index: usize) -> impl Serialize + use<> {
    object! {
        index: index,
        round: trial.round,
        position: trial.position,
        system: plan.systems[trial.system].name.clone(),
        seed: trial.seed,
    }
}

fn part<T: Copy>(parts: &[(String, T)], name: &str) -> Option<T> {
    parts.iter().find(|(part, _)| part == name).map(|(_, value)| *value)
}

/// `[Turns](methodology.md#turns)` as `docs/methodology.md#turns`.
fn without_links(text: &str) -> String {
    let mut parts = text.split('[');
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once("](").and_then(|(_, link)| link.split_once(')')) {
            Some((page, rest)) => plain.extend(["docs/", page, rest]),
            None => plain.extend(["[", part]),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_the_pages_that_they_lead_to() {
        assert_eq!(
            without_links("one: [Metrics](metrics.md), [Turns](m.md#turns)."),
            "one: docs/metrics.md, docs/m.md#turns."
        );
        assert_eq!(without_links("[0.5, 1.5] or [one"), "[0.5, 1.5] or [one");
    }
}
