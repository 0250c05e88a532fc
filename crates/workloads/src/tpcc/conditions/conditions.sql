--- What must hold of the data: the twelve consistency conditions of the standard (clause 3.3.2), and what else
--- follows from the transactions or is taken for granted by the twelve. Each query returns the rows that offend,
--- its lines joined by blanks. A block: `-- name | what one query looks at | where it holds`, what it says, what
--- the columns of an offending row are, and the query with names in braces in place of what differs.

-- condition 1 | Warehouse | Always
says: w_ytd = SUM(d_ytd)
columns: w_id, w_ytd, SUM(d_ytd)
SELECT * FROM (SELECT w_id, w_ytd,
(SELECT COALESCE(SUM(d_ytd), 0) FROM district WHERE d_w_id = {warehouse}) AS districts
FROM warehouse WHERE w_id = {warehouse}) AS t
WHERE w_ytd <> districts

--- A district may have no new orders: then the last comparison is with NULL and does not offend.
-- condition 2 | Warehouse | Always
says: d_next_o_id - 1 = MAX(o_id) = MAX(no_o_id)
columns: d_w_id, d_id, d_next_o_id - 1, MAX(o_id), MAX(no_o_id)
SELECT * FROM (SELECT d_w_id, d_id, d_next_o_id - 1 AS newest,
(SELECT MAX(o_id) FROM orders WHERE o_w_id = {warehouse} AND o_d_id = d_id) AS entered,
(SELECT MAX(no_o_id) FROM new_order WHERE no_w_id = {warehouse} AND no_d_id = d_id) AS queued
FROM district WHERE d_w_id = {warehouse}) AS t
WHERE entered IS NULL OR entered <> newest OR queued <> newest

-- condition 3 | Warehouse | Always
says: MAX(no_o_id) - MIN(no_o_id) + 1 = COUNT(new_order)
columns: no_w_id, no_d_id, MIN(no_o_id), MAX(no_o_id), COUNT(new_order)
SELECT no_w_id, no_d_id, MIN(no_o_id), MAX(no_o_id), COUNT(*)
FROM new_order WHERE no_w_id = {warehouse} GROUP BY no_w_id, no_d_id
HAVING MAX(no_o_id) - MIN(no_o_id) + 1 <> COUNT(*)

-- condition 4 | Warehouse | Always
says: SUM(o_ol_cnt) = COUNT(order_line)
columns: d_w_id, d_id, SUM(o_ol_cnt), COUNT(order_line)
SELECT * FROM (SELECT d_w_id, d_id,
(SELECT COALESCE(SUM(o_ol_cnt), 0) FROM orders
WHERE o_w_id = {warehouse} AND o_d_id = d_id) AS entered,
(SELECT COUNT(*) FROM order_line
WHERE ol_w_id = {warehouse} AND ol_d_id = d_id) AS line_count
FROM district WHERE d_w_id = {warehouse}) AS t
WHERE entered <> line_count

-- condition 5 | Warehouse | Always
says: o_carrier_id is NULL where, and only where, there is a new_order row
columns: w_id, d_id, o_id, o_carrier_id, new_order rows
SELECT * FROM (SELECT o_w_id, o_d_id, o_id, o_carrier_id,
(SELECT COUNT(*) FROM new_order
WHERE no_w_id = {warehouse} AND no_d_id = o_d_id AND no_o_id = o_id) AS queued
FROM orders WHERE o_w_id = {warehouse}) AS t
WHERE (o_carrier_id IS NULL) <> (queued = 1)
UNION ALL
SELECT no_w_id, no_d_id, no_o_id, NULL, 1 FROM new_order WHERE no_w_id = {warehouse}
AND NOT EXISTS (SELECT 1 FROM orders
WHERE o_w_id = {warehouse} AND o_d_id = no_d_id AND o_id = no_o_id)

