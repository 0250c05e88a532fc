//! Steps in slices: are the verdicts as certain as they say, where steps and starts differ in their noise?

use model::{MetricId, Rng, RunData, Verdict};
use testkit::fixtures::{cell, empty_run, slice};

use super::normal;
use crate::{Options, compare};

const STEPS: u32 = 8;
const ROUNDS: u32 = 4;
const PAIRS: u32 = 16;
/// Standard deviation of one slice in the quietest step; the noisiest has ten times as much.
const QUIETEST: f64 = 0.01;
/// One slice in this many is in a burst with five times the noise.
const BURST: u64 = 8;

/// The parameters of a run of systems of one server.
#[derive(Clone, Copy)]
struct Truth {
    systems: &'static [&'static str],
    /// How far two starts are apart: a standard deviation.
    start: f64,
    /// Effect of the second system in the quietest step.
    effect: f64,
}

impl Truth {
    fn run(&self, rng: &mut Rng) -> RunData {
        let mut data = empty_run(self.systems);
        for step in 0..STEPS {
            let name = format!("s{step}");
            let noise = QUIETEST * 10.0_f64.powf(f64::from(step) / f64::from(STEPS - 1));
            for round in 1..=ROUNDS {
                for (place, system) in self.systems.iter().enumerate() {
                    let is_slow = place == 1 && step == 0;
                    let effect = if is_slow { self.effect } else { 0.0 };
                    let start = effect + self.start / 2.0_f64.sqrt() * normal(rng);
                    data.cells.push(cell(round, system, &name, "rate", 1000.0));
                    for pair in 0..PAIRS {
                        let burst = if rng.below(BURST) == 0 { 5.0 } else { 1.0 };
                        let log = start + burst * noise / 2.0_f64.sqrt() * normal(rng);
                        let value = 1000.0 * log.exp();
                        data.slices.push(slice(round, system, &name, pair, value));
                    }
                }
            }
        }
        data
    }

    /// Of so many runs: those in which a step without effect says that something changed, those in which the step
    /// with it does, and the share of intervals that hold the truth: in the quietest step, and in all.
    fn judged(&self, runs: u32) -> (u32, u32, [f64; 2]) {
        let mut rng = Rng::new(47);
        let options =
            Options { margins: [(MetricId::new("rate"), 0.005)].into(), ..Options::default() };
        let (mut alarms, mut found, mut held) = (0, 0, [0.0; 2]);
        for _ in 0..runs {
            let compared = compare(&self.run(&mut rng), &options).unwrap();
            let of_b = compared.iter().filter(|c| c.system == "b");
            let mut is_alarm = false;
            for comparison in of_b {
                let has_effect = comparison.step.0 == "s0";
                let truth = if has_effect { self.effect } else { 0.0 }.exp();
                let (low, high) = (comparison.low.unwrap(), comparison.high.unwrap());
                let holds = f64::from(u8::from(low <= truth && truth <= high));
                held[1] += holds / f64::from(STEPS);
                if has_effect {
                    held[0] += holds;
                }
                let is_called =
                    matches!(comparison.verdict, Verdict::Regressed | Verdict::Improved);
                if has_effect && self.effect != 0.0 {
                    found += u32::from(is_called);
                } else {
                    is_alarm |= is_called;
                }
            }
            alarms += u32::from(is_alarm);
        }
        (alarms, found, held.map(|sum| sum / f64::from(runs)))
    }
}

#[test]
fn verdicts_from_slices_are_as_certain_as_they_say() {
    let runs = 400;
    for (systems, start) in [
        (&["a", "b", "c"] as &[_], 0.0),
        (&["a", "b", "c"], 0.003),
        (&["a", "b", "c"], 0.005),
        (&["a", "b", "c"], 0.01),
        (&["a", "b"], 0.003),
        (&["a", "b"], 0.005),
    ] {
        let alike = Truth { systems, start, effect: 0.0 };
        let (alarms, _, [quietest, all]) = alike.judged(runs);
        let slow = Truth { effect: -0.01, ..alike };
        let (_, found, _) = slow.judged(runs);
        eprintln!(
            "slices of {} systems, starts that differ by {start}: alarms in {alarms} of {runs} runs, intervals hold in {all:.4}, in the quietest step in {quietest:.4}, -1 % found in {found}",
            systems.len()
        );
        assert!(alarms <= runs / 50, "{alarms} alarms");
        assert!((0.935..=0.99).contains(&all), "{all}");
        // Where starts differ by twice what is expected, a quiet step is taken for a little too sure.
        let least = match (start, systems.len()) {
            (..=0.005, 3) => 0.93,
            (..=0.005, _) => 0.92,
            _ => 0.88,
        };
        assert!(quietest >= least, "{quietest}");
        // Of two systems each step has a cell less to tell of the others' noise.
        let least = match (start, systems.len()) {
            (..=0.003, 3) => runs * 2 / 5,
            (..=0.003, _) => runs / 4,
            _ => 0,
        };
        assert!(found >= least, "{found} found");
    }
}
