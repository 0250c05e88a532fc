//! Checks of answers by their numbers of rows. [`super::sampled`] checks a sample of their contents.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use model::{Check, Dialect, Verb};
use serde::{Deserialize, Serialize};

use super::compile::{Answer, Sent};
use super::drawn::Values;
use data::check;
use load::lock;

/// Wrong answers that notes show in full.
const TOLD: usize = 5;
/// Characters of a statement that notes show.
const CHARACTERS: usize = 400;
/// One of this many answers is compared with the distinct values of its list, which must be sorted for it.
const SAMPLED: u32 = 64;

/// The wrong answers that all clients of a step got.
#[derive(Debug, Default)]
pub(crate) struct Answers {
    wrong: AtomicU64,
    told: Mutex<Vec<String>>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct WrongAnswers {
    number: u64,
    told: Vec<String>,
}

impl Answers {
    pub(crate) fn counted(&self) -> WrongAnswers {
        WrongAnswers { number: self.wrong.load(Ordering::Relaxed), told: self.told() }
    }

    pub(crate) fn add_all(&self, of_process: WrongAnswers) {
        self.wrong.fetch_add(of_process.number, Ordering::Relaxed);
        of_process.told.into_iter().for_each(|text| self.tell(|| text));
    }

    pub(crate) fn check(&self) -> Check {
        check("answers that were wrong".to_owned(), 0, self.wrong.load(Ordering::Relaxed))
    }

    pub(crate) fn told(&self) -> Vec<String> {
        lock(&self.told).clone()
    }

    /// Counts one; it is put into words only while there are few.
    #[cold]
    pub(crate) fn add(&self, tell: impl FnOnce() -> String) {
        self.wrong.fetch_add(1, Ordering::Relaxed);
        self.tell(tell);
    }

    pub(super) fn tell(&self, tell: impl FnOnce() -> String) {
        let mut told = lock(&self.told);
        if told.len() < TOLD {
            told.push(tell());
        }
    }
}

#[derive(Debug)]
pub(super) struct Checker {
    answers: Arc<Answers>,
    /// Answers to statements with lists, modulo [`SAMPLED`].
    lists: u32,
    sorted: Vec<i64>,
}

impl Checker {
    pub(super) fn new(answers: Arc<Answers>) -> Self {
        Self { answers, lists: 0, sorted: Vec::new() }
    }

    #[inline]
    pub(super) fn see(&mut self, sent: Sent<'_>, dialect: Dialect, values: &Values, found: u64) {
        let (low, high) = match sent.statement.answer {
            Answer::Any => return,
            Answer::Rows(low, high) => (low, high),
            Answer::Distinct(place) => {
                self.lists = (self.lists + 1) % SAMPLED;
                if self.lists != 1 {
                    return;
                }
                let distinct = self.distinct(values.numbers(sent.sending.base, place));
                (distinct, distinct)
            }
        };
        if !(low..=high).contains(&found) {
            self.answers.add(|| told(sent, dialect, values, &range(low, high), found));
        }
    }

    #[inline(never)]
    fn distinct(&mut self, numbers: impl Iterator<Item = i64>) -> u64 {
        self.sorted.clear();
        self.sorted.extend(numbers);
        self.sorted.sort_unstable();
        self.sorted.dedup();
        self.sorted.len() as u64
    }
}

fn told(sent: Sent<'_>, dialect: Dialect, values: &Values, expected: &str, found: u64) -> String {
    let mut sql = String::new();
    sent.write(dialect, values, &mut sql);
    if let Some((end, _)) = sql.char_indices().nth(CHARACTERS) {
        sql.truncate(end);
        sql.push('…');
    }
    let did = match sent.statement.verb {
        Verb::Select => "returned",
        Verb::Insert | Verb::Update | Verb::Delete | Verb::Other => "changed",
    };
    let rows = if found == 1 { "row" } else { "rows" };
    format!("`{}`: {did} {found} {rows}, expected {expected} (`{sql}`)", sent.statement.name)
}

fn range(low: u64, high: u64) -> String {
    match (low, high) {
        _ if low == high => low.to_string(),
        (_, u64::MAX) => format!("at least {low}"),
        (0, _) => format!("at most {high}"),
        _ => format!("{low} to {high}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_wrong_answers_are_told_and_all_are_counted() {
        let answers = Answers::default();
        assert!(answers.check().holds);
        for n in 0..20 {
            answers.add(|| format!("answer {n}"));
        }
        let check = answers.check();
        assert_eq!((check.actual.as_str(), check.holds), ("20", false));
        assert_eq!(answers.told().len(), TOLD);
        assert_eq!(answers.told()[0], "answer 0");
        let all = Answers::default();
        all.add_all(answers.counted());
        all.add_all(answers.counted());
        assert_eq!((all.check().actual.as_str(), all.told().len()), ("40", TOLD));
    }

    #[test]
    fn what_was_expected_is_said_in_words() {
        assert_eq!(range(1, 1), "1");
        assert_eq!(range(0, 3), "at most 3");
        assert_eq!(range(1, u64::MAX), "at least 1");
        assert_eq!(range(2, 3), "2 to 3");
    }
}
