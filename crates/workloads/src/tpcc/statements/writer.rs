//! Writes the statements that a step needs, from their texts.

use drivers::ParamType;
use model::{Dialect, StockLevel, TpccForm, TpccMix, TpccProfile, TpccSpec, TpccTransaction};

use super::ask::Ask;
use super::lists::{List, expanded};
use super::statement::Statement;
use crate::tpcc::blocks::{blocks, named};
use crate::tpcc::money;

/// All texts, but for those that begin and end a transaction, and updates by rows of values.
pub(super) const TEXTS: &str = include_str!("statements.sql");

/// Writes the statements that a step needs.
pub(super) struct Writer<'a> {
    pub(super) statements: &'a mut Vec<Option<Statement>>,
    pub(super) dialect: Dialect,
    pub(super) spec: &'a TpccSpec,
}

impl Writer<'_> {
    pub(super) fn put_all(&mut self) {
        let begin = match self.dialect {
            Dialect::Mysql | Dialect::Postgres => "BEGIN",
            // Otherwise two that read and then want to write would wait for each other.
            Dialect::Sqlite => "BEGIN IMMEDIATE",
        };
        for (ask, text) in
            [(Ask::Begin, begin), (Ask::BeginReading, "BEGIN"), (Ask::Commit, "COMMIT")]
        {
            self.put(ask.place(), format!("{ask:?}"), text);
        }
        let comes_up = TpccTransaction::ALL.map(|t| is_in(self.spec.mix, t).then_some(t.name()));
        let manner = manner(self.spec);
        for (header, lines) in blocks(TEXTS) {
            let [name, transactions, conditions] = header[..] else { continue };
            let is_needed = transactions.split(' ').any(|name| comes_up.contains(&Some(name)));
            if is_needed && conditions.split_whitespace().all(|word| manner.contains(&word)) {
                self.put_text(name, &lines.join(" "));
            }
        }
        self.put_update_lists(&comes_up, &manner);
    }

    /// Puts the text of a block; one about several lines or districts for each number of them.
    fn put_text(&mut self, name: &str, text: &str) {
        if let Some(ask) = named::<Ask>(name) {
            self.put(ask.place(), name.to_owned(), text);
        } else if let Some(list) = named::<List>(name) {
            for count in list.counts() {
                let text = expanded(text, count);
                self.put(list.place(count), format!("{name} of {count}"), &text);
            }
        }
    }

    /// Puts a statement whose parameters are written `?`, `?t`, `?m` and `?a`, whatever the dialect.
    fn put(&mut self, place: usize, name: String, text: &str) {
        let lock = match self.dialect {
            Dialect::Mysql | Dialect::Postgres => " FOR UPDATE",
            // It has locked the whole database.
            Dialect::Sqlite => "",
        };
        let amount = match self.dialect {
            // A text would make it add real numbers.
            Dialect::Mysql => "CAST(? AS DECIMAL(12,2))",
            Dialect::Postgres | Dialect::Sqlite => "?",
        };
        let money = money::param_type(self.dialect);
        let text = text.replace("{lock}", lock);
        let mut parts = text.split('?');
        let mut sql = parts.next().unwrap_or_default().to_owned();
        let mut types = Vec::new();
        for part in parts {
            let (kind, placeholder, rest) = match part.split_at_checked(1) {
                Some(("t", rest)) => (ParamType::Text, "?", rest),
                Some(("m", rest)) => (money, "?", rest),
                Some(("a", rest)) => (money, amount, rest),
                Some(_) | None => (ParamType::Int, "?", part),
            };
            types.push(kind);
            sql.push_str(placeholder);
            sql.push_str(rest);
        }
        self.put_typed(place, name, &sql, &types);
    }

    fn put_typed(&mut self, place: usize, name: String, sql: &str, types: &[ParamType]) {
        let statement = Statement::new(self.dialect, name, sql, types);
        if let Some(slot) = self.statements.get_mut(place) {
            *slot = Some(statement);
        }
    }
}

/// How transactions are carried out, in the words of [`TEXTS`].
fn manner(spec: &TpccSpec) -> [&'static str; 4] {
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
    ]
}

