//! The host's own noise: a loop compared with itself.

use std::hint::black_box;
use std::time::{Duration, Instant};

/// Never longer than this, whatever is asked for.
const LONGEST: Duration = Duration::from_secs(3);
/// How long a slice of the loop shall take.
const SLICE: Duration = Duration::from_millis(25);
/// As few pairs as give a standard deviation at all.
const FEWEST: usize = 4;

/// The variation of one loop, timed in pairs of neighbouring slices.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Noise {
    /// Standard deviation of the log ratio within a pair, in per cent.
    pub sd_percent: f64,
    pub pairs: usize,
}

/// Times a short CPU loop against itself in alternating slices for about `duration`, three seconds at
/// most. It speaks for CPU, caches and scheduler; a server on a disk varies by more.
pub fn noise(duration: Duration) -> Noise {
    let end = Instant::now() + duration.min(LONGEST);
    let steps = calibrate();
    let mut ratios = Vec::new();
    while ratios.len() < FEWEST || Instant::now() < end {
        let first = timed(steps);
        let second = timed(steps);
        // A/B, then B/A: a drift of the host does not look like a difference.
        let (a, b) = if ratios.len() % 2 == 0 { (first, second) } else { (second, first) };
        ratios.push((b.as_secs_f64() / a.as_secs_f64()).ln());
    }
    Noise { sd_percent: 100.0 * standard_deviation(&ratios), pairs: ratios.len() }
}

fn calibrate() -> u64 {
    let mut steps = 1 << 16;
    loop {
        let took = timed(steps);
        if took >= SLICE / 4 {
            let scale = SLICE.as_secs_f64() / took.as_secs_f64();
            return (steps as f64 * scale) as u64;
        }
        steps *= 2;
    }
}

fn timed(steps: u64) -> Duration {
    let start = Instant::now();
    let mut x = black_box(1u64);
    for n in 0..steps {
        x = model::mix(x, &[n]);
    }
    black_box(x);
    // A clock that is too coarse to see the loop must not divide by zero.
    start.elapsed().max(Duration::from_nanos(1))
}

/// Of the sample; 0 for fewer than two.
fn standard_deviation(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    if n < 2.0 {
        return 0.0;
    }
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
    (squares / (n - 1.0)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_standard_deviation_is_that_of_a_sample() {
        let sd = standard_deviation(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]);
        assert!((sd - (32.0f64 / 7.0).sqrt()).abs() < 1e-12);
        assert!(standard_deviation(&[1.0]).abs() < f64::EPSILON);
    }

    #[test]
    fn a_short_look_still_gives_a_number() {
        let noise = noise(Duration::ZERO);
        assert_eq!(noise.pairs, FEWEST);
        assert!(noise.sd_percent.is_finite() && noise.sd_percent > 0.0);
    }
}
