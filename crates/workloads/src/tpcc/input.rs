//! What a transaction is asked to do, drawn before its clock starts, and what comes of it.

use std::fmt;
use std::sync::LazyLock;

use model::{DISTRICTS, Rng, TpccHomes, TpccSpec, TpccTransaction};
use serde::{Deserialize, Serialize};

use super::random::{Constants, OF_CUSTOMERS, OF_ITEMS, OF_NAMES, between, last_name, nurand};
use super::scale::Scale;

#[cfg(test)]
pub(super) mod tests;
pub(super) const FEWEST_LINES: usize = 5;
pub(super) const MOST_LINES: usize = 15;

static NAMES: LazyLock<Vec<String>> = LazyLock::new(|| {
    let name = |number| {
        let mut name = String::new();
        last_name(number, &mut name);
        name
    };
    (0..1000).map(name).collect()
});

/// What a transaction is asked to do: the same however often it is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Input {
    NewOrder(NewOrder),
    Payment(Payment),
    OrderStatus(OrderStatus),
    Delivery(Delivery),
    StockLevel(StockLevel),
}

impl Input {
    pub(super) const fn transaction(&self) -> TpccTransaction {
        match self {
            Self::NewOrder(_) => TpccTransaction::NewOrder,
            Self::Payment(_) => TpccTransaction::Payment,
            Self::OrderStatus(_) => TpccTransaction::OrderStatus,
            Self::Delivery(_) => TpccTransaction::Delivery,
            Self::StockLevel(_) => TpccTransaction::StockLevel,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NewOrder {
    pub(super) warehouse: u32,
    pub(super) district: u32,
    pub(super) customer: u32,
    /// Is the last line of an item that there is not, so that all is rolled back?
    pub(super) rolls_back: bool,
    count: usize,
    lines: [Line; MOST_LINES],
}
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) item: u32,
    /// The warehouse that supplies it.
    pub(super) supply: u32,
    pub(super) quantity: u32,
}

impl NewOrder {
    /// All lines, sorted by supplying warehouse and item, so that all terminals lock stock in the same
    /// order. A line of an item that there is not comes last.
    pub(super) fn lines(&self) -> &[Line] {
        &self.lines[..self.count]
    }

    /// The lines whose items there are.
    pub(super) fn valid(&self) -> &[Line] {
        &self.lines[..self.count - usize::from(self.rolls_back)]
    }

    /// What is committed once it has this number.
    pub(super) const fn entered(&self, order: u32) -> Committed {
        Committed::Order { warehouse: self.warehouse, district: self.district, order }
    }

    pub(super) fn is_local(&self) -> bool {
        let mut lines = self.lines().iter();
        lines.all(|line| line.supply == self.warehouse)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Customer {
    Id(u32),
    /// The one in the middle of those with this last name, by first name.
    Name(&'static str),
}
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Payment {
    pub(super) warehouse: u32,
    pub(super) district: u32,
    pub(super) customer_warehouse: u32,
    pub(super) customer_district: u32,
    pub(super) customer: Customer,
    pub(super) cents: i64,
}

impl Payment {
    /// What is committed where this customer of the district paid.
    pub(super) const fn paid(&self, customer: u32) -> Committed {
        Committed::Payment {
            warehouse: self.warehouse,
            district: self.district,
            customer: (self.customer_warehouse, self.customer_district, customer),
            cents: self.cents,
        }
    }
}

/// A customer whose newest order is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OrderStatus {
    pub(super) warehouse: u32,
    pub(super) district: u32,
    pub(super) customer: Customer,
}

/// A warehouse whose oldest orders are to be delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Delivery {
    pub(super) warehouse: u32,
    pub(super) carrier: u32,
}

/// A district whose recent orders are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StockLevel {
    /// Of the district, and of the stock.
    pub(super) warehouse: u32,
    pub(super) district: u32,
    /// Stock below this is low.
    pub(super) threshold: u32,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// Was it a New-Order that was rolled back, as it had to be?
    pub(crate) rolled_back: bool,
    /// Districts that a Delivery found without an order.
    pub(crate) skipped: u32,
    /// Rows that it read and wrote.
    pub(crate) rows: u64,
    /// What is in the database now, where it leaves a row of its own.
    pub(crate) committed: Option<Committed>,
    /// An answer that was not what it had to be, in words.
    pub(crate) wrong: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum Committed {
    Order {
        warehouse: u32,
        district: u32,
        order: u32,
    },
    /// Where it was paid, who paid (warehouse, district, id) and how much. There may be several that are equal.
    Payment {
        warehouse: u32,
        district: u32,
        customer: (u32, u32, u32),
        cents: i64,
    },
}

impl fmt::Display for Committed {
    /// For people: `order 3021 of district 4 of warehouse 1`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Order { warehouse, district, order } => {
                write!(f, "order {order} of district {district} of warehouse {warehouse}")
            }
            Self::Payment { warehouse, district, customer, cents } => {
                let (of_warehouse, of_district, number) = customer;
                let (whole, rest) = (cents / 100, cents % 100);
                write!(
                    f,
                    "payment of {whole}.{rest:02} in district {district} of warehouse {warehouse} by \
                     customer {number} of district {of_district} of warehouse {of_warehouse}"
                )
            }
        }
    }
}

