//! What continuous integration and pull requests get.

use model::{BuildSource, Comparison, Direction, MetricId, Reason, Verdict, describe};
use report::Report;
use testkit::made_up::{self, Shape};

use crate::{input, with_copies};

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
    let data = made_up::run(&Shape::usual());
    let mut comparisons = made_up::comparisons(&data);
    let rate = comparisons.iter_mut().filter(|c| c.metric.0 == MetricId::RATE);
    let made = [
        Verdict::Regressed,
        Verdict::Improved,
        Verdict::Inconclusive(Reason::TooNoisy { more_rounds: Some(3) }),
        Verdict::Incomparable(Reason::NoRatio { system: "<b>".into() }),
    ];
    for (one, verdict) in rate.zip(made) {
        one.verdict = verdict;
    }
    let rates = rates(&comparisons);
    let xml = Report::new(&input(&data, &comparisons)).junit(&rates);
    assert!(xml.starts_with(&format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"backslide compare {}\" tests=\"{}\" failures=\"{}\" errors=\"1\" skipped=\"{}\">\n",
        data.info.id,
        rates.len(),
        count(&rates, "regressed"),
        count(&rates, "inconclusive"),
    )), "{xml}");
    assert_eq!(xml.matches("<testcase ").count(), rates.len());
    assert_eq!(xml.matches("<failure type=\"regressed\"").count(), count(&rates, "regressed"));
    assert_eq!(xml.matches("<error type=\"incomparable\"").count(), 1);
    assert!(xml.contains("about 3 more rounds"), "{xml}");
    assert!(!xml.contains("<b>"), "{xml}");
    // Two candidates: the control is one here.
    assert_eq!(xml.matches("<testsuite ").count(), 2);
    assert_eq!(xml.matches("</testsuite>").count(), 2);
}

#[test]
fn what_fell_to_zero_is_a_failure_and_a_regression() {
    let data = made_up::run(&Shape::usual());
    let mut comparisons = made_up::comparisons(&data);
    for one in &mut comparisons {
        one.verdict = Verdict::Unchanged;
    }
    let mut rate = comparisons.iter_mut().filter(|c| c.metric.0 == MetricId::RATE);
    let improved = rate.find(|c| c.system == "sqlite/rollback" && c.step.0 == "l.i0");
    improved.unwrap().verdict = Verdict::Improved;
    made_up::fall(&mut comparisons, "sqlite/rollback", "l.i1");
    let (input, rates) = (input(&data, &comparisons), rates(&comparisons));
    let xml = Report::new(&input).junit(&rates);
    let counted = "tests=\"20\" failures=\"1\" errors=\"0\" skipped=\"0\"";
    assert!(xml.contains(counted), "{xml}");
    let failure = "<failure type=\"regressed\" message=\"regressed: – of sqlite/wal, 4 rounds; fell to zero in all 4 rounds\"/>";
    assert!(xml.contains(failure), "{xml}");
    let text = Report::new(&input).comment(&rates);
    let headline = "### backslide: 1 regressed, 1 improved, 18 unchanged\n";
    assert!(text.contains(headline), "{text}");
    let place = |words: &str| text.find(words).unwrap();
    let fell = place("| sqlite/rollback | l.i1 | rate | – | fell to zero |");
    assert!(fell < place("| sqlite/rollback | l.i0 | rate |"), "{text}");
}

#[test]
fn a_comment_on_an_imported_run_does_not_name_a_host() {
    let mut data = made_up::run(&Shape::usual());
    for system in &mut data.info.plan.systems {
        system.build.source = BuildSource::Imported("a.csv".into());
    }
    (data.info.host.name, data.info.host.shape.cpus) = ("imported".into(), 0);
    let comparisons = made_up::comparisons(&data);
    let text = Report::new(&input(&data, &comparisons)).comment(&rates(&comparisons));
    let told = ", on an unknown host (imported), by backslide";
    assert!(text.contains(told), "{text}");
}

#[test]
fn metrics_that_are_not_judged_are_no_tests() {
    let data = made_up::run(&Shape::usual());
    let comparisons = made_up::comparisons(&data);
    let all: Vec<&Comparison> = comparisons.iter().collect();
    let xml = Report::new(&input(&data, &comparisons)).junit(&all);
    let judged = all.iter().filter(|c| {
        describe(&c.metric).is_none_or(|described| described.direction != Direction::Neither)
    });
    assert_eq!(xml.matches("<testcase ").count(), judged.count());
}

