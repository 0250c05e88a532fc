use super::*;
use crate::Mode;
use crate::Scale;
use crate::file::file;
use model::Note;

/// What sysbench 1.1 prints of a scan, as far as it is read.
const SCAN: &str = "sysbench --table-size=50000000 --threads=2 lua/oltp_scan.lua run\n8 CPUs\n\
    Number of threads: 2\nSQL statistics:\n    queries performed:\n        total:       80\n\
    transactions:  80     (0.13 per sec.)\n    queries:  80     (0.13 per sec.)\n\
    ignored errors:  0      (0.00 per sec.)\n    reconnects:  0      (0.00 per sec.)\n\
    time elapsed:  605.3845s\nLatency (ms):\n  avg:  7629.80\n  max:  7673.48\n\
    95th percentile:  7615.89\n  sum:  610383.62\n";

/// Of a transaction of twenty statements, by sysbench 1.0.
const READ_WRITE: &str = "Number of threads: 1\nSQL statistics:\n\
    transactions:  892284 (991.43 per sec.)\n    queries:  17845672 (19828.51 per sec.)\n\
    total time:  900.0008s\nLatency (ms):\n  avg:  1.01\n  max:  61.82\n  99th percentile:  1.06\n  sum:  899526.33\n";

const MET: &str = "iostat, vmstat normalized by operation rate\n\
    samp\tr/s\trMB/s\tw/s\twMB/s\tr/o\trKB/o\twKB/o\to/s\n\
    904\t1467.8\t5.7\t983.0\t35.2\t0.104\t0.414\t2.545\t14169.79\n\n\
    samp\tcs/s\tcpu/s\tcs/o\tcpu/o\n948\t300753\t26.0\t21.225\t0.001835\n";

const VM: &str = "procs -----------memory----------\n r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st\n\
    1 0 0 9 9 9 0 0 0 0 5 9999 90 9 0 0 0\n1 0 0 9 9 9 0 0 0 0 5 1000 20 10 70 0 0\n\
    1 0 0 9 9 9 0 0 0 0 5 3000 30 20 50 0 0\n";

const IO: &str = "Linux 6.1 (host)\n\nDevice r/s rkB/s rrqm/s w/s wkB/s\nnvme0n1 10 1024 0 5 2048\n\n\
    11/21/25 09:24:01\nDevice r/s rkB/s rrqm/s w/s wkB/s\nnvme0n1 30 1024 0 15 2048\n";

fn exact() -> Options {
    Options { clients: vec![1], ..Options::default() }
}

fn compat() -> Options {
    exact().in_mode(Mode::Compat)
}

fn near(seen: Option<f64>, value: f64) -> bool {
    seen.is_some_and(|seen| (seen - value).abs() <= 1e-9 * value.abs())
}

#[test]
fn a_scan_has_the_published_rate_and_an_exact_one() {
    let files = [file("d/sb.o.scan.range100.pk1.dop2", SCAN)];
    let compat = directory("my8044.z12a", &files, &compat()).unwrap();
    assert_eq!(compat.first().and_then(|row| row.value("rate")), Some(6553.0));
    let exact = directory("my8044.z12a", &files, &exact()).unwrap();
    let row = exact.first().unwrap();
    assert!(near(row.value("rate"), 50e6 * 80.0 / (610.383_62 / 2.0)));
    assert_eq!(
        (row.test.as_str(), row.clients, row.group.as_str()),
        ("scan_range=100", 2, "range")
    );
    assert!(row.subject.counts.is_rows());
    assert!(near(row.value("service.event.p95"), 7_615_890.0));
}

#[test]
fn rates_are_rounded_only_where_the_originals_are_wanted() {
    let read_write = file("oltp.txt", READ_WRITE);
    let rate = |options: &Options| single("my", &read_write, options).unwrap().value("rate");
    assert_eq!(rate(&compat()), Some(19_829.0));
    assert!(near(rate(&exact()), 17_845_672.0 / 900.0008));
    let output = Output::parse(&read_write).unwrap();
    assert_eq!(output.transactions_per_second, "991.43");
    assert_eq!(output.latency.unwrap().percentile, Some((99, 1.06)));
}

