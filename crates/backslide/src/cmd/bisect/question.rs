//! What a bisection asks, and the plan of each measurement.

use std::path::Path;

use anyhow::{Context, Result, bail};
use lab::{Builds, Lab};
use model::{Host, MetricId, Plan, RunId, RunState};
use plan::{Argument, Overrides, PlanFile, SystemArguments};

use super::commits::Commits;
use super::ladder::Ladder;
use crate::args::BisectArgs;
use crate::cmd::{quick, run};
use crate::input;
use crate::printer::Printer;

/// Rounds of each measurement: whoever runs first in one runs last in the other.
pub(super) const ROUNDS: u32 = 2;
/// The key that chooses the tests of a workload.
const TESTS: &str = "tests";

/// What is asked, and how each measurement is made.
pub(super) struct Question<'a> {
    pub(super) args: &'a BisectArgs,
    pub(super) builds: &'a Builds,
    pub(super) host: Host,
    /// The plan of a measurement, without name, rounds and systems.
    head: String,
    /// The plan of both ends; it stands for the plans of all builds.
    pub(super) ends: Plan,
    pub(super) ladder: Ladder,
}

impl<'a> Question<'a> {
    pub(super) fn of(
        args: &'a BisectArgs,
        builds: &'a Builds,
        host: Host,
        printer: Printer,
    ) -> Result<Self> {
        let head = head(args, builds)?;
        if args.good == args.bad {
            bail!("--good and --bad are the same");
        }
        let ladder = if let Some(directory) = &args.git {
            Ladder::of_commits(Commits::of(directory, args, builds, printer)?, builds)?
        } else {
            // What is wrong with an end is reported of its argument.
            let ends = plan::of_arguments(&systems(args, (&args.good, &args.bad)))?;
            let ends = run::expand(&ends, builds, host.shape)?.systems;
            let [good, bad] = ends.as_slice() else { bail!("a bisection has two ends") };
            Ladder::between(&good.build, &bad.build, builds)?
        };
        ladder.offer(0, builds)?;
        ladder.offer(ladder.last(), builds)?;
        let ends = (ladder.name(0), ladder.name(ladder.last()));
        let ends = run::expand(&file(args, &head, ends)?, builds, host.shape)?;
        let mut steps = ends.steps.iter().filter(|step| step.measured);
        if !steps.clone().any(|step| step.id.0 == args.step) {
            let known: Vec<&str> = steps.by_ref().map(|step| step.id.0.as_str()).collect();
            bail!("--step: no step `{}`; this workload measures {}", args.step, known.join(", "));
        }
        if let Some(metric) = args.metric.as_ref().map(MetricId::new)
            && !ends.steps.iter().any(|step| metric.of_subject(&step.subject.kind).is_some())
            && model::describe(&metric).is_none()
        {
            bail!("--metric: no metric `{metric}`; `compare --metric all` lists those of a run");
        }
        Ok(Self { args, builds, host, head, ends, ladder })
    }

    /// The runs of this question on this machine, whatever their other build.
    pub(super) fn runs(&self, lab: &Lab, state: RunState) -> Result<Vec<RunId>> {
        let Plan { name, workload, base, .. } = &self.ends;
        let all = lab.store.runs()?.into_iter().map(|run| run.info);
        let same = all.filter(|info| {
            let plan = &info.plan;
            info.state == state
                && info.host.is_machine_of(&self.host)
                && plan.name == *name
                && plan.workload == *workload
                && plan.base == *base
        });
        Ok(same.map(|info| info.id).collect())
    }

    /// The plan that measures the build of this place.
    pub(super) fn plan(&self, place: usize) -> Result<PlanFile> {
        file(self.args, &self.head, (self.ladder.name(0), self.ladder.name(place)))
    }

    /// The time that a pair of this place takes, with its share of what a build needs that has none yet.
    pub(super) fn seconds(&self, place: usize, is_measured: bool) -> f64 {
        let round = plan::estimate(&self.ends).time.as_secs_f64() / f64::from(ROUNDS);
        let install = self.ladder.install_seconds(place, self.builds) / f64::from(ROUNDS);
        round + if is_measured { 0.0 } else { install }
    }

    /// The metric that was asked for, otherwise the one that decides the step.
    pub(super) fn metric(&self) -> &str {
        let step = self.ends.steps.iter().find(|step| step.id.0 == self.args.step);
        let deciding = step.map_or("", |step| step.metric.0.as_str());
        self.args.metric.as_deref().unwrap_or(deciding)
    }
}

/// The smallest plan of the workload; with this step alone, where the workload has tests to choose from.
fn head(args: &BisectArgs, builds: &Builds) -> Result<String> {
    let heads = quick::heads(&args.workload, builds)?;
    let smallest = heads.last().context("the catalog has no sizes")?;
    let is_tests = |line: &&str| line.split('=').next().is_some_and(|key| key.trim() == TESTS);
    let is_file = builds.catalog.quick(&args.workload).is_empty();
    if !is_file && !smallest.lines().any(|line| is_tests(&line)) {
        return Ok(smallest.clone());
    }
    let rest: Vec<&str> = smallest.lines().filter(|line| !is_tests(line)).collect();
    Ok(format!("{}\n{TESTS} = [{}]", rest.join("\n"), plan::toml_string(&args.step)))
}

/// The good end, and a build.
fn systems<'a>(
    args: &'a BisectArgs,
    (good, build): (&'a str, &'a str),
) -> [SystemArguments<'a>; 2] {
    let config = Some(Argument { name: "--config", text: &args.config });
    let system =
        |name, text| SystemArguments { config, ..SystemArguments::of(Argument { name, text }) };
    [system("--good", good), system("--bad", build)]
}

/// The plan that measures a build beside the good end.
fn file(args: &BisectArgs, head: &str, builds: (&str, &str)) -> Result<PlanFile> {
    let name = format!("bisect {}", args.step);
    let text = plan::plan_text(&name, head, (ROUNDS, ROUNDS), &systems(args, builds));
    let with = Overrides { seconds: args.seconds, ..Overrides::default() };
    let file = plan::read_with(&text, "bisect", &with)?;
    Ok(run::with_cpus(input::with_workload_file(file, Path::new("bisect"))?))
}
