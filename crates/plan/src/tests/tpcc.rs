//! The TPC-C-like workload: what a plan may say, what it gets without saying it, and what it needs.

use insta::assert_snapshot;
use model::{
    Arrivals, Bytes, ErrorRules, Isolation, LoadMethod, LoadSpec, Nanos, PaymentOrder, Plan,
    Settle, Statements, StockLevel, TpccCardinality, TpccForm, TpccHomes, TpccIndexes, TpccMix,
    TpccPace, TpccProfile, TpccSchema, TpccSpec, WorkloadSpec,
};
use proptest::prelude::*;

use super::expand;
use crate::{Estimate, PlanError, estimate, remarks, step_times};

/// The plan with this workload on a system of this build.
fn plan_on(build: &str, workload: &str) -> Result<Plan, PlanError> {
    expand(&format!(
        "name = \"p\"\nrounds = 2\nworkload = {{ kind = \"tpcc\", {workload} }}\n\
         [[system]]\nbuild = \"{build}\"\n"
    ))
}

fn spec(workload: &str) -> TpccSpec {
    match plan_on("mariadb", workload).unwrap().workload {
        WorkloadSpec::Tpcc(spec) => spec,
        _ => panic!("it is another workload"),
    }
}

fn needs(build: &str, workload: &str) -> Estimate {
    estimate(&plan_on(build, workload).unwrap())
}

/// What a plan gets that says how many warehouses there are, and nothing else.
fn usual() -> TpccSpec {
    TpccSpec {
        warehouses: 100,
        profile: TpccProfile::Standard,
        cardinality: TpccCardinality::STANDARD,
        schema: TpccSchema {
            foreign_keys: false,
            indexes: TpccIndexes::Percona,
            history_key: false,
            partitions: 0,
        },
        load: LoadSpec {
            clients: 2,
            method: LoadMethod::Fastest,
            rows_per_commit: 10_000,
            indexes_first: false,
        },
        settle: Settle::Formula,
        clients: 1,
        homes: TpccHomes::Random,
        pace: TpccPace::NoWait,
        mix: TpccMix::Deck,
        form: TpccForm::Single,
        statements: Statements::Prepared,
        isolation: None,
        stock_level: StockLevel::Join,
        payment_order: PaymentOrder::Warehouse,
        delivery_by_district: false,
        steps: 12,
        seconds: 3_600,
        warmup_seconds: 5,
        limits_millis: [5_000, 5_000, 5_000, 80_000, 20_000],
        errors: ErrorRules::usual(),
        statement_timeout: 600,
    }
}

#[test]
fn what_a_plan_gets_without_saying_it() {
    assert_eq!(spec("warehouses = 100"), usual());
}

#[test]
fn every_key_changes_what_it_names() {
    let of = |keys: &str, change: fn(&mut TpccSpec)| {
        let mut wanted = usual();
        change(&mut wanted);
        assert_eq!(spec(&format!("warehouses = 100, {keys}")), wanted, "{keys}");
    };
    of("clients = 8", |s| s.clients = 8);
    of("homes = \"fixed\"", |s| s.homes = TpccHomes::Fixed);
    of("form = \"batched\"", |s| s.form = TpccForm::Batched);
    of("form = \"procedures\"", |s| s.form = TpccForm::Procedures);
    of("statements = \"text\"", |s| s.statements = Statements::Text);
    of("isolation = \"repeatable-read\"", |s| {
        s.isolation = Some(Isolation::RepeatableRead);
    });
    of("stock_level = \"loop\"", |s| {
        s.stock_level = StockLevel::Loop;
    });
    of("payment_order = \"district\"", |s| {
        s.payment_order = PaymentOrder::District;
    });
    of("delivery = \"district\"", |s| s.delivery_by_district = true);
    of("foreign_keys = true", |s| s.schema.foreign_keys = true);
    of("indexes = \"minimum\"", |s| {
        s.schema.indexes = TpccIndexes::Minimum;
    });
    of("history_key = true", |s| s.schema.history_key = true);
    of("partitions = 4", |s| s.schema.partitions = 4);
    of("items = 1_000", |s| s.cardinality.items = 1_000);
    of("customers = 30", |s| s.cardinality.customers = 30);
    of("settle = 7", |s| s.settle = Settle::Seconds(7));
    of("steps = 3, seconds = 9, warmup_seconds = 0", |s| {
        (s.steps, s.seconds, s.warmup_seconds) = (3, 9, 0);
    });
    of("statement_timeout = 9", |s| s.statement_timeout = 9);
    of("errors = { tries = 5, retry = [\"1020\"] }", |s| {
        s.errors.tries = 5;
        s.errors.retry = vec!["1020".to_owned()];
    });
    of("load = { clients = 4, method = \"insert\", indexes_first = true }", |s| {
        s.load.clients = 4;
        s.load.method = LoadMethod::Insert;
        s.load.indexes_first = true;
    });
}

