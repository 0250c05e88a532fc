//! Bad values of the TPC-C-like workload: what, where, and what to do.

use insta::assert_snapshot;

use super::{CATALOG, HOST, build, expand};

/// The error of a plan with this table on a system of these keys.
fn error(workload: &str, system: &str) -> String {
    let text = format!(
        "name = \"p\"\nrounds = 1\nworkload = {{ kind = \"tpcc\", {workload} }}\n[[system]]\n{system}\n"
    );
    expand(&text).expect_err("the plan is bad").to_string()
}

/// The error of two warehouses with these keys.
fn keys(keys: &str) -> String {
    error(&format!("warehouses = 2, {keys}"), "build = \"sqlite\"")
}

#[test]
fn warehouses_are_needed_and_counted() {
    let of = |workload: &str| error(workload, "build = \"sqlite\"");
    assert_snapshot!(of("clients = 1"), @"my.toml:3: workload needs the key `warehouses`");
    assert_snapshot!(of("warehouses = 0"), @"my.toml:3: `warehouses` must be a whole number from 1 to 1_000_000, not 0");
    assert_snapshot!(of("warehouses = 2_000_000"), @"my.toml:3: `warehouses` must be a whole number from 1 to 1_000_000, not 2000000");
    assert_snapshot!(of("warehouses = 1.5"), @"my.toml:3: `warehouses` must be a whole number from 1 to 1_000_000, not 1.5");
    assert_snapshot!(of("warehouses = 2_000, wait = 100"), @"my.toml:3: `wait` means 10 clients for each of 2_000 warehouses, and there can be 10_000: give `clients`, or fewer `warehouses`");
}

#[test]
fn unknown_keys_and_words() {
    assert_snapshot!(keys("client = 1"), @"my.toml:3: unknown key `client` in workload, did you mean `clients`?");
    assert_snapshot!(keys("scale = \"tiny\""), @"my.toml:3: unknown key `scale` in workload, which has: kind, warehouses, profile, clients, homes, mix, form, statements, isolation, stock_level, payment_order, delivery, foreign_keys, indexes, history_key, partitions, items, customers, load, settle, steps, seconds, warmup_seconds, limits, errors, statement_timeout, wait, rate, ramp, arrivals, queue");
    assert_snapshot!(keys("profile = \"percone\""), @"my.toml:3: no profile `percone`; nearest `percona`; available: standard, percona");
    assert_snapshot!(keys("homes = \"any\""), @"my.toml:3: no kind of homes `any`; available: random, fixed");
    assert_snapshot!(keys("form = \"batch\""), @"my.toml:3: no form `batch`; available: single, batched, procedures");
    assert_snapshot!(keys("isolation = \"read committed\""), @"my.toml:3: no isolation `read committed`; nearest `read-committed`; available: read-committed, repeatable-read, serializable");
    assert_snapshot!(keys("indexes = \"all\""), @"my.toml:3: no set of indexes `all`; available: minimum, percona");
    assert_snapshot!(keys("stock_level = \"lop\""), @"my.toml:3: no form of Stock-Level `lop`; nearest `loop`; available: join, loop");
    assert_snapshot!(keys("payment_order = \"customer\""), @"my.toml:3: no order of a Payment `customer`; available: warehouse, district");
    assert_snapshot!(keys("delivery = \"each\""), @"my.toml:3: no form of Delivery `each`; available: together, district");
}

