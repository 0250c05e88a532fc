//! The workload as a plan has it that names the warehouses and nothing else, but for the length of its steps.

use model::{
    ErrorRules, LoadMethod, LoadSpec, PaymentOrder, Settle, Statements, StockLevel,
    TpccCardinality, TpccForm, TpccHomes, TpccIndexes, TpccMix, TpccPace, TpccProfile, TpccSchema,
    TpccSpec,
};

/// The seed of all trials: a client that is measured finds the rows that another process loaded.
pub(crate) const SEED: u64 = 42;

/// Sessions that load and check: one for each of two cores.
pub(crate) const LOADERS: u32 = 2;

/// So many warehouses; one step of so many seconds with so many terminals.
pub(crate) fn spec(warehouses: u32, clients: u32, seconds: u32) -> TpccSpec {
    TpccSpec {
        warehouses,
        profile: TpccProfile::Standard,
        cardinality: TpccCardinality::STANDARD,
        schema: TpccSchema {
            foreign_keys: false,
            indexes: TpccIndexes::Percona,
            history_key: false,
            partitions: 0,
        },
        load: LoadSpec {
            clients: LOADERS,
            method: LoadMethod::Fastest,
            rows_per_commit: 10_000,
            indexes_first: false,
        },
        settle: Settle::Seconds(5),
        clients,
        homes: TpccHomes::Random,
        pace: TpccPace::NoWait,
        mix: TpccMix::Deck,
        form: TpccForm::Single,
        statements: Statements::Prepared,
        isolation: None,
        stock_level: StockLevel::Join,
        payment_order: PaymentOrder::Warehouse,
        delivery_by_district: false,
        steps: 1,
        seconds,
        warmup_seconds: 0,
        limits_millis: [5_000, 5_000, 5_000, 80_000, 20_000],
        errors: ErrorRules {
            ignore: Vec::new(),
            retry: Vec::new(),
            fatal: Vec::new(),
            tries: 1_000,
            reconnect_seconds: 0,
        },
        statement_timeout: 600,
    }
}
