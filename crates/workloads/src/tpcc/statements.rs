//! The statements of the transactions, and a session's prepared ones.
//!
//! Every statement has a place in a step's [`StepStatements`]. A session prepares them or sends texts.

#[cfg(test)]
mod tests;

use std::ops::RangeInclusive;
use std::sync::Arc;

use drivers::{Done, Param, ParamType, Result, Row, Session, SessionError, StatementId};
use model::{
    DISTRICTS, Dialect, Isolation, Statements, StockLevel, TpccForm, TpccMix, TpccProfile,
    TpccSpec, TpccTransaction,
};
use serde::Deserialize;

use super::blocks::{blocks, named};
use super::input::{FEWEST_LINES, MOST_LINES};
use super::money;
use data::statements::begin;
use data::{push_int, push_number, push_text};
use load::Refused;

/// A statement that is always of the same length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub(super) enum Ask {
    Begin,
    BeginReading,
    Commit,
    Terms,
    NextOrder,
    TakeOrder,
    AddOrder,
    AddNewOrder,
    Item,
    Stock,
    TakeStock,
    AddLine,
    PayWarehouse,
    Warehouse,
    PayDistrict,
    District,
    CountNamed,
    Named,
    Payer,
    PayerData,
    Pay,
    PayBadly,
    AddHistory,
    NamedBalances,
    Balance,
    NewestOrder,
    Lines,
    Oldest,
    Dequeue,
    Orderer,
    SetCarrier,
    SetDelivered,
    SumLines,
    Charge,
    RecentOrders,
    LowJoined,
    RecentItems,
    Low,
}

/// A statement about several lines or districts, of several lengths: one for each number of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub(super) enum List {
    Items,
    Stocks,
    TakeStocks,
    AddLines,
    DequeueAll,
    Orderers,
    SetCarriers,
    SetAllDelivered,
    Sums,
    ChargeAll,
}

/// How many there are of the one kind and of the other.
const ASKS: usize = Ask::Low as usize + 1;
const LISTS: usize = List::ChargeAll as usize + 1;

/// Places of each list: one for every possible number, from zero.
const OF_EACH: usize = MOST_LINES + 1;

impl Ask {
    pub(super) const fn place(self) -> usize {
        self as usize
    }
}

impl List {
    pub(super) const fn place(self, count: usize) -> usize {
        ASKS + self as usize * OF_EACH + count
    }

    /// The numbers that can come up: an order that is rolled back has one line less.
    const fn counts(self) -> RangeInclusive<usize> {
        match self {
            Self::Items | Self::Stocks | Self::TakeStocks | Self::AddLines => {
                FEWEST_LINES - 1..=MOST_LINES
            }
            Self::DequeueAll
            | Self::Orderers
            | Self::SetCarriers
            | Self::SetAllDelivered
            | Self::Sums
            | Self::ChargeAll => 1..=DISTRICTS as usize,
        }
    }
}

#[derive(Debug)]
pub(super) struct StepStatements {
    /// By their places; none where the step does not need it.
    by_place: Vec<Option<Statement>>,
    dialect: Dialect,
}

impl StepStatements {
    /// All statements that the transactions of a step send, except for those in stored procedures.
    pub(super) fn new(spec: &TpccSpec, dialect: Dialect) -> Self {
        let mut by_place = Vec::new();
        by_place.resize_with(ASKS + LISTS * OF_EACH, || None);
        if spec.form != TpccForm::Procedures {
            put_all(spec, dialect, &mut by_place);
        }
        Self { by_place, dialect }
    }

    fn get(&self, place: usize) -> Option<&Statement> {
        self.by_place.get(place)?.as_ref()
    }

    /// Statements that a session prepares, at their places.
    fn to_prepare(&self) -> impl Iterator<Item = (usize, &Statement)> {
        let all = self.by_place.iter().enumerate();
        all.filter_map(|(place, statement)| Some((place, statement.as_ref()?)))
            .filter(|(_, statement)| statement.is_prepared)
    }

    pub(super) fn prepared(&self) -> usize {
        self.to_prepare().count()
    }
}