#[test]
fn limits_are_one_for_all_or_by_transaction() {
    let of = |limits: &str| spec(&format!("warehouses = 1, limits = {limits}")).limits_millis;
    assert_eq!(of("\"1s\""), [1_000; 5]);
    assert_eq!(
        of("{ new-order = \"500ms\", delivery = \"120s\" }"),
        [500, 5_000, 5_000, 120_000, 20_000]
    );
}

#[test]
fn a_mix_is_a_deck_or_weights() {
    let of = |mix: &str| spec(&format!("warehouses = 1, mix = {mix}")).mix;
    assert_eq!(of("\"deck\""), TpccMix::Deck);
    assert_eq!(
        of("{ new-order = 45, payment = 43, order-status = 4, delivery = 4, stock-level = 4 }"),
        TpccMix::Weights([45, 43, 4, 4, 4])
    );
    assert_eq!(of("{ new-order = 1 }"), TpccMix::Weights([1, 0, 0, 0, 0]));
}

#[test]
fn the_profile_decides_what_the_standard_leaves_open() {
    let percona = |keys: &str| spec(&format!("warehouses = 1, profile = \"percona\"{keys}"));
    let usual = percona("");
    assert_eq!(usual.profile, TpccProfile::Percona);
    assert_eq!(usual.stock_level, StockLevel::Loop);
    assert!(usual.delivery_by_district);
    // Wherever the keys stand in the table.
    let changed = spec(
        "warehouses = 1, stock_level = \"join\", delivery = \"together\", profile = \"percona\"",
    );
    assert_eq!(changed.stock_level, StockLevel::Join);
    assert!(!changed.delivery_by_district);
}

#[test]
fn terminals_that_wait_are_ten_a_warehouse_and_stay_there() {
    let waits = spec("warehouses = 3, wait = 50");
    assert_eq!(waits.pace, TpccPace::Wait { percent: 50 });
    assert_eq!((waits.clients, waits.homes), (30, TpccHomes::Fixed));
    let others = spec("warehouses = 3, wait = 100, clients = 40, homes = \"random\"");
    assert_eq!((others.clients, others.homes), (40, TpccHomes::Random));
}

#[test]
fn transactions_arrive_by_themselves_where_a_plan_says_so() {
    assert_eq!(
        spec("warehouses = 1, rate = 500").pace,
        TpccPace::Rate { per_second: 500, arrivals: Arrivals::Poisson, queue: 100_000 }
    );
    assert_eq!(
        spec("warehouses = 1, ramp = { from = 50, attempt_seconds = 30 }, arrivals = \"even\", queue = 9")
            .pace,
        TpccPace::Ramp {
            from: 50,
            arrivals: Arrivals::Even,
            queue: 9,
            attempt_seconds: 30
        }
    );
}

/// The steps with their lengths.
fn steps(keys: &str) -> String {
    let plan = plan_on("mariadb", &format!("warehouses = 10, settle = 30, {keys}")).unwrap();
    let steps = step_times(&plan).into_iter();
    let steps = steps.map(|(step, time)| format!("{step} {}", time.as_secs_f64().round()));
    steps.collect::<Vec<_>>().join(", ")
}

#[test]
fn the_steps_of_a_trial() {
    assert_snapshot!(steps("steps = 2, seconds = 60"), @"load 44, index 23, check.load 27, settle 30, h1 65, h2 65, check 30");
    assert_snapshot!(steps("steps = 1, seconds = 60, load = { indexes_first = true }"), @"load 67, check.load 27, settle 30, h1 65, check 29");
    assert_snapshot!(steps("steps = 1, seconds = 60, load = { indexes_first = true }, foreign_keys = true"), @"load 67, index 4, check.load 27, settle 30, h1 65, check 29");
    let mut cloned = plan_on("mariadb", "warehouses = 10, steps = 1").unwrap();
    cloned.template = true;
    assert!(step_times(&cloned).iter().all(|(step, _)| !matches!(&*step.0, "load" | "index")));
    assert_snapshot!(steps("steps = 1, seconds = 60, warmup_seconds = 0, ramp = { from = 10 }"), @"load 44, index 23, check.load 27, settle 30, h1 210, check 31");
}

