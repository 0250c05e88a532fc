//! The statements of the transactions: their texts, and a session's prepared ones.
//!
//! Every statement has a place in the [`Book`] of a step. A session prepares what the book has, or sends it
//! as text with the values in it.

mod delivery;
mod desk;
mod lists;
mod new_order;
mod payment;
mod reading;
#[cfg(test)]
mod tests;

use drivers::ParamType;
use model::{
    Dialect, Isolation, Statements, TpccForm, TpccMix, TpccProfile, TpccSpec, TpccTransaction,
};

pub(super) use self::desk::Desk;
pub(super) use self::lists::List;
use super::money;

/// A statement that is always of the same length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ask {
    /// Begins a transaction that writes.
    Begin,
    /// Begins one that only reads.
    BeginReading,
    /// Ends either.
    Commit,
    /// A customer's discount and the warehouse's tax.
    Terms,
    /// A district's next order number and its tax, locked.
    NextOrder,
    /// Sets the district's next order number.
    TakeOrder,
    /// Adds an order.
    AddOrder,
    /// Adds it to those that wait for delivery.
    AddNewOrder,
    /// An item.
    Item,
    /// The stock of an item, locked.
    Stock,
    /// What is left of it.
    TakeStock,
    /// Adds a line of an order.
    AddLine,
    /// Adds to what a warehouse was paid.
    PayWarehouse,
    /// Its name and address.
    Warehouse,
    /// Adds to what a district was paid.
    PayDistrict,
    /// Its name and address.
    District,
    /// How many customers have a last name.
    CountNamed,
    /// Who they are, by first name.
    Named,
    /// A customer who pays, locked.
    Payer,
    /// What is known of one with bad credit.
    PayerData,
    /// What a payment changes of a customer.
    Pay,
    /// The same for one with bad credit.
    PayBadly,
    /// Adds to the history of payments.
    AddHistory,
    /// Customers of a last name and their balances, by first name.
    NamedBalances,
    /// A customer's balance.
    Balance,
    /// A customer's newest order.
    NewestOrder,
    /// Lines of an order.
    Lines,
    /// The oldest order of a district that waits for delivery, locked.
    Oldest,
    /// Takes it from those that wait.
    Dequeue,
    /// Who ordered it.
    Orderer,
    /// Says who delivers it.
    SetCarrier,
    /// Says when its lines are delivered.
    SetDelivered,
    /// What they cost together.
    SumLines,
    /// What a delivery changes of a customer.
    Charge,
    /// A district's next order number.
    RecentOrders,
    /// How many items of recent orders are low in stock.
    LowJoined,
    /// Items of recent orders.
    RecentItems,
    /// Is an item low in stock?
    Low,
}

/// How many there are.
const ASKS: usize = Ask::Low as usize + 1;

impl Ask {
    /// Its place in the book.
    pub(super) const fn place(self) -> usize {
        self as usize
    }
}

/// The statements of a step.
#[derive(Debug)]
pub(super) struct Book {
    /// By their places; none where the step does not need it.
    statements: Vec<Option<Statement>>,
    /// Are they prepared?
    is_prepared: bool,
}

/// A statement.
#[derive(Debug)]
pub(super) struct Statement {
    /// What it is called in messages.
    pub(super) name: String,
    /// With the placeholders of the dialect.
    pub(super) sql: String,
    /// Of the parameters.
    pub(super) types: Vec<ParamType>,
    /// The text between the parameters.
    pieces: Vec<String>,
    /// Can a server prepare it?
    can_be_prepared: bool,
}

impl Book {
    /// All statements that the transactions of a step send, except for those in stored procedures.
    pub(super) fn new(spec: &TpccSpec, dialect: Dialect) -> Self {
        let mut book = Self {
            statements: Vec::new(),
            is_prepared: match spec.statements {
                Statements::Text => false,
                Statements::Prepared | Statements::Usual => true,
            },
        };
        book.statements.resize_with(ASKS + lists::PLACES, || None);
        let is_batched = match spec.form {
            TpccForm::Single => false,
            TpccForm::Batched => true,
            TpccForm::Procedures => return book,
        };
        let mut writer = Writer {
            book: &mut book,
            dialect,
            profile: spec.profile,
        };
        writer.put_frame();
        for transaction in TpccTransaction::ALL {
            if is_in(spec.mix, transaction) {
                writer.put_transaction(transaction, spec, is_batched);
            }
        }
        book
    }

    /// The statement at a place.
    pub(super) fn get(&self, place: usize) -> Option<&Statement> {
        self.statements.get(place)?.as_ref()
    }

