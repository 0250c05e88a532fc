CREATE OR REPLACE FUNCTION tpcc_delivery(p_w INT, p_first INT, p_last INT, p_carrier INT,
  OUT r_delivered INT, OUT r_skipped INT)
  LANGUAGE plpgsql AS $body$
DECLARE
  v_o INT; v_c INT; v_amount NUMERIC;
BEGIN
  r_delivered := 0; r_skipped := 0;
  FOR v_d IN p_first .. p_last LOOP
    SELECT no_o_id INTO v_o FROM new_order WHERE no_w_id = p_w AND no_d_id = v_d
      ORDER BY no_o_id LIMIT 1 FOR UPDATE;
    IF NOT FOUND THEN
      r_skipped := r_skipped + 1;
      CONTINUE;
    END IF;
    DELETE FROM new_order WHERE no_w_id = p_w AND no_d_id = v_d AND no_o_id = v_o;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'somebody else delivers order %', v_o;
    END IF;
    UPDATE orders SET o_carrier_id = p_carrier
      WHERE o_w_id = p_w AND o_d_id = v_d AND o_id = v_o;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'order % is missing', v_o;
    END IF;
    SELECT o_c_id INTO v_c FROM orders WHERE o_w_id = p_w AND o_d_id = v_d AND o_id = v_o;
    UPDATE order_line SET ol_delivery_d = CURRENT_TIMESTAMP
      WHERE ol_w_id = p_w AND ol_d_id = v_d AND ol_o_id = v_o;
    SELECT SUM(ol_amount) INTO v_amount
      FROM order_line WHERE ol_w_id = p_w AND ol_d_id = v_d AND ol_o_id = v_o;
    IF v_amount IS NULL THEN
      RAISE EXCEPTION 'the lines of order % are missing', v_o;
    END IF;
    UPDATE customer SET c_balance = c_balance + v_amount, c_delivery_cnt = c_delivery_cnt + 1
      WHERE c_w_id = p_w AND c_d_id = v_d AND c_id = v_c;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'the customer of order % is missing', v_o;
    END IF;
    r_delivered := r_delivered + 1;
  END LOOP;
END
$body$
