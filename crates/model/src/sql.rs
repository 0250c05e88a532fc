//! A workload of SQL statements, fully resolved: tables with their rows, steps with their operations.
//!
//! The microbenchmarks and users' own workloads are the same thing: data. A workload file is read by
//! `plan`, which leaves nothing open: every expression is a number here, every name an index.

use serde::{Deserialize, Serialize};

use crate::{Dialect, Settle, Statements, StepId, words};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SqlSpec {
    /// The workload's name: `micro`, or the name in the user's file.
    pub name: String,
    pub tables: Vec<SqlTable>,
    pub load: LoadSpec,
    pub steps: Vec<SqlStep>,
    /// How statements reach the server, where a statement does not say otherwise.
    pub statements: Statements,
    pub errors: ErrorRules,
    pub statement_timeout: u32,
    /// The original's behaviour where it differs.
    pub compat: bool,
}

impl SqlSpec {
    /// These tables, loaded in the usual way by one client, and prepared statements.
    pub fn usual(name: &str, tables: Vec<SqlTable>, steps: Vec<SqlStep>) -> Self {
        Self {
            name: name.to_owned(),
            tables,
            load: LoadSpec::usual(1),
            steps,
            statements: Statements::Prepared,
            errors: ErrorRules::usual(),
            statement_timeout: 600,
            compat: false,
        }
    }

    pub fn step(&self, id: &StepId) -> Option<&SqlStep> {
        self.steps.iter().find(|step| step.id == *id)
    }

    /// The step with this name, looked for at this place first: of thousands, each would be searched for among all.
    pub fn step_at(&self, ordinal: u32, id: &StepId) -> Option<&SqlStep> {
        self.steps.get(ordinal as usize).filter(|step| step.id == *id).or_else(|| self.step(id))
    }

    pub fn most_clients(&self) -> u32 {
        self.steps.iter().map(|s| s.clients).max().unwrap_or(1)
    }
}

/// A table, or several of the same shape.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SqlTable {
    /// Its name; with more than one copy the number, from 1, is appended: `sbtest` becomes `sbtest1`.
    pub name: String,
    /// Is the number appended even where there is one copy?
    pub numbered: bool,
    pub copies: u32,
    pub rows: u64,
    pub columns: Vec<SqlColumn>,
    pub primary_key: Vec<String>,
    pub indexes: Vec<SqlIndex>,
}

