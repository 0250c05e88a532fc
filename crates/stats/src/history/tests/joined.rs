//! Several runs in one history: in order, joined, counted once, and apart by their days.

use model::{Build, BuildSource, Cell, RunData, RunId};
use testkit::fixtures::{cell, empty_run};

use super::*;

/// A build whose version tells it from others: its version, or a path.
fn run(id: &str, builds: &[&str]) -> RunData {
    let mut data = empty_run(builds);
    data.info.id = RunId(id.into());
    for (system, name) in data.info.plan.systems.iter_mut().zip(builds) {
        match name.parse() {
            Ok(version) => system.build.version = version,
            Err(_) => system.build.source = BuildSource::Path((*name).into()),
        }
    }
    data
}

fn part(data: &RunData) -> Part<'_> {
    let systems = data.info.plan.systems.iter();
    Part { data, systems: systems.map(|system| system.name.as_str()).collect() }
}

/// Three rounds of each system, a step a line: the level of the build and of the day, and chance.
fn measure(
    data: &mut RunData,
    steps: usize,
    day: &[f64],
    seed: u64,
    level: impl Fn(&Build) -> f64,
) {
    let mut rng = Rng::new(seed);
    let mut cells: Vec<Cell> = Vec::new();
    for system in &data.info.plan.systems {
        for round in 1..=3 {
            for (step, day) in (0..steps).zip(day.iter().cycle()) {
                let log = level(&system.build) + day + 0.004 * normal(&mut rng);
                let value = 1000.0 * log.exp();
                cells.push(cell(round, &system.name, &format!("s{step}"), "rate", value));
            }
        }
    }
    data.cells = cells;
}

fn flat(_: &Build) -> f64 {
    0.0
}

fn names(history: &History) -> Vec<&str> {
    let builds = history.builds.iter();
    builds.map(At::system).collect()
}

#[test]
fn builds_are_in_the_order_of_their_versions_and_one_version_is_one_build() {
    let mut later = run("r1", &["3.50.4", "3.51.0", "3.52rc1"]);
    let mut earlier = run("r2", &["3.51.0", "3.9.1", "3.52beta1", "3.50.4"]);
    measure(&mut later, 1, &[0.0], 1, flat);
    measure(&mut earlier, 1, &[0.0], 2, flat);
    let found = history(&[part(&later), part(&earlier)], &HistoryOptions::default()).unwrap();
    let sorted = ["3.9.1", "3.50.4", "3.51.0", "3.52beta1", "3.52rc1"];
    assert_eq!(names(&found), sorted);
    let runs =
        |place: usize| found.builds[place].runs().map(|run| run.0.as_str()).collect::<Vec<_>>();
    assert_eq!(runs(1), ["r1", "r2"]);
    assert_eq!(runs(0), ["r2"]);
    let point = found.lines[0].points[1].as_ref().unwrap();
    assert_eq!(point.rounds.len(), 6);
    assert_eq!(point.rounds[5].run.0, "r2");
    let base = HistoryOptions { base: Some("3.51.0".into()), ..HistoryOptions::default() };
    assert_eq!(history(&[part(&later)], &base).unwrap().base, 1);
    let unknown = HistoryOptions { base: Some("3.8".into()), ..HistoryOptions::default() };
    let message = history(&[part(&later)], &unknown).unwrap_err().to_string();
    assert!(message.contains("`3.8`"), "{message}");
}

#[test]
fn a_build_that_its_version_does_not_tell_keeps_its_place_and_is_not_joined() {
    let mut one = run("r1", &["trunk", "3.51.0", "3.50.4"]);
    let mut other = run("r2", &["trunk", "3.49.0"]);
    measure(&mut one, 1, &[0.0], 1, flat);
    measure(&mut other, 1, &[0.0], 2, flat);
    let found = history(&[part(&one), part(&other)], &HistoryOptions::default()).unwrap();
    assert_eq!(names(&found), ["trunk", "3.49.0", "3.50.4", "trunk", "3.51.0"]);
    // Its files say that an installed build is the same.
    for (data, digest) in [(&mut one, "a"), (&mut other, "a")] {
        let build = &mut data.info.plan.systems[0].build;
        build.name = Some("trunk".into());
        build.source = BuildSource::Installed {
            directory: "/x".into(),
            origin: "a file".into(),
            digest: digest.into(),
        };
    }
    let joined = history(&[part(&one), part(&other)], &HistoryOptions::default()).unwrap();
    assert_eq!(names(&joined), ["trunk", "3.49.0", "3.50.4", "3.51.0"]);
}

#[test]
fn two_systems_of_a_run_are_never_one_build() {
    let mut one = run("r1", &["3.50.4", "b"]);
    one.info.plan.systems[1].build = one.info.plan.systems[0].build.clone();
    measure(&mut one, 1, &[0.0], 1, flat);
    let mut other = one.clone();
    other.info.id = RunId("r2".into());
    other.info.plan.systems.reverse();
    measure(&mut other, 1, &[0.0], 2, flat);
    let found = history(&[part(&one), part(&other)], &HistoryOptions::default()).unwrap();
    assert_eq!(names(&found), ["3.50.4", "b"]);
    assert!(found.builds.iter().all(|at| at.of.len() == 2));
}

