//! Clients on other hosts, through the binary, with an `ssh` that starts the agents here. `bench/ssh.sh` has a real
//! one.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod common;
#[path = "common/stranger.rs"]
mod stranger;

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Child;

use common::{Bench, Ran, end, plan, wait_for};
use model::{Counter, Dbms, Nanos, RunData, RunId, StepRecord, StepTask};
use rustix::process::{Pid, Signal, kill_process};
use store::{Store, Want};
use stranger::Stranger;

/// Records which process is the agent of a host. As a real `ssh`, it ends with 255 when the agent is killed, and its
/// own end does not kill the agent. Hosts with other names fail in some way.
const SSH: &str = r#"#!/bin/sh
while [ "$1" != -- ]; do options="$options $1"; shift; done
case "$options " in *" -T "*" BatchMode=yes "*) ;; *) exit 2 ;; esac
host=$2
shift 2
case $host in
down) echo "ssh: connect to host down port 22: No route to host" >&2; exit 255 ;;
locked) echo "me@locked: Permission denied (publickey,password)." >&2; exit 255 ;;
other) echo '{"Greeting":{"version":"'"$(backslide --version | cut -d' ' -f2)"'","cpus":2}}'; exec cat >/dev/null ;;
old) echo '{"Greeting":{"version":"0.0.1","cpus":2}}'; exec cat >/dev/null ;;
ancient) echo "error: unrecognized subcommand 'agent'" >&2; exit 2 ;;
noisy) "$@" | sed -u 's/^"Reached"$/Killed by a quota/'; exit ;;
chatty) echo "Welcome to chatty!" ;;
astray) sed -u -f astray.sed | "$@"; exit ;;
esac
exec 3<&0
"$@" <&3 3<&- &
echo $! >"$host.pid"
exec 3<&- <&-
wait $! && exit
[ $? -gt 128 ] && exit 255
exit 1
"#;

const MICRO: &str = r#"kind = "micro", tables = 2, rows = 1_000, tests = ["point-query", "insert"], clients = [1, 5], read_seconds = 2, write_seconds = 2, warmup = "fixed", warmup_seconds = 1, settle = 0, warm_ups = false"#;
const LONG: &str = r#"kind = "micro", tables = 1, rows = 1_000, tests = ["point-query"], clients = 4, read_seconds = 60, warmup = "fixed", warmup_seconds = 0, settle = 0, warm_ups = false"#;
const INSERT: &str = r#"kind = "insert", scale = "tiny", clients = 3, rows = 2_000, i1_rows = 400, i2_rows = 100, rates = [100], query_seconds = 2, settle = 0"#;
const TPCC: &str = r#"kind = "tpcc", warehouses = 1, clients = 5, items = 100, customers = 30, steps = 2, seconds = 2, warmup_seconds = 1, settle = 0"#;

/// A bench with that `ssh`, and a server; `None` where this machine has none of this family.
fn bench(dbms: Dbms) -> Option<(Bench, Stranger)> {
    if !servers::discover().iter().any(|build| build.dbms == dbms) {
        testkit::skipped("no server");
        return None;
    }
    let bench = Bench::new();
    fs::create_dir(bench.path("bin")).unwrap();
    let ssh = bench.write("bin/ssh", SSH);
    fs::set_permissions(ssh, fs::Permissions::from_mode(0o755)).unwrap();
    symlink(env!("CARGO_BIN_EXE_backslide"), bench.path("bin/backslide")).unwrap();
    Some((bench, Stranger::start(dbms)))
}

/// Writes a plan of the server with these load hosts; with none, the clients are here.
fn write(bench: &Bench, server: &Stranger, workload: &str, hosts: &str) {
    let system = server.system(server.instance.superuser());
    let system = format!("{system}\nlabel = \"theirs\"\nserver_host = \"ssh:db1\"");
    let plan = plan(workload, 1, &[&system]);
    let hosts = if hosts.is_empty() { String::new() } else { format!("load_hosts = [{hosts}]\n") };
    bench.write("p.toml", &(hosts + &plan));
}

fn start(bench: &Bench) -> Child {
    let path = std::env::var("PATH").unwrap();
    let path = format!("{}:{path}", bench.path("bin").display());
    bench.command(&["run", "p.toml"]).env("PATH", path).spawn().unwrap()
}

fn run(bench: &Bench) -> Ran {
    end(start(bench))
}

fn store(bench: &Bench) -> Store {
    Store::open(&bench.lab().join("lab.sqlite")).unwrap()
}

/// The process of a host's agent.
fn agent(bench: &Bench, host: &str) -> Option<Pid> {
    let text = fs::read_to_string(bench.path(&format!("{host}.pid"))).ok()?;
    Pid::from_raw(text.trim().parse().ok()?)
}

