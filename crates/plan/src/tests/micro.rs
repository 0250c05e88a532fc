//! The microbenchmarks as a plan runs them: the tests of the specification, and what a plan can change.

use std::fmt::Write as _;

use insta::assert_snapshot;
use model::{
    ColumnKind, Dialect, Distribution, Draw, Expect, Settle, SqlBlock, SqlPiece, SqlRun, SqlSpec,
    SqlStatement, SqlStep, SqlWork, TableChoice,
};

use super::{CATALOG, expand, sql};

/// A statement's text in a dialect as a workload file has it: `SELECT c FROM {table} WHERE id = :id`.
fn statement_text(block: &SqlBlock, statement: &SqlStatement, dialect: Dialect) -> String {
    let pieces = statement.text.of(dialect).iter().map(|piece| match piece {
        SqlPiece::Text(sql) => sql.clone(),
        SqlPiece::Table => "{table}".to_owned(),
        SqlPiece::Draw(index) => format!(":{}", block.draws[*index as usize].name),
    });
    pieces.collect()
}

/// The microbenchmarks with these keys, on SQLite.
fn micro(keys: &str) -> SqlSpec {
    sql(expand(&format!(
        "name = \"p\"\nrounds = 1\nworkload = {{ kind = \"micro\"{keys} }}\n[[system]]\nbuild = \"sqlite\""
    ))
    .unwrap())
}

fn run(step: &SqlStep) -> Option<&SqlRun> {
    match &step.work {
        SqlWork::Run(run) => Some(run),
        SqlWork::Load | SqlWork::Index | SqlWork::Settle(_) | SqlWork::Reset => None,
    }
}

fn test<'a>(spec: &'a SqlSpec, name: &str) -> &'a SqlRun {
    let step = spec.steps.iter().find(|step| step.id.0 == name);
    run(step.unwrap()).unwrap()
}

fn ids(spec: &SqlSpec) -> Vec<&str> {
    spec.steps.iter().map(|step| step.id.0.as_str()).collect()
}

/// Everything that runs, in order: name, group, statements of an operation, seconds (reads, writes or
/// scans), and whether it is a result. The groups are point, range, range-aggregate and write.
const SPECIFICATION: [(&str, &str, u32, char, bool); 51] = [
    ("point-query.warm", "", 1, 'R', false),
    ("scan.warmpre", "", 1, 'S', false),
    ("point-query.pre", "P", 1, 'R', true),
    ("random-points.pre_range=10", "P", 1, 'R', true),
    ("random-points.pre_range=100", "P", 1, 'R', true),
    ("random-points.pre_range=1000", "P", 1, 'R', true),
    ("read-only.pre_range=10", "RA", 16, 'R', true),
    ("read-only.pre_range=100", "RA", 16, 'R', true),
    ("read-only.pre_range=10000", "RA", 16, 'R', true),
    ("points-covered-pk.pre", "P", 1, 'R', true),
    ("points-notcovered-pk.pre", "P", 1, 'R', true),
    ("points-covered-si.pre", "P", 1, 'R', true),
    ("points-notcovered-si.pre", "P", 1, 'R', true),
    ("range-covered-pk.pre", "RN", 1, 'R', true),
    ("range-notcovered-pk.pre", "RN", 1, 'R', true),
    ("range-covered-si.pre", "RN", 1, 'R', true),
    ("range-notcovered-si.pre", "RN", 1, 'R', true),
    ("update-inlist", "W", 1, 'W', true),
    ("update-index", "W", 1, 'W', true),
    ("update-nonindex", "W", 1, 'W', true),
    ("update-one", "W", 1, 'W', true),
    ("update-zipf", "W", 1, 'W', true),
    ("write-only_range=10000", "W", 6, 'W', true),
    ("read-write_range=10", "W", 20, 'W', true),
    ("read-write_range=100", "W", 20, 'W', true),
    ("scan.warm", "", 1, 'S', false),
    ("scan", "RN", 1, 'R', true),
    ("read-only_range=10", "RA", 16, 'R', true),
    ("read-only_range=100", "RA", 16, 'R', true),
    ("read-only_range=10000", "RA", 16, 'R', true),
    ("read-only-simple_range=1000", "RA", 13, 'R', true),
    ("read-only-sum_range=1000", "RA", 13, 'R', true),
    ("read-only-order_range=1000", "RA", 13, 'R', true),
    ("read-only-distinct_range=1000", "RA", 13, 'R', true),
    ("read-only-count_range=1000", "RA", 1, 'R', true),
    ("point-query", "P", 1, 'R', true),
    ("random-points_range=10", "P", 1, 'R', true),
    ("random-points_range=100", "P", 1, 'R', true),
    ("random-points_range=1000", "P", 1, 'R', true),
    ("hot-points_range=100", "P", 1, 'R', true),
    ("points-covered-pk", "P", 1, 'R', true),
    ("points-notcovered-pk", "P", 1, 'R', true),
    ("range-covered-pk", "RN", 1, 'R', true),
    ("range-notcovered-pk", "RN", 1, 'R', true),
    ("points-covered-si.warm", "", 1, 'R', false),
    ("points-covered-si", "P", 1, 'R', true),
    ("points-notcovered-si", "P", 1, 'R', true),
    ("range-covered-si", "RN", 1, 'R', true),
    ("range-notcovered-si", "RN", 1, 'R', true),
    ("delete", "W", 1, 'W', true),
    ("insert", "W", 1, 'W', true),
];

