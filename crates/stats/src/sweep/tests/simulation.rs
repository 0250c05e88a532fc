//! The claims of `docs/statistics.md` on sweeps, proved by simulation with fixed seeds.

use model::Rng;
use testkit::fixtures::{cell, empty_run};

use crate::sweep::{Place, SweepPoint, crossings, scale_up};
use crate::tests::simulation::{heavy_tailed, normal};
use crate::{Options, compare};

const COUNTS: [u32; 5] = [1, 4, 10, 20, 40];

/// The parameters of simulated sweeps; all on the scale of logarithms.
struct Truth {
    tests: usize,
    rounds: u32,
    /// Log ratio of the candidate at each count, in every test.
    effects: [f64; COUNTS.len()],
    /// Standard deviation of one value around its round.
    sd: f64,
    deviation: fn(&mut Rng) -> f64,
}

/// The points of every test, with the verdicts that a whole run gives them.
fn sweeps(truth: &Truth, rng: &mut Rng) -> Vec<Vec<SweepPoint>> {
    let mut data = empty_run(&["a", "b"]);
    for test in 0..truth.tests {
        for (place, effect) in truth.effects.iter().enumerate() {
            let name = format!("s{}", test * COUNTS.len() + place);
            for round in 1..=truth.rounds {
                let drift = 0.05 * normal(rng);
                for (system, shift) in [("a", 0.0), ("b", *effect)] {
                    let log = drift + shift + truth.sd * (truth.deviation)(rng);
                    let mut one = cell(round, system, &name, "rate", 1000.0 * log.exp());
                    one.clients = COUNTS[place];
                    data.cells.push(one);
                }
            }
        }
    }
    let found = compare(&data, &Options::default()).unwrap();
    let points = |test: &[model::Comparison]| test.iter().filter_map(SweepPoint::of).collect();
    found.chunks(COUNTS.len()).map(points).collect()
}

/// A straight line over ln(clients) with this slope that is zero at `clients`.
fn line(clients: f64, slope: f64) -> [f64; COUNTS.len()] {
    COUNTS.map(|count| slope * (f64::from(count).ln() - clients.ln()))
}

#[test]
fn the_interval_of_a_crossing_covers_the_truth_as_often_as_it_says() {
    for (name, deviation) in
        [("normal", normal as fn(&mut Rng) -> f64), ("heavy tails", heavy_tailed)]
    {
        // In the middle of two counts, close to one, and at one, which is never certain then.
        for clients in [14.0, 18.5, 10.0] {
            let truth =
                Truth { tests: 4, rounds: 4, effects: line(clients, 0.1), sd: 0.005, deviation };
            let mut rng = Rng::new(11);
            let (mut found, mut covered) = (0, 0);
            for points in (0..500).flat_map(|_| sweeps(&truth, &mut rng)) {
                for crossing in crossings(&points, &[]) {
                    if let Place::Found { ends: Some((low, high)), .. } = crossing.place {
                        found += 1;
                        covered += u32::from(low <= clients && clients <= high);
                    }
                }
            }
            let share = f64::from(covered) / f64::from(found);
            eprintln!(
                "crossing at {clients} clients, {name}: found in {found} of 2000, covered {share:.4}"
            );
            assert!((0.93..=0.975).contains(&share), "{share}");
            assert!(found > 1500, "{found}");
        }
    }
}

#[test]
fn systems_that_are_alike_do_not_cross() {
    let truth = Truth {
        tests: 32,
        rounds: 4,
        effects: [0.0; COUNTS.len()],
        sd: 0.015,
        deviation: heavy_tailed,
    };
    let mut rng = Rng::new(12);
    let (mut certain, mut mentioned, mut naive) = (0, 0, 0);
    for _ in 0..200 {
        let sweeps = sweeps(&truth, &mut rng);
        let all: Vec<_> = sweeps.iter().flat_map(|points| crossings(points, &[])).collect();
        let is_certain = |place| !matches!(place, Place::Inconclusive { .. });
        certain += u32::from(all.iter().any(|c| is_certain(c.place)));
        mentioned += u32::from(!all.is_empty());
        naive += u32::from(sweeps.iter().any(|points| every_round_crosses(points)));
    }
    eprintln!(
        "A/A sweeps, 32 tests × 5 counts, 4 rounds: a crossover in {certain} of 200, an inconclusive one in {mentioned}; neighbours between which every round crosses in {naive}"
    );
    assert_eq!(certain, 0);
    assert!(mentioned <= 4, "{mentioned}");
    // Why the verdicts at both ends are needed.
    assert!(naive >= 100, "{naive}");
}

/// Is there a pair of neighbouring counts between which all rounds cross the same way?
fn every_round_crosses(points: &[SweepPoint]) -> bool {
    points.windows(2).any(|pair| {
        let rounds = pair[0].rounds.iter().zip(&pair[1].rounds);
        let rounds: Vec<(bool, bool)> =
            rounds.map(|((_, a), (_, b))| (*a < 0.0 && *b > 0.0, *a > 0.0 && *b < 0.0)).collect();
        rounds.iter().all(|(up, _)| *up) || rounds.iter().all(|(_, down)| *down)
    })
}

#[test]
fn the_interval_of_the_scale_up_covers_the_truth_as_often_as_it_says() {
    let mut rng = Rng::new(13);
    let mut covered = 0;
    for _ in 0..5000 {
        let rounds: Vec<(f64, f64)> = (0..4)
            .map(|_| {
                let drift = 0.1 * normal(&mut rng);
                let mut at = |log: f64| (drift + log + 0.02 * normal(&mut rng)).exp();
                (at(0.0), at(3.4_f64.ln()))
            })
            .collect();
        let one: Vec<(u32, f64)> = (1..).zip(rounds.iter().map(|r| r.0)).collect();
        let eight: Vec<(u32, f64)> = (1..).zip(rounds.iter().map(|r| r.1)).collect();
        let (low, high) = scale_up(&one, &eight, &[]).unwrap().ends.unwrap();
        covered += u32::from(low <= 3.4 && 3.4 <= high);
    }
    let share = f64::from(covered) / 5000.0;
    eprintln!("coverage of the interval of the scale-up, 4 rounds: {share:.4}");
    assert!((0.935..=0.965).contains(&share), "{share}");
}
