//! Reads whole tables back after transactions ran, row by row. A loaded row has what the seed made of it, in
//! all columns that no transaction writes. The rows that transactions added follow from the seed, too, and
//! from what terminals saw committed.

use drivers::{Row, Session, SessionError, Value};
use model::{Dialect, TpccProfile};

use super::findings::{Found, shown};
use super::made::Made;
use super::notes;
use super::seeded::{Seeded, decimal, is_carrier};
use crate::tpcc::conditions::Warehouses;
use crate::tpcc::money;
use crate::tpcc::population::{FIRST_PAYMENT, LOADED_AT, Lookup};
use crate::tpcc::tables::{Kind, Table};
use data::checksum::{Form, RowHash, Sum};
use data::sink::Cells;
use data::statements::primary_hint;

/// Looks through a table, of these warehouses where its rows belong to such.
pub(super) fn compare(
    session: &mut dyn Session,
    seeded: &Seeded,
    table: Table,
    warehouses: Warehouses,
    found: &mut Found,
) -> Result<(), SessionError> {
    let made = Made::prepare(session, seeded, table, warehouses)?;
    let mut reader = Reader::new(seeded, table, warehouses, made);
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
    let condition = match table {
        Table::Item | Table::Warehouse | Table::District => String::new(),
        Table::History
        | Table::Customer
        | Table::NewOrder
        | Table::Orders
        | Table::OrderLine
        | Table::Stock => {
            let warehouse = table.columns()[0].name;
            format!(" WHERE {warehouse} BETWEEN {first} AND {last}")
        }
    };
    format!("SELECT {columns} FROM {}{hint}{condition}", table.name())
}

/// Looks at the rows of a table, one after the other.
struct Reader<'a> {
    seeded: &'a Seeded,
    table: Table,
    loaded: Lookup,
    made: Made<'a>,
    keys: Sum,
    notes: Option<NotesColumns>,
    /// Where `history` says when.
    moment: Option<usize>,
}

/// The columns of a customer that tell what must be known of him.
#[derive(Clone, Copy)]
struct NotesColumns {
    credit: usize,
    count: usize,
    paid: usize,
    data: usize,
}

impl NotesColumns {
    fn of(table: Table) -> Option<Self> {
        Some(Self {
            credit: table.place_of("c_credit")?,
            count: table.place_of("c_payment_cnt")?,
            paid: table.place_of("c_ytd_payment")?,
            data: table.place_of("c_data")?,
        })
    }

    /// What must be known of a customer, where it is something else.
    fn unlike(
        &self,
        seeded: &Seeded,
        row: &dyn Row,
        loaded: &Cells,
        [warehouse, district, number, _]: [u32; 4],
    ) -> Option<(usize, String)> {
        let Seeded { profile, dialect, .. } = *seeded;
        let payments = match profile {
            TpccProfile::Percona => None,
            TpccProfile::Standard => Some((
                row.value(self.count).as_int()? - 1,
                money::cents(row.value(self.paid), dialect)? - FIRST_PAYMENT,
            )),
        };
        let customer = notes::Customer {
            key: [warehouse, district, number],
            is_bad: row.value(self.credit) == Value::Bytes(b"BC"),
            payments,
        };
        let text = loaded.value(self.data).to_text().unwrap_or_default();
        let Value::Bytes(data) = row.value(self.data) else {
            return Some((self.data, text));
        };
        let expected = match (customer.is_bad, payments) {
            (true, Some((count, _))) => format!("notes of {count} payments, then {text}"),
            (true, None) => format!("notes of payments, then {text}"),
            (false, _) => text.clone(),
        };
        (!customer.knows(data, text.as_bytes())).then_some((self.data, expected))
    }
}

impl<'a> Reader<'a> {
    fn new(seeded: &'a Seeded, table: Table, warehouses: Warehouses, made: Made<'a>) -> Self {
        let Warehouses { first, last } = warehouses;
        Self {
            seeded,
            table,
            loaded: Lookup::new(&seeded.population, table, (first, last)),
            made,
            keys: Sum::default(),
            notes: NotesColumns::of(table),
            moment: table.place_of("h_date"),
        }
    }

    fn row(&mut self, row: &dyn Row, found: &mut Found) {
        let key = self.key(row);
        // A customer has one loaded payment, and those of the run.
        let may_be_loaded =
            self.moment.is_none_or(|place| row.value(place) == Value::Bytes(LOADED_AT.as_bytes()));
        if may_be_loaded
            && let Some(key) = key
            && let Some(loaded) = self.loaded.row(key)
        {
            let difference = difference(self.seeded, self.table, row, loaded)
                .or_else(|| self.notes?.unlike(self.seeded, row, loaded, key));
            self.keys.add_row(hash(key));
            if let Some((place, expected)) = difference {
                self.tell(row, place, &expected, found);
            }
            return;
        }
        if let Some((place, expected)) = self.made.unlike(row, found) {
            self.tell(row, place, &expected, found);
        }
    }

    /// The key of a row, filled up with zeros; of `history` its customer.
    fn key(&self, row: &dyn Row) -> Option<[u32; 4]> {
        let mut key = [0; 4];
        for (place, part) in key.iter_mut().enumerate().take(key_columns(self.table)) {
            *part = u32::try_from(row.value(place).as_int()?).ok()?;
        }
        Some(key)
    }

    fn tell(&self, row: &dyn Row, place: usize, expected: &str, found: &mut Found) {
        found.add_text(|| {
            let columns = self.table.columns();
            let key = key_columns(self.table);
            let text = |place: usize| match row.value(place).to_text() {
                Some(text) => cut(&text),
                None => "NULL".to_owned(),
            };
            let places = (0..key).chain((place >= key).then_some(place));
            let values = places.map(|place| (columns[place].name, text(place)));
            shown(values.chain([("expected", cut(expected))]))
        });
    }

    fn end(&self, found: &mut Found) {
        let count = self.loaded.count();
        let are_there = match self.table {
            // Its rows have no key that the server keeps distinct.
            Table::History => {
                let mut expected = Sum::default();
                self.loaded.each_customer(|key| expected.add_row(hash(key)));
                self.keys == expected
            }
            Table::Warehouse
            | Table::District
            | Table::Customer
            | Table::NewOrder
            | Table::Orders
            | Table::OrderLine
            | Table::Item
            | Table::Stock => self.keys.rows == count,
        };
        if !are_there {
            let (name, rows) = (self.table.name(), self.keys.rows);
            found.add_text(|| format!("loaded rows in {name} {rows}, expected {count}, each once"));
        }
    }
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

/// The first column of a row that is not as it was loaded, and what was loaded, of those that no transaction
/// has written.
fn difference(
    seeded: &Seeded,
    table: Table,
    row: &dyn Row,
    loaded: &Cells,
) -> Option<(usize, String)> {
    let columns = table.columns().iter().enumerate();
    let mut unlike = columns.filter(|(place, column)| {
        let (found, loaded) = (row.value(*place), loaded.value(*place));
        let holds = match (loaded, column.kind) {
            // A Delivery has written it since, or not.
            (Value::Null, Kind::Small) => found == Value::Null || is_carrier(found),
            (Value::Null, _) => true,
            (_, kind) => !column.is_kept(seeded.profile) || kind.form().is_same(found, loaded),
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
