//! From the operations of a step to what its clients send: every name, place and number is looked up once.

use drivers::{Param, ParamType};
use model::{
    BEGIN, COMMIT, Dialect, Expect, Rng, SqlBlock, SqlKinds as Kinds, SqlOperation, SqlPiece,
    SqlRun, SqlSpec, SqlStatement, Statements, TableChoice, Verb,
};

use super::drawn::{Base, Drawn, Place, Values, draws};
use super::effects::{Addition, additions};
use super::shape::{self, Shape};
use data::{RowCounts, push_int, push_number, push_placeholder, push_text, statements};
use load::{Result, StepError};

/// The operations of a step, compiled; shared by its clients.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) dialect: Dialect,
    pub(super) operations: Vec<Operation>,
    pub(super) statements: Vec<Statement>,
    /// Ends of the operations' shares of all weights.
    shares: Vec<u64>,
    /// How many places for the ids of prepared statements a session needs.
    pub(super) places: usize,
}
#[derive(Debug)]
pub(super) struct Operation {
    pub(super) index: usize,
    pub(super) name: String,
    pub(super) kind: usize,
    pub(super) transaction: bool,
    pub(super) writes: bool,
    pub(super) sends: Vec<Sending>,
    blocks: Vec<Block>,
}

/// A statement at its place in an operation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sending {
    /// Index of the statement in the program.
    pub(super) statement: usize,
    /// Index of the block whose copy of a table it uses.
    block: usize,
    pub(super) base: Base,
}

/// What is chosen and drawn before an operation is sent.
#[derive(Debug)]
struct Block {
    copies: u32,
    choice: TableChoice,
    repeat: u32,
    draws: Vec<Drawn>,
}
#[derive(Debug)]
pub(super) struct Statement {
    pub(super) name: String,
    pub(super) kind: Option<usize>,
    pub(super) verb: Verb,
    pub(super) answer: Answer,
    pub(super) shape: Option<Shape>,
    /// What it adds to columns for each row that it changes.
    pub(super) additions: Vec<Addition>,
    pub(super) table: u32,
    pub(super) scans: bool,
    /// Does it only begin or end a transaction?
    pub(super) is_control: bool,
    pub(super) params: Params,
    choice: TableChoice,
    is_prepared: bool,
    /// Where a session keeps its id for the first copy of the table, and how far the next one is.
    place: usize,
    stride: usize,
    names: Vec<String>,
    pieces: Vec<Piece>,
}

/// What a right answer looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Any,
    Rows(u64, u64),
    Distinct(Place),
}

/// Where the parameters of a prepared statement are.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Params {
    /// They are integers that stand in a row: sent from where they are.
    InPlace {
        first: usize,
        count: usize,
    },
    Gathered(Vec<Place>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    Table,
    Values(Place),
}

pub(super) fn compile(
    spec: &SqlSpec,
    run: &SqlRun,
    kinds: &Kinds,
    dialect: Dialect,
) -> Result<Program> {
    if run.operations.is_empty() {
        return Err(StepError::Unsupported("the step has no operations".to_owned()));
    }
    let mut compiler = Compiler { spec, run, kinds, dialect, statements: Vec::new(), places: 0 };
    let operations = (0..run.operations.len()).map(|index| compiler.operation(index));
    let operations = operations.collect::<Result<Vec<_>, _>>()?;
    let shares = run.operations.iter().scan(0, |end, operation| {
        *end += u64::from(operation.weight);
        Some(*end)
    });
    Ok(Program {
        dialect,
        operations,
        shares: shares.collect(),
        statements: compiler.statements,
        places: compiler.places,
    })
}

struct Compiler<'a> {
    spec: &'a SqlSpec,
    run: &'a SqlRun,
    kinds: &'a Kinds,
    dialect: Dialect,
    statements: Vec<Statement>,
    places: usize,
}