/// Can a transaction come up?
fn is_in(mix: TpccMix, transaction: TpccTransaction) -> bool {
    match mix {
        TpccMix::Deck => true,
        TpccMix::Weights(weights) => weights[transaction as usize] > 0,
    }
}

const INT: ParamType = ParamType::Int;

/// Rows of values that a table is updated by, called `v`.
struct UpdateList<'a> {
    list: List,
    table: &'a str,
    columns: &'a [(&'a str, ParamType)],
    set: &'a str,
    on: &'a str,
}

impl Writer<'_> {
    /// Puts the updates by rows of values: of stock, and of the customers of a Delivery.
    fn put_update_lists(&mut self, comes_up: &[Option<&str>], manner: &[&str]) {
        let is_wanted = |transaction: TpccTransaction, word| {
            comes_up.contains(&Some(transaction.name())) && manner.contains(&word)
        };
        if is_wanted(TpccTransaction::NewOrder, "batched") {
            let standard = [
                ("w", INT),
                ("i", INT),
                ("quantity", INT),
                ("ordered", INT),
                ("orders", INT),
                ("remote", INT),
            ];
            let (columns, set) = match self.spec.profile {
                TpccProfile::Standard => (
                    &standard[..],
                    "s_quantity = v.quantity, s_ytd = s_ytd + v.ordered, \
                     s_order_cnt = s_order_cnt + v.orders, s_remote_cnt = s_remote_cnt + v.remote",
                ),
                TpccProfile::Percona => (&standard[..3], "s_quantity = v.quantity"),
            };
            self.put_update_list(&UpdateList {
                list: List::TakeStocks,
                table: "stock",
                columns,
                set,
                on: "s_w_id = v.w AND s_i_id = v.i",
            });
        }
        if is_wanted(TpccTransaction::Delivery, "together") {
            let money = money::param_type(self.dialect);
            self.put_update_list(&UpdateList {
                list: List::ChargeAll,
                table: "customer",
                columns: &[("w", INT), ("d", INT), ("c", INT), ("amount", money)],
                set: "c_balance = c_balance + v.amount, c_delivery_cnt = c_delivery_cnt + 1",
                on: "c_w_id = v.w AND c_d_id = v.d AND c_id = v.c",
            });
        }
    }

    fn put_update_list(&mut self, update: &UpdateList<'_>) {
        let UpdateList { list, table, columns, set, on } = *update;
        let types: Vec<ParamType> = columns.iter().map(|(_, kind)| *kind).collect();
        for count in list.counts() {
            let sql = match self.dialect {
                Dialect::Mysql => {
                    let rows = union(columns, count);
                    // Without the word, an optimizer may read the whole table before the rows of values.
                    format!("UPDATE ({rows}) AS v STRAIGHT_JOIN {table} ON {on} SET {set}")
                }
                Dialect::Postgres | Dialect::Sqlite => {
                    let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
                    let names = names.join(", ");
                    let row = format!("({})", vec!["?"; columns.len()].join(", "));
                    let rows = vec![row; count].join(", ");
                    format!(
                        "WITH v ({names}) AS (VALUES {rows}) UPDATE {table} SET {set} FROM v WHERE {on}"
                    )
                }
            };
            let name = format!("{list:?} of {count}");
            self.put_typed(list.place(count), name, &sql, &types.repeat(count));
        }
    }
}

/// Rows of values in the words of every MySQL version, with types: otherwise they would be texts, which
/// no index finds.
fn union(columns: &[(&str, ParamType)], count: usize) -> String {
    let cast = |kind: &ParamType| match kind {
        ParamType::Int => "CAST(? AS SIGNED)",
        ParamType::Decimal => "CAST(? AS DECIMAL(12,2))",
        ParamType::Text | ParamType::DateTime => "?",
    };
    let first: Vec<String> =
        columns.iter().map(|(name, kind)| format!("{} AS {name}", cast(kind))).collect();
    let other: Vec<&str> = columns.iter().map(|(_, kind)| cast(kind)).collect();
    let mut sql = format!("SELECT {}", first.join(", "));
    for _ in 1..count {
        sql.push_str(" UNION ALL SELECT ");
        sql.push_str(&other.join(", "));
    }
    sql
}