#[test]
fn a_warehouse_takes_about_a_hundred_megabytes() {
    for build in ["mariadb", "postgres", "sqlite"] {
        let text = format!(
            "name = \"p\"\nrounds = 2\ntemplate = true\nworkload = {{ kind = \"tpcc\", warehouses = 100 }}\n\
             [[system]]\nbuild = \"{build}\"\n"
        );
        let needs = estimate(&expand(&text).unwrap());
        let megabytes = needs.templates[0].disk.0 / 100_000_000;
        assert!((80..=150).contains(&megabytes), "{build}: {megabytes}");
        assert!(needs.systems[0].1 > needs.templates[0].disk);
        assert!(needs.parts[0].1 >= Nanos::from_secs(12 * 3_605));
    }
}

#[test]
fn more_warehouses_than_the_disk_holds_are_refused() {
    let needs =
        needs("sqlite", "warehouses = 1_000_000, steps = 1, seconds = 1, wait = 100, clients = 1");
    assert_snapshot!(needs.fits(Bytes(1 << 40), "/var/lab").unwrap_err(), @"the plan needs about 87.5 TiB of disk, /var/lab has 1.00 TiB free; use a smaller scale or --lab elsewhere");
}

#[test]
fn fewer_transactions_need_less() {
    let disk = |keys: &str| needs("mariadb", &format!("warehouses = 10, {keys}")).disk;
    let closed = disk("clients = 100");
    // A hundred terminals that wait start two New-Orders a second.
    let waits = disk("wait = 100");
    let rate = disk("clients = 100, rate = 5");
    assert!(waits < closed && rate < closed, "{waits} {rate} {closed}");
    assert!(disk("wait = 10") > waits);
    assert!(disk("clients = 100, mix = { new-order = 1, payment = 99 }") < closed);
    // More clients than cores do not make a server faster for ever.
    assert_eq!(disk("clients = 5_000"), closed);
}

#[test]
fn memory_is_that_of_caches_and_sessions() {
    let memory =
        |build: &str, keys: &str| needs(build, &format!("warehouses = 1, {keys}")).memory[0].1;
    let one = memory("postgres", "clients = 2");
    assert_eq!(memory("postgres", "clients = 1"), one, "two load");
    assert_eq!(memory("postgres", "clients = 102"), Bytes(one.0 + 100 * (9 << 20)));
    // 128 MiB of buffer pool, the server, two sessions, and backslide.
    assert_eq!(memory("mariadb", "clients = 1"), Bytes((128 + 100 + 2 + 64 + 2) << 20));
}

#[test]
fn a_template_is_loaded_once() {
    let plan = |template: bool| {
        let text = format!(
            "name = \"p\"\nrounds = 3\ntemplate = {template}\n\
             workload = {{ kind = \"tpcc\", warehouses = 10, steps = 1, seconds = 60 }}\n\
             [[system]]\nbuild = \"sqlite\"\n"
        );
        estimate(&expand(&text).unwrap())
    };
    let (with, without) = (plan(true), plan(false));
    assert!(with.parts[0].1 < without.parts[0].1 && with.disk > without.disk);
    assert_eq!(with.time.0, with.templates[0].time.0 + 3 * with.parts[0].1.0);
}

#[test]
fn what_may_not_be_meant_is_remarked() {
    let of = |keys: &str| {
        let plan = plan_on("mariadb", keys).unwrap();
        remarks(&plan).join("\n")
    };
    assert_eq!(of("warehouses = 10, homes = \"fixed\", clients = 10"), "");
    assert_eq!(of("warehouses = 10, wait = 100"), "");
    assert_snapshot!(of("warehouses = 10, homes = \"fixed\", clients = 3"), @r#"`homes = "fixed"` and 3 clients: 7 of 10 warehouses have no terminal, and hardly any work; use more clients, or `homes = "random"`"#);
    assert_snapshot!(of("warehouses = 1, items = 1_000, customers = 300"), @"`items` = 1_000 and `customers` = 300 are for tests, their numbers for nothing else: the standard has 100_000 and 3_000");
}

proptest! {
    #[test]
    fn any_value_is_taken_or_refused(
        key in "(warehouses|profile|clients|homes|wait|rate|ramp|queue|mix|form|isolation|delivery|partitions|items|customers|steps|seconds|limits|load|settle)",
        value in "(-?[0-9]{1,25}|\"[a-z.0-9]{0,6}\"|\\[\\]|\\[1, \"x\"\\]|\\{\\}|true|1e400|\\{ from = 5 \\}|\\{ new-order = [0-9]{1,9} \\})",
    ) {
        let keys = match key.as_str() {
            "warehouses" => format!("warehouses = {value}"),
            _ => format!("warehouses = 2, {key} = {value}"),
        };
        if let Ok(plan) = plan_on("postgres", &keys) {
            let _ = (estimate(&plan), step_times(&plan), remarks(&plan));
        }
    }
}
