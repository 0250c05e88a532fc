//! Rounds in slices, on the embedded SQLite: what alternates and what does not, what is kept of it, and what
//! happens when a system fails or the user stops.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::collections::BTreeSet;

use common::{Bench, compare, expand, told};
use lab::{Ended, Providers};
use load::Stop;
use model::{Event, Outcome, Plan, RunData, RunId, SliceValue};
use testkit::{Fault, SpoiledProvider, Trouble};

/// Slices of a second that is read.
const SLICES: usize = 5;
/// The test that only reads.
const READ: &str = "point-query";
/// The test that writes.
const WRITE: &str = "update-index";

/// A plan of microbenchmarks in slices, on the systems `good` and `bad` with these keys.
fn plan(rounds: u32, tests: &[&str], keys: &str) -> Plan {
    expand(&format!(
        r#"
        name = "sliced"
        workload = {{ kind = "micro", tables = 2, rows = 1_000, read_seconds = 1, write_seconds = 1, warmup_seconds = 0, settle = 0, statement_timeout = 5, warm_ups = false, tests = {tests:?} }}
        rounds = {rounds}
        interleave = "slices"
        slice_ms = 200
        quarantine = false
        seed = 7
        base = "good"
        {keys}
        [[system]]
        build = "sqlite"
        config = "wal"
        label = "good"
        [[system]]
        build = "sqlite"
        config = "wal"
        label = "bad"
        "#
    ))
}

/// With a control beside them.
const CONTROL: &str = "control = true";

fn outcome<'a>(data: &'a RunData, system: &str) -> &'a Outcome {
    let trial = data.trials.iter().find(|trial| trial.system == system);
    &trial.unwrap().outcome
}

fn assert_all_completed(data: &RunData) {
    for trial in &data.trials {
        assert!(trial.outcome.is_completed(), "{}", told(&trial.outcome));
    }
}

/// The slices of a metric in one trial.
fn slices<'a>(data: &'a RunData, round: u32, system: &str, metric: &str) -> Vec<&'a SliceValue> {
    let all = data.slices.iter();
    all.filter(|s| s.round == round && s.system == system && s.metric.0 == metric).collect()
}

/// The systems of the slices that were stored, in the order of time.
fn carry_out(bench: &mut Bench, run: &RunId) -> Vec<String> {
    let (mut turn, mut in_slices, mut order) = (String::new(), false, Vec::new());
    let provider = Providers::default();
    let ended = bench.listen(run, &provider, &Stop::default(), &mut |event| match event {
        Event::TrialStarted { trial, .. } | Event::Turn { trial } => {
            trial.system.clone_into(&mut turn);
        }
        Event::StepStarted { step } => in_slices = step.id.0 == READ,
        Event::IntervalClosed { .. } if in_slices => order.push(turn.clone()),
        _ => {}
    });
    assert_all_completed(&bench.load(run));
    assert_eq!(ended.unwrap(), Ended::Finished { failed: 0 });
    order
}

#[test]
fn slices_alternate_and_are_compared_pair_by_pair() {
    let mut bench = Bench::new();
    let run = bench.begin(&plan(2, &[READ], ""));
    let order = carry_out(&mut bench, &run);
    assert_eq!(order.len(), 2 * 2 * SLICES);
    let data = bench.load(&run);
    for round in 1..=2 {
        for system in ["good", "bad"] {
            let rates = slices(&data, round, system, "rate");
            let pairs = rates.iter().map(|slice| slice.pair as usize);
            assert!(pairs.eq(0..SLICES), "{rates:?}");
            assert!(rates.iter().all(|slice| slice.step.0 == READ));
            // The cell is of all slices together.
            let is_cell = |cell: &&model::Cell| {
                (cell.round, cell.system.as_str(), cell.step.0.as_str()) == (round, system, READ)
                    && cell.metric.0 == "rate"
            };
            let cell = data.cells.iter().find(is_cell).unwrap().value;
            let mean = rates.iter().map(|slice| slice.value).sum::<f64>() / SLICES as f64;
            assert!((cell / mean - 1.0).abs() < 1e-9, "{cell} {mean}");
            assert_one_window(&bench, &data, &run, round, system);
        }
    }
    let note = |note: &&model::StepNote| note.what.word() == "turns";
    let notes: Vec<_> = data.notes.iter().filter(note).collect();
    assert_eq!(notes.len(), 4);
    assert!(notes.iter().all(|note| note.text.starts_with("5 of 200ms, ")), "{notes:?}");
    for comparison in compare(&data) {
        let evidence = comparison.evidence.unwrap();
        assert_eq!(
            evidence.slice_pairs.is_some(),
            comparison.step.0 == READ,
            "{}",
            comparison.step
        );
    }
    assert!(bench.instances().is_empty());
}

