//! Which changes a plan can detect, given the noise that the lab saw before.

use std::collections::BTreeMap;
use std::fs;
use std::mem::discriminant;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use lab::Lab;
use model::{
    Comparison, Interleave, MetricId, Nanos, Plan, RunData, Scatter, Step, StepClass, describe,
    metrics,
};
use stats::{Budget, Calling, Selection, in_median_step};

use crate::runs;

/// Fewer rounds say little about how rounds scatter.
const ROUNDS: u32 = 3;

/// Assumed for steps in slices or turns: 1 % between starts, 10 % in a second (`docs/statistics.md`).
const IN_SLICES: Scatter = Scatter { between: 1e-4, within: 1e-2, excess: 0.0, prior_df: 0.0 };
/// The same of whole trials, which are minutes apart: 5 % between them.
const IN_TRIALS: Scatter = Scatter { between: 2.5e-3, ..IN_SLICES };

/// Assumed for a family of at least [`FAMILY`] cells (steps × candidates): the prior of `stats`.
const PRIOR_DF: f64 = 6.0;
const FAMILY: u32 = 6;

/// The most rounds that are advised; no advice if more are needed.
const MOST_ADVISED: u32 = 50;
/// A plan that detects only larger changes than this is told the fewest rounds that detect smaller ones.
const USEFUL: f64 = 0.2;

/// What a step of a plan is expected to scatter by.
pub(crate) struct Noise {
    /// Of the metrics that decide the steps.
    deciding: Vec<Scatter>,
    /// Of CPU per operation, with the metric's name.
    cpu: Option<(MetricId, Vec<Scatter>)>,
    source: String,
}

impl Noise {
    /// From the run of this kind of workload on the base's product that is most like the plan, the latest of several;
    /// otherwise from what `doctor` kept; otherwise assumed.
    pub(crate) fn of(lab: Option<&Lab>, plan: &Plan) -> Result<Self> {
        let mut noise = Self::seen(lab, plan)?;
        let has_family = has_family(plan);
        let of_cpu = noise.cpu.iter_mut().flat_map(|(_, steps)| steps);
        for scatter in noise.deciding.iter_mut().chain(of_cpu) {
            scatter.prior_df = match scatter.prior_df {
                _ if !has_family => 0.0,
                0.0 => PRIOR_DF,
                of_the_run => of_the_run,
            };
        }
        Ok(noise)
    }

    /// With the families of the run that it was seen in.
    fn seen(lab: Option<&Lab>, plan: &Plan) -> Result<Self> {
        if let Some(lab) = lab {
            let mut earlier = Vec::new();
            for summary in lab.store.runs()?.iter().rev() {
                if let Some(likeness) = Likeness::of(&summary.info.plan, plan)? {
                    earlier.push((likeness, summary.info.id.clone()));
                }
            }
            earlier.sort_by_key(|(likeness, _)| std::cmp::Reverse(*likeness));
            for (likeness, run) in earlier {
                if let Some(noise) = Self::of_run(&lab.store.load(&run, runs::NUMBERS)?)? {
                    return Ok(Self {
                        source: format!("{}{}", noise.source, likeness.difference()),
                        ..noise
                    });
                }
            }
            let kept = fs::read(kept_in(lab.root())).ok();
            let kept = kept.filter(|_| plan.course.interleave.is_at_once());
            if let Some(scatter) = kept.and_then(|kept| serde_json::from_slice(&kept).ok()) {
                return Ok(Self::of_all(scatter, "the noise of SQLite that `doctor` saw"));
            }
        }
        let (usual, between) = match plan.course.interleave {
            Interleave::Trials => (IN_TRIALS, "5 %"),
            Interleave::Slices(_) | Interleave::Turns(_) => (IN_SLICES, "1 %"),
        };
        let source = format!("an assumed noise of {between} between rounds and 10 % in a second");
        Ok(Self::of_all(usual, &source))
    }

    fn of_all(scatter: Scatter, source: &str) -> Self {
        Self { deciding: vec![scatter], cpu: None, source: source.to_owned() }
    }

