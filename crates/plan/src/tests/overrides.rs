//! What a command line says in place of a plan's keys.

use insta::assert_snapshot;
use model::{Plan, SqlWork, WorkloadSpec};

use super::{CATALOG, HOST, find};
use crate::{Overrides, PlanError, read_with};

fn expanded(text: &str, with: &Overrides<'_>) -> Result<Plan, PlanError> {
    crate::expand(&read_with(text, "p.toml", with)?, &CATALOG, &find, HOST)
}

fn plan(workload: &str) -> String {
    format!(
        "name = \"p\"\nrounds = {{ min = 4, max = 12 }}\nworkload = {{ {workload} }}\n\
         [[system]]\nbuild = \"mariadb\"\nset = {{ sync_binlog = \"1\", skip-log-bin = true }}\n\
         [[system]]\nbuild = \"postgres\"\n"
    )
}

#[test]
fn rounds_seconds_and_settings_replace_those_of_the_plan() {
    let with = Overrides {
        rounds: Some(2),
        seconds: Some(7),
        set: vec![("sync_binlog", Some("0")), ("skip-name-resolve", None)],
        ..Overrides::default()
    };
    let text = plan("kind = \"insert\", scale = \"tiny\"")
        .replace("[[system]]\nbuild = \"postgres\"\n", "");
    let plan = expanded(&text, &with).unwrap();
    assert_eq!((plan.rounds, plan.course.first_look), (2, None));
    let WorkloadSpec::Insert(spec) = &plan.workload else { panic!("the Insert Benchmark") };
    assert_eq!(spec.query_seconds, 7);
    let shown: Vec<String> =
        plan.systems[0].config.settings.iter().map(ToString::to_string).collect();
    assert_snapshot!(shown.join(" "), @"sync_binlog = 0 skip-log-bin skip-name-resolve");
    assert_snapshot!(plan.source.lines().next().unwrap(), @"# run with --rounds 2 --seconds 7 --set sync_binlog=0 --set skip-name-resolve");
    assert!(plan.source.ends_with(&text));
}

#[test]
fn seconds_are_those_of_the_kind_of_workload() {
    let with = Overrides { seconds: Some(9), ..Overrides::default() };
    let one = |workload: &str| {
        let text =
            plan(workload).replace("set = { sync_binlog = \"1\", skip-log-bin = true }\n", "");
        expanded(&text, &with).unwrap()
    };
    let micro = one("kind = \"micro\", rows = 20_000");
    let runs = micro.workload.sql().unwrap().steps.iter().filter_map(|step| match &step.work {
        SqlWork::Run(run) if run.measured => Some(run.seconds),
        _ => None,
    });
    let seconds: Vec<u32> = runs.collect();
    assert!(seconds.len() > 30 && seconds.iter().all(|it| *it == 9), "{seconds:?}");
    assert_eq!(one("kind = \"tpcc\", warehouses = 1").workload.tpcc().unwrap().seconds, 9);
}

#[test]
fn without_any_the_plan_is_as_it_is_and_errors_name_the_argument() {
    let text = plan("scale = \"tiny\"");
    let plain = read_with(&text, "p", &Overrides::default()).unwrap();
    assert_eq!(plain, crate::read(&text, "p").unwrap());
    let error = |with: Overrides<'_>| expanded(&text, &with).unwrap_err().to_string();
    assert_snapshot!(error(Overrides { rounds: Some(0), ..Overrides::default() }), @"`--rounds` must be a whole number from 1 to 1_000, or { min = 3, max = 12 }, not 0");
    assert_snapshot!(error(Overrides { seconds: Some(0), ..Overrides::default() }), @"`--seconds` must be a whole number from 1 to 604_800, not 0");
}
