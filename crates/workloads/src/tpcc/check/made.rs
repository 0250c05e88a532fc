//! The rows that transactions added. What they hold follows from the seed and from each other: the amount of
//! a line from its quantity and the price of its item, its text from the stock row, the text of a payment
//! from the names of warehouse and district. The rest is added up, to be held against what terminals saw.

use std::collections::HashMap;

use drivers::{Result, Row, Session, Value};
use model::{DISTRICTS, Dialect, TpccProfile};

use super::findings::{Found, Unlike};
use crate::tpcc::conditions::Warehouses;
use crate::tpcc::loading::Setting;
use crate::tpcc::money::{self, OF_CENTS, Terms};
use crate::tpcc::population::{Lookup, Population};
use crate::tpcc::scale::Scale;
use crate::tpcc::tables::Table;
use data::Digits;

/// What a Payment takes, in cents.
const PAYMENT: std::ops::RangeInclusive<i64> = 100..=500_000;

/// What is known of the rows from the seed.
pub(super) struct Seeded {
    pub(super) scale: Scale,
    pub(super) population: Population,
    pub(super) profile: TpccProfile,
    pub(super) dialect: Dialect,
    /// The price of each item, in cents.
    pub(super) prices: Vec<i64>,
}

impl Seeded {
    pub(super) fn new(at: &Setting<'_>) -> Self {
        let (scale, population) = (Scale::of(at.spec), at.population());
        let mut items = Lookup::new(&population, Table::Item, (1, 1));
        let [place] = Table::Item.places(["i_price"]);
        let prices = (1..=scale.items).map(|item| items.number([item, 0, 0, 0], place)).collect();
        let (profile, dialect) = (at.spec.profile, at.target.dialect);
        Self { scale, population, profile, dialect, prices }
    }
}

pub(super) fn is_carrier(value: Value<'_>) -> bool {
    value.as_int().is_some_and(|number| (1..=10).contains(&number))
}

/// Units of a decimal number as the server shows them.
pub(super) fn decimal(dialect: Dialect, units: i64, decimals: usize) -> String {
    match dialect {
        Dialect::Mysql | Dialect::Postgres => Digits::of(units, decimals).as_str().to_owned(),
        Dialect::Sqlite => units.to_string(),
    }
}

/// What the added rows of one table must hold.
pub(super) enum Made {
    None,
    Orders,
    Lines {
        stock: Lookup,
        /// Taxes and discount of each order, where they are in the amount of a line.
        terms: Option<HashMap<[u32; 3], Terms>>,
    },
    /// The text of a payment, by the number of its district from the first of all.
    Payments(Vec<String>),
}

impl Made {
    pub(super) fn prepare(
        session: &mut dyn Session,
        seeded: &Seeded,
        table: Table,
        warehouses: Warehouses,
    ) -> Result<Self> {
        Ok(match table {
            Table::Warehouse
            | Table::District
            | Table::Customer
            | Table::NewOrder
            | Table::Item
            | Table::Stock => Self::None,
            Table::Orders => Self::Orders,
            Table::History => Self::Payments(payment_texts(seeded)),
            Table::OrderLine => {
                let all = (1, seeded.scale.warehouses);
                Self::Lines {
                    stock: Lookup::new(&seeded.population, Table::Stock, all),
                    terms: match seeded.profile {
                        TpccProfile::Standard => None,
                        TpccProfile::Percona => Some(terms(session, seeded, warehouses)?),
                    },
                }
            }
        })
    }

    /// Looks at a row that is no loaded one, and counts it where a transaction can have added it.
    pub(super) fn unlike(&mut self, view: &View<'_>, found: &mut Found) -> Option<Unlike> {
        let looked = match self {
            Self::None => Err(no_such_row()),
            Self::Orders => order(view, found),
            Self::Lines { stock, terms } => line(view, stock, terms.as_ref(), found),
            Self::Payments(texts) => payment(view, texts, found),
        };
        looked.err()
    }
}