    /// `None` if the run has no comparison with enough rounds.
    fn of_run(data: &RunData) -> Result<Option<Self>> {
        let deciding = scatters(data, Selection::Deciding)?;
        if deciding.is_empty() || data.counts_disturbed() {
            return Ok(None);
        }
        let ids = metrics().filter(|metric| metric.sliced && metric.is_cpu());
        let mut ids = ids.map(|metric| MetricId::new(metric.id));
        let measured = ids.find(|id| data.cells.iter().any(|cell| cell.metric == *id));
        let cpu = match measured {
            Some(id) => Some((id.clone(), scatters(data, Selection::Only(vec![id]))?)),
            None => None,
        };
        Ok(Some(Self { deciding, cpu, source: format!("the noise of run {}", data.info.id) }))
    }

    /// The rounds, looked at after the fewest, and the multiple of the plan's windows, that detect most in this budget;
    /// `None` if nothing fits.
    pub(crate) fn choose(
        &self,
        budget: &Budget,
        plan: &Plan,
        rounds: RangeInclusive<u32>,
        most: u32,
    ) -> Option<(u32, u32)> {
        let calling = Calling { first_look: Some(*rounds.start()), ..calling(plan, None) };
        budget.choose(&self.deciding, window(plan).as_secs_f64(), &calling, rounds, most)
    }

    /// What the plan can detect, as a sentence; `None` if it has too few rounds for a verdict or nothing to compare.
    pub(crate) fn sentence(&self, plan: &Plan, time: Nanos) -> Option<String> {
        let window = window(plan);
        let found = |steps: &[Scatter], metric: Option<&MetricId>, rounds: u32| {
            in_median_step(steps, window.as_secs_f64(), rounds, &calling(plan, metric))
        };
        let percent = |found: f64| match found {
            ..1.0 => format!("{:.1} %", 100.0 * found),
            _ => "more than 100 %".to_owned(),
        };
        let rounds = plan.rounds_of_each();
        let of_step = found(&self.deciding, None, rounds).filter(|_| plan.systems.len() > 1)?;
        let deciding = percent(of_step);
        let cpu = self.cpu.as_ref().and_then(|(metric, steps)| {
            Some(format!(", {} in {metric}", percent(found(steps, Some(metric), rounds)?)))
        });
        let more = (rounds + 1..=MOST_ADVISED).filter(|_| of_step >= USEFUL).find_map(|more| {
            let found = found(&self.deciding, None, more).filter(|found| *found < USEFUL)?;
            let time = Nanos((time.0 / u64::from(rounds)).saturating_mul(u64::from(more)));
            Some(format!("; {more} rounds, about {time}, would detect {}", percent(found)))
        });
        let at_most = plan.course.first_look.map_or("", |_| "at most ");
        Some(format!(
            "in {at_most}about {time}: {rounds} rounds with windows of {window} detect a change of {deciding} per step{}, \
             given {}{}",
            cpu.unwrap_or_default(),
            self.source,
            more.unwrap_or_default()
        ))
    }
}

/// What an earlier plan has in common with one of the same kind, from little to all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Likeness {
    Kind,
    /// The data and the measured steps, whose lengths may differ.
    Workload,
    /// The base's config and placement.
    Config,
    Both,
}

impl Likeness {
    /// `None` for another kind of workload, another product, or another way to interleave.
    fn of(earlier: &Plan, plan: &Plan) -> Result<Option<Self>> {
        let (Some(before), Some(base)) = (earlier.system(&earlier.base), plan.system(&plan.base))
        else {
            return Ok(None);
        };
        if discriminant(&earlier.workload) != discriminant(&plan.workload)
            || discriminant(&earlier.course.interleave) != discriminant(&plan.course.interleave)
            || before.build.dbms != base.build.dbms
        {
            return Ok(None);
        }
        let steps = |plan: &Plan| measured_steps(plan).map(|step| step.id).collect::<Vec<_>>();
        let has_workload = steps(earlier) == steps(plan)
            && workloads::loading(&earlier.workload)? == workloads::loading(&plan.workload)?;
        // All of what it runs under but sizes that follow the host's memory.
        let has_config = before.config.name == base.config.name
            && (&before.set, &before.cpus, before.engine) == (&base.set, &base.cpus, base.engine)
            && (&before.connection, &before.preload) == (&base.connection, &base.preload)
            && before.huge_pages == base.huge_pages;
        Ok(Some(match (has_config, has_workload) {
            (true, true) => Self::Both,
            (true, false) => Self::Config,
            (false, true) => Self::Workload,
            (false, false) => Self::Kind,
        }))
    }

