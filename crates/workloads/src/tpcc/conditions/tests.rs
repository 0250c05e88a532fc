//! The conditions against a database that is small enough to be spoiled by hand.

use std::time::Duration;

use drivers::{Session, SqliteSession};
use tempfile::TempDir;

use super::*;

const SCALE: Scale = Scale { warehouses: 2, items: 3, customers: 2, delivered: 1 };

/// Columns that no condition looks at are left out.
const TABLES: [&str; 9] = [
    "CREATE TABLE warehouse (w_id INTEGER PRIMARY KEY, w_ytd)",
    "CREATE TABLE district (d_w_id, d_id, d_ytd, d_next_o_id, PRIMARY KEY (d_w_id, d_id))",
    "CREATE TABLE customer (c_w_id, c_d_id, c_id, c_balance, c_ytd_payment, c_payment_cnt, \
     c_delivery_cnt, PRIMARY KEY (c_w_id, c_d_id, c_id))",
    "CREATE TABLE history (h_c_w_id, h_c_d_id, h_c_id, h_w_id, h_d_id, h_amount)",
    "CREATE TABLE new_order (no_w_id, no_d_id, no_o_id, PRIMARY KEY (no_w_id, no_d_id, no_o_id))",
    "CREATE TABLE orders (o_w_id, o_d_id, o_id, o_c_id, o_carrier_id, o_ol_cnt, o_all_local, \
     PRIMARY KEY (o_w_id, o_d_id, o_id))",
    "CREATE TABLE order_line (ol_w_id, ol_d_id, ol_o_id, ol_number, ol_i_id, ol_supply_w_id, \
     ol_delivery_d, ol_quantity, ol_amount, PRIMARY KEY (ol_w_id, ol_d_id, ol_o_id, ol_number))",
    "CREATE TABLE item (i_id INTEGER PRIMARY KEY)",
    "CREATE TABLE stock (s_w_id, s_i_id, s_quantity, s_ytd, s_order_cnt, s_remote_cnt, \
     PRIMARY KEY (s_w_id, s_i_id))",
];

/// What a load leaves: in each district the order of customer 1 is delivered and that of customer 2 is not.
const WAREHOUSE: [&str; 2] = [
    "INSERT INTO warehouse VALUES ({w}, 20000)",
    "INSERT INTO stock VALUES ({w}, 1, 10, 0, 0, 0), ({w}, 2, 50, 0, 0, 0), ({w}, 3, 100, 0, 0, 0)",
];
const DISTRICT: [&str; 6] = [
    "INSERT INTO district VALUES ({w}, {d}, 2000, 3)",
    "INSERT INTO customer VALUES ({w}, {d}, 1, -1000, 1000, 1, 0), ({w}, {d}, 2, -1000, 1000, 1, 0)",
    "INSERT INTO history VALUES ({w}, {d}, 1, {w}, {d}, 1000), ({w}, {d}, 2, {w}, {d}, 1000)",
    "INSERT INTO orders VALUES ({w}, {d}, 1, 1, 7, 2, 1), ({w}, {d}, 2, 2, NULL, 2, 1)",
    "INSERT INTO new_order VALUES ({w}, {d}, 2)",
    "INSERT INTO order_line VALUES \
     ({w}, {d}, 1, 1, 1, {w}, '2026', 5, 0), ({w}, {d}, 1, 2, 3, {w}, '2026', 5, 0), \
     ({w}, {d}, 2, 1, 2, {w}, NULL, 5, 120), ({w}, {d}, 2, 2, 2, {w}, NULL, 5, 130)",
];

