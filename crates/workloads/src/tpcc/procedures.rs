//! Transactions as stored procedures: one call for each, whatever its number of statements.
//!
//! The lines of an order are passed as one text of numbers that have a fixed width, which the oldest servers
//! can take apart too. What must be there and is not, a procedure says with an error of its own; nothing of
//! such a transaction stays.

mod answer;
mod lines;
mod runner;
#[cfg(test)]
mod tests;
mod texts;

use drivers::{ParamType, SessionError};
use model::{Dialect, TpccSpec, TpccTransaction};

pub(super) use self::runner::ProcedureRunner;
use self::texts::{MYSQL, MYSQL_PARTS, POSTGRES, fill};
use super::money;

/// The statements that make all procedures, in place of older ones; none where a dialect has none.
pub(super) fn create(spec: &TpccSpec, dialect: Dialect) -> Vec<String> {
    match dialect {
        Dialect::Mysql => {
            let procedures = TpccTransaction::ALL.into_iter().zip(MYSQL.all(spec));
            let statements = procedures.flat_map(|(transaction, text)| {
                let drop = format!("DROP PROCEDURE IF EXISTS {}", procedure(transaction));
                [drop, fill(&text, &MYSQL_PARTS)]
            });
            statements.collect()
        }
        Dialect::Postgres => POSTGRES.all(spec).to_vec(),
        Dialect::Sqlite => Vec::new(),
    }
}

/// The procedure of a transaction.
const fn procedure(transaction: TpccTransaction) -> &'static str {
    match transaction {
        TpccTransaction::NewOrder => "tpcc_new_order",
        TpccTransaction::Payment => "tpcc_payment",
        TpccTransaction::OrderStatus => "tpcc_order_status",
        TpccTransaction::Delivery => "tpcc_delivery",
        TpccTransaction::StockLevel => "tpcc_stock_level",
    }
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

/// The statement that calls it with parameters of these types.
fn call(
    transaction: TpccTransaction,
    types: &[ParamType],
    dialect: Dialect,
) -> Result<String, SessionError> {
    let name = procedure(transaction);
    match dialect {
        Dialect::Mysql => Ok(format!("CALL {name}({})", vec!["?"; types.len()].join(", "))),
        Dialect::Postgres => {
            let types = types.iter().enumerate();
            let params: Vec<String> = types
                .map(|(place, kind)| match kind {
                    ParamType::Int => format!("${}::INT", place + 1),
                    ParamType::Text | ParamType::DateTime | ParamType::Decimal => {
                        format!("${}", place + 1)
                    }
                })
                .collect();
            Ok(format!("SELECT * FROM {name}({})", params.join(", ")))
        }
        Dialect::Sqlite => Err(SessionError::Protocol {
            what: "SQLite has no stored procedures; send statements".to_owned(),
        }),
    }
}