#[test]
fn pairs_of_systems_are_compared_with_the_base_of_their_own_rounds() {
    let mut bench = Bench::new();
    let third =
        "at_once = \"pairs\"\n[[system]]\nbuild = \"sqlite\"\nconfig = \"wal\"\nlabel = \"third\"";
    let run = bench.begin(&plan(3, &[READ], third));
    let order = carry_out(&mut bench, &run);
    assert_eq!(order.len(), 3 * 2 * 2 * SLICES);
    let data = bench.load(&run);
    assert_eq!(data.trials.len(), 12);
    let rounds_of = |system: &str| -> Vec<u32> {
        let trials = data.trials.iter().filter(|trial| trial.system == system);
        trials.map(|trial| trial.round).collect()
    };
    assert_eq!(rounds_of("good"), [1, 2, 3, 4, 5, 6]);
    let (bad, third) = (rounds_of("bad"), rounds_of("third"));
    assert!(bad == [2, 4, 6] && third == [1, 3, 5], "{bad:?} {third:?}");
    let compared = compare(&data);
    let read: Vec<_> = compared.iter().filter(|c| c.step.0 == READ).collect();
    assert_eq!(read.len(), 2);
    for comparison in read {
        assert_eq!(comparison.rounds, 3, "{}", comparison.system);
    }
}

/// The store has the slices of a trial as one window, with the operations and the time of this trial.
fn assert_one_window(bench: &Bench, data: &RunData, run: &RunId, round: u32, system: &str) {
    let is_it = |s: &&model::StepSeries| {
        (s.round, s.system.as_str(), s.step.0.as_str()) == (round, system, READ)
    };
    let series = data.series.iter().find(is_it).unwrap();
    let millis = |seconds: f64| (1e3 * seconds).round() as u64;
    let spans = series.spans.iter();
    let spans: Vec<(u64, u64)> = spans.map(|(at, long)| (millis(*at), millis(*long))).collect();
    let expected = (0..SLICES as u64).map(|slice| (200 * slice, 200));
    assert_eq!(spans, expected.collect::<Vec<_>>());
    let record = bench.record(run, round, system, READ);
    assert_eq!(record.window, model::Nanos::SECOND);
    assert_eq!(record.kinds[0].sums.ops, series.kinds[0].ops.iter().sum::<u64>());
    assert!(record.elapsed > record.window);
}

#[test]
fn every_lap_has_every_system_and_writes_are_not_cut() {
    let mut bench = Bench::new();
    let run = bench.begin(&plan(1, &[READ, WRITE], CONTROL));
    let order = carry_out(&mut bench, &run);
    let laps: Vec<&[String]> = order.chunks(3).collect();
    assert_eq!(laps.len(), SLICES);
    for lap in &laps {
        let systems: BTreeSet<&str> = lap.iter().map(String::as_str).collect();
        assert_eq!(systems, BTreeSet::from(["bad", "control", "good"]));
    }
    for two in laps.chunks_exact(2) {
        assert!(two[0].iter().eq(two[1].iter().rev()), "{two:?}");
    }
    let data = bench.load(&run);
    let steps: Vec<&str> = data.steps.iter().map(|step| step.id.0.as_str()).collect();
    assert!(steps.contains(&WRITE) && steps.contains(&"load"));
    let sliced: BTreeSet<&str> = data.slices.iter().map(|s| s.step.0.as_str()).collect();
    assert_eq!(sliced, BTreeSet::from([READ]));
    for system in ["good", "bad", "control"] {
        let of_system = |cell: &&model::Cell| cell.system == system && cell.metric.0 == "rate";
        let rates = data.cells.iter().filter(of_system);
        assert_eq!(rates.count(), steps.len(), "{system}");
        assert_eq!(slices(&data, 1, system, "rate").len(), SLICES);
    }
}

