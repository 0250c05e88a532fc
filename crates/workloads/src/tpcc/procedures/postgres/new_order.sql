CREATE OR REPLACE FUNCTION tpcc_new_order(p_w INT, p_d INT, p_c INT, p_count INT, p_local INT,
  p_rolls_back INT, p_lines TEXT,
  OUT r_o INT, OUT r_rolled_back INT, OUT r_total NUMERIC, OUT r_last TEXT, OUT r_credit TEXT,
  OUT r_discount NUMERIC, OUT r_w_tax NUMERIC, OUT r_d_tax NUMERIC, OUT r_brands TEXT)
  LANGUAGE plpgsql AS $body$
DECLARE
  v_at INT; v_item INT; v_supply INT; v_ordered INT; v_quantity INT;
  v_price NUMERIC; v_amount NUMERIC; v_name TEXT; v_dist TEXT; v_i_data TEXT; v_s_data TEXT;
BEGIN
  r_rolled_back := 0; r_total := 0; r_brands := '';
  SELECT c_discount, c_last, c_credit, w_tax INTO r_discount, r_last, r_credit, r_w_tax
    FROM customer, warehouse
    WHERE w_id = p_w AND c_w_id = w_id AND c_d_id = p_d AND c_id = p_c;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'the customer is missing';
  END IF;
  SELECT d_next_o_id, d_tax INTO r_o, r_d_tax
    FROM district WHERE d_w_id = p_w AND d_id = p_d FOR UPDATE;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'the district is missing';
  END IF;
  UPDATE district SET d_next_o_id = r_o + 1 WHERE d_w_id = p_w AND d_id = p_d;
  INSERT INTO orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_ol_cnt, o_all_local)
    VALUES (r_o, p_d, p_w, p_c, CURRENT_TIMESTAMP, p_count, p_local);
  INSERT INTO new_order (no_o_id, no_d_id, no_w_id) VALUES (r_o, p_d, p_w);
  FOR v_n IN 1 .. p_count LOOP
    v_at := (v_n - 1) * 22;
    v_supply := SUBSTR(p_lines, v_at + 1, 10)::INT;
    v_item := SUBSTR(p_lines, v_at + 11, 10)::INT;
    v_ordered := SUBSTR(p_lines, v_at + 21, 2)::INT;
    SELECT i_price, i_name, i_data INTO v_price, v_name, v_i_data FROM item WHERE i_id = v_item;
    IF NOT FOUND THEN
      IF p_rolls_back = 0 OR v_n < p_count THEN
        RAISE EXCEPTION 'item % is missing', v_item;
      END IF;
      r_rolled_back := 1;
      RETURN;
    END IF;
    SELECT s_quantity, s_data, CASE p_d WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02
        WHEN 3 THEN s_dist_03 WHEN 4 THEN s_dist_04 WHEN 5 THEN s_dist_05 WHEN 6 THEN s_dist_06
        WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08 WHEN 9 THEN s_dist_09 ELSE s_dist_10 END
      INTO v_quantity, v_s_data, v_dist
      FROM stock WHERE s_w_id = v_supply AND s_i_id = v_item FOR UPDATE;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'the stock of item % is missing', v_item;
    END IF;
    v_quantity := v_quantity - v_ordered + CASE WHEN v_quantity >= v_ordered + 10 THEN 0 ELSE 91 END;
    v_amount := {amount};
    r_total := r_total + v_amount;
    r_brands := r_brands || CASE WHEN POSITION('ORIGINAL' IN v_i_data) > 0
      AND POSITION('ORIGINAL' IN v_s_data) > 0 THEN 'B' ELSE 'G' END;
    UPDATE stock SET s_quantity = v_quantity{counted}
      WHERE s_w_id = v_supply AND s_i_id = v_item;
    INSERT INTO order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id,
        ol_quantity, ol_amount, ol_dist_info)
      VALUES (r_o, p_d, p_w, v_n, v_item, v_supply, v_ordered, v_amount, v_dist);
  END LOOP;
  IF p_rolls_back <> 0 THEN
    RAISE EXCEPTION 'there is an item that there must not be';
  END IF;
  r_total := {total};
END
$body$
