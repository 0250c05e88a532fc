//! The steps of a trial of the TPC-C-like workload.

use model::{Nanos, Plan, StepId, StepTask, TpccSpec};
use report::format::plural;
use report::{Cell, Columns, Table};

/// The steps of a trial and how long they take; those with transactions in one line.
pub(super) fn steps(plan: &Plan, spec: &TpccSpec) -> Table {
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
    let title = format!(
        "{}, {}: the steps of a trial, about {} in all",
        plan.workload.name(),
        plural(spec.warehouses as usize, "warehouse"),
        Nanos(total)
    );
    Columns::new()
        .words("step", |(step, _): &&(StepId, Nanos)| Cell::text(name(step)))
        .numbers("clients", "", |(step, _)| Cell::text(clients(step).to_string()))
        .numbers("time", "", |(_, time)| Cell::number(time.as_secs_f64(), time.to_string()))
        .table(title, "", times.iter().filter(|(step, _)| is_shown(step)))
}
