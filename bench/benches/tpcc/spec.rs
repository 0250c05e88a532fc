//! The workload as a plan has it that names the warehouses and nothing else, but for the length of its steps.

use model::{LoadSpec, Settle, TpccSpec};

/// The seed of all trials: a client that is measured finds the rows that another process loaded.
pub(crate) const SEED: u64 = 42;

/// Sessions that load and check: one for each of two cores.
pub(crate) const LOADERS: u32 = 2;

/// Warehouses, and one step with its seconds and terminals.
pub(crate) fn spec(warehouses: u32, clients: u32, seconds: u32) -> TpccSpec {
    TpccSpec {
        settle: Settle::Seconds(5),
        clients,
        steps: 1,
        seconds,
        warmup_seconds: 0,
        ..TpccSpec::usual(warehouses, LoadSpec::usual(LOADERS))
    }
}
