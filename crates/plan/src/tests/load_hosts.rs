//! Hosts that run the clients.

use insta::assert_snapshot;
use model::Plan;

use super::expand;
use crate::Result;

const THEIRS: &str = "[[system]]\nbuild = \"mariadb\"\nconnect = \"me@db1\"\n";
const MICRO: &str = "micro";

fn plan_of(hosts: &str, kind: &str, top: &str, systems: &str) -> Result<Plan> {
    let keys = match kind {
        "insert" => ", scale = \"tiny\"",
        "tpcc" => ", warehouses = 1",
        _ => "",
    };
    expand(&format!(
        "name = \"p\"\nrounds = 2\nload_hosts = {hosts}\n{top}workload = {{ kind = \"{kind}\"{keys} }}\n{systems}"
    ))
}

fn error(hosts: &str, kind: &str, top: &str, systems: &str) -> String {
    plan_of(hosts, kind, top, systems).unwrap_err().to_string()
}

#[test]
fn every_system_has_them_the_control_too() {
    let hosts = "[\"ssh:client1\", \"ssh:me@client2\"]";
    for kind in [MICRO, "tpcc"] {
        let plan = plan_of(hosts, kind, "control = true\n", THEIRS).unwrap();
        assert_eq!(plan.systems.len(), 2);
        for system in plan.systems {
            assert_eq!(system.load_hosts, ["client1", "me@client2"]);
        }
    }
}

#[test]
fn what_is_no_list_of_hosts_is_told() {
    let error = |hosts| error(hosts, MICRO, "", THEIRS);
    assert_snapshot!(error("[]"), @"");
    assert_snapshot!(error("\"ssh:client1\""), @"");
    assert_snapshot!(error("[\"client1\"]"), @"");
    assert_snapshot!(error("[\"ssh:-oProxyCommand=x\"]"), @"");
    assert_snapshot!(error("[\"ssh:client1 rm\"]"), @"");
    assert_snapshot!(error("[\"ssh:client1\", \"ssh:client1\"]"), @"");
}

#[test]
fn clients_that_cannot_be_divided_are_refused_with_the_reason() {
    let hosts = "[\"ssh:client1\"]";
    let ours = "[[system]]\nbuild = \"mariadb\"\nlabel = \"ours\"\n";
    assert_snapshot!(error(hosts, "insert", "", THEIRS), @"");
    assert_snapshot!(error(hosts, MICRO, "interleave = \"turns\"\n", THEIRS), @"");
    assert_snapshot!(error(hosts, MICRO, "", &format!("{THEIRS}{ours}")), @"");
}
