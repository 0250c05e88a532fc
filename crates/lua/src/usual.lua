-- The options that every script has, with their usual values: those of sysbench 1.0.20.
local driver, threads = ...
return {
   threads = threads, num_threads = threads, events = 0, max_requests = 0, time = 10, max_time = 0, rate = 0, tx_rate = 0,
   report_interval = 0, report_checkpoints = {}, percentile = 95, histogram = false, verbosity = 3, debug = false,
   validate = false, forced_shutdown = "off", thread_stack_size = 65536,
   thread_init_timeout = 30, warmup_time = 0, help = false, version = false,
   rand_type = "special", rand_seed = 0, rand_spec_iter = 12, rand_spec_pct = 1, rand_spec_res = 75, rand_pareto_h = 0.2,
   rand_zipfian_exp = 0.8,
   db_driver = driver, db_ps_mode = "auto", db_debug = false,
   mysql_host = { "localhost" }, mysql_port = { "3306" }, mysql_socket = {}, mysql_user = "sbtest", mysql_password = "",
   mysql_db = "sbtest", mysql_ssl = false, mysql_ssl_cipher = "", mysql_compression = false, mysql_debug = false,
   mysql_dry_run = false, mysql_ignore_errors = { "1213", "1020", "1205" },
   pgsql_host = "localhost", pgsql_port = 5432, pgsql_user = "sbtest", pgsql_password = "", pgsql_db = "sbtest",
}