/// Runs that the published scripts execute today and do not report, besides the warm-ups.
const FIRST_PUBLISHED_ONLY: usize = 15;

#[test]
fn every_test_is_that_of_the_specification() {
    let spec = micro(", set = \"all\", read_seconds = 7, write_seconds = 9, scan_seconds = 3");
    let actual: Vec<_> = spec
        .steps
        .iter()
        .filter_map(|step| {
            let run = run(step)?;
            let group = match step.group.as_str() {
                "point" => "P",
                "range" => "RN",
                "range-aggregate" => "RA",
                "write" => "W",
                other => other,
            };
            let seconds = match run.seconds {
                7 => 'R',
                9 => 'W',
                _ => 'S',
            };
            let [operation] = run.operations.as_slice() else {
                panic!("{} has several operations", step.id)
            };
            let sent = operation.statements();
            Some((step.id.0.as_str(), group, sent, seconds, run.measured))
        })
        .collect();
    assert_eq!(actual, SPECIFICATION);
}

#[test]
fn the_sets_have_their_tests() {
    let listing = CATALOG.workload("micro").unwrap();
    let sets: Vec<(&str, usize)> =
        listing.sets.iter().map(|set| (set.name.as_str(), set.tests.len())).collect();
    assert_eq!(sets, [("32", 32), ("27", 27), ("42", 42), ("all", 47)]);
    let in_order = |set: &str| {
        let spec = micro(&format!(", set = \"{set}\""));
        let measured = spec.steps.iter().filter(|s| run(s).is_some_and(|r| r.measured));
        measured.map(|step| step.id.0.clone()).collect::<Vec<_>>()
    };
    for set in &listing.sets {
        assert_eq!(in_order(&set.name), set.tests, "{}", set.name);
    }
    let published: Vec<String> = in_order("32");
    let pre = in_order("42").into_iter().filter(|test| test.contains(".pre"));
    assert_eq!(pre.count(), FIRST_PUBLISHED_ONLY);
    assert!(published.iter().all(|test| !test.contains(".pre")));
    assert_eq!(micro("").steps, micro(", set = \"32\"").steps);
}

#[test]
fn what_is_between_the_tests() {
    let spec = micro(", settle = 20");
    let names = ids(&spec);
    assert_eq!(names[..5], ["load", "index", "point-query.warm", "settle", "scan.warmpre"]);
    let second = names.iter().position(|name| *name == "settle.2").unwrap();
    assert_eq!(names[second - 1..=second + 1], ["read-write_range=100", "settle.2", "scan.warm"]);
    assert_eq!(spec.steps[3].work, SqlWork::Settle(Settle::Seconds(20)));
    assert_eq!(names.len(), 2 + 2 + 36);
    // Without a test that writes there is nothing to settle a second time.
    let reads = micro(", tests = [\"group:range\"]");
    assert!(!ids(&reads).contains(&"settle.2"));
}

