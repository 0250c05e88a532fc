CREATE PROCEDURE tpcc_order_status(p_w INT, p_d INT, p_c INT, p_last VARCHAR(16) {latin})
BEGIN
  DECLARE v_c, v_named, v_before, v_count INT DEFAULT 0;
  DECLARE v_o, v_carrier INT;
  DECLARE v_entered DATETIME;
  DECLARE v_balance DECIMAL(12,2);
  DECLARE v_who VARCHAR(40) {latin};
  {handler}
  START TRANSACTION;
{find customer}
  SELECT c_balance, CONCAT_WS(' ', c_first, c_middle, c_last) INTO v_balance, v_who
    FROM customer WHERE c_w_id = p_w AND c_d_id = p_d AND c_id = v_c;
  SELECT o_id, o_entry_d, o_carrier_id, o_ol_cnt INTO v_o, v_entered, v_carrier, v_count
    FROM orders WHERE o_w_id = p_w AND o_d_id = p_d AND o_c_id = v_c
    ORDER BY o_id DESC LIMIT 1;
  IF v_balance IS NULL OR v_o IS NULL THEN
    SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'the customer or its order is missing';
  END IF;
  SELECT v_c, v_o, v_count, v_balance, v_who, v_entered, v_carrier,
      ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d
    FROM order_line WHERE ol_w_id = p_w AND ol_d_id = p_d AND ol_o_id = v_o;
  COMMIT;
END
