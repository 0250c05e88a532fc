//! The steps of a trial of SQL statements: what each measures and how long it takes.

use model::{Arrivals, Nanos, Plan, SqlPace, SqlRun, SqlSpec, SqlStep, SqlWork, WarmUpEnd};
use report::{Cell, Header, Table};

use crate::time_needed;

/// The steps of a trial: what is measured with how many clients for how long. Times are those of a trial
/// of the base.
pub(super) fn steps(plan: &Plan, spec: &SqlSpec) -> Table {
    let times = time_needed::of_steps(plan, spec);
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
