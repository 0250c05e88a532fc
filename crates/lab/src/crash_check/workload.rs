//! What a system that is to crash is loaded with, and what its terminals do.

use std::ops::ControlFlow;
use std::time::Duration;

use load::{Observer, Stop, Target};
use model::{Edge, ErrorRules, Interval, LoadSpec, Settle, TpccCardinality, TpccSpec};

use super::victim::BEGIN_LIMIT;

/// Sessions that load, and that prove the conditions.
const LOADERS: u32 = 2;
/// How much longer terminals could go on than until the latest kill: what killing takes at the most.
const SPARE: Duration = Duration::from_mins(1);

/// The workload of a crash check: the transactions of the standard without waits, statement by statement,
/// by `clients` terminals on `warehouses`, killed `within` that time after the first commit. A lost
/// connection ends it.
pub fn crash_workload(
    warehouses: u32,
    clients: u32,
    within: Duration,
    cardinality: TpccCardinality,
) -> TpccSpec {
    let longest = (BEGIN_LIMIT + within + SPARE).as_secs();
    let load = LoadSpec { indexes_first: true, ..LoadSpec::usual(LOADERS) };
    let usual = TpccSpec::usual(warehouses, load).with_few_indexes();
    TpccSpec {
        cardinality,
        settle: Settle::Seconds(0),
        clients,
        steps: 1,
        seconds: u32::try_from(longest).unwrap_or(u32::MAX),
        warmup_seconds: 0,
        errors: ErrorRules { tries: 10_000, ..ErrorRules::usual() },
        ..usual
    }
}

/// Loads the database and proves what was loaded; the error says what is wrong.
pub(super) fn load(spec: &TpccSpec, seed: u64, target: &Target, stop: &Stop) -> Result<(), String> {
    let mut workload = workloads::workload(&spec.clone().into(), seed);
    for step in spec.trial_steps().iter().filter(|step| step.loads) {
        let ran = workload.run(step.ordinal as usize, target, stop, &mut Unwatched);
        let result = ran.map_err(|error| error.to_string())?;
        if let Some(wrong) = result.checks.iter().find(|check| !check.holds) {
            return Err(format!(
                "wrong after the load: {}: expected {}, found {}",
                wrong.what, wrong.expected, wrong.actual
            ));
        }
    }
    Ok(())
}

struct Unwatched;

impl Observer for Unwatched {
    fn edge(&mut self, _: Edge) {}

    fn interval(&mut self, _: Interval) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}
