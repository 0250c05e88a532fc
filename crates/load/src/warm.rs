//! Warm-ups, and the rule that says when a rate is steady.
//!
//! How long clients have to run before a rate is worth measuring depends on the server: each new backend of
//! PostgreSQL needs some 150,000 point selects until its buffers are mapped, which is seconds on one machine and
//! minutes on another. So operations are counted in windows of a second, and the rate decides.

use std::collections::VecDeque;

use model::{Nanos, Note, NoteKind, WarmUpEnd, grouped};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WarmUp {
    None,
    Fixed(Nanos),
    Steady { at_most: Nanos },
}

impl WarmUp {
    /// What a plan says: what ends it, and its seconds.
    pub fn of(end: WarmUpEnd, seconds: u32) -> Self {
        let length = Nanos::from_secs(u64::from(seconds));
        match end {
            WarmUpEnd::Fixed if seconds == 0 => Self::None,
            WarmUpEnd::Fixed => Self::Fixed(length),
            WarmUpEnd::Steady => Self::Steady { at_most: length },
        }
    }
}

/// Length of a window whose rate is looked at.
pub const WINDOW: Nanos = Nanos::SECOND;

/// Windows on each side of a comparison: at least so many, because their noise is that of a slow rise; a third of
/// all so far, because a rise that takes long is slow; at most so many, so that a rise that is over is forgotten.
const SIDE: (usize, usize) = (6, 10);
/// The share by which the means of both sides may differ.
const WITHIN: f64 = 0.02;
/// How often in a row they must not differ by more, because once is chance.
const LOOKS: u32 = 2;

/// The rates of a warm-up's windows. The rate is steady when the mean of the last windows is that of as many before
/// them, at the last two ends of a window: see the constants above.
#[derive(Debug, Default)]
pub struct Rates {
    windows: usize,
    last: VecDeque<f64>,
    /// Looks in a row at which both sides were alike.
    alike: u32,
}

impl Rates {
    /// Another window is over, with so many operations a second. Is the rate steady now?
    pub fn add(&mut self, per_second: f64) -> bool {
        let (_, most) = SIDE;
        self.windows += 1;
        self.last.push_back(per_second);
        if self.last.len() > 2 * most {
            self.last.pop_front();
        }
        let is_alike = self.sides().is_some_and(|(before, now)| {
            let change = (now - before).abs();
            before > 0.0 && change <= WITHIN * before
        });
        self.alike = if is_alike { self.alike + 1 } else { 0 };
        self.alike >= LOOKS
    }

    /// Means of the windows on both sides; `None` while there are too few.
    fn sides(&self) -> Option<(f64, f64)> {
        let (least, most) = SIDE;
        let side = (self.windows / 3).clamp(least, most);
        let skipped = self.last.len().checked_sub(2 * side)?;
        let mean = |skipped| {
            let rates = self.last.iter().skip(skipped).take(side);
            rates.sum::<f64>() / side as f64
        };
        Some((mean(skipped), mean(skipped + side)))
    }

    pub fn told(&self, took: Nanos, operations: u64) -> Note {
        let operations = grouped(operations);
        if self.alike >= LOOKS {
            let text = format!("{took}, {operations} operations, steady");
            return Note::new(NoteKind::WarmedUp, text);
        }
        let rates = self.sides().map_or(String::new(), |(before, now)| {
            let [before, now] = [before, now].map(|rate| grouped(rate.round() as u64));
            format!("; {before}/s, then {now}/s")
        });
        let text = format!("after {took}, {operations} operations{rates}");
        Note::new(NoteKind::NotSteady, text)
    }
}

#[cfg(test)]
mod tests {
    use model::Rng;

    use super::*;

    /// Windows of the longest warm-up that is usual.
    const BOUND: usize = 60;

    /// How many windows it takes until these rates are called steady.
    fn windows(rates: impl Iterator<Item = f64>) -> Option<usize> {
        let mut seen = Rates::default();
        (1..).zip(rates).find(|(_, rate)| seen.add(*rate)).map(|(windows, _)| windows)
    }

    /// A normal deviate: the sum of twelve uniform ones.
    fn normal(rng: &mut Rng) -> f64 {
        (0..12).map(|_| rng.unit()).sum::<f64>() - 6.0
    }

