CREATE PROCEDURE tpcc_new_order(p_w INT, p_d INT, p_c INT, p_count INT, p_local INT,
  p_rolls_back INT, p_lines VARCHAR(400) {latin})
entering: BEGIN
  DECLARE v_n, v_at, v_o, v_item, v_supply, v_ordered, v_quantity INT DEFAULT 0;
  DECLARE v_discount, v_w_tax, v_d_tax DECIMAL(4,4);
  DECLARE v_price, v_amount, v_total DECIMAL(12,2) DEFAULT 0;
  DECLARE v_last VARCHAR(16) {latin};
  DECLARE v_credit CHAR(2) {latin};
  DECLARE v_name, v_dist VARCHAR(24) {latin};
  DECLARE v_i_data, v_s_data VARCHAR(50) {latin};
  DECLARE v_brands VARCHAR(15) {latin} DEFAULT '';
  {handler}
  START TRANSACTION;
  SELECT c_discount, c_last, c_credit, w_tax INTO v_discount, v_last, v_credit, v_w_tax
    FROM customer, warehouse
    WHERE w_id = p_w AND c_w_id = w_id AND c_d_id = p_d AND c_id = p_c;
  SELECT d_next_o_id, d_tax INTO v_o, v_d_tax
    FROM district WHERE d_w_id = p_w AND d_id = p_d FOR UPDATE;
  IF v_w_tax IS NULL OR v_d_tax IS NULL THEN
    SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'the customer or the district is missing';
  END IF;
  UPDATE district SET d_next_o_id = v_o + 1 WHERE d_w_id = p_w AND d_id = p_d;
  INSERT INTO orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_ol_cnt, o_all_local)
    VALUES (v_o, p_d, p_w, p_c, CURRENT_TIMESTAMP, p_count, p_local);
  INSERT INTO new_order (no_o_id, no_d_id, no_w_id) VALUES (v_o, p_d, p_w);
  WHILE v_n < p_count DO
    SET v_at = v_n * 22, v_n = v_n + 1, v_price = NULL, v_quantity = NULL;
    SET v_supply = CAST(SUBSTRING(p_lines, v_at + 1, 10) AS UNSIGNED),
      v_item = CAST(SUBSTRING(p_lines, v_at + 11, 10) AS UNSIGNED),
      v_ordered = CAST(SUBSTRING(p_lines, v_at + 21, 2) AS UNSIGNED);
    SELECT i_price, i_name, i_data INTO v_price, v_name, v_i_data FROM item WHERE i_id = v_item;
    IF v_price IS NULL THEN
      IF p_rolls_back = 0 OR v_n < p_count THEN
        SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'an item is missing';
      END IF;
      ROLLBACK;
      SELECT v_o, 1, v_total, v_last, v_credit, v_discount, v_w_tax, v_d_tax, v_brands;
      LEAVE entering;
    END IF;
    SELECT s_quantity, s_data, ELT(p_d, s_dist_01, s_dist_02, s_dist_03, s_dist_04, s_dist_05,
        s_dist_06, s_dist_07, s_dist_08, s_dist_09, s_dist_10)
      INTO v_quantity, v_s_data, v_dist
      FROM stock WHERE s_w_id = v_supply AND s_i_id = v_item FOR UPDATE;
    IF v_quantity IS NULL THEN
      SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'the stock of an item is missing';
    END IF;
    SET v_quantity = v_quantity - v_ordered + IF(v_quantity >= v_ordered + 10, 0, 91),
      v_amount = {amount},
      v_total = v_total + v_amount,
      v_brands = CONCAT(v_brands,
        IF(LOCATE('ORIGINAL', v_i_data) > 0 AND LOCATE('ORIGINAL', v_s_data) > 0, 'B', 'G'));
    UPDATE stock SET s_quantity = v_quantity{counted}
      WHERE s_w_id = v_supply AND s_i_id = v_item;
    INSERT INTO order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id,
        ol_quantity, ol_amount, ol_dist_info)
      VALUES (v_o, p_d, p_w, v_n, v_item, v_supply, v_ordered, v_amount, v_dist);
  END WHILE;
  IF p_rolls_back <> 0 THEN
    SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'there is an item that there must not be';
  END IF;
  COMMIT;
  SELECT v_o, 0, {total}, v_last, v_credit, v_discount, v_w_tax, v_d_tax, v_brands;
END