    /// How its plan differs; appended to the run's name.
    const fn difference(self) -> &'static str {
        match self {
            Self::Both => "",
            Self::Config => " (other data or steps)",
            Self::Workload => " (another config or placement of the base)",
            Self::Kind => " (another config or placement of the base, other data or steps)",
        }
    }
}

/// The measured steps of a trial. With templates, loading is not part of a trial.
fn measured_steps(plan: &Plan) -> impl Iterator<Item = Step> + use<> {
    plan.trial_steps(plan.has_templates()).into_iter().filter(|step| step.measured)
}

/// Does any class of steps have enough cells (steps × candidates) for a family?
fn has_family(plan: &Plan) -> bool {
    let mut of_class: BTreeMap<StepClass, u32> = BTreeMap::new();
    for step in measured_steps(plan) {
        *of_class.entry(step.class).or_default() += 1;
    }
    let candidates = plan.systems.len().saturating_sub(1) as u32;
    of_class.values().any(|steps| steps * candidates >= FAMILY)
}

fn scatters(data: &RunData, metrics: Selection) -> Result<Vec<Scatter>> {
    let scatter = |comparison: &Comparison| {
        let step = data.steps.iter().find(|step| step.id == comparison.step)?;
        let evidence = comparison.evidence.as_ref().filter(|_| comparison.rounds >= ROUNDS)?;
        Some(stats::scatter(evidence, step.window.or(step.slices)))
    };
    Ok(runs::compare(data, None, metrics, None)?.iter().filter_map(scatter).collect())
}

/// The rule that calls a change of this metric; without one, of the metric that decides the first step with a known
/// window, otherwise the first step.
fn calling(plan: &Plan, metric: Option<&MetricId>) -> Calling {
    let measured: Vec<Step> = measured_steps(plan).collect();
    let step = measured.iter().find(|step| step.window.is_some()).or(measured.first());
    let metric = metric.or(step.map(|step| &step.metric));
    let named = lab::margins(plan, &measured);
    let usual = metric.and_then(describe).map_or(0.0, |metric| metric.margin);
    let margin = metric.and_then(|metric| named.get(metric)).copied().unwrap_or(usual);
    Calling { steps: measured.len() as u32, margin, first_look: plan.course.first_look }
}

/// The length of the median window whose length the plan says; a second without one.
pub(crate) fn window(plan: &Plan) -> Nanos {
    let measured = plan.steps.iter().filter(|step| step.measured);
    let mut windows: Vec<Nanos> = measured.filter_map(|step| step.window).collect();
    windows.sort_unstable();
    windows.get(windows.len() / 2).copied().unwrap_or(Nanos::SECOND)
}

fn kept_in(root: &Path) -> PathBuf {
    root.join("noise.json")
}

/// Keeps what `doctor` saw in the lab, where there is one.
pub(crate) fn keep(scatter: &Scatter, root: &Path) -> Result<()> {
    if !root.is_dir() {
        return Ok(());
    }
    let path = kept_in(root);
    fs::write(&path, serde_json::to_string(scatter)?)
        .with_context(|| format!("cannot write {}", path.display()))
}

#[cfg(test)]
mod tests {
    use lab::Builds;
    use model::{Bytes, HostShape};

    use super::*;

    const PLAN: &str = "name = \"p\"\nrounds = 4\ninterleave = \"turns\"\n\
                        workload = { kind = \"micro\", rows = 10000, read_seconds = 2, write_seconds = 2 }\n\
                        [[system]]\nbuild = \"sqlite\"\nlabel = \"a\"\n[[system]]\nbuild = \"sqlite\"\nlabel = \"b\"\n";

    fn expanded(text: &str) -> Plan {
        let host = HostShape { cpus: 2, memory: Bytes(8 << 30) };
        let file = plan::read(text, "p.toml").unwrap();
        crate::cmd::run::expand(&file, &Builds::of_user().unwrap(), host).unwrap()
    }