-- condition 6 | Warehouse | Always
says: o_ol_cnt = COUNT(order_line) of each order
columns: w_id, d_id, o_id, o_ol_cnt, COUNT(order_line)
SELECT ol_w_id, ol_d_id, ol_o_id, o_ol_cnt, line_count FROM
(SELECT ol_w_id, ol_d_id, ol_o_id, COUNT(*) AS line_count FROM order_line
WHERE ol_w_id = {warehouse} GROUP BY ol_w_id, ol_d_id, ol_o_id) AS t
LEFT JOIN orders ON o_w_id = ol_w_id AND o_d_id = ol_d_id AND o_id = ol_o_id
WHERE o_id IS NULL OR o_ol_cnt <> line_count
UNION ALL
SELECT o_w_id, o_d_id, o_id, o_ol_cnt, 0 FROM orders WHERE o_w_id = {warehouse}
AND NOT EXISTS (SELECT 1 FROM order_line
WHERE ol_w_id = {warehouse} AND ol_d_id = o_d_id AND ol_o_id = o_id)

-- condition 7 | Warehouse | Always
says: ol_delivery_d is NULL where, and only where, o_carrier_id is
columns: w_id, d_id, o_id, ol_number, o_carrier_id, ol_delivery_d
SELECT o_w_id, o_d_id, o_id, ol_number, o_carrier_id, ol_delivery_d
FROM orders JOIN order_line
ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id
WHERE o_w_id = {warehouse} AND ol_w_id = {warehouse}
AND (o_carrier_id IS NULL) <> (ol_delivery_d IS NULL)

-- condition 8 | All | Always
says: w_ytd = SUM(h_amount)
columns: w_id, w_ytd, SUM(h_amount)
SELECT w, SUM(ytd), SUM(paid) FROM
(SELECT w_id AS w, w_ytd AS ytd, 0 AS paid FROM warehouse
UNION ALL
SELECT h_w_id, 0, SUM(h_amount) FROM history GROUP BY h_w_id) AS t
GROUP BY w HAVING SUM(ytd) <> SUM(paid)

-- condition 9 | All | Always
says: d_ytd = SUM(h_amount)
columns: d_w_id, d_id, d_ytd, SUM(h_amount)
SELECT w, d, SUM(ytd), SUM(paid) FROM
(SELECT d_w_id AS w, d_id AS d, d_ytd AS ytd, 0 AS paid FROM district
UNION ALL
SELECT h_w_id, h_d_id, 0, SUM(h_amount) FROM history GROUP BY h_w_id, h_d_id) AS t
GROUP BY w, d HAVING SUM(ytd) <> SUM(paid)

-- condition 10 | Slice | Always
says: c_balance = SUM(ol_amount) that was delivered - SUM(h_amount)
columns: c_w_id, c_d_id, c_id, c_balance, SUM(ol_amount), SUM(h_amount)
SELECT w, d, c, SUM(balance), SUM(delivered), SUM(paid) FROM
(SELECT c_w_id AS w, c_d_id AS d, c_id AS c,
c_balance AS balance, 0 AS delivered, 0 AS paid
FROM customer WHERE c_w_id BETWEEN {first} AND {last}
UNION ALL
SELECT o_w_id, o_d_id, o_c_id, 0, (SELECT COALESCE(SUM(ol_amount), 0) FROM order_line
WHERE ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id AND ol_delivery_d IS NOT NULL), 0
FROM orders WHERE o_w_id BETWEEN {first} AND {last}
UNION ALL
SELECT h_c_w_id, h_c_d_id, h_c_id, 0, 0, SUM(h_amount)
FROM history WHERE h_c_w_id BETWEEN {first} AND {last}
GROUP BY h_c_w_id, h_c_d_id, h_c_id) AS t
GROUP BY w, d, c HAVING SUM(balance) <> SUM(delivered) - SUM(paid)

-- condition 11 | Warehouse | Always
says: COUNT(orders) - COUNT(new_order) = orders that are delivered
columns: d_w_id, d_id, COUNT(orders), COUNT(new_order), delivered
SELECT * FROM (SELECT d_w_id, d_id,
(SELECT COUNT(*) FROM orders WHERE o_w_id = {warehouse} AND o_d_id = d_id) AS entered,
(SELECT COUNT(*) FROM new_order WHERE no_w_id = {warehouse} AND no_d_id = d_id) AS queued,
{delivered orders} AS delivered
FROM district WHERE d_w_id = {warehouse}) AS t
WHERE entered - queued <> delivered