#[derive(Debug)]
pub(super) struct PreparedStatements {
    statements: Arc<StepStatements>,
    /// By the places of the statements; none where a statement is sent as text.
    ids: Vec<Option<StatementId>>,
    sql: String,
}

impl PreparedStatements {
    pub(super) fn prepare(
        statements: &Arc<StepStatements>,
        session: &mut dyn Session,
    ) -> Result<Self, Refused> {
        let mut ids = vec![None; statements.by_place.len()];
        for (place, Statement { name, sql, types, .. }) in statements.to_prepare() {
            let id = session.prepare(sql, types);
            ids[place] = Some(id.map_err(|source| Refused { statement: name.clone(), source })?);
        }
        Ok(Self { statements: Arc::clone(statements), ids, sql: String::new() })
    }

    #[inline]
    pub(super) fn send(
        &mut self,
        session: &mut dyn Session,
        place: usize,
        params: &[Param<'_>],
        each: &mut dyn FnMut(&dyn Row),
    ) -> Result<Done> {
        if let Some(Some(id)) = self.ids.get(place) {
            return session.execute_prepared(*id, params, each);
        }
        let Some(statement) = self.statements.get(place) else {
            return Err(SessionError::Protocol {
                what: format!("statement {place} is not among those of this step"),
            });
        };
        statement.write(self.statements.dialect, params, &mut self.sql);
        session.query(&self.sql, each)
    }

    pub(super) fn name(&self, place: usize) -> &str {
        self.statements.get(place).map_or("?", |statement| &statement.name)
    }
}

/// The statement that gives the transactions of a session their isolation.
pub(super) fn isolate(isolation: Isolation, dialect: Dialect) -> Option<String> {
    let level = isolation.sql();
    match dialect {
        Dialect::Mysql => Some(format!("SET SESSION TRANSACTION ISOLATION LEVEL {level}")),
        Dialect::Postgres => {
            Some(format!("SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL {level}"))
        }
        // It knows no other than the strictest.
        Dialect::Sqlite => None,
    }
}

/// All texts, except for those that begin and end a transaction.
const TEXTS: &str = include_str!("statements/statements.sql");

/// One statement: its text for a server to prepare, and the pieces that values are put between.
#[derive(Debug)]
struct Statement {
    /// What it is called in messages.
    name: String,
    /// With the placeholders of the dialect.
    sql: String,
    types: Vec<ParamType>,
    pieces: Vec<String>,
    is_prepared: bool,
}

impl Statement {
    /// From a text whose parameters are written `?`, `?t`, `?m` and `?a`, whatever the dialect.
    fn new(spec: &TpccSpec, dialect: Dialect, name: String, text: &str) -> Self {
        let (lock, amount) = match dialect {
            // A text would make it add real numbers.
            Dialect::Mysql => (" FOR UPDATE", "CAST(?m AS DECIMAL(12,2))"),
            Dialect::Postgres => (" FOR UPDATE", "?m"),
            // It has locked the whole database.
            Dialect::Sqlite => ("", "?m"),
        };
        let text = text.replace("{lock}", lock).replace("?a", amount);
        let mut parts = text.split('?');
        let mut pieces = vec![parts.next().unwrap_or_default().to_owned()];
        let mut types = Vec::new();
        for part in parts {
            let (kind, piece) = match part.split_at_checked(1) {
                Some(("t", rest)) => (ParamType::Text, rest),
                Some(("m", rest)) => (money::param_type(dialect), rest),
                Some(_) | None => (ParamType::Int, part),
            };
            types.push(kind);
            pieces.push(piece.to_owned());
        }
        let sql = match dialect {
            Dialect::Mysql | Dialect::Sqlite => pieces.join("?"),
            Dialect::Postgres => {
                let numbered = pieces.iter().enumerate().map(|(number, piece)| match number {
                    0 => piece.clone(),
                    _ => format!("${number}{piece}"),
                });
                numbered.collect()
            }
        };
        let is_prepared = match spec.statements {
            Statements::Text => false,
            // MySQL prepares COMMIT, but not this.
            Statements::Prepared | Statements::Usual => dialect != Dialect::Mysql || sql != "BEGIN",
        };
        Self { name, sql, types, pieces, is_prepared }
    }

