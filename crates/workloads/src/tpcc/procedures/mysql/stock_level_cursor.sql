  DECLARE c_recent CURSOR FOR SELECT DISTINCT ol_i_id FROM order_line
    WHERE ol_w_id = p_w AND ol_d_id = p_d AND ol_o_id < v_next AND ol_o_id >= v_next - 20;
  DECLARE CONTINUE HANDLER FOR NOT FOUND SET v_ended = 1;