#[test]
fn trials_that_are_there_twice_count_once() {
    let mut one = run("r1", &["3.50.4", "3.51.0"]);
    measure(&mut one, 2, &[0.0], 1, flat);
    let mut copy = one.clone();
    copy.info.id = RunId("r2".into());
    let usual = HistoryOptions::default();
    let whole = history(&[part(&one), part(&copy)], &usual).unwrap();
    let alone = history(&[part(&one)], &usual).unwrap();
    assert_eq!((&whole.lines, &whole.builds), (&alone.lines, &alone.builds));
    let told = |history: &History| -> Vec<(String, u32)> {
        let copies = history.copies.iter();
        copies
            .map(|copy| (format!("{} of {}: {}", copy.run, copy.of, copy.system), copy.rounds))
            .collect()
    };
    let both = [("r2 of r1: 3.50.4".to_owned(), 3), ("r2 of r1: 3.51.0".to_owned(), 3)];
    assert_eq!(told(&whole), both);
    // One round was measured, and is counted.
    for cell in copy.cells.iter_mut().filter(|cell| cell.round == 2) {
        cell.value += 1.0;
    }
    let partly = history(&[part(&one), part(&copy)], &usual).unwrap();
    assert_eq!(told(&partly)[0], ("r2 of r1: 3.50.4".to_owned(), 2));
    assert_eq!(partly.lines[0].points[0].as_ref().unwrap().rounds.len(), 4);
}

/// Three runs of equal builds, `shared` of which each has in common with the one before it, on days that differ by 3 %.
fn three_days(seed: u64, shared: usize, level: impl Fn(&Build) -> f64) -> History {
    let mut days = Rng::new(mix(seed, &[99]));
    let runs: Vec<RunData> = (0..3)
        .map(|number| {
            let first = number * (10 - shared);
            let builds: Vec<String> = (first..first + 10).map(|b| format!("3.{b}.0")).collect();
            let builds: Vec<&str> = builds.iter().map(String::as_str).collect();
            let mut data = run(&format!("r{number}"), &builds);
            // Each step has its own day; all are of one sign, as on a machine that is slower as a whole.
            let day = if number % 2 == 1 { -0.03 } else { 0.03 * days.unit() };
            let day: Vec<f64> = (0..6).map(|_| day + 0.003 * normal(&mut days)).collect();
            let seed = mix(seed, &[number as u64]);
            measure(&mut data, 6, &day, seed, &level);
            data
        })
        .collect();
    let parts: Vec<Part<'_>> = runs.iter().map(part).collect();
    history(&parts, &HistoryOptions::default()).unwrap()
}

#[test]
fn days_that_shared_builds_link_make_no_changes() {
    let histories = 100;
    for shared in [1, 3] {
        let mut changes = 0;
        for seed in 0..histories {
            let found = three_days(seed, shared, flat);
            changes += found.lines.iter().map(|line| line.changes.len()).sum::<usize>();
            assert_eq!(found.lines[0].days.len(), 3);
        }
        let lines = 6 * histories;
        println!(
            "3 % between days, {shared} shared: {changes} changes in {lines} lines of {histories} histories"
        );
        assert!(changes as u64 * 50 <= lines, "{shared}: {changes}");
    }
}

#[test]
fn a_change_of_a_version_is_found_where_days_are_linked() {
    // At the border of the first two runs, which share build 9, and in the middle of a run.
    let level = |build: &Build| {
        let minor = build.version.parts()[1];
        if minor >= 14 {
            -0.06
        } else if minor >= 9 {
            -0.03
        } else {
            0.0
        }
    };
    let (mut found, mut all) = (0, 0);
    for seed in 0..20 {
        for line in &three_days(seed, 1, level).lines {
            all += 2;
            let at = |place: usize| {
                line.changes.iter().any(|change| change.at == place && !change.may_be_day)
            };
            found += usize::from(at(9)) + usize::from(at(14));
        }
    }
    println!("steps of 3 % across days that one build links: {found} of {all}");
    assert!(found * 100 >= all * 90, "{found} of {all}");
}

#[test]
fn a_change_between_days_that_nothing_links_may_be_the_days() {
    let (mut at_borders, mut others) = (0, 0);
    for seed in 0..20 {
        for line in &three_days(seed, 0, flat).lines {
            assert!(
                line.days.is_empty()
                    || line.days.iter().all(|(_, factor)| factor.total_cmp(&1.0).is_eq())
            );
            for change in &line.changes {
                let is_border = change.at % 10 == 0;
                assert_eq!(change.may_be_day, is_border, "{change:?}");
                at_borders += usize::from(is_border);
                others += usize::from(!is_border);
            }
            // Nothing tells how far they are apart.
            let point = line.points[10].as_ref().unwrap();
            assert!(point.to_previous.unwrap().ends.is_none());
        }
    }
    println!(
        "days that nothing links: {at_borders} changes at borders, all marked; {others} elsewhere"
    );
    assert!(at_borders > 100 && others < 5);
}