impl Compiler<'_> {
    fn operation(&mut self, index: usize) -> Result<Operation> {
        let run = self.run;
        let operation = &run.operations[index];
        let mut statements = operation.blocks.iter().flat_map(|block| &block.statements);
        let mut compiled = Operation {
            index,
            name: operation.name.clone(),
            kind: self.kinds.operation(index),
            transaction: operation.transaction,
            writes: statements.any(|statement| statement.verb != Verb::Select),
            sends: Vec::new(),
            blocks: Vec::new(),
        };
        if operation.transaction {
            // In SQLite one that writes takes the write lock at once: two that take it after they have
            // read would wait for each other, and one had to begin anew.
            let begin = if compiled.writes { statements::begin(self.dialect) } else { "BEGIN" };
            compiled.sends.push(self.control(operation, BEGIN, begin));
        }
        let mut base = Base::default();
        for block in &operation.blocks {
            self.block(operation, block, &mut base, &mut compiled).map_err(|error| {
                StepError::Unsupported(format!("operation `{}`: {error}", operation.name))
            })?;
        }
        if operation.transaction {
            let commit = self.control(operation, COMMIT, "COMMIT");
            compiled.sends.push(commit);
        }
        Ok(compiled)
    }

    /// Compiles a block: its statements once, their sendings as often as they are repeated.
    fn block(
        &mut self,
        operation: &SqlOperation,
        block: &SqlBlock,
        base: &mut Base,
        compiled: &mut Operation,
    ) -> Result {
        let Some(table) = self.spec.tables.get(block.table as usize) else {
            let what = format!("no table {}", block.table);
            return Err(StepError::Unsupported(what));
        };
        let names: Vec<String> = (0..table.copies.max(1)).map(|n| table.name_of(n)).collect();
        let (draws, Base { ints, texts }) = draws(block, self.dialect)?;
        let first = self.statements.len();
        for statement in &block.statements {
            let kind = self.kinds.statement(self.run, operation, &statement.name);
            let statement = self.statement(block, statement, kind, &draws, &names)?;
            self.statements.push(statement);
        }
        for _ in 0..block.repeat {
            let sends = (first..self.statements.len()).map(|statement| Sending {
                statement,
                block: compiled.blocks.len(),
                base: *base,
            });
            compiled.sends.extend(sends);
            base.ints += ints;
            base.texts += texts;
        }
        compiled.blocks.push(Block {
            copies: names.len() as u32,
            choice: block.choice,
            repeat: block.repeat,
            draws,
        });
        Ok(())
    }

    fn statement(
        &mut self,
        block: &SqlBlock,
        statement: &SqlStatement,
        kind: Option<usize>,
        draws: &[Drawn],
        names: &[String],
    ) -> Result<Statement> {
        let unusable =
            |why: &str| StepError::Unsupported(format!("the statement `{}` {why}", statement.name));
        let place_of = |draw: u32| match draws.get(draw as usize) {
            Some(drawn) => Ok(drawn.place),
            None => Err(unusable(&format!("uses a value {draw} that its block does not draw"))),
        };
        let text = statement.text.of(self.dialect);
        let piece = |piece: &SqlPiece| match piece {
            SqlPiece::Text(text) => Ok(Piece::Text(text.clone())),
            SqlPiece::Table => Ok(Piece::Table),
            SqlPiece::Draw(draw) => Ok(Piece::Values(place_of(*draw)?)),
        };
        let pieces = text.iter().map(piece).collect::<Result<Vec<_>>>()?;
        let answer = match statement.expect {
            Expect::Any => Answer::Any,
            Expect::Rows(low, high) => Answer::Rows(low, high),
            Expect::Distinct(draw) => match place_of(draw)? {
                place if !place.is_text() => Answer::Distinct(place),
                _ => {
                    return Err(unusable(
                        "expects one row per distinct value of a parameter that is not an integer",
                    ));
                }
            },
        };
        let additions = match statement.verb {
            Verb::Update => additions(self.spec, block, text, draws),
            Verb::Select | Verb::Insert | Verb::Delete | Verb::Other => Vec::new(),
        };
        let stride = usize::from(pieces.contains(&Piece::Table));
        let place = self.places;
        self.places += if stride == 0 { 1 } else { names.len() };
        Ok(Statement {
            name: statement.name.clone(),
            kind,
            verb: statement.verb,
            answer,
            shape: shape::of(self.spec, block, statement, draws, self.dialect),
            additions,
            table: block.table,
            scans: statement.scans,
            is_control: false,
            params: params(&pieces),
            choice: block.choice,
            is_prepared: self.is_prepared(statement),
            place,
            stride,
            names: names.to_vec(),
            pieces,
        })
    }

    fn is_prepared(&self, statement: &SqlStatement) -> bool {
        match (self.spec.statements, self.dialect) {
            _ if statement.always_text => false,
            (Statements::Prepared, _) => true,
            (Statements::Text, _) | (Statements::Usual, Dialect::Mysql) => false,
            (Statements::Usual, Dialect::Postgres | Dialect::Sqlite) => {
                statement.verb == Verb::Select
            }
        }
    }

    fn control(&mut self, operation: &SqlOperation, name: &str, text: &str) -> Sending {
        let statement = self.statements.len();
        let kind = self.kinds.statement(self.run, operation, name);
        self.statements.push(Statement {
            name: name.to_owned(),
            kind,
            // It returns no rows and changes none by itself.
            verb: Verb::Select,
            answer: Answer::Any,
            shape: None,
            additions: Vec::new(),
            table: 0,
            scans: false,
            is_control: true,
            params: params(&[]),
            choice: TableChoice::Random,
            is_prepared: self.spec.statements == Statements::Prepared,
            place: self.places,
            stride: 0,
            names: Vec::new(),
            pieces: vec![Piece::Text(text.to_owned())],
        });
        self.places += 1;
        Sending { statement, block: 0, base: Base::default() }
    }
}

