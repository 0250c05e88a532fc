//! A sample of the answers of query sessions, compared after the step with what was inserted. The rows of the
//! step are made again once for all samples, so that nothing is compared while it is measured.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use drivers::{Row, Value};
use model::{Check, InsertSpec};
use serde::{Deserialize, Serialize};

use super::inserted::{Inserted, Stream, TableState};
use data::{Form, RowHash};
use load::lock;

/// Answers that are kept of all sessions of a table.
const MOST: usize = 64;

/// The three columns of a secondary index; a date is its digits.
type Entry = [i64; 3];

#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Samples {
    pub(super) ranges: Vec<Range>,
    pub(super) points: Vec<Vec<Point>>,
}

impl Samples {
    pub(super) fn add(&mut self, more: Self) {
        self.ranges.extend(more.ranges);
        self.points.extend(more.points);
    }
}

/// The answer of a range query.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Range {
    pub(super) index: usize,
    /// The lowest value of the first column that may come back.
    pub(super) lowest: i64,
    /// Has it as many rows as its limit, so that the rest was left out?
    pub(super) is_full: bool,
    pub(super) rows: Vec<Entry>,
}

/// A row of the answer of a point query.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(super) struct Point {
    pub(super) key: i64,
    pub(super) product: i64,
    /// Invalid UTF-8 becomes U+FFFD, which no inserted row contains.
    pub(super) data: String,
}

pub(super) fn entry(row: &dyn Row) -> Entry {
    [0, 1, 2].map(|column| match row.value(column) {
        Value::Bytes(text) => digits(text),
        Value::Int(int) => int,
        Value::Null | Value::Real(_) => i64::MIN,
    })
}

fn digits(text: &[u8]) -> i64 {
    let digits = text.iter().filter(|byte| byte.is_ascii_digit());
    digits
        .fold(0, |number: i64, digit| number.wrapping_mul(10).wrapping_add(i64::from(digit - b'0')))
}

impl Point {
    pub(super) fn of(row: &dyn Row) -> Self {
        let data = match row.value(2) {
            Value::Bytes(data) => String::from_utf8_lossy(data).into_owned(),
            Value::Null | Value::Int(_) | Value::Real(_) => String::new(),
        };
        let int = |column: usize| row.value(column).as_int().unwrap_or(i64::MIN);
        Self { key: int(0), product: int(1), data }
    }
}

/// Decides which answers of a session are kept: evenly spread over the step, however many there are.
#[derive(Debug)]
pub(super) struct Sampler<T> {
    asked: u64,
    next: u64,
    every: u64,
    most: usize,
    pub(super) kept: Vec<T>,
}

impl<T> Sampler<T> {
    pub(super) fn new(sessions: u32) -> Self {
        Self {
            asked: 0,
            next: 0,
            every: 1,
            most: (MOST / sessions.max(1) as usize).max(2),
            kept: Vec::new(),
        }
    }

    #[inline]
    pub(super) fn is_due(&mut self) -> bool {
        let is_due = self.asked == self.next;
        self.asked += 1;
        is_due
    }

    pub(super) fn keep(&mut self, answer: T) {
        self.kept.push(answer);
        if self.kept.len() > self.most {
            let mut place = 0;
            self.kept.retain(|_| {
                place += 1;
                place % 2 == 1
            });
            self.every *= 2;
        }
        self.next = (self.asked - 1) / self.every * self.every + self.every;
    }
}

/// A table of a step with queries: what it held before, and the samples.
pub(super) struct Sampled {
    pub(super) table: String,
    pub(super) before: TableState,
    pub(super) samples: Arc<Mutex<Samples>>,
}

impl Sampled {
    /// Compares the samples with what the table held during the step; `after` is what it holds now.
    pub(super) fn check(&self, spec: &InsertSpec, after: &TableState) -> Check {
        let samples = std::mem::take(&mut *lock(&self.samples));
        let queries = samples.ranges.len() + samples.points.len();
        let wrong = wrong(samples, spec, &self.before, after);
        Check {
            what: format!("wrong rows in {queries} sampled answers from {}", self.table),
            expected: "0".to_owned(),
            actual: match wrong.first() {
                None => "0".to_owned(),
                Some(first) => format!("{}; the first: {first}", wrong.len()),
            },
            holds: wrong.is_empty(),
        }
    }
}

