//! Transactions as stored procedures: one call for each, whatever its number of statements.
//!
//! The lines of an order are passed as one text of numbers that have a fixed width, which the oldest servers
//! can take apart too. What must be there and is not, a procedure says with an error of its own; nothing of
//! such a transaction stays.
//!
//! MySQL 5.6, MariaDB 10.1 and everything after them: a handler rolls back whatever ends in an error and passes
//! the error on, so that no transaction is left open. What must be there and is not is signalled, which ends in
//! the same handler. Where a SELECT finds nothing, its variables keep the NULL that they had.
//!
//! PostgreSQL 9.6 and everything after it: a function is one statement and so a transaction of its own, which
//! an exception rolls back. It cannot end one: a New-Order that is rolled back on purpose tells so, and who
//! called it does that. Parameters come as 64-bit integers; those of a function are the tables' own, so calls
//! convert them.

mod runner;
#[cfg(test)]
mod tests;

use drivers::{ParamType, Result, SessionError};
use model::{Dialect, PaymentOrder, StockLevel, TpccProfile, TpccSpec, TpccTransaction};

pub(super) use self::runner::ProcedureRunner;
use super::money;

/// The statements that make all procedures, in place of older ones; none where a dialect has none.
pub(super) fn create(spec: &TpccSpec, dialect: Dialect) -> Vec<String> {
    match dialect {
        Dialect::Mysql => {
            let procedures = TpccTransaction::ALL.into_iter().zip(texts(spec, true));
            let statements = procedures.flat_map(|(transaction, text)| {
                [format!("DROP PROCEDURE IF EXISTS {}", procedure(transaction)), text]
            });
            statements.collect()
        }
        Dialect::Postgres => texts(spec, false).to_vec(),
        Dialect::Sqlite => Vec::new(),
    }
}

/// The text of this name, as MySQL or PostgreSQL has it.
macro_rules! text {
    ($is_mysql:expr, $name:literal) => {
        if $is_mysql {
            include_str!(concat!("procedures/mysql/", $name, ".sql"))
        } else {
            include_str!(concat!("procedures/postgres/", $name, ".sql"))
        }
    };
}

/// The statements that make the procedures, in the order of [`TpccTransaction::ALL`].
fn texts(spec: &TpccSpec, is_mysql: bool) -> [String; 5] {
    let [warehouse, district, customer] = [
        text!(is_mysql, "payment_warehouse"),
        text!(is_mysql, "payment_district"),
        text!(is_mysql, "payment_customer"),
    ];
    let work = match spec.payment_order {
        PaymentOrder::Warehouse => [warehouse, district, customer],
        PaymentOrder::District => [district, customer, warehouse],
    };
    let (cursor, count) = match spec.stock_level {
        StockLevel::Join => ("", text!(is_mysql, "stock_level_join")),
        StockLevel::Loop if is_mysql => (
            include_str!("procedures/mysql/stock_level_cursor.sql"),
            text!(true, "stock_level_loop"),
        ),
        StockLevel::Loop => ("", text!(false, "stock_level_loop")),
    };
    let (amount, total, counted, payment_counted) = match spec.profile {
        TpccProfile::Standard => (
            "v_ordered * v_price",
            "{v}_total * {factor}",
            ", s_ytd = s_ytd + v_ordered, s_order_cnt = s_order_cnt + 1, \
             s_remote_cnt = s_remote_cnt + CASE WHEN v_supply <> p_w THEN 1 ELSE 0 END",
            ", c_ytd_payment = c_ytd_payment + p_amount, c_payment_cnt = c_payment_cnt + 1",
        ),
        TpccProfile::Percona => ("ROUND(v_ordered * v_price * {factor}, 2)", "{v}_total", "", ""),
    };
    // One after the other: what one brings in, a later one may replace.
    let parts = [
        ("{work}", &*work.concat()),
        ("{find customer}", text!(is_mysql, "find_customer")),
        ("{cursor}", cursor),
        ("{count}", count),
        ("{amount}", amount),
        ("{total}", total),
        ("{counted}", counted),
        ("{payment counted}", payment_counted),
        ("{factor}", "(1 + {v}_w_tax + {v}_d_tax) * (1 - {v}_discount)"),
        // What the names of variables that hold taxes, discount and total begin with.
        ("{v}", if is_mysql { "v" } else { "r" }),
        // With another character set in a variable the server would convert the column and use no index.
        ("{latin}", "CHARACTER SET latin1 COLLATE latin1_bin"),
        ("{handler}", "DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK; RESIGNAL; END;"),
    ];
    let fill = |text: &str| {
        parts.iter().fold(text.to_owned(), |text, (name, part)| text.replace(name, part))
    };
    [
        fill(text!(is_mysql, "new_order")),
        fill(text!(is_mysql, "payment")),
        // The customer is one of the terminal's own warehouse.
        fill(text!(is_mysql, "order_status")).replace("p_c_w", "p_w").replace("p_c_d", "p_d"),
        fill(text!(is_mysql, "delivery")),
        fill(text!(is_mysql, "stock_level")),
    ]
}

fn procedure(transaction: TpccTransaction) -> String {
    format!("tpcc_{}", transaction.name().replace('-', "_"))
}

/// The types of its parameters: numbers, then what is none.
fn types(transaction: TpccTransaction, dialect: Dialect) -> Vec<ParamType> {
    let (numbers, rest): (usize, &[ParamType]) = match transaction {
        TpccTransaction::NewOrder => (6, &[ParamType::Text]),
        TpccTransaction::Payment => (5, &[ParamType::Text, money::param_type(dialect)]),
        TpccTransaction::OrderStatus => (3, &[ParamType::Text]),
        TpccTransaction::Delivery => (4, &[]),
        TpccTransaction::StockLevel => (3, &[]),
    };
    [vec![ParamType::Int; numbers], rest.to_vec()].concat()
}

fn call(transaction: TpccTransaction, types: &[ParamType], dialect: Dialect) -> Result<String> {
    let name = procedure(transaction);
    match dialect {
        Dialect::Mysql => Ok(format!("CALL {name}({})", vec!["?"; types.len()].join(", "))),
        Dialect::Postgres => {
            let params = types.iter().zip(1..).map(|(kind, place)| match kind {
                ParamType::Int => format!("${place}::INT"),
                ParamType::Text | ParamType::DateTime | ParamType::Decimal => format!("${place}"),
            });
            Ok(format!("SELECT * FROM {name}({})", params.collect::<Vec<_>>().join(", ")))
        }
        Dialect::Sqlite => Err(SessionError::Protocol {
            what: "SQLite has no stored procedures; send statements".to_owned(),
        }),
    }
}
