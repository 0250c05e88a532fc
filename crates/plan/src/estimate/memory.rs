//! What a plan needs of memory: the caches that a config asks for, and what each session takes.

use model::{BuildSource, Bytes, Dbms, Engine, Interleave, System, WorkloadSpec};

use super::{at_once, sum};
use crate::config::size;

/// What backslide takes by itself: the store, the probes, what is not yet written of results.
const OURS: u64 = 64 << 20;
/// What it takes for a client: its session, its generator, its samples.
const CLIENT: u64 = 1 << 20;

/// What a server takes besides its caches.
const fn empty(dbms: Dbms) -> u64 {
    match dbms {
        // The performance schema is the most of it.
        Dbms::Mysql => 350 << 20,
        Dbms::Mariadb => 100 << 20,
        Dbms::Postgres => 40 << 20,
        Dbms::Sqlite | Dbms::Other => 0,
    }
}

/// What a server takes for a session: a thread, or a process with copies of the catalog.
const fn session(dbms: Dbms) -> u64 {
    match dbms {
        Dbms::Mysql | Dbms::Mariadb => 1 << 20,
        Dbms::Postgres => 8 << 20,
        Dbms::Sqlite | Dbms::Other => 0,
    }
}

/// Memory of a system with its sessions and of backslide beside it. A server that is not ours has its memory
/// already.
pub(super) fn of(workload: &WorkloadSpec, system: &System) -> Bytes {
    let sessions = u64::from(sessions(workload));
    let dbms = system.build.dbms;
    let server = match system.build.source {
        BuildSource::Connect(_) | BuildSource::Imported(_) => 0,
        BuildSource::Embedded | BuildSource::Path(_) | BuildSource::Installed { .. } => sum([
            empty(dbms),
            sessions.saturating_mul(session(dbms)),
            caches(system, sessions),
        ]),
    };
    Bytes(sum([OURS, sessions.saturating_mul(CLIENT), server]))
}

/// The most at the same time, of what each system takes with backslide beside it.
pub(super) fn peak(interleave: Interleave, systems: &[(String, Bytes)]) -> Bytes {
    // There is one backslide beside all of them.
    let each = systems.iter().map(|(_, memory)| memory.0);
    let servers = each.map(|memory| memory.saturating_sub(OURS));
    Bytes(sum([OURS, at_once(interleave, servers)]))
}

/// The most sessions at the same time.
fn sessions(workload: &WorkloadSpec) -> u32 {
    match workload {
        WorkloadSpec::Insert(spec) => {
            let each = 1 + u32::from(spec.deletes) + spec.query_sessions;
            spec.clients.saturating_mul(each)
        }
        WorkloadSpec::Sql(spec) => spec.most_clients().max(spec.load.clients),
        WorkloadSpec::Tpcc(spec) => spec.clients.max(spec.load.clients),
    }
}

/// What the config asks for, else what a server has by default.
fn caches(system: &System, sessions: u64) -> u64 {
    let value = |name: &str| {
        let mut settings = system.config.settings.iter().rev();
        let setting = settings.find(|setting| setting.name.replace('-', "_") == name)?;
        setting.value.as_deref()
    };
    let of = |name: &str, default: Bytes| value(name).and_then(size).unwrap_or(default).0;
    match (system.build.dbms, system.engine) {
        (Dbms::Postgres, _) => of("shared_buffers", Bytes::from_mib(128)),
        // Each connection has its own.
        (Dbms::Sqlite | Dbms::Other, _) => {
            sessions.saturating_mul(sqlite_cache(value("cache_size")))
        }
        (Dbms::Mysql | Dbms::Mariadb, engine) => {
            let pool = of("innodb_buffer_pool_size", Bytes::from_mib(128));
            let other = match engine {
                Engine::Myrocks => of("rocksdb_block_cache_size", Bytes::from_mib(512)),
                Engine::Tokudb => of("tokudb_cache_size", Bytes::from_mib(128)),
                Engine::Innodb | Engine::Heap | Engine::Btree | Engine::Other => 0,
            };
            sum([pool, other])
        }
    }
}

/// Pages of 4 KiB, or KiB with a minus sign; 2,000 KiB where nothing is said.
fn sqlite_cache(value: Option<&str>) -> u64 {
    let number = value.and_then(|text| text.trim().parse::<i64>().ok());
    match number.unwrap_or(-2_000) {
        kib @ ..=0 => kib.unsigned_abs().saturating_mul(1 << 10),
        pages => pages.unsigned_abs().saturating_mul(4 << 10),
    }
}
