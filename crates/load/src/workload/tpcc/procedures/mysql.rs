//! The procedures in the words of MySQL 5.6, MariaDB 10.1 and everything after them.
//!
//! A handler rolls back whatever ends in an error and passes the error on, so that no transaction is left
//! open. What must be there and is not is signalled, which ends in the same handler. Where a SELECT finds
//! nothing, its variables keep the NULL that they had.

use model::{PaymentOrder, StockLevel, TpccProfile, TpccSpec};

use super::fill;

/// As text is in the tables: a variable in another character set would make the server convert the column,
/// and no index serves that.
const LATIN: &str = "CHARACTER SET latin1 COLLATE latin1_bin";

/// Ends what failed.
const HANDLER: &str = "DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK; RESIGNAL; END;";

/// Who is meant by a number, or by a last name.
const FIND_CUSTOMER: &str = include_str!("mysql/find_customer.sql");

/// One statement that makes each procedure, after one that removes an older one.
pub(super) fn create(spec: &TpccSpec) -> Vec<String> {
    let procedures = [
        ("tpcc_new_order", new_order(spec.profile)),
        ("tpcc_payment", payment(spec.profile, spec.payment_order)),
        ("tpcc_order_status", order_status()),
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

fn payment(profile: TpccProfile, order: PaymentOrder) -> String {
    let counted = match profile {
        TpccProfile::Standard => {
            ", c_ytd_payment = c_ytd_payment + p_amount, c_payment_cnt = c_payment_cnt + 1"
        }
        TpccProfile::Percona => "",
    };
    let (warehouse, district, customer) = (
        include_str!("mysql/payment_warehouse.sql"),
        include_str!("mysql/payment_district.sql"),
        include_str!("mysql/payment_customer.sql"),
    );
    let work = match order {
        PaymentOrder::Warehouse => [warehouse, district, customer],
        PaymentOrder::District => [district, customer, warehouse],
    };
    fill(
        include_str!("mysql/payment.sql"),
        &[
            ("{work}", &work.concat()),
            ("{find customer}", FIND_CUSTOMER),
            ("{counted}", counted),
        ],
    )
}

fn order_status() -> String {
    fill(
        include_str!("mysql/order_status.sql"),
        &[
            ("{find customer}", FIND_CUSTOMER),
            // The customer is one of the terminal's own warehouse.
            ("p_c_w", "p_w"),
            ("p_c_d", "p_d"),
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
