//! A sample of the answers that clients got, kept while they run and judged when they are done.
//!
//! Each client keeps the answers to one operation in many: the first one, then more and more seldom,
//! so that they are spread over the whole step, however long it is.

use std::collections::{BTreeSet, HashSet};
use std::sync::Mutex;

use drivers::{Row, Value};
use model::Check;
use serde::{Deserialize, Serialize};

use super::compile::{Program, Statement};
use super::shape::{Asked, Gives, Shape};
use data::judge::shown;
use data::{Cells, Fate, Judge, RowHash, Sum, check};
use load::lock;

/// Operations between two of which the answers are kept, at first.
const EVERY: u32 = 64;

/// Operations of a step of which the answers are kept, at most, and those of one client.
const KEPT: usize = 64;
const KEPT_OF_CLIENT: std::ops::RangeInclusive<usize> = 4..=16;

/// Rows of an answer that are kept whole; all others are in its checksum only.
const ROWS: usize = 64;

#[derive(Debug)]
pub(super) struct Turn {
    /// Operations until the next one that is kept.
    left: u32,
}

impl Turn {
    pub(super) const fn new() -> Self {
        Self { left: 1 }
    }

    #[inline]
    pub(super) const fn comes(&mut self) -> bool {
        self.left = self.left.saturating_sub(1);
        self.left == 0
    }
}

#[derive(Debug)]
pub(super) struct Sampled {
    clients: Mutex<Vec<Client>>,
    at_most: usize,
}

#[derive(Debug, Default)]
struct Client {
    every: u32,
    operations: Vec<Vec<Answer>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Answer {
    statement: usize,
    copy: u32,
    asked: Numbers,
    sum: Sum,
    rows: Vec<Vec<Kept>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Numbers {
    List(Vec<i64>),
    Range(i64, i64),
}

/// A value that is kept: its text, `None` for NULL.
type Kept = Option<String>;

fn value(kept: Option<&Kept>) -> Value<'_> {
    kept.and_then(Option::as_deref).map_or(Value::Null, |text| Value::Bytes(text.as_bytes()))
}

impl Sampled {
    pub(super) fn new(clients: u32) -> Self {
        let each = KEPT / clients.max(1) as usize;
        Self {
            clients: Mutex::default(),
            at_most: each.clamp(*KEPT_OF_CLIENT.start(), *KEPT_OF_CLIENT.end()),
        }
    }

    /// Takes the answers to an operation of a client. Tells how many operations are passed over next.
    pub(super) fn keep(&self, client: u32, answers: Vec<Answer>, turn: &mut Turn) {
        let mut clients = lock(&self.clients);
        let client = client as usize;
        if clients.len() <= client {
            clients.resize_with(client + 1, Client::default);
        }
        let kept = &mut clients[client];
        kept.every = kept.every.max(EVERY);
        kept.operations.push(answers);
        if kept.operations.len() >= self.at_most {
            // Every second one makes room, and from now on half as many come.
            let mut stays = false;
            kept.operations.retain(|_| {
                stays = !stays;
                stays
            });
            kept.every = kept.every.saturating_mul(2);
        }
        turn.left = kept.every;
    }

    pub(super) fn all(&self) -> Vec<Vec<Answer>> {
        lock(&self.clients).iter().flat_map(|client| client.operations.clone()).collect()
    }

    pub(super) fn add_all(&self, operations: Vec<Vec<Answer>>) {
        lock(&self.clients).push(Client { operations, ..Client::default() });
    }

