//! When operations start: `rate`, `arrivals`, `queue` and `ramp`.

use model::{Arrivals, SqlPace, set_word};

use crate::Result;
use crate::fields::{Fields, Item};
use crate::keys::Takes::{Count, Other, Small, Word};
use crate::keys::{self, Key};

pub(crate) const MAX_RATE: u64 = 10_000_000;
/// Longer answers than a minute are no limit that anyone keeps.
const MAX_LIMIT_MICROS: u64 = 60_000_000;

/// How operations arrive and wait, where they arrive by themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Queue {
    pub(crate) arrivals: Arrivals,
    pub(crate) queue: u32,
}

impl Default for Queue {
    fn default() -> Self {
        Self { arrivals: Arrivals::Poisson, queue: 100_000 }
    }
}

pub(crate) static QUEUE_KEYS: &[Key<Queue>] = &[
    Key("arrivals", Word("kind of arrivals", |q, w| set_word(&mut q.arrivals, w))),
    Key("queue", Small(1..=10_000_000, |q, n| q.queue = n)),
];

/// `ramp = { from = 1000, p99 = "10ms", attempt_seconds = 10 }`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ramp {
    pub(crate) from: u64,
    pub(crate) attempt_seconds: u32,
    /// Per mille, and microseconds.
    pub(crate) limits: Vec<(u32, u64)>,
}

/// The first two are all that a ramp of transactions with limits of their own has.
pub(crate) static RAMP_KEYS: &[Key<Ramp>] = &[
    Key("from", Count(1..=MAX_RATE, |r, n| r.from = n)),
    Key("attempt_seconds", Small(1..=3_600, |r, n| r.attempt_seconds = n)),
    Key("p50", Other(|r, v| r.limit(500, v))),
    Key("p90", Other(|r, v| r.limit(900, v))),
    Key("p95", Other(|r, v| r.limit(950, v))),
    Key("p99", Other(|r, v| r.limit(990, v))),
    Key("p999", Other(|r, v| r.limit(999, v))),
];

impl Ramp {
    pub(crate) fn pace(&self, Queue { arrivals, queue }: Queue) -> SqlPace {
        let (permille, limit_micros) = self.limits.first().copied().unwrap_or_default();
        let Self { from, attempt_seconds, .. } = *self;
        SqlPace::Ramp { from, arrivals, queue, permille, limit_micros, attempt_seconds }
    }

    fn limit(&mut self, permille: u32, item: Item<'_>) -> Result<()> {
        let expected =
            "a whole number of us, ms or s, up to a minute, such as \"500us\", \"10ms\" or \"1s\"";
        let is_limit = |micros: &u64| (1..=MAX_LIMIT_MICROS).contains(micros);
        let limit = item.text_as(expected, |text| micros(text).filter(is_limit))?;
        self.limits.push((permille, limit));
        Ok(())
    }
}

/// An error where the table says how operations arrive or wait, and none arrives by itself.
pub(crate) fn check(fields: &Fields<'_>, is_open: bool) -> Result<()> {
    match fields.first(&["arrivals", "queue"]) {
        Some(item) if !is_open => Err(item.conflict(format!(
            "`{}` without `rate` or `ramp`: clients that send the next operation when they have \
             the answer to the last need none",
            item.key
        ))),
        _ => Ok(()),
    }
}

pub(crate) fn search(item: Item<'_>, keys: &[Key<Ramp>]) -> Result<Ramp> {
    let mut ramp = Ramp { from: 0, attempt_seconds: 10, limits: Vec::new() };
    keys::read(keys, item.node, "ramp", &mut ramp)?.need("from")?;
    Ok(ramp)
}

pub(crate) fn ramp(item: Item<'_>) -> Result<Ramp> {
    let ramp = search(item, RAMP_KEYS)?;
    if let [_] = ramp.limits.as_slice() {
        return Ok(ramp);
    }
    Err(item.conflict(
        "`ramp` needs the limit of one percentile of response time, such as `p99 = \"10ms\"`",
    ))
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