    /// Statements that a session prepares, at their places.
    fn to_prepare(&self) -> impl Iterator<Item = (usize, &Statement)> {
        let is_prepared = self.is_prepared;
        let all = self.statements.iter().enumerate();
        let present = all.filter_map(|(place, statement)| Some((place, statement.as_ref()?)));
        present.filter(move |(_, statement)| is_prepared && statement.can_be_prepared)
    }

    /// How many a session prepares.
    pub(super) fn prepared(&self) -> usize {
        self.to_prepare().count()
    }
}

/// Can a transaction come up?
fn is_in(mix: TpccMix, transaction: TpccTransaction) -> bool {
    match mix {
        TpccMix::Deck => true,
        TpccMix::Weights(weights) => weights[transaction as usize] > 0,
    }
}

/// The statement that gives the transactions of a session their isolation.
pub(super) fn isolate(isolation: Isolation, dialect: Dialect) -> Option<String> {
    let level = isolation.sql();
    match dialect {
        Dialect::Mysql => Some(format!("SET SESSION TRANSACTION ISOLATION LEVEL {level}")),
        Dialect::Postgres => Some(format!(
            "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL {level}"
        )),
        // It knows no other than the strictest.
        Dialect::Sqlite => None,
    }
}

/// Writes statements into a book.
struct Writer<'a> {
    book: &'a mut Book,
    dialect: Dialect,
    profile: TpccProfile,
}

/// Type of a parameter that is an integer.
const INT: ParamType = ParamType::Int;
/// Type of a parameter that is text.
const TEXT: ParamType = ParamType::Text;

impl Writer<'_> {
    fn put_transaction(&mut self, transaction: TpccTransaction, spec: &TpccSpec, batched: bool) {
        match transaction {
            TpccTransaction::NewOrder if batched => self.put_new_order_lists(),
            TpccTransaction::NewOrder => self.put_new_order(),
            TpccTransaction::Payment => self.put_payment(),
            TpccTransaction::OrderStatus => self.put_order_status(),
            TpccTransaction::Delivery if batched && !spec.delivery_by_district => {
                self.put_delivery_lists();
            }
            TpccTransaction::Delivery => self.put_delivery(),
            TpccTransaction::StockLevel => self.put_stock_level(spec.stock_level),
        }
    }

    fn put_frame(&mut self) {
        let begin = match self.dialect {
            Dialect::Mysql | Dialect::Postgres => "BEGIN",
            // Else two that read and then want to write would wait for each other.
            Dialect::Sqlite => "BEGIN IMMEDIATE",
        };
        self.put(Ask::Begin, begin, &[]);
        self.put(Ask::BeginReading, "BEGIN", &[]);
        self.put(Ask::Commit, "COMMIT", &[]);
    }

    /// Puts a statement whose parameters are written `?`, whatever the dialect.
    fn put(&mut self, ask: Ask, sql: &str, types: &[ParamType]) {
        self.put_at(ask.place(), format!("{ask:?}"), sql, types);
    }

    fn put_at(&mut self, place: usize, name: String, sql: &str, types: &[ParamType]) {
        let statement = Statement::new(self.dialect, name, sql, types);
        if let Some(slot) = self.book.statements.get_mut(place) {
            *slot = Some(statement);
        }
    }

    /// Type of a parameter that is an amount of money.
    const fn money(&self) -> ParamType {
        money::param_type(self.dialect)
    }

    /// A parameter that is an amount of money and something is added to: a text would make MySQL add real
    /// numbers.
    const fn amount(&self) -> &'static str {
        match self.dialect {
            Dialect::Mysql => "CAST(? AS DECIMAL(12,2))",
            Dialect::Postgres | Dialect::Sqlite => "?",
        }
    }

    /// What locks the rows that a SELECT reads. SQLite has locked the whole database.
    const fn lock(&self) -> &'static str {
        match self.dialect {
            Dialect::Mysql | Dialect::Postgres => " FOR UPDATE",
            Dialect::Sqlite => "",
        }
    }
}

impl Statement {
    fn new(dialect: Dialect, name: String, sql: &str, types: &[ParamType]) -> Self {
        let pieces: Vec<String> = sql.split('?').map(str::to_owned).collect();
        Self {
            name,
            sql: match dialect {
                Dialect::Mysql | Dialect::Sqlite => sql.to_owned(),
                Dialect::Postgres => numbered(&pieces),
            },
            types: types.to_vec(),
            // MySQL prepares COMMIT, but not this.
            can_be_prepared: dialect != Dialect::Mysql || sql != "BEGIN",
            pieces,
        }
    }
}

/// Pieces of a statement with `$1`, `$2` … between them.
fn numbered(pieces: &[String]) -> String {
    let mut sql = String::new();
    for (number, piece) in pieces.iter().enumerate() {
        if number > 0 {
            sql.push('$');
            sql.push_str(&number.to_string());
        }
        sql.push_str(piece);
    }
    sql
}
