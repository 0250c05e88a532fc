//! What the page tells of warm-ups that a steady rate ends, and of settle phases.

use model::{NoteKind, RunData, Settle, SqlStep, SqlWork, StepId, StepNote, WorkloadSpec};
use report::Report;
use testkit::made_up::micro::{self, Micro};
use testkit::made_up::tpcc::{self, Tpcc};
use testkit::made_up::{self, Shape};

use crate::input;

/// Every trial notes this of a step.
fn note(data: &mut RunData, step: &str, what: &str, text: &str) {
    let notes = data.trials.iter().map(|trial| StepNote {
        round: trial.round,
        system: trial.system.clone(),
        step: StepId::new(step),
        what: what.into(),
        text: text.to_owned(),
    });
    data.notes.extend(notes);
}

/// Two tests that write after a settle phase. The rate of the second was not steady in one of twelve trials.
fn settled() -> RunData {
    let mut data = micro::run(&Micro { tests: 2, ..Micro::usual() });
    let settle = SqlStep {
        id: StepId::new("settle"),
        test: "settle".to_owned(),
        group: String::new(),
        clients: 1,
        work: SqlWork::Settle(Settle::Formula),
    };
    data.info.plan.change_workload(|workload| {
        let WorkloadSpec::Sql(spec) = workload else {
            unreachable!("micro is one");
        };
        spec.steps.insert(1, settle);
    });
    let left = "history 0, dirty pages 8 after 2.31s";
    note(&mut data, "settle", "left over", left);
    let steady = "13.0s, 412,345 operations, steady";
    note(&mut data, "update-index", "warmed up", steady);
    let missed = data.notes.iter_mut().find(|note| {
        note.step.0 == "update-index" && note.system == "mysql-9.7.4/z12a" && note.round == 2
    });
    let missed = missed.unwrap();
    missed.what = NoteKind::NotSteady;
    "after 1m00s, 9,000 operations; 140/s, then 160/s".clone_into(&mut missed.text);
    data
}

/// The section that begins with this attribute.
fn section<'p>(page: &'p str, attribute: &str) -> &'p str {
    let (_, rest) = page.split_once(attribute).unwrap();
    rest.split_once("</section>").unwrap().0
}

fn step<'p>(page: &'p str, name: &str) -> &'p str {
    section(page, &format!("aria-label=\"Step {name}\""))
}

const SETTLED: &str = "12 of 12 settle phases before it (settle) ended with little pending work.";
const WROTE_SINCE: &str =
    "Steps that write have run since, and nothing waited for their pending work.";
const WARMED_UP: &str = "11 of 12 warm-ups ended with a steady rate; the other ran into its limit.";

#[test]
fn each_step_tells_of_its_warm_ups_and_of_the_settle_phase_before_it() {
    let data = settled();
    let page = Report::new(&input(&data, &made_up::comparisons(&data))).html();
    let first = step(&page, "update-inlist");
    assert!(first.contains(SETTLED), "{first}");
    assert!(!first.contains(WROTE_SINCE), "{first}");
    assert!(!first.contains("warm-ups ended"), "{first}");
    assert!(!first.contains("Warm-up of each round"), "{first}");
    let second = step(&page, "update-index");
    for text in [
        SETTLED,
        WROTE_SINCE,
        WARMED_UP,
        "<a href=\"#left-over\">",
        "<summary>Warm-up of each round</summary>",
        "<td class=\"w\">13.0s</td>",
        "<td class=\"missed\">after 1m00s, 9,000 operations; 140/s, then 160/s <i>not steady</i></td>",
    ] {
        assert!(second.contains(text), "{text}");
    }
    assert_eq!(second.matches(">13.0s<").count(), 11);
    assert!(!step(&page, "load").contains("settle phases"));
}

#[test]
fn the_part_on_noise_has_all_steps_and_what_was_left_over() {
    let mut data = settled();
    data.notes[0].what = NoteKind::NotDrained;
    data.notes[1].what = NoteKind::NotDrained;
    let page = Report::new(&input(&data, &made_up::comparisons(&data))).html();
    let noise = section(&page, "id=\"noise\"");
    for text in [
        WARMED_UP,
        "10 of 12 settle phases ended with little pending work; the others ran into their limit.",
        "id=\"left-over\"",
        "<summary>Pending work after settle phases</summary>",
        "history 0, dirty pages 8 after 2.31s <i>not drained</i>",
    ] {
        assert!(noise.contains(text), "{text}");
    }
    assert_eq!(noise.matches("dirty pages 8").count(), 12);
}

#[test]
fn a_brief_page_has_the_sentences_without_the_amounts() {
    let data = settled();
    let page = Report::new(&input(&data, &made_up::comparisons(&data))).html_brief();
    let second = step(&page, "update-index");
    assert!(second.contains(SETTLED), "{second}");
    assert!(second.contains(WARMED_UP), "{second}");
    assert!(section(&page, "id=\"noise\"").contains(WARMED_UP));
    for absent in ["left-over", "Warm-up of each round", "dirty pages"] {
        assert!(!page.contains(absent), "{absent}");
    }
}

#[test]
fn the_insert_benchmark_settles_before_its_queries() {
    let mut data = made_up::run(&Shape::usual());
    note(&mut data, "settle", "left over", "WAL frames 0 after 1.00s");
    let page = Report::new(&input(&data, &[])).html();
    assert!(!step(&page, "l.i2").contains("settle phases"));
    let first = step(&page, "qr100");
    assert!(first.contains(SETTLED), "{first}");
    assert!(!first.contains(WROTE_SINCE), "{first}");
    assert!(step(&page, "qp100").contains(WROTE_SINCE));
}

#[test]
fn transactions_settle_after_the_load() {
    let mut data = tpcc::run(&Tpcc::usual());
    note(&mut data, "settle", "left over", "vacuums 0 after 1.00s");
    let page = Report::new(&input(&data, &[])).html();
    assert!(!step(&page, "load").contains("settle phases"));
    let first = step(&page, "h1");
    assert!(first.contains("settle phases before it"), "{first}");
    assert!(!first.contains(WROTE_SINCE), "{first}");
    assert!(step(&page, "h2").contains(WROTE_SINCE));
}

#[test]
fn where_trials_noted_nothing_nothing_is_told() {
    let data = made_up::run(&Shape::usual());
    let page = Report::new(&input(&data, &[])).html();
    for absent in ["settle phases", "warm-ups ended", "left-over"] {
        assert!(!page.contains(absent), "{absent}");
    }
}
