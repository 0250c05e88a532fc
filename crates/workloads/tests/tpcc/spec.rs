//! Small specs, built by hand.

use model::{ErrorRules, LoadSpec, Settle, TpccCardinality, TpccSpec};

/// Items, and customers of a district.
pub(crate) const SMALL: TpccCardinality = TpccCardinality { items: 100, customers: 30 };

/// Loads so many small warehouses, runs all transactions for a second by `clients` terminals, and checks.
pub(crate) fn spec(warehouses: u32, clients: u32) -> TpccSpec {
    let load = LoadSpec { rows_per_commit: 1_000, ..LoadSpec::usual(2) };
    let usual = TpccSpec::usual(warehouses, load).with_few_indexes();
    TpccSpec {
        cardinality: SMALL,
        settle: Settle::Seconds(0),
        clients,
        steps: 1,
        seconds: 1,
        warmup_seconds: 0,
        errors: ErrorRules { tries: 100_000, ..ErrorRules::usual() },
        statement_timeout: 60,
        ..usual
    }
}
