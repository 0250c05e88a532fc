//! What other tools measured becomes a run, of which everything can be asked that is asked of others.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::fs;

use common::{Bench, Ran, names};
use serde_json::Value;

/// Cost per operation that was published of global transaction ids on a small machine.
const COSTS: &str = "\
sb.met.insert.range100.pk1.dop1
--- absolute
cpu/o\tcs/o\tr/o\trKB/o\twKB/o\to/s\tdbms
0.001593\t3.950\t0\t0\t4.307\t8201\tx.my8044_rel.z12a.pk1
0.001755\t5.715\t0\t0\t5.015\t7779\tx.my9500_rel.z13a_gtid.pk1
--- relative to first result
1.10\t1.45\t1\t1\t1.16\t0.95\tx.my9500_rel.z13a_gtid.pk1
";

/// What sysbench 1.1 prints, as far as it is read.
fn sysbench(queries: u32) -> String {
    format!(
        "sysbench --table-size=1000 --threads=2 lua/oltp_point_select.lua run\nNumber of threads: 2\n\
         SQL statistics:\n    transactions:  {queries}  (9.00 per sec.)\n    \
         queries:  {queries}  (9.00 per sec.)\n    time elapsed:  10.0000s\n\
         Latency (ms):\n  avg:  0.50\n  max:  9.00\n  95th percentile:  0.70\n  sum:  9000.0\n"
    )
}

/// Rates of two systems in four rounds, the second 10 % lower.
fn csv(second: &str) -> String {
    let mut text = "system,step,metric,value,round\n".to_owned();
    for (round, value) in (1..).zip([1000.0, 1004.0, 997.0, 1002.0]) {
        text += &line("mysql-8.0.31", round, value);
        text += &line(second, round, value * (0.9 + 0.0005 * f64::from(round)));
    }
    text
}

fn line(system: &str, round: u32, value: f64) -> String {
    let system = system.replace('"', "\"\"");
    format!("\"{system}\",point-query,rate,{value},{round}\n")
}

/// All comparisons of rates as `compare --format json` has them; its exit status says that nothing is decided.
fn all_compared(bench: &Bench) -> Value {
    let ran = bench.run(&["compare", "--format", "json"]);
    serde_json::from_str(&ran.stdout).unwrap()
}

/// The comparison of a metric as `compare --format json` has it.
fn compared(bench: &Bench, metric: &str) -> Value {
    let ran = bench.run(&["compare", "--metric", metric, "--format", "json"]);
    let all: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(all.as_array().unwrap().len(), 1, "{all}");
    all[0].clone()
}

#[test]
fn claims_of_a_post_follow_from_its_imported_table() {
    let bench = Bench::new();
    bench.write("o.met.all", COSTS);
    let text = bench.run(&["import", "o.met.all", "--compat"]).fine();
    assert!(text.ends_with("\nr1\n"), "{text}");
    assert!(text.contains("\n1.10\t1.45\t1\t1\t1.16\t0.95\tmy9500_rel.z13a_gtid\n"), "{text}");
    for (metric, claimed) in [("compat.cpu/o", "1.10"), ("cs/o", "1.45"), ("wKB/o", "1.16")] {
        let one = compared(&bench, metric);
        let ratio = one["ratio"].as_f64().unwrap();
        assert_eq!(format!("{ratio:.2}"), claimed, "{one}");
        assert_eq!(one["verdict"], "inconclusive", "one round proves nothing");
    }
}

#[test]
fn unlike_imports_are_told_apart_in_words_of_imports() {
    let bench = Bench::new();
    bench.write("a.csv", &csv("mysql-9.7.4"));
    bench.write("b.csv", &csv("mysql-9.7.5"));
    bench.run(&["import", "a.csv"]).fine();
    bench.run(&["import", "b.csv", "--cpus", "8"]).fine();
    let told = bench.run(&["history", "r1", "r2"]).stderr;
    assert!(told.contains("number of CPUs (`import --cpus`) differs: not known and 8"), "{told}");
}

