//! Steps that write, by turns: do verdicts keep their error rates if each server has its own checkpoints and the host
//! drifts?

use model::{MetricId, Rng, RunData, Verdict};
use testkit::fixtures::{cell, empty_run, slice};

use super::normal;
use crate::{Options, compare};

const SYSTEMS: [&str; 2] = ["a", "b"];
const TURNS: u32 = 16;
/// Noise of one turn, as a standard deviation of its log rate.
const NOISE: f64 = 0.08;
/// How far two starts are apart: a standard deviation.
const START: f64 = 0.005;

/// The parameters of a run.
#[derive(Clone, Copy)]
struct Truth {
    steps: u32,
    rounds: u32,
    /// Effect of the second system in the first step.
    effect: f64,
}

/// A server's own checkpoints, every 9 to 14 turns: one turn loses half its operations, the next two make up for it.
struct Checkpoints {
    period: u32,
    phase: u32,
}

impl Checkpoints {
    fn new(rng: &mut Rng) -> Self {
        Self { period: 9 + rng.below(6) as u32, phase: rng.below(14) as u32 }
    }

    fn log(&self, turn: u32) -> f64 {
        match (turn + self.phase) % self.period {
            0 => -0.7,
            1 | 2 => 0.25,
            _ => 0.0,
        }
    }
}

impl Truth {
    fn run(&self, rng: &mut Rng) -> RunData {
        let mut data = empty_run(&SYSTEMS);
        for step in 0..self.steps {
            let name = format!("s{step}");
            for round in 1..=self.rounds {
                self.round(&mut data, rng, &name, round);
            }
        }
        data
    }

    fn round(&self, data: &mut RunData, rng: &mut Rng, step: &str, round: u32) {
        let drifts = drifts(rng);
        for (place, system) in SYSTEMS.into_iter().enumerate() {
            let checkpoints = Checkpoints::new(rng);
            let effect = if place == 1 && step == "s0" { self.effect } else { 0.0 };
            let start = effect + START / 2.0_f64.sqrt() * normal(rng);
            let mut sum = 0.0;
            for (turn, drift) in (0..).zip(&drifts) {
                let burst = if rng.below(12) == 0 { -0.5 } else { 0.0 };
                let own = start + checkpoints.log(turn) + NOISE * normal(rng) + burst;
                let rate = 1000.0 * (drift + own).exp();
                sum += rate / f64::from(TURNS);
                data.slices.push(slice(round, system, step, turn, rate));
            }
            data.cells.push(cell(round, system, step, "rate", sum));
        }
    }

    /// The number of runs that report a change in a step without one, the number that report the real change, and the
    /// share of intervals that cover the truth.
    fn judged(&self, runs: u32) -> (u32, u32, f64) {
        let mut rng = Rng::new(53);
        let options =
            Options { margins: [(MetricId::new("rate"), 0.02)].into(), ..Options::default() };
        let (mut alarms, mut found, mut held) = (0, 0, 0.0);
        for _ in 0..runs {
            let mut is_alarm = false;
            for comparison in compare(&self.run(&mut rng), &options).unwrap() {
                let is_slow = self.effect != 0.0 && comparison.step.0 == "s0";
                let truth = if is_slow { self.effect.exp() } else { 1.0 };
                let (low, high) = (comparison.low.unwrap(), comparison.high.unwrap());
                held += f64::from(u8::from(low <= truth && truth <= high));
                let is_called =
                    matches!(comparison.verdict, Verdict::Regressed | Verdict::Improved);
                found += u32::from(is_called && is_slow);
                is_alarm |= is_called && !is_slow;
            }
            alarms += u32::from(is_alarm);
        }
        (alarms, found, held / f64::from(runs * self.steps))
    }
}

/// The log of the host's speed in each turn, for both systems: a slow drift with a standard deviation of about 0.1.
fn drifts(rng: &mut Rng) -> Vec<f64> {
    let mut drift = 0.1 * normal(rng);
    let next = |_| {
        drift = 0.95 * drift + 0.03 * normal(rng);
        drift
    };
    (0..TURNS).map(next).collect()
}

#[test]
fn verdicts_on_writes_by_turns_are_as_certain_as_they_say() {
    let runs = 400;
    for (steps, rounds, least) in [(10, 4, 0), (1, 8, 0), (1, 30, runs * 2 / 5)] {
        let alike = Truth { steps, rounds, effect: 0.0 };
        let (alarms, _, held) = alike.judged(runs);
        let (_, found, _) = Truth { effect: -0.03, ..alike }.judged(runs);
        eprintln!(
            "writes by turns, {steps} steps, {rounds} rounds: alarms in {alarms} of {runs} runs, intervals hold in {held:.4}, -3 % found in {found}"
        );
        assert!(alarms <= runs / 50, "{alarms} alarms");
        assert!((0.935..=0.995).contains(&held), "{held}");
        assert!(found >= least, "{found} found");
    }
}
