//! What sysbench prints, and the directories of raw output that are made around it.

mod costs;
mod met;
mod output;
mod samples;

use std::collections::BTreeMap;

use model::{Nanos, Unit};

use crate::file::FileLine;
use crate::tables::group_of;
use crate::{File, ImportedStep, Mode, Options, Result, Rows, Stated};

pub(crate) use costs::{Costs, percent_to_micros};
use costs::{Rate, as_the_original};
pub use met::Met;
pub use output::{LatencyMillis, Output};
pub use samples::{Cpu, Disk, cpu, disk};

/// A test, by the name of its files: `sb.met.point-query.range100.pk1.dop1`. Orders as file names do.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Name {
    /// As the published tables label it: `point-query_range=100`; `prepare` for the load.
    pub test: String,
    /// Clients, where the name says it.
    pub clients: Option<u32>,
}

impl Name {
    /// The kind of file (`o`, `met`, `vm`, `io`, …) and the test; `None` for other files.
    pub fn of(file: &str) -> Option<(&str, Self)> {
        let rest = file.strip_prefix("sb.")?;
        if let Some(prepare) = rest.strip_prefix("prepare.") {
            // The load prints no result of its own; the original has its rate from elsewhere.
            let kind = prepare.split('.').next().filter(|kind| *kind == "met")?;
            let test = "prepare".to_owned();
            let clients = Some(1);
            return Some((kind, Self { test, clients }));
        }
        let (kind, rest) = rest.split_once('.')?;
        let (test, numbers) = rest.rsplit_once(".range")?;
        let mut numbers = numbers.split('.');
        let range: u64 = numbers.next()?.parse().ok()?;
        let clients = match numbers.find_map(|part| part.strip_prefix("dop")) {
            Some(dop) => Some(dop.parse().ok().filter(|dop| *dop > 0)?),
            None => None,
        };
        let test = format!("{test}_range={range}");
        Some((kind, Self { test, clients }))
    }

    /// Is it a scan, whose rate is in thousand rows?
    pub fn is_scan(&self) -> bool {
        self.test.starts_with("scan")
    }
}

#[derive(Default)]
struct Parts<'a> {
    output: Option<&'a File>,
    met: Option<&'a File>,
    vm: Option<&'a File>,
    io: Option<&'a File>,
}

/// The tests of a directory of raw output; files of other kinds are passed over.
pub(crate) fn directory(system: &str, files: &[File], options: &Options) -> Rows {
    let mut tests: BTreeMap<Name, Parts<'_>> = BTreeMap::new();
    for file in files {
        let Some((kind, name)) = Name::of(file.name()) else { continue };
        let parts = tests.entry(name).or_default();
        match kind {
            "o" => parts.output = Some(file),
            "met" => parts.met = Some(file),
            "vm" => parts.vm = Some(file),
            "io" => parts.io = Some(file),
            _ => {}
        }
    }
    tests.retain(|_, parts| parts.output.is_some() || parts.met.is_some());
    // One file that says how many CPUs there are says it for those of this system that do not.
    let mut outputs = tests.values().filter_map(|parts| parts.output);
    let cpus = outputs.find_map(|file| Output::parse(file).ok()?.cpus);
    tests.iter().map(|(name, parts)| of_test(system, name, parts, cpus.as_ref(), options)).collect()
}

/// What sysbench printed, on its own. The step is named after the script where the file has its name.
pub(crate) fn single(system: &str, file: &File, options: &Options) -> Result<ImportedStep> {
    let output = Output::parse(file)?;
    let script = output.script.as_deref();
    let test = script.unwrap_or("sysbench");
    let clients = options.clients_or(output.threads, file.end())?;
    let mut row = ImportedStep::new(file.end(), system, test, clients);
    row.cpus.clone_from(&output.cpus);
    row.scale.clone_from(&output.scale);
    script.map_or("", group_of_script).clone_into(&mut row.group);
    Rate::of(&output, clients, file.end(), options.mode)?.put(&mut row);
    put_output(&mut row, &output);
    Ok(row)
}

/// The heading for a script: sysbench's own have in their names what they do. That others read ranges is not known.
fn group_of_script(script: &str) -> &'static str {
    let is_range = || script.contains("range") || script.contains("scan");
    match group_of(script) {
        "range" if !is_range() => "",
        group => group,
    }
}

