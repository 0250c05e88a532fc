//! The twelve conditions of the standard, clause 3.3.2.

use super::{Condition, Over, Validity};

/// In their order.
pub(super) static TWELVE: [Condition; 12] = [
    Condition {
        name: "condition 1",
        says: "w_ytd = SUM(d_ytd)",
        columns: &["w_id", "w_ytd", "SUM(d_ytd)"],
        over: Over::Warehouse,
        validity: Validity::Always,
        sql: "SELECT * FROM (SELECT w_id, w_ytd, \
              (SELECT COALESCE(SUM(d_ytd), 0) FROM district WHERE d_w_id = {warehouse}) AS districts \
              FROM warehouse WHERE w_id = {warehouse}) AS t \
              WHERE w_ytd <> districts",
    },
    Condition {
        name: "condition 2",
        says: "d_next_o_id - 1 = MAX(o_id) = MAX(no_o_id)",
        columns: &[
            "d_w_id",
            "d_id",
            "d_next_o_id - 1",
            "MAX(o_id)",
            "MAX(no_o_id)",
        ],
        over: Over::Warehouse,
        validity: Validity::Always,
        // A district may have no new orders: then the last comparison is with NULL and does not offend.
        sql: "SELECT * FROM (SELECT d_w_id, d_id, d_next_o_id - 1 AS newest, \
              (SELECT MAX(o_id) FROM orders WHERE o_w_id = {warehouse} AND o_d_id = d_id) AS entered, \
              (SELECT MAX(no_o_id) FROM new_order WHERE no_w_id = {warehouse} AND no_d_id = d_id) AS queued \
              FROM district WHERE d_w_id = {warehouse}) AS t \
              WHERE entered IS NULL OR entered <> newest OR queued <> newest",
    },
    Condition {
        name: "condition 3",
        says: "MAX(no_o_id) - MIN(no_o_id) + 1 = COUNT(new_order)",
        columns: &[
            "no_w_id",
            "no_d_id",
            "MIN(no_o_id)",
            "MAX(no_o_id)",
            "COUNT(new_order)",
        ],
        over: Over::Warehouse,
        validity: Validity::Always,
        sql: "SELECT no_w_id, no_d_id, MIN(no_o_id), MAX(no_o_id), COUNT(*) \
              FROM new_order WHERE no_w_id = {warehouse} GROUP BY no_w_id, no_d_id \
              HAVING MAX(no_o_id) - MIN(no_o_id) + 1 <> COUNT(*)",
    },
    Condition {
        name: "condition 4",
        says: "SUM(o_ol_cnt) = COUNT(order_line)",
        columns: &["d_w_id", "d_id", "SUM(o_ol_cnt)", "COUNT(order_line)"],
        over: Over::Warehouse,
        validity: Validity::Always,
        sql: "SELECT * FROM (SELECT d_w_id, d_id, \
              (SELECT COALESCE(SUM(o_ol_cnt), 0) FROM orders \
               WHERE o_w_id = {warehouse} AND o_d_id = d_id) AS entered, \
              (SELECT COUNT(*) FROM order_line \
               WHERE ol_w_id = {warehouse} AND ol_d_id = d_id) AS line_count \
              FROM district WHERE d_w_id = {warehouse}) AS t \
              WHERE entered <> line_count",
    },
    Condition {
        name: "condition 5",
        says: "o_carrier_id is NULL where, and only where, there is a new_order row",
        columns: &["w_id", "d_id", "o_id", "o_carrier_id", "new_order rows"],
        over: Over::Warehouse,
        validity: Validity::Always,
        sql: "SELECT * FROM (SELECT o_w_id, o_d_id, o_id, o_carrier_id, \
              (SELECT COUNT(*) FROM new_order \
               WHERE no_w_id = {warehouse} AND no_d_id = o_d_id AND no_o_id = o_id) AS queued \
              FROM orders WHERE o_w_id = {warehouse}) AS t \
              WHERE (o_carrier_id IS NULL) <> (queued = 1) \
              UNION ALL \
              SELECT no_w_id, no_d_id, no_o_id, NULL, 1 FROM new_order WHERE no_w_id = {warehouse} \
              AND NOT EXISTS (SELECT 1 FROM orders \
               WHERE o_w_id = {warehouse} AND o_d_id = no_d_id AND o_id = no_o_id)",
    },
    Condition {
        name: "condition 6",
        says: "o_ol_cnt = COUNT(order_line) of each order",
        columns: &["w_id", "d_id", "o_id", "o_ol_cnt", "COUNT(order_line)"],
        over: Over::Warehouse,
        validity: Validity::Always,
        sql: "SELECT ol_w_id, ol_d_id, ol_o_id, o_ol_cnt, line_count FROM \
              (SELECT ol_w_id, ol_d_id, ol_o_id, COUNT(*) AS line_count FROM order_line \
               WHERE ol_w_id = {warehouse} GROUP BY ol_w_id, ol_d_id, ol_o_id) AS t \
              LEFT JOIN orders ON o_w_id = ol_w_id AND o_d_id = ol_d_id AND o_id = ol_o_id \
              WHERE o_id IS NULL OR o_ol_cnt <> line_count \
              UNION ALL \
              SELECT o_w_id, o_d_id, o_id, o_ol_cnt, 0 FROM orders WHERE o_w_id = {warehouse} \
              AND NOT EXISTS (SELECT 1 FROM order_line \
               WHERE ol_w_id = {warehouse} AND ol_d_id = o_d_id AND ol_o_id = o_id)",
    },
    Condition {
        name: "condition 7",
        says: "ol_delivery_d is NULL where, and only where, o_carrier_id is",
        columns: &[
            "w_id",
            "d_id",
            "o_id",
            "ol_number",
            "o_carrier_id",
            "ol_delivery_d",
        ],
        over: Over::Warehouse,
        validity: Validity::Always,
        sql: "SELECT o_w_id, o_d_id, o_id, ol_number, o_carrier_id, ol_delivery_d \
              FROM orders JOIN order_line \
              ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id \
              WHERE o_w_id = {warehouse} AND ol_w_id = {warehouse} \
              AND (o_carrier_id IS NULL) <> (ol_delivery_d IS NULL)",
    },
    Condition {
        name: "condition 8",
        says: "w_ytd = SUM(h_amount)",
        columns: &["w_id", "w_ytd", "SUM(h_amount)"],
        over: Over::All,
        validity: Validity::Always,
        sql: "SELECT w, SUM(ytd), SUM(paid) FROM \
              (SELECT w_id AS w, w_ytd AS ytd, 0 AS paid FROM warehouse \
               UNION ALL \
               SELECT h_w_id, 0, SUM(h_amount) FROM history GROUP BY h_w_id) AS t \
              GROUP BY w HAVING SUM(ytd) <> SUM(paid)",
    },
    Condition {
        name: "condition 9",
        says: "d_ytd = SUM(h_amount)",
        columns: &["d_w_id", "d_id", "d_ytd", "SUM(h_amount)"],
        over: Over::All,
        validity: Validity::Always,
        sql: "SELECT w, d, SUM(ytd), SUM(paid) FROM \
              (SELECT d_w_id AS w, d_id AS d, d_ytd AS ytd, 0 AS paid FROM district \
               UNION ALL \
               SELECT h_w_id, h_d_id, 0, SUM(h_amount) FROM history GROUP BY h_w_id, h_d_id) AS t \
              GROUP BY w, d HAVING SUM(ytd) <> SUM(paid)",
    },
    Condition {
        name: "condition 10",
        says: "c_balance = SUM(ol_amount) that was delivered - SUM(h_amount)",
        columns: &[
            "c_w_id",
            "c_d_id",
            "c_id",
            "c_balance",
            "SUM(ol_amount)",
            "SUM(h_amount)",
        ],
        over: Over::Slice,
        validity: Validity::Always,
        sql: "SELECT w, d, c, SUM(balance), SUM(delivered), SUM(paid) FROM \
              (SELECT c_w_id AS w, c_d_id AS d, c_id AS c, \
               c_balance AS balance, 0 AS delivered, 0 AS paid \
               FROM customer WHERE c_w_id BETWEEN {first} AND {last} \
               UNION ALL \
               SELECT o_w_id, o_d_id, o_c_id, 0, {amount of what was delivered}, 0 \
               FROM orders WHERE o_w_id BETWEEN {first} AND {last} \
               UNION ALL \
               SELECT h_c_w_id, h_c_d_id, h_c_id, 0, 0, SUM(h_amount) \
               FROM history WHERE h_c_w_id BETWEEN {first} AND {last} \
               GROUP BY h_c_w_id, h_c_d_id, h_c_id) AS t \
              GROUP BY w, d, c HAVING SUM(balance) <> SUM(delivered) - SUM(paid)",
    },
    Condition {
        name: "condition 11",
        says: "COUNT(orders) - COUNT(new_order) = orders that are delivered",
        columns: &[
            "d_w_id",
            "d_id",
            "COUNT(orders)",
            "COUNT(new_order)",
            "delivered",
        ],
        over: Over::Warehouse,
        validity: Validity::Always,
        sql: "SELECT * FROM (SELECT d_w_id, d_id, \
              (SELECT COUNT(*) FROM orders WHERE o_w_id = {warehouse} AND o_d_id = d_id) AS entered, \
              (SELECT COUNT(*) FROM new_order WHERE no_w_id = {warehouse} AND no_d_id = d_id) AS queued, \
              {delivered orders} AS delivered \
              FROM district WHERE d_w_id = {warehouse}) AS t \
              WHERE entered - queued <> delivered",
    },
    Condition {
        name: "condition 12",
        says: "c_balance + c_ytd_payment = SUM(ol_amount) that was delivered",
        columns: &[
            "c_w_id",
            "c_d_id",
            "c_id",
            "c_balance",
            "c_ytd_payment",
            "SUM(ol_amount)",
        ],
        over: Over::Warehouse,
        validity: Validity::WhereMaintained,
        sql: "SELECT w, d, c, SUM(balance), SUM(paid), SUM(delivered) FROM \
              (SELECT c_w_id AS w, c_d_id AS d, c_id AS c, \
               c_balance AS balance, c_ytd_payment AS paid, 0 AS delivered \
               FROM customer WHERE c_w_id = {warehouse} \
               UNION ALL \
               SELECT o_w_id, o_d_id, o_c_id, 0, 0, {amount of what was delivered} \
               FROM orders WHERE o_w_id = {warehouse}) AS t \
              GROUP BY w, d, c HAVING SUM(balance) + SUM(paid) <> SUM(delivered)",
    },
];
