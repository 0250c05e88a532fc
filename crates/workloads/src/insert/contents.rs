//! What is proved of the tables, and when. At the end whole tables are read, in the order of their keys, and each row is compared with what was inserted.
//! A table of one client must have exactly its rows that are not deleted, in their order. Where clients
//! share a table, the rows of each must come in their order; how they mix is up to the machine.

use std::sync::{Arc, Mutex};

use drivers::Row;
use model::{Check, Dialect, InsertSpec, InsertStage as Stage};

use super::inserted::{Inserted, Stream, TableState};
use super::samples::Sampled;
use super::{Insert, sql};
use data::{Form, RowHash, check_counts, taken};
use load::{Client, ClientContext, Clients, Result, Stop, Target, Worker, bounded, lock, unseen};

/// Rows that one query returns; in between it is seen whether somebody wants to stop.
const ROWS: u64 = 100_000;

/// Forms of the columns behind the key.
const FORMS: [Form; 6] =
    [Form::Exact, Form::Integer, Form::Integer, Form::Integer, Form::Integer, Form::Exact];

impl Insert {
    pub(super) fn sampled(&self) -> Vec<Sampled> {
        let tables = self.tables.iter().zip(0..);
        let sampled = tables.map(|(table, number)| Sampled {
            table: sql::table_name(number),
            before: table.now(),
            samples: Arc::default(),
        });
        sampled.collect()
    }

    /// What the tables hold against what they must hold, after a step: their rows counted, and at the end
    /// compared. Both read whole tables and so warm the cache: only before the settle phase and at the end.
    pub(super) fn prove(&self, index: usize, target: &Target, stop: &Stop) -> Result<Vec<Check>> {
        match self.stages.get(index + 1) {
            None => {
                let mut checks = self.count_rows(target)?;
                checks.extend(compare_all(&self.spec, &self.tables, target, stop)?);
                Ok(checks)
            }
            Some(Stage::Settle) => self.count_rows(target),
            Some(
                Stage::Load
                | Stage::Index
                | Stage::Random { .. }
                | Stage::Warm
                | Stage::Query { .. },
            ) => Ok(Vec::new()),
        }
    }

    fn count_rows(&self, target: &Target) -> Result<Vec<Check>> {
        let tables = self.tables.iter().zip(0..);
        check_counts(target, tables.map(|(state, number)| (state.rows(), sql::table_name(number))))
    }
}

fn compare_all(
    spec: &InsertSpec,
    tables: &[TableState],
    target: &Target,
    stop: &Stop,
) -> Result<Vec<Check>> {
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
    unseen("scan", clients.collect::<Result<Clients>>()?, stop)?;
    let mut checks = taken(&checks);
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
    fn run(&mut self, context: &mut ClientContext<'_>) -> Result {
        while !context.is_over() {
            let comparison = &mut self.comparison;
            let query = sql::rows_after(self.dialect, &self.table, comparison.last, ROWS);
            let rows = self.worker.operate(context, 0, None, |session| {
                Ok(session.query(&query, &mut |row| comparison.row(row))?.rows)
            })?;
            if rows.is_none_or(|rows| rows < ROWS) {
                break;
            }
        }
        lock(&self.checks).push((self.number, self.comparison.check(&self.table)));
        Ok(())
    }
}

/// The rows that must come next.
struct Comparison {
    heads: Vec<Head>,
    /// The last key that was read; servers give them from 1 on.
    last: i64,
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
        let (heads, expected) = (heads.collect(), state.rows());
        Self { heads, last: 0, expected, found: 0, wrong: 0, first: None }
    }

    fn row(&mut self, row: &dyn Row) {
        let key = row.value(0).as_int().unwrap_or(i64::MAX);
        // After an error the query is repeated: rows that were seen before it come again.
        if key <= self.last {
            return;
        }
        self.last = key;
        self.found += 1;
        let hash = Some(RowHash::of_row(&FORMS, row, 1));
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