#[test]
fn tests_groups_and_sets_may_have_seconds_of_their_own() {
    let spec = micro(
        ", set = \"all\", read_seconds = 7, seconds = { \"group:point\" = 5, \"point-query.pre\" = 20, \"scan.warmpre\" = 2 }",
    );
    let seconds = |name| test(&spec, name).seconds;
    assert_eq!(seconds("point-query.pre"), 20);
    assert_eq!(seconds("point-query"), 5);
    assert_eq!(seconds("scan.warmpre"), 2);
    assert_eq!(seconds("range-covered-pk.pre"), 7);
    // The last that names a test counts, and each number of clients has it.
    let spec = micro(
        ", tests = [\"point-query\"], clients = [1, 8], seconds = { \"point-query\" = 20, \"set:all\" = 5 }",
    );
    assert_eq!(test(&spec, "point-query@1").seconds, 5);
    assert_eq!(test(&spec, "point-query@8").seconds, 5);
}

#[test]
fn warm_ups_have_their_clients_and_their_tests() {
    let spec = micro(", clients = 3, tables = 8");
    let clients = |name: &str| {
        let step = spec.steps.iter().find(|step| step.id.0 == name).unwrap();
        (step.clients, run(step).unwrap().warmup_seconds)
    };
    assert_eq!(clients("point-query.warm"), (8, 0));
    assert_eq!(clients("scan.warm"), (3, 0));
    assert_eq!(clients("point-query"), (3, 5));
    assert_eq!(
        ids(&micro(", tests = [\"point-query\"]")),
        ["load", "index", "point-query.warm", "settle", "scan.warmpre", "scan.warm", "point-query"]
    );
    assert_eq!(
        ids(&micro(", tests = [\"point-query\", \"scan.warm\"], warm_ups = false")),
        ["load", "index", "settle", "scan.warm", "point-query"]
    );
    assert!(ids(&micro(", tests = [\"range-covered-si\"]")).contains(&"points-covered-si.warm"));
}

#[test]
fn a_sweep_runs_every_test_with_each_number_of_clients() {
    let spec =
        micro(", tests = [\"point-query\", \"update-index\"], clients = [1, 8, 4], settle = 1");
    assert_eq!(
        ids(&spec),
        [
            "load",
            "index",
            "point-query.warm",
            "settle",
            "scan.warmpre",
            "update-index@1",
            "update-index@8",
            "update-index@4",
            "settle.2",
            "scan.warm",
            "point-query@1",
            "point-query@8",
            "point-query@4"
        ]
    );
    let tests: Vec<(&str, u32)> = spec
        .steps
        .iter()
        .filter(|step| run(step).is_some())
        .map(|step| (step.test.as_str(), step.clients))
        .collect();
    assert_eq!(tests[1], ("scan.warmpre", 8));
    assert_eq!(tests[3], ("update-index", 8));
    assert_eq!(spec.most_clients(), 8);
    assert!(ids(&micro(", clients = [4]")).contains(&"point-query"));
}

#[test]
fn fresh_data_for_tests_that_write() {
    let tests =
        ", tests = [\"update-index\", \"write-only_range=10000\", \"point-query\", \"insert\"]";
    let spec = micro(&format!("{tests}, warm_ups = false, fresh = true, settle = 2"));
    assert_eq!(
        ids(&spec),
        [
            "load",
            "index",
            "settle",
            "update-index",
            "reset",
            "settle.2",
            "write-only_range=10000",
            "settle.3",
            "point-query",
            "reset.2",
            "settle.4",
            "insert"
        ]
    );
    let sweep = ", tests = [\"insert\"], warm_ups = false, fresh = true, clients = [1, 2]";
    assert_eq!(
        ids(&micro(sweep)),
        ["load", "index", "settle", "insert@1", "reset", "settle.2", "insert@2"]
    );
}

