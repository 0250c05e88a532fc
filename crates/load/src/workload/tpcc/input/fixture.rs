//! A plain spec for tests.

use model::{TpccCardinality, TpccSpec};

use crate::workload::tpcc::scale;

/// So many warehouses of the standard's size.
pub(in crate::workload::tpcc) fn spec(warehouses: u32) -> TpccSpec {
    TpccSpec {
        warehouses,
        cardinality: TpccCardinality::STANDARD,
        ..scale::tests::spec()
    }
}
