//! What a script needs, as far as its plan says: it alone knows how much it loads.

use model::{Bytes, LuaSpec, Nanos, System};

use super::{AROUND_STEP, attempts, sum};

pub(super) fn instance(system: &System) -> Bytes {
    Bytes(system.build.dbms.product().costs.empty_mib << 20)
}

/// Nanoseconds of a command with what is around it.
pub(super) fn step(spec: &LuaSpec, command: &str) -> u64 {
    let seconds = match command {
        LuaSpec::RUN => {
            attempts(&spec.pace) + u64::from(spec.warmup_seconds) + u64::from(spec.seconds)
        }
        _ => 0,
    };
    sum([Nanos::from_secs(seconds).0, AROUND_STEP.0])
}