/// A New-Order of customer 1 in the first district, with an item of the other warehouse; the Delivery of the
/// district's oldest; a Payment of its customer in another warehouse.
const TRANSACTIONS: [&str; 15] = [
    "UPDATE district SET d_next_o_id = 4 WHERE d_w_id = 1 AND d_id = 1",
    "INSERT INTO orders VALUES (1, 1, 3, 1, NULL, 2, 0)",
    "INSERT INTO new_order VALUES (1, 1, 3)",
    "UPDATE stock SET s_quantity = 43, s_ytd = 7, s_order_cnt = 1 WHERE s_w_id = 1 AND s_i_id = 2",
    "INSERT INTO order_line VALUES (1, 1, 3, 1, 2, 1, NULL, 7, 700)",
    "UPDATE stock SET s_quantity = 92, s_ytd = 9, s_order_cnt = 1, s_remote_cnt = 1 \
     WHERE s_w_id = 2 AND s_i_id = 1",
    "INSERT INTO order_line VALUES (1, 1, 3, 2, 1, 2, NULL, 9, 900)",
    "DELETE FROM new_order WHERE no_w_id = 1 AND no_d_id = 1 AND no_o_id = 2",
    "UPDATE orders SET o_carrier_id = 3 WHERE o_w_id = 1 AND o_d_id = 1 AND o_id = 2",
    "UPDATE order_line SET ol_delivery_d = '2027' WHERE ol_w_id = 1 AND ol_d_id = 1 AND ol_o_id = 2",
    "UPDATE customer SET c_balance = c_balance + 250, c_delivery_cnt = 1 \
     WHERE c_w_id = 1 AND c_d_id = 1 AND c_id = 2",
    "UPDATE warehouse SET w_ytd = w_ytd + 345 WHERE w_id = 2",
    "UPDATE district SET d_ytd = d_ytd + 345 WHERE d_w_id = 2 AND d_id = 5",
    "UPDATE customer SET c_balance = c_balance - 345, c_ytd_payment = c_ytd_payment + 345, \
     c_payment_cnt = 2 WHERE c_w_id = 1 AND c_d_id = 1 AND c_id = 2",
    "INSERT INTO history VALUES (1, 1, 2, 2, 5, 345)",
];

