//! What a plan needs, before anything starts: disk and time, to within a factor of about two.
//!
//! The assumptions are the constants of [`Costs`] and the comments beside them. They are measured
//! with rows of the Insert Benchmark on a small machine (400,000 rows loaded and indexed, then
//! 160,000 inserted and deleted) and rounded to the unfavourable side, because a plan that
//! fills the disk after hours is worse than one that is refused.

use model::{Build, Bytes, Dbms, InsertSpec, Nanos, Plan, Settle, StepId, System, WorkloadSpec};

use crate::PlanError;
use crate::config::size;
use crate::template::is_query;

/// What a plan needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Estimate {
    /// Peak disk: the largest instance, because one at a time exists, all templates, and the results.
    pub disk: Bytes,
    /// The instance of each system, in the plan's order.
    pub systems: Vec<(String, Bytes)>,
    /// What the results take in the store.
    pub store: Bytes,
    /// All trials, one after the other, and what comes before them.
    pub time: Nanos,
    /// One trial of each system, in the plan's order.
    pub parts: Vec<(String, Nanos)>,
    /// The template of each system, in the plan's order; none where the plan asks for none.
    pub templates: Vec<Loading>,
}

/// What the template of a system needs, once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loading {
    /// The system.
    pub system: String,
    /// The template.
    pub disk: Bytes,
    /// To make it.
    pub time: Nanos,
}

impl Estimate {
    /// Does it fit into the `free` space of `place`, which is the lab directory's name?
    pub fn fits(&self, free: Bytes, place: &str) -> Result<(), PlanError> {
        if self.disk <= free {
            return Ok(());
        }
        Err(PlanError::TooLarge {
            need: self.disk,
            place: place.to_owned(),
            free,
        })
    }
}

/// What a Dbms is assumed to need.
struct Costs {
    /// An instance without data and logs.
    empty_mib: u64,
    /// Bytes of a loaded row with its three indexes.
    row: u64,
    /// How far data, indexes and undo grow under inserts and deletes, in per cent.
    growth_percent: u64,
    /// Rows per second in `l.i0`.
    i0_rate: u64,
    /// Table rows indexed per second in `l.x`.
    lx_rate: u64,
    /// Rows per second in `l.i1`, with as many deletes.
    i1_rate: u64,
    /// Rows per second in `l.i2`, with as many deletes.
    i2_rate: u64,
    /// To make an instance, start and stop it.
    around: Nanos,
}

const fn costs(dbms: Dbms) -> Costs {
    match dbms {
        Dbms::Mysql => Costs {
            empty_mib: 120,
            around: Nanos::from_secs(10),
            ..INNODB
        },
        Dbms::Mariadb => INNODB,
        Dbms::Postgres => Costs {
            empty_mib: 40,
            row: 207,
            growth_percent: 200,
            i0_rate: 80_000,
            lx_rate: 250_000,
            i1_rate: 15_000,
            i2_rate: 4_000,
            around: Nanos::from_secs(3),
        },
        Dbms::Sqlite => Costs {
            empty_mib: 0,
            row: 126,
            growth_percent: 130,
            i0_rate: 100_000,
            lx_rate: 250_000,
            i1_rate: 8_000,
            i2_rate: 2_000,
            around: Nanos::from_millis(100),
        },
    }
}

const INNODB: Costs = Costs {
    empty_mib: 40,
    row: 178,
    growth_percent: 300,
    i0_rate: 80_000,
    lx_rate: 200_000,
    i1_rate: 10_000,
    i2_rate: 3_000,
    around: Nanos::from_secs(5),
};

/// Characters of `data` in the rows that were measured.
const MEASURED_DATA: u64 = 15;
/// Row of the binary log, 98 bytes measured, once for an insert and once for a delete.
const BINLOG_ROW: u64 = 110;
/// WAL of an inserted or deleted row with its index entries, 282 bytes measured, and page images.
const WAL_ROW: u64 = 600;
/// What the store keeps of a second of a trial: three operation kinds with compressed histograms
/// and the probes' readings.
const STORE_SECOND: u64 = 4_096;
/// What the store keeps of a step besides: the server's variables and status before and after.
const STORE_STEP: u64 = 256 << 10;

/// Bytes per second that are cloned where blocks cannot be shared.
const CLONE_RATE: u64 = 200 << 20;
/// Rows per second that are read before the queries of a trial on a clone.
const WARM_RATE: u64 = 1_500_000;

