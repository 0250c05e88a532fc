//! What takes the time of a trial of SQL statements.

use model::{Nanos, Plan, SqlPace, SqlRun, SqlSpec, SqlStep, SqlWork};

/// A part of the whole that is worth naming.
const WORTH_NAMING: f64 = 0.02;

/// About how long each step of a trial of the base takes.
pub(crate) fn of_steps<'a>(plan: &Plan, spec: &'a SqlSpec) -> Vec<(&'a SqlStep, Nanos)> {
    let times = plan::step_times(plan);
    let time_of = |step: &SqlStep| times.iter().find(|(id, _)| *id == step.id);
    spec.steps.iter().filter_map(|step| Some((step, time_of(step)?.1))).collect()
}

/// What takes the time of a trial, the longest first, each with the key that decides it.
pub(crate) fn where_it_goes(plan: &Plan, spec: &SqlSpec) -> String {
    let mut parts: Vec<(&str, u64)> = Vec::new();
    let mut add =
        |part: &'static str, time: Nanos| match parts.iter_mut().find(|(name, _)| *name == part) {
            Some((_, sum)) => *sum = sum.saturating_add(time.0),
            None => parts.push((part, time.0)),
        };
    for (step, about) in of_steps(plan, spec) {
        match &step.work {
            SqlWork::Load | SqlWork::Index => add("loading and indexes (`rows`, `tables`)", about),
            SqlWork::Settle(_) => add("settle phases (`settle`)", about),
            SqlWork::Reset => add("loading again (`fresh`)", about),
            SqlWork::Run(run) if !run.measured => add(warmed_by(run), about),
            SqlWork::Run(run) => {
                let [warm_up, measured] = [run.warmup_seconds, run.seconds]
                    .map(|seconds| Nanos::from_secs(u64::from(seconds)));
                add("the tests' own warm-ups (`warmup_seconds`)", warm_up);
                add(measured_by(run), measured);
                let rest = about.saturating_sub(warm_up).saturating_sub(measured);
                match run.pace {
                    SqlPace::Ramp { .. } => add("attempts of ramps (`ramp`)", rest),
                    SqlPace::Unlimited | SqlPace::Rate { .. } => {}
                }
            }
        }
    }
    parts.sort_by_key(|(_, time)| std::cmp::Reverse(*time));
    let total = parts.iter().map(|(_, time)| *time).sum::<u64>().max(1);
    let named = parts
        .iter()
        .filter(|(_, time)| *time as f64 / total as f64 >= WORTH_NAMING)
        .map(|(part, time)| format!("{} {part}", Nanos(*time)));
    named.collect::<Vec<_>>().join(", ")
}

/// The keys that say how long a step warms caches.
fn warmed_by(run: &SqlRun) -> &'static str {
    let blocks = run.operations.iter().flat_map(|operation| &operation.blocks);
    let mut statements = blocks.flat_map(|block| &block.statements);
    if run.writes {
        "writes that warm caches (`write_seconds` or `seconds`, none with `warm_ups = false`)"
    } else if statements.any(|statement| statement.scans) {
        "scans that warm caches (`scan_seconds` or `seconds`, none with `warm_ups = false`)"
    } else {
        "reads that warm caches (`read_seconds` or `seconds`, none with `warm_ups = false`)"
    }
}

/// The keys that say how long a test is measured.
const fn measured_by(run: &SqlRun) -> &'static str {
    if run.writes {
        "tests that write (`write_seconds` or `seconds`)"
    } else {
        "tests that read (`read_seconds` or `seconds`)"
    }
}
