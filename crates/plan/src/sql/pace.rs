//! When operations start: `rate`, `arrivals`, `queue` and `ramp`.

use model::{Arrivals, SqlPace};

use crate::PlanError;
use crate::fields::{Fields, Item};

const MAX_RATE: u64 = 10_000_000;
/// How operations arrive where a plan does not say how.
pub(crate) const ARRIVALS: Arrivals = Arrivals::Poisson;
/// Operations that may wait where a plan does not say how many.
pub(crate) const QUEUE: u32 = 100_000;
/// Seconds of an attempt of a ramp where a plan does not say how many.
const ATTEMPT_SECONDS: u32 = 10;
/// Keys of a search for the highest rate that [`attempts`] reads.
pub(crate) const ATTEMPTS: [&str; 2] = ["from", "attempt_seconds"];
/// Percentiles that may have a limit, with their per mille.
const PERCENTILES: [(&str, u32); 5] = [
    ("p50", 500),
    ("p90", 900),
    ("p95", 950),
    ("p99", 990),
    ("p999", 999),
];
/// Longer answers than a minute are no limit that anyone keeps.
const MAX_LIMIT_MICROS: u64 = 60_000_000;

/// `ramp = { from = 1000, p99 = "10ms", attempt_seconds = 10 }`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ramp {
    from: u64,
    permille: u32,
    limit_micros: u64,
    attempt_seconds: u32,
}

/// Operations per second.
pub(crate) fn rate(item: Item<'_>) -> Result<u64, PlanError> {
    item.count(1..=MAX_RATE)
}

/// How arrivals are spread.
pub(crate) fn arrivals(item: Item<'_>) -> Result<Arrivals, PlanError> {
    let words = [("even", Arrivals::Even), ("poisson", Arrivals::Poisson)];
    item.word("kind of arrivals", &words)
}

/// Operations that may wait.
pub(crate) fn queue(item: Item<'_>) -> Result<u32, PlanError> {
    item.small(1..=10_000_000)
}

/// An error where the table says how operations arrive or wait, and none arrives by itself.
pub(crate) fn check(fields: &Fields<'_>, is_open: bool) -> Result<(), PlanError> {
    match fields.get("arrivals").or_else(|| fields.get("queue")) {
        Some(item) if !is_open => Err(item.conflict(format!(
            "`{}` without `rate` or `ramp`: clients that send the next operation when they have \
             the answer to the last need none",
            item.key
        ))),
        _ => Ok(()),
    }
}

/// The first rate of a search, and the seconds of each attempt.
pub(crate) fn attempts(fields: &Fields<'_>) -> Result<(u64, u32), PlanError> {
    let from = rate(fields.need("from")?)?;
    let seconds = fields.get("attempt_seconds");
    let seconds = seconds.map_or(Ok(ATTEMPT_SECONDS), |s| s.small(1..=3_600))?;
    Ok((from, seconds))
}

/// A search for the highest rate within a limit.
pub(crate) fn ramp(item: Item<'_>) -> Result<Ramp, PlanError> {
    let percentiles = PERCENTILES.map(|(key, _)| key);
    let keys = ATTEMPTS.into_iter().chain(percentiles);
    let fields = Fields::new(item.node, "ramp", &keys.collect::<Vec<_>>())?;
    let given = PERCENTILES.iter();
    let given: Vec<(Item<'_>, u32)> = given
        .filter_map(|(key, permille)| Some((fields.get(key)?, *permille)))
        .collect();
    let [(limit, permille)] = given.as_slice() else {
        return Err(item.conflict(
            "`ramp` needs the limit of one percentile of response time, such as `p99 = \"10ms\"`",
        ));
    };
    let (from, attempt_seconds) = attempts(&fields)?;
    Ok(Ramp {
        from,
        permille: *permille,
        limit_micros: limit_micros(limit)?,
        attempt_seconds,
    })
}

fn limit_micros(item: &Item<'_>) -> Result<u64, PlanError> {
    micros(item.text()?)
        .filter(|micros| (1..=MAX_LIMIT_MICROS).contains(micros))
        .ok_or_else(|| item.wrong("a whole number of us, ms or s, up to a minute, such as \"500us\", \"10ms\" or \"1s\""))
}

/// A time such as `500us`, `10ms` or `1s`, in microseconds.
pub(crate) fn micros(text: &str) -> Option<u64> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let micros = match unit.trim() {
        "us" | "µs" => 1,
        "ms" => 1_000,
        "s" => 1_000_000,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(micros)
}

/// What all of these come to.
pub(crate) fn pace(
    rate: Option<u64>,
    ramp: Option<&Ramp>,
    arrivals: Option<Arrivals>,
    queue: Option<u32>,
) -> SqlPace {
    let arrivals = arrivals.unwrap_or(ARRIVALS);
    let queue = queue.unwrap_or(QUEUE);
    match (rate, ramp) {
        (_, Some(ramp)) => SqlPace::Ramp {
            from: ramp.from,
            arrivals,
            queue,
            permille: ramp.permille,
            limit_micros: ramp.limit_micros,
            attempt_seconds: ramp.attempt_seconds,
        },
        (Some(per_second), None) => SqlPace::Rate {
            per_second,
            arrivals,
            queue,
        },
        (None, None) => SqlPace::Unlimited,
    }
}
