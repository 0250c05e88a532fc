//! What a crash showed, held against what the settings promise.

use explain::Durability;
use lab::Crash;
use report::format::count;
use serde::Serialize;

/// What a crash showed; of several crashes the worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(super) enum Verdict {
    #[serde(rename = "nothing lost")]
    NothingLost,
    /// Some of it is not, and the settings promise no more.
    #[serde(rename = "lost as allowed")]
    LostAsAllowed,
    /// Some of it is not though the settings promise it, or the database contradicts itself.
    #[serde(rename = "lost")]
    Lost,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Terms {
    /// What a commit survives, by the settings. What is not known is taken for the best, so that a loss is
    /// never excused by ignorance.
    pub(super) durability: Option<Durability>,
    /// Terminals: each had one transaction under way at the most.
    pub(super) terminals: u32,
}

impl Terms {
    pub(super) fn judge(self, crash: &Crash) -> Verdict {
        let survived = &crash.survived;
        let is_missing = survived.missing > 0 || survived.vanished > 0;
        let may_miss = self.durability == Some(Durability::Nothing);
        if crash.broken().next().is_some() || self.has_too_many(crash) || (is_missing && !may_miss)
        {
            Verdict::Lost
        } else if is_missing {
            Verdict::LostAsAllowed
        } else {
            Verdict::NothingLost
        }
    }

    fn has_too_many(self, crash: &Crash) -> bool {
        crash.survived.unacknowledged > u64::from(self.terminals)
    }

    /// What is not as it was promised or as it must be, a sentence each; empty where all is well.
    pub(super) fn found(self, crash: &Crash) -> Vec<String> {
        let survived = &crash.survived;
        let mut found = Vec::new();
        if survived.missing > 0 {
            let first: Vec<&str> = survived.shown.iter().map(|one| one.what.as_str()).collect();
            found.push(format!(
                "missing: {} of {} acknowledged commits{}: {}{}",
                count(survived.missing),
                count(survived.orders + survived.payments),
                age(crash),
                first.join("; "),
                if survived.missing > first.len() as u64 { "; …" } else { "" }
            ));
        }
        if survived.vanished > 0 {
            found.push(format!(
                "gone: {} of the orders and payments that were there before the terminals began",
                count(survived.vanished)
            ));
        }
        if self.has_too_many(crash) {
            found.push(format!(
                "too many: {} orders and payments were never acknowledged; at most {} were under \
                 way",
                count(survived.unacknowledged),
                self.terminals
            ));
        }
        found.extend(crash.broken().map(|condition| {
            format!(
                "{}: expected {}, found {}",
                condition.what, condition.expected, condition.actual
            )
        }));
        found
    }
}

/// The age of the oldest loss: `, the oldest 5 ms old at the kill`; nothing where none is lost.
pub(super) fn age(crash: &Crash) -> String {
    crash.oldest.map_or(String::new(), |age| format!(", the oldest {age} old at the kill"))
}

#[cfg(test)]
mod tests {
    use model::{Check, Nanos};
    use workloads::{Missing, Survived};

    use super::*;

    fn crash(survived: Survived) -> Crash {
        Crash {
            round: 1,
            after: Nanos::from_secs(3),
            recovery: Nanos::from_millis(1_200),
            oldest: survived.oldest.map(|_| Nanos::from_millis(12)),
            survived,
            conditions: vec![condition(true)],
        }
    }

    fn condition(holds: bool) -> Check {
        Check {
            what: "condition 1 of warehouse 1".to_owned(),
            expected: "none".to_owned(),
            actual: if holds { "none" } else { "warehouse 1" }.to_owned(),
            holds,
        }
    }

    fn with(missing: u64, vanished: u64, unacknowledged: u64) -> Crash {
        crash(Survived {
            orders: 20,
            payments: 1_000,
            missing,
            oldest: (missing > 0).then_some(Nanos(1)),
            shown: (0..missing.min(1))
                .map(|_| Missing {
                    what: "order 7 of district 1 of warehouse 2".to_owned(),
                    terminal: 0,
                    at: Nanos(1),
                })
                .collect(),
            vanished,
            unacknowledged,
        })
    }

    fn terms(durability: Durability) -> Terms {
        Terms { durability: Some(durability), terminals: 8 }
    }

    #[test]
    fn what_is_missing_is_excused_only_where_nothing_is_promised() {
        let unknown = Terms { durability: None, terminals: 8 };
        let strict = [terms(Durability::Machine), terms(Durability::Server), unknown];
        for terms in strict {
            assert_eq!(terms.judge(&with(0, 0, 8)), Verdict::NothingLost);
            assert_eq!(terms.judge(&with(1, 0, 0)), Verdict::Lost);
            assert_eq!(terms.judge(&with(0, 1, 0)), Verdict::Lost);
        }
        let relaxed = terms(Durability::Nothing);
        assert_eq!(relaxed.judge(&with(0, 0, 0)), Verdict::NothingLost);
        assert_eq!(relaxed.judge(&with(1, 0, 0)), Verdict::LostAsAllowed);
        assert_eq!(relaxed.judge(&with(0, 1, 0)), Verdict::LostAsAllowed);
    }

    #[test]
    fn nothing_excuses_a_database_that_contradicts_itself() {
        let relaxed = terms(Durability::Nothing);
        assert_eq!(relaxed.judge(&with(0, 0, 9)), Verdict::Lost);
        let mut broken = with(0, 0, 0);
        broken.conditions.push(condition(false));
        assert_eq!(relaxed.judge(&broken), Verdict::Lost);
    }

    #[test]
    fn what_is_found_is_told_in_sentences() {
        let mut crash = with(2, 1, 9);
        crash.conditions.push(condition(false));
        let found = terms(Durability::Machine).found(&crash);
        assert_eq!(
            found,
            [
                "missing: 2 of 1,020 acknowledged commits, the oldest 12.0ms old at the kill: order 7 of \
                 district 1 of warehouse 2; …",
                "gone: 1 of the orders and payments that were there before the terminals began",
                "too many: 9 orders and payments were never acknowledged; at most 8 were under \
                 way",
                "condition 1 of warehouse 1: expected none, found warehouse 1",
            ]
        );
        assert!(terms(Durability::Machine).found(&with(0, 0, 8)).is_empty());
    }

    #[test]
    fn the_worst_of_several_counts() {
        let all = [Verdict::LostAsAllowed, Verdict::NothingLost, Verdict::Lost];
        assert_eq!(all.into_iter().max(), Some(Verdict::Lost));
    }
}
