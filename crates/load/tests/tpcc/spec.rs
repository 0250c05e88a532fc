//! Small specs, built by hand.

use model::{
    ErrorRules, LoadMethod, LoadSpec, PaymentOrder, Settle, Statements, StockLevel,
    TpccCardinality, TpccForm, TpccHomes, TpccIndexes, TpccMix, TpccPace, TpccProfile, TpccSchema,
    TpccSpec,
};

/// Items, and customers of a district.
pub(crate) const SMALL: TpccCardinality = TpccCardinality {
    items: 100,
    customers: 30,
};

/// Loads so many small warehouses, runs all transactions for a second by `clients` terminals, and checks.
pub(crate) fn spec(warehouses: u32, clients: u32) -> TpccSpec {
    TpccSpec {
        warehouses,
        profile: TpccProfile::Standard,
        cardinality: SMALL,
        schema: TpccSchema {
            foreign_keys: false,
            indexes: TpccIndexes::Minimum,
            history_key: false,
            partitions: 0,
        },
        load: LoadSpec {
            clients: 2,
            method: LoadMethod::Fastest,
            rows_per_commit: 1_000,
            indexes_first: false,
        },
        settle: Settle::Seconds(0),
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
        seconds: 1,
        warmup_seconds: 0,
        limits_millis: [5_000, 5_000, 5_000, 80_000, 20_000],
        errors: ErrorRules {
            ignore: Vec::new(),
            retry: Vec::new(),
            fatal: Vec::new(),
            tries: 100_000,
            reconnect_seconds: 0,
        },
        statement_timeout: 60,
    }
}