fn wrong(
    samples: Samples,
    spec: &InsertSpec,
    before: &TableState,
    after: &TableState,
) -> Vec<String> {
    let mut ranges: Vec<RangeProof> = samples.ranges.into_iter().map(RangeProof::new).collect();
    let mut streams = after.streams(spec);
    let mut points =
        PointProof::new(samples.points.into_iter().flatten().collect(), streams.len() == 1);
    let held = before.streams(spec);
    for (place, stream) in streams.iter_mut().enumerate() {
        // A client that inserted nothing before has no stream there.
        let rows_before = held.get(place).map_or(0, Stream::len);
        let gone = after.deleted();
        let mut number = before.deleted();
        stream.skip(number);
        let mut date = (String::new(), 0);
        while let Some(inserted) = stream.next() {
            // Was it there all the time?
            let stayed = (gone..rows_before).contains(&number);
            if date.0 != inserted.date {
                date = (inserted.date.to_owned(), digits(inserted.date.as_bytes()));
            }
            if !ranges.is_empty() {
                let entries = entries(&inserted, date.1);
                for range in &mut ranges {
                    range.see(&entries, stayed);
                }
            }
            points.see(&inserted);
            number += 1;
        }
    }
    let mut wrong: Vec<String> = ranges.iter().flat_map(RangeProof::wrong).collect();
    wrong.extend(points.wrong());
    wrong
}

/// The entries of a row in all indexes, in the order of `sql::INDEXES`.
fn entries(Inserted { row, .. }: &Inserted<'_>, date: i64) -> [Entry; 3] {
    let [register, customer, product, price] =
        [row.cashregister, row.customer, row.product, row.price].map(|value| value as i64);
    [[product, customer, price], [register, customer, price], [price, date, customer]]
}

/// What accounts for a row of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Seen {
    Nothing,
    /// A row that came or went in the step.
    Passing,
    /// A row that was there all the time.
    Stayed,
}

struct RangeProof {
    range: Range,
    is_sorted: bool,
    /// For each of its rows.
    seen: Vec<Seen>,
    last: Entry,
    /// A row that should have been among them.
    missing: Option<Entry>,
}

impl RangeProof {
    fn new(range: Range) -> Self {
        Self {
            is_sorted: range.rows.is_sorted(),
            seen: vec![Seen::Nothing; range.rows.len()],
            last: match range.rows.last() {
                Some(last) if range.is_full => *last,
                Some(_) | None => [i64::MAX; 3],
            },
            range,
            missing: None,
        }
    }

    #[inline]
    fn see(&mut self, entries: &[Entry; 3], stayed: bool) {
        let entry = entries[self.range.index];
        if entry[0] < self.range.lowest || entry > self.last {
            return;
        }
        let as_what = if stayed { Seen::Stayed } else { Seen::Passing };
        let rows = self.range.rows.iter().zip(&mut self.seen);
        // Rows may have equal entries. One that stayed takes the place of one that may have been gone.
        let less = rows.filter(|(row, seen)| **row == entry && **seen < as_what);
        if let Some((_, seen)) = less.min_by_key(|(_, seen)| **seen) {
            *seen = as_what;
        } else if stayed && entry < self.last {
            self.missing = self.missing.or(Some(entry));
        }
    }

    fn wrong(&self) -> Vec<String> {
        let Range { index, lowest, rows, .. } = &self.range;
        let place = format!("in index {} from {lowest} on", index + 1);
        let strangers = rows.iter().zip(&self.seen).filter(|(_, seen)| **seen == Seen::Nothing);
        let mut wrong: Vec<String> = strangers
            .map(|(row, _)| format!("{row:?} {place} was never inserted, or was deleted"))
            .collect();
        let missing = self.missing.iter();
        wrong.extend(missing.map(|row| format!("{row:?} {place} is missing")));
        if !self.is_sorted {
            wrong.push(format!("rows {place} are not in order"));
        }
        wrong
    }
}

