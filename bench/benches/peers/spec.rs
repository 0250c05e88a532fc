//! The work: the table of sysbench, and its queries.

use model::{
    ColumnKind, Distribution, Draw, ErrorRules, Expect, LoadMethod, LoadSpec, SqlBlock, SqlColumn,
    SqlDraw, SqlIndex, SqlOperation, SqlPace, SqlPiece, SqlRun, SqlSpec, SqlStatement, SqlStep,
    SqlTable, SqlTexts, SqlWork, Statements, StepId, TableChoice, Verb, WarmUpEnd,
};

/// Rows of a range.
pub(crate) const RANGE: u64 = 100;
/// Rows of an INSERT.
pub(crate) const INSERT: usize = 50;

const C: &str = "###########-###########-###########-###########-###########-###########-\
                 ###########-###########-###########-###########";
const PAD: &str = "###########-###########-###########-###########-###########";

/// One kind of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    /// One row by its key.
    Point,
    /// A hundred rows by their keys.
    Range,
    /// A column without an index, of one row.
    Update,
    /// Fifty rows.
    Insert,
}

impl Work {
    pub(crate) const ALL: [Self; 4] = [Self::Point, Self::Range, Self::Update, Self::Insert];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Point => "point select",
            Self::Range => "100-row range",
            Self::Update => "update",
            Self::Insert => "50-row insert",
        }
    }

    /// The work with this name.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|work| work.name() == name)
    }
}

/// The workload: load, index, then `work` by `clients` for `seconds`.
pub(crate) fn spec(rows: u64, loaders: u32, work: Work, clients: u32, seconds: u32) -> SqlSpec {
    let step = |name: &str, clients, work| SqlStep {
        id: StepId::new(name),
        test: name.to_owned(),
        group: String::new(),
        clients,
        work,
    };
    SqlSpec {
        name: "peers".to_owned(),
        tables: vec![table(rows)],
        load: LoadSpec {
            clients: loaders,
            method: LoadMethod::Fastest,
            rows_per_commit: 20_000,
            indexes_first: false,
        },
        steps: vec![
            step("load", loaders, SqlWork::Load),
            step("index", 1, SqlWork::Index),
            step(work.name(), clients, SqlWork::Run(run(rows, work, seconds))),
        ],
        statements: Statements::Prepared,
        errors: ErrorRules {
            ignore: Vec::new(),
            retry: Vec::new(),
            fatal: Vec::new(),
            tries: 100,
            reconnect_seconds: 0,
        },
        statement_timeout: 600,
        compat: false,
    }
}

fn table(rows: u64) -> SqlTable {
    let column =
        |name: &str, kind, auto, value| SqlColumn { name: name.to_owned(), kind, auto, value };
    SqlTable {
        name: "sbtest".to_owned(),
        numbered: true,
        copies: 1,
        rows,
        columns: vec![
            column("id", ColumnKind::Int, true, Draw::Row),
            column("k", ColumnKind::Int, false, uniform(rows)),
            column("c", ColumnKind::Char(120), false, template(C)),
            column("pad", ColumnKind::Char(60), false, template(PAD)),
        ],
        primary_key: vec!["id".to_owned()],
        indexes: vec![SqlIndex {
            name: "k".to_owned(),
            columns: vec!["k".to_owned()],
            unique: false,
        }],
    }
}

fn uniform(high: u64) -> Draw {
    Draw::Int { low: 1, high: high as i64, by: Distribution::Uniform }
}

fn template(text: &str) -> Draw {
    Draw::Template(text.to_owned())
}

fn run(rows: u64, work: Work, seconds: u32) -> SqlRun {
    SqlRun {
        measured: true,
        seconds,
        warmup_seconds: 0,
        warmup_end: WarmUpEnd::Fixed,
        writes: matches!(work, Work::Update | Work::Insert),
        whole: false,
        pace: SqlPace::Unlimited,
        operations: vec![SqlOperation {
            name: "operation".to_owned(),
            weight: 1,
            transaction: false,
            blocks: vec![block(rows, work)],
        }],
    }
}

fn block(rows: u64, work: Work) -> SqlBlock {
    let (draws, verb, expect, pieces) = match work {
        Work::Point => (
            vec![draw("id", uniform(rows))],
            Verb::Select,
            Expect::Rows(1, 1),
            vec![text("SELECT c FROM "), SqlPiece::Table, text(" WHERE id="), SqlPiece::Draw(0)],
        ),
        Work::Range => (
            vec![
                draw("from", uniform(rows - RANGE + 1)),
                draw("to", Draw::Plus { of: 0, add: RANGE as i64 - 1 }),
            ],
            Verb::Select,
            Expect::Rows(RANGE, RANGE),
            vec![
                text("SELECT c FROM "),
                SqlPiece::Table,
                text(" WHERE id BETWEEN "),
                SqlPiece::Draw(0),
                text(" AND "),
                SqlPiece::Draw(1),
            ],
        ),
        Work::Update => (
            vec![draw("c", template(C)), draw("id", uniform(rows))],
            Verb::Update,
            Expect::Rows(1, 1),
            vec![
                text("UPDATE "),
                SqlPiece::Table,
                text(" SET c="),
                SqlPiece::Draw(0),
                text(" WHERE id="),
                SqlPiece::Draw(1),
            ],
        ),
        Work::Insert => insert(rows),
    };
    let texts = SqlTexts { mysql: pieces.clone(), postgres: pieces.clone(), sqlite: pieces };
    SqlBlock {
        table: 0,
        choice: TableChoice::Random,
        repeat: 1,
        draws,
        statements: vec![SqlStatement {
            name: "statement".to_owned(),
            verb,
            text: texts,
            expect,
            always_text: false,
            scans: false,
        }],
    }
}

type Parts = (Vec<SqlDraw>, Verb, Expect, Vec<SqlPiece>);

fn insert(rows: u64) -> Parts {
    let mut draws = Vec::new();
    let mut pieces = vec![text("INSERT INTO "), SqlPiece::Table, text(" (k, c, pad) VALUES ")];
    for row in 0..INSERT as u32 {
        let open = if row == 0 { "(" } else { ", (" };
        draws.extend([
            draw("k", uniform(rows)),
            draw("c", template(C)),
            draw("pad", template(PAD)),
        ]);
        pieces.extend([
            text(open),
            SqlPiece::Draw(row * 3),
            text(", "),
            SqlPiece::Draw(row * 3 + 1),
            text(", "),
            SqlPiece::Draw(row * 3 + 2),
            text(")"),
        ]);
    }
    let expect = Expect::Rows(INSERT as u64, INSERT as u64);
    (draws, Verb::Insert, expect, pieces)
}

fn draw(name: &str, draw: Draw) -> SqlDraw {
    SqlDraw { name: name.to_owned(), count: 1, draw }
}

fn text(sql: &str) -> SqlPiece {
    SqlPiece::Text(sql.to_owned())
}
