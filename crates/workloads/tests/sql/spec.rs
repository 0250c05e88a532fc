//! Small workloads, built by hand.

use model::{
    ColumnKind, Distribution, Draw, ErrorRules, Expect, LoadSpec, Settle, SqlBlock, SqlColumn,
    SqlDraw, SqlIndex, SqlOperation, SqlPace, SqlPiece, SqlRun, SqlSpec, SqlStatement, SqlStep,
    SqlTable, SqlTexts, SqlWork, StepId, TableChoice, Verb, WarmUpEnd,
};

/// Rows of each copy of the table.
pub(crate) const ROWS: u64 = 300;
/// Copies of the table.
pub(crate) const COPIES: u32 = 2;

/// Tables `sbtest1` and `sbtest2`, loaded, and then these steps.
pub(crate) fn spec(steps: Vec<SqlStep>) -> SqlSpec {
    let first = SqlStep { work: SqlWork::Load, ..step("load", 2, run(Vec::new())) };
    SqlSpec {
        load: LoadSpec { rows_per_commit: 100, ..LoadSpec::usual(2) },
        errors: ErrorRules { retry: vec!["1213".to_owned()], tries: 50, ..ErrorRules::usual() },
        statement_timeout: 60,
        ..SqlSpec::usual("test", vec![table()], [vec![first], steps].concat())
    }
}

fn table() -> SqlTable {
    let column =
        |name: &str, kind, auto, value| SqlColumn { name: name.to_owned(), kind, auto, value };
    SqlTable {
        name: "sbtest".to_owned(),
        numbered: true,
        copies: COPIES,
        rows: ROWS,
        columns: vec![
            column("id", ColumnKind::Int, true, Draw::Row),
            column("k", ColumnKind::Int, false, Draw::From(0)),
            column("c", ColumnKind::Char(11), false, Draw::Template("#####-#####".to_owned())),
        ],
        primary_key: vec!["id".to_owned()],
        indexes: vec![SqlIndex {
            name: "k".to_owned(),
            columns: vec!["k".to_owned()],
            unique: false,
        }],
    }
}

/// A step that runs operations.
pub(crate) fn step(name: &str, clients: u32, run: SqlRun) -> SqlStep {
    SqlStep {
        id: StepId::new(name),
        test: name.to_owned(),
        group: String::new(),
        clients,
        work: SqlWork::Run(run),
    }
}

/// A step without operations.
pub(crate) fn errand(name: &str, work: SqlWork) -> SqlStep {
    SqlStep { work, ..step(name, 2, run(Vec::new())) }
}

/// A settle phase that does not wait.
pub(crate) fn settle() -> SqlStep {
    errand("settle", SqlWork::Settle(Settle::Seconds(0)))
}

/// A second of these operations, as fast as they go, to the end of the last one of each client.
pub(crate) fn run(operations: Vec<SqlOperation>) -> SqlRun {
    SqlRun {
        measured: true,
        seconds: 1,
        warmup_seconds: 0,
        warmup_end: WarmUpEnd::Fixed,
        writes: true,
        whole: true,
        pace: SqlPace::Unlimited,
        operations,
    }
}

/// An operation of one block.
pub(crate) fn operation(
    name: &str,
    transaction: bool,
    draws: Vec<SqlDraw>,
    statements: Vec<SqlStatement>,
) -> SqlOperation {
    SqlOperation {
        name: name.to_owned(),
        weight: 1,
        transaction,
        blocks: vec![SqlBlock {
            table: 0,
            choice: TableChoice::Random,
            repeat: 1,
            draws,
            statements,
        }],
    }
}

/// An operation of one statement in a transaction of its own.
pub(crate) fn single(statement: SqlStatement, draws: Vec<SqlDraw>) -> SqlOperation {
    operation(&statement.name.clone(), false, draws, vec![statement])
}

/// Selects the row with the first draw's key.
pub(crate) fn point() -> SqlStatement {
    select("point", "SELECT c FROM {} WHERE id = :0", Expect::Rows(1, 1))
}

/// A query.
pub(crate) fn select(name: &str, text: &str, expect: Expect) -> SqlStatement {
    SqlStatement {
        name: name.to_owned(),
        verb: Verb::Select,
        text: texts(text),
        expect,
        always_text: false,
        scans: false,
    }
}

/// A statement that changes rows.
pub(crate) fn change(verb: Verb, name: &str, text: &str, expect: Expect) -> SqlStatement {
    SqlStatement { verb, ..select(name, text, expect) }
}

/// Adds one to `k` of the row with the first draw's key.
pub(crate) fn add_one() -> SqlStatement {
    let text = "UPDATE {} SET k = k + 1 WHERE id = :0";
    change(Verb::Update, "add", text, Expect::Rows(1, 1))
}

/// Inserts a row with the first draw's key.
pub(crate) fn insert_key() -> SqlStatement {
    let text = "INSERT INTO {} (id, k, c) VALUES (:0, 0, 'new')";
    change(Verb::Insert, "insert", text, Expect::Rows(1, 1))
}

/// Deletes the row with the first draw's key, if there is one.
pub(crate) fn delete_key() -> SqlStatement {
    let text = "DELETE FROM {} WHERE id = :0";
    change(Verb::Delete, "delete", text, Expect::Rows(0, 1))
}

/// A draw with a name.
pub(crate) fn draw(name: &str, count: u32, draw: Draw) -> SqlDraw {
    SqlDraw { name: name.to_owned(), count, draw }
}

/// Any loaded key.
pub(crate) fn key() -> Vec<SqlDraw> {
    vec![draw("id", 1, int(1, ROWS as i64))]
}

/// Always this key.
pub(crate) fn only(key: i64) -> Vec<SqlDraw> {
    vec![draw("id", 1, int(key, key))]
}

/// An integer of a range, all alike.
pub(crate) fn int(low: i64, high: i64) -> Draw {
    Draw::Int { low, high, by: Distribution::Uniform }
}

/// The same text in each dialect: `{}` is the table, `:0` the first draw.
fn texts(text: &str) -> SqlTexts {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(['{', ':']) {
        pieces.push(SqlPiece::Text(rest[..at].to_owned()));
        pieces.push(match &rest[at..at + 2] {
            "{}" => SqlPiece::Table,
            draw => SqlPiece::Draw(draw[1..].parse().unwrap()),
        });
        rest = &rest[at + 2..];
    }
    pieces.push(SqlPiece::Text(rest.to_owned()));
    SqlTexts { mysql: pieces.clone(), postgres: pieces.clone(), sqlite: pieces }
}
