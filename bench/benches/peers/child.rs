//! backslide's client and the floor, each as a process of its own.

use anyhow::{Context, Result, bail};
use load::{Blind, Stop};
use model::WorkloadSpec;

use crate::peers::Task;
use crate::server::{Place, ROWS};
use crate::spec::spec;
use crate::{floor, same, scripts};

/// The argument that makes this program a client.
pub(crate) const MODE: &str = "be-a-client";

/// The line with a client's amount of work.
pub(crate) const DONE: &str = "operations done: ";
/// The line with its peak memory, in bytes.
pub(crate) const PEAK: &str = "peak memory: ";

/// Does the work of one client process: which client, which work, clients, seconds, seed, and the place.
#[expect(clippy::print_stdout, reason = "a client's result, for the process that started it")]
pub(crate) fn work(arguments: &[String]) -> Result<()> {
    let [who, work, clients, seconds, seed, place @ ..] = arguments else {
        bail!("too few arguments");
    };
    let task = Task::from_name(work).with_context(|| format!("no such work: {work}"))?;
    let (clients, seconds) = (clients.parse()?, seconds.parse()?);
    let place = Place::from_arguments(place)?;
    let done = match who.as_str() {
        "backslide" => {
            let spec = match task {
                Task::Work(work) => WorkloadSpec::Sql(spec(ROWS, 1, work, clients, seconds)),
                Task::Test(test) => same::workload(test, clients, seconds)?,
            };
            backslide(&spec, task.name(), seed.parse()?, &place)?
        }
        "script" => {
            let spec = scripts::workload(task, clients, seconds)?;
            backslide(&spec, spec.name(), seed.parse()?, &place)?
        }
        "floor" => floor::run(seconds, &place)?,
        other => bail!("no such client: {other}"),
    };
    println!("{DONE}{done}");
    println!("{PEAK}{}", bench::peak_memory()?.0);
    Ok(())
}

/// Runs the step as `backslide run` does, without a lab around it; operations that it did.
fn backslide(spec: &WorkloadSpec, step: &str, seed: u64, place: &Place) -> Result<u64> {
    let mut workload = workloads::workload(spec, seed);
    let step = spec.steps().iter().position(|it| it.id.0 == step);
    let step = step.context("the workload has no such step")?;
    let result = workload.run(step, &place.target()?, &Stop::default(), &mut Blind)?;
    let wrong = result.checks.iter().find(|check| !check.holds && check.what.contains("answer"));
    if let Some(wrong) = wrong {
        bail!("{}: {} is not {}", wrong.what, wrong.actual, wrong.expected);
    }
    let operations = result.kinds.first();
    Ok(operations.map_or(0, |kind| kind.sums.ops + kind.late))
}
