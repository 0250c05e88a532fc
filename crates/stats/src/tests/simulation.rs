//! The claims of `docs/statistics.md`, proved by simulation with fixed seeds.

mod hosts;
mod reach;
mod slices;
mod writes;

use model::{Reason, Rng, RunData, Verdict};
use testkit::fixtures::{cell, empty_run};

use crate::fdr::adjust;
use crate::looks::{Looks, p_among, tail_among};
use crate::moderate::{Family, Prior};
use crate::paired::{Estimate, Paired};
use crate::robust::sign_flip;
use crate::student::{LEVEL, Quantiles};
use crate::verdict::{Decision, Evidence, decide, log_margin};
use crate::{Options, compare};

/// A standard normal number (Box & Muller 1958).
pub(crate) fn normal(rng: &mut Rng) -> f64 {
    let radius = (-2.0 * (1.0 - rng.unit()).ln()).sqrt();
    radius * (std::f64::consts::TAU * rng.unit()).cos()
}

/// A number with Student's t distribution of four degrees of freedom, scaled to variance one.
pub(crate) fn heavy_tailed(rng: &mut Rng) -> f64 {
    let squares: f64 = (0..4).map(|_| normal(rng).powi(2)).sum();
    normal(rng) / (squares / 4.0).sqrt() / 2.0_f64.sqrt()
}

/// The parameters of a simulated run; all on the scale of logarithms.
#[derive(Clone, Copy)]
struct Truth {
    steps: u32,
    rounds: u32,
    /// Standard deviation of one value around its round, in the middle step.
    sd: f64,
    /// The factor between the quietest and the noisiest step.
    spread: f64,
    /// Effect of the candidate in the middle step.
    effect: f64,
    /// Effect of the candidate in all others.
    others: f64,
    deviation: fn(&mut Rng) -> f64,
}

/// The A/A runs of the claims: two systems that are alike.
const ALIKE: Truth = Truth {
    steps: 32,
    rounds: 4,
    sd: 0.015,
    spread: 3.0,
    effect: 0.0,
    others: 0.0,
    deviation: heavy_tailed,
};

/// A pair of values whose difference has this scatter.
fn pair_sd(sd: f64) -> f64 {
    sd / 2.0_f64.sqrt()
}

impl Truth {
    fn middle(&self) -> usize {
        (self.steps / 2) as usize
    }

    fn effect_of(&self, step: usize) -> f64 {
        if step == self.middle() { self.effect } else { self.others }
    }

    /// Standard deviation of one value of a step around its round.
    fn sd_of(&self, step: usize) -> f64 {
        let reach = f64::from(self.steps).max(2.0);
        let place = (step as f64 - self.middle() as f64) / reach;
        self.sd * self.spread.powf(place)
    }

    /// For each step and round the logarithms of both values.
    fn draw(&self, rng: &mut Rng) -> Vec<Vec<(f64, f64)>> {
        (0..self.steps as usize)
            .map(|step| {
                let sd = self.sd_of(step);
                let effect = self.effect_of(step);
                (0..self.rounds)
                    .map(|_| {
                        // The machine's effect on both systems of the round.
                        let drift = 0.05 * normal(rng);
                        let base = drift + sd * (self.deviation)(rng);
                        let candidate = drift + effect + sd * (self.deviation)(rng);
                        (base, candidate)
                    })
                    .collect()
            })
            .collect()
    }

    /// The log ratios, a list a step.
    fn draw_ratios(&self, rng: &mut Rng) -> Vec<Vec<f64>> {
        let steps = self.draw(rng).into_iter();
        steps.map(|rounds| rounds.iter().map(|(b, c)| c - b).collect()).collect()
    }
}

/// The same values as a run.
fn as_run(steps: &[Vec<(f64, f64)>]) -> RunData {
    let mut data = empty_run(&["a", "b"]);
    for (step, rounds) in steps.iter().enumerate() {
        let name = format!("s{step}");
        for (round, (base, candidate)) in (1..).zip(rounds) {
            for (system, log) in [("a", base), ("b", candidate)] {
                let value = 1000.0 * log.exp();
                data.cells.push(cell(round, system, &name, "rate", value));
            }
        }
    }
    data
}

