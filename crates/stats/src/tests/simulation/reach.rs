//! Does a run find the change that it was said to find, and would other rounds and windows find it as often?

use model::{MetricId, Nanos, Rng, RunData, Scatter, Verdict};

use super::normal;
use crate::{Budget, Calling, Looks, Options, compare, in_median_step, scatter};
use testkit::fixtures::{cell, empty_run, slice};

/// The middle one is the median step; the noisiest has three times the noise of the quietest.
const STEPS: u32 = 9;
const MIDDLE: u32 = STEPS / 2;
const PAIRS_A_SECOND: u32 = 4;
const MARGIN: f64 = 0.001;

/// Standard deviations: of two starts, and of a pair of slices in the middle step.
#[derive(Clone, Copy, Debug)]
struct Noise {
    start: f64,
    slice: f64,
}

/// A run of two systems that differ in the middle step by this effect.
fn run(rng: &mut Rng, (rounds, seconds): (u32, u32), truth: Noise, effect: f64) -> RunData {
    let mut data = empty_run(&["a", "b"]);
    for step in 0..STEPS {
        let name = format!("s{step}");
        let noise =
            truth.slice * 3.0_f64.powf((f64::from(step) - f64::from(MIDDLE)) / f64::from(STEPS));
        for round in 1..=rounds {
            for system in ["a", "b"] {
                let is_other = system == "b" && step == MIDDLE;
                let start = truth.start / 2.0_f64.sqrt() * normal(rng);
                let start = if is_other { start + effect } else { start };
                data.cells.push(cell(round, system, &name, "rate", 1000.0));
                for pair in 0..seconds * PAIRS_A_SECOND {
                    let log = start + noise / 2.0_f64.sqrt() * normal(rng);
                    data.slices.push(slice(round, system, &name, pair, 1000.0 * log.exp()));
                }
            }
        }
    }
    data
}

fn options(looks: Option<Looks>) -> Options {
    let margins = [(MetricId::new("rate"), MARGIN)].into();
    Options { margins, looks, ..Options::default() }
}

/// Runs, of which [`found`] says how many call the effect.
const RUNS: u32 = 400;

/// The share of runs that call the effect, at the last look at the latest.
fn found(design: (u32, u32), first_look: Option<u32>, truth: Noise, effect: f64) -> f64 {
    let looks = first_look.filter(|first| *first < design.0);
    let options = options(looks.and_then(|first| Looks::new(first, design.0)));
    let mut rng = Rng::new(83);
    let mut found = 0;
    for _ in 0..RUNS {
        let compared = compare(&run(&mut rng, design, truth, effect), &options).unwrap();
        let middle = compared.iter().find(|c| c.ordinal == MIDDLE).unwrap();
        found += u32::from(middle.verdict == Verdict::Improved);
    }
    f64::from(found) / f64::from(RUNS)
}

fn seen(rng: &mut Rng, (rounds, seconds): (u32, u32), truth: Noise) -> Vec<Scatter> {
    let window = Some(Nanos::from_secs(seconds.into()));
    let compared = compare(&run(rng, (rounds, seconds), truth, 0.0), &options(None)).unwrap();
    compared.iter().map(|c| scatter(c.evidence.as_ref().unwrap(), window)).collect()
}

#[test]
fn a_run_finds_what_was_foreseen_and_other_designs_find_less() {
    const SECONDS: u32 = 2;
    // A round takes half a minute and 20 s for the windows of all systems and steps.
    let secs = Nanos::from_secs;
    let budget = Budget { time: secs(600), once: secs(0), round: secs(50), windows: secs(20) };
    let cases =
        [(0.005, 0.03, None), (0.01, 0.03, None), (0.003, 0.12, None), (0.01, 0.03, Some(4))];
    for (start, slice, first_look) in cases {
        let calling = Calling { steps: STEPS, margin: MARGIN, first_look };
        let truth = Noise { start, slice };
        let mut rng = Rng::new(29);
        let noise = seen(&mut rng, (8, SECONDS), truth);
        let (rounds, times) =
            budget.choose(&noise, f64::from(SECONDS), &calling, 4..=12, 20).unwrap();
        let reach = |rounds, times: u32| {
            in_median_step(&noise, f64::from(SECONDS * times), rounds, &calling).unwrap()
        };
        let effect = reach(rounds, times).ln_1p();
        let power = found((rounds, SECONDS * times), first_look, truth, effect);
        eprintln!(
            "{truth:?}: {rounds} rounds of {} s, {:.2} % found in {power}",
            SECONDS * times,
            100.0 * effect.exp_m1()
        );
        assert!((0.7..=0.92).contains(&power), "{power}");
        // The fewest rounds with the longest windows, and the most with the shortest.
        for (rounds, times) in [(4, 6), (12, 1)] {
            let other = found((rounds, SECONDS * times), first_look, truth, effect);
            eprintln!("  {rounds} rounds of {} s: found in {other}", SECONDS * times);
            assert!(other <= power + 0.03, "{other} {power}");
        }
    }
}
