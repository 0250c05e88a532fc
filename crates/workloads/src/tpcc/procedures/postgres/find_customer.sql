  IF p_c = 0 THEN
    SELECT COUNT(c_id) INTO v_named FROM customer
      WHERE c_w_id = p_c_w AND c_d_id = p_c_d AND c_last = p_last;
    SELECT c_id INTO v_c FROM customer
      WHERE c_w_id = p_c_w AND c_d_id = p_c_d AND c_last = p_last
      ORDER BY c_first LIMIT 1 OFFSET GREATEST(v_named - 1, 0) / 2;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'nobody has this last name';
    END IF;
  ELSE
    v_c := p_c;
  END IF;
