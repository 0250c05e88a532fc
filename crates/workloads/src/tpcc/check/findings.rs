//! What was found to offend.

use std::fmt::Write as _;
use std::sync::{Mutex, MutexGuard, PoisonError};

use drivers::Row;
use model::{Check, Nanos};

use super::proof::Proof;
use crate::tpcc::receipts::Receipts;

/// Offending rows that a check shows.
const SHOWN: usize = 5;

/// What one query found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Found {
    count: u64,
    shown: Vec<String>,
    pub(super) added: Receipts,
}

impl Found {
    pub(super) fn add(&mut self, columns: &[&str], row: &dyn Row) {
        self.add_text(|| {
            let values = columns.iter().enumerate().map(|(place, column)| {
                let value = row.value(place).to_text();
                (*column, value.unwrap_or_else(|| "NULL".to_owned()))
            });
            shown(values)
        });
    }

    /// A row that offends; what it is like is only asked where it is shown.
    pub(super) fn add_text(&mut self, text: impl FnOnce() -> String) {
        self.count += 1;
        if self.shown.len() < SHOWN {
            self.shown.push(text());
        }
    }

    pub(super) const fn count(&self) -> u64 {
        self.count
    }
}

/// The columns of a row, as a check shows them: `d_w_id 1, d_id 3, d_ytd 30.00`.
pub(super) fn shown<'a>(values: impl Iterator<Item = (&'a str, String)>) -> String {
    let mut text = String::new();
    for (column, value) in values {
        let comma = if text.is_empty() { "" } else { ", " };
        // Writing into a string cannot fail.
        let _ = write!(text, "{comma}{column} {value}");
    }
    text
}

/// What all queries found, by proof.
#[derive(Debug)]
pub(super) struct Findings(Vec<Mutex<Finding>>);

#[derive(Debug, Default)]
struct Finding {
    count: u64,
    shown: Vec<(usize, String)>,
    queries: u32,
    took: Nanos,
    added: Receipts,
}

impl Findings {
    /// Nothing is found yet.
    pub(super) fn new(proofs: usize) -> Self {
        Self((0..proofs).map(|_| Mutex::default()).collect())
    }

    pub(super) fn add(&self, proof: usize, place: usize, found: Found, took: Nanos) {
        let mut finding = self.finding(proof);
        finding.count += found.count;
        finding.queries += 1;
        finding.took += took;
        finding.added.add(&found.added);
        let shown = found.shown.into_iter().map(|text| (place, text));
        finding.shown.extend(shown);
        // The same rows are shown whoever came first.
        finding.shown.sort_by_key(|(place, _)| *place);
        finding.shown.truncate(SHOWN);
    }

    pub(super) fn checks(&self, proofs: &[Proof]) -> Vec<Check> {
        let checks = proofs.iter().enumerate().map(|(index, proof)| {
            let finding = self.finding(index);
            Check {
                what: format!("{}: {}", proof.name(), proof.says()),
                expected: "0 offend".to_owned(),
                actual: finding.told(),
                holds: finding.count == 0,
            }
        });
        checks.collect()
    }

    pub(super) fn added(&self) -> Receipts {
        let mut added = Receipts::default();
        for index in 0..self.0.len() {
            added.add(&self.finding(index).added);
        }
        added
    }

    pub(super) fn took(&self, proofs: &[Proof]) -> String {
        let told = proofs.iter().enumerate().map(|(index, proof)| {
            let finding = self.finding(index);
            let (name, queries, took) = (proof.name(), finding.queries, finding.took);
            format!("{name} {took} ({queries} queries)")
        });
        let told: Vec<String> = told.collect();
        told.join(", ")
    }

    fn finding(&self, proof: usize) -> MutexGuard<'_, Finding> {
        self.0[proof].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Finding {
    fn told(&self) -> String {
        let mut told = format!("{} offend", self.count);
        for (place, (_, text)) in self.shown.iter().enumerate() {
            told.push_str(if place == 0 { ": " } else { "; " });
            told.push_str(text);
        }
        if self.count > self.shown.len() as u64 {
            told.push_str("; …");
        }
        told
    }
}

#[cfg(test)]
mod tests {
    use model::TpccProfile;

    use super::*;
    use crate::tpcc::conditions::When;

    fn found(rows: &[u32]) -> Found {
        let mut found = Found::default();
        for row in rows {
            let values = [("d_id", row.to_string()), ("d_ytd", "1.50".to_owned())];
            found.add_text(|| shown(values.into_iter()));
        }
        found
    }

    #[test]
    fn a_check_tells_how_many_offend_and_shows_the_first() {
        let (proofs, _) = Proof::of(TpccProfile::Standard, When::Used);
        let findings = Findings::new(proofs.len());
        findings.add(1, 7, found(&[1, 2, 3, 4, 5, 6]), Nanos(3));
        findings.add(1, 4, found(&[9]), Nanos(4));
        findings.add(2, 5, found(&[8]), Nanos(0));
        let checks = findings.checks(&proofs);
        assert!(checks[0].holds);
        assert_eq!(checks[0].what, "condition 1: w_ytd = SUM(d_ytd)");
        assert_eq!(checks[0].actual, checks[0].expected);
        assert!(!checks[1].holds);
        assert_eq!(
            checks[1].actual,
            "7 offend: d_id 9, d_ytd 1.50; d_id 1, d_ytd 1.50; d_id 2, d_ytd 1.50; \
             d_id 3, d_ytd 1.50; d_id 4, d_ytd 1.50; …"
        );
        assert_eq!(checks[2].actual, "1 offend: d_id 8, d_ytd 1.50");
    }

    #[test]
    fn no_more_is_kept_than_is_shown() {
        let found = found(&[7; 1000]);
        assert_eq!(found.count(), 1000);
        assert_eq!(found.shown.len(), SHOWN);
    }
}