#[test]
fn the_original_reads_other_keys() {
    let (exact, compat) = (micro(", rows = 20_000"), micro(", rows = 20_000, compat = true"));
    let first = |spec: &SqlSpec, name: &str| test(spec, name).operations[0].blocks[0].clone();
    let int = |high| Draw::Int { low: 1, high, by: Distribution::Uniform };
    let range = |spec| first(spec, "range-covered-pk");
    assert_eq!(range(&exact).draws[0].draw, int(19_901));
    assert_eq!(range(&exact).draws[1].draw, Draw::Plus { of: 0, add: 99 });
    assert_eq!(range(&exact).statements[0].expect, Expect::Rows(100, 100));
    assert_eq!(range(&compat).draws[0].draw, int(20_000));
    assert_eq!(range(&compat).draws[1].draw, Draw::Plus { of: 0, add: 100 });
    assert_eq!(range(&compat).statements[0].expect, Expect::Rows(1, 101));

    let simple = |spec: &SqlSpec| test(spec, "read-only_range=100").operations[0].blocks[1].clone();
    assert_eq!(simple(&exact).draws[0].draw, int(19_901));
    assert_eq!(simple(&compat).draws[0].draw, int(20_000));
    assert_eq!(simple(&compat).draws[1].draw, Draw::Plus { of: 0, add: 99 });

    let keys = |spec: &SqlSpec| first(spec, "update-inlist").draws[1].count;
    assert_eq!((keys(&exact), keys(&compat)), (100, 10));

    let seconds = |spec: &SqlSpec| test(spec, "write-only_range=10000").seconds;
    assert_eq!((seconds(&exact), seconds(&compat)), (90, 60));
    assert!(compat.compat && !exact.compat);
}

/// A template of random digits in groups: how many of how many.
fn groups(template: &str) -> String {
    let groups: Vec<&str> = template.split('-').collect();
    assert!(groups.iter().all(|group| *group == "#".repeat(11)));
    format!("{} groups, {} characters", groups.len(), template.len())
}