/// Whatever a mistake in a transaction could leave, and what it offends.
const SPOILED: [(&str, &[&str]); 33] = [
    ("UPDATE warehouse SET w_ytd = w_ytd - 345 WHERE w_id = 2", &["condition 1", "condition 8"]),
    ("UPDATE district SET d_ytd = d_ytd + 1 WHERE d_id = 5", &["condition 1", "condition 9"]),
    (
        "DELETE FROM history WHERE h_amount = 345",
        &["condition 8", "condition 9", "condition 10", "payments"],
    ),
    ("UPDATE history SET h_d_id = 6 WHERE h_amount = 345", &["condition 9"]),
    ("UPDATE history SET h_w_id = 1 WHERE h_amount = 345", &["condition 8", "condition 9"]),
    ("UPDATE history SET h_c_id = 1 WHERE h_amount = 345", &["condition 10", "payments"]),
    (
        "UPDATE district SET d_next_o_id = 5 WHERE d_w_id = 1 AND d_id = 1",
        &["condition 2", "order numbers"],
    ),
    ("INSERT INTO new_order VALUES (1, 3, 3)", &["condition 2", "condition 5", "condition 11"]),
    ("DELETE FROM new_order WHERE no_w_id = 1 AND no_d_id = 1", &["condition 5", "condition 11"]),
    (
        "UPDATE new_order SET no_o_id = 1 WHERE no_w_id = 2 AND no_d_id = 1",
        &["condition 2", "condition 5"],
    ),
    ("INSERT INTO new_order VALUES (1, 1, 1)", &["condition 3", "condition 5", "condition 11"]),
    (
        "DELETE FROM order_line WHERE ol_o_id = 3 AND ol_number = 2",
        &["condition 4", "condition 6", "local orders", "stock sums"],
    ),
    (
        "DELETE FROM order_line WHERE ol_w_id = 2 AND ol_d_id = 2 AND ol_o_id = 1",
        &["condition 4", "condition 6"],
    ),
    ("UPDATE order_line SET ol_number = 4 WHERE ol_o_id = 3 AND ol_number = 2", &["line numbers"]),
    (
        "INSERT INTO order_line VALUES (2, 9, 9, 1, 1, 2, '2026', 5, 0)",
        &["condition 4", "condition 6", "stock sums"],
    ),
    ("UPDATE orders SET o_ol_cnt = 3 WHERE o_id = 3", &["condition 4", "condition 6"]),
    (
        "UPDATE orders SET o_ol_cnt = o_ol_cnt + (o_id = 1) - (o_id = 2) WHERE o_w_id = 2",
        &["condition 6"],
    ),
    (
        "UPDATE orders SET o_carrier_id = NULL WHERE o_w_id = 1 AND o_d_id = 1 AND o_id = 2",
        &["condition 5", "condition 7", "condition 11", "deliveries"],
    ),
    (
        "UPDATE orders SET o_carrier_id = 1 WHERE o_id = 3",
        &["condition 5", "condition 7", "condition 11", "deliveries"],
    ),
    (
        "UPDATE order_line SET ol_delivery_d = NULL WHERE ol_o_id = 1 AND ol_d_id = 4",
        &["condition 7"],
    ),
    (
        "UPDATE order_line SET ol_delivery_d = NULL WHERE ol_o_id = 2 AND ol_d_id = 1 AND ol_number = 1",
        &["condition 7", "condition 10", "condition 12"],
    ),
    (
        "UPDATE customer SET c_balance = c_balance + 250, c_delivery_cnt = 2 WHERE c_w_id = 1 AND c_d_id = 1 AND c_id = 2",
        &["condition 10", "condition 12", "deliveries"],
    ),
    (
        "UPDATE customer SET c_balance = 0 WHERE c_w_id = 2 AND c_d_id = 7 AND c_id = 2",
        &["condition 10", "condition 12"],
    ),
    (
        "UPDATE customer SET c_ytd_payment = 0 WHERE c_w_id = 2 AND c_d_id = 7 AND c_id = 2",
        &["condition 12", "payments"],
    ),
    (
        "UPDATE customer SET c_payment_cnt = 1 WHERE c_w_id = 1 AND c_d_id = 1 AND c_id = 2",
        &["payments"],
    ),
    (
        "UPDATE customer SET c_id = 9 WHERE c_w_id = 1 AND c_d_id = 1 AND c_id = 2",
        &["condition 10", "condition 12", "deliveries", "payments"],
    ),
    ("UPDATE stock SET s_quantity = 101 WHERE s_w_id = 1 AND s_i_id = 2", &["stock range"]),
    ("UPDATE stock SET s_quantity = 9 WHERE s_w_id = 1 AND s_i_id = 3", &["stock range"]),
    ("UPDATE stock SET s_ytd = 6 WHERE s_w_id = 1 AND s_i_id = 2", &["stock sums"]),
    ("UPDATE stock SET s_remote_cnt = 0 WHERE s_w_id = 2", &["stock sums"]),
    ("UPDATE orders SET o_all_local = 1 WHERE o_id = 3", &["local orders", "stock sums"]),
    ("DELETE FROM stock WHERE s_w_id = 2 AND s_i_id = 3", &["rows of a warehouse"]),
    ("DELETE FROM item WHERE i_id = 2", &["warehouses and items"]),
];

struct Database {
    session: Box<dyn Session>,
    _directory: TempDir,
}