#[test]
fn two_hosts_share_the_clients_of_each_step_and_every_check_holds() {
    for (dbms, workload) in [(Dbms::Mariadb, MICRO), (Dbms::Postgres, TPCC)] {
        let Some((bench, server)) = bench(dbms) else { continue };
        write(&bench, &server, workload, "\"ssh:client1\", \"ssh:client2\"");
        let ran = run(&bench);
        assert_eq!(ran.code(), 0, "{ran:?}");
        adds_up(&bench);
        let report = bench.run(&["report", "-o", "-"]).fine();
        let pid = server.instance.pid().unwrap();
        for said in ["client1 (CPUs: ".to_owned(), format!("db1: process {pid}")] {
            assert!(report.contains(&said), "the provenance names the hosts: {said}");
        }
        server.instance.remove().unwrap();
    }
}

#[test]
fn two_hosts_share_the_insert_benchmark_as_this_host_runs_it() {
    for (dbms, workload) in [
        (Dbms::Mariadb, INSERT.to_owned()),
        (Dbms::Postgres, INSERT.to_owned()),
        (Dbms::Postgres, format!("{INSERT}, tables = \"shared\", deletes = false")),
    ] {
        let Some((bench, server)) = bench(dbms) else { continue };
        let of_hosts = |hosts: &str| {
            let _ = fs::remove_dir_all(bench.lab());
            write(&bench, &server, &workload, hosts);
            let ran = run(&bench);
            assert_eq!(ran.code(), 0, "{ran:?}");
            let run = RunId("r1".to_owned());
            let data = store(&bench).load(&run, Want { series: true, histograms: true }).unwrap();
            let records = store(&bench).step_records(&run).unwrap();
            let measured = records.iter().filter(|(_, record)| record.measured);
            measured.for_each(|(_, record)| hold_every_operation(&data, record));
            records.iter().map(|(_, record)| facts(record)).collect::<Vec<_>>()
        };
        let [here, there] = ["", "\"ssh:client1\", \"ssh:client2\""].map(of_hosts);
        assert_eq!(here, there);
        let names: Vec<&str> = there.iter().map(|facts| facts.step.as_str()).collect();
        assert_eq!(names, ["l.i0", "l.x", "l.i1", "l.i2", "settle", "qr100", "qp100"]);
        server.instance.remove().unwrap();
    }
}

/// What the plan decides about a step of the Insert Benchmark.
#[derive(Debug, PartialEq, Eq)]
struct Facts {
    step: String,
    requested_rows: u64,
    /// Each check, up to the number of answers that were sampled.
    checks: Vec<(String, String)>,
    /// Operations and rows of those that the plan counts.
    done: Vec<(String, u64, u64)>,
    /// Were seconds on target, where there was one? The rows of all hosts are needed for that.
    is_paced: Option<bool>,
}

fn facts(record: &StepRecord) -> Facts {
    let name = &record.step;
    assert!(record.checks.iter().all(|check| check.holds), "{name}: {:?}", record.checks);
    assert!(record.counters.get(Counter::CLIENT_CPU) > Some(0), "{name}");
    assert!(record.kind("query").is_none_or(|kind| kind.sums.rows > 0), "{name}");
    let checks = record.checks.iter().map(|check| {
        let what = check.what.split(" in ").next().unwrap_or_default();
        (what.to_owned(), check.expected.clone())
    });
    let counted = ["insert", "delete", "create_index"];
    let done = counted.iter().filter_map(|kind| record.kind(kind));
    Facts {
        step: name.0.clone(),
        requested_rows: record.requested_rows,
        checks: checks.collect(),
        done: done.map(|kind| (kind.spec.name.clone(), kind.sums.ops, kind.sums.rows)).collect(),
        is_paced: record.seconds_on_target.map(|(met, _)| met > 0),
    }
}

/// The seconds and the histograms of a step are those of all its operations.
fn hold_every_operation(data: &RunData, record: &StepRecord) {
    let name = &record.step;
    let series = data.series.iter().find(|series| series.step == *name).unwrap();
    for kind in record.kinds.iter().filter(|kind| kind.happened()) {
        let is_it = |of: &str| *of == kind.spec.name;
        let seconds = series.kinds.iter().find(|series| is_it(&series.kind)).unwrap();
        assert_eq!(seconds.ops.iter().sum::<u64>(), kind.sums.ops, "{name}");
        let mut histograms = data.histograms.iter().filter(|one| one.step == *name);
        let histogram = histograms.find(|one| is_it(&one.kind) && !one.is_response).unwrap();
        assert_eq!(histogram.latency.count(), kind.sums.ops, "{name}");
    }
}

