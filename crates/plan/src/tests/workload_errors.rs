//! Bad workload files, and plans that ask too much of good ones: what, where, and what to do.

use insta::assert_snapshot;

use super::{expand, with_workload};

const PLAN: &str = "name = \"p\"\nrounds = 1\nworkload = { kind = \"sql\", file = \"w.toml\" }\n\
                    [[system]]\nbuild = \"sqlite\"\n";

const HEAD: &str = "name = \"mine\"\nsummary = \"s\"\n[defaults]\nrows = 100\n";
const TABLE: &str = "[[table]]\nname = \"t\"\nrows = \"rows\"\nprimary_key = [\"id\"]\n\
                     [table.columns]\nid = { type = \"int\", value = \"row\" }\n\
                     v = { type = \"int\", value = { int = [1, 9] } }\n";
const OPERATION: &str = "[operation.get]\ndraws = { id = { int = [1, \"rows\"] } }\nsql = \"SELECT v FROM {table} WHERE id = :id\"\n";
const STEP: &str = "[[step]]\nname = \"get\"\noperation = \"get\"\n";

/// The error of a workload file; it has no line where the file is fine.
fn file(text: &str) -> String {
    match with_workload(PLAN, text) {
        Ok(_) => "fine".to_owned(),
        Err(error) => error.to_string(),
    }
}

/// The error of a file with this operation `get`, which begins in line 12.
fn operation(keys: &str) -> String {
    file(&format!("{HEAD}{TABLE}[operation.get]\n{keys}\n{STEP}"))
}

/// The error of a file with these draws, one of them `id`, in line 12.
fn draws(draws: &str) -> String {
    operation(&format!("draws = {{ {draws} }}\nsql = \"SELECT :id\""))
}

/// The error of a file whose operation has this text.
fn text(sql: &str) -> String {
    operation(&format!(
        "draws = {{ id = {{ int = [1, 9] }}, ids = {{ int = [1, 9], count = 3 }} }}\nsql = {sql:?}"
    ))
}

/// The error of a file with these columns, in line 9 and after it.
fn columns(columns: &str) -> String {
    let table = TABLE.split("id = {").next().unwrap();
    file(&format!("{HEAD}{table}{columns}\n{OPERATION}{STEP}"))
}

/// The error of a file with this further text at its end.
fn end(text: &str) -> String {
    file(&format!("{HEAD}{TABLE}{OPERATION}{STEP}{text}\n"))
}

/// The error of a plan with these keys for the microbenchmarks.
fn micro(keys: &str) -> String {
    expand(&format!(
        "name = \"p\"\nrounds = 1\nworkload = {{ kind = \"micro\", {keys} }}\n[[system]]\nbuild = \"sqlite\"\n"
    ))
    .unwrap_err()
    .to_string()
}

/// The error of a plan for the file that is fine.
fn plan(keys: &str) -> String {
    let plan = PLAN.replace("\"w.toml\"", &format!("\"w.toml\", {keys}"));
    with_workload(&plan, &format!("{HEAD}[vars]\nwidth = 5\n{TABLE}{OPERATION}{STEP}"))
        .unwrap_err()
        .to_string()
}

