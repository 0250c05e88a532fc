//! One statement: its text for a server to prepare, and with values in it.

use drivers::{Param, ParamType};
use model::Dialect;

use data::literal::{push_int, push_number, push_text};
#[derive(Debug)]
pub(crate) struct Statement {
    /// What it is called in messages.
    pub(super) name: String,
    /// With the placeholders of the dialect.
    pub(super) sql: String,
    pub(super) types: Vec<ParamType>,
    /// The text between the parameters.
    pub(super) pieces: Vec<String>,
    /// Can a server prepare it?
    pub(super) can_be_prepared: bool,
}

impl Statement {
    pub(super) fn new(dialect: Dialect, name: String, sql: &str, types: &[ParamType]) -> Self {
        let pieces: Vec<String> = sql.split('?').map(str::to_owned).collect();
        Self {
            name,
            sql: match dialect {
                Dialect::Mysql | Dialect::Sqlite => sql.to_owned(),
                Dialect::Postgres => numbered(&pieces),
            },
            types: types.to_vec(),
            // MySQL prepares COMMIT, but not this.
            can_be_prepared: dialect != Dialect::Mysql || sql != "BEGIN",
            pieces,
        }
    }
}

/// Pieces of a statement with `$1`, `$2` … between them.
fn numbered(pieces: &[String]) -> String {
    let mut sql = String::new();
    for (number, piece) in pieces.iter().enumerate() {
        if number > 0 {
            sql.push('$');
            sql.push_str(&number.to_string());
        }
        sql.push_str(piece);
    }
    sql
}

impl Statement {
    pub(super) fn write(&self, dialect: Dialect, params: &[Param<'_>], sql: &mut String) {
        sql.clear();
        let mut values = params.iter().zip(&self.types);
        for (number, piece) in self.pieces.iter().enumerate() {
            if number > 0
                && let Some((param, kind)) = values.next()
            {
                push(sql, dialect, *param, *kind);
            }
            sql.push_str(piece);
        }
    }
}

fn push(sql: &mut String, dialect: Dialect, param: Param<'_>, kind: ParamType) {
    match (param, kind) {
        (Param::Int(number), _) => push_int(sql, number),
        (Param::Text(text), ParamType::Int | ParamType::Decimal) => {
            push_number(sql, text);
        }
        (Param::Text(text), ParamType::Text | ParamType::DateTime) => {
            push_text(sql, dialect, text);
        }
    }
}

impl Statement {
    #[cfg(test)]
    pub(super) fn placeholders(&self) -> usize {
        self.pieces.len() - 1
    }
}
