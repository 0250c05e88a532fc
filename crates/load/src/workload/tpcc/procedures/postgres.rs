//! The procedures as functions of PostgreSQL 9.6 and everything after it.
//!
//! A function is one statement and so a transaction of its own, which an exception rolls back. It cannot end
//! one: a New-Order that is rolled back on purpose tells so, and who called it does that. Parameters come as
//! 64-bit integers; those of a function are the tables' own, so calls convert them.

use model::{StockLevel, TpccProfile, TpccSpec};

use super::texts::{PaymentTexts, fill, order_status, payment};

/// Who is meant by a number, or by a last name.
const FIND_CUSTOMER: &str = include_str!("postgres/find_customer.sql");

const ORDER_STATUS: &str = include_str!("postgres/order_status.sql");

const PAYMENT: PaymentTexts = PaymentTexts {
    whole: include_str!("postgres/payment.sql"),
    warehouse: include_str!("postgres/payment_warehouse.sql"),
    district: include_str!("postgres/payment_district.sql"),
    customer: include_str!("postgres/payment_customer.sql"),
    find_customer: FIND_CUSTOMER,
};

/// One statement that makes each function, in place of an older one.
pub(super) fn create(spec: &TpccSpec) -> Vec<String> {
    vec![
        new_order(spec.profile),
        payment(&PAYMENT, spec),
        order_status(ORDER_STATUS, FIND_CUSTOMER),
        include_str!("postgres/delivery.sql").to_owned(),
        stock_level(spec.stock_level),
    ]
}

fn new_order(profile: TpccProfile) -> String {
    let (amount, counted, total) = match profile {
        TpccProfile::Standard => (
            "v_ordered * v_price",
            ", s_ytd = s_ytd + v_ordered, s_order_cnt = s_order_cnt + 1, \
             s_remote_cnt = s_remote_cnt + CASE WHEN v_supply <> p_w THEN 1 ELSE 0 END",
            "r_total * (1 + r_w_tax + r_d_tax) * (1 - r_discount)",
        ),
        TpccProfile::Percona => (
            "ROUND(v_ordered * v_price * (1 + r_w_tax + r_d_tax) * (1 - r_discount), 2)",
            "",
            "r_total",
        ),
    };
    fill(
        include_str!("postgres/new_order.sql"),
        &[
            ("{amount}", amount),
            ("{counted}", counted),
            ("{total}", total),
        ],
    )
}

fn stock_level(shape: StockLevel) -> String {
    let count = match shape {
        StockLevel::Join => include_str!("postgres/stock_level_join.sql"),
        StockLevel::Loop => include_str!("postgres/stock_level_loop.sql"),
    };
    fill(
        include_str!("postgres/stock_level.sql"),
        &[("{count}", count)],
    )
}
