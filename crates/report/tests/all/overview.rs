//! The picture that leads the page.

use model::{Build, Comparison, Reason, RunData, Verdict};
use report::{Input, Report};
use testkit::made_up::micro::{self, Micro};
use testkit::made_up::{self, Shape};

use crate::input;

/// What the page has between its headline and the notes.
fn picture(data: &RunData, comparisons: &[Comparison]) -> String {
    let page = Report::new(&input(data, comparisons)).html();
    let (_, picture) = page.split_once("<div id=\"overview\">").unwrap();
    let (picture, _) = picture.split_once("What the steps do").unwrap();
    picture.to_owned()
}

fn of(names: &[&str], version: impl Fn(usize, &mut Build)) -> String {
    let systems = names.iter().zip([1.0, 0.9, 0.8]).chain([(&"control", 1.0)]);
    let shape = Shape {
        systems: systems.map(|(name, effect)| ((*name).to_owned(), effect)).collect(),
        ..Shape::usual()
    };
    let mut data = made_up::run(&shape);
    for (place, system) in data.info.plan.systems.iter_mut().enumerate() {
        version(place, &mut system.build);
    }
    picture(&data, &made_up::comparisons(&data))
}

/// The texts of the ticks below a chart, which have an anchor, unlike those beside it.
fn stops(picture: &str) -> Vec<&str> {
    let ticks = picture.split("text-anchor=\"").skip(1);
    ticks.map(|rest| rest.split(['>', '<']).nth(1).unwrap()).collect()
}

const NAMES: [&str; 3] =
    ["mysql-9.4.0/innodb/z12a", "mysql-5.6.51/innodb/z12a", "mysql-8.0.43/innodb/z12a"];

#[test]
fn versions_of_one_product_are_a_line_in_their_order() {
    let versions = ["9.4.0", "5.6.51", "8.0.43", "9.4.0"];
    let picture = of(&NAMES, |place, build| build.version = versions[place].parse().unwrap());
    assert_eq!(stops(&picture), ["5.6.51", "8.0.43", "9.4.0"]);
    // A line a step, and a mark with its interval for each candidate; the control is what may be chance.
    assert_eq!(picture.matches("<path class=\"line ").count(), 10);
    assert_eq!(picture.matches("class=\"interval\"").count(), 2 * 10);
    assert_eq!(picture.matches("<rect class=\"noise\"").count(), 1);
    assert!(picture.contains(">qp1000</text>"), "{picture}");
    assert!(!picture.contains("class=\"rows"), "{picture}");
    assert!(picture.contains("<title>l.i0, mysql-5.6.51/innodb/z12a: "), "{picture}");
}

#[test]
fn systems_that_versions_do_not_tell_apart_have_a_row_for_each_step() {
    let picture = of(&NAMES, |_, _| ());
    assert!(!picture.contains("svg class=\"chart"), "{picture}");
    assert_eq!(picture.matches("<div class=\"row\">").count(), 10);
    assert_eq!(picture.matches("<g class=\"lane k1\" data-system=\"B\">").count(), 10);
    assert_eq!(picture.matches("<g class=\"lane k2\" data-system=\"C\">").count(), 10);
    assert_eq!(picture.matches("<rect class=\"noise\"").count(), 10);
    assert!(picture.contains("grey: the control") && picture.contains("class=\"legend\""));
}

#[test]
fn a_single_candidate_has_its_ratios_beside_the_marks() {
    let data = made_up::run(&Shape::usual());
    let picture = picture(&data, &made_up::comparisons(&data));
    assert_eq!(picture.matches("<span class=\"row-value\">").count(), 10);
    assert!(!picture.contains("row-value\"></span>"), "{picture}");
    assert!(!picture.contains("class=\"legend\""), "{picture}");
}

#[test]
fn of_a_control_alone_its_own_intervals_are_shown() {
    let mut shape = Shape::usual();
    shape.systems.remove(1);
    let data = made_up::run(&shape);
    let picture = picture(&data, &made_up::comparisons(&data));
    assert_eq!(picture.matches("data-system=\"B\"").count(), 10);
    assert!(!picture.contains("class=\"noise\"") && !picture.contains("grey"), "{picture}");
}

#[test]
fn of_dozens_of_steps_groups_lead_and_each_step_is_folded() {
    let data = micro::run(&Micro::usual());
    let picture = picture(&data, &made_up::comparisons(&data));
    let (lead, each) = picture.split_once("<summary>Every step</summary>").unwrap();
    for group in ["Points", "Ranges", "Ranges with aggregation", "Writes"] {
        assert!(lead.contains(&format!(">{group}</span>")), "{group} in {lead}");
    }
    assert!(!lead.contains("slower") && lead.contains("lane regressed"), "{lead}");
    assert_eq!(each.matches("<div class=\"row\">").count(), data.steps.len());
    assert_eq!(each.matches("<div class=\"heading\">").count(), 4);
}