/// The variances of these cells.
fn family(paired: &[Paired]) -> Family {
    let variance = |p: &Paired| (p.sd.unwrap().powi(2), p.df());
    Family {
        variances: paired.iter().map(variance).collect(),
        cells: paired.len() as u32,
        df: paired.iter().map(Paired::df).sum(),
    }
}

/// Judges the log ratios of a run like `compare`, without the sentences.
struct Analysis {
    margin: f64,
    looks: Option<Looks>,
    /// The prior of the variances, in place of the one that fits the run.
    told: Option<Prior>,
    quantiles: Quantiles,
}

impl Analysis {
    fn new(margin: f64, looks: Option<Looks>) -> Self {
        Self { margin: log_margin(margin), looks, told: None, quantiles: Quantiles::default() }
    }

    fn evidence(&self, steps: &[Vec<f64>]) -> Vec<Evidence> {
        let paired: Vec<Paired> = steps.iter().filter_map(|logs| Paired::of(logs)).collect();
        let prior = self.told.or_else(|| Prior::fit(&family(&paired)));
        let of = |paired: Paired| {
            let estimate = Estimate::of(paired, prior.as_ref()).unwrap();
            // A t below 2 is rejected at no limit that is used here, and most are.
            let far = paired.mean.abs() >= 2.0 * estimate.error();
            let p = if far { estimate.p_value() } else { 1.0 };
            let tail = tail_among(self.looks, paired.rounds, LEVEL);
            Evidence {
                estimate,
                rounds: paired.rounds,
                interval: estimate.interval(tail, &self.quantiles),
                whole: paired.mean,
                drift: None,
                higher_is_better: true,
                margin: self.margin,
                p: p_among(self.looks, paired.rounds, p),
            }
        };
        paired.into_iter().map(of).collect()
    }

    fn decide(&self, steps: &[Vec<f64>]) -> Vec<(Decision, f64)> {
        let evidence = self.evidence(steps);
        let p_values: Vec<f64> = evidence.iter().map(|e| e.p).collect();
        evidence
            .iter()
            .zip(adjust(&p_values))
            .map(|(e, q)| (decide(e, q, 0.01), e.estimate.paired.mean))
            .collect()
    }
}

/// Does any step say regressed?
fn alarms(decisions: &[(Decision, f64)]) -> bool {
    let regressed = |(decision, mean): &(Decision, f64)| is_regressed(*decision, *mean);
    decisions.iter().any(regressed)
}

fn is_regressed(decision: Decision, mean: f64) -> bool {
    decision == Decision::Changed && mean < 0.0
}

/// The share of simulated runs that fulfil `holds`.
fn share(
    runs: u32,
    seed: u64,
    truth: &Truth,
    margin: f64,
    holds: impl Fn(&[(Decision, f64)]) -> bool,
) -> f64 {
    share_by(&Analysis::new(margin, None), runs, seed, truth, holds)
}

fn share_by(
    analysis: &Analysis,
    runs: u32,
    seed: u64,
    truth: &Truth,
    holds: impl Fn(&[(Decision, f64)]) -> bool,
) -> f64 {
    let mut rng = Rng::new(seed);
    let hits = (0..runs).filter(|_| holds(&analysis.decide(&truth.draw_ratios(&mut rng)))).count();
    hits as f64 / f64::from(runs)
}

#[test]
fn what_is_simulated_is_what_compare_does() {
    let truth = Truth { effect: -0.05, ..ALIKE };
    let mut rng = Rng::new(7);
    for looks in [None, Looks::new(3, 6)] {
        let options = Options { looks, ..Options::default() };
        let analysis = Analysis::new(0.02, looks);
        for _ in 0..10 {
            let values = truth.draw(&mut rng);
            let found = compare(&as_run(&values), &options).unwrap();
            let ratios: Vec<Vec<f64>> =
                values.iter().map(|rounds| rounds.iter().map(|(b, c)| c - b).collect()).collect();
            for ((decision, mean), compared) in analysis.decide(&ratios).iter().zip(&found) {
                let expected = match decision {
                    Decision::Changed if *mean < 0.0 => "regressed",
                    Decision::Changed => "improved",
                    Decision::Unchanged => "unchanged",
                    Decision::Undecided | Decision::Drifting(_) | Decision::TooFewStarts => {
                        "inconclusive"
                    }
                };
                assert_eq!(compared.verdict.word(), expected, "{compared:?}");
            }
        }
    }
}

