//! The page is one file, well formed, safe and small, whatever the run looks like.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests")]

mod common;

use common::Shape;
use common::micro::{self, Micro};
use common::tpcc::{self, Tpcc};
use model::{Comparison, RunData, Verdict};
use report::{Finding, Input, html, html_brief};

fn page(data: &RunData, comparisons: &[Comparison]) -> String {
    html(&Input {
        data,
        comparisons,
        differing: Some(common::differing()),
        generated: "2026-11-21 12:00 UTC",
        findings: vec![Finding {
            title: "A <warning>".into(),
            text: "Do & see.".into(),
        }],
    })
}

fn page_of(shape: &Shape) -> String {
    let data = common::run(shape);
    let page = page(&data, &common::comparisons(&data));
    assert_sound(&page);
    page
}

/// Opened tags are closed in order, attributes are not repeated, no number is absurd.
fn assert_sound(page: &str) {
    const VOID: [&str; 4] = ["meta", "link", "wbr", "br"];
    let mut open: Vec<&str> = Vec::new();
    let mut rest = page;
    while let Some(at) = rest.find('<') {
        let (before, from) = rest.split_at(at);
        assert_numbers(before);
        let end = from.find('>').expect("a tag ends");
        let tag = &from[1..end];
        rest = &from[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(
                open.pop(),
                Some(name),
                "closed out of order before: {rest:.80}"
            );
            continue;
        }
        let name = tag.split([' ', '\n']).next().unwrap();
        assert!(tag.matches('"').count() % 2 == 0, "quotes in <{tag}>");
        assert_numbers(tag);
        if matches!(name, "script" | "style") {
            let close = format!("</{name}>");
            rest = &rest[rest.find(&close).expect("script and style end") + close.len()..];
        } else if !name.starts_with('!') && !VOID.contains(&name) {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "never closed: {open:?}");
}

fn assert_numbers(text: &str) {
    let absurd = text
        .split(|c: char| !c.is_alphanumeric())
        .find(|word| matches!(*word, "NaN" | "inf" | "infinity"));
    assert!(absurd.is_none(), "{text}");
}

#[test]
fn what_should_be_equal_is_told_before_any_table() {
    let page = page_of(&Shape::usual());
    let warning = page.find("durability of a commit").unwrap();
    assert!(warning < page.find("<table").unwrap());
    assert!(page.contains("survives a crash of the &lt;server&gt; (sqlite/wal)"));
    for text in [
        "Server variables that differ",
        "on purpose",
        "a log &amp; more",
        "cache_spill",
    ] {
        assert!(page.contains(text), "{text}");
    }
}

#[test]
fn a_run_without_captures_says_so() {
    let data = common::run(&Shape::usual());
    let page = html(&Input {
        data: &data,
        comparisons: &[],
        differing: None,
        generated: "",
        findings: Vec::new(),
    });
    assert!(page.contains("Server variables were not captured."));
    assert!(!page.contains("id=\"unequal\""));
}

#[test]
fn the_usual_page_is_sound_and_loads_nothing() {
    let page = page_of(&Shape::usual());
    for forbidden in ["http://", "https://", "src=", "@import", "url("] {
        assert!(!page.contains(forbidden), "{forbidden}");
    }
    let order = [
        "#summary",
        "#matrix",
        "#tables",
        "#costs",
        "#step-0",
        "#sizes",
        "#provenance",
        "#methods",
    ];
    let places: Vec<usize> = order
        .iter()
        .map(|id| page.find(&format!("id=\"{}\"", &id[1..])).expect(id))
        .collect();
    assert!(places.is_sorted(), "{places:?}");
}

#[test]
fn ids_are_unique_and_links_lead_somewhere() {
    let page = page_of(&Shape::usual());
    let mut ids: Vec<&str> = attributes(&page, " id=\"");
    let targets = attributes(&page, "href=\"#");
    assert!(targets.len() > 20);
    for target in targets {
        assert!(ids.contains(&target), "{target}");
    }
    let all = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), all);
}

fn attributes<'a>(page: &'a str, head: &str) -> Vec<&'a str> {
    let values = page.split(head).skip(1);
    values.filter_map(|rest| rest.split('"').next()).collect()
}

