//! One in [`EVERY`] transactions has what it read compared with the seed, after it was committed: the items of
//! a New-Order, and the lines that an Order-Status shows.

use drivers::Row;
use model::TpccProfile;

use super::exchange::text;
use crate::tpcc::input::{Input, MOST_LINES, OrderStatus};
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

#[derive(Debug, PartialEq, Eq)]
struct ItemRead {
    item: u32,
    cents: i64,
    name: String,
    data: String,
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
            let text = |column| lossy(text(row, column).unwrap_or_default());
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

    /// What the transaction has read and is not as it was loaded, where that is looked at.
    #[inline]
    pub(super) fn wrong(
        &self,
        input: &Input,
        population: &Population,
        profile: TpccProfile,
    ) -> Option<String> {
        match input {
            Input::NewOrder(_) if self.is_on => self.wrong_item(population),
            Input::OrderStatus(status) if self.is_on => {
                self.wrong_line(population, profile, status)
            }
            Input::NewOrder(_)
            | Input::OrderStatus(_)
            | Input::Payment(_)
            | Input::Delivery(_)
            | Input::StockLevel(_) => None,
        }
    }

    #[cold]
    fn wrong_item(&self, population: &Population) -> Option<String> {
        let mut items = Lookup::new(population, Table::Item, (1, 1));
        let [place_of_price, place_of_name, place_of_data] =
            Table::Item.places(["i_price", "i_name", "i_data"]);
        self.items.iter().find_map(|read| {
            let key = [read.item, 0, 0, 0];
            let loaded = ItemRead {
                item: read.item,
                cents: items.number(key, place_of_price),
                name: lossy(items.text(key, place_of_name)),
                data: lossy(items.text(key, place_of_data)),
            };
            let ItemRead { item, cents, name, data } = read;
            (*read != loaded).then(|| {
                format!(
                    "item {item}: price {cents} cents, name {name}, data {data}; loaded were {}, {}, {}",
                    loaded.cents, loaded.name, loaded.data
                )
            })
        })
    }

    #[cold]
    fn wrong_line(
        &self,
        population: &Population,
        profile: TpccProfile,
        status: &OrderStatus,
    ) -> Option<String> {
        let OrderStatus { warehouse, district, .. } = *status;
        let loaded = loaded_lines(population, [warehouse, district, self.order]);
        let mut items = Lookup::new(population, Table::Item, (1, 1));
        let [price] = Table::Item.places(["i_price"]);
        let mut is_right = |line: &LineRead| {
            let [item, _, quantity, cents] = *line;
            match (loaded.is_empty(), profile) {
                (false, _) => loaded.contains(line),
                (true, TpccProfile::Standard) => u32::try_from(item)
                    .is_ok_and(|item| quantity * items.number([item, 0, 0, 0], price) == cents),
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
    let places = Table::OrderLine.places(["ol_i_id", "ol_supply_w_id", "ol_quantity", "ol_amount"]);
    let lines = (1..=MOST_LINES as u32).map_while(|number| {
        let row = lookup.row([warehouse, district, order, number])?;
        Some(places.map(|place| row.value(place).as_int().unwrap_or(0)))
    });
    lines.collect()
}

fn lossy(text: &[u8]) -> String {
    String::from_utf8_lossy(text).into_owned()
}
