//! The orders and payments that a database holds.

use std::collections::HashMap;

use drivers::{Row as Answer, SessionError};
use model::Dialect;

use super::super::money;
use crate::tpcc::outcome::Committed;
use load::{StepError, Target};

const ORDERS: &str = "SELECT o_w_id, o_d_id, o_id FROM orders";
const PAYMENTS: &str = "SELECT h_w_id, h_d_id, h_c_w_id, h_c_d_id, h_c_id, h_amount FROM history";

/// Reads a row of an answer.
type Read = fn(&dyn Answer, Dialect) -> Option<Committed>;

/// All orders and payments of a database at one moment, each with how often it is there. It takes some
/// hundred bytes of memory for each.
#[derive(Debug, Default)]
pub struct Present(pub(super) HashMap<Committed, u32>);

impl Present {
    pub fn read(target: &Target) -> Result<Self, StepError> {
        let mut rows = HashMap::new();
        each(target, &mut |row| *rows.entry(row).or_insert(0) += 1)?;
        Ok(Self(rows))
    }
}

pub(super) fn each(target: &Target, see: &mut dyn FnMut(Committed)) -> Result<(), StepError> {
    let dialect = target.dialect;
    let failed = |source: SessionError| StepError::Session {
        client: "reading orders and payments".to_owned(),
        source,
    };
    let tables: [(&str, Read); 2] = [(ORDERS, order), (PAYMENTS, payment)];
    let mut session = target.patient.connect().map_err(failed)?;
    for (sql, read) in tables {
        let mut wrong = None;
        let mut look = |answer: &dyn Answer| match read(answer, dialect) {
            Some(row) => see(row),
            None => wrong = Some(text(answer)),
        };
        session.query(sql, &mut look).map_err(failed)?;
        if let Some(text) = wrong {
            let text = format!("the answer to `{sql}` has a row that cannot be read: {text}");
            return Err(StepError::Load(text));
        }
    }
    Ok(())
}

fn order(answer: &dyn Answer, _: Dialect) -> Option<Committed> {
    Some(Committed::Order {
        warehouse: number(answer, 0)?,
        district: number(answer, 1)?,
        order: number(answer, 2)?,
    })
}

fn payment(answer: &dyn Answer, dialect: Dialect) -> Option<Committed> {
    Some(Committed::Payment {
        warehouse: number(answer, 0)?,
        district: number(answer, 1)?,
        customer: (number(answer, 2)?, number(answer, 3)?, number(answer, 4)?),
        cents: money::cents(answer.value(5), dialect)?,
    })
}

fn number(answer: &dyn Answer, column: usize) -> Option<u32> {
    answer.value(column).as_int()?.try_into().ok()
}

fn text(answer: &dyn Answer) -> String {
    let values = (0..answer.len()).map(|column| answer.value(column).to_text());
    let values: Vec<String> =
        values.map(|value| value.unwrap_or_else(|| "NULL".to_owned())).collect();
    values.join(", ")
}
