//! What the loading steps left, for a trial that goes on from there in another process.

use model::SqlSpec;
use serde::{Deserialize, Serialize};

use super::checksum::Sum;
use super::ledger::Ledger;
use super::load::copies;
use super::rows::Rows;
use crate::StepError;

/// What was loaded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Loaded {
    /// The seed of the rows: whoever makes them again needs it, not that of his own trial.
    pub(super) seed: u64,
    /// All copies of all tables, in order.
    copies: Vec<LoadedCopy>,
}

/// What a copy of a table holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct LoadedCopy {
    table: String,
    rows: u64,
    checksum: u64,
}

impl Loaded {
    /// What each copy must hold, in the order of [`copies`].
    pub(super) fn sums(&self) -> Vec<Sum> {
        let copies = self.copies.iter();
        let sum = |copy: &LoadedCopy| Sum {
            rows: copy.rows,
            hash: copy.checksum,
        };
        copies.map(sum).collect()
    }
}

/// What the loading steps left, as text. `seed` is that of the rows. Makes all rows once more, some
/// millions a second, to know their checksums.
pub(super) fn state(spec: &SqlSpec, seed: u64) -> Result<String, StepError> {
    let tables = spec.tables.iter().enumerate();
    let rows: Vec<Rows> = tables
        .map(|(index, table)| Rows::new(table, index, seed))
        .collect();
    let copies = copies(&spec.tables).into_iter().map(|copy| LoadedCopy {
        checksum: rows[copy.table].sum(copy.number, 1, copy.rows).hash,
        rows: copy.rows,
        table: copy.name,
    });
    let loaded = Loaded {
        seed,
        copies: copies.collect(),
    };
    serde_json::to_string(&loaded).map_err(|error| StepError::State(error.to_string()))
}

/// Takes over what another process loaded; the ledger says from now on that everything is there. Fails
/// when the text is not of [`state`], or of other tables.
pub(super) fn restore(text: &str, spec: &SqlSpec, ledger: &Ledger) -> Result<Loaded, StepError> {
    let loaded: Loaded =
        serde_json::from_str(text).map_err(|error| StepError::State(error.to_string()))?;
    let copies = copies(&spec.tables);
    let list = |name: &str, rows: u64| format!("{name} ({rows})");
    let has: Vec<String> = loaded
        .copies
        .iter()
        .map(|c| list(&c.table, c.rows))
        .collect();
    let wants: Vec<String> = copies.iter().map(|c| list(&c.name, c.rows)).collect();
    if has != wants {
        return Err(StepError::State(format!(
            "it has tables (rows) {}; the plan has {}",
            has.join(", "),
            wants.join(", ")
        )));
    }
    ledger.set_loaded();
    Ok(loaded)
}

#[cfg(test)]
mod tests {
    use super::super::schema::tests::spec;
    use super::*;

    #[test]
    fn a_state_survives_and_others_are_refused() {
        let ledger = Ledger::new(&spec());
        let text = state(&spec(), 7).unwrap();
        let loaded = restore(&text, &spec(), &ledger).unwrap();
        assert_eq!(loaded.seed, 7);
        assert_eq!(ledger.rows(0, 1), spec().tables[0].rows);
        let rows: Vec<u64> = loaded.sums().iter().map(|sum| sum.rows).collect();
        assert_eq!(rows, [1000, 1000, 250]);
        let sums: std::collections::BTreeSet<u64> =
            loaded.sums().iter().map(|sum| sum.hash).collect();
        assert_eq!(sums.len(), 3, "copies have rows of their own");
        assert_eq!(state(&spec(), 7).unwrap(), text);
        assert_ne!(
            state(&spec(), 8).unwrap(),
            text.replace("\"seed\":7", "\"seed\":8")
        );
        let mut larger = spec();
        larger.tables[0].rows += 1;
        let message = |text: &str, spec: &SqlSpec| {
            let refused = restore(text, spec, &Ledger::new(spec));
            refused.unwrap_err().to_string()
        };
        assert_eq!(
            message(&text, &larger),
            "the state of the loaded data cannot be used: it has tables (rows) sbtest1 (1000), \
             sbtest2 (1000), kinds (250); the plan has sbtest1 (1001), sbtest2 (1001), kinds (250)"
        );
        assert!(message("{}", &spec()).contains("missing field"));
    }
}
