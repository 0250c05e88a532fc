//! Verdicts on a control are counted once, when its run has ended, and summed up over the lab.

mod common;

use common::{Bench, expand};
use lab::Ended;
use load::Stop;
use model::{BuildSource, Event, FalseAlarms, Plan};
use testkit::FakeProvider;

/// A plan of two systems that loads a few rows, with these keys; milliseconds a trial.
fn plan(keys: &str) -> Plan {
    expand(&format!(
        "name = \"tiny\"\nseed = 7\nrounds = 4\nquarantine = false\n{keys}\n\
         workload = {{ kind = \"insert\", scale = \"tiny\", rows = 2_000, steps = [\"l.i0\"], \
         statement_timeout = 1 }}\n\
         [[system]]\nbuild = \"sqlite\"\nlabel = \"good\"\n\
         [[system]]\nbuild = \"sqlite\"\nlabel = \"bad\"\n"
    ))
}

#[test]
fn what_is_said_of_a_control_is_counted_when_its_run_ends() {
    let mut bench = Bench::new();
    // As a run of an earlier version: finished, and nothing is kept of its control.
    let earlier = bench.begin(&plan("control = true"));
    bench.lab.store.finish_run(&earlier).unwrap();
    let run = bench.begin(&plan("control = true"));
    let without = bench.begin(&plan(""));
    let provider = FakeProvider::default();
    for run in [&without, &run] {
        let none = bench.lab.store.false_alarms().unwrap();
        assert_eq!(none, FalseAlarms::default());
        let ended = bench.carry_out(run, &provider).unwrap();
        assert_eq!(ended, Ended::Finished { failed: 0 });
    }
    let data = bench.load(&run);
    let compared = stats::compare(&data, &lab::judging(&data)).unwrap();
    let said = stats::rates_of_control(&compared, "control");
    assert!(said.cells > 0);
    let expected =
        FalseAlarms { runs: 1, cells: said.cells.into(), changed: said.changed().into() };
    assert_eq!(bench.lab.store.false_alarms().unwrap(), expected);
    // The earlier run was looked at, too: nothing could be judged there.
    let uncounted = bench.lab.store.uncounted_runs().unwrap();
    assert!(uncounted.is_empty(), "{uncounted:?}");
}

#[test]
fn a_run_ends_well_whatever_earlier_runs_are() {
    let mut bench = Bench::new();
    // Finished, and nothing is kept: of one no control can be compared, one has none.
    let mut spoiled = plan("control = true");
    spoiled.base = "gone".into();
    let spoiled = bench.begin(&spoiled);
    let without = bench.begin(&plan(""));
    for run in [&spoiled, &without] {
        bench.lab.store.finish_run(run).unwrap();
    }
    let provider = FakeProvider::default();
    let mut warned = || {
        let run = bench.begin(&plan(""));
        let mut warnings = Vec::new();
        let mut listen = |event: &Event| {
            if let Event::Warning { text } = event {
                warnings.push(text.clone());
            }
        };
        let ended = bench.listen(&run, &provider, &Stop::default(), &mut listen);
        assert_eq!(ended.unwrap(), Ended::Finished { failed: 0 });
        assert!(bench.lab.store.uncounted_runs().unwrap().is_empty());
        warnings.retain(|text| text.contains("cannot count"));
        warnings
    };
    let first = warned();
    let said = format!("cannot count the verdicts on the control of run {spoiled}: ");
    assert!(matches!(first.as_slice(), [text] if text.starts_with(&said)), "{first:?}");
    assert_eq!(warned(), Vec::<String>::new(), "it is reported once");
}

#[test]
fn an_imported_run_is_no_false_alarm_of_this_lab() {
    let mut bench = Bench::new();
    let mut imported = plan("control = true");
    for system in &mut imported.systems {
        system.build.source = BuildSource::Imported("other.csv".into());
    }
    let run = bench.begin(&imported);
    let ended = bench.carry_out(&run, &FakeProvider::default()).unwrap();
    assert_eq!(ended, Ended::Finished { failed: 0 });
    let data = bench.load(&run);
    let compared = stats::compare(&data, &lab::judging(&data)).unwrap();
    let said = stats::rates_of_control(&compared, "control");
    assert!(said.cells > 0, "there is something that could be counted");
    let none = bench.lab.store.false_alarms().unwrap();
    assert_eq!(none, FalseAlarms::default());
    assert!(bench.lab.store.uncounted_runs().unwrap().is_empty());
}
