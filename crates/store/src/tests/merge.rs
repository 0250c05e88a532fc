//! Labs merged by run, round and trial.

use std::path::PathBuf;

use model::{Host, Plan, RoundsPart, RunState};

use super::*;
use crate::{Merged, Want, merge};

const VERSION: &str = "0.1.0";

fn host(name: &str) -> Host {
    Host { name: name.to_owned(), ..fixtures::host() }
}

/// A lab on a host that measured rounds of a part of a campaign.
fn part(number: u32, of: u32, rounds: &[u32], name: &str, plan: &Plan, version: &str) -> Lab {
    let mut lab = Lab::new();
    let mut plan = plan.clone();
    plan.course.part = Some(RoundsPart { number, of });
    let run = lab.store.create_run(&plan, &host(name), version, STARTED).unwrap();
    lab.store.name_campaign(&run, "night").unwrap();
    for round in rounds {
        for system in ["a", "b"] {
            lab.whole_trial(&run, *round, system, &["l.i0"]);
        }
    }
    let is_whole = (1..=plan.rounds).filter(|r| plan.owns(*r)).all(|r| rounds.contains(&r));
    if is_whole {
        lab.store.finish_run(&run).unwrap();
    }
    lab
}

fn usual() -> Plan {
    fixtures::plan(&["a", "b"], 4)
}

fn halves() -> [Lab; 2] {
    [("n1", 1, [1, 2]), ("n2", 2, [3, 4])]
        .map(|(name, number, rounds)| part(number, 2, &rounds, name, &usual(), VERSION))
}

fn file(lab: &Lab) -> PathBuf {
    lab.store.path().to_owned()
}

fn merged(target: &Lab, labs: &[&Lab]) -> Result<Vec<Merged>, String> {
    let files: Vec<PathBuf> = labs.iter().map(|lab| file(lab)).collect();
    merge(&target.directory.path().join("all.sqlite"), &files).map_err(|error| {
        let mut text = error.to_string();
        for (lab, name) in labs.iter().zip(["A", "B", "C"]) {
            text = text.replace(&lab.directory.path().display().to_string(), name);
        }
        text.replace(&target.directory.path().display().to_string(), "TARGET")
    })
}

fn all_of(target: &Lab) -> Store {
    Store::open(&target.directory.path().join("all.sqlite")).unwrap()
}

#[test]
fn parts_of_a_campaign_become_one_run_with_a_host_for_each_round() {
    let [one, two] = halves();
    let target = Lab::new();
    let found = merged(&target, &[&one, &two]).unwrap();
    let told: Vec<(&str, u32, RunState)> =
        found.iter().map(|m| (m.run.0.as_str(), m.added, m.state)).collect();
    assert_eq!(told, [("r1", 4, RunState::Unfinished), ("r1", 4, RunState::Finished)]);
    let run = RunId("r1".into());
    let all = all_of(&target);
    let mut dangling = all.connection.prepare("PRAGMA foreign_key_check").unwrap();
    assert!(!dangling.exists([]).unwrap());
    let data = all.load(&run, Want { series: true, histograms: true }).unwrap();
    assert_eq!((data.trials.len(), data.cells.len(), data.series.len()), (8, 8, 8));
    assert_eq!(data.histograms.len(), 24);
    assert_eq!(data.info.plan, usual());
    let hosts: Vec<(&str, &[u32])> =
        data.info.hosts.iter().map(|h| (h.host.name.as_str(), h.rounds.as_slice())).collect();
    assert_eq!(hosts, [("n1", &[1, 2][..]), ("n2", &[3, 4])]);
    assert_eq!(data.info.host_of(3).name, "n2");
    // Each value is where it was: the rate of a round is its number.
    assert!(data.cells.iter().all(|cell| (cell.value - f64::from(cell.round)).abs() < 1e-9));
    let alone = one.store.load(&run, Want { series: true, histograms: true }).unwrap();
    assert_eq!(data.cells[..4], alone.cells);
    assert_eq!(data.series[..4], alone.series);
}

#[test]
fn merging_again_and_merging_what_was_merged_change_nothing() {
    let [one, two] = halves();
    let target = Lab::new();
    merged(&target, &[&one, &two]).unwrap();
    let run = RunId("r1".into());
    let want = Want { series: true, histograms: true };
    let before = all_of(&target).load(&run, want).unwrap();
    let again = merged(&target, &[&two, &one, &one]).unwrap();
    assert!(again.iter().all(|m| m.added == 0 && m.state == RunState::Finished));
    assert_eq!(all_of(&target).load(&run, want).unwrap(), before);
    // In two steps, through a lab in the middle.
    let (middle, last) = (Lab::new(), Lab::new());
    merged(&middle, &[&one]).unwrap();
    let between = middle.directory.path().join("all.sqlite");
    let into = last.directory.path().join("all.sqlite");
    merge(&into, &[between, file(&two)]).unwrap();
    assert_eq!(all_of(&last).load(&run, want).unwrap(), before);
}

