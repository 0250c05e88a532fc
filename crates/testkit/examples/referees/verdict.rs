//! Each rule's verdict on each cell.

use std::array;
use std::collections::BTreeMap;

use serde::Deserialize;
use testkit::{Measured, Referee};

use crate::word::Word;

/// The referees' input.
const RATE: &str = "rate";

/// Backslide, and the referees in their order.
pub(crate) const JUDGES: usize = 1 + Referee::ALL.len();

/// The fields read from a measurement.
#[derive(Deserialize)]
pub(crate) struct Measurement {
    round: u32,
    system: String,
    step: String,
    clients: u32,
    metric: String,
    value: f64,
}

/// The fields read from a comparison.
#[derive(Deserialize)]
pub(crate) struct Comparison {
    step: String,
    metric: String,
    base: String,
    system: String,
    ratio: Option<f64>,
    verdict: String,
}

/// A test of a candidate.
pub(crate) struct Cell {
    pub(crate) test: String,
    pub(crate) system: String,
    /// Ours, where the test has one number of clients.
    pub(crate) ratio: Option<f64>,
    /// Backslide's over all rounds; those of the referees over the first.
    pub(crate) words: [Word; JUDGES],
    /// The referees' verdicts on each round separately.
    pub(crate) by_round: Vec<[Word; JUDGES]>,
}

/// The cells in the order of the comparisons.
pub(crate) fn cells(measurements: &[Measurement], comparisons: Vec<Comparison>) -> Vec<Cell> {
    let rates = Rates::of(measurements);
    let mut tests: Vec<Vec<Comparison>> = Vec::new();
    for one in comparisons.into_iter().filter(|one| one.metric == RATE) {
        let known = tests.iter_mut().find(|steps| {
            let same = |first: &Comparison| {
                first.system == one.system && test_of(&first.step) == test_of(&one.step)
            };
            steps.first().is_some_and(same)
        });
        match known {
            Some(steps) => steps.push(one),
            None => tests.push(vec![one]),
        }
    }
    tests.iter().filter_map(|steps| cell(steps, &rates)).collect()
}

/// `point-query` of `point-query@8`.
fn test_of(step: &str) -> &str {
    step.split('@').next().unwrap_or(step)
}

fn cell(steps: &[Comparison], rates: &Rates<'_>) -> Option<Cell> {
    let first = steps.first()?;
    let measured: Vec<Measured> = steps.iter().map(|step| rates.measured(step)).collect();
    let ours: Vec<Word> = steps.iter().map(|step| Word::of(&step.verdict)).collect();
    let rounds = measured.iter().map(|one| one.base.len()).min();
    let by_round = (0..rounds.unwrap_or(0)).map(|round| {
        let alone: Vec<Measured> = measured.iter().map(|one| only(one, round)).collect();
        words(Word::NoVerdict, &alone)
    });
    Some(Cell {
        test: test_of(&first.step).to_owned(),
        system: first.system.clone(),
        ratio: first.ratio.filter(|_| steps.len() == 1),
        words: words(Word::of_all(&ours), &measured),
        by_round: by_round.collect(),
    })
}

fn words(ours: Word, test: &[Measured]) -> [Word; JUDGES] {
    of_each(ours, |referee| word(referee, test))
}

/// Something of backslide, and the same of the referees in their order.
pub(crate) fn of_each<T: Copy>(ours: T, of: impl Fn(Referee) -> T) -> [T; JUDGES] {
    let mut referees = Referee::ALL.into_iter();
    array::from_fn(|place| {
        let referee = if place == 0 { None } else { referees.next() };
        referee.map_or(ours, &of)
    })
}

/// A referee's verdict. No referee knows improvements: for these base and candidate are exchanged.
fn word(referee: Referee, test: &[Measured]) -> Word {
    let has_enough = |cell: &Measured| cell.base.len() >= referee.rounds();
    let exchanged = |cell: &Measured| Measured {
        clients: cell.clients,
        base: cell.candidate.clone(),
        candidate: cell.base.clone(),
    };
    if test.is_empty() || !test.iter().all(has_enough) {
        return Word::NoVerdict;
    }
    if referee.finds_regression(test) {
        return Word::Regressed;
    }
    let exchanged: Vec<Measured> = test.iter().map(exchanged).collect();
    if referee.finds_regression(&exchanged) { Word::Improved } else { Word::Unchanged }
}

/// One round of a cell.
fn only(cell: &Measured, round: usize) -> Measured {
    let one = |values: &[f64]| values.get(round).copied().into_iter().collect();
    Measured { clients: cell.clients, base: one(&cell.base), candidate: one(&cell.candidate) }
}

/// Measurements by round.
type Rounds<'a> = BTreeMap<u32, &'a Measurement>;

/// Rates by step and system, of the rounds that all systems of a step have: a round that was set aside for one of
/// them is none for the others, so that "the first" is the same one for all.
struct Rates<'a>(BTreeMap<&'a str, BTreeMap<&'a str, Rounds<'a>>>);

impl<'a> Rates<'a> {
    fn of(measurements: &'a [Measurement]) -> Self {
        let mut steps: BTreeMap<_, BTreeMap<_, Rounds<'a>>> = BTreeMap::new();
        for one in measurements.iter().filter(|one| one.metric == RATE) {
            let systems = steps.entry(one.step.as_str()).or_default();
            let rounds = systems.entry(one.system.as_str()).or_default();
            rounds.insert(one.round, one);
        }
        steps.values_mut().for_each(keep_complete);
        Self(steps)
    }