#[test]
fn a_rate_that_its_own_count_contradicts_is_told() {
    let row = |text: &str| single("my", &file("oltp.txt", text), &exact()).unwrap();
    assert_eq!(row(READ_WRITE).notes, []);
    let changed = READ_WRITE.replace("17845672", "27845672");
    assert_ne!(changed, READ_WRITE);
    let Note { what, text } = row(&changed).notes.first().unwrap().clone();
    assert_eq!(what.word(), "rate");
    assert!(text.contains("27845672 in 900.0008 s, which are 30939.61"), "{text}");
}

#[test]
fn events_that_no_run_has_are_told() {
    for (changes, told) in [
        (["avg:  1.01", "min: 1.01\n  avg:  1.01"], ""),
        (["avg:  1.01", "min: 1.02\n  avg:  1.01"], "1.02 ms minimum, 1.01 ms average"),
        (["avg:  1.01", "avg:  101"], "101 ms average and 61.82 ms maximum"),
        (["Latency", "total number of events: 892284\nLatency"], ""),
        (["Latency", "total number of events: 9\nLatency"], "892284 transactions, and 9 events"),
    ] {
        let text = READ_WRITE.replace(changes[0], changes[1]);
        let notes = single("my", &file("oltp.txt", &text), &exact()).unwrap().notes;
        let words = notes.first().map_or("", |note| &note.text);
        assert!(words.contains(told) && words.is_empty() == told.is_empty(), "{words}");
    }
}

/// Three hundred events by sysbench 1.0.20: its time for the rate is 1.1 ms longer than the one that it prints.
const SHORT: &str = "sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)\nNumber of threads: 4\nSQL statistics:\n\
    transactions:                        300    (13103.16 per sec.)\n\
    queries:                             300    (13103.16 per sec.)\n    total time:  0.0217s\n\
    Latency (ms):\n  avg:  0.25\n  max:  3.20\n  95th percentile:  0.70\n  sum:  75.10\n";

#[test]
fn the_two_clocks_of_a_short_run_may_differ_by_milliseconds() {
    let row = |text: &str| single("my", &file("a.txt", text), &exact()).unwrap();
    assert_eq!(row(SHORT).notes, []);
    let changed = SHORT.replace("queries:                             300", "queries:  9300");
    assert_ne!(changed, SHORT);
    assert_eq!(row(&changed).notes.len(), 1);
}

#[test]
fn latencies_of_a_throttled_run_have_the_time_in_the_queue() {
    let throttled = SHORT.replace(
        "Number of threads: 4\n",
        "Number of threads: 4\nTarget transaction rate: 200/sec\n",
    );
    let row = single("my", &file("a.txt", &throttled), &exact()).unwrap();
    for (what, micros) in [("mean", 250.0), ("p95", 700.0), ("max", 3200.0)] {
        assert_eq!(row.value(&format!("response.event.{what}")), Some(micros));
        assert_eq!(row.value(&format!("service.event.{what}")), None);
    }
}

#[test]
fn clients_that_nobody_states_are_refused() {
    let cut = SHORT.replace("Number of threads: 4\n", "");
    let error = single("my", &file("a.txt", &cut), &Options::default()).unwrap_err();
    assert!(error.what.starts_with("how many clients?"), "{error}");
    let files = [file("sb.o.insert.range100.pk1", SHORT)];
    let rows = directory("my", &files, &Options::default()).unwrap();
    assert_eq!(rows[0].clients, 4, "the file states them");
}

#[test]
fn what_sysbench_before_1_0_printed_is_refused_by_name() {
    let old = "sysbench 0.5:  multi-threaded\nOLTP test statistics:\n";
    let error = single("my", &file("a.txt", old), &exact()).unwrap_err();
    assert_eq!(error.line, 1);
    assert!(error.what.contains("sysbench 1.0 and later"), "{error}");
}

#[test]
fn the_originals_costs_survive_to_the_last_digit() {
    let met = Met::parse(&file("sb.met.delete.range100.pk1.dop1", MET)).unwrap();
    assert_eq!(met.print(), MET);
    let files = [file("sb.met.delete.range100.pk1.dop1", MET)];
    let rows = directory("my5651.z12a", &files, &compat()).unwrap();
    let row = rows.first().unwrap();
    assert_eq!((row.value("rate"), row.value("cs/o")), (Some(14_170.0), Some(21.225)));
    let with_cpus = Options { cpus: Some(8), ..exact() };
    let rows = directory("my5651.z12a", &files, &with_cpus).unwrap();
    assert!(near(rows.first().unwrap().value("cpu/o"), 0.001_835 * 80_000.0));
}

