//! One in [`EVERY`] transactions has what it read compared with the seed, after it was committed: the items of
//! a New-Order, and the lines that an Order-Status shows.

use drivers::Row;
use model::TpccProfile;

use super::exchange::text;
use crate::tpcc::input::{MOST_LINES, OrderStatus};
use crate::tpcc::population::{Lookup, Population};
use crate::tpcc::tables::Table;

/// One transaction in this many is compared.
const EVERY: u32 = 64;

/// What a transaction read, where it is compared.
#[derive(Debug, Default)]
pub(super) struct Sample {
    transactions: u32,
    is_on: bool,
    items: Vec<ItemRead>,
    order: u32,
    lines: Vec<LineRead>,
}

#[derive(Debug)]
struct ItemRead {
    item: u32,
    cents: i64,
    name: Vec<u8>,
    data: Vec<u8>,
}

/// A line of an order as Order-Status reads it: item, supplying warehouse, quantity, cents.
type LineRead = [i64; 4];

impl Sample {
    #[inline]
    pub(super) fn begin(&mut self) {
        self.is_on = self.transactions.is_multiple_of(EVERY);
        self.transactions = self.transactions.wrapping_add(1);
        if self.is_on {
            self.items.clear();
            self.lines.clear();
        }
    }

    /// An item was read; its name is in column `name`, its data in the next one.
    #[inline]
    pub(super) fn item(&mut self, item: u32, cents: i64, row: &dyn Row, name: usize) {
        if self.is_on {
            let text = |column| text(row, column).unwrap_or_default().to_vec();
            self.items.push(ItemRead { item, cents, name: text(name), data: text(name + 1) });
        }
    }

    /// A line of an order was read; item, supplying warehouse and quantity are its first columns.
    #[inline]
    pub(super) fn line(&mut self, order: u32, cents: i64, row: &dyn Row) {
        if self.is_on {
            let int = |column: usize| row.value(column).as_int().unwrap_or(i64::MIN);
            self.order = order;
            self.lines.push([int(0), int(1), int(2), cents]);
        }
    }

    #[inline]
    pub(super) fn wrong_item(&self, population: &Population) -> Option<String> {
        self.is_on.then(|| self.look_at_items(population)).flatten()
    }

    /// As [`Sample::wrong_item`], of the lines of an order.
    #[inline]
    pub(super) fn wrong_line(
        &self,
        population: &Population,
        profile: TpccProfile,
        status: &OrderStatus,
    ) -> Option<String> {
        let look = || self.look_at_lines(population, profile, status);
        self.is_on.then(look).flatten()
    }

    #[cold]
    fn look_at_items(&self, population: &Population) -> Option<String> {
        let mut items = Items::new(population);
        self.items.iter().find_map(|read| {
            let (cents, [name, data]) = (items.price(read.item), items.texts(read.item));
            let is_right = read.cents == cents && read.name == name && read.data == data;
            (!is_right).then(|| {
                let [found_name, found_data, name, data] =
                    [&read.name, &read.data, &name, &data].map(|text| String::from_utf8_lossy(text));
                format!(
                    "item {}: price {} cents, name {found_name}, data {found_data}; loaded were {cents}, \
                     {name}, {data}",
                    read.item, read.cents
                )
            })
        })
    }

    #[cold]
    fn look_at_lines(
        &self,
        population: &Population,
        profile: TpccProfile,
        status: &OrderStatus,
    ) -> Option<String> {
        let (warehouse, district) = (status.warehouse, status.district);
        let loaded = loaded_lines(population, [warehouse, district, self.order]);
        let mut items = Items::new(population);
        let mut is_right = |line: &LineRead| {
            let [item, _, quantity, cents] = *line;
            match (loaded.is_empty(), profile) {
                (false, _) => loaded.contains(line),
                (true, TpccProfile::Standard) => {
                    u32::try_from(item).is_ok_and(|item| quantity * items.price(item) == cents)
                }
                // Taxes and a discount are in the amount: it is compared at the end.
                (true, TpccProfile::Percona) => true,
            }
        };
        let wrong = self.lines.iter().find(|line| !is_right(line))?;
        let [item, supply, quantity, cents] = wrong;
        Some(format!(
            "order {} of district {district} of warehouse {warehouse}: a line of {quantity} of item {item} \
             of warehouse {supply} for {cents} cents is not what was entered",
            self.order
        ))
    }
}

/// The lines of an order that was loaded; none of others.
fn loaded_lines(population: &Population, [warehouse, district, order]: [u32; 3]) -> Vec<LineRead> {
    let mut lookup = Lookup::new(population, Table::OrderLine, (warehouse, warehouse));
    let columns = ["ol_i_id", "ol_supply_w_id", "ol_quantity", "ol_amount"];
    let places = columns.map(|column| Table::OrderLine.place_of(column).unwrap_or(0));
    let numbers = 1..=MOST_LINES as u32;
    let lines = numbers.map_while(|number| {
        let row = lookup.row([warehouse, district, order, number])?;
        Some(places.map(|place| row.value(place).as_int().unwrap_or(0)))
    });
    lines.collect()
}

/// The items as they were loaded.
struct Items {
    rows: Lookup,
    /// Of price, name and data.
    columns: [usize; 3],
}

impl Items {
    fn new(population: &Population) -> Self {
        let place = |column| Table::Item.place_of(column).unwrap_or(0);
        Self {
            rows: Lookup::new(population, Table::Item, (1, 1)),
            columns: ["i_price", "i_name", "i_data"].map(place),
        }
    }

    fn price(&mut self, item: u32) -> i64 {
        self.rows.number([item, 0, 0, 0], self.columns[0])
    }

    fn texts(&mut self, item: u32) -> [Vec<u8>; 2] {
        let [_, name, data] = self.columns;
        [name, data].map(|column| self.rows.text([item, 0, 0, 0], column).to_vec())
    }
}
