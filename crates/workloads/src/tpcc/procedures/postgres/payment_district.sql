  UPDATE district SET d_ytd = d_ytd + p_amount WHERE d_w_id = p_w AND d_id = p_d;
  SELECT d_name, CONCAT_WS(' ', d_street_1, d_street_2, d_city, d_state, d_zip)
    INTO v_d_name, r_d_address FROM district WHERE d_w_id = p_w AND d_id = p_d;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'the district is missing';
  END IF;