#[test]
fn each_system_has_the_cpus_that_its_files_state() {
    let costs = "d/sb.met.delete.range100.pk1.dop1";
    let states = "d/sb.o.scan.range100.pk1.dop2";
    for cpus in [8, 40] {
        let scan = SCAN.replace("8 CPUs", &format!("{cpus} CPUs"));
        let files = [file(costs, MET), file(states, &scan)];
        // What is given is for where no file says it.
        let given = Options { cpus: Some(4), ..exact() };
        let rows = directory("my8044.z12a", &files, &given).unwrap();
        let [delete, scan] = rows.as_slice() else {
            panic!("{rows:?}");
        };
        let expected = 0.001_835 * 10_000.0 * f64::from(cpus);
        assert!(near(delete.value("cpu/o"), expected), "{delete:?}");
        let stated = delete.cpus.as_ref().unwrap();
        assert_eq!((stated.origin.as_str(), stated.line), (states, 2));
        assert_eq!((stated.value, &scan.cpus), (cpus, &delete.cpus));
    }
}

#[test]
fn the_command_line_says_the_scale() {
    let of = |command: &str| {
        let text = format!("$ {command}\n{READ_WRITE}");
        let output = Output::parse(&file("a.txt", &text)).unwrap();
        output.scale.map(|scale| (scale.value, scale.line))
    };
    let tables = |tables, rows| Some((Scale::Tables { tables, rows }, 1));
    let one = "sysbench --table-size=50000000 lua/oltp_scan.lua run";
    assert_eq!(of(one), tables(1, 50_000_000));
    let eight = "sysbench oltp_read_only --tables=8 --table_size=10K run";
    assert_eq!(of(eight), tables(8, 10 << 10));
    for unknown in [
        "sysbench lua/oltp_scan.lua run",
        "sysbench --tables=many --table-size=5 a.lua run",
        "sysbench --tables=0 --table-size=5 a.lua run",
        "sysbench --table-size=5e3 a.lua run",
        "",
    ] {
        assert_eq!(of(unknown), None, "{unknown}");
    }
}

#[test]
fn a_script_stands_under_a_heading_only_where_its_name_says_what_it_does() {
    let of = |command: &str| {
        let text = format!("{command}\n{READ_WRITE}");
        let row = single("my", &file("a.txt", &text), &exact()).unwrap();
        (row.test, row.group)
    };
    for (script, group) in [
        ("oltp_point_select", "point"),
        ("oltp_read_only", "range-aggregate"),
        ("oltp_scan", "range"),
        ("oltp_update_index", "write"),
        ("select_random_ranges", "range"),
        ("mine", ""),
    ] {
        // A scan has a rate only where its rows are known.
        let command = format!("sysbench --table-size=10 dir/{script}.lua run");
        let seen = of(&command);
        assert_eq!(seen, (script.to_owned(), group.to_owned()));
    }
    for command in ["", "sysbench --table-size=10 run"] {
        assert_eq!(of(command), ("sysbench".to_owned(), String::new()));
    }
}

#[test]
fn headers_and_the_mean_since_boot_are_samples_for_the_original_only() {
    let of = |text: &str, mode| cpu(&file("vm", text), mode).unwrap();
    // The names of the columns are left out once, and count as zeros wherever they stand again.
    let (names, samples) = VM.split_at(VM.find("1 0 0").unwrap());
    let again = format!("{VM}{names}1 0 0 9 9 9 0 0 0 0 5 2000 40 10 50 0 0\n");
    for (text, samples, switches) in [(VM, 3, "4666.3"), (&again, 5, "3199.8")] {
        let original = of(text, Mode::Compat);
        let seen = (original.samples, format!("{:.1}", original.switches));
        assert_eq!(seen, (samples, switches.to_owned()));
    }
    // The first line is left out whatever it is.
    assert_eq!(of(samples, Mode::Compat).samples, 2);
    let exact = of(VM, Mode::Exact);
    assert_eq!(exact.samples, 2);
    assert_eq!((exact.switches, exact.percent), (2000.0, 40.0));
    assert_eq!(of(&again, Mode::Exact).samples, 3);
}