/// The intervals are the whole of each step, its histograms hold every operation, and the clients' costs are there.
fn adds_up(bench: &Bench) {
    let run = RunId("r1".to_owned());
    let data = store(bench).load(&run, Want { series: true, histograms: true }).unwrap();
    let records = store(bench).step_records(&run).unwrap();
    let is_divided = |record: &&StepRecord| {
        let step = record.step_of(&data.info.plan.steps);
        step.task == StepTask::Run && step.measured
    };
    let divided = records.iter().map(|(_, record)| record).filter(is_divided);
    assert!(divided.clone().count() >= 2);
    for record in divided {
        let name = &record.step;
        assert!(record.checks.iter().all(|check| check.holds), "{:?}", record.checks);
        assert!(record.subject_count() > 0, "{name}");
        assert_eq!(record.window, Nanos::from_secs(2), "{name}");
        for counter in [Counter::CLIENT_CPU, Counter::SERVER_CPU, Counter::HOST_CPU] {
            assert!(record.counters.get(counter) > Some(1_000_000), "{name}: {counter}");
        }
        assert_eq!(record.counters.get(Counter::HOST_FOREIGN), None, "{name}");
        let series = data.series.iter().find(|series| series.step == *name).unwrap();
        assert_eq!(series.spans, [(0.0, 1.0), (1.0, 1.0)], "{name}");
        hold_every_operation(&data, record);
    }
}

#[test]
fn an_agent_that_dies_or_stands_still_fails_the_trial_and_is_named() {
    let Some((bench, server)) = bench(Dbms::Mariadb) else { return };
    write(&bench, &server, LONG, "\"ssh:client1\", \"ssh:client2\"");
    for (signal, says) in [
        (Signal::KILL, "host `client2`: its agent was killed, or the connection to it broke"),
        (Signal::STOP, "host `client2`: second "),
    ] {
        let _ = fs::remove_dir_all(bench.lab());
        let child = start(&bench);
        wait_for("the step", || is_measuring(&bench).then_some(()));
        let agents = ["client1", "client2"].map(|host| agent(&bench, host).unwrap());
        kill_process(agents[1], signal).unwrap();
        let ran = end(child);
        assert_eq!(ran.code(), 20, "{ran:?}");
        let shown = bench.run(&["show"]).fine().split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(shown.contains(says), "{shown}");
        let _ = kill_process(agents[1], Signal::CONT);
        for agent in agents {
            let agent = agent.as_raw_nonzero().get() as u32;
            wait_for("its end", || {
                (!std::path::Path::new(&format!("/proc/{agent}")).exists()).then_some(())
            });
        }
    }
    server.instance.remove().unwrap();
}

#[test]
fn an_agent_that_reaches_another_server_fails_the_trial() {
    let Some((bench, server)) = bench(Dbms::Mariadb) else { return };
    let other = Stranger::start(Dbms::Mariadb);
    let [here, there] = [&server, &other].map(|it| it.instance.endpoint_socket());
    bench.write("astray.sed", &format!("s#{}#{}#g", here.display(), there.display()));
    write(&bench, &server, MICRO, "\"ssh:client1\", \"ssh:astray\"");
    let ran = run(&bench);
    assert_eq!(ran.code(), 20, "{ran:?}");
    let shown = bench.run(&["show"]).fine().split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(shown.contains("leads it to another server than this host"), "{shown}");
    assert!(server.session_in("backslide_ib").is_err(), "the database is dropped");
    server.instance.remove().unwrap();
    other.instance.remove().unwrap();
}

/// Has the lab's first run an interval of a point query?
fn is_measuring(bench: &Bench) -> bool {
    if !bench.lab().join("instances").exists() {
        return false;
    }
    let under_way = store(bench).under_way(&RunId("r1".to_owned()), u32::MAX).ok().flatten();
    under_way.is_some_and(|now| now.step.0 == "point-query" && now.latest.len() > 1)
}

#[test]
fn a_host_that_cannot_take_part_is_reported_before_anything_is_measured() {
    let Some((bench, server)) = bench(Dbms::Mariadb) else { return };
    for (host, says) in [
        ("down", "host `down`: no agent started (exit status: 255: ssh: connect to host down"),
        (
            "locked",
            "Permission denied (publickey,password).): `ssh locked backslide --version` must",
        ),
        ("other", "host `other`: it has another build of backslide "),
        ("old", "host `old`: it has backslide 0.0.1, and this is "),
        (
            "ancient",
            "unrecognized subcommand 'agent'): `ssh ancient backslide --version` must print",
        ),
        ("noisy", "`Killed by a quota` came in place of an answer"),
        ("chatty", "it printed `Welcome to chatty!` before its agent could say anything"),
    ] {
        write(&bench, &server, LONG, &format!("\"ssh:client1\", \"ssh:{host}\""));
        let ran = run(&bench);
        assert_eq!(ran.code(), 1, "{ran:?}");
        assert!(ran.stderr.contains(says), "{host}: {}", ran.stderr);
    }
    server.instance.remove().unwrap();
}