#[test]
fn people_who_do_not_see_are_told() {
    let page = page_of(&Shape::usual());
    let charts = page.matches("role=\"img\"").count();
    assert!(charts > 50);
    assert_eq!(page.matches("role=\"img\" aria-label=\"").count(), charts);
    assert_eq!(
        page.matches("<th>").count() + page.matches("<th class").count(),
        0,
        "every th has a scope"
    );
}

#[test]
fn names_are_escaped_everywhere() {
    let mut shape = Shape::usual();
    shape.systems[0].0 = "<script>alert(1)</script>".into();
    shape.systems[1].0 = "\"><img/onerror='x'>&amp;".into();
    let mut data = common::run(&shape);
    data.info.plan.name = "</title><b>plan".into();
    data.info.plan.source = "</pre><script>".into();
    data.steps[2].step.0 = "<i>step".into();
    let page = page(&data, &common::comparisons(&data));
    assert_sound(&page);
    assert!(!page.contains("<script>alert") && !page.contains("<img") && !page.contains("<b>plan"));
    assert!(
        !page.contains("</pre><script>")
            && !page.contains("<i>step")
            && !page.contains("<warning>")
    );
    assert!(page.contains("A &lt;warning&gt;"));
}

#[test]
fn large_runs_stay_below_two_megabytes() {
    let names = [
        "mysql-5.6.51/innodb/z12a",
        "mysql-8.0.43/innodb/z12a",
        "mysql-9.4.0/innodb/z12a",
        "control",
    ];
    let page = page_of(&Shape {
        systems: names.map(|n| (n.to_owned(), 0.9)).to_vec(),
        rounds: 2,
        seconds: 1800,
        ..Shape::usual()
    });
    assert!(page.len() < 2_000_000, "{} bytes", page.len());
}

/// The whole page and the brief one.
fn pages_of(micro: &Micro) -> [String; 2] {
    let data = micro::run(micro);
    let comparisons = common::comparisons(&data);
    let input = Input {
        data: &data,
        comparisons: &comparisons,
        differing: None,
        generated: "",
        findings: Vec::new(),
    };
    let pages = [html(&input), html_brief(&input)];
    for page in &pages {
        assert_sound(page);
        let ids = attributes(page, " id=\"");
        for target in attributes(page, "href=\"#") {
            assert!(ids.contains(&target), "{target}");
        }
    }
    pages
}

#[test]
fn dozens_of_steps_stay_small() {
    let mut micro = Micro::usual();
    micro.shape.systems.truncate(2);
    micro.shape.seconds = 60;
    let [whole, brief] = pages_of(&micro);
    eprintln!("32 steps: {} bytes, brief {}", whole.len(), brief.len());
    assert!(whole.len() < 1_300_000, "{} bytes", whole.len());
    assert!(brief.len() < 500_000, "{} bytes", brief.len());
    assert_eq!(whole.matches("<section class=\"step\"").count(), 33);
    assert_eq!(brief.matches("<section class=\"step\"").count(), 12);
    for heading in ["Points", "Ranges with aggregation", "Writes"] {
        assert!(whole.contains(&format!("scope=\"rowgroup\" colspan=\"3\">{heading}<")));
    }
    assert!(whole.contains("statements/s, from zero"));
    assert!(whole.contains("What it sends"));
    assert!(!whole.contains("Over the number of clients"));
}

#[test]
fn sweeps_stay_small() {
    for clients in [&[1, 8, 40][..], &[1, 4, 6, 8, 10, 20, 40]] {
        let mut micro = Micro::sweep(clients);
        micro.shape.systems.truncate(2);
        let [whole, brief] = pages_of(&micro);
        eprintln!(
            "32 tests × {} counts: {} bytes, brief {}",
            clients.len(),
            whole.len(),
            brief.len()
        );
        assert!(whole.len() < 1_800_000, "{} bytes", whole.len());
        assert!(brief.len() < 600_000, "{} bytes", brief.len());
        assert!(whole.contains("Over the number of clients"));
        assert_eq!(whole.matches("class=\"multiple\"").count(), 32);
    }
}

#[test]
fn thirty_systems() {
    let page = page_of(&Shape {
        systems: (0..30).map(|i| (format!("s{i}"), 1.0)).collect(),
        rounds: 2,
        seconds: 10,
        steps: 3,
        failed: None,
    });
    assert!(page.contains("AD"), "the thirtieth key");
}

#[test]
fn one_system_one_round_one_second() {
    let page = page_of(&Shape {
        systems: vec![("only".into(), 1.0)],
        rounds: 1,
        seconds: 1,
        ..Shape::usual()
    });
    assert!(page.contains("Only one system was measured"));
}