enum PointProof {
    /// By their keys: the rows of one client come in this order.
    Ordered { rows: Vec<Point>, next: usize },
    /// Keys say nothing: several clients share the table.
    /// A hash of product and data, the row, and whether it was inserted.
    Any(HashMap<u64, (Point, bool)>),
}

fn hash(product: i64, data: &str) -> u64 {
    let mut hash = RowHash::default();
    hash.int(Form::Integer, product);
    hash.text(Form::Exact, data.as_bytes());
    hash.finish()
}

impl PointProof {
    fn new(mut rows: Vec<Point>, is_of_one_client: bool) -> Self {
        if is_of_one_client {
            rows.sort_unstable();
            rows.dedup();
            return Self::Ordered { rows, next: 0 };
        }
        let rows = rows.into_iter();
        let rows = rows.map(|row| (hash(row.product, &row.data), (row, false)));
        Self::Any(rows.collect())
    }

    fn see(&mut self, Inserted { row, .. }: &Inserted<'_>) {
        match self {
            Self::Ordered { rows, next } => {
                if let Some(expected) = rows.get(*next) {
                    let is_it = expected.product == row.product as i64 && expected.data == row.data;
                    *next += usize::from(is_it);
                }
            }
            Self::Any(rows) => {
                if !rows.is_empty() {
                    let hash = hash(row.product as i64, row.data);
                    if let Some((_, seen)) = rows.get_mut(&hash) {
                        *seen = true;
                    }
                }
            }
        }
    }

