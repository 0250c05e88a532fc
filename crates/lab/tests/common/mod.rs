//! A lab in a directory of its own, tiny plans, and what is asked of them afterwards.
#![allow(dead_code, reason = "each test program uses some of it")]
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::path::Path;

use lab::{Builds, Ended, Lab, LabError, Provider};
use load::Stop;
use model::{
    Comparison, Dbms, Event, MetricId, Outcome, Plan, RunData, RunId, StepRecord, WorkloadSpec,
};
use plan::Catalog;
use stats::{Options, Selection};
use store::Want;
use tempfile::TempDir;

/// All steps of the benchmark with one rate; two seconds.
pub(crate) const ALL_STEPS: &str = "";
/// The steps without a rate; milliseconds.
pub(crate) const LOAD_ONLY: &str = r#", steps = ["l.i0", "l.x", "l.i1"]"#;
/// Range queries beside writers; a second.
pub(crate) const RANGES: &str = r#", steps = ["l.i0", "l.x", "qr100"]"#;

/// A plan of the systems `good` and `bad`, small enough for the fake.
pub(crate) fn plan(rounds: u32, workload: &str) -> Plan {
    let text = format!(
        r#"
        name = "tiny"
        workload = {{ kind = "insert", scale = "tiny", rows = 2_000, i1_rows = 400, i2_rows = 100,
                     rates = [100], statement_timeout = 1{workload} }}
        rounds = {rounds}
        quarantine = false
        seed = 7
        base = "good"
        [[system]]
        build = "sqlite"
        label = "good"
        [[system]]
        build = "sqlite"
        label = "bad"
        "#
    )
    // TOML allows no line end within an inline table before 1.1.
    .replace("100,\n", "100,");
    expand(&text)
}

/// The plan of a text. Only what is part of backslide or of this machine is found.
pub(crate) fn expand(text: &str) -> Plan {
    let depot = obtain::Depot::new("no depot".into());
    let builds = Builds::new(Catalog::embedded().unwrap(), depot);
    expand_with(&builds, text)
}

/// The plan of a text with these builds.
pub(crate) fn expand_with(builds: &Builds, text: &str) -> Plan {
    let file = plan::read(text, "tiny.toml").unwrap();
    let host = model::HostShape { cpus: 2, memory: model::Bytes(8 << 30) };
    builds.expand(&file, host).unwrap()
}

/// A plan of microbenchmarks on the systems `good` and `bad`, of SQLite: two tables of 1,000 rows, a second for
/// each test.
pub(crate) fn micro(rounds: u32, workload: &str) -> Plan {
    expand(&format!(
        r#"
        name = "tiny"
        workload = {{ kind = "micro", tables = 2, rows = 1_000, read_seconds = 1, write_seconds = 1, scan_seconds = 1, warmup_seconds = 0, settle = 0, statement_timeout = 5, {workload} }}
        rounds = {rounds}
        quarantine = false
        seed = 7
        base = "good"
        [[system]]
        build = "sqlite"
        config = "wal"
        label = "good"
        [[system]]
        build = "sqlite"
        config = "wal"
        label = "bad"
        "#
    ))
}

/// Changes the Insert Benchmark of a plan.
pub(crate) fn insert(plan: &mut Plan, change: impl FnOnce(&mut model::InsertSpec)) {
    plan.change_workload(|workload| match workload {
        WorkloadSpec::Insert(spec) => change(spec),
        _ => panic!("another workload"),
    });
}

/// Changes the SQL workload of a plan.
pub(crate) fn sql(plan: &mut Plan, change: impl FnOnce(&mut model::SqlSpec)) {
    plan.change_workload(|workload| match workload {
        WorkloadSpec::Sql(spec) => change(spec),
        _ => panic!("another workload"),
    });
}

/// A lab that is gone with its test.
pub(crate) struct Bench {
    pub(crate) lab: Lab,
    _directory: Option<TempDir>,
}

