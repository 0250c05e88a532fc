//! What continuous integration and pull requests get.

mod common;

use common::Shape;
use model::{Comparison, Direction, MetricId, Reason, RunData, Verdict, describe};
use report::Input;

fn input<'a>(data: &'a RunData, comparisons: &'a [Comparison]) -> Input<'a> {
    Input {
        data,
        comparisons,
        differing: None,
        generated: "",
        findings: Vec::new(),
    }
}

fn rates(comparisons: &[Comparison]) -> Vec<&Comparison> {
    let rates = comparisons.iter();
    rates.filter(|c| c.metric.0 == MetricId::RATE).collect()
}

fn count(comparisons: &[&Comparison], word: &str) -> usize {
    let found = comparisons.iter().filter(|c| c.verdict.word() == word);
    found.count()
}

#[test]
fn a_regression_is_a_failure_and_what_is_not_decided_is_skipped() {
    let data = common::run(&Shape::usual());
    let mut comparisons = common::comparisons(&data);
    let rate = comparisons
        .iter_mut()
        .filter(|c| c.metric.0 == MetricId::RATE);
    let made = [
        Verdict::Regressed,
        Verdict::Improved,
        Verdict::Inconclusive(Reason::TooNoisy {
            more_rounds: Some(3),
        }),
        Verdict::Incomparable(Reason::NoRatio {
            system: "<b>".into(),
        }),
    ];
    for (one, verdict) in rate.zip(made) {
        one.verdict = verdict;
    }
    let rates = rates(&comparisons);
    let xml = report::junit(&input(&data, &comparisons), &rates);
    assert!(xml.starts_with(&format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"backslide compare {}\" tests=\"{}\" failures=\"{}\" errors=\"1\" skipped=\"{}\">\n",
        data.info.id,
        rates.len(),
        count(&rates, "regressed"),
        count(&rates, "inconclusive"),
    )), "{xml}");
    assert_eq!(xml.matches("<testcase ").count(), rates.len());
    assert_eq!(
        xml.matches("<failure type=\"regressed\"").count(),
        count(&rates, "regressed")
    );
    assert_eq!(xml.matches("<error type=\"incomparable\"").count(), 1);
    assert!(xml.contains("about 3 more rounds"), "{xml}");
    assert!(!xml.contains("<b>"), "{xml}");
    // Two candidates: the control is one here.
    assert_eq!(xml.matches("<testsuite ").count(), 2);
    assert_eq!(xml.matches("</testsuite>").count(), 2);
}

#[test]
fn metrics_that_are_not_judged_are_no_tests() {
    let data = common::run(&Shape::usual());
    let comparisons = common::comparisons(&data);
    let all: Vec<&Comparison> = comparisons.iter().collect();
    let xml = report::junit(&input(&data, &comparisons), &all);
    let judged = all.iter().filter(|c| {
        describe(&c.metric).is_none_or(|described| described.direction != Direction::Neither)
    });
    assert_eq!(xml.matches("<testcase ").count(), judged.count());
}

#[test]
fn a_comment_begins_with_its_mark_and_says_every_comparison_once() {
    let data = common::run(&Shape::usual());
    let comparisons = common::comparisons(&data);
    let rates = rates(&comparisons);
    let text = report::comment(&input(&data, &comparisons), &rates);
    assert!(
        text.starts_with("<!-- backslide compare -->\n### backslide: "),
        "{text}"
    );
    let certain = count(&rates, "regressed") + count(&rates, "improved");
    let rows = text.lines().filter(|line| line.starts_with("| ")).count();
    // A head and a rule stand above the rows.
    assert_eq!(rows, if certain == 0 { 0 } else { certain + 2 }, "{text}");
    let others = rates.len() - certain;
    assert_eq!(
        text.contains(&format!(
            "<summary>Not changed or not decided: {others}</summary>"
        )),
        others > 0,
        "{text}"
    );
    assert!(text.ends_with("</sub>\n"), "{text}");
}

#[test]
fn markup_in_names_stays_text_in_a_comment() {
    let mut shape = Shape::usual();
    if let Some(system) = shape.systems.get_mut(1) {
        system.0 = "<script>x|y".into();
    }
    let data = common::run(&shape);
    let comparisons = common::comparisons(&data);
    let text = report::comment(&input(&data, &comparisons), &rates(&comparisons));
    assert!(!text.contains("<script>"), "{text}");
    assert!(text.contains("&lt;script&gt;x\\|y"), "{text}");
}

#[test]
fn a_comment_on_many_systems_fits_where_comments_go() {
    let mut shape = Shape::usual();
    let more = (0..60).map(|n| (format!("mysql-8.0.31/innodb/z12a_gtid-{n}"), 0.5));
    shape.systems.extend(more);
    shape.seconds = 1;
    let data = common::run(&shape);
    let comparisons = common::comparisons(&data);
    let text = report::comment(&input(&data, &comparisons), &rates(&comparisons));
    assert!(text.len() < 65_536, "{}", text.len());
}
