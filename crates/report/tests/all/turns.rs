//! What turns change for some servers.

use model::{BuildSource, Dbms, Interleave, Nanos, RunData, Setting};
use report::Report;
use testkit::made_up::{self, Shape};

use crate::{finding, input};

/// A run by turns of servers of these versions; the last one has this setting.
fn by_turns(versions: [&str; 3], setting: &str) -> RunData {
    let mut data = made_up::run(&Shape::usual());
    let plan = &mut data.info.plan;
    plan.course.interleave = Interleave::Turns(Nanos::from_millis(500));
    for (system, version) in plan.systems.iter_mut().zip(versions) {
        system.build.dbms = Dbms::Mysql;
        system.build.version = version.parse().unwrap();
        system.config.settings.clear();
    }
    let setting = Setting { name: setting.to_owned(), value: Some("1000000".to_owned()) };
    plan.systems.last_mut().unwrap().config.settings.push(setting);
    data
}

fn found(data: &RunData) -> Option<String> {
    finding(data, "Turns")
}

#[test]
fn servers_that_measure_themselves_in_real_time_are_a_finding() {
    let mut data = by_turns(["5.7.22", "8.0.31", "8.0.31"], "innodb-log-spin-cpu-abs-lwm");
    let text = found(&data).unwrap();
    // Not the older version, nor the one that has the setting.
    assert!(text.starts_with("sqlite/rollback may commit"), "{text}");
    // `l.i1` loads in small commits.
    data.info.plan.steps.retain(|step| step.id.0 == "l.i1");
    assert!(found(&data).is_some());
    data.info.plan.course.interleave = Interleave::Trials;
    assert_eq!(found(&data), None);
}

#[test]
fn beside_a_server_that_is_not_ours_steps_that_write_take_no_turns() {
    let mut data = by_turns(["8.0.31"; 3], "max_connections");
    data.info.plan.systems[1].build.source = BuildSource::Connect("db1".to_owned());
    assert_eq!(found(&data), None);
    let page = Report::new(&input(&data, &[])).html();
    assert!(page.contains("which backslide must not freeze, only steps"));
}

#[test]
fn from_8_4_on_no_threads_write_the_redo_log() {
    assert_eq!(found(&by_turns(["8.0.10", "8.4.0", "9.7.4"], "max_connections")), None);
}

#[test]
fn steps_that_only_read_are_not_concerned() {
    let mut data = by_turns(["8.0.31"; 3], "max_connections");
    assert!(found(&data).is_some());
    for step in &mut data.info.plan.steps {
        step.class = model::StepClass::Reading;
    }
    assert_eq!(found(&data), None);
}
