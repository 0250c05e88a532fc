//! The TPC-C-like workload: the published tables from our own figures, and what proves them.

use model::{TpccCardinality, TpccPace};
use report::{Input, Report, Table, Tone};
use testkit::made_up::tpcc::{self, Tpcc};
use testkit::made_up::{self};

use crate::input;

const BASE: &str = "mysql-5.6.51/innodb/z12a base";
const MYROCKS: &str = "mariadb-11.8.2/myrocks/z12a";
const NEWER: &str = "mysql-9.7.4/innodb/z12a";

fn with<T>(tpcc: &Tpcc, ask: impl Fn(&Input<'_>) -> T) -> T {
    let data = tpcc::run(tpcc);
    let comparisons = made_up::comparisons(&data);
    ask(&input(&data, &comparisons))
}

/// The table whose title begins so.
fn table(tables: &[Table], title: &str) -> Table {
    let found = tables.iter().find(|table| table.title.starts_with(title));
    let titles: Vec<&str> = tables.iter().map(|table| table.title.as_str()).collect();
    found.unwrap_or_else(|| panic!("{title} in {titles:?}")).clone()
}

fn usual(title: &str) -> Table {
    table(&with(&Tpcc::usual(), |input| Report::new(input).transactions()), title)
}

/// Heads with their units, then the rows as they are read.
fn text(table: &Table) -> Vec<String> {
    let heads = table.headers.iter().map(|head| {
        let whole = format!("{} {}", head.text, head.unit);
        whole.trim().to_owned()
    });
    let heads: Vec<String> = heads.collect();
    let rows = table.rows.iter().map(|row| {
        assert_eq!(row.len(), heads.len(), "{}", table.title);
        let cells: Vec<String> = row.iter().map(report::Cell::shown).collect();
        cells.join(" | ").trim_end_matches([' ', '|']).to_owned()
    });
    std::iter::once(heads.join(" | ")).chain(rows).collect()
}

#[test]
fn the_run_has_the_published_columns_and_what_corrects_them() {
    insta::assert_snapshot!(text(&usual("Run, h1")).join("\n"), @"
    system | wMB/s MB/s | wkb/t KB/s/tpmc | tpmc 1/min | cpu/s % | Mcpu/t µ%/tpmc | size
    innodb
    mysql-5.6.51/innodb/z12a base | 18.0 | 2.00 | 9,000 | 24.0 | 2,667 | 11.7 GiB
    mysql-9.7.4/innodb/z12a | 10.1 | 1.50 | 6,750 | 27.0 | 4,000 | 11.8 GiB
    myrocks
    mariadb-11.8.2/myrocks/z12a | 5.76 | 0.800 | 7,200 | 23.0 | 3,200 | 11.7 GiB
    ");
    insta::assert_snapshot!(text(&usual("Run, h1, corrected")).join("\n"), @"
    system | nopm 1/min | wKB/o KB/op | cpu/o µs/op | server.cpu/o µs/op | tables | grown KB/op | tables grown KB/op | client %
    innodb
    mysql-5.6.51/innodb/z12a base | 8,910 | 120 | 12,800 | 11,200 | 9.29 GiB | 200 | 150 | 11.1
    mysql-9.7.4/innodb/z12a | 6,683 | 90.0 | 19,200 | 17,600 | 9.37 GiB | 200 | 150 | 7.4
    myrocks
    mariadb-11.8.2/myrocks/z12a | 7,128 | 48.0 | 15,360 | 13,760 | 9.55 GiB | 100 | 80.0 | 9.2
    ");
}

#[test]
fn only_the_first_and_the_last_step_are_told_in_full() {
    let titles = |tpcc: &Tpcc| -> Vec<String> {
        let tables = with(tpcc, |input| Report::new(input).transactions());
        tables.into_iter().map(|table| table.title).collect()
    };
    assert_eq!(
        titles(&Tpcc::usual()),
        [
            "Size after the load and at the end",
            "Transactions relative to mysql-5.6.51/innodb/z12a",
            "Run, h1",
            "Run, h3",
            "Run, h1, corrected",
            "Run, h3, corrected",
            "Limits on response time, and deliveries",
            "What transactions asked for",
            "h3: each kind of transaction",
        ]
    );
    let one = Tpcc { runs: 1, ..Tpcc::usual() };
    let runs = titles(&one);
    let runs: Vec<&String> = runs.iter().filter(|t| t.starts_with("Run")).collect();
    assert_eq!(runs, ["Run, h1", "Run, h1, corrected"]);
}

#[test]
fn where_nothing_was_compared_there_are_no_ratios() {
    let data = tpcc::run(&Tpcc::usual());
    let all = Report::new(&input(&data, &[])).transactions();
    assert!(!all.is_empty() && !all.iter().any(|table| table.title.contains("relative")));
}

#[test]
fn size_is_told_with_the_orders_that_made_it() {
    insta::assert_snapshot!(text(&usual("Size after the load")).join("\n"), @"
    system | after load | tables after load | New-Orders count | after h3 | tables after h3 | grown KB/op
    innodb
    mysql-5.6.51/innodb/z12a base | 10.0 GiB | 8.00 GiB | 27,000 | 15.1 GiB | 11.9 GiB | 200
    mysql-9.7.4/innodb/z12a | 10.5 GiB | 8.40 GiB | 20,250 | 14.4 GiB | 11.3 GiB | 200
    myrocks
    mariadb-11.8.2/myrocks/z12a | 11.0 GiB | 9.00 GiB | 21,600 | 13.1 GiB | 10.6 GiB | 100
    ");
}

#[test]
fn ratios_are_those_of_the_charts() {
    insta::assert_snapshot!(text(&usual("Transactions relative")).join("\n"), @"
    system | tpmc h1 | tpmc h3 | CPU h1 | CPU h3 | KB written h1 | KB written h3 | size after load | size after h3
    innodb
    mysql-5.6.51/innodb/z12a base | 1.00 | 1.00 | 1.00 | 1.00 | 1.00 | 1.00 | 1.00 | 1.00
    mysql-9.7.4/innodb/z12a | 0.75 slower | 0.75 slower | 1.50 worse | 1.50 worse | 0.75 better | 0.75 better | 1.05 worse | 0.95 better
    myrocks
    mariadb-11.8.2/myrocks/z12a | 0.80 slower | 0.80 slower | 1.20 worse | 1.20 worse | 0.40 better | 0.40 better | 1.10 worse | 0.86 better
    ");
}

#[test]
fn a_limit_that_nine_in_ten_did_not_keep_is_missed() {
    let limits = text(&usual("Limits"));
    insta::assert_snapshot!(limits.join("\n"), @"
    system | new-order % in 1s | payment % in 1s | order-status % in 1s | delivery % in 1s | stock-level % in 1s | verdict | backlog orders | skipped districts
    h1
    mysql-5.6.51/innodb/z12a base | 100.0 | 100.0 | 100.0 | 100.0 | 100.0 | kept | 89,000 | 0
    mariadb-11.8.2/myrocks/z12a | 100.0 | 100.0 | 100.0 | 100.0 | 100.0 | kept | 89,000 | 0
    mysql-9.7.4/innodb/z12a | 100.0 | 100.0 | 100.0 | 100.0 | 100.0 | kept | 89,000 | 0
    h3
    mysql-5.6.51/innodb/z12a base | 100.0 | 100.0 | 100.0 | 100.0 | 100.0 | kept | 89,000 | 0
    mariadb-11.8.2/myrocks/z12a | 100.0 | 100.0 | 100.0 | 100.0 | 100.0 | kept | 89,000 | 0
    mysql-9.7.4/innodb/z12a | 100.0 | 100.0 | 100.0 | 80.0 missed in 3 of 3 | 100.0 | missed: delivery | 89,000 | 0
    ");
    let tpmc = usual("Run, h3").rows[2][3].clone();
    assert_eq!((tpmc.shown().as_str(), tpmc.tone), ("6,750 limit missed", Tone::Missed));
    let found = with(&Tpcc::usual(), |input| Report::new(input).findings());
    let found = found.iter().find(|f| f.title.starts_with("A limit on response"));
    let expected = format!("h3 of {NEWER}: delivery. In at least one round, fewer");
    assert!(found.unwrap().text.starts_with(&expected));
}

#[test]
fn what_was_asked_stands_beside_what_the_standard_wants() {
    let audit = text(&usual("What transactions asked for"));
    let row = "1.00 | 10.0 | 1.00 | 15.0 | 60.0 | 60.0 | 9,000 | 9,000";
    assert_eq!(
        audit[..4],
        [
            "system | rollbacks % | lines | remote lines % | remote payments % | payments by name % | order statuses by name % | committed count | counted count".to_owned(),
            "the standard's range | 0.9–1.1 | 9.5–10.5 | 0.95–1.05 | 14–16 | 57–63 | 57–63 | – | –".to_owned(),
            "h1".to_owned(),
            format!("{BASE} | {row}"),
        ]
    );
    let mut alone = Tpcc::usual();
    alone.spec.warehouses = 1;
    let audit =
        text(&table(&with(&alone, |input| Report::new(input).transactions()), "What transactions"));
    assert_eq!(
        audit[1],
        "the standard's range | 0.9–1.1 | 9.5–10.5 | – | – | 57–63 | 57–63 | – | –"
    );
}

#[test]
fn each_kind_has_its_own_rows() {
    let kinds = usual("h3: each kind");
    let headings: Vec<&str> = kinds
        .rows
        .iter()
        .filter(|row| Table::is_heading(row))
        .map(|row| row[0].text.as_str())
        .collect();
    assert_eq!(
        headings,
        [
            "new-order",
            "payment",
            "order-status",
            "delivery",
            "stock-level",
            "new-order, rolled back on purpose"
        ]
    );
    let kinds = text(&kinds);
    assert_eq!(
        kinds[0],
        "system | rate ops/s | failed count | repeated count | mean | p50 | p90 | p95 | p99 | p99.9 | max | in limit %"
    );
    assert_eq!(
        kinds[2],
        format!(
            "{BASE} | 150 | 0 | 0 | 20.0ms | 20.0ms | 20.0ms | 20.0ms | 20.0ms | 20.0ms | 20.0ms | 100.0"
        )
    );
    assert!(kinds[6].starts_with(&format!("{BASE} | 150 | 0 | 6 | 5.0")), "{}", kinds[6]);
    // What is rolled back on purpose has no limit of its own.
    assert!(kinds[22].ends_with(" | –"), "{}", kinds[22]);
}

#[test]
fn arrivals_are_transactions_of_all_types() {
    let mut tpcc = Tpcc::usual();
    tpcc.spec.pace =
        TpccPace::Rate { per_second: 345, arrivals: model::Arrivals::Poisson, queue: 1000 };
    let mut data = tpcc::run(&tpcc);
    let offered: Vec<model::Cell> = data
        .cells
        .iter()
        .filter(|cell| cell.metric.0 == "tpmc")
        .flat_map(|cell| {
            [
                ("offered", 345.0),
                ("shed", 0.0),
                ("waiting", 2.0),
                ("response.new-order.p50", 20_000.0),
                ("response.new-order.p99", 40_000.0),
            ]
            .map(|(metric, value)| model::Cell {
                metric: model::MetricId::new(metric),
                value,
                ..cell.clone()
            })
        })
        .collect();
    data.cells.extend(offered);
    let rates = Report::new(&input(&data, &[])).open_loop().unwrap();
    assert_eq!(
        text(&rates)[2],
        // 150 New-Orders, 150 Payments and a tenth of each other kind.
        format!("{BASE} | 345 | 345 | 0 | 2 | yes | 20.0ms | 40.0ms | 1.00")
    );
}

#[test]
fn fewer_rows_than_the_standards_are_told() {
    let mut tpcc = Tpcc::usual();
    tpcc.spec.cardinality = TpccCardinality { items: 1000, customers: 30 };
    let found = with(&tpcc, |input| Report::new(input).findings());
    let found = found.iter().find(|f| f.title.starts_with("The tables do not"));
    assert!(found.unwrap().text.contains("1,000 items and 30 customers a district"));
    let usual = with(&Tpcc::usual(), |input| Report::new(input).findings());
    assert!(usual.iter().all(|f| !f.title.starts_with("The tables do not")));
}

#[test]
fn spreadsheets_get_every_step_and_blog_posts_the_ends() {
    let (markdown, tsv) =
        with(&Tpcc::usual(), |input| (Report::new(input).markdown(), Report::new(input).tsv()));
    for title in ["Run, h1", "Run, h3", "Limits on response time", "h3: each kind"] {
        assert!(markdown.contains(&format!("## {title}")), "{title}");
    }
    assert!(!markdown.contains("## Run, h2") && !markdown.contains("## h1: each kind"));
    for table in tsv.split_terminator("\n\n") {
        let fields: Vec<usize> = table.lines().skip(1).map(|l| l.split('\t').count()).collect();
        assert!(fields.windows(2).all(|w| w[0] == w[1]), "{table}");
    }
    let run = tsv.split("\n\n").find(|t| t.starts_with("# Run, h2")).unwrap();
    assert!(run.contains(&format!("\nmyrocks\t{MYROCKS}\t")), "{run}");
    assert!(tsv.contains("# h2: each kind of transaction"));
}

#[test]
fn programs_get_the_metrics_by_their_ids() {
    let data = tpcc::run(&Tpcc::usual());
    for (step, metric, unit, value) in [
        ("h1", "tpmc", "1/min", 9000.0),
        ("h1", "backlog", "count", 89_000.0),
        ("h3", "sla/delivery", "%", 80.0),
        ("h2", "grown.data", "KB/op", 150.0),
    ] {
        let found = data.cells.iter().any(|cell| {
            let is_it = cell.step.0 == step && cell.metric.0 == metric && cell.round == 1;
            is_it && cell.unit.to_string() == unit && (cell.value - value).abs() < 1e-6
        });
        assert!(found, "{step}, {metric}");
    }
    let comparisons = made_up::comparisons(&data);
    assert!(
        Report::new(&input(&data, &comparisons))
            .json()
            .contains("\"metric\": \"loaded.allocated\"")
    );
}

#[test]
fn a_run_without_finished_steps_has_no_such_table() {
    let mut data = tpcc::run(&Tpcc::usual());
    data.cells.clear();
    let bare = Report::new(&input(&data, &[])).transactions();
    assert_eq!(table(&bare, "Run, h1").rows.len(), 5);
    data.steps.truncate(1);
    assert!(Report::new(&input(&data, &[])).transactions().is_empty());
    assert!(Report::new(&input(&data, &[])).relative_transactions().is_none());
}

#[test]
fn other_workloads_have_none_of_it() {
    let data = made_up::run(&made_up::Shape::usual());
    assert!(data.info.plan.workload.tpcc().is_none());
    assert!(Report::new(&input(&data, &[])).transactions().is_empty());
}
