//! Looks at a run after each round: their cost, and when to stop.

use model::{Comparison, FEWEST_ROUNDS, Plan, Reason, Verdict};

use crate::student::{z_critical, z_tail};

/// A number of rounds that is not fixed: after `min` of them the run is looked at after each, and
/// it ends as soon as everything is decided, with `max` at the latest.
///
/// Repeated looks inflate false positives. So each look gets only a part of the error, and all
/// of them together no more than one look would have: the spending function of O'Brien & Fleming's
/// type (Lan & `DeMets` 1983, *Discrete sequential boundaries for clinical trials*, Biometrika
/// 70(3)). They take the sum of what the rounds say for a Brownian motion `B(t)`, `t` the share of
/// the rounds that are done. By the principle of reflection it leaves ±c before `t = 1` with a
/// probability of at most `4(1 − Φ(c))`. At a look, `B(t)` is `z·√t`; so a result that is as far
/// out as `z` has the p-value `4(1 − Φ(z·√t))`, however many looks there are and whatever decides
/// about going on. A p-value of t goes through the z of the same probability (Pocock 1977, *Group
/// sequential methods in the design and analysis of clinical trials*, Biometrika 64(2)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Looks {
    min: u32,
    max: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Another round: so many comparisons are not decided yet.
    GoOn {
        undecided: u32,
    },
    Decided,
    /// Enough: there are as many rounds as there may be; comparisons that stay undecided.
    Exhausted {
        undecided: u32,
    },
}

impl Looks {
    /// `None` without rounds, or if the maximum is below the minimum.
    pub fn new(min: u32, max: u32) -> Option<Self> {
        (min > 0 && max >= min).then_some(Self { min, max })
    }

    /// The looks that a plan asks for; `None` where its number of rounds is fixed.
    pub fn of(plan: &Plan) -> Option<Self> {
        Self::new(plan.course.first_look?, plan.rounds_of_each())
    }

    pub const fn min(self) -> u32 {
        self.min
    }

    pub const fn max(self) -> u32 {
        self.max
    }

    /// Says whether another round is worth it, once `done` rounds are over and have been compared
    /// with these looks as [`crate::Options::looks`].
    ///
    /// Only what could be decided by more rounds asks for them: not what has no better direction, nor what is
    /// incomparable, except a possible fall to zero and systems without a complete round. Which metrics and systems have
    /// a say is decided by who chooses the comparisons; the control and metrics that only explain should have none.
    pub fn next<'a>(
        self,
        done: u32,
        comparisons: impl IntoIterator<Item = &'a Comparison>,
    ) -> Next {
        let open = comparisons.into_iter().filter(|c| match &c.verdict {
            Verdict::Inconclusive(reason) => *reason != Reason::NotJudged,
            // A zero in so few rounds may be chance.
            Verdict::Incomparable(Reason::NoRatio { .. }) => c.rounds < FEWEST_ROUNDS,
            // The trials of the next round may complete.
            Verdict::Incomparable(
                Reason::FailedTrials { .. }
                | Reason::MissingTrials { .. }
                | Reason::QuarantinedTrials { .. },
            ) => c.rounds == 0,
            Verdict::Regressed
            | Verdict::Improved
            | Verdict::Unchanged
            | Verdict::Incomparable(_) => false,
        });
        let undecided = open.count() as u32;
        if done >= self.max {
            if undecided == 0 { Next::Decided } else { Next::Exhausted { undecided } }
        } else if done < self.min || undecided > 0 {
            Next::GoOn { undecided }
        } else {
            Next::Decided
        }
    }

    /// √t, with which a z is weighed after so many rounds.
    fn weight(self, rounds: u32) -> f64 {
        (f64::from(rounds) / f64::from(self.max)).min(1.0).sqrt()
    }
}

/// The p-value of a result that alone has the two-sided p-value `p`, among all the looks.
pub(crate) fn p_among(looks: Option<Looks>, rounds: u32, p: f64) -> f64 {
    let Some(looks) = looks else { return p };
    (4.0 * z_tail(z_critical(p / 2.0) * looks.weight(rounds))).min(1.0)
}

