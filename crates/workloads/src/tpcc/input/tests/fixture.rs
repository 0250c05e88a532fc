//! A plain spec for tests.

use model::{TpccCardinality, TpccSpec};

use crate::tpcc::scale;

pub(crate) fn spec(warehouses: u32) -> TpccSpec {
    TpccSpec { warehouses, cardinality: TpccCardinality::STANDARD, ..scale::tests::spec() }
}
