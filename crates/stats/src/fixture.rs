//! Runs made of numbers, for the tests of this crate.

use model::{
    Build, BuildSource, Bytes, Cell, Config, Dbms, DiskFacts, Engine, Host, HostShape, InsertScale,
    InsertSpec, MetricId, Nanos, Outcome, Pacing, Placement, Plan, QueryKind, RunData, RunId,
    RunInfo, RunState, Settle, SliceValue, Statements, StepId, System, Tables, TrialRecord, Unit,
    WorkloadSpec,
};

/// A run of these systems, the first of them the base, without any value.
pub(crate) fn empty_run(systems: &[&str]) -> RunData {
    RunData {
        info: RunInfo {
            id: RunId("r1".into()),
            plan: Plan {
                course: model::Course::default(),
                template: false,
                name: "test".into(),
                workload: WorkloadSpec::Insert(workload()),
                rounds: 4,
                seed: 1,
                base: systems[0].into(),
                systems: systems.iter().map(|name| system(name)).collect(),
                source: String::new(),
            },
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

/// A run with one step and one metric; `rounds[r][i]` is the value of system i in round r + 1.
pub(crate) fn run_of<const N: usize>(
    systems: &[&str; N],
    metric: &str,
    rounds: &[[f64; N]],
) -> RunData {
    let mut data = empty_run(systems);
    for (round, values) in (1..).zip(rounds) {
        for (system, value) in systems.iter().zip(values) {
            data.cells.push(cell(round, system, "s0", metric, *value));
        }
    }
    data
}

/// One value. The number in the step's name is its ordinal.
pub(crate) fn cell(round: u32, system: &str, step: &str, metric: &str, value: f64) -> Cell {
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
pub(crate) fn slice(round: u32, system: &str, step: &str, pair: u32, value: f64) -> SliceValue {
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
pub(crate) fn trial(system: &str, tls: &str) -> TrialRecord {
    TrialRecord {
        round: 1,
        position: 1,
        system: system.into(),
        started: String::new(),
        duration: Nanos(1),
        outcome: Outcome::Completed,
        provenance: vec![("TLS".into(), tls.into())],
    }
}

fn system(name: &str) -> System {
    System {
        name: name.into(),
        build: Build {
            dbms: Dbms::Sqlite,
            version: "3.50.4".parse().unwrap(),
            source: BuildSource::Embedded,
            version_line: String::new(),
            name: None,
            facts: model::BuildFacts::default(),
        },
        engine: Engine::Btree,
        config: Config {
            name: "default".into(),
            summary: String::new(),
            settings: Vec::new(),
            left_out: Vec::new(),
        },
        set: std::collections::BTreeMap::new(),
        cpus: Placement::default(),
        connection: model::Connection::default(),
        control: false,
        preload: String::new(),
        huge_pages: false,
    }
}

fn host() -> Host {
    Host {
        name: "host".into(),
        cpu_model: "cpu".into(),
        shape: HostShape {
            cpus: 2,
            memory: Bytes(1 << 30),
        },
        threads_per_core: 1,
        kernel: "6.1".into(),
        os: "Debian".into(),
        governor: None,
        clock_source: None,
        thp: None,
        swap: Bytes(0),
        virtualization: None,
        disk: DiskFacts {
            device: None,
            filesystem: "ext4".into(),
            options: String::new(),
            size: Bytes(0),
            free: Bytes(0),
        },
    }
}

fn workload() -> InsertSpec {
    InsertSpec {
        scale: InsertScale::Tiny,
        clients: 1,
        tables: Tables::Own,
        rows: 1,
        i1_rows: 1,
        i2_rows: 1,
        i0_rows_per_commit: 1,
        i1_rows_per_commit: 1,
        i2_rows_per_commit: 1,
        query_rows_per_commit: 1,
        rates: Vec::new(),
        queries: vec![QueryKind::Range],
        query_seconds: 1,
        query_sessions: 1,
        rows_per_query: 1,
        max_refresh: 1,
        secondary_indexes: 0,
        deletes: false,
        queue: 1,
        min_resync: 0,
        data_min: 1,
        data_max: 1,
        data_random_percent: 0,
        writes: Statements::Usual,
        reads: Statements::Usual,
        pacing: Pacing::Even,
        settle: Settle::Seconds(0),
        htap_seconds: 0,
        partitions: 0,
        sequence_cache: 1,
        sla_percent: 95,
        statement_timeout: 1,
        compat: false,
        steps: Vec::new(),
    }
}
