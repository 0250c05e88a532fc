//! When a paced client sends: pure functions of the operation's number.

use model::{Nanos, Pacing};

/// The intended start of each operation of one client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// Rows per second of this client.
    rate: u64,
    /// Rows of each operation.
    rows: u64,
    /// Where in its period a client sends, so that many clients do not send at once.
    phase: Nanos,
    pacing: Pacing,
}

impl Schedule {
    /// A client that must touch `rate` rows per second, `rows` at a time, as `index` of `clients`.
    /// `rate` and `rows` must not be zero.
    pub fn new(pacing: Pacing, rate: u64, rows: u64, index: u32, clients: u32) -> Self {
        let period = rows * Nanos::SECOND.0 / rate;
        let phase = match pacing {
            Pacing::Even => Nanos(period * u64::from(index) / u64::from(clients.max(1))),
            Pacing::Burst => Nanos(0),
        };
        Self {
            rate,
            rows,
            phase,
            pacing,
        }
    }

    /// The same schedule, half a period later: deletes fall between inserts.
    #[must_use]
    pub fn half_a_period_later(self) -> Self {
        match self.pacing {
            Pacing::Even => Self {
                phase: Nanos(self.phase.0 + self.period() / 2),
                ..self
            },
            Pacing::Burst => self,
        }
    }

    /// When operation `n` should start, since the window opened.
    ///
    /// Even: `n` periods, without accumulated rounding. Burst: as the original benchmark, all
    /// operations of a second at its start; `ceil(rate / rows)` operations make a second.
    pub fn due(&self, n: u64) -> Nanos {
        match self.pacing {
            Pacing::Even => Nanos(self.after(n) + self.phase.0),
            Pacing::Burst => {
                let per_second = self.rate.div_ceil(self.rows).max(1);
                Nanos::from_secs(n / per_second)
            }
        }
    }

    /// When a client that sent `n` operations is done: the end of the last one's period, so that
    /// the window holds whole periods and the rate over it is the scheduled one.
    pub fn end(&self, n: u64) -> Nanos {
        match self.pacing {
            Pacing::Even => Nanos(self.after(n)),
            Pacing::Burst => self.due(n),
        }
    }

    /// Does an operation have an intended start, from which a response time counts?
    pub fn has_intended_start(&self) -> bool {
        self.pacing == Pacing::Even
    }

    fn period(&self) -> u64 {
        self.after(1)
    }

    fn after(&self, n: u64) -> u64 {
        let nanos = u128::from(n) * u128::from(self.rows) * u128::from(Nanos::SECOND.0);
        (nanos / u128::from(self.rate)) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn even_pacing_has_no_drift() {
        for rate in [100, 500, 1000, 20_000, 333] {
            let s = Schedule::new(Pacing::Even, rate, 50, 0, 1);
            let hour = rate * 3600 / 50;
            let exact = hour as f64 * 50.0 / rate as f64 * 1e9;
            assert!((s.due(hour).0 as f64 - exact).abs() <= 1.0, "{rate}");
        }
    }

    #[test]
    fn two_statements_a_second_make_one_second() {
        let s = Schedule::new(Pacing::Even, 100, 50, 0, 1);
        assert_eq!(s.due(0), Nanos(0));
        assert_eq!(s.due(1), Nanos::from_millis(500));
        assert_eq!(s.end(2), Nanos::SECOND);
        assert_eq!(s.half_a_period_later().due(1), Nanos::from_millis(750));
    }

    #[test]
    fn clients_are_spread_over_the_period() {
        let due: Vec<u64> = (0..4)
            .map(|c| Schedule::new(Pacing::Even, 100, 50, c, 4).due(0).0 / 1_000_000)
            .collect();
        assert_eq!(due, [0, 125, 250, 375]);
    }

    #[test]
    fn a_burst_comes_at_the_start_of_each_second() {
        let s = Schedule::new(Pacing::Burst, 500, 50, 3, 8);
        let seconds: Vec<u64> = [0, 9, 10, 19, 20]
            .map(|n| s.due(n).0 / 1_000_000_000)
            .to_vec();
        assert_eq!(seconds, [0, 0, 1, 1, 2]);
        assert_eq!(s.end(20), Nanos::from_secs(2));
        assert!(!s.has_intended_start());
    }
}
