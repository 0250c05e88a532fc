//! A system can be asked without a run.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use lab::{Lab, Providers, read_variables};
use model::{HostShape, Plan};
use obtain::Depot;
use plan::Catalog;

const PLAN: &str = r#"
name = "ask"
rounds = 1
quarantine = false
workload = { kind = "insert", scale = "tiny" }
[[system]]
build = "sqlite"
config = "rollback"
"#;

fn plan(root: &std::path::Path) -> Plan {
    let builds = lab::Builds::new(Catalog::embedded().unwrap(), Depot::new(root.join("depot")));
    let file = plan::read(PLAN, "ask").unwrap();
    let host = HostShape { cpus: 2, memory: model::Bytes::from_mib(4096) };
    builds.expand(&file, host).unwrap()
}

#[test]
fn it_tells_its_variables_and_is_gone() {
    let root = tempfile::tempdir().unwrap();
    let plan = plan(root.path());
    let lab = Lab::open(root.path()).unwrap();
    let claim = lab.claim_instances().unwrap();
    let told = read_variables(
        &Providers::default(),
        &plan.systems[0],
        plan.statement_timeout(),
        &claim,
        "a",
    )
    .unwrap();
    let variables = told.captures.iter().find(|c| c.name == "variables");
    let journal = vec![Some("journal_mode".to_owned()), Some("delete".to_owned())];
    assert!(variables.unwrap().rows.contains(&journal));
    assert_eq!(told.missing, Vec::<String>::new());
    let mut left = std::fs::read_dir(lab.instances()).unwrap();
    assert!(left.next().is_none());
}
