//! Carries transactions out statement by statement.

use std::ops::Range;
use std::sync::Arc;

use drivers::{Done, Param, Row, Session, SessionError, Value};
use model::{Dialect, PaymentOrder, StockLevel, TpccForm, TpccProfile, TpccSpec};

use super::order_lists::Work;
use super::sample::Sample;
use super::{Outcome, Progress, delivery, new_order, order_status, payment, stock_level};
use crate::workload::session::Refused;
use crate::workload::tpcc::input::Input;
use crate::workload::tpcc::money::{self, Digits};
use crate::workload::tpcc::population::Population;
use crate::workload::tpcc::statements::{Ask, Book, Desk};

/// Runs transactions in one session.
pub(in crate::workload::tpcc) struct Clerk {
    desk: Desk,
    manner: Manner,
    memory: Memory,
    has_sent_commit: bool,
    /// What was loaded.
    population: Population,
}

/// How the plan wants transactions to be carried out.
#[derive(Clone, Copy, Debug)]
pub(super) struct Manner {
    pub(super) profile: TpccProfile,
    pub(super) is_batched: bool,
    pub(super) stock_level: StockLevel,
    pub(super) payment_order: PaymentOrder,
    pub(super) by_district: bool,
}

impl Manner {
    fn of(spec: &TpccSpec) -> Self {
        Self {
            profile: spec.profile,
            is_batched: match spec.form {
                TpccForm::Single | TpccForm::Procedures => false,
                TpccForm::Batched => true,
            },
            stock_level: spec.stock_level,
            payment_order: spec.payment_order,
            by_district: spec.delivery_by_district,
        }
    }
}

/// Memory that is kept from transaction to transaction, not what is in it.
#[derive(Debug, Default)]
pub(super) struct Memory {
    pub(super) warehouse_name: String,
    pub(super) district_name: String,
    pub(super) text: String,
    pub(super) data: String,
    pub(super) customers: Vec<(u32, i64)>,
    pub(super) items: Vec<u32>,
    pub(super) lines: Vec<Work>,
    pub(super) params: Vec<Param<'static>>,
    pub(super) sample: Sample,
}

/// Why a transaction did not come to its end.
#[derive(Debug)]
pub(super) enum Halt {
    /// The session failed.
    Session(SessionError),
    /// An answer was not what it had to be.
    Wrong(String),
}

impl From<SessionError> for Halt {
    fn from(error: SessionError) -> Self {
        Self::Session(error)
    }
}

impl Clerk {
    /// Prepares the statements of `book` in `session`.
    pub(super) fn prepare(
        spec: &TpccSpec,
        book: &Arc<Book>,
        population: Population,
        dialect: Dialect,
        session: &mut dyn Session,
    ) -> Result<Self, Refused> {
        Ok(Self {
            desk: Desk::prepare(book, dialect, session)?,
            manner: Manner::of(spec),
            memory: Memory::default(),
            has_sent_commit: false,
            population,
        })
    }

    /// Runs one transaction. One in which an answer is wrong is rolled back.
    pub(super) fn run(
        &mut self,
        session: &mut dyn Session,
        input: &Input,
        progress: &mut Progress,
    ) -> Result<Outcome, SessionError> {
        self.has_sent_commit = false;
        let memory = &mut self.memory;
        memory.sample.begin();
        let mut talk = Talk {
            session,
            desk: &mut self.desk,
            manner: self.manner,
            has_sent_commit: &mut self.has_sent_commit,
            rows: 0,
        };
        let ended = match input {
            Input::NewOrder(order) => new_order::run(&mut talk, memory, order),
            Input::Payment(payment) => payment::run(&mut talk, memory, payment),
            Input::OrderStatus(status) => order_status::run(&mut talk, memory, status),
            Input::Delivery(delivery) => delivery::run(&mut talk, memory, *delivery, progress),
            Input::StockLevel(level) => stock_level::run(&mut talk, memory, level),
        };
        let rows = talk.rows;
        match ended {
            Ok(outcome) => Ok(Outcome {
                rows,
                wrong: self.wrong_read(input),
                ..outcome
            }),
            Err(Halt::Session(error)) => Err(error),
            Err(Halt::Wrong(text)) => {
                // A lost connection is told by the next statement.
                let _ = talk.roll_back();
                Ok(Outcome {
                    wrong: Some(text),
                    ..Outcome::default()
                })
            }
        }
    }

    /// What the transaction has read and is not as it was loaded, where that is looked at.
    #[inline]
    fn wrong_read(&self, input: &Input) -> Option<String> {
        let sample = &self.memory.sample;
        match input {
            Input::NewOrder(_) => sample.wrong_item(&self.population),
            Input::OrderStatus(status) => {
                sample.wrong_line(&self.population, self.manner.profile, status)
            }
            Input::Payment(_) | Input::Delivery(_) | Input::StockLevel(_) => None,
        }
    }

    /// Did the last transaction come as far as its COMMIT?
    pub(super) const fn has_sent_commit(&self) -> bool {
        self.has_sent_commit
    }
}

/// The conversation of one transaction.
pub(super) struct Talk<'a> {
    session: &'a mut dyn Session,
    desk: &'a mut Desk,
    pub(super) manner: Manner,
    has_sent_commit: &'a mut bool,
    /// Rows that were read and written so far.
    rows: u64,
}

