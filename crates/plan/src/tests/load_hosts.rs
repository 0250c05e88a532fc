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
        "lua" => ", script = \"a.lua\"",
        "tpcc" => ", warehouses = 1",
        _ => "",
    };
    let text = format!(
        "name = \"p\"\nrounds = 2\nload_hosts = {hosts}\n{top}workload = {{ kind = \"{kind}\"{keys} }}\n{systems}"
    );
    // The others have no script, and do not look for one.
    let script = ("text".to_owned(), "/d/a.lua".to_owned());
    let file = crate::read(&text, "my.toml")?.with_script(script.0, script.1, Vec::new());
    crate::expand(&file, &super::CATALOG, &super::find, super::HOST)
}

fn error(hosts: &str, kind: &str, top: &str, systems: &str) -> String {
    plan_of(hosts, kind, top, systems).unwrap_err().to_string()
}

#[test]
fn every_system_has_them_the_control_too() {
    let hosts = "[\"ssh:client1\", \"ssh:me@client2\"]";
    for kind in [MICRO, "tpcc", "insert"] {
        let plan = plan_of(hosts, kind, "control = true\n", THEIRS).unwrap();
        assert_eq!(plan.systems.len(), 2);
        for system in plan.systems {
            assert_eq!(system.load_hosts, ["client1", "me@client2"]);
        }
    }
}

#[test]
fn only_a_list_of_hosts_is_accepted() {
    let error = |hosts| error(hosts, MICRO, "", THEIRS);
    assert_snapshot!(error("[]"), @"my.toml:3: `load_hosts` must be a list with at least one value, not an empty one");
    assert_snapshot!(error("\"ssh:client1\""), @r#"my.toml:3: `load_hosts` must be a list with at least one value, not "ssh:client1""#);
    assert_snapshot!(error("[\"client1\"]"), @r#"my.toml:3: `load_hosts` must be a host such as "ssh:client1", not "client1""#);
    assert_snapshot!(error("[\"ssh:-oProxyCommand=x\"]"), @r#"my.toml:3: `load_hosts` must be a host such as "ssh:client1", not "ssh:-oProxyCommand=x""#);
    assert_snapshot!(error("[\"ssh:client1 rm\"]"), @r#"my.toml:3: `load_hosts` must be a host such as "ssh:client1", not "ssh:client1 rm""#);
    assert_snapshot!(error("[\"ssh:client1\", \"ssh:client1\"]"), @"my.toml:3: `client1` is in `load_hosts` twice: its clients would share the CPUs of one host; name it once");
    assert_snapshot!(error("[\"ssh:client1\", \"ssh:me@client1\"]"), @"my.toml:3: `client1` is in `load_hosts` twice: its clients would share the CPUs of one host; name it once");
}

#[test]
fn clients_that_cannot_be_divided_are_refused_with_the_reason() {
    let hosts = "[\"ssh:client1\"]";
    let ours = "[[system]]\nbuild = \"mariadb\"\nlabel = \"ours\"\n";
    assert_snapshot!(error(hosts, "lua", "", THEIRS), @r#"my.toml:3: `load_hosts` and `kind = "lua"`: its script runs in one process; leave `load_hosts` out"#);
    assert_snapshot!(error(hosts, MICRO, "interleave = \"turns\"\n", THEIRS), @"my.toml:3: `load_hosts` and `interleave`: slices and turns are too short to be agreed with other hosts; leave one of them out");
    assert_snapshot!(error(hosts, MICRO, "", &format!("{THEIRS}{ours}")), @"my.toml:3: `load_hosts` and `ours`, which backslide starts on this host, where no other host reaches it: start the server yourself and give its address (`connect`), or leave `load_hosts` out");
}

#[test]
fn words_of_placement_do_not_choose_cpus_of_other_hosts() {
    let hosts = "[\"ssh:client1\"]";
    for word in ["together", "apart"] {
        let told = error(hosts, MICRO, &format!("placement = \"{word}\"\n"), THEIRS);
        assert!(told.starts_with("my.toml:4: `load_hosts` and a word that chooses CPUs"), "{told}");
    }
    for cpus in ["\"free\"", "{ client = \"0-31\" }"] {
        assert!(plan_of(hosts, MICRO, "", &format!("{THEIRS}cpus = {cpus}\n")).is_ok());
    }
}

#[test]
fn the_host_of_a_server_belongs_to_one_that_is_connected_to() {
    let plan = |system: &str| {
        expand(&format!(
            "name = \"p\"\nrounds = 2\nworkload = {{ kind = \"micro\" }}\n[[system]]\nbuild = \"mariadb\"\n{system}"
        ))
    };
    let found = plan("connect = \"me@db1\"\nserver_host = \"ssh:db1\"").unwrap();
    assert_eq!(found.systems[0].server_host.as_deref(), Some("db1"));
    let error = |system| plan(system).unwrap_err().to_string();
    assert_snapshot!(error("server_host = \"ssh:db1\""), @"my.toml:6: `server_host` without `connect`: backslide starts this server here and watches it; leave it out");
    assert_snapshot!(error("connect = \"me@db1\"\nserver_host = \"db1\""), @r#"my.toml:7: `server_host` must be a host such as "ssh:client1", not "db1""#);
}
