//! The procedures in the words of MySQL 5.6, MariaDB 10.1 and everything after them.
//!
//! A handler rolls back whatever ends in an error and passes the error on, so that no transaction is left
//! open. What must be there and is not is signalled, which ends in the same handler. Where a SELECT finds
//! nothing, its variables keep the NULL that they had.

use model::{StockLevel, TpccProfile, TpccSpec};

use super::texts::{PaymentTexts, fill, order_status, payment};

/// As text is in the tables: a variable in another character set would make the server convert the column,
/// and no index serves that.
const LATIN: &str = "CHARACTER SET latin1 COLLATE latin1_bin";

/// Ends what failed.
const HANDLER: &str = "DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK; RESIGNAL; END;";

/// Who is meant by a number, or by a last name.
const FIND_CUSTOMER: &str = include_str!("mysql/find_customer.sql");

const ORDER_STATUS: &str = include_str!("mysql/order_status.sql");

const PAYMENT: PaymentTexts = PaymentTexts {
    whole: include_str!("mysql/payment.sql"),
    warehouse: include_str!("mysql/payment_warehouse.sql"),
    district: include_str!("mysql/payment_district.sql"),
    customer: include_str!("mysql/payment_customer.sql"),
    find_customer: FIND_CUSTOMER,
};

/// One statement that makes each procedure, after one that removes an older one.
pub(super) fn create(spec: &TpccSpec) -> Vec<String> {
    let procedures = [
        ("tpcc_new_order", new_order(spec.profile)),
        ("tpcc_payment", payment(&PAYMENT, spec)),
        (
            "tpcc_order_status",
            order_status(ORDER_STATUS, FIND_CUSTOMER),
        ),
        (
            "tpcc_delivery",
            include_str!("mysql/delivery.sql").to_owned(),
        ),
        ("tpcc_stock_level", stock_level(spec.stock_level)),
    ];
    let statements = procedures.into_iter().flat_map(|(name, text)| {
        let text = fill(&text, &[("{latin}", LATIN), ("{handler}", HANDLER)]);
        [format!("DROP PROCEDURE IF EXISTS {name}"), text]
    });
    statements.collect()
}

fn new_order(profile: TpccProfile) -> String {
    let (amount, counted, total) = match profile {
        TpccProfile::Standard => (
            "v_ordered * v_price",
            ", s_ytd = s_ytd + v_ordered, s_order_cnt = s_order_cnt + 1, \
             s_remote_cnt = s_remote_cnt + (v_supply <> p_w)",
            "v_total * (1 + v_w_tax + v_d_tax) * (1 - v_discount)",
        ),
        TpccProfile::Percona => (
            "ROUND(v_ordered * v_price * (1 + v_w_tax + v_d_tax) * (1 - v_discount), 2)",
            "",
            "v_total",
        ),
    };
    fill(
        include_str!("mysql/new_order.sql"),
        &[
            ("{amount}", amount),
            ("{counted}", counted),
            ("{total}", total),
        ],
    )
}

fn stock_level(shape: StockLevel) -> String {
    let (cursor, count) = match shape {
        StockLevel::Join => ("", include_str!("mysql/stock_level_join.sql")),
        StockLevel::Loop => (
            include_str!("mysql/stock_level_cursor.sql"),
            include_str!("mysql/stock_level_loop.sql"),
        ),
    };
    fill(
        include_str!("mysql/stock_level.sql"),
        &[("{cursor}", cursor), ("{count}", count)],
    )
}