    #[test]
    fn what_a_template_loads_is_no_step_of_a_trial() {
        let systems = "[[system]]\nbuild = \"sqlite\"\nlabel = \"a\"\n\
                       [[system]]\nbuild = \"sqlite\"\nlabel = \"b\"\n";
        let workload = "workload = { kind = \"tpcc\", warehouses = 1, steps = 1 }\n";
        let of =
            |keys: &str| expanded(&format!("name = \"p\"\nrounds = 4\n{keys}{workload}{systems}"));
        let (plain, cloned) = (of(""), of("template = true\n"));
        assert_eq!((calling(&plain, None).steps, calling(&cloned, None).steps), (3, 1));
    }

    #[test]
    fn the_noise_of_the_run_most_like_the_plan_comes_first() {
        let plan = expanded(PLAN);
        let of =
            |from: &str, to: &str| Likeness::of(&expanded(&PLAN.replace(from, to)), &plan).unwrap();
        assert_eq!(of("rounds = 4", "rounds = 9"), Some(Likeness::Both));
        assert_eq!(of("write_seconds = 2", "write_seconds = 3"), Some(Likeness::Both));
        assert_eq!(of("rows = 10000", "rows = 20000"), Some(Likeness::Config));
        assert_eq!(
            of("label = \"a\"", "label = \"a\"\nconfig = \"wal\""),
            Some(Likeness::Workload)
        );
        assert_eq!(of("interleave = \"turns\"\n", ""), None);
        assert!(Likeness::Both > Likeness::Config && Likeness::Workload > Likeness::Kind);
    }

    #[test]
    fn the_margin_is_that_of_what_decides_the_tests() {
        let of = |key: &str, margins: &str| {
            let keys = format!("rate = 500, {key}");
            let text = PLAN.replace("kind = \"micro\",", &format!("kind = \"micro\", {keys}"));
            let margin =
                calling(&expanded(&format!("margins = {{ {margins} }}\n{text}")), None).margin;
            (1000.0 * margin).round() as u32
        };
        let tests = "tests = [\"point-query\"],";
        assert_eq!(of(tests, "\"response.p99\" = 20"), 200);
        assert_eq!(of(tests, "\"response.p99\" = 20, \"response.point-query.p99\" = 10"), 100);
        // `rate` decides loads, not tests.
        assert!(of(tests, "rate = 20") < 200);
    }

    #[test]
    fn rounds_and_windows_are_chosen_by_the_looks_that_judge_them() {
        let mut plan = expanded(PLAN);
        let noise = Noise::of(None, &plan).unwrap();
        let mut differing = 0;
        for seconds in (200..2000).step_by(20) {
            let (time, round) = (Nanos::from_secs(seconds), Nanos::from_secs(40));
            let budget = Budget { time, once: Nanos(0), round, windows: Nanos::from_secs(8) };
            let (rounds, times) = noise.choose(&budget, &plan, 4..=20, 20).unwrap();
            // As if nobody looked before the last round.
            let unlooked = calling(&plan, None);
            let seconds_of = window(&plan).as_secs_f64();
            let blind = budget.choose(&noise.deciding, seconds_of, &unlooked, 4..=20, 20);
            differing += u32::from(blind != Some((rounds, times)));
            let mut reach = |rounds: u32, times: u32| {
                plan.course.first_look = (rounds > 4).then_some(4);
                let window = seconds_of * f64::from(times);
                in_median_step(&noise.deciding, window, rounds, &calling(&plan, None)).unwrap()
            };
            let chosen = reach(rounds, times);
            let all = (4..=20).flat_map(|rounds| (1..=20).map(move |times| (rounds, times)));
            let fits = |rounds: u32, times: u32| rounds * (40 + 8 * (times - 1)) <= seconds as u32;
            let mut fitting = all.filter(|(rounds, times)| fits(*rounds, *times));
            let better = fitting.find(|(rounds, times)| reach(*rounds, *times) < chosen);
            plan.course.first_look = None;
            assert_eq!(better, None, "{seconds} s: {rounds} rounds, {times} times the windows");
        }
        assert!(differing > 0);
    }
}
