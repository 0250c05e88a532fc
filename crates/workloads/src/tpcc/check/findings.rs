//! What was found to offend.

use std::collections::BTreeMap;
use std::sync::Mutex;

use drivers::Row;
use model::{Check, Nanos};

use super::proofs::Proof;
use crate::tpcc::receipts::Receipts;
use load::lock;

/// Offending rows that a check shows.
const SHOWN: usize = 5;

/// What a row has that it must not have: the place of the column, and what was expected there.
pub(super) type Unlike = (usize, String);

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) count: u64,
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
}

/// The columns of a row, as a check shows them: `d_w_id 1, d_id 3, d_ytd 30.00`.
pub(super) fn shown<'a>(values: impl Iterator<Item = (&'a str, String)>) -> String {
    values.map(|(column, value)| format!("{column} {value}")).collect::<Vec<_>>().join(", ")
}

/// What each query found and how long it took, by its proof and its place in the order of all: the same rows are shown
/// whoever came first.
#[derive(Debug, Default)]
pub(super) struct Findings(Mutex<BTreeMap<(usize, usize), (Found, Nanos)>>);

impl Findings {
    pub(super) fn add(&self, proof: usize, place: usize, found: Found, took: Nanos) {
        lock(&self.0).insert((proof, place), (found, took));
    }

    pub(super) fn checks(&self, proofs: &[Proof]) -> Vec<Check> {
        let all = lock(&self.0);
        let checks = proofs.iter().enumerate().map(|(index, proof)| {
            let own = || all.range((index, 0)..(index + 1, 0)).map(|(_, (found, _))| found);
            let count: u64 = own().map(|found| found.count).sum();
            let shown = own().flat_map(|found| &found.shown).take(SHOWN);
            let mut shown: Vec<&str> = shown.map(String::as_str).collect();
            if count > shown.len() as u64 {
                shown.push("…");
            }
            let colon = if count > 0 { ": " } else { "" };
            Check {
                what: format!("{}: {}", proof.name(), proof.says()),
                expected: "0 offend".to_owned(),
                actual: format!("{count} offend{colon}{}", shown.join("; ")),
                holds: count == 0,
            }
        });
        checks.collect()
    }

    pub(super) fn added(&self) -> Receipts {
        let mut added = Receipts::default();
        for (found, _) in lock(&self.0).values() {
            added.add(&found.added);
        }
        added
    }

    pub(super) fn took(&self, proofs: &[Proof]) -> String {
        let all = lock(&self.0);
        let told = proofs.iter().enumerate().map(|(index, proof)| {
            let own = all.range((index, 0)..(index + 1, 0));
            let took = own.clone().fold(Nanos(0), |sum, (_, (_, took))| sum + *took);
            format!("{} {took} ({} queries)", proof.name(), own.count())
        });
        told.collect::<Vec<_>>().join(", ")
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
        let findings = Findings::default();
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
        assert_eq!(found.count, 1000);
        assert_eq!(found.shown.len(), SHOWN);
    }
}
