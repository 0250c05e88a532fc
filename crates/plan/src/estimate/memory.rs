//! What a plan needs of memory: the caches that a config asks for, and what each session takes.

use model::{BuildSource, Bytes, Interleave, Plan, System};

use super::{at_once, sum};
use crate::config::size;

/// What backslide takes by itself: the store, the probes, what is not yet written of results.
const OURS: u64 = 64 << 20;
/// What it takes for a client: its session, its generator, its samples.
const CLIENT: u64 = 1 << 20;

/// Memory of a system with so many sessions and of backslide beside it. A server that is not ours has its memory
/// already.
pub(super) fn of(sessions: u32, system: &System) -> Bytes {
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
pub(super) fn peak(interleave: Interleave, systems: &[(String, Bytes)]) -> Bytes {
    // There is one backslide beside all of them.
    let each = systems.iter().map(|(_, memory)| memory.0);
    let servers = each.map(|memory| memory.saturating_sub(OURS));
    Bytes(sum([OURS, at_once(interleave, servers)]))
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
