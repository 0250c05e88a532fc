//! Operations that arrive by themselves: what is judged, what is told, and in which words.

mod common;

use common::{Bench, plan};

const WAL: &str = "build = \"sqlite\"\nconfig = \"wal\"";
const ROLLBACK: &str = "build = \"sqlite\"\nconfig = \"rollback\"";

/// The microbenchmarks at their smallest, with what a test asks for.
fn micro(more: &str) -> String {
    format!(
        r#"kind = "micro", rows = 1_000, tables = 1, read_seconds = 1, write_seconds = 1, scan_seconds = 1, warmup_seconds = 0, settle = 0, {more}"#
    )
}

fn run(bench: &Bench, text: &str) {
    let file = bench.write("open.toml", text);
    bench.run(&["run", &file.display().to_string()]).fine();
}

/// A text without the line ends that the width of the terminal makes.
fn in_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_rate_that_the_plan_says_is_not_judged() {
    let bench = Bench::new();
    let workload =
        micro(r#"tests = ["point-query", "read-only_range=10"], rate = 100, arrivals = "even""#);
    run(&bench, &plan(&workload, 3, &[WAL, ROLLBACK]));

    let show = bench.run(&["show"]).fine();
    let rates = show.split("Offered rates").nth(1).unwrap();
    assert!(rates.contains("p50") && rates.contains("p99"), "{show}");
    // A hundred transactions are more statements, which have another unit.
    assert!(show.contains("statements/s"), "{show}");
    assert!(rates.contains("ops/s"), "{show}");

    let json = bench.run(&["compare", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    let judged: Vec<(&str, &str)> = json
        .as_array()
        .unwrap()
        .iter()
        .map(|c| (c["step"].as_str().unwrap(), c["metric"].as_str().unwrap()))
        .collect();
    assert_eq!(
        judged,
        [
            ("load", "rate"),
            ("index", "rate"),
            ("read-only_range=10", "response.read-only.p99"),
            ("point-query", "response.point-query.p99"),
        ]
    );
    let text = bench.run(&["compare", "--all"]).stdout;
    assert!(text.contains("point-query, p99"), "{text}");
    let short = bench.run(&["compare", "--metric", "response.p50", "--format", "json"]);
    for kind in ["point-query", "read-only"] {
        let metric = format!("\"response.{kind}.p50\"");
        assert!(short.stdout.contains(&metric), "{short:?}");
    }
    let unknown = bench.run(&["compare", "--metric", "p99"]);
    assert_eq!(unknown.code(), 1);
    insta::assert_snapshot!(unknown.stderr, @"error: no metric `p99`; nearest `service.p99`, `response.p99`, `service.p999`, `response.p999`; `all` is every metric of the run");

    let markdown = bench.path("x.md");
    let asked = ["report", "-o", &markdown.display().to_string()];
    bench.run(&asked).fine();
    let markdown = std::fs::read_to_string(markdown).unwrap();
    assert!(markdown.contains("| sustained | p50 | p99 |"), "{markdown}");
}

#[test]
fn a_rate_beyond_what_a_system_can_do_is_told() {
    let bench = Bench::new();
    let more = r#"tests = ["update-index"], rate = 1_000_000, queue = 10"#;
    run(&bench, &plan(&micro(more), 1, &[WAL, ROLLBACK]));
    for verb in ["show", "compare"] {
        let text = in_one_line(&bench.run(&[verb]).stdout);
        let told =
            "of 1,000,000 operations/s in update-index: the rate was not sustained in 1 of 1 round";
        assert_eq!(text.matches(told).count(), 2, "{verb}: {text}");
    }
}

#[test]
fn a_ramp_shows_the_rates_that_it_tried() {
    let bench = Bench::new();
    let more = r#"tests = ["point-query"], ramp = { from = 20, p99 = "1us", attempt_seconds = 1 }, arrivals = "even""#;
    run(&bench, &plan(&micro(more), 1, &[WAL]));
    let text = in_one_line(&bench.run(&["show"]).fine());
    for told in ["Rates tried", "20/s: p99", "over 1.00µs", "none"] {
        assert!(text.contains(told), "{told}: {text}");
    }
    let alone = bench.run(&["compare"]);
    assert!(
        in_one_line(&alone.stdout)
            .contains("run r1 has one system, sqlite/wal: nothing to compare it with"),
        "{alone:?}"
    );
    // Programs find nothing but JSON.
    let alone = bench.run(&["compare", "--format", "json"]);
    assert_eq!(alone.code(), 11, "{alone:?}");
    let comparisons: serde_json::Value = serde_json::from_str(&alone.stdout).unwrap();
    assert_eq!(comparisons, serde_json::json!([]));
    assert!(alone.stderr.contains("run r1 has one system"), "{alone:?}");
}
