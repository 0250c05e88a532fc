//! What else follows from the transactions, and what the twelve take for granted.

use super::{Condition, Over, Validity};

/// Those that a query can tell; stock against what was loaded is held by `check::quantities`.
pub(super) static EXTRA: [Condition; 9] = [
    // Without it, the twelve would hold of a warehouse that is not there.
    Condition {
        name: "rows of a warehouse",
        says: "one warehouse row, all districts, customers and stock rows",
        columns: &["w_id", "warehouse", "district", "customer", "stock"],
        over: Over::Warehouse,
        validity: Validity::Always,
        sql: "SELECT * FROM (SELECT {warehouse} AS w, \
              (SELECT COUNT(*) FROM warehouse WHERE w_id = {warehouse}) AS warehouse_rows, \
              (SELECT COUNT(*) FROM district WHERE d_w_id = {warehouse}) AS district_rows, \
              (SELECT COUNT(*) FROM customer WHERE c_w_id = {warehouse}) AS customer_rows, \
              (SELECT COUNT(*) FROM stock WHERE s_w_id = {warehouse}) AS stock_rows) AS t \
              WHERE warehouse_rows <> 1 OR district_rows <> {districts} \
              OR customer_rows <> {customers} OR stock_rows <> {items}",
    },
    Condition {
        name: "warehouses and items",
        says: "as many as were loaded",
        columns: &["warehouse", "item"],
        over: Over::All,
        validity: Validity::Always,
        sql: "SELECT * FROM (SELECT (SELECT COUNT(*) FROM warehouse) AS warehouse_rows, \
              (SELECT COUNT(*) FROM item) AS item_rows) AS t \
              WHERE warehouse_rows <> {warehouses} OR item_rows <> {items}",
    },
    Condition {
        name: "order numbers",
        says: "o_id are 1 to d_next_o_id - 1, without a gap",
        columns: &[
            "d_w_id",
            "d_id",
            "d_next_o_id - 1",
            "MIN(o_id)",
            "COUNT(orders)",
        ],
        over: Over::Warehouse,
        validity: Validity::Always,
        sql: "SELECT * FROM (SELECT d_w_id, d_id, d_next_o_id - 1 AS newest, \
              (SELECT MIN(o_id) FROM orders WHERE o_w_id = {warehouse} AND o_d_id = d_id) AS oldest, \
              (SELECT COUNT(*) FROM orders WHERE o_w_id = {warehouse} AND o_d_id = d_id) AS entered \
              FROM district WHERE d_w_id = {warehouse}) AS t \
              WHERE oldest IS NULL OR oldest <> 1 OR entered <> newest",
    },
    Condition {
        name: "local orders",
        says: "o_all_local is 0 where, and only where, a line is of another warehouse",
        columns: &["o_w_id", "o_d_id", "o_id", "o_all_local", "remote lines"],
        over: Over::Warehouse,
        validity: Validity::Always,
        sql: "SELECT * FROM (SELECT o_w_id, o_d_id, o_id, o_all_local, \
              (SELECT COUNT(*) FROM order_line WHERE ol_w_id = {warehouse} AND ol_d_id = o_d_id \
               AND ol_o_id = o_id AND ol_supply_w_id <> {warehouse}) AS remote_count \
              FROM orders WHERE o_w_id = {warehouse}) AS t \
              WHERE (o_all_local = 0) <> (remote_count > 0)",
    },
    Condition {
        name: "deliveries",
        says: "c_delivery_cnt = orders that were delivered to the customer",
        columns: &[
            "c_w_id",
            "c_d_id",
            "c_id",
            "c_delivery_cnt",
            "COUNT(orders)",
        ],
        over: Over::Warehouse,
        validity: Validity::Always,
        sql: "SELECT w, d, c, SUM(told), SUM(delivered) FROM \
              (SELECT c_w_id AS w, c_d_id AS d, c_id AS c, c_delivery_cnt AS told, 0 AS delivered \
               FROM customer WHERE c_w_id = {warehouse} \
               UNION ALL \
               SELECT o_w_id, o_d_id, o_c_id, 0, 1 FROM orders \
               WHERE o_w_id = {warehouse} AND o_id > {delivered} AND o_carrier_id IS NOT NULL) AS t \
              GROUP BY w, d, c HAVING SUM(told) <> SUM(delivered)",
    },
    Condition {
        name: "payments",
        says: "c_payment_cnt = COUNT(history), c_ytd_payment = SUM(h_amount)",
        columns: &[
            "c_w_id",
            "c_d_id",
            "c_id",
            "c_payment_cnt",
            "COUNT(history)",
            "c_ytd_payment",
            "SUM(h_amount)",
        ],
        over: Over::Slice,
        validity: Validity::WhereMaintained,
        sql: "SELECT w, d, c, SUM(told), SUM(payments), SUM(ytd), SUM(paid) FROM \
              (SELECT c_w_id AS w, c_d_id AS d, c_id AS c, \
               c_payment_cnt AS told, 0 AS payments, c_ytd_payment AS ytd, 0 AS paid \
               FROM customer WHERE c_w_id BETWEEN {first} AND {last} \
               UNION ALL \
               SELECT h_c_w_id, h_c_d_id, h_c_id, 0, COUNT(*), 0, SUM(h_amount) \
               FROM history WHERE h_c_w_id BETWEEN {first} AND {last} \
               GROUP BY h_c_w_id, h_c_d_id, h_c_id) AS t \
              GROUP BY w, d, c HAVING SUM(told) <> SUM(payments) OR SUM(ytd) <> SUM(paid)",
    },
    Condition {
        name: "stock range",
        says: "s_quantity is 10 to 100",
        columns: &["s_w_id", "s_i_id", "s_quantity"],
        over: Over::Warehouse,
        validity: Validity::Always,
        sql: "SELECT s_w_id, s_i_id, s_quantity FROM stock WHERE s_w_id = {warehouse} \
              AND (s_quantity < 10 OR s_quantity > 100)",
    },
    // Lines of other warehouses are found by their orders, which are ten times fewer; that these tell the
    // truth of their lines is a condition of its own.
    Condition {
        name: "stock sums",
        says: "s_ytd = SUM(ol_quantity), s_order_cnt = COUNT(order_line), s_remote_cnt = those of other \
               warehouses",
        columns: &[
            "s_w_id",
            "s_i_id",
            "s_ytd",
            "SUM(ol_quantity)",
            "s_order_cnt",
            "COUNT(order_line)",
            "s_remote_cnt",
            "remote lines",
        ],
        over: Over::Slice,
        validity: Validity::WhereMaintainedAndUsed,
        sql: "SELECT w, i, SUM(ytd), SUM(quantity), SUM(order_cnt), SUM(line_count), \
              SUM(remote_cnt), SUM(remote_count) FROM \
              (SELECT s_w_id AS w, s_i_id AS i, s_ytd AS ytd, 0 AS quantity, \
               s_order_cnt AS order_cnt, 0 AS line_count, s_remote_cnt AS remote_cnt, 0 AS remote_count \
               FROM stock WHERE s_w_id BETWEEN {first} AND {last} \
               AND (s_ytd <> 0 OR s_order_cnt <> 0 OR s_remote_cnt <> 0) \
               UNION ALL \
               SELECT ol_w_id, ol_i_id, 0, SUM(ol_quantity), 0, COUNT(*), 0, 0 FROM order_line \
               WHERE ol_w_id BETWEEN {first} AND {last} AND ol_o_id > {loaded} \
               AND ol_supply_w_id = ol_w_id GROUP BY ol_w_id, ol_i_id \
               UNION ALL \
               SELECT ol_supply_w_id, ol_i_id, 0, ol_quantity, 0, 1, 0, 1 FROM orders \
               JOIN order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id \
               WHERE o_id > {loaded} AND o_all_local = 0 AND ol_supply_w_id <> o_w_id \
               AND ol_supply_w_id BETWEEN {first} AND {last}) AS t \
              GROUP BY w, i HAVING SUM(ytd) <> SUM(quantity) \
              OR SUM(order_cnt) <> SUM(line_count) OR SUM(remote_cnt) <> SUM(remote_count)",
    },
    Condition {
        name: "line numbers",
        says: "ol_number are 1 to the number of lines",
        columns: &[
            "ol_w_id",
            "ol_d_id",
            "ol_o_id",
            "MIN(ol_number)",
            "MAX(ol_number)",
            "COUNT(order_line)",
        ],
        over: Over::Warehouse,
        validity: Validity::Always,
        sql: "SELECT ol_w_id, ol_d_id, ol_o_id, MIN(ol_number), MAX(ol_number), COUNT(*) \
              FROM order_line WHERE ol_w_id = {warehouse} GROUP BY ol_w_id, ol_d_id, ol_o_id \
              HAVING MIN(ol_number) <> 1 OR MAX(ol_number) <> COUNT(*)",
    },
];
