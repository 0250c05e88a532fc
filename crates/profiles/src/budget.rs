//! How many thread switches the kernel may report.
//!
//! A record of a switch costs the server up to 3 µs in a virtual machine, and a server of short queries switches a
//! hundred thousand times per second. So events of switches pause when there are many.

/// Records per second of each CPU: about 0.6 % of its time.
const RECORDS: f64 = 2_000.0;
/// The budget of this many seconds may be spent at once.
const SECONDS: f64 = 0.5;

/// What the events of switches must do from now on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    Pause,
    Resume,
}

pub(crate) struct Budget {
    full: f64,
    left: f64,
    /// When `left` had its value, in nanoseconds.
    time: u64,
}

impl Budget {
    pub(crate) fn new(cpus: usize, now: u64) -> Self {
        let full = RECORDS * SECONDS * cpus as f64;
        Self { full, left: full, time: now }
    }

    /// Spends `records`, which the kernel made since the last call. What must change, given whether events are paused?
    pub(crate) fn spend(&mut self, records: u64, now: u64, is_paused: bool) -> Option<Change> {
        let seconds = now.saturating_sub(self.time) as f64 / 1e9;
        self.time = now;
        self.left = (self.left + seconds * self.full / SECONDS).min(self.full) - records as f64;
        match is_paused {
            false if self.left < 0.0 => Some(Change::Pause),
            true if self.left >= self.full => Some(Change::Resume),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Looks 20 times per second for ten seconds; returns how many records were made at this rate of switches.
    fn made(per_second: u64) -> u64 {
        let mut budget = Budget::new(2, 0);
        let (mut made, mut is_paused) = (0, false);
        for look in 1..=200 {
            let records = if is_paused { 0 } else { per_second / 20 };
            made += records;
            match budget.spend(records, look * 50_000_000, is_paused) {
                Some(Change::Pause) => is_paused = true,
                Some(Change::Resume) => is_paused = false,
                None => {}
            }
        }
        made
    }

    #[test]
    fn few_switches_are_all_seen_and_many_cost_what_the_budget_has() {
        assert_eq!(made(3_800), 38_000);
        for per_second in [20_000, 200_000] {
            let made = made(per_second);
            assert!((24_000..=50_000).contains(&made), "{made} at {per_second}");
        }
    }
}