-- condition 12 | Warehouse | WhereMaintained
says: c_balance + c_ytd_payment = SUM(ol_amount) that was delivered
columns: c_w_id, c_d_id, c_id, c_balance, c_ytd_payment, SUM(ol_amount)
SELECT w, d, c, SUM(balance), SUM(paid), SUM(delivered) FROM
(SELECT c_w_id AS w, c_d_id AS d, c_id AS c,
c_balance AS balance, c_ytd_payment AS paid, 0 AS delivered
FROM customer WHERE c_w_id = {warehouse}
UNION ALL
SELECT o_w_id, o_d_id, o_c_id, 0, 0, (SELECT COALESCE(SUM(ol_amount), 0) FROM order_line
WHERE ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id AND ol_delivery_d IS NOT NULL)
FROM orders WHERE o_w_id = {warehouse}) AS t
GROUP BY w, d, c HAVING SUM(balance) + SUM(paid) <> SUM(delivered)

--- Without it, the twelve would hold of a warehouse that is not there.
-- rows of a warehouse | Warehouse | Always
says: one warehouse row, all districts, customers and stock rows
columns: w_id, warehouse, district, customer, stock
SELECT * FROM (SELECT {warehouse} AS w,
(SELECT COUNT(*) FROM warehouse WHERE w_id = {warehouse}) AS warehouse_rows,
(SELECT COUNT(*) FROM district WHERE d_w_id = {warehouse}) AS district_rows,
(SELECT COUNT(*) FROM customer WHERE c_w_id = {warehouse}) AS customer_rows,
(SELECT COUNT(*) FROM stock WHERE s_w_id = {warehouse}) AS stock_rows) AS t
WHERE warehouse_rows <> 1 OR district_rows <> {districts}
OR customer_rows <> {customers} OR stock_rows <> {items}

-- warehouses and items | All | Always
says: as many as were loaded
columns: warehouse, item
SELECT * FROM (SELECT (SELECT COUNT(*) FROM warehouse) AS warehouse_rows,
(SELECT COUNT(*) FROM item) AS item_rows) AS t
WHERE warehouse_rows <> {warehouses} OR item_rows <> {items}

-- order numbers | Warehouse | Always
says: o_id are 1 to d_next_o_id - 1, without a gap
columns: d_w_id, d_id, d_next_o_id - 1, MIN(o_id), COUNT(orders)
SELECT * FROM (SELECT d_w_id, d_id, d_next_o_id - 1 AS newest,
(SELECT MIN(o_id) FROM orders WHERE o_w_id = {warehouse} AND o_d_id = d_id) AS oldest,
(SELECT COUNT(*) FROM orders WHERE o_w_id = {warehouse} AND o_d_id = d_id) AS entered
FROM district WHERE d_w_id = {warehouse}) AS t
WHERE oldest IS NULL OR oldest <> 1 OR entered <> newest

-- local orders | Warehouse | Always
says: o_all_local is 0 where, and only where, a line is of another warehouse
columns: o_w_id, o_d_id, o_id, o_all_local, remote lines
SELECT * FROM (SELECT o_w_id, o_d_id, o_id, o_all_local,
(SELECT COUNT(*) FROM order_line WHERE ol_w_id = {warehouse} AND ol_d_id = o_d_id
AND ol_o_id = o_id AND ol_supply_w_id <> {warehouse}) AS remote_count
FROM orders WHERE o_w_id = {warehouse}) AS t
WHERE (o_all_local = 0) <> (remote_count > 0)

-- deliveries | Warehouse | Always
says: c_delivery_cnt = orders that were delivered to the customer
columns: c_w_id, c_d_id, c_id, c_delivery_cnt, COUNT(orders)
SELECT w, d, c, SUM(told), SUM(delivered) FROM
(SELECT c_w_id AS w, c_d_id AS d, c_id AS c, c_delivery_cnt AS told, 0 AS delivered
FROM customer WHERE c_w_id = {warehouse}
UNION ALL
SELECT o_w_id, o_d_id, o_c_id, 0, 1 FROM orders
WHERE o_w_id = {warehouse} AND o_id > {delivered} AND o_carrier_id IS NOT NULL) AS t
GROUP BY w, d, c HAVING SUM(told) <> SUM(delivered)

