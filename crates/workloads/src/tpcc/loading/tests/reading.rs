use drivers::Value;
use model::Dialect;

use super::super::*;
use crate::tpcc::population::LOADED_AT;
use crate::tpcc::scale::tests::spec;
use crate::tpcc::tables::Kind;
use crate::tpcc::transactions::tests::fixture::Database;
use data::checksum::RowHash;
use load::engine::Blind;

/// The hash of a row.
fn hash(row: &[(Kind, Value<'_>)]) -> u64 {
    let mut hash = RowHash::default();
    for (kind, value) in row {
        hash.value(kind.form(), *value);
    }
    hash.finish()
}

fn text(text: &str) -> Value<'_> {
    Value::Bytes(text.as_bytes())
}

#[test]
fn dialects_that_write_a_row_differently_have_one_hash() {
    let kinds = [
        Kind::Int,
        Kind::Small,
        Kind::Money(12),
        Kind::Rate,
        Kind::Char(4),
        Kind::Name(16),
        Kind::Time,
        Kind::Small,
    ];
    let row = |values: [Value<'static>; 8]| -> Vec<(Kind, Value<'static>)> {
        kinds.into_iter().zip(values).collect()
    };
    let mysql = row([
        text("7"),
        text("-1"),
        text("-10.00"),
        text("0.1500"),
        text("ab"),
        text("BARBARBAR"),
        text(LOADED_AT),
        Value::Null,
    ]);
    let mut postgres = mysql.clone();
    postgres[4].1 = text("ab  ");
    let mut sqlite = mysql.clone();
    for (place, int) in [(0, 7), (1, -1), (2, -1000), (3, 1500)] {
        sqlite[place].1 = Value::Int(int);
    }
    let expected = hash(&mysql);
    assert_eq!(hash(&postgres), expected);
    assert_eq!(hash(&sqlite), expected);
    for (place, other) in [
        (0, text("8")),
        (2, text("-10.01")),
        (2, Value::Null),
        (3, text("0.1501")),
        (4, text("abc")),
        (5, text("BARBAROUGHT")),
        (5, text("barbarbar")),
        (6, text("2026-01-01 00:00:01")),
        (7, text("0")),
    ] {
        let mut changed = mysql.clone();
        changed[place].1 = other;
        assert_ne!(hash(&changed), expected, "{other:?}");
    }
}

/// The check of `stock` after these changes of a loaded database.
fn stock_after(changes: &[&str]) -> Check {
    let database = Database::new();
    let (spec, target, stop) = (spec(), database.target(), Stop::default());
    assert_eq!(target.dialect, Dialect::Sqlite);
    let at = Setting { spec: &spec, rows_seed: 42, target: &target, stop: &stop };
    at.load(&mut Blind).unwrap();
    for sql in changes {
        database.execute(sql);
    }
    let checks = at.checks().unwrap();
    checks.into_iter().find(|check| check.what == "checksum of stock").unwrap()
}

#[test]
fn the_first_batch_that_differs_is_told() {
    let stock = stock_after(&["UPDATE stock SET s_ytd = 1 WHERE s_i_id = 7"]);
    assert!(!stock.holds);
    let expected = "; the first that differs: stock, s_w_id 1, s_i_id 1 to 50";
    assert!(stock.actual.ends_with(expected), "{}", stock.actual);
}

#[test]
fn errors_that_cancel_out_are_found() {
    // The rows of the two warehouses in each other's place.
    let stock =
        stock_after(&["UPDATE stock SET s_w_id = -s_w_id", "UPDATE stock SET s_w_id = 3 + s_w_id"]);
    assert!(!stock.holds, "{stock:?}");
}
