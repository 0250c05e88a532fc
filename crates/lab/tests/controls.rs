//! What is said of a control is counted when its run has ended, once, and summed up over the lab.

mod common;

use common::{Bench, expand};
use lab::Ended;
use model::{FalseAlarms, Plan};
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
    let expected = FalseAlarms {
        runs: 1,
        cells: said.cells.into(),
        changed: (said.regressed + said.improved).into(),
    };
    assert_eq!(bench.lab.store.false_alarms().unwrap(), expected);
    // The earlier run was looked at, too: nothing could be judged there.
    let uncounted = bench.lab.store.uncounted_controls().unwrap();
    assert!(uncounted.is_empty(), "{uncounted:?}");
}
