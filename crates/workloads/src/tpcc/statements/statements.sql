--- The statements of the transactions. A block: `-- NAME | transactions | where`, then its text, whose lines
--- are joined by blanks. Parameters are integers (?), texts (?t), amounts of money (?m), or amounts that
--- something is added to (?a). {lock} locks the rows that a SELECT reads. In statements about several lines or
--- districts, {list:…} and {or:…} stand once for each of them, {more:…} for each but the first. Every server reads rows of conditions that are
--- put together by OR by the index, which cannot be said of lists of row values.

-- Terms | new-order |
SELECT c_discount, c_last, c_credit, w_tax FROM customer, warehouse
WHERE w_id = ? AND c_w_id = w_id AND c_d_id = ? AND c_id = ?

-- NextOrder | new-order |
SELECT d_next_o_id, d_tax FROM district WHERE d_w_id = ? AND d_id = ?{lock}

-- TakeOrder | new-order |
UPDATE district SET d_next_o_id = ? WHERE d_w_id = ? AND d_id = ?

-- AddOrder | new-order |
INSERT INTO orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_ol_cnt, o_all_local)
VALUES (?, ?, ?, ?, CURRENT_TIMESTAMP, ?, ?)

-- AddNewOrder | new-order |
INSERT INTO new_order (no_o_id, no_d_id, no_w_id) VALUES (?, ?, ?)

--- Batched too: the item that there is not is looked for alone.
-- Item | new-order |
SELECT i_price, i_name, i_data FROM item WHERE i_id = ?

-- Stock | new-order | single
SELECT s_quantity, s_data, s_dist_01, s_dist_02, s_dist_03, s_dist_04, s_dist_05,
s_dist_06, s_dist_07, s_dist_08, s_dist_09, s_dist_10 FROM stock WHERE s_w_id = ? AND s_i_id = ?{lock}

-- TakeStock | new-order | single standard
UPDATE stock SET s_quantity = ?, s_ytd = s_ytd + ?, s_order_cnt = s_order_cnt + 1,
s_remote_cnt = s_remote_cnt + ? WHERE s_w_id = ? AND s_i_id = ?

-- TakeStock | new-order | single percona
UPDATE stock SET s_quantity = ? WHERE s_w_id = ? AND s_i_id = ?

-- AddLine | new-order | single
INSERT INTO order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_quantity,
ol_amount, ol_dist_info) VALUES (?, ?, ?, ?, ?, ?, ?, ?m, ?t)

-- Items | new-order | batched
SELECT i_id, i_price, i_name, i_data FROM item WHERE i_id IN ({list:?})

--- Sorted, because rows are locked in this order.
-- Stocks | new-order | batched
SELECT s_w_id, s_i_id, s_quantity, s_data, s_dist_01, s_dist_02, s_dist_03, s_dist_04, s_dist_05,
s_dist_06, s_dist_07, s_dist_08, s_dist_09, s_dist_10 FROM stock
WHERE {or:s_w_id = ? AND s_i_id = ?} ORDER BY s_w_id, s_i_id{lock}

--- Rows of values, called v, that a table is updated by. MySQL's are written in the words of every version, with
--- types: otherwise they would be texts, which no index finds. Without STRAIGHT_JOIN, an optimizer may read the
--- whole table before them.
-- TakeStocks | new-order | batched standard mysql
UPDATE (SELECT CAST(? AS SIGNED) AS w, CAST(? AS SIGNED) AS i, CAST(? AS SIGNED) AS quantity,
CAST(? AS SIGNED) AS ordered, CAST(? AS SIGNED) AS orders, CAST(? AS SIGNED) AS remote{more: UNION ALL
SELECT CAST(? AS SIGNED), CAST(? AS SIGNED), CAST(? AS SIGNED), CAST(? AS SIGNED), CAST(? AS SIGNED),
CAST(? AS SIGNED)}) AS v STRAIGHT_JOIN stock ON s_w_id = v.w AND s_i_id = v.i
SET s_quantity = v.quantity, s_ytd = s_ytd + v.ordered, s_order_cnt = s_order_cnt + v.orders,
s_remote_cnt = s_remote_cnt + v.remote

