//! Writes the statements that a step needs, from their texts.

use drivers::{Param, ParamType};
use model::{
    Dialect, Statements, StockLevel, TpccForm, TpccMix, TpccProfile, TpccSpec, TpccTransaction,
};

use super::{Ask, List};
use crate::tpcc::blocks::{blocks, named};
use crate::tpcc::money;
use data::literal::{Literal, push_int, push_text};

/// All texts, except for those that begin and end a transaction.
pub(super) const TEXTS: &str = include_str!("statements.sql");

/// One statement: its text for a server to prepare, and the pieces that values are put between.
#[derive(Debug)]
pub(super) struct Statement {
    /// What it is called in messages.
    pub(super) name: String,
    /// With the placeholders of the dialect.
    pub(super) sql: String,
    pub(super) types: Vec<ParamType>,
    pub(super) pieces: Vec<String>,
    pub(super) is_prepared: bool,
}

impl Statement {
    /// From a text whose parameters are written `?`, `?t`, `?m` and `?a`, whatever the dialect.
    fn new(spec: &TpccSpec, dialect: Dialect, name: String, text: &str) -> Self {
        let (lock, amount) = match dialect {
            // A text would make it add real numbers.
            Dialect::Mysql => (" FOR UPDATE", "CAST(?m AS DECIMAL(12,2))"),
            Dialect::Postgres => (" FOR UPDATE", "?m"),
            // It has locked the whole database.
            Dialect::Sqlite => ("", "?m"),
        };
        let text = text.replace("{lock}", lock).replace("?a", amount);
        let mut parts = text.split('?');
        let mut pieces = vec![parts.next().unwrap_or_default().to_owned()];
        let mut types = Vec::new();
        for part in parts {
            let (kind, piece) = match part.split_at_checked(1) {
                Some(("t", rest)) => (ParamType::Text, rest),
                Some(("m", rest)) => (money::param_type(dialect), rest),
                Some(_) | None => (ParamType::Int, part),
            };
            types.push(kind);
            pieces.push(piece.to_owned());
        }
        let sql = match dialect {
            Dialect::Mysql | Dialect::Sqlite => pieces.join("?"),
            Dialect::Postgres => {
                let numbered = pieces.iter().enumerate().map(|(number, piece)| match number {
                    0 => piece.clone(),
                    _ => format!("${number}{piece}"),
                });
                numbered.collect()
            }
        };
        let is_prepared = match spec.statements {
            Statements::Text => false,
            // MySQL prepares COMMIT, but not this.
            Statements::Prepared | Statements::Usual => dialect != Dialect::Mysql || sql != "BEGIN",
        };
        Self { name, sql, types, pieces, is_prepared }
    }

    /// Writes the statement with these values in it.
    pub(super) fn write(&self, dialect: Dialect, params: &[Param<'_>], sql: &mut String) {
        sql.clear();
        let mut values = params.iter().zip(&self.types);
        for (number, piece) in self.pieces.iter().enumerate() {
            if number > 0
                && let Some((param, kind)) = values.next()
            {
                match (param, kind) {
                    (Param::Int(number), _) => push_int(sql, *number),
                    (Param::Text(text), ParamType::Int | ParamType::Decimal) => {
                        push_text(sql, dialect, Literal::Number, text);
                    }
                    (Param::Text(text), ParamType::Text | ParamType::DateTime) => {
                        push_text(sql, dialect, Literal::Quoted, text);
                    }
                }
            }
            sql.push_str(piece);
        }
    }

    #[cfg(test)]
    pub(super) fn placeholders(&self) -> usize {
        self.pieces.len() - 1
    }
}

/// Puts the statements that a step needs at their places.
pub(super) fn put_all(spec: &TpccSpec, dialect: Dialect, by_place: &mut [Option<Statement>]) {
    let mut put = |place: usize, name: String, text: &str| {
        if let Some(slot) = by_place.get_mut(place) {
            *slot = Some(Statement::new(spec, dialect, name, text));
        }
    };
    let begin = match dialect {
        Dialect::Mysql | Dialect::Postgres => "BEGIN",
        // Otherwise two that read and then want to write would wait for each other.
        Dialect::Sqlite => "BEGIN IMMEDIATE",
    };
    for (ask, text) in [(Ask::Begin, begin), (Ask::BeginReading, "BEGIN"), (Ask::Commit, "COMMIT")]
    {
        put(ask.place(), format!("{ask:?}"), text);
    }
    let comes_up = TpccTransaction::ALL.map(|t| is_in(spec.mix, t).then_some(t.name()));
    let manner = manner(spec, dialect);
    for (header, lines) in blocks(TEXTS) {
        let [name, transactions, conditions] = header[..] else { continue };
        let is_needed = transactions.split(' ').any(|name| comes_up.contains(&Some(name)));
        if !is_needed || !conditions.split_whitespace().all(|word| manner.contains(&word)) {
            continue;
        }
        let text = lines.join(" ");
        if let Some(ask) = named::<Ask>(name) {
            put(ask.place(), name.to_owned(), &text);
        } else if let Some(list) = named::<List>(name) {
            for count in list.counts() {
                put(list.place(count), format!("{name} of {count}"), &expanded(&text, count));
            }
        }
    }
}

/// How transactions are carried out and by which server, in the words of [`TEXTS`].
fn manner(spec: &TpccSpec, dialect: Dialect) -> [&'static str; 5] {
    let is_batched = spec.form == TpccForm::Batched;
    [
        match spec.profile {
            TpccProfile::Standard => "standard",
            TpccProfile::Percona => "percona",
        },
        if is_batched { "batched" } else { "single" },
        if is_batched && !spec.delivery_by_district { "together" } else { "by-order" },
        match spec.stock_level {
            StockLevel::Join => "join",
            StockLevel::Loop => "loop",
        },
        if dialect == Dialect::Mysql { "mysql" } else { "others" },
    ]
}

/// Can a transaction come up?
fn is_in(mix: TpccMix, transaction: TpccTransaction) -> bool {
    match mix {
        TpccMix::Deck => true,
        TpccMix::Weights(weights) => weights[transaction as usize] > 0,
    }
}

/// A text with what stands in `{list:…}`, `{or:…}` and `{more:…}` as often as there are lines or districts.
fn expanded(text: &str, count: usize) -> String {
    let mut sql = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        sql.push_str(before);
        let (part, after) = after.split_once('}').unwrap_or((after, ""));
        match part.split_once(':') {
            Some(("or", key)) => sql.push_str(&vec![format!("({key})"); count].join(" OR ")),
            Some(("more", other)) => sql.push_str(&other.repeat(count - 1)),
            Some((_, item)) => sql.push_str(&vec![item; count].join(", ")),
            // Of another kind, to be filled in later.
            None => sql.extend(["{", part, "}"]),
        }
        rest = after;
    }
    sql + rest
}