#[test]
fn a_comment_begins_with_its_mark_and_says_every_comparison_once() {
    let data = made_up::run(&Shape::usual());
    let comparisons = made_up::comparisons(&data);
    let rates = rates(&comparisons);
    let text = Report::new(&input(&data, &comparisons)).comment(&rates);
    assert!(text.starts_with("<!-- backslide compare -->\n### backslide: "), "{text}");
    let certain = count(&rates, "regressed") + count(&rates, "improved");
    let rows = text.lines().filter(|line| line.starts_with("| ")).count();
    // A head and a rule stand above the rows.
    assert_eq!(rows, if certain == 0 { 0 } else { certain + 2 }, "{text}");
    let others = rates.len() - certain;
    assert_eq!(
        text.contains(&format!("<summary>Not changed or not decided: {others}</summary>")),
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
    let data = made_up::run(&shape);
    let comparisons = made_up::comparisons(&data);
    let text = Report::new(&input(&data, &comparisons)).comment(&rates(&comparisons));
    assert!(!text.contains("<script>"), "{text}");
    assert!(text.contains("&lt;script&gt;x\\|y"), "{text}");
}

#[test]
fn a_comment_on_many_systems_fits_where_comments_go() {
    let mut shape = Shape::usual();
    shape.seconds = 1;
    let more = (0..60).map(|n| format!("mysql-8.0.31/innodb/z12a_gtid-{n}"));
    let data = with_copies(made_up::run(&shape), &more.collect::<Vec<String>>());
    let comparisons = made_up::comparisons(&data);
    let text = Report::new(&input(&data, &comparisons)).comment(&rates(&comparisons));
    assert!(text.len() < 65_536, "{}", text.len());
}

/// Nothing of the throughput of these systems is compared, each step for a reason of its own.
fn fail(
    comparisons: &mut [Comparison],
    is_of: impl Fn(&str) -> bool,
    why: impl Fn(usize) -> String,
) {
    let rates = comparisons.iter_mut();
    let rates = rates.filter(|c| c.metric.0 == MetricId::RATE && is_of(&c.system));
    for (place, one) in rates.enumerate() {
        one.verdict = Verdict::Incomparable(Reason::FailedTrials {
            system: one.system.clone(),
            why: why(place),
        });
    }
}

#[test]
fn a_comment_that_is_cut_short_has_its_warnings_and_holds_nothing_open() {
    let mut shape = Shape::usual();
    shape.seconds = 1;
    shape.failed = Some((1, 2));
    let data = made_up::run(&shape);
    let mut comparisons = made_up::comparisons(&data);
    let log = "a line of a log; ".repeat(600);
    let is_judged = |system: &str| system != "control";
    fail(&mut comparisons, is_judged, |place| format!("{place}: {log}"));
    let text = Report::new(&input(&data, &comparisons)).comment(&rates(&comparisons));
    assert!(text.len() < 65_536, "{}", text.len());
    let (told, folded) = text.split_once("<details>").unwrap();
    assert!(told.contains("The control, a second copy of sqlite/wal"));
    assert!(told.contains("> **1 trial failed.**"), "{told}");
    let (_, after) = folded.split_once("</details>").unwrap();
    assert_eq!(after, "\n\nCut short: `backslide compare` has all of it.\n");
}

#[test]
fn why_trials_failed_is_told_once() {
    let data = made_up::run(&Shape::usual());
    let mut comparisons = made_up::comparisons(&data);
    fail(&mut comparisons, |system| system != "control", |_| "the log says <signal 9>".to_owned());
    let text = Report::new(&input(&data, &comparisons)).comment(&rates(&comparisons));
    assert_eq!(text.matches("&lt;signal 9&gt;").count(), 1, "{text}");
    // In the sentence; then once for each step.
    assert_eq!(text.matches("(as above)").count(), 10, "{text}");
}

#[test]
fn why_trials_failed_is_told_whole_where_another_reason_begins_alike() {
    let data = made_up::run(&Shape::usual());
    let mut comparisons = made_up::comparisons(&data);
    fail(
        &mut comparisons,
        |system| system != "control",
        |place| format!("exit {}", if place % 2 == 0 { 1 } else { 10 }),
    );
    let text = Report::new(&input(&data, &comparisons)).comment(&rates(&comparisons));
    assert!(text.contains("(as above)"), "{text}");
    assert!(!text.contains("as above0"), "{text}");
    for code in [1, 10] {
        let told = format!("failed: exit {code})");
        assert_eq!(text.matches(&told).count(), 1, "{text}");
    }
}

#[test]
fn why_the_base_failed_is_told_once_though_the_control_cannot_be_judged_for_it() {
    let data = made_up::run(&Shape::usual());
    let mut comparisons = made_up::comparisons(&data);
    for one in &mut comparisons {
        one.verdict = Verdict::Incomparable(Reason::FailedTrials {
            system: one.base.clone(),
            why: "the log says <signal 9>".to_owned(),
        });
    }
    let text = Report::new(&input(&data, &comparisons)).comment(&rates(&comparisons));
    assert_eq!(text.matches("&lt;signal 9&gt;").count(), 1, "{text}");
    assert!(text.contains("could not be judged: as above."), "{text}");
}