impl Bench {
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let lab = Self::at(directory.path()).lab;
        Self { lab, _directory: Some(directory) }
    }

    /// In a directory that someone else removes.
    pub(crate) fn at(directory: &Path) -> Self {
        Self { lab: Lab::open(directory).unwrap(), _directory: None }
    }

    pub(crate) fn begin(&mut self, plan: &Plan) -> RunId {
        self.lab.begin(plan, "0.0.0").unwrap()
    }

    /// Carries a run out to its end or the first error.
    pub(crate) fn carry_out(
        &mut self,
        run: &RunId,
        provider: &dyn Provider,
    ) -> Result<Ended, LabError> {
        self.listen(run, provider, &Stop::default(), &mut |_| ())
    }

    pub(crate) fn listen(
        &mut self,
        run: &RunId,
        provider: &dyn Provider,
        stop: &Stop,
        listen: &mut dyn FnMut(&Event),
    ) -> Result<Ended, LabError> {
        self.lab.carry_out(run, provider, stop, listen)
    }

    /// What the store keeps of the steps of a trial that has an outcome, without their histograms.
    pub(crate) fn records(&self, run: &RunId, round: u32, system: &str) -> Vec<StepRecord> {
        let records = self.lab.store.step_records(run).unwrap().into_iter();
        let records = records.filter(|(of, _)| (of.round, of.system.as_str()) == (round, system));
        records.map(|(_, record)| record).collect()
    }

    /// That of the one step of this name.
    pub(crate) fn record(&self, run: &RunId, round: u32, system: &str, step: &str) -> StepRecord {
        let records = self.records(run, round, system).into_iter();
        let mut records: Vec<_> = records.filter(|record| record.step.0 == step).collect();
        assert_eq!(records.len(), 1, "records of {step} of {system}, round {round}");
        records.remove(0)
    }

    pub(crate) fn load(&self, run: &RunId) -> RunData {
        let want = Want { series: true, histograms: true };
        self.lab.store.load(run, want).unwrap()
    }

    /// Names of what is left in the directory of instances.
    pub(crate) fn instances(&self) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(self.lab.instances()) else {
            return Vec::new();
        };
        let names = entries.map(|entry| entry.unwrap().file_name());
        names.map(|name| name.to_string_lossy().into_owned()).collect()
    }
}

/// Rates of every system against the base.
pub(crate) fn compare(data: &RunData) -> Vec<Comparison> {
    let options = Options {
        metrics: Selection::Only(vec![MetricId::new(MetricId::RATE)]),
        ..Options::default()
    };
    stats::compare(data, &options).unwrap()
}

/// What the run's report is made of.
pub(crate) fn to_report<'a>(data: &'a RunData, comparisons: &'a [Comparison]) -> report::Input<'a> {
    report::Input { generated: "today", ..report::Input::new(data, comparisons) }
}

/// `step: reason`, then the log, a line each.
pub(crate) fn told(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Completed => "completed".to_owned(),
        Outcome::Profiled => "profiled".to_owned(),
        Outcome::Quarantined { reason } => format!("quarantined: {reason}"),
        Outcome::Failed { step, reason, log_tail } => {
            let step = step.as_ref().map_or("outside the steps", |step| &step.0);
            let log = log_tail.iter().map(|line| format!("\n  | {line}"));
            format!("{step}: {reason}{}", log.collect::<String>())
        }
    }
}

/// Every server that is installed or found.
pub(crate) fn every_server(builds: &Builds) -> Vec<model::Build> {
    let installed = builds.depot.installed().unwrap_or_default().into_iter();
    let found = builds.found().iter().cloned();
    let all = found.chain(installed.map(|installed| installed.build));
    all.filter(|build| !build.dbms.is_embedded()).collect()
}

/// The newest build of each family of servers: those of this machine, and MySQL of the user's depot, which
/// distributions seldom have.
pub(crate) fn servers(builds: &Builds) -> Vec<model::Build> {
    let installed = builds.depot.installed().unwrap_or_default();
    let installed = installed.into_iter().map(|installed| installed.build);
    let found = builds.found().iter().cloned();
    let all: Vec<model::Build> =
        found.chain(installed.filter(|build| build.dbms == Dbms::Mysql)).collect();
    let families = [Dbms::Mysql, Dbms::Mariadb, Dbms::Postgres];
    let newest = families.into_iter().filter_map(|dbms| {
        let of_family = all.iter().filter(|build| build.dbms == dbms);
        of_family.max_by_key(|build| build.version.clone()).cloned()
    });
    newest.collect()
}
