//! When a paced client sends: pure functions of the operation's number.

use model::Nanos;

/// The intended start of each operation of one client, evenly spaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schedule {
    rate: u64,
    rows: u64,
    /// Where in its period a client sends, so that many clients do not send at once.
    phase: Nanos,
}

impl Schedule {
    /// A client, `index` of `clients`, that touches `rate` rows a second, `rows` at a time; neither is zero.
    pub fn new(rate: u64, rows: u64, index: u32, clients: u32) -> Self {
        let even = Self { rate, rows, phase: Nanos(0) };
        let phase = even.end(1).0 * u64::from(index) / u64::from(clients.max(1));
        Self { phase: Nanos(phase), ..even }
    }

    /// The same schedule, half a period away: deletes fall between inserts. The phase stays within the
    /// period, so that everything is due before the end of the schedule.
    #[must_use]
    pub fn half_a_period_away(self) -> Self {
        let period = self.end(1).0.max(1);
        Self { phase: Nanos((self.phase.0 + period / 2) % period), ..self }
    }

    /// When operation `n` should start after the opening: `n` periods, without accumulated rounding.
    pub fn due(&self, n: u64) -> Nanos {
        self.end(n) + self.phase
    }

    /// When a client that sent `n` operations is done: the end of the last one's period, so that all periods are whole.
    pub fn end(&self, n: u64) -> Nanos {
        let nanos = u128::from(n) * u128::from(self.rows) * u128::from(Nanos::SECOND.0);
        Nanos((nanos / u128::from(self.rate)) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn even_pacing_has_no_drift() {
        for rate in [100, 500, 1000, 20_000, 333] {
            let s = Schedule::new(rate, 50, 0, 1);
            let hour = rate * 3600 / 50;
            let exact = hour as f64 * 50.0 / rate as f64 * 1e9;
            assert!((s.due(hour).0 as f64 - exact).abs() <= 1.0, "{rate}");
        }
    }

    #[test]
    fn two_statements_a_second_make_one_second() {
        let s = Schedule::new(100, 50, 0, 1);
        assert_eq!(s.due(0), Nanos(0));
        assert_eq!(s.due(1), Nanos::from_millis(500));
        assert_eq!(s.end(2), Nanos::SECOND);
        assert_eq!(s.half_a_period_away().due(1), Nanos::from_millis(750));
    }

    #[test]
    fn everything_is_due_before_the_end() {
        for client in 0..7 {
            let s = Schedule::new(333, 50, client, 7);
            assert!(s.due(9) < s.end(10));
            assert!(s.half_a_period_away().due(9) < s.end(10));
        }
    }

    #[test]
    fn clients_are_spread_over_the_period() {
        let due: Vec<u64> =
            (0..4).map(|c| Schedule::new(100, 50, c, 4).due(0).0 / 1_000_000).collect();
        assert_eq!(due, [0, 125, 250, 375]);
    }
}
