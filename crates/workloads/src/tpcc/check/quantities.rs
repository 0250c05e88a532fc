//! Stock is what was loaded, less what was ordered, plus a multiple of ninety-one. No query can tell, because
//! what was loaded is nowhere but in the seed; and nothing else notices that an order has overwritten what
//! another one had left.

use drivers::{Session, SessionError};

use super::findings::{Found, shown};
use crate::tpcc::population::Population;

/// How much a New-Order adds where little would be left.
const REFILL: i64 = 91;

/// Reads the stock of a warehouse, which `population` loaded.
pub(super) fn compare(
    session: &mut dyn Session,
    population: &Population,
    warehouse: u32,
    found: &mut Found,
) -> Result<(), SessionError> {
    let sql = format!("SELECT s_i_id, s_quantity, s_ytd FROM stock WHERE s_w_id = {warehouse}");
    session.query(&sql, &mut |row| {
        let [item, quantity, sold] = [0, 1, 2].map(|column| row.value(column).as_int());
        let loaded = item.and_then(|item| u32::try_from(item).ok());
        let loaded = loaded.map(|item| i64::from(population.stock_quantity(warehouse, item)));
        if !holds(loaded, quantity, sold) {
            found.add_text(|| {
                let values = [
                    ("s_w_id", Some(warehouse.into())),
                    ("s_i_id", item),
                    ("s_quantity", quantity),
                    ("s_ytd", sold),
                    ("loaded", loaded),
                ];
                let text =
                    |value: Option<i64>| value.map_or_else(|| "?".to_owned(), |v| v.to_string());
                shown(values.into_iter().map(|(column, value)| (column, text(value))))
            });
        }
    })?;
    Ok(())
}

fn holds(loaded: Option<i64>, quantity: Option<i64>, sold: Option<i64>) -> bool {
    match (loaded, quantity, sold) {
        (Some(loaded), Some(quantity), Some(sold)) => (loaded - sold - quantity) % REFILL == 0,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refills_are_of_ninety_one() {
        let holds = |loaded, quantity, sold| holds(Some(loaded), Some(quantity), Some(sold));
        assert!(holds(50, 50, 0));
        assert!(holds(50, 43, 7));
        assert!(holds(12, 93, 10));
        assert!(holds(12, 95, 190));
        assert!(!holds(50, 44, 7));
        assert!(!holds(50, 41, 7));
        assert!(!super::holds(None, Some(1), Some(1)));
    }
}
