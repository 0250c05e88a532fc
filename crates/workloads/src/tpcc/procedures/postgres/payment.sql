CREATE OR REPLACE FUNCTION tpcc_payment(p_w INT, p_d INT, p_c_w INT, p_c_d INT, p_c INT,
  p_last TEXT, p_amount NUMERIC,
  OUT r_c INT, OUT r_balance NUMERIC, OUT r_who TEXT, OUT r_credit TEXT,
  OUT r_w_address TEXT, OUT r_d_address TEXT)
  LANGUAGE plpgsql AS $body$
DECLARE
  v_c INT; v_named INT; v_w_name TEXT; v_d_name TEXT; v_data TEXT;
BEGIN
{work}
  INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data)
    VALUES (v_c, p_c_d, p_c_w, p_d, p_w, CURRENT_TIMESTAMP, p_amount,
      v_w_name || '    ' || v_d_name);
  r_c := v_c;
END
$body$