#[test]
fn several_rounds_have_a_verdict_and_everything_can_be_asked_of_them() {
    let bench = Bench::new();
    bench.write("mine.csv", &csv("mysql-9.7.4"));
    assert_eq!(bench.run(&["import", "mine.csv"]).fine(), "r1\n");
    let one = compared(&bench, "rate");
    assert_eq!(one["verdict"], "regressed", "{one}");
    assert_eq!(bench.run(&["compare"]).code(), 10);
    // Without a sentence before it, a table begins at once.
    let table = bench.run(&["compare", "--metric", "rate"]);
    assert!(table.stdout.starts_with("mysql-9.7.4 against"), "{table:?}");
    // The other way round nothing regressed; what was not measured is no good news.
    let improved = ["compare", "--base", "mysql-9.7.4", "--metric", "rate"];
    assert_eq!(bench.run(&improved).code(), 0);
    let more = [&improved[..], &["--metric", "response.p99"]].concat();
    assert_eq!(bench.run(&more).code(), 11);
    let shown = bench.run(&["show"]).fine();
    assert!(shown.contains("mysql-9.7.4"), "{shown}");
    let history = bench.run(&["history", "--format", "json"]).json();
    assert_eq!(history["builds"].as_array().unwrap().len(), 2, "{history}");
    for form in ["html", "md", "tsv", "csv", "json"] {
        let name = format!("report.{form}");
        bench.run(&["report", "-o", &name]).fine();
        let text = fs::read_to_string(bench.path(&name)).unwrap();
        assert!(text.contains("mysql-9.7.4"), "{name}");
    }
}

#[test]
fn what_is_exported_can_be_imported_again() {
    let bench = Bench::new();
    bench.write("mine.csv", &csv("mysql-9.7.4/innodb/\"a\", b"));
    bench.run(&["import", "mine.csv"]).fine();
    let first = bench.run(&["export", "r1"]).fine();
    bench.write("again.csv", &first);
    assert_eq!(bench.run(&["import", "again.csv"]).fine(), "r2\n");
    let second = bench.run(&["export", "r2"]).fine();
    assert_eq!(second.replace("\nr2,", "\nr1,"), first);
    assert_eq!(bench.run(&["report", "r1", "-o", "-", "--format", "csv"]).fine(), first);
}

#[test]
fn the_same_system_again_is_the_next_round() {
    let bench = Bench::new();
    for (name, queries) in [("a.txt", 1000), ("b.txt", 1010), ("c.txt", 500), ("d.txt", 505)] {
        bench.write(name, &sysbench(queries));
    }
    let sides = ["mysql-8=a.txt", "mysql-8=b.txt", "mysql-9=c.txt", "mysql-9=d.txt"];
    let ran = bench.run(&[&["import", "--name", "halved"][..], &sides].concat());
    assert_eq!(ran.stdout, "r1\n", "{ran:?}");
    assert!(ran.stderr.contains("rate: 4 of 4 values differ"), "{ran:?}");
    let one = compared(&bench, "rate");
    assert_eq!((&one["rounds"], &one["step"]), (&2.into(), &"oltp_point_select".into()));
    assert!((one["ratio"].as_f64().unwrap() - 0.5).abs() < 1e-9, "{one}");
    let listed = bench.run(&["list", "--format", "json"]).json();
    assert_eq!((&listed[0]["plan"], &listed[0]["completed"]), (&"halved".into(), &4.into()));
}

#[test]
fn markup_in_a_name_stays_text_wherever_it_is_shown() {
    let bench = Bench::new();
    bench.write("mine.csv", &csv("mysql-9.7.4/<b onclick='x'>&\"|"));
    bench.run(&["import", "mine.csv"]).fine();
    bench.run(&["report", "-o", "r.html"]).fine();
    bench.run(&["report", "-o", "r.md"]).fine();
    bench.run(&["history", "-o", "h.html"]).fine();
    bench.run(&["history", "-o", "h.md"]).fine();
    let xml = bench.run(&["compare", "--format", "junit"]).stdout;
    let comment = bench.run(&["compare", "--format", "markdown"]).stdout;
    let files = ["r.html", "r.md", "h.html", "h.md"];
    let files = files.map(|name| fs::read_to_string(bench.path(name)).unwrap());
    for text in files.iter().chain([&xml, &comment]) {
        assert!(text.contains("&lt;b onclick"), "{text}");
        assert!(!text.contains("<b onclick"), "{text}");
    }
}

