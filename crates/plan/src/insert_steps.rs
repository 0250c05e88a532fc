//! The steps of the Insert Benchmark: their names, their order, and what each needs before it.

use model::{InsertSpec, QueryKind, StepId};

use crate::PlanError;
use crate::fields::{Fields, Item};

/// Fills in `steps` where the plan gave none; else checks the ones that it gave.
pub(crate) fn resolve(fields: &Fields<'_>, spec: &mut InsertSpec) -> Result<(), PlanError> {
    let all = all(spec);
    if let Some(twice) = first_repeated(&all) {
        return Err(PlanError::Conflict {
            place: fields.place_of(&["rates", "queries"]),
            message: format!(
                "step `{twice}` would be there twice: `rates` and `queries` must not repeat a value"
            ),
        });
    }
    match fields.get("steps") {
        None => spec.steps = all,
        Some(item) => check(item, spec, &all)?,
    }
    Ok(())
}

/// Every step of the workload in its order: the load, then a pair of query steps for each rate.
fn all(spec: &InsertSpec) -> Vec<StepId> {
    let load = ["l.i0", "l.x", "l.i1", "l.i2"].map(StepId::new);
    let queries = spec.rates.iter().flat_map(|rate| {
        spec.queries.iter().map(move |kind| {
            StepId(match kind {
                QueryKind::Range => format!("qr{rate}"),
                QueryKind::Point => format!("qp{rate}"),
            })
        })
    });
    load.into_iter().chain(queries).collect()
}

fn first_repeated(steps: &[StepId]) -> Option<&StepId> {
    let mut rest = steps;
    while let Some((first, others)) = rest.split_first() {
        if others.contains(first) {
            return Some(first);
        }
        rest = others;
    }
    None
}

fn check(item: Item<'_>, spec: &InsertSpec, all: &[StepId]) -> Result<(), PlanError> {
    let names = || all.iter().map(|step| step.0.clone());
    for step in &spec.steps {
        if !all.contains(step) {
            return Err(item.unknown("step", &step.0, names()));
        }
    }
    let ordered: Vec<&StepId> = all.iter().filter(|s| spec.steps.contains(s)).collect();
    if !spec.steps.iter().eq(ordered) {
        let order: Vec<String> = names().collect();
        return Err(item.conflict(format!(
            "`steps` must name each step once and keep their order: {}",
            order.join(" ")
        )));
    }
    match spec
        .steps
        .iter()
        .find_map(|step| missing_before(step, spec))
    {
        None => Ok(()),
        Some(message) => Err(item.conflict(message)),
    }
}

/// What the step needs and the plan leaves out. The order has been checked, so that being in the
/// list means being before it.
fn missing_before(step: &StepId, spec: &InsertSpec) -> Option<String> {
    let is_there = |name: &str| spec.steps.iter().any(|s| s.0 == name);
    if !is_there("l.i0") {
        return Some(format!(
            "step `{step}` needs `l.i0` in `steps`: it makes and fills the tables"
        ));
    }
    let needs_indexes = step.0 != "l.i0" && step.0 != "l.x" && spec.secondary_indexes > 0;
    (needs_indexes && !is_there("l.x")).then(|| {
        format!(
            "step `{step}` needs `l.x` in `steps`, which makes the indexes; \
             or set `secondary_indexes = 0`"
        )
    })
}