/// How far a transaction has come that is several of the database: tried again, it goes on from there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Progress {
    pub(crate) districts: u32,
    /// Of these, how many had no order.
    pub(crate) skipped: u32,
}

#[derive(Debug)]
pub(super) struct Inputs {
    scale: Scale,
    constants: Constants,
    /// Warehouse of the terminal, and district of its Stock-Levels, where they are always the same.
    home: Option<(u32, u32)>,
    rng: Rng,
}

impl Inputs {
    /// Of terminal `number`, from 0. `rng` decides all that is drawn.
    pub(super) fn new(spec: &TpccSpec, constants: Constants, number: u32, rng: Rng) -> Self {
        Self {
            scale: Scale::of(spec),
            constants,
            home: match spec.homes {
                TpccHomes::Random => None,
                TpccHomes::Fixed => Some(home(number, spec.warehouses)),
            },
            rng,
        }
    }
    pub(super) fn draw(&mut self, transaction: TpccTransaction) -> Input {
        let (warehouse, own_district) = match self.home {
            Some((warehouse, district)) => (warehouse, Some(district)),
            None => (self.uniform(1, self.scale.warehouses), None),
        };
        match transaction {
            TpccTransaction::NewOrder => Input::NewOrder(self.new_order(warehouse)),
            TpccTransaction::Payment => Input::Payment(self.payment(warehouse)),
            TpccTransaction::OrderStatus => Input::OrderStatus(OrderStatus {
                warehouse,
                district: self.uniform(1, DISTRICTS),
                customer: self.customer(),
            }),
            TpccTransaction::Delivery => {
                Input::Delivery(Delivery { warehouse, carrier: self.uniform(1, 10) })
            }
            TpccTransaction::StockLevel => Input::StockLevel(StockLevel {
                warehouse,
                district: own_district.unwrap_or_else(|| self.uniform(1, DISTRICTS)),
                threshold: self.uniform(10, 20),
            }),
        }
    }

    fn new_order(&mut self, warehouse: u32) -> NewOrder {
        let district = self.uniform(1, DISTRICTS);
        let customer = self.customer_id();
        let count = self.uniform(FEWEST_LINES as u32, MOST_LINES as u32) as usize;
        let rolls_back = self.is_one_of_hundred(1);
        let mut lines = [Line::default(); MOST_LINES];
        for line in &mut lines[..count] {
            *line = Line {
                item: nurand(&mut self.rng, OF_ITEMS, 1, self.scale.items, self.constants.item),
                supply: self.supply(warehouse),
                quantity: self.uniform(1, 10),
            };
        }
        let mut valid = count;
        if rolls_back {
            valid -= 1;
            lines[valid].item = self.scale.items + 1;
        }
        lines[..valid].sort_unstable_by_key(|line| (line.supply, line.item));
        NewOrder { warehouse, district, customer, rolls_back, count, lines }
    }

    fn payment(&mut self, warehouse: u32) -> Payment {
        let district = self.uniform(1, DISTRICTS);
        let is_remote = self.scale.warehouses > 1 && self.is_one_of_hundred(15);
        let (customer_warehouse, customer_district) = if is_remote {
            (self.other_than(warehouse), self.uniform(1, DISTRICTS))
        } else {
            (warehouse, district)
        };
        Payment {
            warehouse,
            district,
            customer_warehouse,
            customer_district,
            customer: self.customer(),
            cents: i64::from(self.uniform(100, 500_000)),
        }
    }

    /// 60 % by last name, the rest by id.
    fn customer(&mut self) -> Customer {
        if !self.is_one_of_hundred(60) {
            return Customer::Id(self.customer_id());
        }
        // Where there are fewer customers than names, the others are nobody's.
        let last = self.scale.names() - 1;
        let number = nurand(&mut self.rng, OF_NAMES, 0, last, self.constants.name);
        Customer::Name(&NAMES[number as usize])
    }

    fn customer_id(&mut self) -> u32 {
        let (last, c) = (self.scale.customers, self.constants.customer);
        nurand(&mut self.rng, OF_CUSTOMERS, 1, last, c)
    }

    /// 99 % from the own warehouse, the rest from any other.
    fn supply(&mut self, warehouse: u32) -> u32 {
        if self.scale.warehouses > 1 && self.is_one_of_hundred(1) {
            self.other_than(warehouse)
        } else {
            warehouse
        }
    }

    /// Another warehouse; there must be one.
    fn other_than(&mut self, warehouse: u32) -> u32 {
        let other = self.uniform(1, self.scale.warehouses - 1);
        other + u32::from(other >= warehouse)
    }

    /// Is a number of 1 to 100 at most `percent`?
    fn is_one_of_hundred(&mut self, percent: u32) -> bool {
        self.uniform(1, 100) <= percent
    }

    fn uniform(&mut self, low: u32, high: u32) -> u32 {
        between(&mut self.rng, low, high)
    }
}

/// The warehouse of terminal `number`, from 0, and the district of its Stock-Levels, which take turns.
const fn home(number: u32, warehouses: u32) -> (u32, u32) {
    let district = number / warehouses % DISTRICTS;
    (number % warehouses + 1, district + 1)
}