impl Talk<'_> {
    /// The SQL that the server speaks.
    pub(super) const fn dialect(&self) -> Dialect {
        self.desk.dialect()
    }

    /// Begins a transaction that writes.
    pub(super) fn begin(&mut self) -> Result<(), Halt> {
        *self.has_sent_commit = false;
        self.send(Ask::Begin.place(), &[], &mut |_| ())?;
        Ok(())
    }

    /// Begins a transaction that only reads.
    pub(super) fn begin_reading(&mut self) -> Result<(), Halt> {
        self.send(Ask::BeginReading.place(), &[], &mut |_| ())?;
        Ok(())
    }

    /// Commits it.
    pub(super) fn commit(&mut self) -> Result<(), Halt> {
        *self.has_sent_commit = true;
        self.send(Ask::Commit.place(), &[], &mut |_| ())?;
        Ok(())
    }

    /// Undoes it.
    pub(super) fn roll_back(&mut self) -> Result<(), SessionError> {
        self.session.execute("ROLLBACK")?;
        Ok(())
    }

    /// Sends the statement at a place and shows the rows that come back.
    #[inline]
    pub(super) fn send(
        &mut self,
        place: usize,
        params: &[Param<'_>],
        each: &mut dyn FnMut(&dyn Row),
    ) -> Result<Done, SessionError> {
        let done = self.desk.send(&mut *self.session, place, params, each)?;
        self.rows += done.rows + done.affected;
        Ok(done)
    }

    /// Asks for one row, which must be there and have what `read` takes from it.
    #[inline]
    pub(super) fn one<T>(
        &mut self,
        ask: Ask,
        params: &[Param<'_>],
        mut read: impl FnMut(&dyn Row) -> Option<T>,
    ) -> Result<T, Halt> {
        let mut found = None;
        let done = self.send(ask.place(), params, &mut |row| found = read(row))?;
        match found {
            Some(found) if done.rows == 1 => Ok(found),
            Some(_) | None => Err(self.unlike("one whole row", done.rows, ask.place(), params)),
        }
    }

    /// Asks for any number of rows, of which each must have what `read` takes from it. How many there were.
    #[inline]
    pub(super) fn all(
        &mut self,
        place: usize,
        params: &[Param<'_>],
        mut read: impl FnMut(&dyn Row) -> Option<()>,
    ) -> Result<u64, Halt> {
        let mut whole = 0;
        let done = self.send(place, params, &mut |row| {
            whole += u64::from(read(row).is_some());
        })?;
        if whole == done.rows {
            Ok(whole)
        } else {
            Err(self.unlike("whole rows", done.rows, place, params))
        }
    }

    /// Changes one row.
    #[inline]
    pub(super) fn change(&mut self, ask: Ask, params: &[Param<'_>]) -> Result<(), Halt> {
        self.change_all(ask.place(), params, 1)
    }

    /// Changes so many rows.
    #[inline]
    pub(super) fn change_all(
        &mut self,
        place: usize,
        params: &[Param<'_>],
        rows: u64,
    ) -> Result<(), Halt> {
        let done = self.send(place, params, &mut |_| ())?;
        if done.affected == rows {
            Ok(())
        } else {
            let expected = format!("{rows} to change");
            Err(self.unlike(&expected, done.affected, place, params))
        }
    }

    /// An answer that is not what it must be.
    #[cold]
    pub(super) fn unlike(
        &self,
        expected: &str,
        found: u64,
        place: usize,
        params: &[Param<'_>],
    ) -> Halt {
        let name = self.desk.name(place);
        Halt::Wrong(format!(
            "{name}: rows expected: {expected}, found: {found} (values {})",
            told(params)
        ))
    }
}

/// Values of a statement that are told.
const TOLD: usize = 12;

fn told(params: &[Param<'_>]) -> String {
    let values = params.iter().take(TOLD).map(|param| match param {
        Param::Int(number) => number.to_string(),
        Param::Text(text) => format!("`{text}`"),
    });
    let values: Vec<String> = values.collect();
    let more = if params.len() > TOLD { ", …" } else { "" };
    format!("{}{more}", values.join(", "))
}

/// A number as a parameter.
#[inline]
pub(super) fn int(number: u32) -> Param<'static> {
    Param::Int(i64::from(number))
}

/// A column's number, from zero.
#[inline]
pub(super) fn number(row: &dyn Row, column: usize) -> Option<u32> {
    u32::try_from(row.value(column).as_int()?).ok()
}

/// A column's amount of money.
#[inline]
pub(super) fn cents(row: &dyn Row, column: usize, dialect: Dialect) -> Option<i64> {
    money::cents(row.value(column), dialect)
}

/// A column's tax or discount.
#[inline]
pub(super) fn rate(row: &dyn Row, column: usize, dialect: Dialect) -> Option<i64> {
    money::rate(row.value(column), dialect)
}

/// A column's text.
#[inline]
pub(super) fn text(row: &dyn Row, column: usize) -> Option<&[u8]> {
    match row.value(column) {
        Value::Bytes(text) => Some(text),
        Value::Null | Value::Int(_) | Value::Real(_) => None,
    }
}

/// Puts a column's text into a string in place of what is in it.
#[inline]
pub(super) fn keep(row: &dyn Row, column: usize, into: &mut String) -> Option<()> {
    into.clear();
    into.push_str(std::str::from_utf8(text(row, column)?).ok()?);
    Some(())
}

/// Reads these columns as a terminal would show them; `None` where one has no value.
#[inline]
pub(super) fn shown(row: &dyn Row, mut columns: Range<usize>) -> Option<()> {
    let is_there = |column: usize| row.value(column) != Value::Null;
    columns.all(is_there).then_some(())
}

/// An amount of money as a parameter.
#[inline]
pub(super) fn amount(dialect: Dialect, cents: i64, digits: &Digits) -> Param<'_> {
    money::param(dialect, cents, digits)
}