/// What the plan needs.
pub fn estimate(plan: &Plan) -> Estimate {
    let WorkloadSpec::Insert(spec) = &plan.workload;
    let name = |system: &System| system.name.clone();
    let systems: Vec<(String, Bytes)> = plan
        .systems
        .iter()
        .map(|s| (name(s), instance(spec, s)))
        .collect();
    let templates: Vec<Loading> = plan
        .systems
        .iter()
        .filter(|_| plan.template)
        .map(|system| loading(spec, system))
        .collect();
    let parts: Vec<(String, Nanos)> = plan
        .systems
        .iter()
        .map(|s| {
            let cost = costs(s.build.dbms);
            let template = templates.iter().find(|t| t.system == s.name);
            let time = match template {
                None => trial(spec, &cost),
                Some(template) => trial_on_clone(spec, &cost, template.disk),
            };
            (name(s), time)
        })
        .collect();
    let rounds = u64::from(plan.rounds);
    let a_round = parts
        .iter()
        .fold(0, |sum: u64, (_, time)| sum.saturating_add(time.0));
    let loading = templates
        .iter()
        .fold(0, |sum: u64, template| sum.saturating_add(template.time.0));
    let time = Nanos(sum([a_round.saturating_mul(rounds), loading]));
    let steps = (plan.systems.len() as u64 * rounds).saturating_mul(spec.steps.len() as u64);
    let seconds = time.0 / Nanos::SECOND.0;
    let store = sum([
        seconds.saturating_mul(STORE_SECOND),
        steps.saturating_mul(STORE_STEP),
    ]);
    let largest = systems.iter().map(|(_, disk)| disk.0).max().unwrap_or(0);
    let kept = templates
        .iter()
        .fold(0, |sum: u64, template| sum.saturating_add(template.disk.0));
    Estimate {
        disk: Bytes(sum([largest, kept, store])),
        systems,
        store: Bytes(store),
        time,
        parts,
        templates,
    }
}

/// The template of a system: an instance that has done all steps before the queries.
fn loading(spec: &InsertSpec, system: &System) -> Loading {
    let mut load = spec.clone();
    load.steps.retain(|step| !is_query(&step.0));
    Loading {
        system: system.name.clone(),
        disk: instance(&load, system),
        // The settle phase comes before the queries and is part of the template.
        time: Nanos(sum([
            trial(&load, &costs(system.build.dbms)).0,
            settle(spec).0,
        ])),
    }
}

/// Time of one trial that begins with a clone of so many bytes.
fn trial_on_clone(spec: &InsertSpec, cost: &Costs, data: Bytes) -> Nanos {
    let queries = spec.steps.iter().filter(|step| is_query(&step.0)).count() as u64;
    let rows = spec.rows.saturating_mul(u64::from(spec.clients));
    Nanos(sum([
        Nanos::from_secs(queries.saturating_mul(u64::from(spec.query_seconds))).0,
        at_rate(data.0, CLONE_RATE),
        // By the table and by each index.
        at_rate(
            rows.saturating_mul(u64::from(spec.secondary_indexes) + 1),
            WARM_RATE,
        ),
        cost.around.0,
    ]))
}

/// The sum, or the largest number: what does not fit into 64 bits fits onto no disk.
fn sum<const N: usize>(parts: [u64; N]) -> u64 {
    parts.into_iter().fold(0, u64::saturating_add)
}

/// Rows that a client inserts in a step.
fn rows(spec: &InsertSpec, step: &StepId) -> u64 {
    match step.0.as_str() {
        "l.i0" => spec.rows,
        "l.x" => u64::from(spec.i0_rows_per_commit),
        "l.i1" => spec.i1_rows,
        "l.i2" => spec.i2_rows,
        query => rate(query).saturating_mul(u64::from(spec.query_seconds)),
    }
}

/// The background rate in the name of a query step: 500 of `qr500`.
fn rate(step: &str) -> u64 {
    let digits = step.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    digits.parse().unwrap_or(0)
}

/// Bytes of one instance at its largest.
fn instance(spec: &InsertSpec, system: &System) -> Bytes {
    let cost = costs(system.build.dbms);
    let clients = u64::from(spec.clients);
    let of_steps = |wanted: fn(&str) -> bool| {
        let steps = spec.steps.iter().filter(|step| wanted(&step.0));
        steps
            .fold(0, |sum: u64, step| sum.saturating_add(rows(spec, step)))
            .saturating_mul(clients)
    };
    let loaded = of_steps(|step| matches!(step, "l.i0" | "l.x"));
    let later = of_steps(|step| !matches!(step, "l.i0" | "l.x"));
    // With deletes the tables keep their size; a row that is deleted is logged once more.
    let (in_tables, logged) = if spec.deletes {
        (loaded, loaded.saturating_add(later.saturating_mul(2)))
    } else {
        (loaded.saturating_add(later), loaded.saturating_add(later))
    };
    let data = u64::from(spec.data_min + spec.data_max) / 2;
    let extra = data.saturating_sub(MEASURED_DATA);
    let tables = in_tables.saturating_mul((cost.row + extra) * cost.growth_percent / 100);
    let logs = logs(system, logged, extra);
    Bytes(sum([cost.empty_mib << 20, tables, logs]))
}

