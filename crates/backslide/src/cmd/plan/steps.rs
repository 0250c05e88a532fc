//! The steps of a trial of SQL statements: what each measures and how long it takes, and what takes the
//! time.

use model::{Arrivals, Nanos, Plan, SqlPace, SqlRun, SqlSpec, SqlStep, SqlWork, WarmUpEnd};
use report::{Cell, Header, Table};

/// A part of the whole that is worth naming.
const WORTH_NAMING: f64 = 0.02;

/// The steps of a trial: what is measured with how many clients for how long. Times are those of a trial
/// of the base.
pub(super) fn steps(plan: &Plan, spec: &SqlSpec) -> Table {
    let times = times(plan, spec);
    let is_open = spec.steps.iter().any(|step| match &step.work {
        SqlWork::Run(run) => run.pace != SqlPace::Unlimited,
        SqlWork::Load | SqlWork::Index | SqlWork::Settle(_) | SqlWork::Reset => false,
    });
    let rows = times.iter().map(|(step, time)| row(step, *time, is_open));
    let total = times.iter().map(|(_, time)| time.0);
    Table {
        title: format!(
            "{}: the steps of a trial, about {} in all",
            spec.name,
            Nanos(total.fold(0, u64::saturating_add))
        ),
        note: String::new(),
        headers: vec![
            Header::words("step"),
            Header::words("group"),
            Header::numbers("clients", ""),
            Header::numbers("warmup", ""),
            Header::numbers("measured", ""),
            Header::numbers("about", ""),
            Header::words(""),
        ],
        rows: rows.collect(),
    }
}

fn times<'a>(plan: &Plan, spec: &'a SqlSpec) -> Vec<(&'a SqlStep, Nanos)> {
    let times = plan::step_times(plan).into_iter().map(|(_, time)| time);
    spec.steps.iter().zip(times).collect()
}

/// `is_open` says that operations arrive by themselves, where that can be.
fn row(step: &SqlStep, about: Nanos, is_open: bool) -> Vec<Cell> {
    let time = |time: Nanos| Cell::number(time.as_secs_f64(), time.to_string());
    let seconds = |seconds: u32| match seconds {
        0 => Cell::text(""),
        _ => time(Nanos::from_secs(u64::from(seconds))),
    };
    let warm_up = |run: &SqlRun| match run.warmup_end {
        WarmUpEnd::Fixed => seconds(run.warmup_seconds),
        WarmUpEnd::Steady => {
            let longest = Nanos::from_secs(u64::from(run.warmup_seconds));
            Cell::number(longest.as_secs_f64(), format!("up to {longest}"))
        }
    };
    let (warm_up, measured, what) = match &step.work {
        SqlWork::Run(run) if run.measured && run.whole && is_open => {
            let what = "a closed loop: `whole` operations".to_owned();
            (warm_up(run), run.seconds, what)
        }
        SqlWork::Run(run) if run.measured => (warm_up(run), run.seconds, pace(&run.pace)),
        SqlWork::Run(_) => (seconds(0), 0, "warms caches".to_owned()),
        SqlWork::Load | SqlWork::Index | SqlWork::Settle(_) | SqlWork::Reset => {
            (seconds(0), 0, String::new())
        }
    };
    vec![
        Cell::text(&step.id.0),
        Cell::text(&step.group),
        Cell::text(step.clients.to_string()),
        warm_up,
        seconds(measured),
        time(about),
        Cell::text(what),
    ]
}

/// When its operations start, in words; nothing where each waits for the one before it.
fn pace(pace: &SqlPace) -> String {
    let spread = |arrivals: &Arrivals| match arrivals {
        Arrivals::Even => "even",
        Arrivals::Poisson => "poisson",
    };
    match pace {
        SqlPace::Unlimited => String::new(),
        SqlPace::Rate {
            per_second,
            arrivals,
            ..
        } => format!("{per_second}/s, {}", spread(arrivals)),
        SqlPace::Ramp {
            from,
            arrivals,
            permille,
            limit_micros,
            attempt_seconds,
            ..
        } => format!(
            "ramp from {from}/s, p{} ≤ {}, {attempt_seconds} s each, {}",
            f64::from(*permille) / 10.0,
            Nanos(limit_micros.saturating_mul(1_000)),
            spread(arrivals)
        ),
    }
}

/// What takes the time of a trial, the longest first, each with the key that decides it.
pub(super) fn where_time_goes(plan: &Plan, spec: &SqlSpec) -> String {
    let mut parts: Vec<(&str, u64)> = Vec::new();
    let mut add =
        |part: &'static str, time: Nanos| match parts.iter_mut().find(|(name, _)| *name == part) {
            Some((_, sum)) => *sum = sum.saturating_add(time.0),
            None => parts.push((part, time.0)),
        };
    for (step, about) in times(plan, spec) {
        match &step.work {
            SqlWork::Load | SqlWork::Index => add("loading and indexes (`rows`, `tables`)", about),
            SqlWork::Settle(_) => add("settle phases (`settle`)", about),
            SqlWork::Reset => add("loading again (`fresh`)", about),
            SqlWork::Run(run) if !run.measured => add("steps that warm caches (`warm_ups`)", about),
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
    format!("of it: {}", named.collect::<Vec<_>>().join(", "))
}

/// The key that says how long a test is measured, unless its step says so itself.
fn measured_by(run: &SqlRun) -> &'static str {
    let blocks = run
        .operations
        .iter()
        .flat_map(|operation| &operation.blocks);
    let mut statements = blocks.flat_map(|block| &block.statements);
    if statements.any(|statement| statement.scans) {
        "scans (`scan_seconds`)"
    } else if run.writes {
        "tests that write (`write_seconds`, or `seconds` of a step)"
    } else {
        "tests that read (`read_seconds`, or `seconds` of a step)"
    }
}
