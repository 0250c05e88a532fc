//! When transactions start: `wait`, `rate`, `ramp`, and how they arrive.

use model::TpccPace;

use crate::fields::Fields;
use crate::sql::pace::{self, MAX_RATE, QUEUE_KEYS, Queue, RAMP, RAMP_KEYS, Ramp};
use crate::{Result, keys};

/// A hundred times as long as the standard's.
const MAX_WAIT_PERCENT: u32 = 10_000;

type Key = keys::Key<Paces>;

pub(crate) struct Paces {
    wait: Option<u32>,
    rate: Option<u64>,
    ramp: Option<Ramp>,
}

pub(crate) static KEYS: [Key; 3] = [
    Key::small("wait", 1..=MAX_WAIT_PERCENT, |p, n| p.wait = Some(n)).says(
        "none",
        "keying and think times, in per cent of the standard's. Without it each terminal starts the next transaction \
         when the last has ended. Excludes `rate` and `ramp`; fixed homes have room for 10 terminals a warehouse",
    ),
    Key::count("rate", 1..=MAX_RATE, |p, n| p.rate = Some(n))
        .says("none", "transactions that arrive per second, for all terminals together; excludes `ramp`"),
    Key::other("ramp", RAMP, |p, v| {
        pace::search(v, &RAMP_KEYS[..2]).map(|it| p.ramp = Some(it))
    })
    .says("none", "`{ from = 100 }`: looks for the highest rate at which nine in ten of each transaction keep their \
           limit, from this one on, and measures it"),
];

pub(super) fn read(fields: &Fields<'_>) -> Result<TpccPace> {
    fields.only_one(&["wait", "rate", "ramp"])?;
    let mut paces = Paces { wait: None, rate: None, ramp: None };
    keys::apply(&KEYS, fields, &mut paces)?;
    let mut open = Queue::default();
    keys::apply(&QUEUE_KEYS, fields, &mut open)?;
    pace::check(fields, paces.rate.is_some() || paces.ramp.is_some())?;
    let Queue { arrivals, queue } = open;
    Ok(match (paces.rate, paces.ramp, paces.wait) {
        (Some(per_second), _, _) => TpccPace::Rate { per_second, arrivals, queue },
        (None, Some(Ramp { from, attempt_seconds, .. }), _) => {
            TpccPace::Ramp { from, arrivals, queue, attempt_seconds }
        }
        (None, None, Some(percent)) => TpccPace::Wait { percent },
        (None, None, None) => TpccPace::NoWait,
    })
}
