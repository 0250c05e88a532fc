  UPDATE warehouse SET w_ytd = w_ytd + p_amount WHERE w_id = p_w;
  SELECT w_name, CONCAT_WS(' ', w_street_1, w_street_2, w_city, w_state, w_zip)
    INTO v_w_name, v_w_address FROM warehouse WHERE w_id = p_w;