impl Database {
    fn loaded() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("tpcc.sqlite");
        let pragmas = vec![("synchronous".to_owned(), "off".to_owned())];
        let session = SqliteSession::open(None, &path, &pragmas, Duration::from_secs(5)).unwrap();
        let mut database = Self { session: Box::new(session), _directory: directory };
        database.run(&TABLES);
        for warehouse in 1..=SCALE.warehouses {
            let of = |sql: &str| sql.replace("{w}", &warehouse.to_string());
            database.run(&WAREHOUSE.map(of));
            for district in 1..=DISTRICTS {
                let of = |sql: &str| of(sql).replace("{d}", &district.to_string());
                database.run(&DISTRICT.map(of));
            }
        }
        database.run(&["INSERT INTO item VALUES (1), (2), (3)"]);
        database
    }

    fn run(&mut self, statements: &[impl AsRef<str>]) {
        for sql in statements {
            self.session.execute(sql.as_ref()).unwrap();
        }
    }

    /// The conditions that something offends.
    fn offended(&mut self, profile: TpccProfile, when: When) -> Vec<&'static str> {
        let mut offended = Vec::new();
        for condition in all().filter(|condition| condition.applies(profile, when)) {
            let sqls: Vec<String> = queries(condition, when);
            let mut rows = 0;
            for sql in sqls {
                let mut each = |row: &dyn drivers::Row| {
                    assert_eq!(row.len(), condition.columns.len(), "{}", condition.name);
                };
                rows += self.session.query(&sql, &mut each).unwrap().rows;
            }
            if rows > 0 {
                offended.push(condition.name);
            }
        }
        offended
    }
}

/// As many queries as the condition needs; a slice is one warehouse, so that there are two.
fn queries(condition: &Condition, when: When) -> Vec<String> {
    let all = Warehouses { first: 1, last: 2 };
    let each = [1, 2].map(|number| Warehouses { first: number, last: number });
    match condition.over {
        Over::All => vec![condition.sql(&SCALE, when, all)],
        Over::Warehouse | Over::Slice => each.map(|one| condition.sql(&SCALE, when, one)).to_vec(),
    }
}

#[test]
fn all_hold_after_a_load_and_after_transactions() {
    let mut database = Database::loaded();
    for profile in [TpccProfile::Standard, TpccProfile::Percona] {
        assert!(database.offended(profile, When::Loaded).is_empty());
        assert!(database.offended(profile, When::Used).is_empty());
    }
    database.run(&TRANSACTIONS);
    for profile in [TpccProfile::Standard, TpccProfile::Percona] {
        assert!(database.offended(profile, When::Used).is_empty());
    }
    // What was delivered meanwhile is more than what was loaded so.
    assert_eq!(database.offended(TpccProfile::Standard, When::Loaded), ["condition 11"]);
}

#[test]
fn each_mistake_offends_the_conditions_that_name_it() {
    let mut database = Database::loaded();
    database.run(&TRANSACTIONS);
    for (sql, wanted) in SPOILED {
        database.run(&["BEGIN", sql]);
        let offended = database.offended(TpccProfile::Standard, When::Used);
        assert_eq!(offended, wanted, "{sql}");
        database.run(&["ROLLBACK"]);
    }
    // Each of them was offended at least once.
    for condition in all() {
        let named = SPOILED.iter().any(|(_, names)| names.contains(&condition.name));
        assert!(named, "{}", condition.name);
    }
}

#[test]
fn what_another_profile_does_not_maintain_is_not_asked() {
    let left_out = |when| -> Vec<&str> {
        let all = all().filter(|condition| !condition.applies(TpccProfile::Percona, when));
        all.map(|condition| condition.name).collect()
    };
    assert_eq!(left_out(When::Used), ["condition 12", "payments", "stock sums"]);
    assert_eq!(left_out(When::Loaded), ["stock sums"]);
    assert!(all().all(|condition| condition.applies(TpccProfile::Standard, When::Used)));
}

#[test]
fn nothing_is_left_to_be_filled_in() {
    for when in [When::Loaded, When::Used] {
        for condition in all() {
            for sql in queries(condition, when) {
                assert!(!sql.contains(['{', '}']), "{sql}");
            }
        }
    }
}

#[test]
fn every_block_is_a_condition() {
    assert_eq!(blocks(include_str!("conditions.sql")).count(), all().count());
    let numbered = all().filter(|condition| condition.name.starts_with("condition "));
    assert_eq!(numbered.count(), 12);
}
