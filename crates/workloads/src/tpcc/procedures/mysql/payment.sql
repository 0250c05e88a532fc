CREATE PROCEDURE tpcc_payment(p_w INT, p_d INT, p_c_w INT, p_c_d INT, p_c INT,
  p_last VARCHAR(16) {latin}, p_amount DECIMAL(12,2))
BEGIN
  DECLARE v_c, v_named, v_before INT DEFAULT 0;
  DECLARE v_balance DECIMAL(12,2);
  DECLARE v_w_name, v_d_name VARCHAR(10) {latin};
  DECLARE v_w_address, v_d_address VARCHAR(100) {latin};
  DECLARE v_who VARCHAR(250) {latin};
  DECLARE v_credit CHAR(2) {latin};
  DECLARE v_data VARCHAR(600) {latin};
  {handler}
  START TRANSACTION;
{work}
  IF v_w_name IS NULL OR v_d_name IS NULL THEN
    SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'the warehouse or the district is missing';
  END IF;
  INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data)
    VALUES (v_c, p_c_d, p_c_w, p_d, p_w, CURRENT_TIMESTAMP, p_amount,
      CONCAT(v_w_name, '    ', v_d_name));
  COMMIT;
  SELECT v_c, v_balance, v_who, v_credit, v_w_address, v_d_address;
END
