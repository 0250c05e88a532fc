//! Drift: how throughput and cost change while a step is measured.

use serde::{Deserialize, Serialize};

use crate::Nanos;

/// The last third of a step's window compared with its first third.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Drift {
    /// Throughput, last ÷ first.
    pub rate: f64,
    /// Server CPU per operation, last ÷ first; `None` where the server's CPU was not read.
    pub server_cpu: Option<f64>,
}

/// A part of a window: one interval, or several that follow each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stretch {
    pub length: Nanos,
    pub count: u64,
    pub server_cpu: Option<Nanos>,
}

impl Stretch {
    fn plus(self, later: Self) -> Self {
        Self {
            length: self.length + later.length,
            count: self.count + later.count,
            server_cpu: self.server_cpu.zip(later.server_cpu).map(|(one, other)| one + other),
        }
    }

    fn rate(self) -> f64 {
        self.count as f64 / self.length.as_secs_f64()
    }

    fn server_cpu(self) -> Option<f64> {
        Some(self.server_cpu?.0 as f64 / self.count as f64)
    }
}

/// Collects a window's intervals in bounded memory.
#[derive(Clone, Debug, Default)]
pub struct Stretches {
    /// Each but the last has `each` intervals.
    all: Vec<Stretch>,
    each: usize,
    in_last: usize,
}

/// Stretches kept at most; when there are more, neighbours are joined. Even, so that none is left over.
const MOST: usize = 600;

impl Stretches {
    pub fn add(&mut self, interval: Stretch) {
        self.each = self.each.max(1);
        if let Some(last) = self.all.last_mut()
            && self.in_last < self.each
        {
            *last = last.plus(interval);
            self.in_last += 1;
            return;
        }
        if self.all.len() == MOST {
            let pairs = self.all.chunks(2);
            self.all =
                pairs.filter_map(|pair| pair.iter().copied().reduce(Stretch::plus)).collect();
            self.each *= 2;
        }
        self.all.push(interval);
        self.in_last = 1;
    }

    pub fn extend(&mut self, later: &Self) {
        later.all.iter().for_each(|stretch| self.add(*stretch));
    }

    /// The drift over the window; `None` with fewer than three intervals, or where a third has no operation.
    pub fn drift(&self) -> Option<Drift> {
        let third = self.all.len() / 3;
        let sum = |of: &[Stretch]| of.iter().copied().reduce(Stretch::plus);
        let first = sum(self.all.get(..third)?)?;
        let last = sum(self.all.get(self.all.len() - third..)?)?;
        let ratio = |last: f64, first: f64| Some(last / first).filter(|r| r.is_normal());
        Some(Drift {
            rate: ratio(last.rate(), first.rate())?,
            server_cpu: last
                .server_cpu()
                .zip(first.server_cpu())
                .and_then(|(last, first)| ratio(last, first)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn second(count: u64, micros: u64) -> Stretch {
        Stretch { length: Nanos::SECOND, count, server_cpu: Some(Nanos(1_000 * micros * count)) }
    }

    fn drift(seconds: impl IntoIterator<Item = Stretch>) -> Option<Drift> {
        let mut all = Stretches::default();
        seconds.into_iter().for_each(|second| all.add(second));
        all.drift()
    }

    #[test]
    fn the_last_third_is_compared_with_the_first() {
        let seconds = [(100, 20), (999, 1), (120, 15)].map(|(count, cpu)| second(count, cpu));
        let found = drift(seconds).unwrap();
        assert_eq!((found.rate, found.server_cpu), (1.2, Some(0.75)));
    }

    #[test]
    fn a_short_last_interval_counts_by_its_length() {
        let short = Stretch { length: Nanos::from_millis(100), ..second(10, 20) };
        let found = drift([second(100, 20), second(100, 20), short]).unwrap();
        assert!((found.rate - 1.0).abs() < 1e-12, "{found:?}");
    }

    #[test]
    fn what_cannot_be_told_is_absent() {
        assert_eq!(drift([second(1, 1); 2]), None);
        assert_eq!(drift([second(0, 0), second(5, 1), second(5, 1)]), None);
        assert_eq!(drift([second(5, 1), second(5, 1), second(0, 0)]), None);
        let blind = |count| Stretch { server_cpu: None, ..second(count, 0) };
        let found = drift([blind(10), blind(10), blind(20)]).unwrap();
        assert_eq!((found.rate, found.server_cpu), (2.0, None));
    }

    #[test]
    fn a_long_window_needs_no_more_memory_and_drifts_alike() {
        let mut all = Stretches::default();
        let hours = 100_000;
        for at in 0..hours {
            all.add(second(1_000 + at / 100, 20));
            assert!(all.all.len() <= MOST);
        }
        let seconds: u64 = all.all.iter().map(|s| s.length.0).sum();
        assert_eq!(seconds, hours * Nanos::SECOND.0);
        // From 1,167 a second in the middle of the first third to 1,833 in that of the last.
        let found = all.drift().unwrap();
        assert!((found.rate - 1_833.0 / 1_167.0).abs() < 0.01, "{found:?}");
        assert!((found.server_cpu.unwrap() - 1.0).abs() < 1e-12);
    }
}