-- payments | Slice | WhereMaintained
says: c_payment_cnt = COUNT(history), c_ytd_payment = SUM(h_amount)
columns: c_w_id, c_d_id, c_id, c_payment_cnt, COUNT(history), c_ytd_payment, SUM(h_amount)
SELECT w, d, c, SUM(told), SUM(payments), SUM(ytd), SUM(paid) FROM
(SELECT c_w_id AS w, c_d_id AS d, c_id AS c,
c_payment_cnt AS told, 0 AS payments, c_ytd_payment AS ytd, 0 AS paid
FROM customer WHERE c_w_id BETWEEN {first} AND {last}
UNION ALL
SELECT h_c_w_id, h_c_d_id, h_c_id, 0, COUNT(*), 0, SUM(h_amount)
FROM history WHERE h_c_w_id BETWEEN {first} AND {last}
GROUP BY h_c_w_id, h_c_d_id, h_c_id) AS t
GROUP BY w, d, c HAVING SUM(told) <> SUM(payments) OR SUM(ytd) <> SUM(paid)

-- stock range | Warehouse | Always
says: s_quantity is 10 to 100
columns: s_w_id, s_i_id, s_quantity
SELECT s_w_id, s_i_id, s_quantity FROM stock WHERE s_w_id = {warehouse}
AND (s_quantity < 10 OR s_quantity > 100)

--- Lines of other warehouses are found by their orders, which are ten times fewer; that these tell the
--- truth of their lines is a condition of its own.
-- stock sums | Slice | WhereMaintainedAndUsed
says: s_ytd = SUM(ol_quantity), s_order_cnt = COUNT(order_line), s_remote_cnt = those of other warehouses
columns: s_w_id, s_i_id, s_ytd, SUM(ol_quantity), s_order_cnt, COUNT(order_line), s_remote_cnt, remote lines
SELECT w, i, SUM(ytd), SUM(quantity), SUM(order_cnt), SUM(line_count),
SUM(remote_cnt), SUM(remote_count) FROM
(SELECT s_w_id AS w, s_i_id AS i, s_ytd AS ytd, 0 AS quantity,
s_order_cnt AS order_cnt, 0 AS line_count, s_remote_cnt AS remote_cnt, 0 AS remote_count
FROM stock WHERE s_w_id BETWEEN {first} AND {last}
AND (s_ytd <> 0 OR s_order_cnt <> 0 OR s_remote_cnt <> 0)
UNION ALL
SELECT ol_w_id, ol_i_id, 0, SUM(ol_quantity), 0, COUNT(*), 0, 0 FROM order_line
WHERE ol_w_id BETWEEN {first} AND {last} AND ol_o_id > {loaded}
AND ol_supply_w_id = ol_w_id GROUP BY ol_w_id, ol_i_id
UNION ALL
SELECT ol_supply_w_id, ol_i_id, 0, ol_quantity, 0, 1, 0, 1 FROM orders
JOIN order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id
WHERE o_id > {loaded} AND o_all_local = 0 AND ol_supply_w_id <> o_w_id
AND ol_supply_w_id BETWEEN {first} AND {last}) AS t
GROUP BY w, i HAVING SUM(ytd) <> SUM(quantity)
OR SUM(order_cnt) <> SUM(line_count) OR SUM(remote_cnt) <> SUM(remote_count)

-- line numbers | Warehouse | Always
says: ol_number are 1 to the number of lines
columns: ol_w_id, ol_d_id, ol_o_id, MIN(ol_number), MAX(ol_number), COUNT(order_line)
SELECT ol_w_id, ol_d_id, ol_o_id, MIN(ol_number), MAX(ol_number), COUNT(*)
FROM order_line WHERE ol_w_id = {warehouse} GROUP BY ol_w_id, ol_d_id, ol_o_id
HAVING MIN(ol_number) <> 1 OR MAX(ol_number) <> COUNT(*)
