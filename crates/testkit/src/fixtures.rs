//! A host, a plan and a run, which tests change where they differ.

use model::{
    Build, BuildSource, Bytes, Config, Dbms, DiskFacts, Host, HostShape, InsertScale, InsertSpec,
    Plan, RunData, RunId, RunInfo, RunState, Setting, System, WorkloadSpec,
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
