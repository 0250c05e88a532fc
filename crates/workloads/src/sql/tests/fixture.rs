//! Small specs for the tests of this workload.

use model::{
    ColumnKind, Distribution, Draw, ErrorRules, Expect, LoadMethod, LoadSpec, SqlBlock, SqlColumn,
    SqlDraw, SqlOperation, SqlPace, SqlPiece, SqlRun, SqlSpec, SqlStatement, SqlStep, SqlTable,
    SqlTexts, SqlWork, StepId, TableChoice, Verb, WarmUpEnd,
};

/// Rows of the table.
pub(crate) const ROWS: u64 = 1000;

/// A table `t` of 1000 rows with columns `id` and `c`, and these steps.
pub(crate) fn spec(steps: Vec<SqlStep>) -> SqlSpec {
    let column =
        |name: &str, kind, value| SqlColumn { name: name.to_owned(), kind, auto: false, value };
    let table = SqlTable {
        name: "t".to_owned(),
        numbered: false,
        copies: 1,
        rows: ROWS,
        columns: vec![
            column("id", ColumnKind::Bigint, Draw::Row),
            column("c", ColumnKind::Char(5), Draw::Template("###-@".to_owned())),
        ],
        primary_key: vec!["id".to_owned()],
        indexes: Vec::new(),
    };
    SqlSpec {
        load: LoadSpec { method: LoadMethod::Insert, rows_per_commit: 100, ..LoadSpec::usual(1) },
        errors: ErrorRules { tries: 10, ..ErrorRules::usual() },
        statement_timeout: 10,
        ..SqlSpec::usual("test", vec![table], steps)
    }
}

pub(crate) fn step(name: &str, clients: u32, run: SqlRun) -> SqlStep {
    SqlStep {
        id: StepId::new(name),
        test: name.to_owned(),
        group: String::new(),
        clients,
        work: SqlWork::Run(run),
    }
}

pub(crate) fn run(operations: Vec<SqlOperation>) -> SqlRun {
    SqlRun {
        measured: true,
        seconds: 1,
        warmup_seconds: 0,
        warmup_end: WarmUpEnd::Fixed,
        writes: false,
        whole: false,
        pace: SqlPace::Unlimited,
        operations,
    }
}

pub(crate) fn operation(
    name: &str,
    transaction: bool,
    repeat: u32,
    statements: &[&str],
) -> SqlOperation {
    SqlOperation {
        name: name.to_owned(),
        weight: 1,
        transaction,
        blocks: vec![SqlBlock {
            table: 0,
            choice: TableChoice::Random,
            repeat,
            draws: vec![draw("id", 1, any_id())],
            statements: statements.iter().map(|name| statement(name)).collect(),
        }],
    }
}

pub(crate) fn statement(name: &str) -> SqlStatement {
    SqlStatement {
        name: name.to_owned(),
        verb: Verb::Select,
        text: texts("SELECT c FROM {} WHERE id = :0"),
        expect: Expect::Rows(1, 1),
        always_text: false,
        scans: false,
    }
}

pub(crate) fn draw(name: &str, count: u32, draw: Draw) -> SqlDraw {
    SqlDraw { name: name.to_owned(), count, draw }
}

pub(crate) fn any_id() -> Draw {
    Draw::Int { low: 1, high: ROWS as i64, by: Distribution::Uniform }
}

/// The same text in each dialect: `{}` is the table, `:0` the first draw.
pub(crate) fn texts(text: &str) -> SqlTexts {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(['{', ':']) {
        pieces.push(SqlPiece::Text(rest[..at].to_owned()));
        if rest[at..].starts_with("{}") {
            pieces.push(SqlPiece::Table);
        } else {
            pieces.push(SqlPiece::Draw(rest[at + 1..at + 2].parse().unwrap()));
        }
        rest = &rest[at + 2..];
    }
    pieces.push(SqlPiece::Text(rest.to_owned()));
    pieces.retain(|piece| *piece != SqlPiece::Text(String::new()));
    SqlTexts { mysql: pieces.clone(), postgres: pieces.clone(), sqlite: pieces }
}