/// Redo log, WAL and binary log of a system after `rows` inserted and deleted rows. The binary log
/// is counted whole: nothing resets it between the steps.
fn logs(system: &System, rows: u64, extra: u64) -> u64 {
    let option = |name: &str, default: Bytes| {
        let value = system
            .config
            .settings
            .iter()
            .find(|s| is_option(&s.name, name));
        value
            .and_then(|s| size(s.value.as_deref()?))
            .unwrap_or(default)
            .0
    };
    match system.build.dbms {
        Dbms::Mysql | Dbms::Mariadb => {
            let files = option("innodb_log_file_size", Bytes::from_mib(48));
            let redo = files.saturating_mul(redo_files(&system.build));
            let binlog = if has_binlog(system) {
                rows.saturating_mul(BINLOG_ROW + extra)
            } else {
                0
            };
            sum([
                redo.max(option("innodb_redo_log_capacity", Bytes(0))),
                binlog,
            ])
        }
        // The limit is soft: WAL may pass it by a checkpoint's worth.
        Dbms::Postgres => option("max_wal_size", Bytes::from_mib(1024))
            .saturating_mul(2)
            .min(
                rows.saturating_mul(WAL_ROW + extra)
                    .saturating_add(32 << 20),
            ),
        // The write-ahead log or the rollback journal: as large as the largest transaction or a
        // checkpoint's worth of pages.
        Dbms::Sqlite => 16 << 20,
    }
}

fn is_option(given: &str, name: &str) -> bool {
    given.replace('-', "_") == name
}

/// Redo logs of the default number; MariaDB has one since 10.5.
fn redo_files(build: &Build) -> u64 {
    let has_one = build.dbms == Dbms::Mariadb && build.version.parts() >= [10, 5].as_slice();
    if has_one { 1 } else { 2 }
}

/// Does it write a binary log? MySQL does so by default since 8.0.
fn has_binlog(system: &System) -> bool {
    let has = |name: &str| {
        system
            .config
            .settings
            .iter()
            .any(|s| is_option(&s.name, name))
    };
    let by_default = system.build.dbms == Dbms::Mysql && system.build.version.major() >= 8;
    !has("skip_log_bin") && !has("disable_log_bin") && (by_default || has("log_bin"))
}

/// Time of one trial. Clients share the rates, because a small machine has no cores for more.
fn trial(spec: &InsertSpec, cost: &Costs) -> Nanos {
    let clients = u64::from(spec.clients);
    let steps = spec.steps.iter().map(|step| {
        let rows = |per_client: u64| per_client.saturating_mul(clients);
        match step.0.as_str() {
            "l.i0" => at_rate(rows(spec.rows), cost.i0_rate),
            "l.x" => at_rate(rows(spec.rows), cost.lx_rate),
            "l.i1" => at_rate(rows(spec.i1_rows), cost.i1_rate),
            "l.i2" => at_rate(rows(spec.i2_rows), cost.i2_rate),
            _ => Nanos::from_secs(u64::from(spec.query_seconds)).0,
        }
    });
    let measured = steps.fold(0, u64::saturating_add);
    Nanos(sum([measured, settle(spec).0, cost.around.0]))
}

fn at_rate(rows: u64, rate: u64) -> u64 {
    let nanos = u128::from(rows) * u128::from(Nanos::SECOND.0) / u128::from(rate.max(1));
    u64::try_from(nanos).unwrap_or(u64::MAX)
}

/// The pause before the queries: the benchmark's formula, or what the plan says.
fn settle(spec: &InsertSpec) -> Nanos {
    let has_queries = spec.steps.iter().any(|step| step.0.starts_with('q'));
    match spec.settle {
        _ if !has_queries => Nanos(0),
        Settle::Seconds(seconds) => Nanos::from_secs(u64::from(seconds)),
        Settle::Formula => {
            let loaded = spec.rows.saturating_mul(u64::from(spec.clients));
            Nanos::from_secs((60 + loaded / 1_000_000).min(1200))
        }
    }
}