    /// Judges all answers; `None` where nothing is known of any. `judges`: by table, where something is known.
    pub(super) fn check(
        &self,
        program: &Program,
        judges: &[Option<Judge>],
        mut tell: impl FnMut(String),
    ) -> Option<Check> {
        let clients = lock(&self.clients);
        let (mut judged, mut wrong) = (0u64, 0u64);
        let mut cells = Cells::new(program.dialect);
        let operations = clients.iter().flat_map(|client| &client.operations);
        for answer in operations.flatten() {
            let statement = &program.statements[answer.statement];
            let table = statement.table as usize;
            let judge = judges.get(table).and_then(Option::as_ref);
            if let (Some(shape), Some(judge)) = (&statement.shape, judge) {
                judged += 1;
                if let Err(why) = answer.judge(shape, judge, &mut cells) {
                    wrong += 1;
                    tell(answer.described(statement, &why));
                }
            }
        }
        let what = "sampled answers with right contents".to_owned();
        (judged > 0).then(|| check(what, judged, judged - wrong))
    }
}

impl Answer {
    pub(super) fn new(
        statement: usize,
        copy: u32,
        shape: &Shape,
        numbers: impl Fn(super::drawn::Place) -> Vec<i64>,
    ) -> Self {
        let first = |place| numbers(place).first().copied().unwrap_or_default();
        Self {
            statement,
            copy,
            asked: match shape.asked {
                Asked::List(place) => Numbers::List(numbers(place)),
                Asked::Range(low, high) => Numbers::Range(first(low), first(high)),
            },
            sum: Sum::default(),
            rows: Vec::new(),
        }
    }

    pub(super) fn take(&mut self, shape: &Shape, row: &dyn Row) {
        self.sum.add_row(RowHash::of_row(&shape.forms, row, 0));
        if self.rows.len() < ROWS {
            let values = (0..shape.forms.len()).map(|column| row.value(column).to_text());
            self.rows.push(values.collect());
        }
    }

    fn described(&self, statement: &Statement, why: &str) -> String {
        let asked = match &self.asked {
            Numbers::List(list) => match list.as_slice() {
                [one] => format!("{one}"),
                [first, ..] => format!("{first} and {} more", list.len() - 1),
                [] => "nothing".to_owned(),
            },
            Numbers::Range(low, high) => format!("{low} to {high}"),
        };
        format!(
            "`{}` of {}, asked for {asked}: {why}",
            statement.name,
            statement.table_name(self.copy)
        )
    }

    fn judge(&self, shape: &Shape, judge: &Judge, cells: &mut Cells) -> Result<(), String> {
        if shape.key != judge.number {
            return self.judge_keys(shape);
        }
        let fates = &judge.fates;
        let is_kept = |column: &usize| fates.columns[*column] == Fate::Kept;
        // A row that a client inserted is not known.
        let is_known = fates.inserted.is_none() || !self.asks_beyond(judge);
        let is_complete = fates.is_complete() && is_known;
        let mut columns = |columns: &[usize]| {
            let is_exact = is_complete && columns.iter().all(is_kept);
            self.judge_columns(shape, columns, judge, is_exact, cells)
        };
        match &shape.gives {
            Gives::Columns(several) => columns(several),
            Gives::Distinct(column) => columns(&[*column]),
            Gives::Sum(column) if is_complete && is_kept(column) => {
                // The sum of no row is NULL.
                let mut expected: Option<i64> = None;
                self.each_asked(judge, cells, |loaded| {
                    let value = loaded.value(*column).as_int();
                    expected = Some(expected.unwrap_or(0).wrapping_add(value.unwrap_or(0)));
                });
                self.is_number(expected)
            }
            Gives::Count if is_complete => {
                let mut expected = 0;
                self.each_asked(judge, cells, |_| expected += 1);
                self.is_number(Some(expected))
            }
            Gives::Sum(_) | Gives::Count => Ok(()),
        }
    }

