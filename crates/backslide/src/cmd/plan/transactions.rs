//! The steps of a trial of the TPC-C-like workload.

use model::{Nanos, Plan, StepId, TpccSpec};
use report::{Cell, Header, Table};

/// The steps of a trial and how long they take; those with transactions in one line.
pub(super) fn steps(plan: &Plan, spec: &TpccSpec) -> Table {
    let times = plan::step_times(plan);
    let is_run = |step: &StepId| step.0.starts_with('h');
    let shown = times
        .iter()
        .filter(|(step, _)| !is_run(step) || step.0 == "h1");
    let rows = shown.map(|(step, time)| {
        let (name, clients) = match (is_run(step), spec.steps) {
            (false, _) if step.0 == "settle" => (step.0.clone(), 1),
            (false, _) => (step.0.clone(), spec.load.clients),
            (true, 1) => (step.0.clone(), spec.clients),
            (true, steps) => (format!("h1 … h{steps}, each"), spec.clients),
        };
        vec![
            Cell::text(name),
            Cell::text(clients.to_string()),
            Cell::number(time.as_secs_f64(), time.to_string()),
        ]
    });
    let total = times
        .iter()
        .fold(0, |sum: u64, (_, time)| sum.saturating_add(time.0));
    let warehouses = match spec.warehouses {
        1 => "1 warehouse".to_owned(),
        warehouses => format!("{warehouses} warehouses"),
    };
    Table {
        title: format!(
            "{}, {warehouses}: the steps of a trial, about {} in all",
            plan.workload.name(),
            Nanos(total)
        ),
        note: String::new(),
        headers: vec![
            Header::words("step"),
            Header::numbers("clients", ""),
            Header::numbers("time", ""),
        ],
        rows: rows.collect(),
    }
}
