//! The fake's data, and the statements of the Insert Benchmark.
//!
//! No parser: a statement is known by its first words, and what matters in it is found after the
//! words that stand before it.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use drivers::{Row, Value};

const COLUMNS: [&str; 7] =
    ["transactionid", "dateandtime", "cashregisterid", "customerid", "productid", "price", "data"];

/// Statements that change nothing here.
const WITHOUT_EFFECT: [&str; 5] = ["CREATE INDEX ", "ANALYZE ", "PRAGMA ", "BEGIN", "COMMIT"];

/// A value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Cell {
    Null,
    Int(i64),
    Text(String),
}

/// The result of a statement: returned and touched rows.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    pub(crate) rows: Vec<Vec<Cell>>,
    pub(crate) affected: u64,
}

/// All tables of one database.
#[derive(Debug, Default)]
pub(crate) struct Tables(pub(crate) BTreeMap<String, Table>);

#[derive(Debug, Default)]
pub(crate) struct Table {
    /// By their key; every row has all of [`COLUMNS`].
    pub(crate) rows: BTreeMap<i64, Vec<Cell>>,
    /// The highest key ever given.
    pub(crate) highest: i64,
}

impl Tables {
    /// Runs a statement; the error names the unsupported part.
    pub(crate) fn execute(&mut self, sql: &str) -> Result<Answer, String> {
        if let Some(rest) = sql.strip_prefix("CREATE TABLE ") {
            self.0.insert(first_word(rest).to_owned(), Table::default());
        } else if sql.starts_with("INSERT INTO ") {
            return self.table(sql, "INSERT INTO ")?.insert(sql);
        } else if sql.starts_with("DELETE FROM ") {
            return self.table(sql, "DELETE FROM ")?.delete(sql);
        } else if sql.starts_with("SELECT ") {
            return self.table(sql, " FROM ")?.select(sql);
        } else if !WITHOUT_EFFECT.iter().any(|known| sql.starts_with(known)) {
            return Err(format!("the fake does not understand `{sql}`"));
        }
        Ok(Answer::default())
    }

    /// Removes the row with the highest key.
    pub(crate) fn lose_a_row(&mut self, sql: &str) {
        if let Ok(table) = self.table(sql, "INSERT INTO ") {
            table.rows.pop_last();
        }
    }

    /// A sum over all rows that are there, without their keys: the same for the same rows in any
    /// order.
    pub(crate) fn checksum(&self) -> u64 {
        let rows = self.0.iter().flat_map(|(name, table)| {
            let rows = table.rows.values();
            rows.map(move |row| {
                let mut hasher = DefaultHasher::new();
                (name, row.get(1..)).hash(&mut hasher);
                hasher.finish()
            })
        });
        rows.fold(0, u64::wrapping_add)
    }

    /// Rows of all tables.
    pub(crate) fn rows(&self) -> usize {
        self.0.values().map(|table| table.rows.len()).sum()
    }

    fn table(&mut self, sql: &str, before: &str) -> Result<&mut Table, String> {
        let name = word_after(sql, before);
        let table = name.and_then(|name| self.0.get_mut(name));
        table.ok_or_else(|| format!("no table {}", name.unwrap_or_default()))
    }
}

impl Table {
    fn insert(&mut self, sql: &str) -> Result<Answer, String> {
        let (_, rows) = sql.split_once(" VALUES ").ok_or("no VALUES")?;
        let rows = rows.trim_start_matches('(').trim_end_matches(')');
        let mut affected = 0;
        for row in rows.split("),(") {
            let mut cells = vec![Cell::Int(self.highest + 1)];
            cells.extend(row.split(',').map(literal));
            if cells.len() != COLUMNS.len() {
                return Err(format!("{} values in ({row})", cells.len() - 1));
            }
            self.highest += 1;
            affected += 1;
            self.rows.insert(self.highest, cells);
        }
        Ok(Answer { rows: Vec::new(), affected })
    }

    fn delete(&mut self, sql: &str) -> Result<Answer, String> {
        let low = number_after(sql, "transactionid >= ").ok_or("no lower bound")?;
        let limit = number_after(sql, "LIMIT ").ok_or("no LIMIT")?;
        let keys = self.rows.range(low..).map(|(key, _)| *key);
        let keys: Vec<i64> = keys.take(limit as usize).collect();
        for key in &keys {
            self.rows.remove(key);
        }
        Ok(Answer { rows: Vec::new(), affected: keys.len() as u64 })
    }

