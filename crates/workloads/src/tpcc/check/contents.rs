//! Reads whole tables back after transactions ran, row by row. A loaded row has what the seed made of it, in
//! all columns that no transaction writes. The rows that transactions added follow from the seed, too, and
//! from what terminals saw committed.

use drivers::{Result, Row, Session, Value};
use model::Dialect;

use super::findings::{Found, Unlike, shown};
use super::made::{Made, Seeded, View, decimal, is_carrier};
use super::notes;
use crate::tpcc::conditions::Warehouses;
use crate::tpcc::population::{LOADED_AT, Lookup, Population};
use crate::tpcc::tables::{Kind, Table};
use data::statements::primary_hint;
use data::{Cells, Form, RowHash, Sum};

/// Looks through a table, of these warehouses where its rows belong to such.
pub(super) fn compare(
    session: &mut dyn Session,
    seeded: &Seeded,
    table: Table,
    warehouses: Warehouses,
    found: &mut Found,
) -> Result {
    let mut reader = Reader {
        seeded,
        table,
        loaded: Lookup::new(&seeded.population, table, (warehouses.first, warehouses.last)),
        made: Made::prepare(session, seeded, table, warehouses)?,
        keys: Sum::default(),
        notes: (table == Table::Customer).then(|| table.places(notes::COLUMNS)),
        moment: table.place_of("h_date"),
    };
    let sql = query(table, seeded.dialect, warehouses);
    session.query(&sql, &mut |row| reader.row(row, found))?;
    reader.end(found);
    Ok(())
}

fn query(table: Table, dialect: Dialect, warehouses: Warehouses) -> String {
    let columns = table.columns().iter().map(|column| column.name);
    let columns = columns.collect::<Vec<_>>().join(",");
    // `history` has no key.
    let hint = if table.key().is_empty() { "" } else { primary_hint(dialect) };
    let Warehouses { first, last } = warehouses;
    let condition = if table.groups() == 0 {
        String::new()
    } else {
        format!(" WHERE {} BETWEEN {first} AND {last}", table.columns()[0].name)
    };
    format!("SELECT {columns} FROM {}{hint}{condition}", table.name())
}

struct Reader<'a> {
    seeded: &'a Seeded,
    table: Table,
    loaded: Lookup,
    made: Made,
    keys: Sum,
    /// Where customers have what is known of them.
    notes: Option<[usize; 4]>,
    /// Where `history` says when.
    moment: Option<usize>,
}

impl Reader<'_> {
    fn row(&mut self, row: &dyn Row, found: &mut Found) {
        let (seeded, table) = (self.seeded, self.table);
        // A customer has one loaded payment, and those of the run.
        let may_be_loaded =
            self.moment.is_none_or(|place| row.value(place) == Value::Bytes(LOADED_AT.as_bytes()));
        let unlike = if may_be_loaded
            && let Some(key) = key(table, row)
            && let Some(loaded) = self.loaded.row(key)
        {
            self.keys.add_row(hash(key));
            difference(seeded, table, row, loaded)
                .or_else(|| notes::unlike(seeded, self.notes?, row, loaded, key))
        } else {
            self.made.unlike(&View { seeded, table, row }, found)
        };
        if let Some((place, expected)) = unlike {
            found.add_text(|| told(table, row, place, &expected));
        }
    }

    fn end(&self, found: &mut Found) {
        let count = self.loaded.count();
        let are_there = if self.table == Table::History {
            // Its rows have no key that the server keeps distinct.
            let mut expected = Sum::default();
            self.loaded.each_customer(|key| expected.add_row(hash(key)));
            self.keys == expected
        } else {
            self.keys.rows == count
        };
        if !are_there {
            let (name, rows) = (self.table.name(), self.keys.rows);
            found.add_text(|| format!("loaded rows in {name} {rows}, expected {count}, each once"));
        }
    }
}

/// The key of a row, filled up with zeros; of `history` its customer.
fn key(table: Table, row: &dyn Row) -> Option<[u32; 4]> {
    let mut key = [0; 4];
    for (place, part) in key.iter_mut().enumerate().take(key_columns(table)) {
        *part = u32::try_from(row.value(place).as_int()?).ok()?;
    }
    Some(key)
}

/// The key of a row, and what it has at a place where something else was expected.
fn told(table: Table, row: &dyn Row, place: usize, expected: &str) -> String {
    let (columns, key) = (table.columns(), key_columns(table));
    let places = (0..key).chain((place >= key).then_some(place));
    let values = places.map(|place| {
        let text = row.value(place).to_text();
        (columns[place].name, text.map_or_else(|| "NULL".to_owned(), |text| cut(&text)))
    });
    shown(values.chain([("expected", cut(expected))]))
}

/// Characters of a value that are shown: `c_data` has 500.
const SHOWN: usize = 60;

fn cut(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn key_columns(table: Table) -> usize {
    match table.key() {
        [] => OF_CUSTOMER,
        key => key.len(),
    }
}

/// Columns of a customer's key.
const OF_CUSTOMER: usize = 3;

fn hash(key: [u32; 4]) -> u64 {
    let mut hash = RowHash::default();
    for part in key {
        hash.int(Form::Integer, part.into());
    }
    hash.finish()
}

/// The first column that differs from what was loaded, among those that no transaction has written.
fn difference(seeded: &Seeded, table: Table, row: &dyn Row, loaded: &Cells) -> Option<Unlike> {
    let columns = table.columns().iter().enumerate();
    let mut unlike = columns.filter(|(place, column)| {
        let (found, loaded) = (row.value(*place), loaded.value(*place));
        let holds = match (loaded, column.kind) {
            // A Delivery has written it since, or not.
            (Value::Null, Kind::Small) => found == Value::Null || is_carrier(found),
            (Value::Null, _) => true,
            (_, kind) => {
                column.written_by.contains(&seeded.profile) || kind.form().is_same(found, loaded)
            }
        };
        !holds
    });
    let (place, column) = unlike.next()?;
    let expected = match (loaded.value(place), column.kind.form()) {
        (Value::Null, _) => "1 to 10, or NULL".to_owned(),
        (Value::Int(units), Form::Units(decimals)) => {
            decimal(seeded.dialect, units, decimals.into())
        }
        (value, _) => value.to_text().unwrap_or_default(),
    };
    Some((place, expected))
}

/// How much a New-Order adds where little would be left.
const REFILL: i64 = 91;

/// Reads the stock of a warehouse: it is what was loaded, less what was ordered, plus a multiple of ninety-one. No query
/// can tell, because only the seed knows what was loaded; nothing else notices a lost update of an order.
pub(super) fn compare_quantities(
    session: &mut dyn Session,
    population: &Population,
    warehouse: u32,
    found: &mut Found,
) -> Result {
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
                let text = |value: Option<i64>| value.map_or("?".to_owned(), |v| v.to_string());
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
