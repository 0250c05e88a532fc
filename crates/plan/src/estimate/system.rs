//! What a system needs besides its tables: logs, the caches that its config asks for, and what each session takes.

use model::{BuildSource, Bytes, Plan, System};

use super::{at_once, sum};
use crate::config::size;

/// What backslide takes by itself: the store, the probes, what is not yet written of results.
const OURS: u64 = 64 << 20;
/// What it takes for a client: its session, its generator, its samples.
const CLIENT: u64 = 1 << 20;

/// Memory of a system with so many sessions and of backslide. A server that is not ours has its memory already.
pub(super) fn memory(sessions: u32, system: &System) -> Bytes {
    let sessions = u64::from(sessions);
    let memory = &system.build.dbms.product().memory;
    let server = match system.build.source {
        BuildSource::Connect(_) | BuildSource::Imported(_) => 0,
        BuildSource::Embedded
        | BuildSource::Path(_)
        | BuildSource::Installed { .. }
        | BuildSource::Obtainable { .. } => sum([
            memory.server_mib << 20,
            sessions.saturating_mul(memory.session_mib << 20),
            caches(system, sessions),
        ]),
    };
    Bytes(sum([OURS, sessions.saturating_mul(CLIENT), server]))
}

/// The most at the same time, of what each system takes with backslide beside it.
pub(super) fn peak_memory(plan: &Plan, systems: &[(String, Bytes)]) -> Bytes {
    // There is one backslide beside all of them.
    let server =
        |(name, memory): &(String, Bytes)| (name.clone(), Bytes(memory.0.saturating_sub(OURS)));
    let servers: Vec<_> = systems.iter().map(server).collect();
    Bytes(sum([OURS, at_once(plan, &servers)]))
}

/// The most sessions at the same time that take memory worth counting.
pub(super) fn sessions(plan: &Plan) -> u32 {
    match plan.workload.insert() {
        Some(spec) => {
            let each = 1 + u32::from(spec.deletes) + spec.query_sessions;
            spec.clients.saturating_mul(each)
        }
        None => plan.steps.iter().map(|step| step.clients).max().unwrap_or(0),
    }
}

/// What the config asks for, otherwise the default of the server.
fn caches(system: &System, sessions: u64) -> u64 {
    let value = |name: &str| system.config.value(name);
    let memory = &system.build.dbms.product().memory;
    let caches = memory.caches.iter();
    let caches = caches.filter(|cache| cache.engine.is_none_or(|engine| engine == system.engine));
    let caches = caches.map(|cache| {
        let asked = value(&cache.option).and_then(size);
        asked.map_or(cache.default_mib << 20, |size| size.0)
    });
    // Each connection has its own.
    let of_sessions = memory.page_cache.as_ref();
    let of_sessions =
        of_sessions.map_or(0, |option| sessions.saturating_mul(page_cache(value(option))));
    caches.chain([of_sessions]).fold(0, u64::saturating_add)
}

/// Pages of 4 KiB, or KiB with a minus sign; 2,000 KiB where nothing is said.
fn page_cache(value: Option<&str>) -> u64 {
    let number = value.and_then(|text| text.trim().parse::<i64>().ok());
    match number.unwrap_or(-2_000) {
        kib @ ..=0 => kib.unsigned_abs().saturating_mul(1 << 10),
        pages => pages.unsigned_abs().saturating_mul(4 << 10),
    }
}

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
    sum([redo.max(capacity), binlog, wal, logs.fixed_mib << 20])
}

fn has_binlog(system: &System) -> bool {
    let has = |name: &str| system.config.settings.iter().any(|s| s.name.replace('-', "_") == name);
    system.build.dbms.product().logs.binlog.as_ref().is_some_and(|binlog| {
        let by_default = binlog.since.holds(&system.build.version);
        !binlog.off.iter().any(|name| has(name)) && (by_default || has(&binlog.on))
    })
}
