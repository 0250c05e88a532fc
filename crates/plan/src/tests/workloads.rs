//! Workload files: the examples of the catalog, files of users, and plans that run them.

use insta::assert_snapshot;
use model::{
    Arrivals, Build, Dbms, LoadMethod, Nanos, Plan, SqlPace, SqlSpec, SqlWork, Statements,
    Transport, Verb,
};
use proptest::prelude::*;

use super::{CATALOG, HOST, build, expand, sql, with_workload};
use crate::{BuildRequest, PlanError, estimate, step_times};

const SQLITE: &str = "\n[[system]]\nbuild = \"sqlite\"\n";

fn plan(workload: &str) -> Result<Plan, PlanError> {
    expand(&format!("name = \"p\"\nrounds = 1\nworkload = {{ {workload} }}{SQLITE}"))
}

fn spec(workload: &str) -> SqlSpec {
    sql(plan(workload).unwrap())
}

/// A small workload of a user.
const MINE: &str = r#"
name = "mine"
summary = "one table, one query"
[defaults]
rows = 1_000
[vars]
width = 10
[[table]]
name = "t"
rows = "rows"
primary_key = ["id"]
[table.columns]
id = { type = "int", value = "row" }
text = { type = "varchar(20)", value = { text = [1, 20] } }
[operation.get]
draws = { first = { int = [1, "rows - width + 1"] }, last = { plus = ["first", "width - 1"] } }
sql = "SELECT text FROM t WHERE id BETWEEN :first AND :last"
expect = "width"
[[step]]
name = "get"
operation = "get"
"#;

/// The build that a request names, whatever is installed.
fn any(request: &BuildRequest) -> Build {
    let version = match (&request.version, request.dbms) {
        (Some(version), _) => version.to_string(),
        (None, Some(Dbms::Sqlite)) => "3.51.1".to_owned(),
        (None, _) => "11.8.9".to_owned(),
    };
    build(request, &version)
}

#[test]
fn every_plan_of_the_catalog_expands() {
    for name in CATALOG.plan_names() {
        let file = crate::read(CATALOG.plan(name).unwrap(), name).unwrap();
        let plan = crate::expand(&file, &CATALOG, &|r| Ok(any(r)), HOST).unwrap();
        assert_eq!(plan.name, name);
        let minutes = estimate(&plan).time.as_secs_f64() / 60.0;
        match name {
            "micro-smoke" | "tpcc-smoke" => assert!(minutes < 1.0, "{name}: {minutes}"),
            "tpcc-mysql-5.6-9.7" => assert!((80.0..=100.0).contains(&minutes), "{minutes}"),
            "sqlite-history" => assert!((40.0..=60.0).contains(&minutes), "{minutes}"),
            "postgres-history" => assert!((25.0..=35.0).contains(&minutes), "{minutes}"),
            "tpcc-postgres" => assert!((50.0..=70.0).contains(&minutes), "{minutes}"),
            "tpcc-isolation" => assert!((30.0..=45.0).contains(&minutes), "{minutes}"),
            "mysql-5.6-to-9.7-control" => {
                assert!((40.0..=60.0).contains(&minutes), "{minutes}");
            }
            "micro-mysql-5.6-9.7-control" => {
                assert!((45.0..=90.0).contains(&minutes), "{minutes}");
            }
            _ if name.starts_with("micro-") => {
                assert!((15.0..=31.0).contains(&minutes), "{name}: {minutes}");
                let rounds = if name == "micro-sweep" { 3 } else { 4 };
                let parts = estimate(&plan).parts;
                assert_eq!((plan.rounds, parts.len()), (rounds, 2), "{name}");
            }
            _ => {}
        }
    }
}