-- TakeStocks | new-order | batched percona mysql
UPDATE (SELECT CAST(? AS SIGNED) AS w, CAST(? AS SIGNED) AS i, CAST(? AS SIGNED) AS quantity{more: UNION ALL
SELECT CAST(? AS SIGNED), CAST(? AS SIGNED), CAST(? AS SIGNED)}) AS v
STRAIGHT_JOIN stock ON s_w_id = v.w AND s_i_id = v.i SET s_quantity = v.quantity

-- TakeStocks | new-order | batched standard others
WITH v (w, i, quantity, ordered, orders, remote) AS (VALUES {list:(?, ?, ?, ?, ?, ?)})
UPDATE stock SET s_quantity = v.quantity, s_ytd = s_ytd + v.ordered, s_order_cnt = s_order_cnt + v.orders,
s_remote_cnt = s_remote_cnt + v.remote FROM v WHERE s_w_id = v.w AND s_i_id = v.i

-- TakeStocks | new-order | batched percona others
WITH v (w, i, quantity) AS (VALUES {list:(?, ?, ?)})
UPDATE stock SET s_quantity = v.quantity FROM v WHERE s_w_id = v.w AND s_i_id = v.i

-- AddLines | new-order | batched
INSERT INTO order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_quantity,
ol_amount, ol_dist_info) VALUES {list:(?, ?, ?, ?, ?, ?, ?, ?m, ?t)}

-- PayWarehouse | payment |
UPDATE warehouse SET w_ytd = w_ytd + ?a WHERE w_id = ?

-- Warehouse | payment |
SELECT w_street_1, w_street_2, w_city, w_state, w_zip, w_name FROM warehouse WHERE w_id = ?

-- PayDistrict | payment |
UPDATE district SET d_ytd = d_ytd + ?a WHERE d_w_id = ? AND d_id = ?

-- District | payment |
SELECT d_street_1, d_street_2, d_city, d_state, d_zip, d_name FROM district WHERE d_w_id = ? AND d_id = ?

--- tpcc-mysql counts the customers of a name before it reads them.
-- CountNamed | payment order-status | percona
SELECT COUNT(c_id) FROM customer WHERE c_w_id = ? AND c_d_id = ? AND c_last = ?t

-- Named | payment |
SELECT c_id FROM customer WHERE c_w_id = ? AND c_d_id = ? AND c_last = ?t ORDER BY c_first

-- Payer | payment |
SELECT c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip,
c_phone, c_credit, c_credit_lim, c_discount, c_balance, c_since FROM customer
WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?{lock}

--- Locked as the row was: under REPEATABLE READ, MySQL's plain reads see the transaction's first moment, so that a note
--- written since would be lost. tpcc-mysql reads it so all the same.
-- PayerData | payment | standard
SELECT c_data FROM customer WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?{lock}

-- PayerData | payment | percona
SELECT c_data FROM customer WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?

-- Pay | payment | standard
UPDATE customer SET c_balance = ?m, c_ytd_payment = c_ytd_payment + ?a, c_payment_cnt = c_payment_cnt + 1
WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?

-- Pay | payment | percona
UPDATE customer SET c_balance = ?m WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?

-- PayBadly | payment | standard
UPDATE customer SET c_balance = ?m, c_ytd_payment = c_ytd_payment + ?a, c_payment_cnt = c_payment_cnt + 1,
c_data = ?t WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?

-- PayBadly | payment | percona
UPDATE customer SET c_balance = ?m, c_data = ?t WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?

-- AddHistory | payment |
INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data)
VALUES (?, ?, ?, ?, ?, CURRENT_TIMESTAMP, ?m, ?t)

-- NamedBalances | order-status |
SELECT c_id, c_balance, c_first, c_middle, c_last FROM customer
WHERE c_w_id = ? AND c_d_id = ? AND c_last = ?t ORDER BY c_first

-- Balance | order-status |
SELECT c_id, c_balance, c_first, c_middle, c_last FROM customer WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?

-- NewestOrder | order-status | standard
SELECT o_id, o_entry_d, o_carrier_id FROM orders WHERE o_w_id = ? AND o_d_id = ? AND o_c_id = ?
ORDER BY o_id DESC LIMIT 1