#[test]
fn the_interval_covers_the_truth_as_often_as_it_says() {
    for (name, steps, deviation, spread) in [
        ("normal", 32, normal as fn(&mut Rng) -> f64, 1.0),
        ("normal, threefold sd", 32, normal, 3.0),
        ("heavy tails, threefold sd", 32, heavy_tailed, 3.0),
        ("normal", 6, normal, 1.0),
        ("normal, threefold sd", 6, normal, 3.0),
        ("heavy tails, threefold sd", 6, heavy_tailed, 3.0),
    ] {
        let truth = Truth { steps, deviation, spread, effect: 0.1, others: 0.1, ..ALIKE };
        let mut rng = Rng::new(1);
        let analysis = Analysis::new(0.02, None);
        let (mut covered, mut all) = (0, 0);
        for _ in 0..32_000 / steps {
            for evidence in analysis.evidence(&truth.draw_ratios(&mut rng)) {
                let (low, high) = evidence.interval.unwrap();
                covered += u32::from(low <= 0.1 && 0.1 <= high);
                all += 1;
            }
        }
        let share = f64::from(covered) / f64::from(all);
        eprintln!("coverage of the 95 % interval, {steps} steps, 4 rounds, {name}: {share:.4}");
        assert!((0.935..=0.965).contains(&share), "{name}: {share}");
    }
}

#[test]
fn the_interval_of_a_step_without_a_family_covers_the_truth_too() {
    for (name, deviation) in
        [("normal", normal as fn(&mut Rng) -> f64), ("heavy tails", heavy_tailed)]
    {
        let mut rng = Rng::new(1);
        let mut covered = 0;
        for _ in 0..10_000 {
            let logs: Vec<f64> = (0..4).map(|_| 0.1 + 0.02 * deviation(&mut rng)).collect();
            let (low, high) = Paired::of(&logs).unwrap().interval(0.95).unwrap();
            covered += u32::from(low <= 0.1 && 0.1 <= high);
        }
        let share = f64::from(covered) / 10_000.0;
        eprintln!("coverage of the 95 % interval, one step, 4 rounds, {name}: {share:.4}");
        assert!((0.935..=0.965).contains(&share), "{name}: {share}");
    }
}

#[test]
fn runs_without_a_difference_seldom_alarm() {
    let alarmed = share(2000, 2, &ALIKE, 0.02, alarms);
    eprintln!("A/A runs with any \"regressed\", heavy tails: {alarmed:.4}");
    assert!(alarmed <= 0.02, "{alarmed}");
    // Without the help of heavy tails and margin the test itself is seen: half of 1 % is expected.
    let bare = Truth { deviation: normal, ..ALIKE };
    let alarmed = share(2000, 2, &bare, 0.0, alarms);
    eprintln!("A/A runs with any \"regressed\", normal, margin zero: {alarmed:.4}");
    assert!((0.0005..=0.02).contains(&alarmed), "{alarmed}");
    // The smallest families.
    let few = Truth { steps: 6, ..ALIKE };
    let alarmed = share(2000, 2, &few, 0.02, alarms);
    eprintln!("A/A runs of 6 steps with any \"regressed\", heavy tails: {alarmed:.4}");
    assert!(alarmed <= 0.02, "{alarmed}");
}

/// What stands beside the strictest simulation of power: the prior that 64,000 of its variances have, told to each
/// run, and each variance itself known, which is the most that can be found.
#[test]
fn the_prior_of_all_runs_finds_as_much_and_known_variances_nearly_all() {
    let truth = Truth { sd: pair_sd(0.007), effect: 0.97_f64.ln(), ..ALIKE };
    let mut rng = Rng::new(11);
    let drawn = (0..2000).flat_map(|_| truth.draw_ratios(&mut rng));
    let paired: Vec<Paired> = drawn.filter_map(|logs| Paired::of(&logs)).collect();
    let mut analysis = Analysis::new(0.02, None);
    analysis.told = Prior::fit(&family(&paired));
    let middle = truth.middle();
    let found = share_by(&analysis, 2000, 4, &truth, |decisions| {
        let (decision, mean) = decisions[middle];
        is_regressed(decision, mean)
    });
    let runs = (0..2000).map(|_| truth.draw_ratios(&mut rng));
    let known = runs.filter(|steps| {
        let error = |step: usize| truth.sd_of(step) * (2.0 / f64::from(truth.rounds)).sqrt();
        let means = steps.iter().filter_map(|logs| Paired::of(logs)).map(|p| p.mean);
        let z = means.clone().enumerate().map(|(step, mean)| mean / error(step));
        let p_values: Vec<f64> = z.map(|z| 2.0 * crate::student::z_tail(z.abs())).collect();
        let mean = means.clone().nth(middle).unwrap();
        adjust(&p_values)[middle] <= 0.01 && mean < -log_margin(0.02)
    });
    let known = known.count() as f64 / 2000.0;
    eprintln!("the same with the true prior: {found:.4}; with known variances: {known:.4}");
    assert!((0.92..0.96).contains(&found), "{found}");
    assert!(known > 0.99, "{known}");
}

