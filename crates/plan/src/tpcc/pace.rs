//! When transactions start: `wait`, `rate`, `ramp`, and how they arrive.

use model::TpccPace;

use crate::PlanError;
use crate::fields::{Fields, Item};
use crate::sql::pace::{self, ARRIVALS, ATTEMPTS, QUEUE};

/// The keys that [`read`] reads.
pub(super) const KEYS: [&str; 5] = ["wait", "rate", "ramp", "arrivals", "queue"];
/// A hundred times as long as the standard's.
const MAX_WAIT_PERCENT: u32 = 10_000;

/// What all of these keys come to.
pub(super) fn read(fields: &Fields<'_>) -> Result<TpccPace, PlanError> {
    fields.only_one(&["wait", "rate", "ramp"])?;
    let arrivals = fields.get("arrivals").map(pace::arrivals).transpose()?;
    let queue = fields.get("queue").map(pace::queue).transpose()?;
    let (rate, ramp) = (fields.get("rate"), fields.get("ramp"));
    pace::check(fields, rate.is_some() || ramp.is_some())?;
    let (arrivals, queue) = (arrivals.unwrap_or(ARRIVALS), queue.unwrap_or(QUEUE));
    if let Some(rate) = rate {
        return Ok(TpccPace::Rate {
            per_second: pace::rate(rate)?,
            arrivals,
            queue,
        });
    }
    if let Some(ramp) = ramp {
        let (from, attempt_seconds) = search(ramp)?;
        return Ok(TpccPace::Ramp {
            from,
            arrivals,
            queue,
            attempt_seconds,
        });
    }
    match fields.get("wait") {
        None => Ok(TpccPace::NoWait),
        Some(wait) => wait
            .small(1..=MAX_WAIT_PERCENT)
            .map(|percent| TpccPace::Wait { percent }),
    }
}

/// `ramp = { from = 100, attempt_seconds = 10 }`: the limits are those of the transactions.
fn search(item: Item<'_>) -> Result<(u64, u32), PlanError> {
    pace::attempts(&Fields::new(item.node, "ramp", &ATTEMPTS)?)
}