#[test]
fn a_run_without_anything() {
    let mut data = common::run(&Shape::usual());
    data.cells.clear();
    data.series.clear();
    data.histograms.clear();
    let bare = page(&data, &[]);
    assert_sound(&bare);
    assert!(bare.contains("No round was completed."));
    assert!(bare.contains("No series was recorded for this step."));
    data.steps.clear();
    data.trials.clear();
    data.info.plan.systems.clear();
    assert_sound(&page(&data, &[]));
}

#[test]
fn failed_trials_are_shown_with_reason_and_log() {
    let page = page_of(&Shape {
        failed: Some((1, 3)),
        ..Shape::usual()
    });
    assert!(page.contains("the server died: signal 9"));
    assert!(page.contains("mysqld got signal 9 ; &lt;killed&gt;"));
    assert!(page.contains("1 trial failed"));
}

#[test]
fn absurd_numbers_never_reach_the_page() {
    let mut data = common::run(&Shape {
        rounds: 2,
        seconds: 6,
        ..Shape::usual()
    });
    let mut comparisons = common::comparisons(&data);
    let absurd = [
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        0.0,
        -1.0,
        1e300,
        1e-300,
    ];
    for (i, comparison) in comparisons.iter_mut().enumerate() {
        let value = absurd[i % absurd.len()];
        comparison.ratio = Some(value);
        comparison.low = Some(value);
        comparison.high = Some(absurd[(i + 3) % absurd.len()]);
        comparison.pairs.push((9, value));
        comparison.verdict = Verdict::Regressed;
    }
    for (i, cell) in data.cells.iter_mut().enumerate() {
        cell.value = absurd[i % absurd.len()];
    }
    for (i, series) in data.series.iter_mut().enumerate() {
        series.spans[0] = (absurd[i % absurd.len()], absurd[(i + 1) % absurd.len()]);
        series.kinds[0].ops.truncate(2);
    }
    assert_sound(&page(&data, &comparisons));
}

/// The whole page of a run of transactions, and the brief one.
fn pages_of_transactions(tpcc: &Tpcc) -> [String; 2] {
    let data = tpcc::run(tpcc);
    let comparisons = common::comparisons(&data);
    let input = Input {
        data: &data,
        comparisons: &comparisons,
        differing: None,
        generated: "",
        findings: Vec::new(),
    };
    let pages = [html(&input), html_brief(&input)];
    for page in &pages {
        assert_sound(page);
    }
    pages
}

#[test]
fn transactions_have_the_published_charts() {
    let [whole, _] = pages_of_transactions(&Tpcc::usual());
    for title in [
        "Throughput",
        "CPU per New-Order, client included",
        "KB written per New-Order",
        "Size",
    ] {
        let caption = format!("<figcaption>{title}</figcaption><div class=\"rows levels\">");
        assert_eq!(whole.matches(&caption).count(), 1, "{title}");
    }
    assert!(whole.contains("from above: after load, after h3"));
    assert!(whole.contains("<h3 class=\"table-title\">Run, h1</h3>"));
    assert!(whole.contains("<summary>Run, h2</summary>"));
    assert!(whole.contains("Run, h3"));
    assert!(whole.contains("100 warehouses; the standard's work; transactions from decks"));
    assert_eq!(whole.matches("each kind of transaction").count(), 2 * 3);
}

#[test]
fn twelve_hours_of_transactions_stay_small() {
    let systems = (0..6).map(|i| (format!("mysql-9.{i}.0/innodb/z12a"), 1.0));
    let tpcc = Tpcc {
        shape: Shape {
            systems: systems.collect(),
            seconds: 3600,
            ..Tpcc::usual().shape
        },
        runs: 12,
        ..Tpcc::usual()
    };
    let [whole, brief] = pages_of_transactions(&tpcc);
    eprintln!("12 hours: {} bytes, brief {}", whole.len(), brief.len());
    assert!(whole.len() < 2_000_000, "{} bytes", whole.len());
    assert!(brief.len() < whole.len(), "{} bytes", brief.len());
}

#[test]
fn other_pages_carry_nothing_of_transactions() {
    let page = page_of(&Shape::usual());
    for part in ["rect.level", "#transactions", "tpmc", "New-Order"] {
        assert!(!page.contains(part), "{part}");
    }
}