impl SqlTable {
    /// The name of copy `copy`, counted from zero.
    pub fn name_of(&self, copy: u32) -> String {
        if self.numbered || self.copies > 1 {
            format!("{}{}", self.name, copy + 1)
        } else {
            self.name.clone()
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SqlColumn {
    pub name: String,
    pub kind: ColumnKind,
    /// Does the server number rows that are inserted without it?
    pub auto: bool,
    pub value: Draw,
}

/// The type of a column, in every dialect's own words; none of them may be NULL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ColumnKind {
    Int,
    Bigint,
    /// Text of fixed length, in characters.
    Char(u32),
    /// Text with a maximum number of characters.
    Varchar(u32),
    Text,
    /// A decimal number: digits in all, digits after the point.
    Decimal(u32, u32),
    /// Date and time to the second, without zone.
    Datetime,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SqlIndex {
    /// Its name; `_1`, `_2` … is appended for each copy of the table.
    pub name: String,
    pub columns: Vec<String>,
    pub unique: bool,
}

/// How tables are loaded. The rows are the same whatever this says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoadSpec {
    pub clients: u32,
    pub method: LoadMethod,
    /// Rows that are loaded in one transaction; a load that was interrupted goes on at such a boundary.
    pub rows_per_commit: u32,
    /// Are secondary indexes made with the table, before its rows?
    pub indexes_first: bool,
}

impl LoadSpec {
    /// The default: the fastest way, by the given number of sessions, in transactions of 10,000 rows.
    pub const fn usual(clients: u32) -> Self {
        Self { clients, method: LoadMethod::Fastest, rows_per_commit: 10_000, indexes_first: false }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LoadMethod {
    /// The fastest that the server takes.
    Fastest,
    /// `COPY … FROM STDIN` or `LOAD DATA LOCAL INFILE`.
    Bulk,
    Insert,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SqlStep {
    /// Its name; in a sweep with `@` and the number of clients: `point-query@8`.
    pub id: StepId,
    /// Its name without the number of clients, shared by the steps of one sweep.
    pub test: String,
    /// Under which heading reports list it: `point`, `range`, `range-aggregate`, `write`; empty for none.
    pub group: String,
    pub clients: u32,
    pub work: SqlWork,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SqlWork {
    /// Makes and loads all tables; a result.
    Load,
    Index,
    /// Vacuum, analyze, flush; no result. The wait is at least as long as this says.
    Settle(Settle),
    /// Drops all tables, loads them and builds their indexes again, so that what follows begins with the same data as
    /// the first test; no result.
    Reset,
    Run(SqlRun),
}

impl SqlWork {
    pub const fn is_result(&self) -> bool {
        match self {
            Self::Load | Self::Index => true,
            Self::Settle(_) | Self::Reset => false,
            Self::Run(run) => run.measured,
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SqlRun {
    /// Is it a result, or does it only warm caches?
    pub measured: bool,
    pub seconds: u32,
    /// Seconds before these in which the same clients run and nothing is recorded; where the rate ends them at most.
    pub warmup_seconds: u32,
    #[serde(default)]
    pub warmup_end: WarmUpEnd,
    pub writes: bool,
    /// Does every client end with a whole operation, and the window with the last? For operations that take seconds.
    pub whole: bool,
    pub pace: SqlPace,
    /// Operations with weights; seldom more than one.
    pub operations: Vec<SqlOperation>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WarmUpEnd {
    #[default]
    Fixed,
    /// A rate that is steady, or its time, whichever comes first.
    Steady,
}

impl WarmUpEnd {
    /// Seconds that it takes at least to see that a rate is steady.
    pub const LEAST_SECONDS: u32 = 13;

    pub fn word(self) -> &'static str {
        words::<Self>()[self as usize]
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SqlPace {
    /// Closed loop: each client starts the next when it has the answer to the last.
    #[default]
    Unlimited,
    /// Open loop: they arrive, whether clients are free or not, and wait in one queue; beyond its length they are shed.
    Rate { per_second: u64, arrivals: Arrivals, queue: u32 },
    /// Open loops at several rates, the first `from`, each for some seconds, to find the highest at which the percentile
    /// `permille` (990 for p99) of response time keeps its limit; that rate is measured.
    Ramp {
        from: u64,
        arrivals: Arrivals,
        queue: u32,
        permille: u32,
        limit_micros: u64,
        attempt_seconds: u32,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Arrivals {
    Even,
    /// Independently of each other, with exponential distances.
    Poisson,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SqlOperation {
    pub name: String,
    pub weight: u32,
    /// Is it one transaction, BEGIN to COMMIT? Else each statement is its own.
    pub transaction: bool,
    pub blocks: Vec<SqlBlock>,
}

impl SqlOperation {
    /// Statements that one operation sends, BEGIN and COMMIT included: the field counts them as queries.
    pub fn statements(&self) -> u32 {
        let sent = |block: &SqlBlock| block.repeat * block.statements.len() as u32;
        self.blocks.iter().map(sent).sum::<u32>() + if self.transaction { 2 } else { 0 }
    }
}

/// Statements that share one choice of a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SqlBlock {
    /// Index of the table whose copy is chosen, where a statement needs one.
    pub table: u32,
    pub choice: TableChoice,
    /// How often the statements are sent; values are drawn anew each time, the table is not.
    pub repeat: u32,
    pub draws: Vec<SqlDraw>,
    pub statements: Vec<SqlStatement>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TableChoice {
    Random,
    /// Always the same for a client: the client's number modulo the copies.
    ByClient,
}

/// A value, or a list of them, by name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SqlDraw {
    /// Its name in the statements: `id` for `:id`.
    pub name: String,
    /// How many: 1 for a single value, more for a list, which `:ids` expands to, comma-separated.
    pub count: u32,
    pub draw: Draw,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Draw {
    /// The number of the row, from 1; only in loaded rows.
    Row,
    /// The number of the row modulo this, plus 1; only in loaded rows.
    Cycle(u64),
    /// An integer, both ends included.
    Int { low: i64, high: i64, by: Distribution },
    /// This integer; in a list this, then the next ones, one up each.
    From(i64),
    /// The draw of the block with this index, which comes before it, and a number on top.
    Plus { of: u32, add: i64 },
    /// A number that no other client and no row has: one more than the highest so far.
    Next,
    /// Text after a template: `#` is a random digit, `@` a random lower-case letter.
    Template(String),
    /// Random lower-case letters and digits, of a random length.
    Text { min: u32, max: u32 },
    /// Always this text.
    Fixed(String),
    /// A decimal number and its digits after the point; both ends, in its smallest unit.
    Decimal { low: i64, high: i64, scale: u32 },
    /// A date and time, evenly spread; both ends in seconds since 1970-01-01 00:00:00.
    Datetime { low: i64, high: i64 },
}

impl Draw {
    /// Bytes of the shortest and of the longest text; `None` where it makes numbers or times.
    pub fn text_bytes(&self) -> Option<(u32, u32)> {
        match self {
            Self::Template(text) | Self::Fixed(text) => {
                let bytes = text.len() as u32;
                Some((bytes, bytes))
            }
            Self::Text { min, max } => Some((*min, *max)),
            Self::Row
            | Self::Cycle(_)
            | Self::Int { .. }
            | Self::From(_)
            | Self::Plus { .. }
            | Self::Next
            | Self::Decimal { .. }
            | Self::Datetime { .. } => None,
        }
    }
}

/// How likely the integers of a range are. Shapes are given per mille, so that specs can be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Distribution {
    Uniform,
    /// Rank r with probability proportional to 1/r^s, `exponent` being s; rank 1 is the low end.
    Zipfian {
        exponent: u32,
    },
    /// A bell around the middle: the mean of this many uniform draws.
    Gaussian {
        draws: u32,
    },
    /// Pareto's: a share h of the range gets a share 1 − h of the draws, within itself likewise.
    Pareto {
        h: u32,
    },
    /// `draws_percent` of the draws fall into the hot values, which are the middle `hot_percent` of the range; the rest is
    /// Gaussian, of so many uniform draws: sysbench 1.0's default.
    Special {
        draws: u32,
        hot_percent: u32,
        draws_percent: u32,
        /// Which values of the middle are hot. Plans of backslide 0.1 and earlier do not say it.
        #[serde(default)]
        hot: HotValues,
    },
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HotValues {
    #[default]
    All,
    /// The upper `draws_percent` of them, as in sysbench 1.0.
    Upper,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SqlStatement {
    /// Its name in reports, beside the operation's: `order`, `delete`.
    pub name: String,
    pub verb: Verb,
    pub text: SqlTexts,
    pub expect: Expect,
    /// Is it sent as text even where the workload's statements are prepared?
    pub always_text: bool,
    /// Rows that it reads to answer, if the step counts them: a full scan.
    pub scans: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verb {
    Select,
    Insert,
    Update,
    Delete,
    /// Anything else; rows cannot be accounted for after it.
    Other,
}

impl Verb {
    pub fn word(self) -> &'static str {
        words::<Self>()[self as usize]
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SqlTexts {
    pub mysql: Vec<SqlPiece>,
    pub postgres: Vec<SqlPiece>,
    pub sqlite: Vec<SqlPiece>,
}

impl SqlTexts {
    pub fn of(&self, dialect: Dialect) -> &[SqlPiece] {
        match dialect {
            Dialect::Mysql => &self.mysql,
            Dialect::Postgres => &self.postgres,
            Dialect::Sqlite => &self.sqlite,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SqlPiece {
    Text(String),
    /// The chosen copy of the block's table.
    Table,
    /// The value of the block's draw with this index; a list comma-separated.
    Draw(u32),
}

/// The expected number of rows returned (SELECT) or affected (otherwise).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Expect {
    Any,
    /// So many rows, both ends included.
    Rows(u64, u64),
    /// As many rows as there are distinct values in the draw with this index.
    Distinct(u32),
}

/// Clients' rules for errors; codes are the server's: `1213`, `40P01`, `SQLITE_BUSY`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorRules {
    /// Codes after which the operation is given up and counted, and the client goes on; besides the usual.
    pub ignore: Vec<String>,
    /// Codes after which the operation is repeated; besides the usual.
    pub retry: Vec<String>,
    /// Codes that fail the trial though they usually do not.
    pub fatal: Vec<String>,
    /// Tries of one operation before the trial fails.
    pub tries: u32,
    /// Seconds in which a client whose connection was lost tries to connect again; for zero the trial fails.
    pub reconnect_seconds: u32,
}

impl ErrorRules {
    /// The default: only the codes that every Dbms asks to retry; a lost connection fails the trial.
    pub const fn usual() -> Self {
        Self {
            ignore: Vec::new(),
            retry: Vec::new(),
            fatal: Vec::new(),
            tries: 1_000,
            reconnect_seconds: 0,
        }
    }
}