#[test]
fn runs_without_parts_are_added_and_keep_their_verdicts_on_controls() {
    let (mut one, mut two) = (Lab::new(), Lab::new());
    for lab in [&mut one, &mut two] {
        let run = lab.run(&["a", "b"], 1);
        lab.whole_trial(&run, 1, "a", &["l.i0"]);
        lab.store.finish_run(&run).unwrap();
        lab.store.keep_control(&run, 10, 1).unwrap();
    }
    let target = Lab::new();
    let ids = |found: Vec<Merged>| found.into_iter().map(|m| m.run.0).collect::<Vec<_>>();
    assert_eq!(ids(merged(&target, &[&one, &two]).unwrap()), ["r1", "r2"]);
    assert_eq!(ids(merged(&target, &[&two, &one]).unwrap()), ["r2", "r1"]);
    let all = all_of(&target);
    assert_eq!(all.runs().unwrap().len(), 2);
    assert!(all.runs().unwrap().iter().all(|run| run.info.hosts.is_empty()));
    assert_eq!(all.controls().unwrap().len(), 2);
}

#[test]
fn half_a_round_of_a_part_is_left_out() {
    let mut cut = part(1, 2, &[1], "n1", &usual(), VERSION);
    let run = RunId("r1".into());
    cut.whole_trial(&run, 2, "a", &["l.i0"]);
    let target = Lab::new();
    assert_eq!(merged(&target, &[&cut]).unwrap()[0].added, 2);
    // The same part again, whole and on another host.
    let whole = part(1, 2, &[1, 2], "n2", &usual(), VERSION);
    insta::assert_snapshot!(
        merged(&target, &[&cut, &whole]).unwrap_err(),
        @"r1 of B/lab.sqlite cannot join r1 of TARGET/all.sqlite: where and when round 1 was measured differs: `n2 at 2026-01-02T03:04:05Z` and `n1 at 2026-01-02T03:04:05Z`; merge only one of them"
    );
    let rest = part(1, 2, &[2], "n2", &usual(), VERSION);
    assert_eq!(merged(&target, &[&rest]).unwrap()[0].added, 2);
}

