//! A plan and a host to store, for the tests of this crate and its example.

use std::collections::BTreeMap;

use model::{
    Build, BuildSource, Bytes, Config, Dbms, DiskFacts, Engine, Host, HostShape, InsertScale,
    InsertSpec, Pacing, Placement, Plan, QueryKind, Setting, Settle, Statements, System, Tables,
    Version, VersionError, WorkloadSpec,
};

/// A plan for these systems, the first of them the base.
pub(crate) fn plan(systems: &[&str], rounds: u32) -> Result<Plan, VersionError> {
    let version: Version = "3.50.4".parse()?;
    Ok(Plan {
        name: "test".into(),
        workload: WorkloadSpec::Insert(workload()),
        rounds,
        seed: u64::MAX,
        base: systems.first().copied().unwrap_or_default().into(),
        systems: systems.iter().map(|name| system(name, &version)).collect(),
        source: "name = \"test\"\n".into(),
        course: model::Course::default(),
        template: false,
    })
}

/// The machine.
pub(crate) fn host() -> Host {
    Host {
        name: "host".into(),
        cpu_model: "A CPU".into(),
        shape: HostShape {
            cpus: 2,
            memory: Bytes(8 << 30),
        },
        threads_per_core: 1,
        kernel: "6.1.0".into(),
        os: "Debian GNU/Linux 12".into(),
        governor: Some("performance".into()),
        clock_source: Some("tsc".into()),
        thp: Some("madvise".into()),
        swap: Bytes(0),
        virtualization: None,
        disk: DiskFacts {
            device: Some("vda".into()),
            filesystem: "ext4".into(),
            options: "rw,relatime".into(),
            size: Bytes(100 << 30),
            free: Bytes(50 << 30),
        },
    }
}

fn system(name: &str, version: &Version) -> System {
    System {
        name: name.into(),
        build: Build {
            dbms: Dbms::Sqlite,
            version: version.clone(),
            source: BuildSource::Embedded,
            version_line: "3.50.4".into(),
            name: None,
            facts: model::BuildFacts::default(),
        },
        engine: Engine::Btree,
        config: Config {
            name: "default".into(),
            summary: "As it comes.".into(),
            settings: vec![Setting {
                name: "synchronous".into(),
                value: Some("normal".into()),
            }],
            left_out: Vec::new(),
        },
        set: BTreeMap::new(),
        cpus: Placement::default(),
        connection: model::Connection::default(),
        control: false,
        preload: String::new(),
        huge_pages: false,
    }
}

fn workload() -> InsertSpec {
    InsertSpec {
        scale: InsertScale::Seeds,
        clients: 4,
        tables: Tables::Own,
        rows: 30_000_000,
        i1_rows: 40_000_000,
        i2_rows: 10_000_000,
        i0_rows_per_commit: 100,
        i1_rows_per_commit: 50,
        i2_rows_per_commit: 5,
        query_rows_per_commit: 50,
        rates: vec![100, 500, 1000],
        queries: vec![QueryKind::Range, QueryKind::Point],
        query_seconds: 1800,
        query_sessions: 1,
        rows_per_query: 10,
        max_refresh: 32_768,
        secondary_indexes: 3,
        deletes: true,
        queue: 64,
        min_resync: 100,
        data_min: 10,
        data_max: 20,
        data_random_percent: 50,
        writes: Statements::Usual,
        reads: Statements::Usual,
        pacing: Pacing::Even,
        settle: Settle::Formula,
        htap_seconds: 0,
        partitions: 0,
        sequence_cache: 1000,
        sla_percent: 95,
        statement_timeout: 60,
        compat: false,
        steps: Vec::new(),
    }
}