fn no_such_row() -> Unlike {
    (0, "no such row".to_owned())
}

pub(super) struct View<'a> {
    pub(super) seeded: &'a Seeded,
    pub(super) table: Table,
    pub(super) row: &'a dyn Row,
}

impl View<'_> {
    fn number(&self, place: usize, low: u32, high: u32) -> Result<u32, Unlike> {
        let number = self.row.value(place).as_int();
        let number = number.and_then(|number| u32::try_from(number).ok());
        let number = number.filter(|number| (low..=high).contains(number));
        number.ok_or_else(|| (place, format!("{low} to {high}")))
    }

    /// The warehouse and district in the first two columns, and the number of an order of the run.
    fn order(&self) -> Result<[u32; 3], Unlike> {
        let scale = self.seeded.scale;
        let key = || {
            let warehouse = self.number(0, 1, scale.warehouses)?;
            let district = self.number(1, 1, DISTRICTS)?;
            Ok([warehouse, district, self.number(2, scale.customers + 1, u32::MAX)?])
        };
        key().map_err(|_: Unlike| no_such_row())
    }

    fn text(&self, place: usize, expected: &[u8]) -> Result<(), Unlike> {
        let form = self.table.columns()[place].kind.form();
        let holds = form.is_same(self.row.value(place), Value::Bytes(expected));
        holds.then_some(()).ok_or_else(|| (place, String::from_utf8_lossy(expected).into_owned()))
    }

    fn cents(&self, place: usize) -> Option<i64> {
        money::cents(self.row.value(place), self.seeded.dialect)
    }
}

fn order(view: &View<'_>, found: &mut Found) -> Result<(), Unlike> {
    let [warehouse, district, order] = view.order()?;
    let customer = view.number(3, 1, view.seeded.scale.customers)?;
    let carrier = view.row.value(5);
    if carrier != Value::Null && !is_carrier(carrier) {
        return Err((5, "1 to 10, or NULL".to_owned()));
    }
    let (lines, is_local) = (view.number(6, 5, 15)?, view.number(7, 0, 1)?);
    found.added.order([warehouse, district, order, customer, lines, is_local]);
    Ok(())
}

fn line(
    view: &View<'_>,
    stock: &mut Lookup,
    terms: Option<&HashMap<[u32; 3], Terms>>,
    found: &mut Found,
) -> Result<(), Unlike> {
    let Seeded { scale, profile, dialect, prices, .. } = view.seeded;
    let key = view.order()?;
    let [warehouse, district, order] = key;
    let (number, item) = (view.number(3, 1, 15)?, view.number(4, 1, scale.items)?);
    let (supply, quantity) = (view.number(5, 1, scale.warehouses)?, view.number(7, 1, 10)?);
    let terms = match terms {
        None => Terms::default(),
        Some(terms) => *terms.get(&key).ok_or_else(no_such_row)?,
    };
    let price = prices.get(item as usize - 1).copied().unwrap_or(0);
    let amount = money::line(*profile, quantity.into(), price, &terms);
    if view.cents(8) != Some(amount) {
        return Err((8, decimal(*dialect, amount, OF_CENTS)));
    }
    let column = STOCK_TEXTS + district as usize - 1;
    view.text(9, stock.text([supply, item, 0, 0], column))?;
    found.added.line([warehouse, district, order, number, item, supply, quantity]);
    Ok(())
}

/// Where the texts for the districts begin among the columns of `stock`.
const STOCK_TEXTS: usize = 3;

fn payment(view: &View<'_>, texts: &[String], found: &mut Found) -> Result<(), Unlike> {
    let scale = view.seeded.scale;
    let (of_warehouse, of_district) =
        (view.number(0, 1, scale.warehouses)?, view.number(1, 1, DISTRICTS)?);
    let customer = view.number(2, 1, scale.customers)?;
    let (warehouse, district) =
        (view.number(3, 1, scale.warehouses)?, view.number(4, 1, DISTRICTS)?);
    let cents = view.cents(6).filter(|cents| PAYMENT.contains(cents));
    let cents = cents.ok_or_else(|| (6, "1.00 to 5000.00".to_owned()))?;
    let place = (warehouse - 1) * DISTRICTS + district - 1;
    view.text(7, texts.get(place as usize).map_or(&[], String::as_bytes))?;
    found.added.paid([warehouse, district, of_warehouse, of_district, customer], cents);
    Ok(())
}

