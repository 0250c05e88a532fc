CREATE PROCEDURE tpcc_stock_level(p_w INT, p_d INT, p_threshold INT)
BEGIN
  DECLARE v_low, v_item, v_one, v_ended INT DEFAULT 0;
  DECLARE v_next INT;
{cursor}
  {handler}
  START TRANSACTION;
  SELECT d_next_o_id INTO v_next FROM district WHERE d_w_id = p_w AND d_id = p_d;
  IF v_next IS NULL THEN
    SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'the district is missing';
  END IF;
{count}
  COMMIT;
  SELECT v_low;
END