#[test]
fn three_per_cent_in_one_step_are_found_in_four_rounds() {
    let found = |name: &str, truth: Truth| {
        let middle = truth.middle();
        let share = share(2000, 4, &truth, 0.02, |decisions| {
            let (decision, mean) = decisions[middle];
            is_regressed(decision, mean)
        });
        let rounds = truth.rounds;
        eprintln!("-3 % in one of 32 steps, pair sd 0.7 %, {rounds} rounds, {name}: {share:.4}");
        share
    };
    let truth = Truth { sd: pair_sd(0.007), spread: 1.0, effect: 0.97_f64.ln(), ..ALIKE };
    assert!(found("heavy tails", truth) >= 0.95);
    let wide = Truth { spread: 3.0, ..truth };
    let is_normal = Truth { deviation: normal, ..wide };
    assert!(found("normal, threefold sd", is_normal) >= 0.95);
    assert!(found("heavy tails, threefold sd", wide) >= 0.95);
}

#[test]
fn an_effect_of_exactly_the_margin_is_seldom_called_unchanged() {
    for (rounds, pairs) in [(4, 0.01), (4, 0.003), (8, 0.006)] {
        let effect = -log_margin(0.02);
        let truth = Truth { rounds, sd: pair_sd(pairs), effect, others: effect, ..ALIKE };
        let mut rng = Rng::new(3);
        let analysis = Analysis::new(0.02, None);
        let (mut unchanged, mut all) = (0, 0);
        for _ in 0..200 {
            for (decision, _) in analysis.decide(&truth.draw_ratios(&mut rng)) {
                unchanged += u32::from(decision == Decision::Unchanged);
                all += 1;
            }
        }
        let share = f64::from(unchanged) / f64::from(all);
        eprintln!(
            "effect of exactly 2 % called unchanged, {rounds} rounds, pair sd {pairs}: {share:.4}"
        );
        assert!(share <= 0.05, "{share}");
    }
}

/// Looks after each round, and yields the decisions at which the run would have ended.
fn until_decided(truth: &Truth, min: u32, rng: &mut Rng) -> (u32, Vec<(Decision, f64)>) {
    let looks = Looks::new(min, truth.rounds);
    let steps = truth.draw_ratios(rng);
    let analysis = Analysis::new(0.02, looks);
    let mut ended = Vec::new();
    for rounds in min..=truth.rounds {
        let so_far: Vec<Vec<f64>> =
            steps.iter().map(|logs| logs[..rounds as usize].to_vec()).collect();
        ended = analysis.decide(&so_far);
        let open =
            |(d, _): &(Decision, f64)| matches!(d, Decision::Undecided | Decision::TooFewStarts);
        if !ended.iter().any(open) {
            return (rounds, ended);
        }
    }
    (truth.rounds, ended)
}

#[test]
fn looking_after_each_round_adds_no_false_alarms() {
    // At the noise of the claim, and where runs do end early.
    for sd in [0.015, pair_sd(0.007)] {
        let truth = Truth { rounds: 12, sd, ..ALIKE };
        let mut rng = Rng::new(8);
        let (runs, mut alarmed, mut rounds) = (1000, 0, 0);
        for _ in 0..runs {
            let (ended, decisions) = until_decided(&truth, 3, &mut rng);
            alarmed += u32::from(alarms(&decisions));
            rounds += ended;
        }
        let share = f64::from(alarmed) / f64::from(runs);
        let mean = f64::from(rounds) / f64::from(runs);
        eprintln!(
            "A/A, 3 to 12 rounds, sd {sd:.4}: any \"regressed\" in {share:.4}, {mean:.1} rounds"
        );
        assert!(share <= 0.02, "{share}");
    }
}

