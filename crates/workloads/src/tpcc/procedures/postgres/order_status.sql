CREATE OR REPLACE FUNCTION tpcc_order_status(p_w INT, p_d INT, p_c INT, p_last TEXT)
  RETURNS TABLE (r_c INT, r_o INT, r_count INT, r_balance NUMERIC, r_who TEXT, r_entered TIMESTAMP,
    r_carrier INT, r_item INT, r_supply INT, r_quantity INT, r_amount NUMERIC,
    r_delivered TIMESTAMP)
  LANGUAGE plpgsql AS $body$
DECLARE
  v_c INT; v_named INT; v_o INT; v_count INT; v_carrier INT;
  v_entered TIMESTAMP; v_balance NUMERIC; v_who TEXT;
BEGIN
{find customer}
  SELECT c_balance, CONCAT_WS(' ', c_first, c_middle, c_last) INTO v_balance, v_who
    FROM customer WHERE c_w_id = p_w AND c_d_id = p_d AND c_id = v_c;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'the customer is missing';
  END IF;
  SELECT o_id, o_entry_d, o_carrier_id, o_ol_cnt INTO v_o, v_entered, v_carrier, v_count
    FROM orders WHERE o_w_id = p_w AND o_d_id = p_d AND o_c_id = v_c
    ORDER BY o_id DESC LIMIT 1;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'the order of the customer is missing';
  END IF;
  RETURN QUERY SELECT v_c, v_o, v_count, v_balance, v_who, v_entered, v_carrier,
      ol_i_id::INT, ol_supply_w_id::INT, ol_quantity::INT, ol_amount::NUMERIC,
      ol_delivery_d::TIMESTAMP
    FROM order_line WHERE ol_w_id = p_w AND ol_d_id = p_d AND ol_o_id = v_o;
END
$body$