#[test]
fn what_does_not_belong_together_is_refused_and_the_target_stays_as_it_was() {
    let one = part(1, 2, &[1, 2], "n1", &usual(), VERSION);
    let run = RunId("r1".into());
    let refused = |change: fn(&mut Plan), version| {
        let target = Lab::new();
        merged(&target, &[&one]).unwrap();
        let before = all_of(&target).load(&run, Want::default()).unwrap();
        let mut plan = usual();
        change(&mut plan);
        let other = part(2, 2, &[3, 4], "n2", &plan, version);
        let told = merged(&target, &[&one, &other]).unwrap_err();
        assert_eq!(all_of(&target).load(&run, Want::default()).unwrap(), before);
        assert!(!target.directory.path().join("all.sqlite.merging").exists());
        told
    };
    let told = [
        refused(|plan| plan.seed = 7, VERSION),
        refused(|_| {}, "0.2.0"),
        refused(|plan| plan.systems[1].build.version_line = "another".into(), VERSION),
    ];
    insta::assert_snapshot!(told.join("\n"), @r"
    r1 of B/lab.sqlite cannot join r1 of TARGET/all.sqlite: `seed` of the plan differs: `7` and `18446744073709551615`; measure both with the same plan, builds and backslide, or name another campaign
    r1 of B/lab.sqlite cannot join r1 of TARGET/all.sqlite: the version of backslide differs: `0.2.0` and `0.1.0`; measure both with the same plan, builds and backslide, or name another campaign
    r1 of B/lab.sqlite cannot join r1 of TARGET/all.sqlite: `systems[1].build.version_line` of the plan differs: `another` and `3.50.4`; measure both with the same plan, builds and backslide, or name another campaign
    ");
    let target = Lab::new();
    let itself = target.directory.path().join("lab.sqlite");
    let nowhere = target.directory.path().join("nowhere");
    let told = [vec![file(&one), itself.clone()], vec![nowhere], vec![file(&one)]]
        .map(|labs| target.told(&merge(&itself, &labs).unwrap_err()));
    // The last one: this test has the target open.
    insta::assert_snapshot!(told.join("\n"), @r"
    LAB/lab.sqlite is the lab to merge into; name only other labs before `-o`
    LAB/nowhere is not a lab: it has no lab.sqlite
    LAB/lab.sqlite is in use by another process; end it, then merge again
    ");
}

#[test]
fn a_lab_has_one_part_of_a_campaign() {
    let mut lab = part(1, 2, &[1], "n1", &usual(), VERSION);
    let second = lab.run(&["a", "b"], 4);
    insta::assert_snapshot!(
        lab.store.name_campaign(&second, "night").unwrap_err().to_string(),
        @"this lab has a part of campaign `night` already, r1: resume that, use another lab (--lab), or name another campaign (--campaign)"
    );
}

/// The largest id of a trial.
fn largest_id(store: &Store) -> i64 {
    store.connection.query_row("SELECT max(id) FROM trial", [], |row| row.get(0)).unwrap()
}

#[test]
fn the_own_part_of_a_target_stays_one_until_another_joins() {
    let [one, two] = halves();
    let other = Lab::new();
    let third = part(1, 1, &[1, 2, 3, 4], "n3", &usual(), VERSION);
    third.store.connection.execute("UPDATE run SET identity = 'campaign other'", []).unwrap();
    let copied = other.directory.path().join("all.sqlite").display().to_string();
    one.store.connection.execute("VACUUM INTO ?1", [copied]).unwrap();
    let run = RunId("r1".into());
    merged(&other, &[&third]).unwrap();
    let info = all_of(&other).run_info(&run).unwrap();
    assert_eq!(info.plan.course.part, Some(RoundsPart { number: 1, of: 2 }));
    assert_eq!((info.state, info.hosts.len()), (RunState::Finished, 0));
    let before = largest_id(&all_of(&other));
    // Merging over and over takes no more ids.
    for _ in 0..3 {
        merged(&other, &[&third]).unwrap();
    }
    assert_eq!(largest_id(&all_of(&other)), before);
    merged(&other, &[&two]).unwrap();
    let info = all_of(&other).run_info(&run).unwrap();
    let hosts: Vec<(&str, &[u32])> =
        info.hosts.iter().map(|h| (h.host.name.as_str(), h.rounds.as_slice())).collect();
    assert_eq!(hosts, [("n1", &[1, 2][..]), ("n2", &[3, 4])]);
    assert_eq!((info.plan.course.part, info.state), (None, RunState::Finished));
}

#[test]
fn a_trial_that_was_interrupted_in_the_target_may_come_from_a_part() {
    let [one, two] = halves();
    let target = Lab::new();
    merged(&target, &[&one]).unwrap();
    let run = RunId("r1".into());
    let mut all = Lab { store: all_of(&target), directory: Lab::new().directory };
    let trial = all.trial(&run, 3, "a");
    all.step(trial, "l.i0", 0);
    drop(all);
    let found = merged(&target, &[&two]).unwrap();
    assert_eq!((found[0].added, found[0].state), (4, RunState::Finished));
    let all = all_of(&target);
    assert_eq!(all.journal(&run).unwrap().len(), 8);
    let mut dangling = all.connection.prepare("PRAGMA foreign_key_check").unwrap();
    assert!(!dangling.exists([]).unwrap());
}

#[test]
fn a_missing_part_that_was_resumed_stays_finished() {
    let [one, two] = halves();
    let target = Lab::new();
    merged(&target, &[&one]).unwrap();
    let run = RunId("r1".into());
    let mut all = Lab { store: all_of(&target), directory: Lab::new().directory };
    for round in [3, 4] {
        all.store.keep_round_host(&run, round, &host("n9")).unwrap();
        for system in ["a", "b"] {
            all.whole_trial(&run, round, system, &["l.i0"]);
        }
    }
    all.store.finish_run(&run).unwrap();
    drop(all);
    let other = part(1, 1, &[1, 2, 3, 4], "n3", &usual(), VERSION);
    other.store.connection.execute("UPDATE run SET identity = 'campaign other'", []).unwrap();
    merged(&target, &[&other]).unwrap();
    assert_eq!(all_of(&target).run_info(&run).unwrap().state, RunState::Finished);
    // As a source, too.
    let outer = Lab::new();
    let inner = Lab { store: all_of(&target), directory: target.directory };
    merged(&outer, &[&inner]).unwrap();
    assert_eq!(all_of(&outer).run_info(&run).unwrap().state, RunState::Finished);
    assert!(merged(&outer, &[&two]).unwrap_err().contains("where and when round 3 was measured"));
}