    fn select(&self, sql: &str) -> Result<Answer, String> {
        let (columns, _) =
            sql.trim_start_matches("SELECT ").split_once(" FROM ").ok_or("no FROM")?;
        let rows = match columns {
            "MIN(transactionid)" => vec![vec![key(self.rows.first_key_value())]],
            "MAX(transactionid)" => vec![vec![key(self.rows.last_key_value())]],
            _ if columns.starts_with("COUNT(") => vec![vec![Cell::Int(self.rows.len() as i64)]],
            _ => {
                let columns: Vec<usize> =
                    columns.split(", ").map(column).collect::<Result<_, String>>()?;
                self.rows_of(sql, &columns)?
            }
        };
        Ok(Answer { rows, affected: 0 })
    }

    fn rows_of(&self, sql: &str, columns: &[usize]) -> Result<Vec<Vec<Cell>>, String> {
        let condition = Condition::read(sql)?;
        let holds = |row: &&Vec<Cell>| condition.as_ref().is_none_or(|c| c.holds(row));
        let found = self.rows.values().filter(holds);
        let mut rows: Vec<Vec<Cell>> =
            found.map(|row| columns.iter().map(|at| row[*at].clone()).collect()).collect();
        if sql.contains(" ORDER BY ") {
            rows.sort();
        }
        if let Some(limit) = number_after(sql, " LIMIT ") {
            rows.truncate(limit as usize);
        }
        Ok(rows)
    }
}

/// `column > number`, `column >= number` or `column IN (numbers)`.
struct Condition {
    column: usize,
    least: i64,
    keys: Option<Vec<i64>>,
}

impl Condition {
    fn read(sql: &str) -> Result<Option<Self>, String> {
        let Some((_, text)) = sql.split_once(" WHERE ") else {
            return Ok(None);
        };
        let column = column(first_word(text))?;
        if let Some((_, keys)) = text.split_once(" IN (") {
            let keys = keys.trim_end_matches(')').split(',').map(str::parse);
            let keys = keys.collect::<Result<_, _>>().map_err(|_| "not a key")?;
            return Ok(Some(Self { column, least: i64::MIN, keys: Some(keys) }));
        }
        let least = match number_after(text, " >= ") {
            Some(least) => Some(least),
            None => number_after(text, " > ").map(|below| below + 1),
        };
        Ok(Some(Self {
            column,
            least: least.ok_or_else(|| format!("no condition in `{text}`"))?,
            keys: None,
        }))
    }

    fn holds(&self, row: &[Cell]) -> bool {
        let Cell::Int(value) = row[self.column] else {
            return false;
        };
        value >= self.least && self.keys.as_ref().is_none_or(|keys| keys.contains(&value))
    }
}

fn key(entry: Option<(&i64, &Vec<Cell>)>) -> Cell {
    entry.map_or(Cell::Null, |(key, _)| Cell::Int(*key))
}

fn column(name: &str) -> Result<usize, String> {
    let found = COLUMNS.iter().position(|known| *known == name);
    found.ok_or_else(|| format!("no column {name}"))
}

/// `'text'` or a number, whose decimals are zero.
fn literal(text: &str) -> Cell {
    let number = text.trim_end_matches(".00").parse();
    number.map_or_else(|_| Cell::Text(text.trim_matches('\'').to_owned()), Cell::Int)
}

fn first_word(text: &str) -> &str {
    let end = text.find([' ', '(', ')']).unwrap_or(text.len());
    &text[..end]
}

fn word_after<'a>(sql: &'a str, before: &str) -> Option<&'a str> {
    sql.split_once(before).map(|(_, rest)| first_word(rest))
}

fn number_after(sql: &str, before: &str) -> Option<i64> {
    word_after(sql, before)?.parse().ok()
}

/// A row as a session shows it.
pub(crate) struct Shown<'a>(pub(crate) &'a [Cell]);

impl Row for Shown<'_> {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn value(&self, column: usize) -> Value<'_> {
        match self.0.get(column) {
            Some(Cell::Int(number)) => Value::Int(*number),
            Some(Cell::Text(text)) => Value::Bytes(text.as_bytes()),
            Some(Cell::Null) | None => Value::Null,
        }
    }
}