/// The inverse: the one-sided tail of a two-sided test of this level, for this look. Its interval
/// covers the truth at all looks together with probability 1 − level (a repeated confidence
/// interval, Jennison & Turnbull 1989, *Interim analyses: the repeated confidence interval
/// approach*, J. R. Statist. Soc. B 51(3)).
pub(crate) fn tail_among(looks: Option<Looks>, rounds: u32, level: f64) -> f64 {
    match looks {
        None => level / 2.0,
        Some(looks) => z_tail(z_critical(level / 4.0) / looks.weight(rounds)),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use testkit::fixtures::run_of;

    use super::*;
    use crate::{Options, compare};

    #[test]
    fn the_last_look_has_most_of_the_error() {
        let looks = Looks::new(3, 12);
        // sup |B| on [0, 1] exceeds 2.2414 with probability 0.05 (2.2414 is z for 0.0125).
        assert!((2.0 * tail_among(looks, 12, 0.05) - 0.025).abs() < 1e-6);
        // After a quarter of the rounds it is 2.2414 / √0.25 = 4.4828: 7.4 in a million.
        let early = 2.0 * tail_among(looks, 3, 0.05);
        assert!((early / 7.37e-6 - 1.0).abs() < 0.01, "{early}");
        assert!((tail_among(None, 3, 0.05) - 0.025).abs() < 1e-15);
        // More rounds than were planned are no other look.
        let last = tail_among(looks, 12, 0.05);
        assert!((tail_among(looks, 20, 0.05) - last).abs() < 1e-15);
    }

    #[test]
    fn a_walk_that_is_looked_at_often_seldom_alarms() {
        let looks = Looks::new(3, 12);
        let mut rng = model::Rng::new(31);
        let runs = 10_000;
        let alarms = (0..runs)
            .filter(|_| {
                let mut sum = 0.0;
                (1..=12_u32).any(|round| {
                    sum += crate::tests::simulation::normal(&mut rng);
                    let z: f64 = sum / f64::from(round).sqrt();
                    round >= 3 && p_among(looks, round, 2.0 * z_tail(z.abs())) <= 0.05
                })
            })
            .count();
        let share = f64::from(alarms as u32) / f64::from(runs);
        eprintln!("ten looks at a walk without drift, level 5 %: {share:.4}");
        assert!((0.02..=0.05).contains(&share), "{share}");
    }

    #[test]
    fn goes_on_until_all_is_decided_or_there_is_no_more() {
        let looks = Looks::new(3, 5).unwrap();
        let verdicts = |rounds: &[[f64; 2]]| {
            let data = run_of(&["a", "b"], "rate", rounds);
            compare(&data, &Options::default()).unwrap()
        };
        let same = verdicts(&[[5.0, 5.0]; 4]);
        assert_eq!(looks.next(2, &same), Next::GoOn { undecided: 0 });
        assert_eq!(looks.next(3, &same), Next::Decided);
        let noisy = verdicts(&[[5.0, 5.0], [5.0, 6.0], [5.0, 5.5], [5.0, 4.5]]);
        assert_eq!(looks.next(4, &noisy), Next::GoOn { undecided: 1 });
        assert_eq!(looks.next(5, &noisy), Next::Exhausted { undecided: 1 });
        assert_eq!(looks.next(5, &same), Next::Decided);
        assert!(Looks::new(0, 3).is_none() && Looks::new(4, 3).is_none());
    }

    #[test]
    fn a_third_round_says_whether_something_fell_to_zero() {
        let looks = Looks::new(2, 5).unwrap();
        let fallen = |rounds: usize| {
            let data = run_of(&["a", "b"], "rate", &vec![[5.0, 0.0]; rounds]);
            compare(&data, &Options::default()).unwrap()
        };
        assert_eq!(looks.next(2, &fallen(2)), Next::GoOn { undecided: 1 });
        assert!(fallen(3)[0].verdict.fell_to_zero());
        assert_eq!(looks.next(3, &fallen(3)), Next::Decided);
        // A round with a failed trial is over and gives no evidence.
        let mut data = run_of(&["a", "b"], "rate", &[[5.0, 0.0]; 3]);
        data.cells.retain(|cell| cell.system != "b" || cell.round != 2);
        let found = compare(&data, &Options::default()).unwrap();
        assert_eq!(looks.next(3, &found), Next::GoOn { undecided: 1 });
        // Nothing has completed yet.
        data.cells.retain(|cell| cell.system != "b");
        let found = compare(&data, &Options::default()).unwrap();
        assert_eq!(looks.next(3, &found), Next::GoOn { undecided: 1 });
    }

    proptest! {
        #[test]
        fn a_p_value_and_a_tail_say_the_same(
            p in 1e-9..1.0f64,
            level in 0.001..0.2f64,
            rounds in 1u32..12,
        ) {
            let looks = Looks::new(1, 12);
            let (among, tail) = (p_among(looks, rounds, p), tail_among(looks, rounds, level));
            prop_assume!((among / level - 1.0).abs() > 1e-4);
            prop_assert_eq!(among <= level, p <= 2.0 * tail);
            prop_assert!(among >= p);
        }
    }
}