    /// Looks at each value that was kept, and at the whole answer where it follows from the seed.
    fn judge_columns(
        &self,
        shape: &Shape,
        columns: &[usize],
        judge: &Judge,
        is_exact: bool,
        cells: &mut Cells,
    ) -> Result<(), String> {
        let mut values = vec![HashSet::new(); columns.len()];
        let mut rows = Vec::new();
        self.each_asked(judge, cells, |loaded| {
            let mut row = RowHash::default();
            for (place, column) in columns.iter().enumerate() {
                let (form, value) = (shape.forms[place], loaded.value(*column));
                values[place].insert(RowHash::of(form, value));
                row.value(form, value);
            }
            rows.push(row.finish());
        });
        let beyond = self.asks_beyond(judge);
        for row in &self.rows {
            for (place, column) in columns.iter().enumerate() {
                let found = value(row.get(place));
                if values[place].contains(&RowHash::of(shape.forms[place], found)) {
                    continue;
                }
                if let Some(why) = judge.other(*column, found, beyond) {
                    let number = columns.iter().position(|column| *column == judge.number);
                    let number = number.and_then(|place| value(row.get(place)).as_int());
                    return Err(number.map_or(why.clone(), |number| format!("row {number}: {why}")));
                }
            }
        }
        if !is_exact {
            return Ok(());
        }
        if let Gives::Distinct(_) = shape.gives {
            rows.sort_unstable();
            rows.dedup();
        }
        let mut expected = Sum::default();
        for hash in rows {
            expected.add_row(hash);
        }
        if self.sum == expected {
            return Ok(());
        }
        Err(format!(
            "the answer of {} rows has checksum {:016x}, expected {:016x} of {} rows",
            self.sum.rows, self.sum.hash, expected.hash, expected.rows
        ))
    }

    /// Where a query asks by another column than the number, the answer holds only what was asked for.
    fn judge_keys(&self, shape: &Shape) -> Result<(), String> {
        let Gives::Columns(columns) = &shape.gives else {
            return Ok(());
        };
        let Some(place) = columns.iter().position(|column| *column == shape.key) else {
            return Ok(());
        };
        let is_asked = |key: i64| match &self.asked {
            Numbers::List(list) => list.contains(&key),
            Numbers::Range(low, high) => (*low..=*high).contains(&key),
        };
        for row in &self.rows {
            let key = value(row.get(place));
            if !key.as_int().is_some_and(is_asked) {
                return Err(format!("a row has {}, which was not asked for", shown(key)));
            }
        }
        Ok(())
    }

    fn each_asked(&self, judge: &Judge, cells: &mut Cells, mut each: impl FnMut(&Cells)) {
        let mut show = |number: i64| {
            if judge.is_loaded(number) {
                cells.clear();
                judge.rows.put(self.copy, number as u64, cells);
                each(cells);
            }
        };
        match &self.asked {
            Numbers::List(list) => {
                let once: BTreeSet<i64> = list.iter().copied().collect();
                once.into_iter().for_each(&mut show);
            }
            Numbers::Range(low, high) => (*low..=*high).for_each(&mut show),
        }
    }

    fn asks_beyond(&self, judge: &Judge) -> bool {
        match &self.asked {
            Numbers::List(list) => !list.iter().all(|number| judge.is_loaded(*number)),
            Numbers::Range(low, high) => !judge.is_loaded(*low) || !judge.is_loaded(*high),
        }
    }

    /// `None`: NULL.
    fn is_number(&self, expected: Option<i64>) -> Result<(), String> {
        let found = value(self.rows.first().and_then(|row| row.first()));
        let holds = match expected {
            Some(number) => found.as_int() == Some(number),
            None => found == Value::Null,
        };
        if holds {
            return Ok(());
        }
        let expected = expected.map_or_else(|| "`NULL`".to_owned(), |number| number.to_string());
        Err(format!("the answer is {}, expected {expected}", shown(found)))
    }
}

#[cfg(test)]
mod tests {
    use drivers::ParamType;
    use model::Draw;

    use super::super::drawn::Place;
    use super::*;
    use crate::sql::tests::fixture::spec;
    use data::checksum::Form;
    use data::judge::Fates;
    use data::values::Maker;