-- NewestOrder | order-status | percona
SELECT o_id, o_entry_d, o_carrier_id FROM orders WHERE o_w_id = ? AND o_d_id = ? AND o_c_id = ?
AND o_id = (SELECT MAX(o_id) FROM orders WHERE o_w_id = ? AND o_d_id = ? AND o_c_id = ?)

-- Lines | order-status |
SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d FROM order_line
WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id = ?

--- Locked when it is read: otherwise two that deliver could both take it. Batched, the heads of the queues are
--- read one by one: no statement that locks them together is the same on all servers.
-- Oldest | delivery |
SELECT no_o_id FROM new_order WHERE no_w_id = ? AND no_d_id = ? ORDER BY no_o_id LIMIT 1{lock}

-- Dequeue | delivery | by-order
DELETE FROM new_order WHERE no_w_id = ? AND no_d_id = ? AND no_o_id = ?

-- Orderer | delivery | by-order
SELECT o_c_id FROM orders WHERE o_w_id = ? AND o_d_id = ? AND o_id = ?

-- SetCarrier | delivery | by-order
UPDATE orders SET o_carrier_id = ? WHERE o_w_id = ? AND o_d_id = ? AND o_id = ?

-- SetDelivered | delivery | by-order
UPDATE order_line SET ol_delivery_d = CURRENT_TIMESTAMP WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id = ?

-- SumLines | delivery | by-order
SELECT SUM(ol_amount) FROM order_line WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id = ?

-- Charge | delivery | by-order
UPDATE customer SET c_balance = c_balance + ?a, c_delivery_cnt = c_delivery_cnt + 1
WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?

-- DequeueAll | delivery | together
DELETE FROM new_order WHERE {or:no_w_id = ? AND no_d_id = ? AND no_o_id = ?}

-- Orderers | delivery | together
SELECT o_d_id, o_c_id FROM orders WHERE {or:o_w_id = ? AND o_d_id = ? AND o_id = ?}

-- SetCarriers | delivery | together
UPDATE orders SET o_carrier_id = ? WHERE {or:o_w_id = ? AND o_d_id = ? AND o_id = ?}

-- SetAllDelivered | delivery | together
UPDATE order_line SET ol_delivery_d = CURRENT_TIMESTAMP WHERE {or:ol_w_id = ? AND ol_d_id = ? AND ol_o_id = ?}

-- Sums | delivery | together
SELECT ol_d_id, SUM(ol_amount) FROM order_line WHERE {or:ol_w_id = ? AND ol_d_id = ? AND ol_o_id = ?}
GROUP BY ol_d_id

-- ChargeAll | delivery | together mysql
UPDATE (SELECT CAST(? AS SIGNED) AS w, CAST(? AS SIGNED) AS d, CAST(? AS SIGNED) AS c, ?a AS amount{more: UNION ALL
SELECT CAST(? AS SIGNED), CAST(? AS SIGNED), CAST(? AS SIGNED), ?a}) AS v
STRAIGHT_JOIN customer ON c_w_id = v.w AND c_d_id = v.d AND c_id = v.c
SET c_balance = c_balance + v.amount, c_delivery_cnt = c_delivery_cnt + 1

-- ChargeAll | delivery | together others
WITH v (w, d, c, amount) AS (VALUES {list:(?, ?, ?, ?m)})
UPDATE customer SET c_balance = c_balance + v.amount, c_delivery_cnt = c_delivery_cnt + 1 FROM v
WHERE c_w_id = v.w AND c_d_id = v.d AND c_id = v.c

-- RecentOrders | stock-level |
SELECT d_next_o_id FROM district WHERE d_w_id = ? AND d_id = ?

-- LowJoined | stock-level | join
SELECT COUNT(DISTINCT s_i_id) FROM order_line, stock
WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id < ? AND ol_o_id >= ?
AND s_w_id = ? AND s_i_id = ol_i_id AND s_quantity < ?

-- RecentItems | stock-level | loop
SELECT DISTINCT ol_i_id FROM order_line WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id < ? AND ol_o_id >= ?

-- Low | stock-level | loop
SELECT COUNT(*) FROM stock WHERE s_w_id = ? AND s_i_id = ? AND s_quantity < ?
