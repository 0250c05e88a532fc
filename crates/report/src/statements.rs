//! What an operation of a SQL workload sends, as a person reads it.

use std::collections::BTreeSet;

use model::{Dialect, Distribution, Draw, SqlBlock, SqlOperation, SqlPiece, SqlSpec, SqlStatement};

use crate::format;

/// The statements of one operation, a line each, in the SQL of a dialect: values by their names, a table
/// of which there are several with `N` for its number, `10 ×` before what is sent several times.
pub fn operation(spec: &SqlSpec, operation: &SqlOperation, dialect: Dialect) -> Vec<String> {
    let sent = operation.blocks.iter().flat_map(|block| {
        let times = match block.repeat {
            1 => String::new(),
            times => format!("{times} × "),
        };
        block
            .statements
            .iter()
            .map(move |one| format!("{times}{}", statement(spec, block, one, dialect)))
    });
    let [begin, commit] =
        ["BEGIN", "COMMIT"].map(|word| operation.transaction.then(|| word.to_owned()));
    begin.into_iter().chain(sent).chain(commit).collect()
}

fn statement(
    spec: &SqlSpec,
    block: &SqlBlock,
    statement: &SqlStatement,
    dialect: Dialect,
) -> String {
    let table = spec.tables.get(block.table as usize);
    let table = table.map_or_else(String::new, |table| match table.copies {
        0 | 1 => table.name_of(0),
        _ => format!("{}N", table.name),
    });
    let pieces = statement.text.of(dialect).iter();
    let text: String = pieces
        .map(|piece| match piece {
            SqlPiece::Text(text) => text.clone(),
            SqlPiece::Table => table.clone(),
            SqlPiece::Draw(place) => block
                .draws
                .get(*place as usize)
                .map_or_else(String::new, |draw| format!(":{}", draw.name)),
        })
        .collect();
    format::joined(text.split_whitespace(), " ")
}

/// A line each: `:id is 1 to 1,000,000`. The same value of several blocks is told once.
pub fn values(operation: &SqlOperation) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let all = operation.blocks.iter().flat_map(|block| {
        block.draws.iter().map(move |draw| {
            let what = value(&draw.draw, block);
            match draw.count {
                0 | 1 => format!(":{} is {what}", draw.name),
                n => format!(":{} are {n} of: {what}", draw.name),
            }
        })
    });
    all.filter(|line| seen.insert(line.clone())).collect()
}

fn value(draw: &Draw, block: &SqlBlock) -> String {
    let integer = |value: i64| match u64::try_from(value) {
        Ok(value) => format::count(value),
        Err(_) => value.to_string(),
    };
    match draw {
        Draw::Row => "the number of the row".to_owned(),
        Draw::Cycle(n) => format!("the number of the row modulo {n}, plus 1"),
        Draw::Int { low, high, .. } if low == high => integer(*low),
        Draw::Int { low, high, by } => {
            format!("{} to {}{}", integer(*low), integer(*high), distribution(*by))
        }
        Draw::From(first) => format!("{} and up", integer(*first)),
        Draw::Plus { of, add } => {
            let other = block.draws.get(*of as usize);
            let other = other.map_or("?", |other| other.name.as_str());
            format!(":{other} + {add}")
        }
        Draw::Next => "the next unused number".to_owned(),
        Draw::Template(template) => format!("text like `{template}`"),
        Draw::Text { min, max } if min == max => format!("{min} letters and digits"),
        Draw::Text { min, max } => format!("{min} to {max} letters and digits"),
        Draw::Fixed(text) => format!("`{text}`"),
        Draw::Decimal { low, high, scale } => {
            let unit = 10f64.powi(*scale as i32);
            let places = *scale as usize;
            format!("{:.places$} to {:.places$}", *low as f64 / unit, *high as f64 / unit)
        }
        Draw::Datetime { .. } => "a date and time".to_owned(),
    }
}

fn distribution(by: Distribution) -> String {
    let part = |permille: u32| f64::from(permille) / 1000.0;
    match by {
        Distribution::Uniform => String::new(),
        Distribution::Zipfian { exponent } => format!(", Zipfian, exponent {}", part(exponent)),
        Distribution::Gaussian { draws } => format!(", a bell of {draws} draws"),
        Distribution::Pareto { h } => format!(", Pareto, h {}", part(h)),
        Distribution::Special { hot_percent, draws_percent, .. } => {
            format!(", {draws_percent} % of them from the middle {hot_percent} %")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{
        ErrorRules, Expect, LoadMethod, LoadSpec, SqlDraw, SqlTable, SqlTexts, Statements,
        TableChoice, Verb,
    };

    fn block(repeat: u32, count: u32, draw: Draw, before: &str, after: &str) -> SqlBlock {
        let pieces = vec![
            SqlPiece::Text(before.into()),
            SqlPiece::Table,
            SqlPiece::Text(format!("\n  {after} ")),
            SqlPiece::Draw(0),
        ];
        SqlBlock {
            table: 0,
            choice: TableChoice::Random,
            repeat,
            draws: vec![SqlDraw { name: "id".into(), count, draw }],
            statements: vec![SqlStatement {
                name: "point".into(),
                verb: Verb::Select,
                text: SqlTexts { mysql: pieces.clone(), postgres: pieces.clone(), sqlite: pieces },
                expect: Expect::Any,
                always_text: false,
                scans: false,
            }],
        }
    }

    #[test]
    fn an_operation_reads_as_what_it_sends() {
        let uniform = Draw::Int { low: 1, high: 1_000_000, by: Distribution::Uniform };
        let zipf = Draw::Int { low: 1, high: 5, by: Distribution::Zipfian { exponent: 800 } };
        let one = SqlOperation {
            name: "mix".into(),
            weight: 1,
            transaction: true,
            blocks: vec![
                block(10, 1, uniform.clone(), "SELECT c FROM ", "WHERE id ="),
                block(1, 1, uniform, "DELETE FROM ", "WHERE id ="),
                block(1, 100, zipf, "SELECT 1 FROM ", "WHERE id IN"),
            ],
        };
        let spec = SqlSpec {
            name: "w".into(),
            tables: vec![SqlTable {
                name: "t".into(),
                numbered: true,
                copies: 8,
                rows: 1,
                columns: Vec::new(),
                primary_key: Vec::new(),
                indexes: Vec::new(),
            }],
            load: LoadSpec {
                clients: 1,
                method: LoadMethod::Fastest,
                rows_per_commit: 1,
                indexes_first: false,
            },
            steps: Vec::new(),
            statements: Statements::Prepared,
            errors: ErrorRules {
                ignore: Vec::new(),
                retry: Vec::new(),
                fatal: Vec::new(),
                tries: 1,
                reconnect_seconds: 0,
            },
            statement_timeout: 1,
            compat: false,
        };
        let text = [operation(&spec, &one, Dialect::Mysql).join("\n"), values(&one).join("\n")];
        insta::assert_snapshot!(text.join("\n"), @"
        BEGIN
        10 × SELECT c FROM tN WHERE id = :id
        DELETE FROM tN WHERE id = :id
        SELECT 1 FROM tN WHERE id IN :id
        COMMIT
        :id is 1 to 1,000,000
        :id are 100 of: 1 to 5, Zipfian, exponent 0.8
        ");
    }
}
