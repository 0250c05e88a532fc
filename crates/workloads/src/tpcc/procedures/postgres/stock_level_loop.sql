  r_low := 0;
  FOR v_item IN SELECT DISTINCT ol_i_id FROM order_line
    WHERE ol_w_id = p_w AND ol_d_id = p_d AND ol_o_id < v_next AND ol_o_id >= v_next - 20
  LOOP
    SELECT COUNT(*) INTO v_one
      FROM stock WHERE s_w_id = p_w AND s_i_id = v_item AND s_quantity < p_threshold;
    r_low := r_low + v_one;
  END LOOP;
