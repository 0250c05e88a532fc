//! Reads whole tables back after transactions ran, row by row. A loaded row has what the seed made of it, in
//! all columns that no transaction writes. The rows that transactions added follow from the seed, too, and
//! from what terminals saw committed.

use drivers::{Row, Session, SessionError, Value};
use model::{Dialect, TpccProfile};

use super::findings::{Found, shown};
use super::made::Made;
use super::notes;
use crate::workload::sql::checksum::{Form, RowHash, Sum};
use crate::workload::tpcc::conditions::Warehouses;
use crate::workload::tpcc::money::{self, Digits};
use crate::workload::tpcc::population::{FIRST_PAYMENT, LOADED_AT, Lookup, Pick, Population, Sink};
use crate::workload::tpcc::scale::Scale;
use crate::workload::tpcc::tables::{Column, Kind, Table};

/// What all readers know of the rows.
pub(super) struct Seeded {
    pub(super) scale: Scale,
    pub(super) population: Population,
    pub(super) profile: TpccProfile,
    pub(super) dialect: Dialect,
    /// The price of each item, in cents.
    pub(super) prices: Vec<i64>,
}

impl Seeded {
    pub(super) fn new(
        scale: Scale,
        rows_seed: u64,
        profile: TpccProfile,
        dialect: Dialect,
    ) -> Self {
        let population = Population::new(scale, rows_seed);
        let mut items = Lookup::new(&population, Table::Item, (1, 1));
        let place = Table::Item.place_of("i_price").unwrap_or(0);
        let mut price = Pick::new(place);
        let prices = (1..=scale.items).map(|item| {
            items.put([item, 0, 0, 0], &mut price);
            price.number
        });
        Self {
            prices: prices.collect(),
            scale,
            population,
            profile,
            dialect,
        }
    }
}

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
    let columns = table.column_names().join(",");
    let hint = match (dialect, table.key()) {
        // It has no key.
        (_, []) | (Dialect::Postgres | Dialect::Sqlite, _) => "",
        (Dialect::Mysql, _) => " FORCE INDEX (PRIMARY)",
    };
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
    /// The keys of the loaded rows that were found.
    keys: Sum,
    /// The text of a column, and what was loaded as `c_data`.
    texts: [String; 2],
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
            texts: Default::default(),
            notes: NotesColumns::of(table),
            moment: table.place_of("h_date"),
        }
    }

    fn row(&mut self, row: &dyn Row, found: &mut Found) {
        let key = self.key(row);
        // A customer has one loaded payment, and those of the run.
        let may_be_loaded = self
            .moment
            .is_none_or(|place| row.value(place) == Value::Bytes(LOADED_AT.as_bytes()));
        if may_be_loaded && let Some(key) = key {
            let mut compared = Compared::new(self.seeded, self.table, row, &mut self.texts);
            if self.loaded.put(key, &mut compared) {
                let difference = compared.difference.take();
                self.keys.add_row(hash(key));
                if let Some((place, expected)) = difference {
                    self.tell(row, place, &expected, found);
                } else if let Some(expected) = self.unlike_notes(row, key) {
                    let data = self.notes.map_or(0, |columns| columns.data);
                    self.tell(row, data, &expected, found);
                }
                return;
            }
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

    /// What must be known of a customer, where something else is.
    fn unlike_notes(&self, row: &dyn Row, key: [u32; 4]) -> Option<String> {
        let columns = self.notes?;
        let Seeded {
            profile, dialect, ..
        } = *self.seeded;
        let [warehouse, district, number, _] = key;
        let payments = match profile {
            TpccProfile::Percona => None,
            TpccProfile::Standard => Some((
                row.value(columns.count).as_int()? - 1,
                money::cents(row.value(columns.paid), dialect)? - FIRST_PAYMENT,
            )),
        };
        let customer = notes::Customer {
            key: [warehouse, district, number],
            is_bad: row.value(columns.credit) == Value::Bytes(b"BC"),
            payments,
        };
        let loaded = &self.texts[1];
        let Value::Bytes(data) = row.value(columns.data) else {
            return Some(loaded.clone());
        };
        (!customer.knows(data, loaded.as_bytes())).then(|| match (customer.is_bad, payments) {
            (true, Some((count, _))) => format!("notes of {count} payments, then {loaded}"),
            (true, None) => format!("notes of payments, then {loaded}"),
            (false, _) => loaded.clone(),
        })
    }

    /// A row in which a column is not as expected.
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

    /// Is every loaded row there, once?
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

/// A value without what is too long to be shown.
fn cut(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// How many of the first columns tell which row it is.
fn key_columns(table: Table) -> usize {
    match table.key() {
        [] => OF_CUSTOMER,
        key => key.len(),
    }
}

/// Columns of a customer's key.
const OF_CUSTOMER: usize = 3;

fn hash(key: [u32; 4]) -> u64 {
    let mut hash = RowHash::new();
    for part in key {
        hash.int(Form::Integer, part.into());
    }
    hash.finish()
}

/// Takes the values that were loaded, and compares them with those of a row.
struct Compared<'a> {
    row: &'a dyn Row,
    columns: &'static [Column],
    /// The next column.
    at: usize,
    seeded: &'a Seeded,
    /// The text of a column, and of a column that is not kept.
    texts: &'a mut [String; 2],
    /// The first column that differs, and what was loaded.
    difference: Option<(usize, String)>,
}

impl<'a> Compared<'a> {
    fn new(seeded: &'a Seeded, table: Table, row: &'a dyn Row, texts: &'a mut [String; 2]) -> Self {
        Self {
            row,
            columns: table.columns(),
            at: 0,
            seeded,
            texts,
            difference: None,
        }
    }

    /// Goes to the next column: its place, its value, and whether it is kept.
    fn next(&mut self) -> (usize, Value<'a>, bool) {
        let place = self.at;
        self.at += 1;
        let is_kept = self.columns[place].is_kept(self.seeded.profile);
        (place, self.row.value(place), is_kept)
    }

    fn unless(&mut self, holds: bool, place: usize, loaded: impl FnOnce() -> String) {
        if !holds && self.difference.is_none() {
            self.difference = Some((place, loaded()));
        }
    }

    fn units(&mut self, units: i64, digits: Digits, read: fn(Value<'_>, Dialect) -> Option<i64>) {
        let (place, value, is_kept) = self.next();
        let dialect = self.seeded.dialect;
        let holds = !is_kept || read(value, dialect) == Some(units);
        self.unless(holds, place, || decimal(dialect, units, digits));
    }
}

impl Sink for Compared<'_> {
    fn int(&mut self, loaded: i64) {
        let (place, value, is_kept) = self.next();
        let holds = !is_kept || value.as_int() == Some(loaded);
        self.unless(holds, place, || loaded.to_string());
    }

    fn cents(&mut self, cents: i64) {
        self.units(cents, Digits::cents(cents), money::cents);
    }

    fn rate(&mut self, ten_thousandths: i64) {
        self.units(ten_thousandths, Digits::rate(ten_thousandths), money::rate);
    }

    fn text(&mut self, write: impl FnOnce(&mut String)) {
        let (place, value, is_kept) = self.next();
        let text = &mut self.texts[usize::from(!is_kept)];
        text.clear();
        write(text);
        let holds = !is_kept || is_text(value, text, self.columns[place].kind);
        if !holds && self.difference.is_none() {
            self.difference = Some((place, text.clone()));
        }
    }

    fn time(&mut self, time: &str) {
        self.text(|out| out.push_str(time));
    }

    fn null(&mut self) {
        let (place, value, _) = self.next();
        let holds = match (value, self.columns[place].kind) {
            (Value::Null, _) => true,
            (value, Kind::Small) => is_carrier(value),
            // When it was delivered.
            (_, _) => true,
        };
        self.unless(holds, place, || "1 to 10, or NULL".to_owned());
    }

    fn end_row(&mut self) {}
}

/// Is a value the number of a carrier?
pub(super) fn is_carrier(value: Value<'_>) -> bool {
    value
        .as_int()
        .is_some_and(|number| (1..=10).contains(&number))
}

/// Is a value this text? Servers fill a CHAR up with blanks or not.
pub(super) fn is_text(value: Value<'_>, text: &str, kind: Kind) -> bool {
    let Value::Bytes(found) = value else {
        return false;
    };
    match kind {
        Kind::Char(_) => found.trim_ascii_end() == text.as_bytes(),
        Kind::Small
        | Kind::Int
        | Kind::Money(_)
        | Kind::Rate
        | Kind::Varchar(_)
        | Kind::Name(_)
        | Kind::Time => found == text.as_bytes(),
    }
}

/// A decimal number as the server shows it.
pub(super) fn decimal(dialect: Dialect, units: i64, digits: Digits) -> String {
    match dialect {
        Dialect::Mysql | Dialect::Postgres => digits.as_str().to_owned(),
        Dialect::Sqlite => units.to_string(),
    }
}