fn params(pieces: &[Piece]) -> Params {
    let places = pieces.iter().filter_map(|piece| match piece {
        Piece::Values(place) => Some(*place),
        Piece::Text(_) | Piece::Table => None,
    });
    let places: Vec<Place> = places.collect();
    let first = places.first().map_or(0, |place| place.first);
    let mut end = first;
    for place in &places {
        if place.is_text() || place.first != end {
            return Params::Gathered(places);
        }
        end += place.count;
    }
    let count = end - first;
    Params::InPlace { first, count }
}

/// A statement as it is sent: to a copy of its table.
#[derive(Clone, Copy)]
pub(super) struct Sent<'a> {
    pub(super) statement: &'a Statement,
    pub(super) sending: &'a Sending,
    pub(super) copy: u32,
}

impl Sent<'_> {
    pub(super) fn write(self, dialect: Dialect, values: &Values, sql: &mut String) {
        let base = self.sending.base;
        self.statement.write(self.copy, sql, |sql, place, n| match place.kind {
            ParamType::Int => push_int(sql, values.int(base.ints + place.first + n)),
            ParamType::Decimal => push_number(sql, values.text(base, place, n)),
            ParamType::Text | ParamType::DateTime => {
                push_text(sql, dialect, values.text(base, place, n));
            }
        });
    }
}

impl Program {
    /// A sending to the copy of its table that was chosen for its block.
    #[inline]
    pub(super) fn sent<'a>(&'a self, sending: &'a Sending, copies: &[u32]) -> Sent<'a> {
        let copy = copies.get(sending.block).copied().unwrap_or(0);
        Sent { statement: &self.statements[sending.statement], sending, copy }
    }

    #[inline]
    pub(super) fn choose(&self, rng: &mut Rng) -> &Operation {
        let all = self.shares.last().copied().unwrap_or(0);
        if self.operations.len() == 1 || all == 0 {
            return &self.operations[0];
        }
        let draw = rng.below(all);
        &self.operations[self.shares.partition_point(|end| *end <= draw)]
    }

