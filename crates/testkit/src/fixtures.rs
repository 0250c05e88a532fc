//! A host, a plan and a run, which tests change where they differ.

use model::{
    Build, BuildSource, Bytes, Cell, Config, Dbms, DiskFacts, Fact, Host, HostShape, InsertScale,
    InsertSpec, MetricId, Nanos, Outcome, Plan, Provenance, RunData, RunId, RunInfo, RunState,
    Setting, SliceValue, StepId, System, TrialRecord, Unit, WorkloadSpec,
};

/// Two CPUs and 8 GiB.
pub fn host() -> Host {
    let some = |text: &str| Some(text.to_owned());
    Host {
        name: "host".into(),
        cpu_model: "cpu".into(),
        shape: HostShape { cpus: 2, memory: Bytes(8 << 30) },
        threads_per_core: 1,
        kernel: "6.1.0".into(),
        os: "Debian GNU/Linux 12".into(),
        governor: some("performance"),
        clock_source: some("tsc"),
        thp: some("madvise"),
        disk: DiskFacts {
            device: some("vda"),
            filesystem: "ext4".into(),
            options: "rw,relatime".into(),
            size: Bytes(100 << 30),
            free: Bytes(50 << 30),
        },
        ..Host::default()
    }
}

/// The embedded SQLite with one setting, under this name.
#[expect(clippy::unwrap_used, reason = "the version is a constant")]
pub fn sqlite(name: &str) -> System {
    let version = "3.50.4".parse().unwrap();
    let build = Build {
        version_line: "3.50.4".into(),
        ..Build::new(Dbms::Sqlite, version, BuildSource::Embedded)
    };
    let synchronous = Setting { name: "synchronous".into(), value: Some("normal".into()) };
    let config = Config {
        name: "default".into(),
        summary: "As it comes.".into(),
        settings: vec![synchronous],
        left_out: Vec::new(),
    };
    System { config, ..System::new(name, build) }
}

/// The published sizes of the Insert Benchmark on [`sqlite`] under these names, without steps.
pub fn plan(systems: &[&str], rounds: u32) -> Plan {
    let spec = InsertSpec {
        scale: InsertScale::Seeds,
        rows: 30_000_000,
        i1_rows: 40_000_000,
        i2_rows: 10_000_000,
        query_seconds: 1800,
        ..InsertSpec::usual()
    };
    let systems = systems.iter().map(|name| sqlite(name)).collect();
    Plan {
        rounds,
        seed: u64::MAX,
        source: "name = \"test\"\n".into(),
        ..Plan::new("test", WorkloadSpec::Insert(spec), systems)
    }
}

/// A finished run of a plan, called `r1`, without any value.
pub fn run(plan: Plan) -> RunData {
    RunData {
        info: RunInfo {
            id: RunId("r1".into()),
            plan,
            host: host(),
            backslide: "0.1.0".into(),
            started: "2026-01-01T00:00:00Z".into(),
            state: RunState::Finished,
            hosts: Vec::new(),
        },
        trials: Vec::new(),
        steps: Vec::new(),
        cells: Vec::new(),
        notes: Vec::new(),
        series: Vec::new(),
        histograms: Vec::new(),
        slices: Vec::new(),
    }
}

/// A run of these systems, the first of them the base, without any value.
pub fn empty_run(systems: &[&str]) -> RunData {
    run(plan(systems, 4))
}

/// A run with one step and one metric; `rounds[r][i]` is the value of system i in round r + 1.
pub fn run_of<const N: usize>(systems: &[&str; N], metric: &str, rounds: &[[f64; N]]) -> RunData {
    let mut data = empty_run(systems);
    for (round, values) in (1..).zip(rounds) {
        for (system, value) in systems.iter().zip(values) {
            data.cells.push(cell(round, system, "s0", metric, *value));
        }
    }
    data
}

/// One value. The number in the step's name is its ordinal.
#[expect(clippy::unwrap_used, reason = "steps of tests have numbers")]
pub fn cell(round: u32, system: &str, step: &str, metric: &str, value: f64) -> Cell {
    Cell {
        round,
        position: 1,
        system: system.into(),
        step: StepId::new(step),
        ordinal: step.trim_start_matches('s').parse().unwrap(),
        clients: 1,
        metric: MetricId::new(metric),
        unit: Unit::OpsPerSecond,
        value,
    }
}

/// The throughput of a slice.
pub fn slice(round: u32, system: &str, step: &str, pair: u32, value: f64) -> SliceValue {
    SliceValue {
        round,
        system: system.into(),
        step: StepId::new(step),
        metric: MetricId::new(MetricId::RATE),
        pair,
        value,
    }
}

/// A trial of the first round that completed, over this kind of connection.
pub fn trial(system: &str, tls: &str) -> TrialRecord {
    TrialRecord {
        round: 1,
        position: 1,
        system: system.into(),
        started: String::new(),
        duration: Nanos(1),
        outcome: Outcome::Completed,
        provenance: Provenance(vec![(Fact::Tls, tls.into())]),
    }
}