#[test]
fn values_of_the_wrong_type_or_size() {
    assert_snapshot!(keys("clients = [1, 2]"), @"my.toml:3: `clients` must be a whole number from 1 to 10_000, not a list");
    assert_snapshot!(keys("steps = 0"), @"my.toml:3: `steps` must be a whole number from 1 to 200, not 0");
    assert_snapshot!(keys("seconds = 0"), @"my.toml:3: `seconds` must be a whole number from 1 to 604_800, not 0");
    assert_snapshot!(keys("customers = 5"), @"my.toml:3: `customers` must be a whole number from 10 to 3_000, not 5");
    assert_snapshot!(keys("items = 200_000"), @"my.toml:3: `items` must be a whole number from 10 to 100_000, not 200000");
    assert_snapshot!(keys("wait = 0"), @"my.toml:3: `wait` must be a whole number from 1 to 10_000, not 0");
    assert_snapshot!(keys("history_key = \"auto\""), @r#"my.toml:3: `history_key` must be true or false, not "auto""#);
    assert_snapshot!(keys("limits = 5"), @r#"my.toml:3: `limits` must be a time up to an hour in whole milliseconds such as "500ms" or "5s", not 5"#);
    assert_snapshot!(keys("limits = \"500us\""), @r#"my.toml:3: `limits` must be a time up to an hour in whole milliseconds such as "500ms" or "5s", not "500us""#);
    assert_snapshot!(keys("limits = { delivery = \"2h\" }"), @r#"my.toml:3: `delivery` must be a time up to an hour in whole milliseconds such as "500ms" or "5s", not "2h""#);
    assert_snapshot!(keys("limits = { new_order = \"1s\" }"), @"my.toml:3: unknown key `new_order` in limits, did you mean `new-order`?");
    assert_snapshot!(keys("mix = \"decks\""), @r#"my.toml:3: `mix` must be "deck", or a table of weights such as { new-order = 45, payment = 43 }, not "decks""#);
    assert_snapshot!(keys("mix = { new-order = 1, payment = -1 }"), @"my.toml:3: `payment` must be a whole number from 0 to 1_000_000, not -1");
    assert_snapshot!(keys("ramp = { from = 5, p99 = \"1s\" }"), @"my.toml:3: unknown key `p99` in ramp, which has: from, attempt_seconds");
    assert_snapshot!(keys("ramp = { attempt_seconds = 5 }"), @"my.toml:3: ramp needs the key `from`");
}

#[test]
fn values_that_do_not_go_together() {
    assert_snapshot!(keys("rate = 5, wait = 100"), @"my.toml:3: `wait` and `rate` exclude each other: leave one of them out");
    assert_snapshot!(keys("ramp = { from = 5 }, rate = 5"), @"my.toml:3: `rate` and `ramp` exclude each other: leave one of them out");
    assert_snapshot!(keys("wait = 100, queue = 5"), @"my.toml:3: `queue` without `rate` or `ramp`: clients that send the next operation when they have the answer to the last need none");
    assert_snapshot!(keys("wait = 100, clients = 21"), @r#"my.toml:3: `clients` = 21 with `wait` and fixed homes: 2 `warehouses` have 10 terminals each, 20 in all; use fewer clients, more warehouses, or `homes = "random"`"#);
    assert_snapshot!(keys("mix = { payment = 1 }"), @"my.toml:3: `mix` without `new-order`: throughput and costs are given per New-Order; give it a weight");
    assert_snapshot!(keys("form = \"procedures\", statements = \"text\""), @r#"my.toml:3: `statements` and `form = "procedures"`: the statements are the procedures' own; leave one of them out"#);
}

#[test]
fn systems_that_cannot_do_it() {
    let on = |keys: &str, system: &str| error(&format!("warehouses = 2, {keys}"), system);
    assert_snapshot!(keys("partitions = 4"), @"my.toml:5: `partitions` = 4 and `build`: sqlite-3.51.1bundled has no hash partitions; leave one of them out");
    assert_snapshot!(keys("foreign_keys = true"), @"my.toml:5: `foreign_keys = true` and `build`: sqlite-3.51.1bundled cannot add foreign keys to tables that are there; leave one of them out");
    assert_snapshot!(keys("form = \"procedures\""), @r#"my.toml:5: `form = "procedures"` and `build`: sqlite-3.51.1bundled has no stored procedures; leave one of them out"#);
    assert_snapshot!(keys("isolation = \"read-committed\""), @r#"my.toml:5: `isolation = "read-committed"` and `build`: sqlite-3.51.1bundled knows "serializable" and nothing else; leave one of them out"#);
    assert_snapshot!(on("foreign_keys = true, partitions = 4", "build = \"mariadb\""), @"my.toml:5: `foreign_keys = true` and `partitions` = 4: mariadb-10.11.18 has no foreign keys on partitioned tables; leave one of them out");
    let myrocks = "build = \"mariadb\"\nengine = \"myrocks\"";
    assert_snapshot!(on("foreign_keys = true", myrocks), @"my.toml:5: `foreign_keys = true` and `engine`: myrocks has no foreign keys; leave one of them out");
    assert_snapshot!(on("isolation = \"serializable\"", myrocks), @r#"my.toml:5: `isolation = "serializable"` and `engine`: myrocks knows "read-committed" and "repeatable-read" only; leave one of them out"#);
}

#[test]
fn what_a_version_of_postgres_can_do() {
    let of = |keys: &str, version: &str| {
        let text = format!(
            "name = \"p\"\nrounds = 1\nworkload = {{ kind = \"tpcc\", warehouses = 2, {keys} }}\n\
             [[system]]\nbuild = \"postgres\"\n"
        );
        let file = crate::read(&text, "my.toml").unwrap();
        match crate::expand(&file, &CATALOG, &|request| Ok(build(request, version)), HOST) {
            Ok(_) => "fine".to_owned(),
            Err(error) => error.to_string(),
        }
    };
    assert_eq!(of("partitions = 4", "11.22"), "fine");
    assert_eq!(of("partitions = 4, foreign_keys = true", "12.22"), "fine");
    assert_eq!(of("isolation = \"serializable\"", "9.6.24"), "fine");
    assert_snapshot!(of("partitions = 4", "10.23"), @"my.toml:5: `partitions` = 4 and `build`: postgres-10.23 has no hash partitions; leave one of them out");
    assert_snapshot!(of("partitions = 4, foreign_keys = true", "11.22"), @"my.toml:5: `foreign_keys = true` and `partitions` = 4: postgres-11.22 has no foreign keys to partitioned tables; leave one of them out");
}