#[test]
fn the_examples_say_what_they_do() {
    assert_eq!(CATALOG.workload_names(), ["accounts", "micro", "orders", "timeseries"]);
    for name in CATALOG.workload_names() {
        let listing = CATALOG.workload(name).unwrap();
        assert_eq!((listing.name.as_str(), listing.spec.name.as_str()), (name, name));
        assert!(!listing.summary.is_empty() && !listing.summary.ends_with('.'));
        assert_eq!(spec(&format!("kind = \"sql\", file = \"{name}\"")).name, name);
        assert!(listing.spec.steps.iter().all(|step| !step.id.0.contains('@')));
    }
    assert_snapshot!(CATALOG.workload("mikro").unwrap_err(), @"catalog: no workload `mikro`; nearest `micro`; available: accounts, micro, orders, timeseries");
}

/// The steps, each with its operations, their weights and what they do.
fn outline(spec: &SqlSpec) -> String {
    let steps = spec.steps.iter().map(|step| {
        let what = match &step.work {
            SqlWork::Run(run) => {
                let each = run.operations.iter().map(|operation| {
                    let statements = operation.blocks.iter().flat_map(|b| &b.statements);
                    let names = statements.map(|s| s.name.as_str()).collect::<Vec<_>>();
                    format!("{}*{} ({})", operation.weight, operation.name, names.join(" "))
                });
                let each = each.collect::<Vec<_>>().join(", ");
                format!("{} s, {each}", run.seconds)
            }
            other => format!("{other:?}"),
        };
        format!("{} [{}] {what}", step.id, step.group)
    });
    steps.collect::<Vec<_>>().join("\n")
}