    const SEED: u64 = 5;
    const C: &str = "############-############";
    const PLACE: Place = Place { first: 0, count: 1, kind: ParamType::Int };

    struct Values(Vec<String>);

    impl Row for Values {
        fn len(&self) -> usize {
            self.0.len()
        }

        fn value(&self, column: usize) -> Value<'_> {
            self.0.get(column).map_or(Value::Null, |text| Value::Bytes(text.as_bytes()))
        }
    }

    /// The fixture's table of `id` and `c`, after these fates.
    fn judge(change: impl FnOnce(&mut Fates)) -> Judge {
        let mut table = spec(Vec::new()).tables.remove(0);
        table.columns[1].value = Draw::Template(C.to_owned());
        let mut fates = Fates::untouched(&table);
        change(&mut fates);
        Judge::new(&table, 0, SEED, &fates).unwrap()
    }

    fn c_of(id: i64) -> String {
        let judge = judge(|_| ());
        let mut cells = Cells::new(model::Dialect::Sqlite);
        judge.rows.put(0, id as u64, &mut cells);
        cells.value(1).to_text().unwrap()
    }

    fn by_client() -> String {
        let mut text = String::new();
        let maker = Maker::sealed(&Draw::Template(C.to_owned()));
        maker.text(&mut model::Rng::new(1), 0, &mut text);
        text
    }

    fn shape(gives: Gives, is_range: bool) -> Shape {
        let forms = match &gives {
            Gives::Columns(columns) => {
                columns.iter().map(|column| [Form::Integer, Form::Padded][*column]).collect()
            }
            Gives::Distinct(_) => vec![Form::Padded],
            Gives::Sum(_) | Gives::Count => vec![Form::Integer],
        };
        let asked = if is_range {
            Asked::Range(PLACE, Place { first: 1, ..PLACE })
        } else {
            Asked::List(PLACE)
        };
        Shape { key: 0, asked, gives, forms }
    }

    /// What is wrong with these rows of an answer to a query for `asked`; a range has two ends.
    fn judged(judge: &Judge, shape: &Shape, asked: &[i64], rows: &[&[&str]]) -> Result<(), String> {
        let numbers = |place: Place| match shape.asked {
            Asked::List(_) => asked.to_vec(),
            Asked::Range(..) => vec![asked[place.first]],
        };
        let mut answer = Answer::new(0, 0, shape, numbers);
        for row in rows {
            let values = row.iter().map(|text| (*text).to_owned()).collect();
            answer.take(shape, &Values(values));
        }
        answer.judge(shape, judge, &mut Cells::new(model::Dialect::Sqlite))
    }

    #[test]
    fn an_answer_holds_the_rows_that_were_asked_for_in_any_order() {
        let judge = judge(|_| ());
        let (two, seven) = (c_of(2), c_of(7));
        let columns = shape(Gives::Columns(vec![0, 1]), false);
        let of = |rows: &[&[&str]]| judged(&judge, &columns, &[7, 2, 7], rows);
        assert_eq!(of(&[&["2", &two], &["7", &seven]]), Ok(()));
        assert_eq!(of(&[&["7", &format!("{seven}  ")], &["2", &two]]), Ok(()));
        let said = of(&[&["2", &two], &["7", "x"]]).unwrap_err();
        let expected = "row 7: c is `x`, which no row that was asked for can have";
        assert_eq!(said, expected);
        for wrong in [
            // Changed places, a row too few, too many, and another row.
            of(&[&["2", &seven], &["7", &two]]),
            of(&[&["2", &two]]),
            of(&[&["2", &two], &["7", &seven], &["7", &seven]]),
            of(&[&["2", &two], &["8", &c_of(8)]]),
        ] {
            assert!(wrong.is_err());
        }
    }