/// `cpus` are those that another file of this system states.
fn of_test(
    system: &str,
    name: &Name,
    parts: &Parts<'_>,
    cpus: Option<&Stated<u32>>,
    options: &Options,
) -> Result<ImportedStep> {
    let at = parts.output.or(parts.met).or(parts.vm).or(parts.io).map_or(NOWHERE, File::end);
    let output = parts.output.map(Output::parse).transpose()?;
    let threads = output.as_ref().and_then(|output| output.threads);
    let clients = name.clients.or(threads);
    let clients = options.clients_or(clients, at)?;
    let mut row = ImportedStep::new(at, system, &name.test, clients);
    group_of(&name.test).clone_into(&mut row.group);
    row.cpus = output.as_ref().and_then(|output| output.cpus.as_ref()).or(cpus).cloned();
    row.scale = output.as_ref().and_then(|output| output.scale.clone());
    let met = parts.met.map(Met::parse).transpose()?;
    let rate = match (&output, &met) {
        (Some(output), _) => Rate::of(output, output.threads.unwrap_or(clients), at, options.mode)?,
        (None, Some(met)) => Rate::of_met(met, name.is_scan(), clients, at, options.mode)?,
        (None, None) => return Err(at.wrong("neither sb.o nor sb.met of this test is there")),
    };
    rate.put(&mut row);
    put_costs(&mut row, parts, met.as_ref(), &rate, options)?;
    if let Some(output) = &output {
        put_output(&mut row, output);
    }
    Ok(row)
}

const NOWHERE: FileLine<'static> = FileLine::at("", 1);

/// Costs from vmstat and iostat where they are there, otherwise from the original's file.
fn put_costs(
    row: &mut ImportedStep,
    parts: &Parts<'_>,
    met: Option<&Met>,
    rate: &Rate,
    options: &Options,
) -> Result<()> {
    let mode = options.mode;
    let vm = parts.vm.map(|file| cpu(file, mode)).transpose()?;
    let io = parts.io.map(|file| disk(file, options.device.as_deref(), mode)).transpose()?;
    let costs = match (mode, vm, io, met) {
        (Mode::Compat, _, _, Some(met)) => Costs::printed(met, rate),
        (Mode::Exact, None, None, Some(met)) => {
            row.note(
                "costs",
                "Those of sb.met are rounded, and CPU and context switches a few per cent too low, because vmstat's repeated headers count as samples of zero",
            );
            Costs::printed(met, rate)
        }
        (Mode::Compat, Some(vm), Some(io), None) => {
            let at = parts.vm.map_or(NOWHERE, File::end);
            Costs::printed(&as_the_original(io, vm, rate, at)?, rate)
        }
        (_, vm, io, _) if rate.value > 0.0 => Costs::sampled(vm, io, rate.value),
        _ => return Ok(()),
    };
    costs.put(row, options);
    Ok(())
}

/// All that sysbench says but the rate. Latencies are of whole events: transactions with their retries. Where a rate was
/// asked for, the time in sysbench's queue is in them.
fn put_output(row: &mut ImportedStep, output: &Output) {
    row.window = Nanos((output.elapsed * 1e9) as u64);
    row.put("rate.event", Unit::OpsPerSecond, output.transactions as f64 / output.elapsed);
    row.put("errors.event", Unit::Count, output.ignored_errors as f64);
    if let Some(latency) = &output.latency {
        let time = if output.is_throttled { "response.event" } else { "service.event" };
        let mut put = |what: &str, millis: f64| {
            row.put(&format!("{time}.{what}"), Unit::Micros, millis * 1e3);
        };
        put("mean", latency.mean);
        if let Some((percent, millis)) = latency.percentile {
            put(&format!("p{percent}"), millis);
        }
        put("max", latency.max);
    }
    if let Some(words) = output.disagreement() {
        row.note("rate", words);
    }
    if let Some(words) = output.impossible() {
        row.note("events", words);
    }
    if output.reconnects > 0 {
        row.note("reconnects", output.reconnects.to_string());
    }
}

#[cfg(test)]
mod tests;
