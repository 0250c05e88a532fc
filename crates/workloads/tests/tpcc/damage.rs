//! Somebody changes rows behind the workload's back, between the load and the end. The last step tells the
//! table, what was found and what was expected.

use load::Target;
use model::{TpccProfile, TpccSpec};
use testkit::databases::{Backend, number};

use crate::spec::spec;
use crate::trial::{Trial, failed};

/// What is done, in words; the statements; what must be among the checks that fail.
type Case = (&'static str, &'static [&'static str], &'static [&'static str]);

/// After the transactions. `@` stands for the first number that no loaded order has.
const AFTER: [Case; 25] = [
    (
        "prices are doubled",
        &["UPDATE item SET i_price = i_price * 2"],
        &["item: rows are as loaded, except for what transactions write found 100 offend: i_id "],
    ),
    (
        "an item's data is changed",
        &["UPDATE item SET i_data = 'x' WHERE i_id = 7"],
        &[
            "item: rows are as loaded, except for what transactions write found 1 offend: i_id 7, i_data x, expected ",
        ],
    ),
    (
        "an item has another name",
        &["UPDATE item SET i_name = 'another' WHERE i_id = 7"],
        &["1 offend: i_id 7, i_name another, expected "],
    ),
    (
        "an item is replaced by another with its number",
        &[
            "DELETE FROM item WHERE i_id = 9",
            "INSERT INTO item (i_id, i_im_id, i_name, i_price, i_data) VALUES (9, 1, 'n', 5, 'd')",
        ],
        &["1 offend: i_id 9, i_im_id 1, expected "],
    ),
    (
        "the amount of a loaded line that waits for delivery is one higher",
        &["UPDATE order_line SET ol_amount = ol_amount + 1 \
           WHERE ol_w_id = 1 AND ol_d_id = 3 AND ol_o_id = 30 AND ol_number = 2"],
        &["1 offend: ol_w_id 1, ol_d_id 3, ol_o_id 30, ol_number 2, ol_amount "],
    ),
    (
        "the amounts of all lines of the run are one higher",
        &["UPDATE order_line SET ol_amount = ol_amount + 1 WHERE ol_o_id >= @"],
        &[
            "order_line: loaded rows are as loaded, in others ol_amount = ol_quantity * i_price found ",
        ],
    ),
    (
        "the amount of a line of the run is one higher",
        &["UPDATE order_line SET ol_amount = ol_amount + 1 \
           WHERE ol_d_id = 1 AND ol_o_id = @ AND ol_number = 1"],
        &["1 offend: ol_w_id 1, ol_d_id 1, ol_o_id 31, ol_number 1, ol_amount "],
    ),
    (
        "a line of the run has another text",
        &["UPDATE order_line SET ol_dist_info = 'x' \
           WHERE ol_d_id = 1 AND ol_o_id = @ AND ol_number = 1"],
        &[
            "ol_o_id 31, ol_number 1, ol_dist_info x",
            "checksum of what terminals saw committed, in order_line",
        ],
    ),
    (
        "a line is of another warehouse",
        &["UPDATE order_line SET ol_supply_w_id = 2 \
           WHERE ol_d_id = 1 AND ol_o_id = 3 AND ol_number = 1"],
        &["ol_o_id 3, ol_number 1, ol_supply_w_id 2, expected 1"],
    ),
    (
        "an order of the run is another customer's",
        &["UPDATE orders SET o_c_id = 1 + o_c_id % 30 WHERE o_d_id = 1 AND o_id = @"],
        &["checksum of what terminals saw committed, in orders found "],
    ),
    (
        "a loaded order has another carrier",
        &["UPDATE orders SET o_carrier_id = 1 + o_carrier_id % 10 WHERE o_d_id = 2 AND o_id = 4"],
        &["orders: loaded rows are as loaded, others as transactions add them found 1 offend: \
           o_w_id 1, o_d_id 2, o_id 4, o_carrier_id "],
    ),
    (
        "what is known of all customers is overwritten",
        &["UPDATE customer SET c_data = 'overwritten'"],
        &[
            "customer: rows are as loaded, except for what transactions write found 300 offend: c_w_id 1, ",
            "c_data overwritten, expected ",
        ],
    ),
    (
        "of customers with bad credit the oldest note is gone",
        &["UPDATE customer SET c_data = SUBSTR(c_data, 1, LENGTH(c_data) - 1) \
           WHERE c_credit = 'BC'"],
        &["customer: rows are as loaded, except for what transactions write found "],
    ),
    (
        "a discount is changed",
        &["UPDATE customer SET c_discount = c_discount / 2 WHERE c_d_id = 4 AND c_id = 5"],
        &["1 offend: c_w_id 1, c_d_id 4, c_id 5, c_discount "],
    ),
    (
        "two customers have changed their first names",
        &["UPDATE customer SET c_first = 'Ann' WHERE c_d_id = 4 AND c_id IN (5, 6)"],
        &["c_w_id 1, c_d_id 4, c_id 5, c_first Ann, expected "],
    ),
    (
        "the tax of a warehouse is changed",
        &["UPDATE warehouse SET w_tax = w_tax / 3"],
        &[
            "warehouse: rows are as loaded, except for what transactions write found 1 offend: w_id 1, w_tax ",
        ],
    ),
    (
        "a district has another name",
        &["UPDATE district SET d_name = 'd' WHERE d_id = 8"],
        &["district: rows are as loaded, except for what transactions write found 1 offend: \
           d_w_id 1, d_id 8, d_name d, expected "],
    ),
    (
        "the next order's number is one higher",
        &["UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_id = 8"],
        &["condition 2: ", "order numbers: "],
    ),
    (
        "stock has sold one more",
        &["UPDATE stock SET s_ytd = s_ytd + 1 WHERE s_i_id = 11"],
        &["stock sums: ", "stock quantities: "],
    ),
    (
        "the text of stock for a district is changed",
        &["UPDATE stock SET s_dist_05 = 's' WHERE s_i_id = 11"],
        &["stock: rows are as loaded, except for what transactions write found 1 offend: \
           s_w_id 1, s_i_id 11, s_dist_05 s"],
    ),
    (
        "the data of stock is changed",
        &["UPDATE stock SET s_data = 's' WHERE s_i_id = 11"],
        &["1 offend: s_w_id 1, s_i_id 11, s_data s, expected "],
    ),
    (
        "a payment is one higher",
        &["UPDATE history SET h_amount = h_amount + 1 WHERE h_c_d_id = 1 AND h_c_id = 1 \
           AND h_date = '2026-01-01 00:00:00'"],
        &[
            "condition 8: ",
            "condition 10: ",
            "history: loaded rows are as loaded, others as transactions add them found 1 offend: \
             h_c_w_id 1, h_c_d_id 1, h_c_id 1, h_amount ",
        ],
    ),
    (
        "payments of the run have another text",
        &["UPDATE history SET h_data = 'h' WHERE h_date <> '2026-01-01 00:00:00'"],
        &["h_data h, expected ", "checksum of what terminals saw committed, in history"],
    ),
    (
        "a loaded payment is there twice, and another one is gone",
        &[
            "UPDATE history SET h_c_id = 2, h_data = (SELECT t FROM (SELECT h_data AS t FROM history \
            WHERE h_c_d_id = 1 AND h_c_id = 2 AND h_date = '2026-01-01 00:00:00') AS o) \
           WHERE h_c_d_id = 1 AND h_c_id = 1 AND h_date = '2026-01-01 00:00:00'",
        ],
        &["1 offend: loaded rows in history 300, expected 300, each once"],
    ),
    (
        "a payment is undone in all tables",
        &[
            "UPDATE warehouse SET w_ytd = w_ytd - \
             (SELECT h_amount FROM history WHERE h_c_d_id = 1 AND h_c_id = 1 AND h_date = '2026-01-01 00:00:00')",
            "UPDATE district SET d_ytd = d_ytd - \
             (SELECT h_amount FROM history WHERE h_c_d_id = 1 AND h_c_id = 1 AND h_date = '2026-01-01 00:00:00') \
             WHERE d_id = 1",
            "UPDATE customer SET c_payment_cnt = c_payment_cnt - 1, c_balance = c_balance + \
             (SELECT h_amount FROM history WHERE h_c_d_id = 1 AND h_c_id = 1 AND h_date = '2026-01-01 00:00:00'), \
             c_ytd_payment = c_ytd_payment - \
             (SELECT h_amount FROM history WHERE h_c_d_id = 1 AND h_c_id = 1 AND h_date = '2026-01-01 00:00:00') \
             WHERE c_d_id = 1 AND c_id = 1",
            "DELETE FROM history WHERE h_c_d_id = 1 AND h_c_id = 1 AND h_date = '2026-01-01 00:00:00'",
        ],
        &["loaded rows in history 299, expected 300, each once"],
    ),
];

/// With the transactions of tpcc-mysql, which leave these columns as they were loaded.
const PERCONA: [Case; 3] = [
    (
        "stock has sold one more",
        &["UPDATE stock SET s_ytd = s_ytd + 1 WHERE s_i_id = 11"],
        &["1 offend: s_w_id 1, s_i_id 11, s_ytd 1, expected 0"],
    ),
    (
        "a customer has paid once more",
        &["UPDATE customer SET c_payment_cnt = 2 WHERE c_d_id = 1 AND c_id = 1"],
        &["1 offend: c_w_id 1, c_d_id 1, c_id 1, c_payment_cnt 2, expected 1"],
    ),
    (
        "the amount of a line of the run is one higher",
        &["UPDATE order_line SET ol_amount = ol_amount + 1 \
           WHERE ol_d_id = 1 AND ol_o_id = @ AND ol_number = 1"],
        &["1 offend: ol_w_id 1, ol_d_id 1, ol_o_id 31, ol_number 1, ol_amount "],
    ),
];

/// The tables that are damaged.
const TABLES: [&str; 8] =
    ["warehouse", "district", "customer", "history", "orders", "item", "stock", "order_line"];

pub(crate) fn on(backend: &Backend) {
    each_is_found(backend, &spec(1, 2), &AFTER);
    let percona = TpccSpec { profile: TpccProfile::Percona, ..spec(1, 2) };
    each_is_found(backend, &percona, &PERCONA);
    prices_that_only_the_transactions_saw(backend);
}

/// Each damage is found, and nothing once it is mended.
fn each_is_found(backend: &Backend, spec: &TpccSpec, cases: &[Case]) {
    let (target, mut trial) = with_an_order(backend, spec);
    assert_eq!(trial.name(), "check");
    for table in TABLES {
        execute(&target, &format!("CREATE TABLE saved_{table} AS SELECT * FROM {table}"));
    }
    for (name, statements, wanted) in cases {
        eprintln!("found: {name}");
        for statement in *statements {
            execute(&target, &statement.replace('@', "31"));
        }
        let told = failed(&trial.again(&target));
        for wanted in *wanted {
            let is_told = told.iter().any(|told| told.contains(wanted));
            assert!(is_told, "{name}: `{wanted}` is not among {told:#?}");
        }
        for table in TABLES {
            execute(&target, &format!("DELETE FROM {table}"));
            execute(&target, &format!("INSERT INTO {table} SELECT * FROM saved_{table}"));
        }
    }
    let told = failed(&trial.again(&target));
    assert!(told.is_empty(), "what was mended is still told: {told:#?}");
}

/// A trial whose transactions have made the order that the cases damage. A busy machine may do too few of them
/// in the second that they have.
fn with_an_order(backend: &Backend, spec: &TpccSpec) -> (Target, Trial) {
    const TRIALS: usize = 5;
    for _ in 0..TRIALS {
        let target = backend.database();
        let mut trial = Trial::loaded(spec, &target);
        trial.step(&target);
        if number(&target, "SELECT count(*) FROM orders WHERE o_d_id = 1 AND o_id = 31") > 0 {
            return (target, trial);
        }
    }
    panic!("no order was made in district 1 in {TRIALS} trials of a second");
}

/// The transactions see other prices; at the end the items are right again, and the lines are not.
fn prices_that_only_the_transactions_saw(backend: &Backend) {
    eprintln!("found: prices are doubled while transactions run");
    let target = backend.database();
    let mut trial = Trial::loaded(&spec(1, 2), &target);
    execute(&target, "UPDATE item SET i_price = i_price * 2");
    let _told_or_not = trial.attempt(&target).unwrap();
    execute(&target, "UPDATE item SET i_price = i_price / 2");
    let told = failed(&trial.attempt(&target).unwrap());
    assert!(told.iter().any(|told| told.starts_with("order_line: ")), "{told:#?}");
    assert!(!told.iter().any(|told| told.starts_with("item: ")), "{told:#?}");
}

fn execute(target: &Target, sql: &str) {
    target.connector.connect().unwrap().execute(sql).unwrap();
}
