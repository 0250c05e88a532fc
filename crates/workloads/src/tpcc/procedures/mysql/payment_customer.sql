{find customer}
  SELECT CONCAT_WS(' ', c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip,
      c_phone, c_credit_lim, c_discount, c_since), c_credit, c_balance
    INTO v_who, v_credit, v_balance
    FROM customer WHERE c_w_id = p_c_w AND c_d_id = p_c_d AND c_id = v_c FOR UPDATE;
  IF v_balance IS NULL THEN
    SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'the customer is missing';
  END IF;
  SET v_balance = v_balance - p_amount;
  IF v_credit = 'BC' THEN
    SELECT c_data INTO v_data
      FROM customer WHERE c_w_id = p_c_w AND c_d_id = p_c_d AND c_id = v_c FOR UPDATE;
    SET v_data = LEFT(CONCAT_WS(' ', v_c, p_c_d, p_c_w, p_d, p_w, p_amount, v_data), 500);
    UPDATE customer SET c_balance = v_balance{payment counted}, c_data = v_data
      WHERE c_w_id = p_c_w AND c_d_id = p_c_d AND c_id = v_c;
  ELSE
    UPDATE customer SET c_balance = v_balance{payment counted}
      WHERE c_w_id = p_c_w AND c_d_id = p_c_d AND c_id = v_c;
  END IF;