    /// Where each of `series` seeded series of these true rates, with so much noise, is called steady.
    fn called(series: u64, noise: f64, truth: &dyn Fn(usize) -> f64) -> Vec<Option<usize>> {
        let each = (0..series).map(|seed| {
            let mut rng = Rng::new(seed);
            windows((0..BOUND).map(|at| truth(at) * (1.0 + noise * normal(&mut rng))))
        });
        each.collect()
    }

    #[test]
    fn a_flat_rate_is_steady_as_soon_as_can_be() {
        let first = windows((0..BOUND).map(|_| 5_000.0));
        assert_eq!(first, Some(WarmUpEnd::LEAST_SECONDS as usize));
    }

    #[test]
    fn a_flat_rate_with_noise_is_steady_within_a_few_windows() {
        let mut steady: Vec<usize> = called(400, 0.03, &|_| 5_000.0)
            .into_iter()
            .map(|windows| windows.unwrap_or(BOUND))
            .collect();
        steady.sort_unstable();
        assert!(steady[200] <= 15, "half of them after {}", steady[200]);
        assert!(steady[380] <= 25, "95 % of them after {}", steady[380]);
    }

    #[test]
    fn a_rate_that_rises_is_seldom_called_steady_early() {
        // Seconds after which a rise has e times less to go, and how much it has to go at first.
        for rise in [1.0, 2.0, 5.0, 10.0, 20.0] {
            for below in [0.3, 0.5, 0.7] {
                let truth = |at: usize| 1.0 - below * (-(at as f64 + 0.5) / rise).exp();
                let called = called(2_000, 0.03, &truth);
                // Early: still more than 5 % below what it rises to.
                let early = called.iter().flatten().filter(|windows| truth(*windows - 1) < 0.95);
                let early = early.count();
                assert!(early <= 100, "{early} of 2000, rise {rise}, below {below}");
            }
        }
    }

    #[test]
    fn a_rise_that_is_over_is_forgotten() {
        let truth = |at: usize| 1.0 - 0.7 * (-(at as f64 + 0.5) / 3.0).exp();
        let called = called(200, 0.03, &truth);
        let in_time = called.iter().flatten().filter(|windows| **windows <= 45).count();
        assert!(in_time >= 190, "{in_time} of 200");
    }

    #[test]
    fn a_server_that_maps_its_buffers_is_not_steady_before_it_has() {
        // Time of an operation falls from 56 to 20 µs over some 150,000 operations of each of 8 clients, on 2 CPUs.
        let (mut mapped, mut rates) = (0.0_f64, Vec::new());
        for _ in 0..BOUND {
            let micros = 20.0 + 36.0 * (-mapped / 40_000.0).exp();
            rates.push(2e6 / micros);
            mapped += 2e6 / micros / 8.0;
        }
        let limit = 2e6 / 20.0;
        let called = called(200, 0.02, &|at| rates[at]);
        let early = called.iter().flatten().filter(|windows| rates[*windows - 1] < 0.97 * limit);
        let early = early.count();
        assert!(early <= 10, "{early} of 200");
    }

    #[test]
    fn nothing_done_is_not_steady() {
        assert_eq!(windows((0..BOUND).map(|_| 0.0)), None);
    }

    #[test]
    fn what_came_of_it_is_told() {
        let mut rates = Rates::default();
        assert_eq!(
            rates.told(Nanos::from_secs(3), 1_500),
            Note::new(NoteKind::NotSteady, "after 3.00s, 1,500 operations")
        );
        while !rates.add(500.0) {}
        assert_eq!(
            rates.told(Nanos::from_secs(13), 412_345),
            Note::new(NoteKind::WarmedUp, "13.0s, 412,345 operations, steady")
        );
        for rate in [1_000.0; 6] {
            rates.add(rate);
        }
        let Note { what, text } = rates.told(Nanos::from_secs(60), 9);
        assert_eq!(what, NoteKind::NotSteady);
        assert_eq!(text, "after 1m00s, 9 operations; 500/s, then 1,000/s");
    }

    #[test]
    fn a_plan_says_what_ends_it() {
        assert_eq!(WarmUp::of(WarmUpEnd::Fixed, 0), WarmUp::None);
        assert_eq!(WarmUp::of(WarmUpEnd::Fixed, 5), WarmUp::Fixed(Nanos::from_secs(5)));
        let at_most = Nanos::from_secs(60);
        assert_eq!(WarmUp::of(WarmUpEnd::Steady, 60), WarmUp::Steady { at_most });
    }
}
