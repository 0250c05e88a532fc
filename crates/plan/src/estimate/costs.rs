//! What a Dbms is assumed to need. The numbers of a Dbms were measured with rows of the Insert Benchmark on
//! a small machine (400,000 rows loaded and indexed, then 160,000 inserted and deleted) and rounded to the
//! unfavourable side, because a plan that fills the disk after hours is worse than one that is refused. Those
//! of warehouses and transactions follow from published runs of a hundred warehouses: 9 to 11 GB once they are
//! loaded, and some hundred transactions per second of one client.

use model::{Build, Bytes, Dbms, Nanos, System};

use crate::config::size;

/// What a Dbms is assumed to need.
pub(super) struct Costs {
    /// An instance without data and logs.
    pub(super) empty_mib: u64,
    /// Bytes of a loaded row with its three indexes.
    pub(super) row: u64,
    /// How far data, indexes and undo grow under inserts and deletes, in per cent.
    pub(super) growth_percent: u64,
    /// Rows per second in `l.i0`.
    pub(super) i0_rate: u64,
    /// Table rows indexed per second in `l.x`.
    pub(super) lx_rate: u64,
    /// Rows per second in `l.i1`, with as many deletes.
    pub(super) i1_rate: u64,
    /// Rows per second in `l.i2`, with as many deletes.
    pub(super) i2_rate: u64,
    /// Bytes that a row takes besides its columns, and a page does not use for rows.
    pub(super) row_overhead: u64,
    /// The same of an entry of a secondary index that was built after the load.
    pub(super) entry_overhead: u64,
    /// How far tables and indexes grow when tests write, in per cent.
    pub(super) written_percent: u64,
    /// Bytes of rows that are loaded per second.
    pub(super) load_rate: u64,
    /// Bytes of a loaded warehouse with its indexes, in per cent of those of its columns.
    pub(super) warehouse_percent: u64,
    /// Transactions of the TPC-C-like mix per second of a client that does not wait.
    pub(super) transactions: u64,
    /// Clients whose transactions run at the same time: with more, there are not more in a second.
    pub(super) at_once: u32,
    /// To make an instance, start and stop it.
    pub(super) around: Nanos,
}

pub(super) const fn costs(dbms: Dbms) -> Costs {
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
            row_overhead: 40,
            entry_overhead: 20,
            written_percent: 150,
            load_rate: 25 << 20,
            warehouse_percent: 175,
            transactions: 700,
            at_once: 8,
            around: Nanos::from_secs(3),
        },
        Dbms::Sqlite | Dbms::Other => Costs {
            empty_mib: 0,
            row: 126,
            growth_percent: 130,
            i0_rate: 100_000,
            lx_rate: 250_000,
            i1_rate: 8_000,
            i2_rate: 2_000,
            row_overhead: 16,
            entry_overhead: 10,
            written_percent: 130,
            load_rate: 40 << 20,
            warehouse_percent: 140,
            transactions: 3_000,
            // One transaction writes at a time.
            at_once: 1,
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
    row_overhead: 36,
    entry_overhead: 16,
    written_percent: 150,
    load_rate: 15 << 20,
    warehouse_percent: 160,
    transactions: 600,
    at_once: 8,
    around: Nanos::from_secs(5),
};

/// Redo log, WAL and binary log of a system that writes so many bytes to the binary log or to WAL. The
/// binary log is counted whole: nothing resets it between the steps.
pub(super) fn logs(system: &System, binlog: u64, wal: u64) -> u64 {
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
            let binlog = if has_binlog(system) { binlog } else { 0 };
            super::sum([
                redo.max(option("innodb_redo_log_capacity", Bytes(0))),
                binlog,
            ])
        }
        // The limit is soft: WAL may pass it by a checkpoint's worth.
        Dbms::Postgres => option("max_wal_size", Bytes::from_mib(1024))
            .saturating_mul(2)
            .min(wal.saturating_add(32 << 20)),
        // The write-ahead log or the rollback journal: as large as the largest transaction or a
        // checkpoint's worth of pages.
        Dbms::Sqlite | Dbms::Other => 16 << 20,
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
