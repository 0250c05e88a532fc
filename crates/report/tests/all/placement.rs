//! On which CPUs the systems of a run were measured, wherever that is told.

use explain::Durability;
use model::{BuildSource, Dbms, Placement, RunData};
use report::tables::placement_lines;
use report::{Differing, Report};
use testkit::made_up::{self, Shape};

use crate::{finding, input};

/// Three systems with servers of ours, each with these CPUs of server and client.
fn placed(each: [(&str, &str); 3]) -> RunData {
    let mut data = made_up::run(&Shape::usual());
    for (system, (server, client)) in data.info.plan.systems.iter_mut().zip(each) {
        system.build.dbms = Dbms::Mysql;
        system.build.source = BuildSource::Path("/opt/server".to_owned());
        system.cpus = Placement { server: server.to_owned(), client: client.to_owned() };
    }
    data
}

fn found(data: &RunData) -> Option<String> {
    finding(data, "placements")
}

#[test]
fn a_placement_that_all_share_is_told_once() {
    let data = placed([("1", "1"); 3]);
    assert_eq!(found(&data), None);
    let page = Report::new(&input(&data, &[])).html();
    assert!(page.contains("Placement of every system: together on CPU 1."));
    assert!(!page.contains("Placement of each system"));
    assert!(Report::new(&input(&data, &[])).markdown().contains(" Placement: together on CPU 1. "));
    let lines = placement_lines(&data.info.plan.systems);
    assert_eq!(lines, ["placement: together on CPU 1"]);
}

#[test]
fn different_placements_are_a_finding_and_a_table() {
    let data = placed([("0", "1"), ("1", "1"), ("0", "1")]);
    let text = found(&data).unwrap();
    assert!(
        text.contains("sqlite/wal: apart: server 0, client 1; sqlite/rollback: together on CPU 1")
    );
    let page = Report::new(&input(&data, &[])).html();
    assert!(page.contains("Placement of each system"));
    let lines = placement_lines(&data.info.plan.systems);
    assert_eq!(lines.len(), 3);
    assert_eq!(lines[1], "placement of sqlite/rollback: together on CPU 1");
}

#[test]
fn what_the_kernel_chooses_is_told_in_reports() {
    let data = placed([("", ""); 3]);
    assert_eq!(found(&data), None);
    assert!(Report::new(&input(&data, &[])).html().contains("Placement: free."));
    assert!(placement_lines(&data.info.plan.systems).is_empty());
}

#[test]
fn commits_that_no_system_keeps_are_told_where_steps_write() {
    let data = made_up::run(&Shape::usual());
    let told = |durability| {
        let mut input = input(&data, &[]);
        input.differing = Some(Differing { durability, ..Differing::default() });
        let mut findings = Report::new(&input).findings().into_iter();
        findings.find(|finding| finding.title.contains("durable")).map(|one| one.text)
    };
    let text = told(Some(Durability::Server)).unwrap();
    assert!(
        text.starts_with("In every system, a commit survives a crash of the server, not of"),
        "{text}"
    );
    assert_eq!(told(Some(Durability::Machine)), None);
    assert_eq!(told(None), None);
}

#[test]
fn one_system_without_a_server_is_no_other_placement() {
    let mut data = placed([("1", "1"), ("", "1"), ("1", "1")]);
    let build = &mut data.info.plan.systems[1].build;
    (build.dbms, build.source) = (Dbms::Sqlite, BuildSource::Embedded);
    assert_eq!(found(&data), None);
    assert!(Report::new(&input(&data, &[])).html().contains("Placement of each system"));
}
