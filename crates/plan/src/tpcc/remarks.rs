//! What is allowed and may not be meant.

use model::{TpccCardinality, TpccHomes, TpccSpec};

use crate::fields::grouped;

/// One sentence each, for people who look at the plan.
pub(crate) fn remarks(spec: &TpccSpec) -> Vec<String> {
    [empty_warehouses(spec), other_rows(spec)]
        .into_iter()
        .flatten()
        .collect()
}

fn empty_warehouses(spec: &TpccSpec) -> Option<String> {
    let left = spec.warehouses.saturating_sub(spec.clients);
    (spec.homes == TpccHomes::Fixed && left > 0).then(|| {
        format!(
            "`homes = \"fixed\"` and {} clients: {} of {} warehouses have no terminal, and hardly any \
             work; use more clients, or `homes = \"random\"`",
            grouped(spec.clients),
            grouped(left),
            grouped(spec.warehouses)
        )
    })
}

fn other_rows(spec: &TpccSpec) -> Option<String> {
    let standard = TpccCardinality::STANDARD;
    (spec.cardinality != standard).then(|| {
        format!(
            "`items` = {} and `customers` = {} are for tests, their numbers for nothing else: the standard \
             has {} and {}",
            grouped(spec.cardinality.items),
            grouped(spec.cardinality.customers),
            grouped(standard.items),
            grouped(standard.customers)
        )
    })
}