    fn write(&self, dialect: Dialect, params: &[Param<'_>], sql: &mut String) {
        sql.clear();
        let mut values = params.iter().zip(&self.types);
        for (number, piece) in self.pieces.iter().enumerate() {
            if number > 0
                && let Some((param, kind)) = values.next()
            {
                match (param, kind) {
                    (Param::Int(number), _) => push_int(sql, *number),
                    (Param::Text(text), ParamType::Int | ParamType::Decimal) => {
                        push_number(sql, text);
                    }
                    (Param::Text(text), ParamType::Text | ParamType::DateTime) => {
                        push_text(sql, dialect, text);
                    }
                    (Param::Bytes(text), _) => {
                        push_text(sql, dialect, &String::from_utf8_lossy(text));
                    }
                }
            }
            sql.push_str(piece);
        }
    }

    #[cfg(test)]
    fn placeholders(&self) -> usize {
        self.pieces.len() - 1
    }
}

/// Puts the statements that a step needs at their places.
fn put_all(spec: &TpccSpec, dialect: Dialect, by_place: &mut [Option<Statement>]) {
    let mut put = |place: usize, name: String, text: &str| {
        if let Some(slot) = by_place.get_mut(place) {
            *slot = Some(Statement::new(spec, dialect, name, text));
        }
    };
    let begin = begin(dialect);
    for (ask, text) in [(Ask::Begin, begin), (Ask::BeginReading, "BEGIN"), (Ask::Commit, "COMMIT")]
    {
        put(ask.place(), format!("{ask:?}"), text);
    }
    let comes_up = TpccTransaction::ALL.map(|t| is_in(spec.mix, t).then_some(t.name()));
    let manner = manner(spec, dialect);
    for (header, lines) in blocks(TEXTS) {
        let [name, transactions, conditions] = header[..] else { continue };
        let is_needed = transactions.split(' ').any(|name| comes_up.contains(&Some(name)));
        if !is_needed || !conditions.split_whitespace().all(|word| manner.contains(&word)) {
            continue;
        }
        let text = lines.join(" ");
        if let Some(ask) = named::<Ask>(name) {
            put(ask.place(), name.to_owned(), &text);
        } else if let Some(list) = named::<List>(name) {
            for count in list.counts() {
                put(list.place(count), format!("{name} of {count}"), &expanded(&text, count));
            }
        }
    }
}

/// How transactions are carried out and by which server, in the words of [`TEXTS`].
fn manner(spec: &TpccSpec, dialect: Dialect) -> [&'static str; 5] {
    let is_batched = spec.form == TpccForm::Batched;
    [
        match spec.profile {
            TpccProfile::Standard => "standard",
            TpccProfile::Percona => "percona",
        },
        if is_batched { "batched" } else { "single" },
        if is_batched && !spec.delivery_by_district { "together" } else { "by-order" },
        match spec.stock_level {
            StockLevel::Join => "join",
            StockLevel::Loop => "loop",
        },
        if dialect == Dialect::Mysql { "mysql" } else { "others" },
    ]
}

fn is_in(mix: TpccMix, transaction: TpccTransaction) -> bool {
    match mix {
        TpccMix::Deck => true,
        TpccMix::Weights(weights) => weights[transaction as usize] > 0,
    }
}

/// A text with what stands in `{list:…}`, `{or:…}` and `{more:…}` as often as there are lines or districts.
fn expanded(text: &str, count: usize) -> String {
    let mut sql = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        sql.push_str(before);
        let (part, after) = after.split_once('}').unwrap_or((after, ""));
        match part.split_once(':') {
            Some(("or", key)) => sql.push_str(&vec![format!("({key})"); count].join(" OR ")),
            Some(("more", other)) => sql.push_str(&other.repeat(count - 1)),
            Some((_, item)) => sql.push_str(&vec![item; count].join(", ")),
            // Of another kind, to be filled in later.
            None => sql.extend(["{", part, "}"]),
        }
        rest = after;
    }
    sql + rest
}