    #[test]
    fn sums_counts_and_distinct_values_follow_from_the_seed() {
        let judge = judge(|_| ());
        let of = |gives, rows: &[&[&str]]| judged(&judge, &shape(gives, true), &[4, 6], rows);
        assert_eq!(of(Gives::Sum(0), &[&["15"]]), Ok(()));
        assert_eq!(
            of(Gives::Sum(0), &[&["16"]]),
            Err("the answer is `16`, expected 15".to_owned())
        );
        let of_none = |rows: &[&[&str]]| judged(&judge, &shape(Gives::Sum(0), true), &[6, 4], rows);
        assert_eq!(of_none(&[&[]]), Ok(()));
        assert_eq!(of_none(&[&["0"]]), Err("the answer is `0`, expected `NULL`".to_owned()));
        assert_eq!(of(Gives::Count, &[&["3"]]), Ok(()));
        assert!(of(Gives::Count, &[&["2"]]).is_err());
        assert!(of(Gives::Count, &[]).is_err());
        let texts = [c_of(4), c_of(5), c_of(6)];
        let rows: Vec<Vec<&str>> = texts.iter().map(|text| vec![text.as_str()]).collect();
        let rows: Vec<&[&str]> = rows.iter().map(Vec::as_slice).collect();
        assert_eq!(of(Gives::Distinct(1), &rows), Ok(()));
        assert!(of(Gives::Distinct(1), &rows[1..]).is_err());
    }

    #[test]
    fn where_clients_wrote_texts_theirs_are_right_too() {
        let judge = judge(|fates| fates.columns[1] = Fate::Sealed);
        let columns = shape(Gives::Columns(vec![1]), false);
        let of = |text: &str| judged(&judge, &columns, &[7], &[&[text]]);
        assert_eq!(of(&c_of(7)), Ok(()));
        assert_eq!(of(&by_client()), Ok(()));
        // A loaded text of another row is not.
        assert!(of(&c_of(8)).is_err());
        assert!(of("x").is_err());
    }

    #[test]
    fn where_anything_may_stand_nothing_is_claimed() {
        let judge = judge(|fates| {
            fates.columns[1] = Fate::Free;
            fates.removed = true;
        });
        let columns = shape(Gives::Columns(vec![1]), true);
        assert_eq!(judged(&judge, &columns, &[1, 9], &[&["x"]]), Ok(()));
        let count = shape(Gives::Count, true);
        assert_eq!(judged(&judge, &count, &[1, 9], &[&["2"]]), Ok(()));
    }

    #[test]
    fn answers_by_another_key_hold_only_what_was_asked_for() {
        let judge = judge(|_| ());
        let mut other = shape(Gives::Columns(vec![1]), true);
        (other.key, other.forms) = (1, vec![Form::Integer]);
        assert_eq!(judged(&judge, &other, &[4, 6], &[&["5"], &["5"]]), Ok(()));
        assert_eq!(
            judged(&judge, &other, &[4, 6], &[&["5"], &["7"]]),
            Err("a row has `7`, which was not asked for".to_owned())
        );
    }

    #[test]
    fn answers_are_kept_over_the_whole_step_and_not_more_of_them() {
        let sampled = Sampled::new(8);
        let mut turn = Turn::new();
        let mut kept = Vec::new();
        for operation in 0..100_000 {
            if turn.comes() {
                kept.push(operation);
                let columns = shape(Gives::Columns(vec![1]), false);
                let answer = Answer::new(operation, 0, &columns, |_| Vec::new());
                sampled.keep(3, vec![answer], &mut turn);
            }
        }
        assert_eq!(kept[..3], [0, 64, 128]);
        assert!(kept.len() < 100, "{}", kept.len());
        let clients = sampled.clients.lock().unwrap();
        let left: Vec<usize> =
            clients[3].operations.iter().map(|answers| answers[0].statement).collect();
        assert!((4..8).contains(&left.len()), "{left:?}");
        assert_eq!(left[0], 0);
        assert!(*left.last().unwrap() > 50_000, "{left:?}");
    }
}