#[test]
fn keys_and_structure() {
    assert_eq!(end(""), "fine");
    assert_snapshot!(file("name = \"x\"\nsummry = \"s\""), @"w.toml:2: unknown key `summry` in the workload, did you mean `summary`?");
    assert_snapshot!(file("name = \"x\""), @"w.toml:1: the workload needs the key `summary`");
    assert_snapshot!(file(&format!("{HEAD}{TABLE}{STEP}")), @"w.toml:1: the workload needs the key `operation`");
    assert_snapshot!(file(&format!("{HEAD}{TABLE}{OPERATION}")), @"w.toml:1: the workload needs the key `step`");
    assert_snapshot!(file(&format!("{HEAD}{OPERATION}{STEP}")), @"w.toml:1: the workload needs the key `table`");
    assert_snapshot!(file(&HEAD.replace("mine", "my workload")), @r#"w.toml:1: `name` must be a name of at most 60 letters, digits and - _ . =, not "my workload""#);
    assert_snapshot!(file(&HEAD.replace("mine", "insert")), @r#"w.toml:1: `name = "insert"` is the Insert Benchmark's"#);
    assert_snapshot!(operation("sqll = \"SELECT 1\""), @"w.toml:13: unknown key `sqll` in an operation, did you mean `sql`?");
    assert_snapshot!(operation("expect = 1"), @"w.toml:12: an operation needs the key `sql`");
    assert_snapshot!(operation("blocks = [\"b\"]\nsql = \"SELECT 1\""), @"w.toml:14: unknown key `sql` in an operation with `blocks`, which has: transaction, blocks");
    assert_snapshot!(operation("blocks = [\"b\"]"), @"w.toml:13: no block `b`; available: none");
    assert_snapshot!(operation("blocks = [{ sql = \"SELECT 1\", expct = 1 }]"), @"w.toml:13: unknown key `expct` in a block, did you mean `expect`?");
    assert_snapshot!(operation("sql = \"SELECT 1\"\n[[operation.get.statements]]\nsql = \"SELECT 1\""), @"w.toml:13: `sql` and `statements`: a block is one statement or has several");
    assert_snapshot!(operation("table = \"u\"\nsql = \"SELECT 1\""), @"w.toml:13: no table `u`; nearest `t`; available: t");
    assert_snapshot!(operation("repeat = 0\nsql = \"SELECT 1\""), @"w.toml:13: `repeat` must be a whole number from 1 to 100_000, not 0");
    assert_snapshot!(operation("choice = \"first\"\nsql = \"SELECT 1\""), @"w.toml:13: no choice `first`; available: random, by_client");
    assert_snapshot!(end("[operation.put]\nsql = \"SELECT 1\""), @"w.toml:18: no step has the operation `put`");
    assert_snapshot!(end("[block.put]\nsql = \"SELECT 1\""), @"w.toml:18: no operation has the block `put`");
    assert_snapshot!(file(&HEAD.replace("rows = 100", "seconds = { get = 5 }")), @"w.toml:4: unknown key `seconds` in defaults, which has: set, tests, tables, rows, clients, read_seconds, write_seconds, scan_seconds, warmup, warmup_seconds, settle, fresh, warm_ups, compat, secondary, statements, distribution, rate, ramp, errors, load, statement_timeout, arrivals, queue");
    assert_snapshot!(end("[vars]\nrows = 1"), @"w.toml:19: `rows` is reserved: give the variable of the file another name");
    assert_snapshot!(end("[vars]\n\"a-b\" = 1"), @"w.toml:19: `a-b` is not a name: it needs a letter or _ first, then letters, digits and _");
}

#[test]
fn names_that_collide() {
    assert_snapshot!(end(STEP), @"w.toml:18: a second step `get`: give one of them another name");
    assert_snapshot!(end(TABLE), @"w.toml:18: a second table `t`: give one of them another name");
    assert_snapshot!(end("[[step]]\nname = \"load\"\noperation = \"get\""), @"w.toml:19: `load` cannot be the name of a step: load, index, settle and reset are those of loading and phases");
    assert_snapshot!(end("[[step]]\nname = \"settle.2\"\noperation = \"get\""), @"w.toml:19: `settle.2` cannot be the name of a step: load, index, settle and reset are those of loading and phases");
    assert_snapshot!(end("[[step]]\nname = \"get@8\"\noperation = \"get\""), @r#"w.toml:19: `name` must be a name of at most 60 letters, digits and - _ . =, not "get@8""#);
    assert_snapshot!(file(&format!("{HEAD}{TABLE}{OPERATION}{STEP}").replace("get", "commit")), @"w.toml:12: `commit` is reserved for reports: give the operation another name");
    assert_snapshot!(operation("blocks = [{ sql = \"SELECT 1\" }, { sql = \"SELECT 2\" }]"), @"w.toml:12: a second statement of operation `get` with the name `select`: give one of them another name");
    assert_snapshot!(operation("blocks = [{ name = \"begin\", sql = \"SELECT 1\" }]"), @"w.toml:12: operation `get`: `begin` cannot be the name of a statement: it stands in reports already");
    let index = |name: &str| format!("{{ name = \"{name}\", columns = [\"v\"] }}");
    let table = |indexes: &str| {
        TABLE.replace("[table.columns]", &format!("indexes = [{indexes}]\n[table.columns]"))
    };
    assert_snapshot!(file(&format!("{HEAD}{}{OPERATION}{STEP}", table(&format!("{}, {}", index("a"), index("a"))))), @"w.toml:9: a second index `a`: give one of them another name");
    let two = format!("{}{}", table(&index("a")), table(&index("a")).replace("\"t\"", "\"u\""));
    assert_snapshot!(file(&format!("{HEAD}{two}{OPERATION}{STEP}")), @"w.toml:13: a second index `a`: give one of them another name");
}

#[test]
fn columns_and_their_values() {
    let id = "id = { type = \"int\", value = \"row\" }\n";
    let with = |column: &str| columns(&format!("{id}v = {{ {column} }}"));
    assert_snapshot!(columns(""), @"w.toml:9: `columns` must be a table with at least one column, not a table");
    assert_snapshot!(columns("i = { type = \"int\", value = \"row\" }"), @"w.toml:8: no column `id`; nearest `i`; available: i");
    assert_snapshot!(with("type = \"integer\", value = \"row\""), @r#"w.toml:11: `type` must be a type: int, bigint, char(N), varchar(N), text, decimal(N,N) or datetime, not "integer""#);
    assert_snapshot!(with("type = \"char(300)\", value = { fixed = \"\" }"), @r#"w.toml:11: `type` must be a type: int, bigint, char(N), varchar(N), text, decimal(N,N) or datetime, not "char(300)""#);
    assert_snapshot!(with("type = \"decimal(4,5)\", value = { fixed = \"\" }"), @r#"w.toml:11: `type` must be a type: int, bigint, char(N), varchar(N), text, decimal(N,N) or datetime, not "decimal(4,5)""#);
    assert_snapshot!(with("type = \"int(11)\", value = \"row\""), @r#"w.toml:11: `type` must be a type: int, bigint, char(N), varchar(N), text, decimal(N,N) or datetime, not "int(11)""#);
    assert_snapshot!(with("type = \"int\", value = \"rows\""), @r#"w.toml:11: `value` must be "row", or a table such as { int = [1, 100] }, not "rows""#);
    assert_snapshot!(with("type = \"int\", value = { text = [1, 2] }"), @"w.toml:11: `value` does not fit into the column's type, which takes integers from -2_000_000_000 to 2_000_000_000");
    assert_snapshot!(with("type = \"char(5)\", value = { template = \"######\" }"), @"w.toml:11: `value` does not fit into the column's type, which takes text of at most 5 characters");
    assert_snapshot!(with("type = \"decimal(4,2)\", value = { decimal = [\"0.00\", \"100.00\"] }"), @"w.toml:11: `value` does not fit into the column's type, which takes `decimal` with 2 digits after the point and 4 in all");
    assert_snapshot!(with("type = \"datetime\", value = { datetime = [\"2024-02-30\", \"2024-12-31\"] }"), @r#"w.toml:11: `datetime` must be a date such as "2024-12-31" or "2024-12-31 23:59:59" of the years 1000 to 9999, not "2024-02-30""#);
    assert_snapshot!(with("type = \"int\", value = { int = [-3_000_000_000, 1] }"), @"w.toml:11: `value` does not fit into the column's type, which takes integers from -2_000_000_000 to 2_000_000_000");
    assert_snapshot!(with("type = \"int\", value = { next = true }"), @"w.toml:11: `next` is for statements: a column of loaded rows cannot have it");
    assert_snapshot!(with("type = \"int\", value = { int = [1, 2], count = 3 }"), @"w.toml:11: `count` is for statements: a column has one value");
    assert_snapshot!(with("type = \"int\", auto = true, value = \"row\""), @r#"w.toml:9: `v` is `auto`: it needs an integer type, `value = "row"`, and must be all of the `primary_key`"#);
    assert_snapshot!(columns("id = { type = \"text\", value = { text = [1, 2] } }"), @"w.toml:8: `id` is of type text, which not every Dbms can index: make it a varchar");
}

#[test]
fn draws_and_expressions() {
    assert_snapshot!(draws("id = { integer = [1, 2] }"), @"w.toml:13: unknown key `integer` in a draw, which has: int, from, plus, next, column, template, text, fixed, decimal, datetime, cycle, by, count");
    assert_snapshot!(draws("id = { }"), @"w.toml:13: a draw has exactly one of `int`, `from`, `plus`, `next`, `column`, `template`, `text`, `fixed`, `decimal`, `datetime`, `cycle`");
    assert_snapshot!(draws("id = { int = [1, 2], fixed = \"x\" }"), @"w.toml:13: a draw has exactly one of `int`, `from`, `plus`, `next`, `column`, `template`, `text`, `fixed`, `decimal`, `datetime`, `cycle`");
    assert_snapshot!(draws("id = { int = 5 }"), @"w.toml:13: `int` must be a list of the lowest and the highest value, not 5");
    assert_snapshot!(draws("id = { int = [5, 4] }"), @"w.toml:13: `int`: the lowest value is greater than the highest");
    assert_snapshot!(draws("id = { int = [1, \"row\"] }"), @"w.toml:13: no variable `row`; nearest `rows`; available: rows, read_seconds, write_seconds, scan_seconds, warmup_seconds, clients");
    assert_snapshot!(draws("id = { int = [1, \"rows +\"] }"), @r#"w.toml:13: `int` must be a whole number, or an expression such as "rows / 2 + 1", not "rows +""#);
    assert_snapshot!(draws("id = { int = [1, \"rows / (rows - 100)\"] }"), @"w.toml:13: `rows / (rows - 100)` divides by zero, with rows = 100");
    assert_snapshot!(draws("id = { int = [1, \"rows * 1_000_000_000_000_000_000\"] }"), @"w.toml:13: `rows * 1_000_000_000_000_000_000` is more than 64 bits hold, with rows = 100");
    assert_snapshot!(draws("id = { int = [1, 2], count = 0 }"), @"w.toml:13: `count` must be a whole number from 1 to 1_000_000, not 0");
    assert_snapshot!(draws("id = { int = [1, 2], count = \"rows - 200\" }"), @"w.toml:13: `count` must be a whole number from 1 to 1_000_000, not `rows - 200`, which is -100");
    assert_snapshot!(draws("id = { text = [1, 2], count = 5 }"), @"w.toml:13: `count` goes with `int` and `from` only");
    assert_snapshot!(draws("id = { text = [3, 2] }"), @"w.toml:13: `text`: the lowest value is greater than the highest");
    assert_snapshot!(draws("id = { fixed = \"x\", by = \"uniform\" }"), @"w.toml:13: `by` goes with `int` only");
    assert_snapshot!(draws("id = { int = [1, 2], by = \"zipf\" }"), @"w.toml:13: no distribution `zipf`; available: uniform, zipfian, gaussian, pareto, special");
    assert_snapshot!(draws("id = { plus = [\"other\", 1] }"), @"w.toml:13: no draw before this one `other`; available: none");
    assert_snapshot!(draws("a = { text = [1, 2] }, id = { plus = [\"a\", 1] }"), @"w.toml:13: `a` is not an integer: `plus` needs one");
    assert_snapshot!(draws("a = { int = [1, 2], count = 2 }, id = { plus = [\"a\", 1] }"), @"w.toml:13: `a` is a list: `plus` needs a single number");
    let largest = "1_000_000_000_000_000_000";
    let sums: String = (1..10).fold(format!("a0 = {{ from = {largest} }}"), |all, at| {
        format!("{all}, a{at} = {{ plus = [\"a{}\", {largest}] }}", at - 1)
    });
    assert_snapshot!(draws(&sums), @"w.toml:13: `a8` is from 9_000_000_000_000_000_000 to 9_000_000_000_000_000_000: that much on top is more than 64 bits hold");
    assert_snapshot!(draws("id = { from = 1_000_000_000_000_000_001 }"), @"w.toml:13: `from` must be a whole number from -1_000_000_000_000_000_000 to 1_000_000_000_000_000_000, not 1_000_000_000_000_000_001");
    assert_snapshot!(draws("id = { cycle = 5 }"), @"w.toml:13: `cycle` is for columns of loaded rows: use `int`");
    assert_snapshot!(draws("id = { column = \"w\" }"), @"w.toml:13: no column `w`; nearest `v`; available: id, v");
    assert_snapshot!(draws("id = { column = \"id\" }"), @"w.toml:13: `id` is counted from row to row: draw it with `int` or `next`");
    assert_snapshot!(draws("id = { decimal = [\"1\", \"x\"] }"), @r#"w.toml:13: `decimal` must be a number in quotes with at most 18 digits, such as "0.01", not "x""#);
    assert_snapshot!(draws("id = { next = false }"), @"w.toml:13: `next` must be true, or left out, not false");
    assert_snapshot!(draws("id = { int = { exact = [1, 2] } }"), @"w.toml:13: `int` must be a list of the lowest and the highest value, not a table");
    assert_snapshot!(draws("\"1d\" = { int = [1, 2] }"), @"w.toml:13: `1d` is not a name: it needs a letter or _ first, then letters, digits and _");
    assert_snapshot!(draws("id = { int = [1, 2] }, other = { int = [1, 2] }"), @"w.toml:13: draw `other` is used by no statement: write `:other` in one, or leave it out");
}

#[test]
fn texts_of_statements() {
    assert_eq!(text("SELECT v FROM {table} WHERE id = :id AND id IN (:ids)"), "fine");
    assert_snapshot!(text("SELECT :di, :ids"), @"w.toml:14: no draw `di`; nearest `id`; available: id, ids");
    assert_snapshot!(text("SELECT :id, v FROM {table} WHERE id = :ids"), @"w.toml:14: `:ids` is a list of 3 values: it stands in parentheses, as in IN (:ids)");
    assert_snapshot!(text("SELECT :id"), @"w.toml:13: draw `ids` is used by no statement: write `:ids` in one, or leave it out");
    assert_snapshot!(text("SELECT :id FROM {tabel} WHERE id IN (:ids)"), @"w.toml:14: `sql`: `{tabel}` stands for nothing; `{table}` is the chosen copy of the table");
    assert_snapshot!(text("SELECT :id, 'x"), @"w.toml:14: `sql`: `'` is never closed");
    assert_snapshot!(text("SELECT ?"), @"w.toml:14: `sql` has a placeholder of the Dbms: write `:name` for the draw `name`");
    assert_snapshot!(text("SELECT $1"), @"w.toml:14: `sql` has a placeholder of the Dbms: write `:name` for the draw `name`");
    assert_snapshot!(text("SELECT :id; SELECT :id"), @"w.toml:14: `sql` has more than one statement: give each its own entry of `statements`");
    assert_snapshot!(text("BEGIN"), @"w.toml:14: `sql` begins with BEGIN: a transaction is written `transaction = true`");
    assert_snapshot!(text("INSERT INTO u VALUES (:id)"), @r#"w.toml:14: `sql` adds to or removes from `u`, and backslide counts only rows of the block's table: write `table = "u"` in the block; or write `counted = false`, and row counts are not checked after it"#);
    assert_snapshot!(text("INSERT {table} VALUES (:id)"), @"w.toml:14: `sql` does not say with INTO or FROM which table's rows it changes; or write `counted = false`, and row counts are not checked after it");
    assert_snapshot!(text("INSERT INTO {table} VALUES (:id, 1) ON CONFLICT (id) DO UPDATE SET v = 2"), @"w.toml:14: `sql` may change existing rows, so its answer does not give the number of added rows: write `counted = false`, and row counts are not checked after it");
    assert_snapshot!(operation("sql = 5"), @"w.toml:13: `sql` must be text, or a table with a text for each of mysql, postgres and sqlite, not 5");
    assert_snapshot!(operation("sql = { mysql = \"SELECT 1\" }"), @"w.toml:13: `sql` has no text for postgres: it needs one for each of mysql, postgres and sqlite, or one text for all");
    assert_snapshot!(operation("sql = { mysql = \"SELECT 1\", postgres = \"SELECT 1\", sqlite = \"DELETE FROM t\" }"), @"w.toml:13: `sql` changes rows differently in different dialects: use the same verb in all");
    let two = format!("{HEAD}{TABLE}{}{OPERATION}{STEP}", TABLE.replace("\"t\"", "\"u\""));
    assert_snapshot!(file(&two), @r#"w.toml:21: `{table}` stands for a table, and there are several: write `table = "…"` in the block"#);
    assert_eq!(operation("counted = false\nsql = \"INSERT INTO u VALUES (1)\""), "fine");
}

#[test]
fn answers() {
    let expect = |expect: &str| {
        operation(&format!(
            "draws = {{ id = {{ int = [1, 9] }}, ids = {{ int = [1, 9], count = 3 }} }}\n\
             sql = \"SELECT :id, v FROM t WHERE v IN (:ids)\"\nexpect = {expect}"
        ))
    };
    assert_eq!(expect("[0, \"rows\"]"), "fine");
    assert_eq!(expect("{ distinct = \"ids\" }"), "fine");
    assert_snapshot!(expect("[1]"), @"w.toml:15: `expect` must be a list of the fewest and the most rows, not a list");
    assert_snapshot!(expect("[2, 1]"), @"w.toml:15: `expect`: from 2 to 1 rows is none");
    assert_snapshot!(expect("-1"), @"w.toml:15: `expect` must be a whole number from 0 to 9_223_372_036_854_775_807, not -1");
    assert_snapshot!(expect("\"none\""), @"w.toml:15: no variable `none`; available: rows, read_seconds, write_seconds, scan_seconds, warmup_seconds, clients");
    assert_snapshot!(expect("true"), @r#"w.toml:15: `expect` must be a number of rows, a list of the fewest and the most, "any", or { distinct = "…" }, not true"#);
    assert_snapshot!(expect("{ distinct = \"id2\" }"), @"w.toml:15: no draw `id2`; nearest `id`; available: id, ids");
    assert_snapshot!(expect("{ exact = 1 }"), @"w.toml:15: a value that is another in the original needs the key `compat`");
}

#[test]
fn steps() {
    assert_snapshot!(end("[[step]]\nname = \"x\"\noperation = \"gt\""), @"w.toml:20: no operation `gt`; nearest `get`; available: get");
    assert_snapshot!(end("[[step]]\nname = \"x\"\noperations = { get = 0 }"), @"w.toml:20: `get` must be a whole number from 1 to 1_000_000, not 0");
    assert_snapshot!(end("[[step]]\nname = \"x\"\noperations = {}"), @"w.toml:20: `operations` must be a table with at least one operation, not a table");
    assert_snapshot!(end("[[step]]\nname = \"x\"\noperation = \"get\"\noperations = { get = 1 }"), @"w.toml:21: `operation` and `operations`: a step has one, or several with their weights");
    assert_snapshot!(end("[[step]]\nname = \"x\""), @"w.toml:18: step needs the key `operation`");
    assert_snapshot!(end("[[step]]\nphase = \"load\""), @"w.toml:19: no phase `load`; available: settle, reset");
    assert_snapshot!(end("[[step]]\nphase = \"settle\"\nname = \"x\""), @"w.toml:20: unknown key `name` in a phase, which has: phase");
    assert_snapshot!(end("[[step]]\nname = \"x\"\noperation = \"get\"\nseconds = 0"), @"w.toml:21: `seconds` must be a whole number from 1 to 604_800, not 0");
    assert_snapshot!(end("[[step]]\nname = \"x\"\noperation = \"get\"\nclients = \"tables\""), @"w.toml:21: no variable `tables`; available: rows, read_seconds, write_seconds, scan_seconds, warmup_seconds");
    assert_snapshot!(end("[[step]]\nname = \"x\"\noperation = \"get\"\nbefore = [\"get\"]"), @"w.toml:21: `before` is for steps that only warm caches: write `measured = false`, or leave it out");
    assert_snapshot!(end("[[step]]\nname = \"x\"\noperation = \"get\"\nmeasured = false\nbefore = [\"gte\"]"), @"w.toml:22: no test `gte`; nearest `get`; available: get");
    assert_snapshot!(file(&format!("{HEAD}{TABLE}{OPERATION}{STEP}measured = false\n")), @"w.toml:15: no step that runs is measured: there would be no result");
    assert_snapshot!(end("[sets]\na = [\"gett\"]"), @"w.toml:19: no test `gett`; nearest `get`; available: get");
    assert_snapshot!(end("[sets]\na = [\"set:b\"]\nb = [\"set:a\"]"), @"w.toml:20: set `a` is part of itself: a, b");
    assert_snapshot!(end("[sets]\nall = [\"get\"]"), @"w.toml:19: the set `all` is there already, with all tests");
}

#[test]
fn what_a_plan_asks() {
    assert_snapshot!(micro("tests = [\"point-qury\"]"), @"my.toml:3: no test `point-qury`; nearest `point-query`; available: point-query, point-query.pre, insert, update-one, update-zipf, scan, delete, update-index and 39 more (`backslide workloads micro`)");
    assert_snapshot!(micro("tests = [\"group:points\"]"), @"my.toml:3: no group `points`; nearest `point`; available: point, range-aggregate, range, write");
    assert_snapshot!(micro("set = \"33\""), @"my.toml:3: no set `33`; nearest `32`; available: 32, 27, 42, all");
    assert_snapshot!(micro("set = \"27\", tests = [\"scan\"]"), @"my.toml:3: `set` and `tests` exclude each other: leave one of them out");
    assert_snapshot!(micro("tests = [\"scan.warm\"]"), @"my.toml:3: `scan.warm` only warms caches: choose a test, too");
    assert_snapshot!(micro("clients = []"), @"my.toml:3: `clients` must be a list with at least one value, not an empty one");
    assert_snapshot!(micro("clients = [1, 2, 1]"), @"my.toml:3: `clients` has 1 twice");
    assert_snapshot!(micro("tests = [\"insert\", \"delete\", \"insert\"]"), @"my.toml:3: `tests` has `insert` twice");
    assert_snapshot!(micro("clients = 0"), @"my.toml:3: `clients` must be a whole number from 1 to 10_000, not 0");
    assert_snapshot!(micro("rows = 0"), @"my.toml:3: `rows` must be a whole number from 1 to 100_000_000_000, not 0");
    assert_snapshot!(micro("rows = 100_000_000_000, tables = 100"), @"my.toml:3: all tables together have 10_000_000_000_000 rows, more than 1_000_000_000_000");
    assert_snapshot!(micro("rate = 5, ramp = { from = 5, p99 = \"1ms\" }"), @"my.toml:3: `rate` and `ramp` exclude each other: leave one of them out");
    assert_snapshot!(micro("ramp = { from = 5 }"), @r#"my.toml:3: `ramp` needs the limit of one percentile of response time, such as `p99 = "10ms"`"#);
    assert_snapshot!(micro("ramp = { from = 5, p99 = \"10\" }"), @r#"my.toml:3: `p99` must be a whole number of us, ms or s, up to a minute, such as "500us", "10ms" or "1s", not "10""#);
    assert_snapshot!(micro("ramp = { from = 5, p99 = \"0.001ms\" }"), @r#"my.toml:3: `p99` must be a whole number of us, ms or s, up to a minute, such as "500us", "10ms" or "1s", not "0.001ms""#);
    assert_snapshot!(micro("rows = 1e6"), @"my.toml:3: `rows` must be a whole number from 1 to 100_000_000_000, not 1000000.0: write 1000000");
    assert_snapshot!(micro("rows = 0.5"), @"my.toml:3: `rows` must be a whole number from 1 to 100_000_000_000, not 0.5");
    assert_snapshot!(micro("connection = { pipeline = true }"), @"my.toml:3: `connection` is not a key of the workload: it belongs to the plan, above its first table, or to a `[[system]]`");
    assert_snapshot!(micro("queue = 5"), @"my.toml:3: `queue` without `rate` or `ramp`: clients that send the next operation when they have the answer to the last need none");
    assert_snapshot!(micro("errors = { retry = [1213] }"), @r#"my.toml:3: `retry` must be a list of codes in quotes such as "1213", "40P01" or "08*", not 1213"#);
    assert_snapshot!(micro("errors = { retry = [\"1213\"], fatal = [\"1213\"] }"), @"my.toml:3: `errors` has the code `1213` twice");
    assert_snapshot!(micro("load = { method = \"copy\" }"), @"my.toml:3: no way to load `copy`; available: fastest, bulk, insert");
    assert_snapshot!(micro("seconds = 5"), @"my.toml:3: `seconds` must be a table of tests such as { scan = 10 } (for all tests: read_seconds, write_seconds, scan_seconds), not 5");
    assert_snapshot!(micro("seconds = { insert = 0 }"), @"my.toml:3: `insert` must be a whole number from 1 to 604_800, not 0");
    assert_snapshot!(micro("seconds = { insrt = 5 }"), @"my.toml:3: no test `insrt`; nearest `insert`; available: insert, scan, delete, point-query, update-one, update-inlist, update-index, update-zipf and 39 more (`backslide workloads micro`)");
    assert_snapshot!(micro("tests = [\"insert\"], seconds = { \"group:point\" = 5 }"), @"my.toml:3: `group:point` has seconds and is not among the tests that run");
    assert_snapshot!(micro("file = \"x\""), @r#"my.toml:3: `file` and `kind = "micro"`: write `kind = "sql"` for a workload file of your own"#);
    assert_snapshot!(micro("secondary = true"), @"my.toml:5: sqlite: step `insert` leaves `id` to the server, which cannot number rows without a primary key (`secondary = true`): choose other `tests`");
    assert_snapshot!(micro("scale = \"tiny\""), @"my.toml:3: unknown key `scale` in workload, which has: kind, file, set, tests, tables, rows, clients, read_seconds, write_seconds, scan_seconds, seconds, warmup, warmup_seconds, settle, fresh, warm_ups, compat, secondary, statements, distribution, rate, ramp, errors, load, statement_timeout, vars, arrivals, queue");
    assert_snapshot!(micro("vars = { range = 5 }"), @"my.toml:3: no variable `range`; available: none");
    assert_snapshot!(plan("tables = 2"), @"my.toml:3: workload `mine` does not depend on `tables`: leave it out, or set one of its own variables in `vars`: width");
    assert_snapshot!(plan("vars = { with = 2 }"), @"my.toml:3: no variable `with`; nearest `width`; available: width");
    let catalog = PLAN.replace("w.toml", "account");
    assert_snapshot!(expand(&catalog).unwrap_err(), @"my.toml:3: no workload `account`; nearest `accounts`; available: accounts, micro, orders, timeseries");
    assert_snapshot!(expand(&PLAN.replace(", file = \"w.toml\"", "")).unwrap_err(), @"my.toml:3: workload needs the key `file`");
}

#[test]
fn the_beginning_of_a_test_is_told_the_tests_that_begin_so() {
    let told = micro("tests = [\"read-only\"]");
    let (_, listed) = told.split_once("available: ").unwrap();
    let (listed, more) = listed.split_once(" and ").unwrap();
    assert_eq!(listed.split(", ").count(), 8, "{told}");
    assert!(listed.split(", ").all(|name| name.starts_with("read-only")), "{told}");
    assert_eq!(more, "39 more (`backslide workloads micro`)");
}

#[test]
fn more_parameters_than_a_prepared_statement_takes() {
    let many = |count: u32, more: &str| {
        let plan = PLAN.replace("\"w.toml\"", &format!("\"w.toml\"{more}"));
        let text = format!(
            "{HEAD}{TABLE}[operation.get]\ndraws = {{ ids = {{ int = [1, 9], count = {count} }} }}\n\
             sql = \"SELECT v FROM t WHERE id IN (:ids)\"\n{STEP}"
        );
        match with_workload(&plan, &text) {
            Ok(_) => "fine".to_owned(),
            Err(error) => error.to_string(),
        }
    };
    assert_eq!(many(32_766, ""), "fine");
    assert_snapshot!(many(32_767, ""), @r#"my.toml:5: sqlite: step `get` has a statement with 32_767 parameters, and a prepared one has at most 32_766: make its lists shorter, or write `statements = "text"`"#);
    assert_snapshot!(many(65_536, ""), @r#"w.toml:15: step `get` has a statement with 65_536 parameters, and a prepared one has at most 65_535: make its lists shorter, or write `statements = "text"`"#);
}

#[test]
fn connections_that_cannot_be() {
    let with = |system: &str| {
        expand(&format!(
            "name = \"p\"\nrounds = 1\nworkload = {{ kind = \"micro\" }}\n[[system]]\n{system}\n"
        ))
        .unwrap_err()
        .to_string()
    };
    assert_snapshot!(with("build = \"sqlite\"\nconnection = { pipeline = true }"), @"my.toml:6: `connection` and SQLite: it is part of the client, there is no connection; give `connection` to the other systems only");
    assert_snapshot!(with("build = \"postgres\"\nconnection = { compression = true }"), @"my.toml:6: `compression` and PostgreSQL: its protocol has none; leave it out");
    assert_snapshot!(with("build = \"postgres\"\nconnection = { tls = true }"), @r#"my.toml:6: `tls` and PostgreSQL over a socket: it encrypts over TCP only; add `transport = "tcp"`"#);
    assert_snapshot!(with("build = \"mariadb\"\nconnect = \"db1\"\nconnection = { transport = \"tcp\" }"), @"my.toml:7: `transport` and `connect`: the address of a foreign server sets the transport; leave `transport` out");
    assert_snapshot!(with("build = \"mariadb\"\nconnection = { transport = \"pipe\" }"), @"my.toml:6: no transport `pipe`; available: socket, tcp");
    assert_snapshot!(with("build = \"mariadb\"\nconnection = { ssl = true }"), @"my.toml:6: unknown key `ssl` in connection, which has: transport, tls, compression, pipeline, describe");
    assert_snapshot!(with("build = \"mariadb\"\nconnection = { describe = true }"), @"my.toml:6: `describe` is for PostgreSQL: the MySQL protocol has no portals; leave it out");
    assert_snapshot!(with("build = \"sqlite\"\nconnection = { describe = true }"), @"my.toml:6: `connection` and SQLite: it is part of the client, there is no connection; give `connection` to the other systems only");
    assert_snapshot!(with("build = \"sqlite\"\nconnection = \"sysbench\""), @r#"my.toml:6: `connection = "sysbench"` and sqlite: sysbench has no client for it; give `connection` to the other systems only"#);
    assert_snapshot!(with("build = \"mariadb\"\nconnection = \"sysbensh\""), @"my.toml:6: no profile of connections `sysbensh`; nearest `sysbench`; available: sysbench");
}