#[test]
fn steps_of_the_examples() {
    assert_snapshot!(outline(&CATALOG.workload("accounts").unwrap().spec), @"
    load [] Load
    index [] Index
    settle [] Settle(Seconds(30))
    balance [read] 60 s, 1*balance (select)
    transfer [write] 60 s, 1*transfer (take give look total log)
    mixed [write] 60 s, 1*transfer (take give look total log), 4*balance (select)
    ");
    assert_snapshot!(outline(&CATALOG.workload("orders").unwrap().spec), @"
    load [] Load
    index [] Index
    look [read] 60 s, 1*look (select)
    revenue [read] 60 s, 1*revenue (select)
    place [write] 60 s, 1*place (customer order owe)
    settle [] Settle(Seconds(30))
    shop [mixed] 60 s, 60*look (select), 25*place (customer order owe), 14*pay (update), 1*revenue (select)
    ");
    assert_snapshot!(outline(&CATALOG.workload("timeseries").unwrap().spec), @"
    load [] Load
    index [] Index
    settle [] Settle(Seconds(30))
    latest [read] 60 s, 1*latest (select)
    recent [read] 60 s, 1*recent (select)
    past [read] 60 s, 1*past (select)
    append [write] 60 s, 1*append (insert)
    dashboard [mixed] 60 s, 50*append (insert), 45*latest (select), 5*recent (select)
    ");
}

#[test]
fn a_file_of_the_user_is_read_by_the_caller() {
    let text = format!(
        "name = \"p\"\nrounds = 1\nworkload = {{ kind = \"sql\", file = \"sub/mine.toml\" }}{SQLITE}"
    );
    let file = crate::read(&text, "my.toml").unwrap();
    assert_eq!(file.workload_file(), Some("sub/mine.toml"));
    let unread = crate::expand(&file, &CATALOG, &|r| Ok(any(r)), HOST).unwrap_err();
    assert_snapshot!(unread, @"my.toml:3: the workload file `sub/mine.toml` has not been read");
    let file = file.with_workload_file(MINE, "sub/mine.toml").unwrap();
    let spec = sql(crate::expand(&file, &CATALOG, &|r| Ok(any(r)), HOST).unwrap());
    assert_eq!((spec.name.as_str(), spec.tables[0].rows), ("mine", 1_000));
    for catalog in [
        "kind = \"micro\"",
        "kind = \"sql\", file = \"accounts\"",
        "kind = \"insert\", scale = \"tiny\"",
    ] {
        let text = format!("name = \"p\"\nrounds = 1\nworkload = {{ {catalog} }}{SQLITE}");
        assert_eq!(crate::read(&text, "my.toml").unwrap().workload_file(), None);
    }
}

#[test]
fn what_a_plan_says_comes_before_the_file() {
    let text = format!(
        "name = \"p\"\nrounds = 1\n[workload]\nkind = \"sql\"\nfile = \"w.toml\"\nrows = 500\nread_seconds = 7\n\
         statements = \"text\"\nstatement_timeout = 9\nclients = 3\n\
         vars = {{ width = 20 }}\n\
         load = {{ clients = 4, method = \"insert\", rows_per_commit = 7, indexes_first = true }}\n\
         errors = {{ ignore = [\"1062\"], tries = 5, reconnect_seconds = 30 }}{SQLITE}"
    );
    let spec = sql(with_workload(&text, MINE).unwrap());
    assert_eq!(spec.statements, Statements::Text);
    assert_eq!((spec.tables[0].rows, spec.statement_timeout), (500, 9));
    let load = &spec.load;
    assert_eq!((load.clients, load.method, load.rows_per_commit), (4, LoadMethod::Insert, 7));
    assert!(load.indexes_first);
    assert_eq!((spec.errors.ignore.as_slice(), spec.errors.tries), (&["1062".to_owned()][..], 5));
    assert_snapshot!(outline(&spec), @"
    load [] Load
    settle [] Settle(Seconds(7))
    get [] 7 s, 1*get (select)
    ");
    let SqlWork::Run(run) = &spec.steps[2].work else { panic!("it runs") };
    assert_snapshot!(format!("{:?} {:?}", run.operations[0].blocks[0].draws[0].draw, run.operations[0].blocks[0].statements[0].expect), @"Int { low: 1, high: 481, by: Uniform } Rows(20, 20)");
    // One for each CPU of the host, where nobody says.
    let usual = spec_of_mine("");
    assert_eq!((usual.load.clients, usual.load.method), (2, LoadMethod::Fastest));
    assert_eq!(usual.errors.reconnect_seconds, 0);
}

/// What prepares for a test that nobody chose is left out; what a file ends with is not, while its last test is there.
#[test]
fn steps_end_with_the_last_test_where_those_after_it_are_not_chosen() {
    let file = format!(
        "{MINE}[[step]]\nname = \"other\"\noperation = \"get\"\n\
         [[step]]\nname = \"after\"\noperation = \"get\"\nmeasured = false\n\
         [[step]]\nphase = \"settle\"\n"
    );
    let steps = |keys: &str| {
        let text = format!(
            "name = \"p\"\nrounds = 1\nworkload = {{ kind = \"sql\", file = \"w.toml\"{keys} }}{SQLITE}"
        );
        let spec = sql(with_workload(&text, &file).unwrap());
        let ids = spec.steps.into_iter().map(|step| step.id.0);
        ids.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(steps(""), "load get other after settle");
    assert_eq!(steps(", tests = [\"other\"]"), "load other after settle");
    assert_eq!(steps(", tests = [\"get\"]"), "load get");
}

fn spec_of_mine(keys: &str) -> SqlSpec {
    let text = format!(
        "name = \"p\"\nrounds = 1\nworkload = {{ kind = \"sql\", file = \"w.toml\"{keys} }}{SQLITE}"
    );
    sql(with_workload(&text, MINE).unwrap())
}

fn pace_of(spec: &SqlSpec, test: &str) -> SqlPace {
    let step = spec.steps.iter().find(|step| step.id.0 == test).unwrap();
    match &step.work {
        SqlWork::Run(run) => run.pace.clone(),
        _ => panic!("it runs"),
    }
}

#[test]
fn operations_arrive_by_themselves_where_a_plan_says_so() {
    assert_eq!(pace_of(&spec_of_mine(""), "get"), SqlPace::Unlimited);
    assert_eq!(
        pace_of(&spec_of_mine(", rate = 500, arrivals = \"even\", queue = 9"), "get"),
        SqlPace::Rate { per_second: 500, arrivals: Arrivals::Even, queue: 9 }
    );
    assert_eq!(
        pace_of(&spec_of_mine(", ramp = { from = 100, p99 = \"10ms\" }"), "get"),
        SqlPace::Ramp {
            from: 100,
            arrivals: Arrivals::Poisson,
            queue: 100_000,
            permille: 990,
            limit_micros: 10_000,
            attempt_seconds: 10
        }
    );
    // What warms caches and what takes seconds an operation is not paced.
    let micro = spec("kind = \"micro\", rate = 500");
    assert_eq!(pace_of(&micro, "scan"), SqlPace::Unlimited);
    assert_eq!(pace_of(&micro, "point-query.warm"), SqlPace::Unlimited);
    assert!(matches!(pace_of(&micro, "point-query"), SqlPace::Rate { .. }));
}

#[test]
fn every_verb_of_a_statement_is_known() {
    let spec = CATALOG.workload("orders").unwrap().spec;
    let verb = |operation: &str, statement: &str| {
        let runs = spec.steps.iter().filter_map(|step| match &step.work {
            SqlWork::Run(run) => Some(run),
            _ => None,
        });
        let mut operations = runs.flat_map(|run| &run.operations);
        let operation = operations.find(|o| o.name == operation).unwrap();
        let mut statements = operation.blocks.iter().flat_map(|b| &b.statements);
        statements.find(|s| s.name == statement).unwrap().verb
    };
    assert_eq!(verb("place", "customer"), Verb::Select);
    assert_eq!(verb("place", "order"), Verb::Insert);
    assert_eq!(verb("place", "owe"), Verb::Update);
    assert_eq!(verb("pay", "update"), Verb::Update);
}

#[test]
fn a_connection_of_the_plan_or_of_a_system() {
    let workload = "workload = { kind = \"micro\" }";
    let text = format!(
        "name = \"p\"\nrounds = 1\nconnection = {{ transport = \"tcp\", tls = true }}\n{workload}\n\
         [[system]]\nbuild = \"postgres\"\n\
         [[system]]\nbuild = \"mariadb\"\nconnection = {{ compression = true, pipeline = true }}\n"
    );
    let plan = expand(&text).unwrap();
    let [postgres, mariadb] = [plan.systems[0].connection, plan.systems[1].connection];
    assert_eq!((postgres.transport, postgres.tls), (Transport::Tcp, true));
    assert_eq!((mariadb.transport, mariadb.tls), (Transport::Socket, false));
    assert!(mariadb.compression && mariadb.pipeline && !postgres.pipeline);
}

#[test]
fn a_profile_is_what_its_clients_do_on_each_product() {
    let text = "name = \"p\"\nrounds = 1\nconnection = \"sysbench\"\nworkload = { kind = \"micro\" }\n\
                [[system]]\nbuild = \"postgres\"\n[[system]]\nbuild = \"mariadb\"\n";
    let plan = expand(text).unwrap();
    let [postgres, mariadb] = [plan.systems[0].connection, plan.systems[1].connection];
    let described = model::Connection { describe: true, ..model::Connection::default() };
    assert_eq!((postgres, mariadb), (described, model::Connection::default()));
}

#[test]
fn a_control_is_reached_as_the_base_is() {
    let text = "name = \"p\"\nrounds = 1\nworkload = { kind = \"micro\" }\n\
                [[system]]\nbuild = \"mariadb\"\n\
                [[system]]\nbuild = \"mariadb\"\nlabel = \"control\"\nconnection = { pipeline = true }\n";
    let plan = expand(text).unwrap();
    assert!(plan.systems.iter().all(|system| !system.control));
}

#[test]
fn a_template_is_loaded_once() {
    let plan = |template: bool| {
        let text = format!(
            "name = \"p\"\nrounds = 3\ntemplate = {template}\n\
             workload = {{ kind = \"sql\", file = \"accounts\", vars = {{ branches = 100 }} }}{SQLITE}"
        );
        expand(&text).unwrap()
    };
    let (with, without) = (estimate(&plan(true)), estimate(&plan(false)));
    assert!(with.parts[0].1 < without.parts[0].1);
    let loading = with.templates[0].time;
    // Load, index and settle.
    let steps = step_times(&plan(false));
    assert_eq!(step_times(&plan(true)), steps[3..]);
    let leading: u64 = steps[..3].iter().map(|(_, time)| time.0).sum();
    assert!(loading.0 >= leading && loading.0 < leading + 1_000_000_000);
    assert_eq!(with.time.0, loading.0 + 3 * with.parts[0].1.0);
    assert!(with.disk > without.disk);
}

#[test]
fn what_a_plan_needs_grows_with_it() {
    let needs = |workload: &str| estimate(&plan(workload).unwrap());
    let small = needs("kind = \"micro\", rows = 100_000");
    let large = needs("kind = \"micro\", rows = 100_000_000, tables = 8");
    assert!(large.disk.0 > 500 * small.disk.0);
    assert!(large.time > small.time);
    // 200 bytes a row and two index entries.
    assert!((150..400).contains(&(large.systems[0].1.0 / 800_000_000)));
    let fresh = needs("kind = \"micro\", rows = 100_000, fresh = true");
    assert!(fresh.time > small.time);
    let times =
        step_times(&plan("kind = \"micro\", settle = \"formula\", rows = 5_000_000").unwrap());
    let settle = times.iter().find(|(step, _)| step.0 == "settle").unwrap();
    assert_eq!(settle.1, Nanos::from_millis(65_300));
    assert_eq!(times.len(), 40);
}

proptest! {
    #[test]
    fn any_file_is_read_or_refused(
        line in 0usize..60,
        value in "(-?[0-9]{1,20}|\"[a-z0-9 +*/():{}$'-]{0,20}\"|\\[\\]|\\[1, \"rows\"\\]|\\{\\}|true|1e400|1979-05-27|\\{ int = \\[1, 9\\] \\})",
    ) {
        // In place of what stands there, each line with a key in turn.
        let text: Vec<String> = MINE.lines().map(str::to_owned).collect();
        let line = line % text.len();
        let mut changed = text;
        if let Some((key, _)) = changed[line].clone().split_once('=') {
            changed[line] = format!("{key} = {value}");
        }
        let plan = "name = \"p\"\nrounds = 1\nworkload = { kind = \"sql\", file = \"w.toml\" }\n\
                    [[system]]\nbuild = \"sqlite\"";
        if let Ok(plan) = with_workload(plan, &changed.join("\n")) {
            let _ = estimate(&plan);
        }
    }

    #[test]
    fn any_value_of_a_plan_is_taken_or_refused(
        key in "(set|tests|tables|rows|clients|read_seconds|settle|distribution|rate|ramp|errors|load|vars|queue)",
        value in "(-?[0-9]{1,25}|\"[a-z.0-9]{0,6}\"|\\[\\]|\\[1, \"x\"\\]|\\{\\}|true|1e400|\\{ from = 5, p99 = \"9ms\" \\})",
    ) {
        if let Ok(plan) = plan(&format!("kind = \"micro\", {key} = {value}")) {
            let _ = (estimate(&plan), step_times(&plan));
        }
    }
}

#[test]
fn the_example_of_the_documentation_is_one() {
    let page = include_str!("../../../../docs/workload-files.md");
    let section = page.split("## A whole one").nth(1).unwrap();
    let text = section.split("```toml\n").nth(1).unwrap();
    let text = text.split("```").next().unwrap();
    let plan = "name = \"p\"\nrounds = 1\n\
                workload = { kind = \"sql\", file = \"w.toml\", vars = { hot = 5 } }\n\
                [[system]]\nbuild = \"sqlite\"";
    assert_snapshot!(outline(&sql(with_workload(plan, text).unwrap())), @"
    load [] Load
    index [] Index
    settle [] Settle(Seconds(30))
    top [read] 30 s, 1*top (select)
    mixed [write] 60 s, 9*visit (update), 1*top (select)
    ");
}
