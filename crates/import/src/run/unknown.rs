//! What a run must have and imported results do not say: it is left empty, or says that it is not known.

use model::{
    Bytes, DiskFacts, ErrorRules, Host, HostShape, LoadMethod, LoadSpec, Readings, SqlPace, SqlRun,
    SqlSpec, SqlStep, SqlTable, SqlWork, Statements, StepId, StepRecord, WarmUpEnd,
};

use super::Step;
use crate::{Mode, Row, Scale};

/// A workload of which only the names and groups of its steps are known, and of some their scale; it
/// cannot be run.
pub(super) fn workload(
    name: &str,
    steps: &[(Step<'_>, StepId, &Row)],
    scales: &[(&str, Scale)],
    mode: Mode,
) -> SqlSpec {
    let step = |(_, id, row): &(Step<'_>, StepId, &Row)| SqlStep {
        id: id.clone(),
        test: row.test.clone(),
        group: row.group.clone(),
        clients: row.clients,
        work: SqlWork::Run(SqlRun {
            measured: true,
            // Only the record has how long it was measured. That differs by parts of a second, and runs of
            // different workloads are not compared.
            seconds: 0,
            warmup_seconds: 0,
            warmup_end: WarmUpEnd::Fixed,
            writes: true,
            whole: false,
            pace: SqlPace::Unlimited,
            operations: Vec::new(),
        }),
    };
    SqlSpec {
        name: name.to_owned(),
        tables: scales.iter().map(table).collect(),
        load: LoadSpec {
            clients: 1,
            method: LoadMethod::Fastest,
            rows_per_commit: 1,
            indexes_first: false,
        },
        steps: steps.iter().map(step).collect(),
        statements: Statements::Usual,
        errors: ErrorRules {
            ignore: Vec::new(),
            retry: Vec::new(),
            fatal: Vec::new(),
            tries: 1,
            reconnect_seconds: 0,
        },
        statement_timeout: 60,
        compat: mode == Mode::Compat,
    }
}

/// The tables of a test, as far as files state them: runs of different scales have different workloads.
fn table((test, scale): &(&str, Scale)) -> SqlTable {
    let (copies, rows) = scale.tables();
    SqlTable {
        name: (*test).to_owned(),
        numbered: false,
        copies,
        rows,
        columns: Vec::new(),
        primary_key: Vec::new(),
        indexes: Vec::new(),
    }
}

/// A record that has no counters and no histograms: only the measurements are known.
pub(super) fn record(row: &Row, id: &StepId, ordinal: u32, mode: Mode) -> StepRecord {
    let mut notes = vec![("imported from".to_owned(), row.origin.clone())];
    notes.extend(row.notes.iter().cloned());
    StepRecord {
        step: id.clone(),
        ordinal,
        measured: true,
        clients: row.clients,
        window: row.window,
        elapsed: row.window,
        subject: row.subject.clone(),
        kinds: Vec::new(),
        errors: Vec::new(),
        target_rate: row.target_rate,
        seconds_on_target: None,
        requested_rows: 0,
        open_loop: None,
        tpcc: None,
        counters: Readings::default(),
        drift: None,
        before: None,
        sizes: None,
        checks: Vec::new(),
        notes,
        compat: mode == Mode::Compat,
    }
}

/// A host of which at most the number of CPUs is known; zero where that is not.
pub(super) fn host(cpus: Option<u32>) -> Host {
    let unknown = || "not known (imported)".to_owned();
    Host {
        name: "imported".to_owned(),
        cpu_model: unknown(),
        shape: HostShape {
            cpus: cpus.unwrap_or(0),
            memory: Bytes(0),
        },
        threads_per_core: 1,
        kernel: unknown(),
        os: unknown(),
        governor: None,
        clock_source: None,
        thp: None,
        swap: Bytes(0),
        virtualization: None,
        disk: DiskFacts {
            device: None,
            filesystem: unknown(),
            options: String::new(),
            size: Bytes(0),
            free: Bytes(0),
        },
    }
}
