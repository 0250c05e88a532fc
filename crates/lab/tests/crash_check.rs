//! SQLite and the servers of this machine, killed under load: nothing that was acknowledged is lost, and
//! what is taken away afterwards is missed.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use common::{expand_with, servers};
use lab::{Builds, Crash, CrashCheck, CrashSpec, Lab};
use load::{Stop, Target};
use model::{Dialect, System, TpccCardinality, TpccSpec};
use serde_json::Value;

const TERMINALS: u32 = 4;
const WITHIN: Duration = Duration::from_secs(2);

/// Not a test of its own: the process that is killed in place of a server, which SQLite has not.
#[test]
#[ignore = "part of another test, which starts this program once more for it"]
fn terminals() {
    lab::run_terminals(std::io::stdin().lock()).unwrap();
}

fn terminals_of_this_program() -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "terminals", "--ignored", "--nocapture"]);
    command
}

/// The system of a table of a plan.
fn system(table: &str) -> System {
    let text = format!(
        "name = \"crash\"\nrounds = 1\nworkload = {{ kind = \"insert\", scale = \"tiny\" }}\n\
         [[system]]\n{table}\n"
    );
    let plan = expand_with(&Builds::of_user().unwrap(), &text);
    plan.systems.into_iter().next().unwrap()
}

fn workload() -> TpccSpec {
    let cardinality = TpccCardinality { items: 200, customers: 30 };
    lab::crash_workload(2, TERMINALS, WITHIN, cardinality)
}

/// Runs terminals, kills the system, starts it again, does something to its database, and looks at it.
fn crash(check: &mut CrashCheck<'_>, round: u32, then: impl FnOnce(&Target)) -> Crash {
    let stop = Stop::default();
    let killed = check.kill(round, &stop).unwrap();
    let recovery = check.recover().unwrap();
    then(&check.target());
    check.verify(killed, recovery, &stop).unwrap()
}

/// The system is killed twice and loses nothing; the third time an order and a payment are deleted before
/// it is looked at.
fn check(system: &System) {
    let root = tempfile::Builder::new().prefix("bs-k").tempdir().unwrap();
    // A server that runs as another user must get through to its own directory.
    fs::set_permissions(root.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let lab = Lab::open(root.path()).unwrap();
    let claim = lab.claim_instances().unwrap();
    let workload = workload();
    let spec = CrashSpec {
        system,
        workload: &workload,
        seed: 20_261_122,
        within: WITHIN,
        terminals: &terminals_of_this_program,
    };
    let mut check = CrashCheck::begin(spec, &claim, &Stop::default()).unwrap();
    for round in 1..=2 {
        let crash = crash(&mut check, round, |_| ());
        let found = &crash.survived;
        let name = &system.name;
        assert!(found.orders > 0 && found.payments > 0, "{name}: {found:?}");
        assert_eq!((found.missing, found.vanished), (0, 0), "{name}: {found:?}");
        let under_way = found.unacknowledged;
        assert!(under_way <= u64::from(TERMINALS), "{name}: {found:?}");
        assert_eq!(crash.broken().count(), 0, "{name}: {:?}", crash.conditions);
        assert!(crash.recovery.0 > 0 && crash.after >= lab::LEAST_LOAD.into());
    }
    let log = format!("crash-{}/acknowledged.log", std::process::id());
    let log = lab.instances().join(log);
    let crash = crash(&mut check, 3, |target| delete_acknowledged(target, &log));
    let found = &crash.survived;
    assert_eq!(found.missing, 2, "{}: {found:?}", system.name);
    assert!(crash.oldest.is_some() && crash.broken().count() > 0);
    let told = check.end(Some("spoiled".to_owned())).unwrap().unwrap();
    let kept = root.path().join("logs");
    assert!(told.starts_with("spoiled; kept: "), "{told}");
    assert!(told.contains("acknowledged.log"), "{told}");
    assert!(fs::read_dir(kept).unwrap().count() > 0);
    assert!(fs::read_dir(lab.instances()).unwrap().next().is_none());
}

/// Deletes the first order and the first payment of the log.
fn delete_acknowledged(target: &Target, log: &Path) {
    let text = fs::read_to_string(log).unwrap();
    let mut records = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let mut first =
        |kind: &str| records.find_map(|record| record["row"].get(kind).cloned()).unwrap();
    let (order, payment) = (first("Order"), first("Payment"));
    let customer = &payment["customer"];
    let cents = payment["cents"].as_i64().unwrap();
    let amount = match target.dialect {
        Dialect::Sqlite => cents.to_string(),
        Dialect::Mysql | Dialect::Postgres => format!("{}.{:02}", cents / 100, cents % 100),
    };
    let mut session = target.connector.connect().unwrap();
    for sql in [
        format!(
            "DELETE FROM orders WHERE o_w_id = {} AND o_d_id = {} AND o_id = {}",
            order["warehouse"], order["district"], order["order"]
        ),
        format!(
            "DELETE FROM history WHERE h_w_id = {} AND h_d_id = {} AND h_c_w_id = {} AND h_c_d_id = {} \
             AND h_c_id = {} AND h_amount = {amount}",
            payment["warehouse"], payment["district"], customer[0], customer[1], customer[2]
        ),
    ] {
        assert_eq!(session.execute(&sql).unwrap().affected, 1, "{sql}");
    }
}

#[test]
fn sqlite_loses_nothing_with_either_journal() {
    for config in ["wal", "rollback"] {
        check(&system(&format!("build = \"sqlite\"\nconfig = \"{config}\"")));
    }
}

#[test]
fn servers_with_their_own_settings_lose_nothing() {
    let servers = servers(&Builds::of_user().unwrap());
    if servers.is_empty() {
        testkit::skipped("no server");
    }
    for build in servers {
        check(&system(&format!("build = \"{}\"", build.id())));
    }
}

/// Terminals that end before the kill are told, and nothing stays.
#[test]
fn terminals_that_cannot_run_are_told() {
    let root = tempfile::tempdir().unwrap();
    let lab = Lab::open(root.path()).unwrap();
    let claim = lab.claim_instances().unwrap();
    let (system, workload) = (system("build = \"sqlite\"\nconfig = \"wal\""), workload());
    let broken = || {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", "cat > /dev/null; echo no library >&2; exit 127"]);
        command
    };
    let spec = CrashSpec {
        system: &system,
        workload: &workload,
        seed: 1,
        within: WITHIN,
        terminals: &broken,
    };
    let stop = Stop::default();
    let mut check = CrashCheck::begin(spec, &claim, &stop).unwrap();
    let error = check.kill(1, &stop).unwrap_err();
    assert_eq!(error.reason, "the process of the terminals: no library");
    assert_eq!(check.end(None).unwrap(), None);
    assert!(fs::read_dir(lab.instances()).unwrap().next().is_none());
}
