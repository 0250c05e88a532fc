//! Plans that use every key: what each comes to.

use std::fmt::Write as _;

use insta::assert_snapshot;
use model::Plan;

use super::{expand, with_workload};

/// Every key of a plan and of a system, around a workload.
fn around(workload: &str) -> String {
    format!(
        "name = \"all\"\nrounds = {{ min = 3, max = 12 }}\nbase = \"one\"\nseed = 7\ncontrol = true\n\
         template = true\nplacement = \"apart\"\nprofile = 2\ncount = 1\nquarantine = {{ steal_percent = 1.5, foreign_percent = 20, \
         throttled_percent = 3, swapped_pages = 4, major_faults = 5, reruns = 6 }}\n\
         margins = {{ rate = 1, \"server.cpu/o\" = 0.5, \"response.p99\" = 5 }}\n\
         connection = {{ transport = \"tcp\", tls = true, pipeline = true }}\n{workload}\n\
         [[system]]\nbuild = \"mariadb\"\npath = \"/opt/m\"\nconfig = \"z11a\"\nengine = \"innodb\"\nlabel = \"one\"\n\
         set = {{ innodb_io_capacity = 300, skip-log-bin = true, sync_binlog = false }}\n\
         cpus = {{ server = \"0\", client = \"1\" }}\nconnection = {{ compression = true }}\npreload = \"jemalloc\"\n\
         huge_pages = true\n\
         [[system]]\nbuild = \"postgres-15\"\nconnection = {{ describe = true }}\n\
         [[system]]\nbuild = \"postgres\"\nlabel = \"three\"\nconnection = \"sysbench\"\n"
    )
}

const INSERT: &str = "workload = { kind = \"insert\", scale = \"small\", clients = 2, tables = \"own\", \
    rows = 300_000, i1_rows = 2_000, i2_rows = 1_000, i0_rows_per_commit = 99, i1_rows_per_commit = 49, \
    i2_rows_per_commit = 4, query_rows_per_commit = 48, rates = [50, 70], queries = [\"point\"], \
    query_seconds = 9, query_sessions = 2, rows_per_query = 11, max_refresh = 90, secondary_indexes = 2, \
    deletes = true, queue = 7, min_resync = 900, data_min = 11, data_max = 21, data_random_percent = 40, \
    statements = \"text\", writes = \"prepared\", reads = \"usual\", compat = false, pacing = \"burst\", settle = 3, \
    htap_seconds = 2, partitions = 4, sequence_cache = 500, sla_percent = 90, statement_timeout = 30, \
    steps = [\"l.i0\", \"l.x\", \"l.i1\", \"qp50\", \"qp70\"] }";

/// All that may stand together: `tests` excludes `set`, and `ramp` excludes `rate`.
const SQL: &str = "kind = \"sql\", file = \"mine.toml\", tables = 2, rows = 500, clients = [1, 3], read_seconds = 5, \
    write_seconds = 6, scan_seconds = 7, seconds = { read = 4 }, warmup = \"steady\", warmup_seconds = 20, \
    settle = 2, fresh = true, warm_ups = false, compat = true, secondary = true, statements = \"text\", \
    distribution = { zipfian = 0.9 }, arrivals = \"even\", queue = 50, errors = { ignore = [\"1062\"], \
    retry = [\"1213\"], fatal = [\"1205\", \"08*\"], tries = 3, reconnect_seconds = 60 }, load = { clients = 3, \
    method = \"bulk\", rows_per_commit = 200, indexes_first = true }, statement_timeout = 40, vars = { hot = 4 }";

const TPCC: &str = "kind = \"tpcc\", warehouses = 3, profile = \"percona\", clients = 4, homes = \"fixed\", \
    form = \"batched\", statements = \"text\", isolation = \"serializable\", stock_level = \"join\", \
    payment_order = \"district\", delivery = \"together\", foreign_keys = false, indexes = \"minimum\", \
    history_key = true, partitions = 2, items = 100, customers = 30, settle = 1, steps = 2, seconds = 8, \
    warmup_seconds = 1, errors = { tries = 2 }, statement_timeout = 50, load = { method = \"insert\" }, ";

