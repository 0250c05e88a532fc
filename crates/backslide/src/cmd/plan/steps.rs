//! The steps of a trial of SQL statements, what each measures and how long it takes; and of the TPC-C-like workload.

use model::{
    Arrivals, Nanos, Plan, SqlPace, SqlRun, SqlSpec, SqlStep, SqlWork, StepId, StepTask, TpccSpec,
    WarmUpEnd,
};
use report::format::plural;
use report::{Cell, Columns, Table};

use crate::table::time;
use crate::time_needed;

/// The steps of a trial: what is measured, with how many clients, and for how long. Times are those of a trial of the
/// base.
pub(super) fn steps(plan: &Plan, spec: &SqlSpec) -> Table {
    let times = time_needed::of_steps(plan, spec);
    let is_open = spec.steps.iter().any(|step| match &step.work {
        SqlWork::Run(run) => run.pace != SqlPace::Unlimited,
        SqlWork::Load | SqlWork::Index | SqlWork::Settle(_) | SqlWork::Reset => false,
    });
    let total = times.iter().fold(0, |sum: u64, (_, time)| sum.saturating_add(time.0));
    let title = format!("{}: the steps of a trial, about {} in all", spec.name, Nanos(total));
    Columns::new()
        .words("step", |(step, _): &(&SqlStep, Nanos)| Cell::text(&step.id.0))
        .words("group", |(step, _)| Cell::text(&step.group))
        .numbers("clients", "", |(step, _)| Cell::text(step.clients.to_string()))
        .numbers("warmup", "", |(step, _)| measured(step).map_or(Cell::text(""), warm_up))
        .numbers("measured", "", |(step, _)| seconds(measured(step).map_or(0, |run| run.seconds)))
        .numbers("about", "", |(_, about)| time(*about))
        .words("", |(step, _)| Cell::text(what(step, is_open)))
        .table(title, "", times)
}

const fn measured(step: &SqlStep) -> Option<&SqlRun> {
    match &step.work {
        SqlWork::Run(run) if run.measured => Some(run),
        SqlWork::Run(_) | SqlWork::Load | SqlWork::Index | SqlWork::Settle(_) | SqlWork::Reset => {
            None
        }
    }
}

fn seconds(seconds: u32) -> Cell {
    match seconds {
        0 => Cell::text(""),
        _ => time(Nanos::from_secs(u64::from(seconds))),
    }
}

fn warm_up(run: &SqlRun) -> Cell {
    match run.warmup_end {
        WarmUpEnd::Fixed => seconds(run.warmup_seconds),
        WarmUpEnd::Steady => {
            let longest = Nanos::from_secs(u64::from(run.warmup_seconds));
            Cell::number(longest.as_secs_f64(), format!("up to {longest}"))
        }
    }
}

/// `is_open`: do operations of the workload arrive by themselves in any step?
fn what(step: &SqlStep, is_open: bool) -> String {
    match (&step.work, measured(step)) {
        (_, Some(run)) if run.whole && is_open => "a closed loop: `whole` operations".to_owned(),
        (_, Some(run)) => pace(&run.pace),
        (SqlWork::Run(_), None) => "warms caches".to_owned(),
        (_, None) => String::new(),
    }
}

/// When its operations start, in words; nothing where each waits for the one before it.
fn pace(pace: &SqlPace) -> String {
    let spread = |arrivals: &Arrivals| match arrivals {
        Arrivals::Even => "even",
        Arrivals::Poisson => "poisson",
    };
    match pace {
        SqlPace::Unlimited => String::new(),
        SqlPace::Rate { per_second, arrivals, .. } => {
            format!("{per_second}/s, {}", spread(arrivals))
        }
        SqlPace::Ramp { from, arrivals, permille, limit_micros, attempt_seconds, .. } => format!(
            "ramp from {from}/s, p{} ≤ {}, {attempt_seconds} s each, {}",
            f64::from(*permille) / 10.0,
            Nanos(limit_micros.saturating_mul(1_000)),
            spread(arrivals)
        ),
    }
}

/// The steps of a trial and how long they take; those with transactions in one line.
pub(super) fn transactions(plan: &Plan, spec: &TpccSpec) -> Table {
    let times = plan::step_times(plan);
    let of = |id: &StepId| plan.steps.iter().find(|step| step.id == *id);
    let runs: Vec<&StepId> =
        plan.steps.iter().filter(|step| step.task == StepTask::Run).map(|step| &step.id).collect();
    let name = |id: &StepId| match runs.as_slice() {
        [first, .., last] if *first == id => format!("{first} … {last}, each"),
        _ => id.0.clone(),
    };
    let clients = |id: &StepId| of(id).map_or(spec.clients, |step| step.clients);
    // All runs take as long as the first.
    let is_shown = |id: &StepId| runs.first() == Some(&id) || !runs.contains(&id);
    let total = times.iter().fold(0, |sum: u64, (_, time)| sum.saturating_add(time.0));
    let (workload, warehouses) =
        (plan.workload.name(), plural(spec.warehouses as usize, "warehouse"));
    let total = Nanos(total);
    let title = format!("{workload}, {warehouses}: the steps of a trial, about {total} in all");
    Columns::new()
        .words("step", |(step, _): &&(StepId, Nanos)| Cell::text(name(step)))
        .numbers("clients", "", |(step, _)| Cell::text(clients(step).to_string()))
        .numbers("time", "", |(_, about)| time(*about))
        .table(title, "", times.iter().filter(|(step, _)| is_shown(step)))
}
