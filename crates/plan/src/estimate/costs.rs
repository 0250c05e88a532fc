//! How large the logs of a system get.

use model::{Bytes, System};

use crate::config::size;

/// Redo log, WAL and binary log of a system that writes so many bytes to the binary log or to WAL. The
/// binary log is counted whole: nothing resets it between the steps.
pub(super) fn logs(system: &System, binlog: u64, wal: u64) -> u64 {
    let build = &system.build;
    let logs = &build.dbms.product().logs;
    let option = |name: &str, mib: u64| {
        system.config.value(name).and_then(size).unwrap_or(Bytes::from_mib(mib)).0
    };
    let redo = logs.files.as_ref().map_or(0, |files| {
        let count = if files.one_since.holds(&build.version) { 1 } else { files.count };
        option(&files.option, files.default_mib).saturating_mul(count)
    });
    let capacity = logs.capacity.as_ref().map_or(0, |name| option(name, 0));
    let wal = logs.wal.as_ref().map_or(0, |limit| {
        let most = option(&limit.option, limit.default_mib).saturating_mul(limit.times);
        most.min(wal.saturating_add(limit.slack_mib << 20))
    });
    let binlog = if has_binlog(system) { binlog } else { 0 };
    super::sum([redo.max(capacity), binlog, wal, logs.fixed_mib << 20])
}

fn has_binlog(system: &System) -> bool {
    let has = |name: &str| system.config.settings.iter().any(|s| s.name.replace('-', "_") == name);
    system.build.dbms.product().logs.binlog.as_ref().is_some_and(|binlog| {
        let by_default = binlog.since.holds(&system.build.version);
        !binlog.off.iter().any(|name| has(name)) && (by_default || has(&binlog.on))
    })
}
