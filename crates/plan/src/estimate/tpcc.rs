//! What the TPC-C-like workload needs.
//!
//! Steps run for a time, so how many orders they enter depends on the server: what is assumed is on the fast
//! side, unless the plan itself says how many transactions there can be.

use model::{
    Bytes, Costs, DISTRICTS, Nanos, System, TpccIndexes, TpccMix, TpccPace, TpccSpec, TpccStage,
};

use super::system::logs;
use super::{AROUND_STEP, ATTEMPTS, WARM_RATE, at_rate, settling, sum};

/// Bytes of the columns of an item, of a stock row, and of a warehouse with its districts.
const ITEM: u64 = 82;
const STOCK: u64 = 306;
const WAREHOUSE: u64 = 1_040;
/// Bytes of the columns of a customer with his row of history, and his order with its ten lines.
const CUSTOMER: u64 = 1_267;
/// Rows of ten customers: each has one of history and an order with ten lines; three orders wait for delivery.
const ROWS_OF_TEN: u64 = 133;
const LINES: u64 = 10;

/// What a New-Order adds to tables and indexes: 2,060 bytes were published for InnoDB, less for others.
const ORDER: u64 = 2_100;
/// Rows that come with it: an order, its lines, a row of history.
const ORDER_ROWS: u64 = 12;
/// What it adds to the binary log: rows of stock and customers before and after, and the new ones.
const BINLOG_ORDER: u64 = 12_000;
/// The same of WAL, page images among it.
const WAL_ORDER: u64 = 25_000;

/// How often the conditions read every row.
const CHECK_PASSES: u64 = 8;

/// Cards of a deck, in the order of the transactions.
const DECK: [u32; 5] = [10, 10, 1, 1, 1];
/// Seconds of keying and thinking of each transaction.
const WAITS: [u32; 5] = [30, 15, 12, 7, 7];

pub(super) fn instance(spec: &TpccSpec, system: &System, loads: bool) -> Bytes {
    let cost = &system.build.dbms.product().costs;
    let loaded = loaded(spec, cost);
    let orders = if loads { 0 } else { new_orders(spec, cost) };
    let percent = if orders > 0 { cost.written_percent } else { 100 };
    let logged = |order: u64| sum([columns(spec), orders.saturating_mul(order)]);
    Bytes(sum([
        cost.empty_mib << 20,
        loaded.saturating_mul(percent) / 100,
        orders.saturating_mul(ORDER),
        logs(system, logged(BINLOG_ORDER), logged(WAL_ORDER)),
    ]))
}

pub(super) fn rows_and_entries(spec: &TpccSpec) -> u64 {
    sum([rows(spec), entries(spec)])
}

/// Nanoseconds of a step with what is around it.
pub(super) fn step(spec: &TpccSpec, stage: TpccStage, cost: &Costs) -> u64 {
    let rows_first = at_rate(columns(spec), cost.load_rate());
    let indexes = at_rate(entries(spec), cost.lx_rate);
    // Each row is read to see whether its foreign keys hold.
    let keys = if spec.schema.foreign_keys { at_rate(rows(spec), WARM_RATE) } else { 0 };
    let check = |rows: u64| at_rate(rows.saturating_mul(CHECK_PASSES), WARM_RATE);
    let time = match stage {
        TpccStage::Load if spec.load.indexes_first => sum([rows_first, indexes]),
        TpccStage::Load => rows_first,
        TpccStage::Index if spec.load.indexes_first => keys,
        TpccStage::Index => sum([indexes, keys]),
        TpccStage::CheckLoad => check(rows(spec)),
        TpccStage::Settle => settling(spec.settle, rows(spec)),
        TpccStage::Warm => at_rate(rows(spec), WARM_RATE),
        TpccStage::Run(_) => Nanos::from_secs(seconds(spec)).0,
        TpccStage::Check => {
            let added = new_orders(spec, cost).saturating_mul(ORDER_ROWS);
            check(sum([rows(spec), added]))
        }
    };
    sum([time, AROUND_STEP.0])
}

/// Seconds of a step with transactions: attempts and warm-up, then what is measured.
fn seconds(spec: &TpccSpec) -> u64 {
    let attempts = match spec.pace {
        TpccPace::Ramp { attempt_seconds, .. } => ATTEMPTS * u64::from(attempt_seconds),
        TpccPace::NoWait | TpccPace::Wait { .. } | TpccPace::Rate { .. } => 0,
    };
    attempts + u64::from(spec.warmup_seconds) + u64::from(spec.seconds)
}

fn new_orders(spec: &TpccSpec, cost: &Costs) -> u64 {
    let weights = match spec.mix {
        TpccMix::Deck => DECK,
        TpccMix::Weights(weights) => weights,
    };
    let seconds = u128::from(seconds(spec)) * u128::from(spec.steps);
    let cards = weights.iter().map(|weight| u128::from(*weight));
    let cards: u128 = cards.sum::<u128>().max(1);
    let share = |transactions: u128| transactions * u128::from(weights[0]) / cards;
    let at_once = u128::from(spec.clients.min(cost.at_once));
    let fastest = at_once * u128::from(cost.transactions) * seconds;
    let asked = match spec.pace {
        TpccPace::NoWait | TpccPace::Ramp { .. } => fastest,
        TpccPace::Rate { per_second, .. } => u128::from(per_second) * seconds,
        TpccPace::Wait { percent } => {
            let waits = weights.iter().zip(WAITS);
            let waits = waits.map(|(weight, wait)| u128::from(*weight) * u128::from(wait));
            // One client starts so many transactions in so many seconds, at the standard's times.
            let deck = waits.sum::<u128>() * u128::from(percent);
            u128::from(spec.clients) * cards * 100 * seconds / deck.max(1)
        }
    };
    u64::try_from(share(asked.min(fastest))).unwrap_or(u64::MAX)
}

/// Bytes of all columns of the loaded rows.
fn columns(spec: &TpccSpec) -> u64 {
    let items = u64::from(spec.cardinality.items);
    let customers = u64::from(spec.cardinality.customers) * u64::from(DISTRICTS);
    let warehouse = sum([WAREHOUSE, items * STOCK, customers * CUSTOMER]);
    sum([items * ITEM, u64::from(spec.warehouses).saturating_mul(warehouse)])
}

/// Bytes of all tables and indexes once they are loaded.
fn loaded(spec: &TpccSpec, cost: &Costs) -> u64 {
    columns(spec).saturating_mul(cost.warehouse_percent) / 100
}

fn rows(spec: &TpccSpec) -> u64 {
    let items = u64::from(spec.cardinality.items);
    let customers = u64::from(spec.cardinality.customers) * u64::from(DISTRICTS);
    let warehouse = items + customers * ROWS_OF_TEN / 10 + u64::from(DISTRICTS) + 1;
    sum([items, u64::from(spec.warehouses).saturating_mul(warehouse)])
}

fn entries(spec: &TpccSpec) -> u64 {
    let customers = u64::from(spec.cardinality.customers) * u64::from(DISTRICTS);
    // Of customers by name, and of orders by customer.
    let minimum = customers * 2;
    let more = match spec.schema.indexes {
        TpccIndexes::Minimum => 0,
        TpccIndexes::Percona => u64::from(spec.cardinality.items) + customers * LINES,
    };
    u64::from(spec.warehouses).saturating_mul(minimum + more)
}