    pub(super) fn prepared(&self) -> usize {
        let prepared = self.statements.iter().filter(|s| s.is_prepared);
        prepared.map(|s| s.copies(0).len()).sum()
    }
}

impl Operation {
    /// Chooses the copies of its tables and draws all of its values. `client` is the client's number.
    #[inline]
    pub(super) fn draw(
        &self,
        values: &mut Values,
        copies: &mut Vec<u32>,
        rng: &mut Rng,
        counts: &RowCounts,
        client: u32,
    ) {
        values.clear();
        copies.clear();
        for block in &self.blocks {
            copies.push(match block.choice {
                _ if block.copies == 1 => 0,
                TableChoice::Random => rng.below(u64::from(block.copies)) as u32,
                TableChoice::ByClient => client % block.copies,
            });
            for _ in 0..block.repeat {
                values.draw(&block.draws, rng, counts);
            }
        }
    }

    /// May all of it be sent before the first answer is read? Not where an error in the middle would
    /// leave a part of its changes, and nobody could say which: the MySQL protocol executes what comes
    /// after an error, and a deadlock there ends the transaction.
    pub(super) fn may_be_pipelined(&self, dialect: Dialect) -> bool {
        let is_undone_by_an_error = self.transaction && dialect != Dialect::Mysql;
        self.sends.len() > 1 && (!self.writes || is_undone_by_an_error)
    }
}

impl Statement {
    /// Where a session keeps its id for a copy of the table.
    #[inline]
    pub(super) fn place(&self, copy: u32) -> usize {
        self.place + self.stride * copy as usize
    }

    /// The copies of the table for which a client prepares it; empty where it is sent as text.
    pub(super) fn copies(&self, client: u32) -> std::ops::Range<u32> {
        let all = self.names.len().max(1) as u32;
        match self.choice {
            _ if !self.is_prepared => 0..0,
            _ if self.stride == 0 => 0..1,
            TableChoice::Random => 0..all,
            TableChoice::ByClient => client % all..client % all + 1,
        }
    }

    /// Its text with placeholders, and their types.
    pub(super) fn to_prepare(&self, dialect: Dialect, copy: u32) -> (String, Vec<ParamType>) {
        let (mut sql, mut types) = (String::new(), Vec::new());
        self.write(copy, &mut sql, |sql, place, _| {
            types.push(place.kind);
            push_placeholder(sql, dialect, types.len());
        });
        (sql, types)
    }

    /// Appends its text; `value` appends one value of a draw, by number.
    fn write(&self, copy: u32, sql: &mut String, mut value: impl FnMut(&mut String, Place, usize)) {
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => sql.push_str(text),
                Piece::Table => sql.push_str(self.table_name(copy)),
                Piece::Values(place) => {
                    for n in 0..place.count {
                        if n > 0 {
                            sql.push(',');
                        }
                        value(sql, *place, n);
                    }
                }
            }
        }
    }

    pub(super) fn table_name(&self, copy: u32) -> &str {
        self.names.get(copy as usize).map_or("", String::as_str)
    }
}

impl Params {
    pub(super) fn count(&self) -> usize {
        match self {
            Self::InPlace { count, .. } => *count,
            Self::Gathered(places) => places.iter().map(|place| place.count).sum(),
        }
    }

    /// Appends the parameters of one sending, borrowed from its values.
    pub(super) fn gather<'a>(&self, values: &'a Values, base: Base, out: &mut Vec<Param<'a>>) {
        match self {
            Self::InPlace { first, count } => {
                out.extend_from_slice(values.ints(base, *first, *count));
            }
            Self::Gathered(places) => {
                for place in places {
                    if place.is_text() {
                        let text = |n| Param::Text(values.text(base, *place, n));
                        out.extend((0..place.count).map(text));
                    } else {
                        out.extend_from_slice(values.ints(base, place.first, place.count));
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