/// A workload file with every key of a table, a block, a statement and a step.
const FILE: &str = "name = \"mine\"\nsummary = \"every key\"\n\
    [defaults]\nrows = 100\ntables = 1\n[vars]\nhot = 10\n\
    [[table]]\nname = \"t\"\ncopies = \"tables\"\nnumbered = true\nrows = \"rows\"\nprimary_key = [\"id\"]\n\
    indexes = [{ name = \"t_k\", columns = [\"k\"], unique = false }]\n[table.columns]\n\
    id = { type = \"int\", value = \"row\", auto = false }\nk = { type = \"int\", value = { int = [1, \"rows\"], by = \"special\" } }\n\
    c = { type = \"varchar(40)\", value = { text = [5, { exact = 40, compat = 39 }] } }\n\
    [block.both]\ntable = \"t\"\nchoice = \"by_client\"\nrepeat = 2\nmin_rows = 10\n\
    draws = { first = { int = [1, \"hot\"] }, last = { plus = [\"first\", 9] }, ids = { int = [1, \"rows\"], count = 3 } }\n\
    statements = [{ name = \"near\", sql = \"SELECT c FROM {table} WHERE id BETWEEN :first AND :last\", expect = 10, \
    text = true, scans = false, counted = true }, { name = \"list\", \
    sql = { mysql = \"SELECT c FROM {table} WHERE id IN (:ids)\", postgres = \"SELECT c FROM {table} WHERE id IN (:ids)\", \
    sqlite = \"SELECT c FROM {table} WHERE id IN (:ids)\" }, expect = { distinct = \"ids\" } }]\n\
    [operation.read]\ntransaction = true\nblocks = [\"both\"]\n\
    [operation.write]\ndraws = { id = { int = [1, \"rows\"] } }\nsql = \"UPDATE {table} SET k = k + 1 WHERE id = :id\"\nexpect = 1\n\
    [[step]]\nname = \"warm\"\noperation = \"read\"\nmeasured = false\nbefore = [\"read\"]\n\
    [[step]]\nname = \"read\"\ngroup = \"r\"\noperation = \"read\"\nseconds = 9\nclients = 2\nwhole = true\nvars = { hot = 5 }\n\
    [[step]]\nphase = \"settle\"\n\
    [[step]]\nname = \"mix\"\noperations = { read = 3, write = 1 }\n\
    [sets]\nfew = [\"read\", \"group:r\"]\n";

fn shown(plan: &Plan) -> String {
    let mut text = format!(
        "{:#?}",
        (&plan.name, &plan.base, plan.rounds, &plan.course, plan.seed, plan.template)
    );
    let _ = write!(text, "\n{:#?}", plan.workload);
    for system in &plan.systems {
        let _ = write!(text, "\n{system:#?}");
    }
    text
}

#[test]
fn of_the_insert_benchmark() {
    assert_snapshot!(shown(&expand(&around(INSERT)).unwrap()));
}

#[test]
fn of_a_workload_file() {
    let workload = |rest: &str| {
        let sliced = "interleave = \"slices\"\nslice_ms = 300\nat_once = \"pairs\"\n";
        around(&format!("{sliced}workload = {{ {SQL}, {rest} }}"))
    };
    let ramp = workload("set = \"few\", ramp = { from = 10, p99 = \"10ms\", attempt_seconds = 2 }");
    assert_snapshot!(shown(&with_workload(&ramp, FILE).unwrap()));
    let rate = workload("tests = [\"read\", \"mix\"], rate = 100");
    assert_snapshot!(format!("{:#?}", with_workload(&rate, FILE).unwrap().workload));
}

#[test]
fn of_the_tpcc_like_workload() {
    let workload =
        |rest: &str| expand(&around(&format!("workload = {{ {TPCC} {rest} }}"))).unwrap();
    let paced = workload(
        "mix = { new-order = 5, payment = 4, order-status = 3, delivery = 2, stock-level = 1 }, wait = 50, \
         limits = { new-order = \"500ms\", payment = \"2s\", order-status = \"3s\", delivery = \"80s\", stock-level = \"21s\" }",
    );
    assert_snapshot!(shown(&paced));
    let rest = [
        "rate = 100, arrivals = \"even\", queue = 5, mix = \"deck\", limits = \"1s\"",
        "ramp = { from = 100, attempt_seconds = 4 }",
    ];
    assert_snapshot!(rest.map(|rest| format!("{:#?}", workload(rest).workload)).join("\n"));
}

#[test]
fn of_a_script() {
    let plan = "workload = { kind = \"lua\", script = \"a.lua\", path = [\"p\"], options = { table-size = 5, \
        on = true, share = 0.5, list = [1, \"b\"], text = \"x\" }, commands = [\"run\", \"check\"], clients = 3, \
        seconds = 4, events = 100, warmup_seconds = 1, rate = 50, arrivals = \"even\", queue = 5, \
        statement_timeout = 9 }";
    let with_template = around(plan);
    let read = |text: &str| {
        let file = crate::read(text, "my.toml").unwrap();
        assert_eq!(file.script(), Some(("a.lua", vec!["p".to_owned()])));
        let file =
            file.with_script("text".to_owned(), "/d/a.lua".to_owned(), vec!["/d".to_owned()]);
        crate::expand(&file, &super::CATALOG, &super::find, super::HOST)
    };
    let plan = read(&with_template.replace("template = true\n", "")).unwrap();
    assert_snapshot!(format!("{:#?}\n{:#?}", plan.workload, plan.steps));
    let error = read(&with_template).unwrap_err().to_string();
    let why = "`template = true` and no \"prepare\" at the beginning of `commands`: nothing would be loaded; leave \
               one of them out";
    assert!(error.ends_with(why), "{error}");
}

#[test]
fn of_a_script_at_several_numbers_of_clients_and_rates() {
    let plan = "workload = { kind = \"lua\", script = \"a.lua\", clients = [8, 1], \
        ramp = { from = 10, p99 = \"10ms\", attempt_seconds = 2 }, arrivals = \"even\", queue = 5 }";
    let file = crate::read(&around(plan), "my.toml").unwrap();
    let file = file.with_script("text".to_owned(), "/d/a.lua".to_owned(), Vec::new());
    let plan = crate::expand(&file, &super::CATALOG, &super::find, super::HOST).unwrap();
    assert!(plan.template);
    assert_snapshot!(format!("{:#?}\n{:#?}", plan.workload, plan.steps));
}
