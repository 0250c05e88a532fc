//! Charts that stand alone: safe wherever they are shown, and whole without the page.

use std::collections::HashSet;

use model::RunData;
use report::{ChartFile, Report};
use testkit::made_up::micro::{self, Micro};
use testkit::made_up::tpcc::{self, Tpcc};
use testkit::made_up::{self, Shape};

use crate::input;

fn of(data: &RunData) -> Vec<ChartFile> {
    Report::new(&input(data, &made_up::comparisons(data))).charts()
}

/// The same with names that are no fit text for anything.
fn hostile() -> Vec<ChartFile> {
    let mut shape = Shape::usual();
    shape.systems[1].0 = "<script>\"&\u{1}\0]]>".into();
    let mut data = made_up::run(&shape);
    data.info.plan.name = "a --> <b>".into();
    of(&data)
}

fn named(files: &[ChartFile]) -> HashSet<&str> {
    files.iter().map(|file| file.name.as_str()).collect()
}

fn assert_sound(file: &ChartFile) {
    let ChartFile { name, title, svg } = file;
    let is_safe = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "._-".contains(c);
    assert!(name.chars().all(is_safe), "{name}");
    assert!(name.starts_with(|c: char| c.is_ascii_lowercase()), "{name}");
    assert!(!title.is_empty(), "{name}");
    assert!(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"800\""));
    assert!(svg.contains("<title>") && svg.contains("class=\"title\""));
    // Nothing of the page or from elsewhere, no absurd number, no name that became markup.
    for unknown in [
        "var(",
        "currentColor",
        "light-dark",
        "url(",
        "<div",
        "<span",
        "<p>",
        "<p ",
        "<script",
        "NaN",
        "inf%",
        "\0",
        "\u{1}",
    ] {
        assert!(!svg.contains(unknown), "{name}: {unknown}");
    }
    let opened = svg.matches('<').count() - svg.matches("</").count();
    assert_eq!(opened, svg.matches("</").count(), "{name}: all is closed");
    for reference in svg.split("href=\"#").skip(1) {
        let (id, _) = reference.split_once('"').unwrap();
        assert!(svg.contains(&format!("id=\"{id}\"")), "{name}: {id}");
    }
    assert!(svg.contains("backslide 0.1.0, run "), "{name}");
}

#[test]
fn every_chart_stands_alone() {
    let steps = Micro { tests: 6, ..Micro::usual() };
    let sweep = Micro { tests: 6, ..Micro::sweep(&[1, 8, 40]) };
    let runs = [
        hostile(),
        of(&micro::run(&steps)),
        of(&micro::run(&sweep)),
        of(&tpcc::run(&Tpcc::usual())),
    ];
    for files in &runs {
        assert_eq!(named(files).len(), files.len(), "names are unique");
        files.iter().for_each(assert_sound);
    }
}

#[test]
fn names_say_what_is_shown() {
    let inserts = of(&made_up::run(&Shape::usual()));
    let names = named(&inserts);
    for name in [
        "ratios",
        "rounds-l.i0",
        "time-qr100-query",
        "time-qr100-insert",
        "p99-qr100-query",
        "longest-qr100-query",
        "service-qr100-query",
        "response-qr100-insert",
    ] {
        assert!(names.contains(name), "{name} in {names:?}");
    }
    let sweep = Micro { tests: 3, ..Micro::sweep(&[1, 8]) };
    let sweep = of(&micro::run(&sweep));
    let names = named(&sweep);
    assert!(names.contains("sweep-update-index"), "{names:?}");
    let transactions = of(&tpcc::run(&Tpcc::usual()));
    let names = named(&transactions);
    for name in ["transactions-tpmc", "transactions-size", "rounds-h1"] {
        assert!(names.contains(name), "{name} in {names:?}");
    }
}

#[test]
fn steps_of_a_sweep_have_the_charts_of_their_sections() {
    let few = Micro { tests: 3, ..Micro::sweep(&[1, 8]) };
    let files = of(&micro::run(&few));
    let names = named(&files);
    for name in [
        "rounds-update-index-8",
        "time-update-index-8-update-index",
        "p99-update-index-8-update-index",
        "service-update-index-8-update-index",
    ] {
        assert!(names.contains(name), "{name} in {names:?}");
    }
    // The page has no room for sections of all 96 steps of these tests, and shows those that differ most.
    let many = micro::run(&Micro::sweep(&[1, 8, 40]));
    let comparisons = made_up::comparisons(&many);
    let page = Report::new(&input(&many, &comparisons)).html();
    let files = of(&many);
    let names = named(&files);
    let label = |section: &str| section.split('"').next().unwrap().replace('@', "-");
    let sections = page.split("aria-label=\"Step ").skip(1).map(label);
    let swept: Vec<String> = sections.filter(|label| label != "load").collect();
    assert!(!swept.is_empty() && swept.len() < 96, "{swept:?}");
    let rounds = names.iter().filter(|name| name.starts_with("rounds-"));
    // The load is part of no sweep.
    assert_eq!(rounds.count(), swept.len() + 1);
    for label in swept {
        let safe = label.replace('=', "-");
        assert!(names.contains(format!("rounds-{safe}").as_str()), "{label}");
    }
}

#[test]
fn one_system_has_charts_without_a_comparison() {
    let mut shape = Shape::usual();
    shape.systems.truncate(1);
    let files = of(&made_up::run(&shape));
    let names = named(&files);
    assert!(names.contains("rounds-l.i0") && names.contains("time-l.i0-insert"));
    assert!(!names.contains("ratios"), "{names:?}");
}

#[test]
fn a_run_without_measurements_has_none() {
    let mut data = made_up::run(&Shape::usual());
    data.cells.clear();
    data.series.clear();
    data.histograms.clear();
    assert!(of(&data).is_empty());
}

#[test]
fn a_picture_has_title_legend_and_source() {
    let files = of(&made_up::run(&Shape { seconds: 5, ..Shape::usual() }));
    let wanted = |file: &&ChartFile| file.name == "time-qr100-query";
    let svg = &files.iter().find(wanted).unwrap().svg;
    insta::assert_snapshot!(svg.replace("><", ">\n<"));
}