#[test]
fn looking_after_each_round_makes_nothing_unchanged_that_is_not() {
    let truth = Truth {
        steps: 8,
        rounds: 12,
        sd: pair_sd(0.005),
        spread: 1.0,
        effect: -log_margin(0.02),
        others: 0.0,
        deviation: normal,
    };
    let mut rng = Rng::new(9);
    let runs = 1000;
    let unchanged = (0..runs)
        .filter(|_| {
            let (_, decisions) = until_decided(&truth, 3, &mut rng);
            decisions[truth.middle()].0 == Decision::Unchanged
        })
        .count();
    let share = unchanged as f64 / f64::from(runs);
    eprintln!("effect of exactly 2 %, 3 to 12 rounds: ended as unchanged in {share:.4}");
    assert!(share <= 0.05, "{share}");
}

#[test]
fn the_permutation_test_and_the_t_test_do_not_contradict_each_other() {
    let truth = Truth { rounds: 8, effect: -0.02, others: -0.01, ..ALIKE };
    let mut rng = Rng::new(10);
    let mut factors: Vec<f64> = (0..100)
        .flat_map(|_| truth.draw_ratios(&mut rng))
        .map(|logs| {
            let (t, flip) = (Paired::of(&logs).unwrap().p_value(), sign_flip(&logs));
            // The permutation test knows no p-value below that of eight rounds that agree.
            let factor = t.unwrap().max(2.0 / 256.0) / flip.unwrap();
            factor.max(factor.recip())
        })
        .collect();
    factors.sort_unstable_by(f64::total_cmp);
    let of = |share: f64| factors[(share * factors.len() as f64) as usize];
    let (half, most) = (of(0.5), of(0.99));
    eprintln!("p of t over exact p, 8 rounds: factor {half:.2} (median), {most:.2} (99 of 100)");
    assert!(half < 1.5 && most < 10.0, "{half} {most}");
}

#[test]
fn the_rounds_asked_for_decide() {
    // The true state of a noisy cell without an effect: how many rounds would be asked for if its
    // spread were known, and how often that many say "unchanged".
    let (sd, margin) = (0.02, 1.02_f64.ln());
    let noisy = crate::power::Situation {
        rounds: 3,
        mean: 0.0,
        spread: crate::Spread { rounds: sd, pairs: 0.0 },
        prior_df: 0.0,
        margin,
        alpha: 0.01,
        looks: None,
    };
    let further = crate::power::further_rounds(&noisy, &Quantiles::default());
    let rounds = 3 + further.unwrap();
    let mut rng = Rng::new(5);
    let unchanged = (0..2000)
        .filter(|_| {
            let logs: Vec<f64> = (0..rounds).map(|_| sd * normal(&mut rng)).collect();
            let (low, high) = Paired::of(&logs).unwrap().interval(0.95).unwrap();
            low >= -margin && high <= margin
        })
        .count();
    let power = unchanged as f64 / 2000.0;
    eprintln!("no effect, pair sd 2 %, the {rounds} rounds asked for: unchanged in {power:.3}");
    // Both margins are as near here, while the formula counts the nearer one: at worst 2·0.9 − 1.
    assert!((0.78..=0.95).contains(&power), "{power}");
}

#[test]
fn every_inconclusive_cell_says_what_it_needs() {
    let truth = Truth { steps: 10, rounds: 3, sd: 0.05, deviation: normal, ..ALIKE };
    let mut rng = Rng::new(6);
    let found = compare(&as_run(&truth.draw(&mut rng)), &Options::default()).unwrap();
    let undecided: Vec<_> = found
        .iter()
        .filter_map(|c| match &c.verdict {
            Verdict::Inconclusive(Reason::TooNoisy { more_rounds }) => Some(more_rounds),
            _ => None,
        })
        .collect();
    assert!(undecided.len() >= 8, "{undecided:?}");
    assert!(undecided.iter().any(|more| more.is_some()));
    assert!(undecided.iter().all(|more| more.is_none_or(|n| (1..=1000).contains(&n))));
}
