  IF p_c = 0 THEN
    SELECT COUNT(c_id) INTO v_named FROM customer
      WHERE c_w_id = p_c_w AND c_d_id = p_c_d AND c_last = p_last;
    IF v_named = 0 THEN
      SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'nobody has this last name';
    END IF;
    SET v_before = (v_named - 1) DIV 2;
    SELECT c_id INTO v_c FROM customer
      WHERE c_w_id = p_c_w AND c_d_id = p_c_d AND c_last = p_last
      ORDER BY c_first LIMIT v_before, 1;
  ELSE
    SET v_c = p_c;
  END IF;