/// Imports it, which fails and leaves nothing behind.
fn told(bench: &Bench, arguments: &[&str]) -> String {
    let before = names(bench.directory.path());
    let Ran { status, stdout, stderr } = bench.run(&[&["import"], arguments].concat());
    assert_eq!((status.code(), stdout.as_str()), (Some(1), ""), "{stderr}");
    assert_eq!(names(bench.directory.path()), before, "{stderr}");
    stderr
}

#[test]
fn what_cannot_be_imported_is_told_with_its_line() {
    let bench = Bench::new();
    let half = sysbench(1000).split_once("queries:").unwrap().0.to_owned();
    bench.write("half.txt", &half);
    bench.write("notes.txt", "hello\n");
    bench.write("nan.csv", "system,step,metric,value\nmysql-8,a,rate,NaN\n");
    bench.write("zeros", &"\0".repeat(5000));
    fs::create_dir(bench.path("empty")).unwrap();
    insta::assert_snapshot!(told(&bench, &["mysql-8=half.txt"]), @"error: half.txt:5: no line `queries:`");
    insta::assert_snapshot!(told(&bench, &["notes.txt"]), @"error: notes.txt: neither name nor contents tell the kind of this file; give it with --as KIND");
    insta::assert_snapshot!(told(&bench, &["nan.csv"]), @"error: nan.csv:2: value must be a number from zero up, not `NaN`");
    insta::assert_snapshot!(told(&bench, &["zeros", "--as", "pgbench"]), @"error: zeros:1: no line `tps = …`: the run of pgbench failed, or this is something else");
    insta::assert_snapshot!(told(&bench, &["empty"]), @"error: empty: no file in it has the name or contents of known results; name the files to import");
    insta::assert_snapshot!(told(&bench, &["gone.csv"]), @"
    error: cannot read gone.csv
      because No such file or directory (os error 2)
    ");
    let endless = told(&bench, &["/dev/zero", "--as", "csv"]);
    assert!(endless.contains("more than 268435456 bytes"), "{endless}");
    bench.write("mine.csv", &csv("mysql-9.7.4"));
    insta::assert_snapshot!(told(&bench, &["mine.csv", "--base", "mysql-5"]), @"error: mine.csv:2: no system `mysql-5` to use as the base; the systems are `mysql-8.0.31`, `mysql-9.7.4`");
}

#[test]
fn what_was_measured_differently_is_told_with_both_lines() {
    let bench = Bench::new();
    bench.write("small.txt", &sysbench(1000));
    let large = sysbench(900).replace("--table-size=1000", "--table-size=10000");
    bench.write("large.txt", &large);
    let text = told(&bench, &["mysql-8=small.txt", "mysql-9=large.txt"]);
    assert!(text.contains("large.txt:1: ") && text.contains("small.txt:1"), "{text}");
    for (name, cpus) in [("a.txt", 8), ("b.txt", 40)] {
        bench.write(name, &format!("{cpus} CPUs\n{}", sysbench(1000 + cpus)));
    }
    let text = told(&bench, &["mysql-8=a.txt", "mysql-9=b.txt"]);
    assert!(
        text.contains("b.txt:1: the number of CPUs is 40") && text.contains("a.txt:1"),
        "{text}"
    );
}

#[test]
fn histories_over_imports_do_not_depend_on_parts_of_a_second() {
    let bench = Bench::new();
    for (name, seconds) in [("a.txt", "10.0000s"), ("b.txt", "15.2000s")] {
        bench.write(name, &sysbench(1000).replace("10.0000s", seconds));
    }
    bench.run(&["import", "mysql-8=a.txt"]).fine();
    bench.run(&["import", "mysql-9=b.txt"]).fine();
    bench.run(&["history", "r1", "r2"]).fine();
}

#[test]
fn a_file_is_imported_once_unless_somebody_insists() {
    let bench = Bench::new();
    bench.write("mine.csv", &csv("mysql-9.7.4"));
    bench.write("copy.csv", &csv("mysql-9.7.4"));
    bench.run(&["import", "mine.csv"]).fine();
    let refused = bench.run(&["import", "copy.csv", "--name", "other"]);
    assert_eq!((refused.code(), refused.stdout.as_str()), (1, ""));
    insta::assert_snapshot!(refused.stderr, @"error: copy.csv: already imported as run r1; `backslide show r1` shows it, --again imports it again");
    assert_eq!(bench.run(&["import", "copy.csv", "--again"]).fine(), "r2\n");
    // What is there twice counts once.
    let history = bench.run(&["history", "r1", "r2", "r2", "--format", "json"]);
    assert!(history.stderr.contains("r2 is named twice"), "{}", history.stderr);
    let history = history.json();
    assert_eq!(history["copies"][0]["run"], "r2", "{history}");
    let rounds = |history: &Value| history["lines"][0]["points"][0]["rounds"].clone();
    let alone = bench.run(&["history", "r1", "--format", "json"]).json();
    assert_eq!(rounds(&history), rounds(&alone));
}

#[test]
fn a_file_is_no_second_round_of_itself() {
    let bench = Bench::new();
    bench.write("a.txt", &sysbench(1000));
    bench.write("copy.txt", &sysbench(1000));
    for second in ["mysql-8=a.txt", "mysql-8=copy.txt"] {
        let text = told(&bench, &["mysql-8=a.txt", second]);
        assert!(text.contains("the same results are in a.txt"), "{text}");
    }
}

/// A table of rates of two systems, whose scans have decimals.
fn table(points: u32) -> String {
    format!(
        "col-1 : x.my5651_rel.z11a.pk1\ncol-2 : x.my8041_rel.z11a.pk1\n\ncol-1\tcol-2\n\
         {points}\t1000\thot-points_range=100\n1.466\t1.600\tscan_range=100\n"
    )
}

#[test]
fn tables_of_several_numbers_of_clients_are_no_rounds() {
    let bench = Bench::new();
    for (clients, points) in [(1, 1000), (4, 1001), (40, 1002)] {
        bench.write(&format!("{clients}.tsv"), &table(points));
        fs::create_dir(bench.path(&format!("dop{clients}"))).unwrap();
        bench.write(&format!("dop{clients}/qps.abs"), &table(points));
    }
    let unknown = ["--as", "qps", "1.tsv", "4.tsv", "40.tsv"];
    let text = told(&bench, &unknown);
    assert!(text.contains("1.tsv:5: how many clients?"), "{text}");
    let by_path = ["dop1/qps.abs", "dop4/qps.abs", "dop40/qps.abs"];
    let said = ["--as", "qps", "1.tsv@1", "4.tsv@4", "40.tsv@40"];
    for paths in [&by_path[..], &said[..]] {
        bench.run(&[&["import", "--again"], paths].concat()).fine();
        let one = all_compared(&bench);
        let all = one.as_array().unwrap();
        assert_eq!(all.len(), 6, "{one}");
        for cell in all {
            assert_eq!((&cell["rounds"], &cell["verdict"]), (&1.into(), &"inconclusive".into()));
        }
        assert_eq!(all[4]["step"], "hot-points_range=100@40", "{one}");
    }
}

#[test]
fn scans_keep_their_decimals_in_the_originals_tables() {
    let bench = Bench::new();
    bench.write("qps.abs", &table(1000));
    let text = bench.run(&["import", "--compat", "qps.abs@1"]).fine();
    for line in ["\n1.466\t1.600\tscan", "\n1.09\tscan", "\n1000\t1000\thot"] {
        assert!(text.contains(line), "{text}");
    }
}

#[test]
fn a_folder_of_campaigns_is_one_run_in_the_order_of_versions() {
    let bench = Bench::new();
    for folder in ["all", "all/dop8"] {
        fs::create_dir(bench.path(folder)).unwrap();
    }
    let newer = table(1000).replace("my5651", "my9400").replace("my8041", "my8406v2");
    bench.write("all/dop8/qps.abs.a.tsv", &newer);
    bench.write("all/dop8/qps.abs.b.tsv", &table(900));
    // The twin of a table, its ratios, a packed copy and other files are no further results.
    bench.write("all/dop8/qps.abs.b.csv", "hot-points_range=100,900,1000\n");
    bench.write("all/dop8/qps.rel.b.tsv", "Relative to: x\n");
    bench.write("all/run.sh", "echo\n");
    let ran = bench.run(&["import", "all", "--base", "my8406v2_rel.z11a"]);
    assert_eq!(ran.stdout, "r1\n", "{ran:?}");
    let passed =
        "files passed over: 2 made of results that are imported, or ratios; 1 without results";
    assert!(ran.stderr.contains(passed), "{ran:?}");
    bench.run(&["import", "--again", "all"]).fine();
    let text = bench.run(&["show", "--quiet"]).fine();
    let places = ["my5651", "my8041", "my8406v2", "my9400"].map(|name| text.find(name));
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{text}");
    let one = all_compared(&bench);
    assert_eq!(one[0]["base"], "my5651_rel.z11a", "{one}");
}

#[test]
fn a_product_that_backslide_does_not_run_keeps_its_name() {
    let bench = Bench::new();
    bench.write("old.csv", &csv("cockroach-24.1.2").replace("mysql-8.0.31", "rocksdb-8.0.0"));
    bench.run(&["import", "old.csv"]).fine();
    for form in ["html", "md", "json"] {
        let name = format!("report.{form}");
        bench.run(&["report", "-o", &name]).fine();
        let text = fs::read_to_string(bench.path(&name)).unwrap();
        assert!(text.contains("rocksdb-8.0.0") && text.contains("cockroach-24.1.2"), "{name}");
        for claimed in ["mysql", "mariadb", "sqlite", "innodb"] {
            assert!(!text.to_lowercase().contains(claimed), "{name} claims {claimed}");
        }
    }
}

#[test]
fn packed_files_are_read_as_if_they_were_not() {
    let bench = Bench::new();
    bench.write("qps.abs.tsv", &table(1000));
    let packed = std::process::Command::new("gzip").arg(bench.path("qps.abs.tsv")).status();
    assert!(packed.unwrap().success());
    bench.run(&["import", "qps.abs.tsv.gz@1"]).fine();
    bench.write("qps.abs.csv", "hot-points_range=100,1000,900\n");
    let one = bench.run(&["import", "qps.abs.csv@1"]);
    assert_eq!(one.stdout, "r2\n", "the packed twin has the legend: {one:?}");
}

#[test]
fn text_that_is_not_utf_8_and_pipes_without_a_writer_are_refused() {
    use std::os::unix::ffi::OsStrExt;
    let bench = Bench::new();
    fs::write(bench.path("l.csv"), b"system,step,metric,value\nt\xe9st,a,rate,1\n").unwrap();
    let text = told(&bench, &["l.csv"]);
    assert!(text.contains("l.csv: line 2") && text.contains("Latin-1"), "{text}");
    fs::write(bench.path("u.csv"), b"\xff\xfes\0y\0").unwrap();
    let text = told(&bench, &["u.csv"]);
    assert!(text.contains("u.csv: this is UTF-16 (little-endian)"), "{text}");
    let odd = std::ffi::OsStr::from_bytes(b"b\xff.csv");
    let ran = bench.command(&["import"]).arg(odd).output().unwrap();
    let text = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert!(text.contains(r"(b\xff.csv)"), "{text}");
    let made = std::process::Command::new("mkfifo").arg(bench.path("pipe")).status();
    assert!(made.unwrap().success());
    let text = told(&bench, &["pipe", "--as", "csv"]);
    assert!(text.contains("pipe: a named pipe, and nothing wrote to it"), "{text}");
    bench.write("mine.csv", &csv("mysql-9.7.4"));
    let mut writer = std::process::Command::new("sh")
        .args(["-c", "sleep 0.2; cat mine.csv > pipe"])
        .current_dir(bench.directory.path())
        .spawn()
        .unwrap();
    assert_eq!(bench.run(&["import", "pipe", "--as", "csv"]).fine(), "r1\n");
    assert!(writer.wait().unwrap().success());
}
