  SET v_ended = 0;
  OPEN c_recent;
  counting: LOOP
    FETCH c_recent INTO v_item;
    IF v_ended = 1 THEN
      LEAVE counting;
    END IF;
    SELECT COUNT(*) INTO v_one
      FROM stock WHERE s_w_id = p_w AND s_i_id = v_item AND s_quantity < p_threshold;
    SET v_low = v_low + v_one;
  END LOOP;
  CLOSE c_recent;