/// The text of a payment in each district: the names of its warehouse and its own.
fn payment_texts(seeded: &Seeded) -> Vec<String> {
    let warehouses = seeded.scale.warehouses;
    let all = (1, warehouses);
    let mut warehouse_rows = Lookup::new(&seeded.population, Table::Warehouse, all);
    let mut district_rows = Lookup::new(&seeded.population, Table::District, all);
    let mut texts = Vec::new();
    for warehouse in 1..=warehouses {
        let name = warehouse_rows.text([warehouse, 0, 0, 0], 1);
        for district in 1..=DISTRICTS {
            let own = district_rows.text([warehouse, district, 0, 0], 2);
            texts.push([name, b"    ", own].map(String::from_utf8_lossy).concat());
        }
    }
    texts
}

fn terms(
    session: &mut dyn Session,
    seeded: &Seeded,
    warehouses: Warehouses,
) -> Result<HashMap<[u32; 3], Terms>> {
    let Warehouses { first, last } = warehouses;
    let columns =
        [(Table::Warehouse, "w_tax"), (Table::District, "d_tax"), (Table::Customer, "c_discount")];
    let mut columns = columns.map(|(table, column)| {
        (Lookup::new(&seeded.population, table, (first, last)), table.places([column])[0])
    });
    let loaded = seeded.scale.customers;
    let sql = format!(
        "SELECT o_w_id, o_d_id, o_id, o_c_id FROM orders \
         WHERE o_w_id BETWEEN {first} AND {last} AND o_id > {loaded}"
    );
    let mut terms = HashMap::new();
    session.query(&sql, &mut |row| {
        let number = |place| row.value(place).as_int().and_then(|n| u32::try_from(n).ok());
        let mut read = || {
            let (warehouse, district, order) = (number(0)?, number(1)?, number(2)?);
            let key = [warehouse, district, number(3)?, 0];
            let [warehouse_tax, district_tax, discount] =
                columns.each_mut().map(|(rows, place)| rows.row(key)?.value(*place).as_int());
            let (warehouse_tax, district_tax, discount) =
                (warehouse_tax?, district_tax?, discount?);
            Some(([warehouse, district, order], Terms { warehouse_tax, district_tax, discount }))
        };
        terms.extend(read());
    })?;
    Ok(terms)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tpcc::tables::Kind;

    /// The places of columns are numbers here.
    #[test]
    fn columns_are_where_they_are_looked_for() {
        let place = |table: Table, column| table.place_of(column).unwrap();
        let orders = ["o_c_id", "o_carrier_id", "o_ol_cnt", "o_all_local"];
        assert_eq!(orders.map(|c| place(Table::Orders, c)), [3, 5, 6, 7]);
        let lines =
            ["ol_number", "ol_i_id", "ol_supply_w_id", "ol_quantity", "ol_amount", "ol_dist_info"];
        assert_eq!(lines.map(|c| place(Table::OrderLine, c)), [3, 4, 5, 7, 8, 9]);
        let payments = ["h_w_id", "h_d_id", "h_amount", "h_data"];
        assert_eq!(payments.map(|c| place(Table::History, c)), [3, 4, 6, 7]);
        assert_eq!(place(Table::Stock, "s_dist_01"), STOCK_TEXTS);
        assert_eq!(place(Table::Warehouse, "w_name"), 1);
        assert_eq!(place(Table::District, "d_name"), 2);
        assert_eq!(
            Table::OrderLine.columns()[9].kind,
            Kind::Char(24),
            "a CHAR is compared without blanks"
        );
    }
}