#[test]
fn samples_make_costs_in_both_modes() {
    let files = [
        file("sb.o.point-query.range10.pk1.dop1", READ_WRITE),
        file("sb.vm.point-query.range10.pk1.dop1", VM),
        file("sb.io.point-query.range10.pk1.dop1", IO),
    ];
    let value = |options: &Options, metric| {
        let rows = directory("my8044.z12a", &files, options).unwrap();
        rows.first().unwrap().value(metric)
    };
    assert_eq!(value(&compat(), "cs/o"), Some(0.235));
    assert_eq!(value(&compat(), "rKB/o"), Some(0.052));
    let rate = 17_845_672.0 / 900.0008;
    assert!(near(value(&exact(), "cs/o"), 2000.0 / rate));
    assert!(near(value(&exact(), "w/o"), 10.0 / rate));
    assert!(near(value(&exact(), "compat.cpu/o"), 40.0 / rate));
}

#[test]
fn several_disks_need_a_name() {
    let both = IO.replace("nvme0n1 10 1024 0 5 2048", "nvme0n1 10 1024 0 5 2048\nsda 1 1 0 1 1");
    let both = file("io", &both);
    let error = disk(&both, None, Mode::Exact).unwrap_err();
    assert!(error.what.contains("`nvme0n1`, `sda`"), "{error}");
    assert!(near(disk(&both, Some("sda"), Mode::Exact).ok().map(|d| d.reads), 1.0));
    assert!(disk(&both, Some("sdb"), Mode::Exact).is_err());
}

#[test]
fn damage_is_told_with_its_line() {
    let cases = [
        (SCAN.replace("SQL statistics:", ""), 16),
        (SCAN.replace("80     (0.13", "many (0.13"), 8),
        (SCAN.replace("605.3845s", "0.0000s"), 11),
        (SCAN.replace("--table-size=50000000", ""), 16),
        (SCAN.replace("7629.80", "nan"), 13),
        (format!("{SCAN}{SCAN}"), 20),
        // Cut in the middle of `605.3845s`.
        (SCAN.split_once("5.3845s").unwrap().0.to_owned(), 11),
        (READ_WRITE.split_once("sum:").unwrap().0.to_owned(), 10),
    ];
    for (text, line) in cases {
        let error = single("my", &file("sb.o", &text), &exact()).unwrap_err();
        assert_eq!(error.line, line, "{error}");
    }
    let cut = READ_WRITE.replace("total time:  900.0008s\n", "");
    let error = single("my", &file("sb.o", &cut), &exact()).unwrap_err();
    assert!(error.what.contains("no line `total time:`"), "{error}");
    for (text, line) in [(MET.replace("14169.79", ""), 3), (MET.replace("26.0", "?"), 6)] {
        let error = Met::parse(&file("sb.met", &text)).unwrap_err();
        assert_eq!(error.line, line, "{error}");
    }
    assert!(Met::parse(&file("sb.met", "")).is_err());
    assert!(cpu(&file("vm", "hello"), Mode::Exact).is_err());
}

#[test]
fn names_say_test_and_clients() {
    let table = [
        ("sb.met.point-query.range100.pk1.dop1", Some(("met", "point-query_range=100", Some(1)))),
        (
            "sb.o.points-covered-si.warm.range100.pk1.dop40",
            Some(("o", "points-covered-si.warm_range=100", Some(40))),
        ),
        ("sb.prepare.met.point-query.warm.range100.pk1", Some(("met", "prepare", Some(1)))),
        ("sb.r.qps.point-query.range100.pk1", Some(("r", "qps.point-query_range=100", None))),
        ("sb.prepare.o.point-query.warm.range100.pk1", None),
        ("sb.o.x.range.pk1", None),
        ("sb.o.x.range10.dop0", None),
        ("notes.txt", None),
        ("sb.", None),
    ];
    for (file, expected) in table {
        let name = Name::of(file);
        let seen = name.as_ref().map(|(kind, n)| (*kind, n.test.as_str(), n.clients));
        assert_eq!(seen, expected, "{file}");
    }
}