    fn wrong(&self) -> Vec<String> {
        let told = |point: &Point| {
            let Point { key, product, data } = point;
            format!(
                "transactionid {key} has productid {product} and data {data}, which was not inserted there"
            )
        };
        match self {
            Self::Ordered { rows, next } => rows.get(*next).map(told).into_iter().collect(),
            Self::Any(rows) => {
                let unseen = rows.values().filter(|(_, seen)| !seen);
                unseen.map(|(point, _)| told(point)).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU64;

    use super::super::inserted::Batch;
    use super::super::tests::spec;
    use super::*;

    /// A table of one client with 1,000 rows, of which 100 were deleted, or of two such clients.
    fn table(clients: u32) -> TableState {
        let batch = |client| Batch {
            client,
            seed: 7,
            first: 0,
            rows_per_commit: 50,
            inserted: Arc::new(AtomicU64::new(1_000)),
        };
        TableState {
            batches: (0..clients).map(batch).collect(),
            deleted: Arc::new(AtomicU64::new(if clients == 1 { 100 } else { 0 })),
        }
    }

    /// All entries of an index, sorted, and all rows that a table holds with their keys.
    fn held(index: usize) -> (Vec<Entry>, Vec<Point>) {
        let state = table(1);
        let mut stream = state.streams(&spec()).remove(0);
        stream.skip(state.deleted());
        let (mut all, mut points) = (Vec::new(), Vec::new());
        while let Some(inserted) = stream.next() {
            let date = digits(inserted.date.as_bytes());
            all.push(entries(&inserted, date)[index]);
            points.push(Point {
                key: 101 + points.len() as i64,
                product: inserted.row.product as i64,
                data: inserted.row.data.to_owned(),
            });
        }
        all.sort_unstable();
        (all, points)
    }

    fn wrong_of(clients: u32, ranges: Vec<Range>, points: Vec<Point>) -> Vec<String> {
        let samples = Samples { ranges, points: vec![points] };
        wrong(samples, &spec(), &table(clients), &table(clients))
    }

    /// The right answer of a range query with a limit of ten.
    fn right(index: usize, lowest: i64) -> Range {
        let (all, _) = held(index);
        let rows = all.into_iter().filter(|entry| entry[0] >= lowest).take(10);
        let rows: Vec<Entry> = rows.collect();
        Range { index, lowest, is_full: rows.len() == 10, rows }
    }

    #[test]
    fn right_ranges_hold() {
        for (index, lowest) in [(0, 0), (0, 5_000), (1, 990), (1, 999), (2, 0), (2, 499)] {
            let range = right(index, lowest);
            assert_eq!(wrong_of(1, vec![range], Vec::new()), [""; 0], "{index}");
        }
    }

    #[test]
    fn a_row_that_is_missing_strange_or_out_of_order_is_told() {
        let one = |change: fn(&mut Vec<Entry>)| {
            let mut range = right(1, 500);
            change(&mut range.rows);
            wrong_of(1, vec![range], Vec::new()).join("; ")
        };
        let missing = one(|rows| rows.retain(|row| row[1] % 2 == 0));
        assert!(missing.ends_with("in index 2 from 500 on is missing"), "{missing}");
        let stranger = one(|rows| rows[4][2] += 1);
        assert!(stranger.contains("was never inserted, or was deleted; "));
        assert!(stranger.ends_with("is missing"), "{stranger}");
        assert!(one(|rows| rows.swap(2, 3)).ends_with("are not in order"));
    }

    #[test]
    fn rows_that_come_or_go_in_the_step_may_be_there_or_not() {
        let (before, after) = (table(1), table(1));
        before.batches[0].inserted.store(500, std::sync::atomic::Ordering::Relaxed);
        let (all, points) = held(0);
        let new = &points[600];
        // The entry of a row that is inserted in the step.
        let entry = all.iter().find(|entry| entry[0] == new.product);
        let mut range = right(0, entry.unwrap()[0]);
        let told = |range: &Range| {
            let samples = Samples { ranges: vec![range.clone()], ..Samples::default() };
            wrong(samples, &spec(), &before, &after)
        };
        assert_eq!(told(&range), [""; 0]);
        range.rows.remove(0);
        assert_eq!(told(&range), [""; 0]);
    }

    #[test]
    fn of_two_rows_with_equal_entries_the_deleted_one_does_not_stand_for_the_other() {
        let (entry, last) = ([7, 20, 5], [7, 20, 9]);
        let told = |rows: &[Entry], seen: &[bool]| {
            let range = Range { index: 2, lowest: 7, is_full: true, rows: rows.to_vec() };
            let mut proof = RangeProof::new(range);
            for stayed in seen {
                proof.see(&[entry; 3], *stayed);
            }
            proof.see(&[last; 3], true);
            proof.wrong().len()
        };
        // After the delete of the first row, and before it.
        assert_eq!(told(&[entry, last], &[false, true]), 0);
        assert_eq!(told(&[entry, entry, last], &[false, true]), 0);
        assert_eq!(told(&[last], &[false, true]), 1);
        assert_eq!(told(&[entry, last], &[true, true]), 1);
        assert_eq!(told(&[entry, entry, last], &[true]), 1);
    }

    #[test]
    fn points_are_held_by_the_order_of_their_keys() {
        let (_, points) = held(0);
        let some: Vec<Point> = points.iter().step_by(90).cloned().collect();
        assert_eq!(wrong_of(1, Vec::new(), some.clone()), [""; 0]);
        let mut swapped = some.clone();
        let (first, last) = (some[1].key, some[7].key);
        (swapped[1].key, swapped[7].key) = (last, first);
        let told = wrong_of(1, Vec::new(), swapped);
        assert_eq!(told.len(), 1);
        let mut changed = some;
        changed[3].data = "aaaaaaaaaaX".to_owned();
        let told = wrong_of(1, Vec::new(), changed.clone());
        assert_eq!(
            told,
            [format!(
                "transactionid 371 has productid {} and data aaaaaaaaaaX, which was not inserted there",
                changed[3].product
            )]
        );
        // Where clients share a table, only strangers are told.
        assert_eq!(wrong_of(2, Vec::new(), changed).len(), 1);
    }

    #[test]
    fn a_sample_is_spread_over_all_queries() {
        let mut sampler = Sampler::new(16);
        for query in 0..1_000 {
            if sampler.is_due() {
                sampler.keep(query);
            }
        }
        assert_eq!(sampler.kept, [0, 256, 512, 768]);
        let mut alone: Sampler<u32> = Sampler::new(1);
        assert!(alone.is_due());
        alone.keep(0);
        assert!(alone.is_due() && alone.most == MOST);
    }
}