#[test]
fn the_tables_are_those_of_the_specification() {
    let spec = micro(", tables = 2, rows = 1_000_000");
    let table = &spec.tables[0];
    assert_eq!((table.name_of(0), table.name_of(1)), ("sbtest1".into(), "sbtest2".into()));
    assert_eq!(micro("").tables[0].name_of(0), "sbtest1");
    assert_snapshot!(format!("{:?}", table.primary_key), @r#"["id"]"#);
    let columns: Vec<String> = table
        .columns
        .iter()
        .map(|c| match &c.value {
            Draw::Template(text) => format!("{} {:?} {}", c.name, c.kind, groups(text)),
            value => format!("{} {:?} {value:?}", c.name, c.kind),
        })
        .collect();
    assert_snapshot!(columns.join("\n"), @"
    id Int Row
    k Int Int { low: 1, high: 1000000, by: Uniform }
    c Char(120) 10 groups, 119 characters
    pad Char(60) 5 groups, 59 characters
    ");
    // Rows are loaded evenly whatever the tests draw.
    let zipfian = micro(", distribution = { zipfian = 0.8 }");
    assert_eq!(zipfian.tables, micro("").tables);
    let drawn = &test(&zipfian, "point-query").operations[0].blocks[0].draws[0].draw;
    assert!(matches!(drawn, Draw::Int { by: Distribution::Zipfian { exponent: 800 }, .. }));
}

#[test]
fn more_rows_than_32_bits_number() {
    let kinds = |rows: &str| {
        let spec = micro(&format!(", rows = {rows}, tables = 1"));
        let columns = &spec.tables[0].columns;
        (columns[0].kind, columns[1].kind)
    };
    assert_eq!(kinds("2_000_000_000"), (ColumnKind::Int, ColumnKind::Int));
    assert_eq!(kinds("2_000_000_001"), (ColumnKind::Bigint, ColumnKind::Bigint));
    assert_eq!(kinds("100_000_000_000"), (ColumnKind::Bigint, ColumnKind::Bigint));
}

#[test]
fn an_index_in_place_of_the_primary_key() {
    let spec = sql(expand(
        "name = \"p\"\nrounds = 1\nworkload = { kind = \"micro\", secondary = true }\n\
         [[system]]\nbuild = \"postgres\"",
    )
    .unwrap());
    let table = &spec.tables[0];
    assert!(table.primary_key.is_empty());
    let indexes: Vec<String> = table
        .indexes
        .iter()
        .map(|index| format!("{} {}", index.name, index.columns.join(" ")))
        .collect();
    assert_eq!(indexes, ["xid id", "k k"]);
}

/// What a step does, by its statements: in MySQL's words, and in others' where they differ.
fn shown(run: &SqlRun) -> String {
    let mut text = String::new();
    for operation in &run.operations {
        let mode = if operation.transaction { "transaction" } else { "autocommit" };
        let _ = writeln!(text, "  {} ({mode})", operation.name);
        for block in &operation.blocks {
            let repeat = match block.repeat {
                1 => String::new(),
                times => format!("{times} × "),
            };
            let of_client = match block.choice {
                TableChoice::Random => "",
                TableChoice::ByClient => " table by client",
            };
            for statement in &block.statements {
                let dialects = [Dialect::Mysql, Dialect::Postgres, Dialect::Sqlite];
                let mut texts = dialects.map(|d| statement_text(block, statement, d)).to_vec();
                texts.dedup();
                let _ = writeln!(
                    text,
                    "    {repeat}{}: {} -> {:?}{}{}{of_client}",
                    statement.name,
                    texts.join(" | "),
                    statement.expect,
                    if statement.always_text { " text" } else { "" },
                    if statement.scans { " scans" } else { "" },
                );
            }
            for draw in &block.draws {
                let count = match draw.count {
                    1 => String::new(),
                    count => format!(" × {count}"),
                };
                let value = match &draw.draw {
                    Draw::Template(text) => groups(text),
                    value => format!("{value:?}"),
                };
                let _ = writeln!(text, "      :{} {value}{count}", draw.name);
            }
        }
    }
    text
}

#[test]
fn the_statements_of_every_test() {
    let of = |compat: bool| {
        let spec = micro(&format!(", set = \"all\", rows = 1_000_000, compat = {compat}"));
        let runs = spec.steps.iter().filter_map(|step| Some((step, run(step)?)));
        runs.map(|(step, run)| (step.id.0.clone(), shown(run))).collect::<Vec<_>>()
    };
    let print = |tests: &[(String, String)]| {
        tests.iter().fold(String::new(), |all, (name, text)| format!("{all}{name}\n{text}"))
    };
    let exact = of(false);
    insta::assert_snapshot!("micro", print(&exact));
    let mut changed = String::new();
    for ((name, compat), (_, exact)) in of(true).iter().zip(&exact) {
        let lines = compat.lines().zip(exact.lines());
        for (compat, exact) in lines.filter(|(compat, exact)| compat != exact) {
            let _ = writeln!(changed, "{name}\n  - {}\n  + {}", exact.trim(), compat.trim());
        }
    }
    insta::assert_snapshot!("micro_compat", changed);
}

#[test]
fn too_few_rows_for_a_range() {
    let error = |keys: &str| {
        let text = format!(
            "name = \"p\"\nrounds = 1\nworkload = {{ kind = \"micro\", {keys} }}\n[[system]]\nbuild = \"sqlite\""
        );
        expand(&text).unwrap_err().to_string()
    };
    assert_snapshot!(error("rows = 1_000"), @"my.toml:3: step `read-only_range=10000` draws integers from 1 to -8_999, with rows = 1_000, range = 10_000, which is an empty range: raise `rows` to 10_000, or choose other `tests`");
    assert_snapshot!(error("rows = 150, tests = [\"hot-points_range=100\"]"), @"my.toml:3: step `hot-points_range=100` needs at least 200 rows in `sbtest`, with range = 100, and there are 150: raise `rows` to 200, or choose other `tests`");
    assert_eq!(
        ids(&micro(", rows = 1, tests = [\"point-query\", \"random-points_range=1000\"]")).len(),
        8
    );
}
