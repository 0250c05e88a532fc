CREATE OR REPLACE FUNCTION tpcc_stock_level(p_w INT, p_d INT, p_threshold INT, OUT r_low INT)
  LANGUAGE plpgsql AS $body$
DECLARE
  v_next INT; v_item INT; v_one INT;
BEGIN
  SELECT d_next_o_id INTO v_next FROM district WHERE d_w_id = p_w AND d_id = p_d;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'the district is missing';
  END IF;
{count}
END
$body$