#[test]
fn what_fell_to_zero_has_a_mark_at_the_end_of_the_scale() {
    let fallen = |data: &RunData, step: &str| {
        let mut comparisons = made_up::comparisons(data);
        made_up::fall(&mut comparisons, &data.info.plan.systems[1].name, step);
        picture(data, &comparisons)
    };
    let data = made_up::run(&Shape::usual());
    let rows = fallen(&data, "l.x");
    let mark = "<title>l.x, B 0 fell to zero</title><circle class=\"point\" cx=\"0%\"";
    assert!(rows.contains(mark), "{rows}");
    // In a line of many systems.
    let systems = (0..9).map(|i| (format!("config-{i}"), 1.0 - 0.02 * f64::from(i)));
    let data = made_up::run(&Shape { systems: systems.collect(), ..Shape::usual() });
    let line = fallen(&data, "l.x");
    assert!(line.contains("<g class=\"regressed\"><title>l.x, config-1: 0 fell to zero</title>"));
    // As one with the rest of its group.
    let data = micro::run(&Micro::usual());
    let groups = fallen(&data, "point-query");
    let (lead, _) = groups.split_once("<summary>Every step</summary>").unwrap();
    assert!(lead.contains(">point-query fell to zero</span>"), "{lead}");
}

#[test]
fn a_group_has_a_colour_only_where_a_step_of_it_is_called() {
    let data = micro::run(&Micro::usual());
    let mut comparisons = made_up::comparisons(&data);
    let coloured = |comparisons: &[Comparison]| {
        let picture = picture(&data, comparisons);
        let (lead, _) = picture.split_once("<summary>Every step</summary>").unwrap();
        lead.matches("class=\"lane regressed\"").count()
    };
    assert!(coloured(&comparisons) > 0);
    for one in &mut comparisons {
        one.verdict = Verdict::Inconclusive(Reason::TooNoisy { more_rounds: None });
    }
    assert_eq!(coloured(&comparisons), 0);
}

#[test]
fn many_systems_are_a_line_in_the_order_of_the_plan() {
    let systems = (0..9).map(|i| (format!("config-{i}"), 1.0 - 0.02 * f64::from(i)));
    let data = made_up::run(&Shape { systems: systems.collect(), ..Shape::usual() });
    let picture = picture(&data, &made_up::comparisons(&data));
    assert_eq!(stops(&picture), ["0", "1", "2", "3", "4", "5", "6", "7", "8"]);
}

#[test]
fn warnings_are_told_before_the_picture() {
    let mut data = made_up::run(&Shape::usual());
    let compilers = ["gcc 7.5", "gcc 12.2.0", "gcc 7.5.0"];
    for (system, compiler) in data.info.plan.systems.iter_mut().zip(compilers) {
        system.build.facts.compiler = Some(compiler.to_owned());
    }
    let comparisons = made_up::comparisons(&data);
    let told = |data: &RunData| {
        let input = Input { differing: Some(crate::differing()), ..input(data, &comparisons) };
        let report = Report::new(&input);
        (report.html(), report.findings())
    };
    let (page, found) = told(&data);
    let place = |text: &str| page.find(text).expect(text);
    assert!(
        place("<a href=\"#warnings\">Warnings</a>: durability of a commit differs · ")
            < place("id=\"overview\"")
    );
    assert!(place("The builds differ in compiler") < place("id=\"overview\""));
    let of_builds = found.iter().find(|one| one.title == "The builds differ in compiler").unwrap();
    assert_eq!(
        of_builds.text,
        "compiler: gcc 12.2 (sqlite/rollback); gcc 7.5 (sqlite/wal, control). Part of a difference may come from that."
    );
    // What the server says is more than what the catalog says.
    for trial in &mut data.trials {
        trial.provenance.0.push(("compiler".into(), "gcc 8".to_owned()));
        let allocator = if trial.system == "control" { "jemalloc (/a)" } else { "C library (/b)" };
        trial.provenance.0.push(("allocator".into(), allocator.to_owned()));
    }
    let (_, found) = told(&data);
    let titles: Vec<&str> = found.iter().map(|one| one.title.as_str()).collect();
    assert!(titles.contains(&"The builds differ in allocator"), "{titles:?}");
}