#[test]
fn a_system_that_fails_leaves_the_others_to_go_on() {
    let mut bench = Bench::new();
    let run = bench.begin(&plan(1, &[READ, WRITE], CONTROL));
    // In its first slices.
    let fault = Fault::from("SELECT c FROM", 50, Trouble::Dies);
    let provider = SpoiledProvider::default().with("bad", fault);
    let ended = bench.carry_out(&run, &provider).unwrap();
    assert_eq!(ended, Ended::Finished { failed: 1 });
    let data = bench.load(&run);
    let bad = told(outcome(&data, "bad"));
    assert!(bad.starts_with("point-query: "), "{bad}");
    assert!(bad.ends_with("| spoiled: got signal 11"), "{bad}");
    for system in ["good", "control"] {
        let outcome = outcome(&data, system);
        assert!(outcome.is_completed(), "{}", told(outcome));
        assert_eq!(slices(&data, 1, system, "rate").len(), SLICES);
        let wrote = |cell: &&model::Cell| cell.system == system && cell.step.0 == WRITE;
        assert!(data.cells.iter().any(|cell| wrote(&cell)), "{system}");
    }
    assert!(data.slices.iter().all(|slice| slice.system != "bad"));
    assert!(bench.instances().is_empty());
}

#[test]
fn a_round_that_was_stopped_is_done_again_as_a_whole() {
    let mut bench = Bench::new();
    let run = bench.begin(&plan(2, &[READ], ""));
    let stop = Stop::default();
    let asked = stop.clone();
    let (mut begun, mut in_slices, mut slice) = (0, false, 0);
    let provider = Providers::default();
    let ended = bench.listen(&run, &provider, &stop, &mut |event| match event {
        Event::TrialStarted { .. } => begun += 1,
        Event::StepStarted { step } => in_slices = begun == 4 && step.id.0 == READ,
        Event::IntervalClosed { .. } if in_slices => {
            slice += 1;
            if slice == 3 {
                asked.ask();
            }
        }
        _ => {}
    });
    assert_eq!(ended.unwrap(), Ended::Interrupted);
    assert!(bench.instances().is_empty(), "a site was not closed");
    let before = bench.load(&run);
    let rounds: Vec<u32> = before.trials.iter().map(|trial| trial.round).collect();
    assert_eq!(rounds, [1, 1]);

    let mut begun = Vec::new();
    let ended = bench.listen(&run, &provider, &Stop::default(), &mut |event| {
        if let Event::TrialStarted { trial, index, of } = event {
            begun.push((trial.round, trial.position, *index, *of));
        }
    });
    assert_eq!(ended.unwrap(), Ended::Finished { failed: 0 });
    assert_eq!(begun, [(2, 1, 3, 4), (2, 2, 4, 4)]);
    let after = bench.load(&run);
    assert_eq!((&after.trials[..2], after.trials.len()), (&before.trials[..], 4));
    for round in 1..=2 {
        for system in ["good", "bad"] {
            assert_eq!(slices(&after, round, system, "rate").len(), SLICES);
        }
    }
}

#[test]
fn a_system_that_is_alone_has_nothing_to_alternate_with() {
    let mut bench = Bench::new();
    let mut alone = plan(1, &[READ], "");
    alone.systems.truncate(1);
    let run = bench.begin(&alone);
    assert_eq!(carry_out(&mut bench, &run), ["good"]);
    let data = bench.load(&run);
    assert_eq!(data.slices, []);
    assert!(data.cells.iter().any(|cell| cell.step.0 == READ));
}

#[test]
fn trials_in_slices_begin_with_clones_where_there_are_templates() {
    let mut bench = Bench::new();
    let run = bench.begin(&plan(1, &[READ], "template = true"));
    assert_eq!(carry_out(&mut bench, &run).len(), 2 * SLICES);
    let data = bench.load(&run);
    let steps: Vec<&str> = data.steps.iter().map(|step| step.id.0.as_str()).collect();
    assert_eq!(steps, [READ]);
    assert_eq!(slices(&data, 1, "bad", "rate").len(), SLICES);
}