    fn measured(&self, step: &Comparison) -> Measured {
        let mut measured = Measured { clients: 1, base: Vec::new(), candidate: Vec::new() };
        let (Some(bases), Some(candidates)) =
            (self.rounds(&step.step, &step.base), self.rounds(&step.step, &step.system))
        else {
            return measured;
        };
        for (base, candidate) in bases.values().zip(candidates.values()) {
            measured.clients = base.clients;
            measured.base.push(base.value);
            measured.candidate.push(candidate.value);
        }
        measured
    }

    fn rounds(&self, step: &str, system: &str) -> Option<&Rounds<'a>> {
        self.0.get(step)?.get(system)
    }
}

/// Drops the rounds of a step that one of its systems lacks.
fn keep_complete(systems: &mut BTreeMap<&str, Rounds<'_>>) {
    let all = systems.len();
    let mut having: BTreeMap<u32, usize> = BTreeMap::new();
    for round in systems.values().flat_map(BTreeMap::keys) {
        *having.entry(*round).or_default() += 1;
    }
    for rounds in systems.values_mut() {
        rounds.retain(|round, _| having.get(round) == Some(&all));
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A step of a run: for each system, the first of them the base, its rate in each round and the verdict.
    pub(crate) type Step<'a> = (&'a str, u32, &'a [(&'a str, &'a [f64], &'a str)]);

    pub(crate) fn judged(steps: &[Step<'_>]) -> Vec<Cell> {
        let mut measurements = Vec::new();
        let mut comparisons = Vec::new();
        for (step, clients, systems) in steps {
            for (system, rates, verdict) in *systems {
                let measured = (1..).zip(rates.iter()).map(|(round, rate)| Measurement {
                    round,
                    system: (*system).to_owned(),
                    step: (*step).to_owned(),
                    clients: *clients,
                    metric: RATE.to_owned(),
                    value: *rate,
                });
                measurements.extend(measured);
                if *system == systems[0].0 {
                    continue;
                }
                comparisons.push(Comparison {
                    step: (*step).to_owned(),
                    metric: RATE.to_owned(),
                    base: systems[0].0.to_owned(),
                    system: (*system).to_owned(),
                    ratio: Some(rates[0] / systems[0].1[0]),
                    verdict: (*verdict).to_owned(),
                });
            }
        }
        cells(&measurements, comparisons)
    }

    #[test]
    fn referees_look_at_the_first_round_and_say_nothing_with_too_few() {
        let cells = judged(&[(
            "get",
            1,
            &[
                ("old", &[100.0, 100.0], ""),
                ("slow", &[90.0, 100.0], "inconclusive"),
                ("fast", &[110.0, 100.0], "improved"),
                ("same", &[99.0, 80.0], "unchanged"),
            ],
        )]);
        let words: Vec<_> = cells.iter().map(|cell| cell.words).collect();
        let (down, up, same) = (Word::Regressed, Word::Improved, Word::Unchanged);
        let none = Word::NoVerdict;
        assert_eq!(words[0], [none, down, down, down, none]);
        assert_eq!(words[1], [up, up, up, up, none]);
        assert_eq!(words[2], [same, same, same, same, none]);
        let alone: Vec<_> = cells[2].by_round.iter().map(|words| words[1]).collect();
        assert_eq!(alone, [same, down]);
    }

    #[test]
    fn numbers_of_clients_are_one_test() {
        let cells = judged(&[
            ("get@1", 1, &[("old", &[1_000.0], ""), ("new", &[600.0], "regressed")]),
            ("get@64", 64, &[("old", &[70_000.0], ""), ("new", &[69_000.0], "unchanged")]),
        ]);
        assert_eq!(cells.len(), 1);
        assert_eq!((cells[0].test.as_str(), cells[0].ratio), ("get", None));
        let (down, same) = (Word::Regressed, Word::Unchanged);
        assert_eq!(cells[0].words, [down, down, same, same, Word::NoVerdict]);
    }

    #[test]
    fn only_rounds_that_all_have_count() {
        let text = |round, system, value| {
            format!(
                r#"{{"run":"r1","round":{round},"position":1,"system":"{system}","step":"get","clients":1,"metric":"rate","unit":"ops/s","value":{value}}}"#
            )
        };
        // The first round was set aside for another system, the second for this one.
        let lines = [
            text(1, "old", 100.0),
            text(1, "new", 50.0),
            text(2, "old", 100.0),
            text(2, "other", 100.0),
            text(3, "old", 50.0),
            text(3, "new", 50.0),
            text(3, "other", 50.0),
        ];
        let measurements: Vec<Measurement> =
            lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
        let comparisons = r#"[
            {"step":"get","metric":"rate","base":"old","system":"new","ratio":1.0,"verdict":"inconclusive"},
            {"step":"get","metric":"cpu/o","base":"old","system":"new","ratio":2.0,"verdict":"regressed"},
            {"step":"put","metric":"rate","base":"old","system":"new","ratio":null,"verdict":"incomparable"}
        ]"#;
        let cells = cells(&measurements, serde_json::from_str(comparisons).unwrap());
        assert_eq!(cells.len(), 2);
        assert_eq!(cells[0].words[1], Word::Unchanged);
        assert_eq!(cells[0].by_round.len(), 1);
        assert_eq!(cells[1].words, [Word::NoVerdict; JUDGES]);
        assert!(cells[1].by_round.is_empty());
    }
}
