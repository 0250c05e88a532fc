//! Reads whole tables at the end, in the order of their keys, and compares each row with what was inserted.
//! A table of one client must have exactly its rows that are not deleted, in their order. Where clients
//! share a table, the rows of each must come in their order; how they mix is up to the machine.

use std::sync::{Arc, Mutex};

use drivers::{Row, Session, SessionError};
use model::{Check, Dialect, InsertSpec};

use super::inserted::{Inserted, Stream, TableState};
use super::sql;
use data::checksum::{Form, RowHash};
use load::clients::{Clients, bounded};
use load::engine::Stop;
use load::clients::unseen;
use load::worker::Worker;
use load::{Client, ClientContext, StepError, Target};

/// Rows that one query returns; in between it is seen whether somebody wants to stop.
const ROWS: u64 = 100_000;

/// Forms of the columns behind the key.
const FORMS: [Form; 6] =
    [Form::Exact, Form::Integer, Form::Integer, Form::Integer, Form::Integer, Form::Exact];

pub(super) fn checks(
    spec: &InsertSpec,
    tables: &[TableState],
    target: &Target,
    stop: &Stop,
) -> Result<Vec<Check>, StepError> {
    let checks = Arc::new(Mutex::new(Vec::new()));
    let clients = tables.iter().zip(0..).map(|(state, number)| {
        let table = sql::table_name(number);
        let name = format!("compare {table}");
        let reader = Reader {
            worker: Worker::connect(&*target.patient, name.clone())?,
            dialect: target.dialect,
            comparison: Comparison::new(spec, state),
            table,
            number,
            checks: Arc::clone(&checks),
        };
        Ok(bounded(name, reader))
    });
    unseen("scan", clients.collect::<Result<Clients, StepError>>()?, stop)?;
    let mut checks = super::take(&checks);
    checks.sort_by_key(|(number, _): &(u32, Check)| *number);
    Ok(checks.into_iter().map(|(_, check)| check).collect())
}
struct Reader {
    worker: Worker,
    dialect: Dialect,
    table: String,
    /// From 0.
    number: u32,
    comparison: Comparison,
    checks: Arc<Mutex<Vec<(u32, Check)>>>,
}

impl Client for Reader {
    fn run(&mut self, context: &mut ClientContext<'_>) -> Result<(), StepError> {
        // Servers give keys from 1 on.
        let mut last = 0;
        while !context.is_over() {
            let query = sql::rows_after(self.dialect, &self.table, last, ROWS);
            let comparison = &mut self.comparison;
            let rows = self.worker.operate(context, 0, None, |session| {
                compare(session, &query, comparison, &mut last)
            })?;
            if rows.is_none_or(|rows| rows < ROWS) {
                break;
            }
        }
        if let Ok(mut checks) = self.checks.lock() {
            let check = self.comparison.check(&self.table);
            checks.push((self.number, check));
        }
        Ok(())
    }
}

fn compare(
    session: &mut dyn Session,
    query: &str,
    comparison: &mut Comparison,
    last: &mut i64,
) -> Result<u64, SessionError> {
    let done = session.query(query, &mut |row| {
        let key = row.value(0).as_int().unwrap_or(i64::MAX);
        // After an error the query is repeated: rows that were seen before it come again.
        if key > *last {
            *last = key;
            comparison.row(row);
        }
    })?;
    Ok(done.rows)
}

/// The rows that must come next.
struct Comparison {
    heads: Vec<Head>,
    expected: u64,
    found: u64,
    wrong: u64,
    first: Option<String>,
}

struct Head {
    stream: Stream,
    next: Option<u64>,
}

impl Head {
    fn advance(&mut self) {
        self.next = self.stream.next().map(|inserted| hash_of(&inserted));
    }
}

impl Comparison {
    fn new(spec: &InsertSpec, state: &TableState) -> Self {
        let heads = state.streams(spec).into_iter().map(|mut stream| {
            stream.skip(state.deleted());
            let mut head = Head { stream, next: None };
            head.advance();
            head
        });
        Self { heads: heads.collect(), expected: state.rows(), found: 0, wrong: 0, first: None }
    }

    fn row(&mut self, row: &dyn Row) {
        self.found += 1;
        let mut hash = RowHash::default();
        for (column, form) in FORMS.iter().enumerate() {
            hash.value(*form, row.value(column + 1));
        }
        let hash = Some(hash.finish());
        if let Some(head) = self.heads.iter_mut().find(|head| head.next == hash) {
            head.advance();
            return;
        }
        self.wrong += 1;
        if self.first.is_none() {
            self.first = Some(self.unlike(row));
        }
        // A row was changed, or two were swapped: those that follow are right.
        if let [head] = self.heads.as_mut_slice() {
            head.advance();
        }
    }

    fn unlike(&mut self, row: &dyn Row) -> String {
        let found: Vec<String> = (1..=FORMS.len())
            .map(|column| row.value(column).to_text().unwrap_or("NULL".to_owned()))
            .collect();
        let key = row.value(0).to_text().unwrap_or_default();
        let heads = self.heads.iter_mut().filter(|head| head.next.is_some());
        let expected = heads.map(|Head { stream, .. }| {
            let place = stream.place();
            let row = stream.again().map_or(String::new(), |row| text(&row));
            format!("{place} ({row})")
        });
        let expected: Vec<String> = expected.collect();
        let expected =
            if expected.is_empty() { "no row".to_owned() } else { expected.join(" or ") };
        format!("transactionid {key} has ({}), expected {expected}", found.join(", "))
    }

    fn check(&self, table: &str) -> Check {
        let Self { expected, found, .. } = *self;
        let actual = match &self.first {
            Some(first) => format!("{} of {found} differ; the first: {first}", self.wrong),
            None => format!("{found} rows"),
        };
        Check {
            what: format!("rows of {table} in the order of their keys, as inserted"),
            expected: format!("{expected} rows"),
            actual,
            holds: self.wrong == 0 && found == expected,
        }
    }
}

fn text(Inserted { date, row }: &Inserted<'_>) -> String {
    format!(
        "{date}, {}, {}, {}, {}, {}",
        row.cashregister, row.customer, row.product, row.price, row.data
    )
}

fn hash_of(Inserted { date, row }: &Inserted<'_>) -> u64 {
    let mut hash = RowHash::default();
    hash.text(Form::Exact, date.as_bytes());
    for int in [row.cashregister, row.customer, row.product, row.price] {
        hash.int(Form::Integer, int as i64);
    }
    hash.text(Form::Exact, row.data.as_bytes());
    hash.finish()
}
