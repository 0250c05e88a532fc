//! The statements of the transactions, and a session's prepared ones.
//!
//! Every statement has a place in the [`StepStatements`] of a step. A session prepares those of the step, or sends
//! them as text with the values in it.

#[cfg(test)]
mod tests;
mod writer;

use std::ops::RangeInclusive;
use std::sync::Arc;

use drivers::{Done, Param, Row, Session, SessionError, StatementId};
use model::{DISTRICTS, Dialect, Isolation, TpccForm, TpccSpec};
use serde::Deserialize;

use self::writer::Statement;
use super::input::{FEWEST_LINES, MOST_LINES};
use load::outages::Refused;

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
    /// Its place among the statements.
    pub(super) const fn place(self) -> usize {
        self as usize
    }
}

impl List {
    /// The place of the one for `count`.
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

/// The statements of a step.
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
            writer::put_all(spec, dialect, &mut by_place);
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

/// The statements of a step in one session.
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

    /// Sends the statement at a place with these parameters and shows the rows that come back.
    #[inline]
    pub(super) fn send(
        &mut self,
        session: &mut dyn Session,
        place: usize,
        params: &[Param<'_>],
        each: &mut dyn FnMut(&dyn Row),
    ) -> Result<Done, SessionError> {
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
