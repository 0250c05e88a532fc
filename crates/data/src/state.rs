//! What the loading steps left, for a trial that goes on from there in another process.

use model::SqlSpec;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::checksum::{Form, Sum};
use crate::row_counts::RowCounts;
use crate::rows::SqlRows;
use crate::schema::copies;
use crate::source::Source;
use crate::table::Batch;
use load::{Result, StepError};
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loaded {
    /// The seed of the rows: whoever makes them again needs it, not that of his own trial.
    pub seed: u64,
    copies: Vec<LoadedCopy>,
}
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct LoadedCopy {
    table: String,
    rows: u64,
    checksum: u64,
}

impl Loaded {
    /// What each copy must hold, in the order of [`copies`].
    pub fn sums(&self) -> Vec<Sum> {
        let sum = |copy: &LoadedCopy| Sum { rows: copy.rows, hash: copy.checksum };
        self.copies.iter().map(sum).collect()
    }
}

/// What the loading steps left, as text, from the rows' `seed`. Makes all rows again for their checksums.
pub fn state(spec: &SqlSpec, seed: u64) -> Result<String> {
    let rows = SqlRows::new(&spec.tables, seed);
    let copies = copies(&spec.tables).into_iter().enumerate().map(|(table, copy)| {
        let columns = spec.tables[copy.table].columns.iter();
        let forms: Vec<Form> = columns.map(|column| Form::of(column.kind)).collect();
        let all = Batch { table, group: [0; 2], first: 1, last: copy.rows };
        LoadedCopy { checksum: rows.sum(&all, &forms).hash, rows: copy.rows, table: copy.name }
    });
    let loaded = Loaded { seed, copies: copies.collect() };
    write(&loaded)
}

/// Takes over what another process loaded; the counts say from now on that everything is there. Fails
/// when the text is not of [`state`], or of other tables.
pub fn restore(text: &str, spec: &SqlSpec, counts: &RowCounts) -> Result<Loaded> {
    let loaded: Loaded = read(text)?;
    let copies = copies(&spec.tables);
    let list = |name: &str, rows: u64| format!("{name} ({rows})");
    let has: Vec<String> = loaded.copies.iter().map(|c| list(&c.table, c.rows)).collect();
    let wants: Vec<String> = copies.iter().map(|c| list(&c.name, c.rows)).collect();
    if has != wants {
        return Err(StepError::State(format!(
            "it has tables (rows) {}; the plan has {}",
            has.join(", "),
            wants.join(", ")
        )));
    }
    counts.set_loaded();
    Ok(loaded)
}

pub fn write(state: &impl Serialize) -> Result<String> {
    serde_json::to_string(state).map_err(|error| StepError::State(error.to_string()))
}

pub fn read<T: DeserializeOwned>(text: &str) -> Result<T> {
    serde_json::from_str(text).map_err(|error| StepError::State(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::super::schema::tests::spec;
    use super::*;

    #[test]
    fn a_state_survives_and_others_are_refused() {
        let counts = RowCounts::new(&spec());
        let text = state(&spec(), 7).unwrap();
        let loaded = restore(&text, &spec(), &counts).unwrap();
        assert_eq!(loaded.seed, 7);
        assert_eq!(counts.rows(0, 1), spec().tables[0].rows);
        let rows: Vec<u64> = loaded.sums().iter().map(|sum| sum.rows).collect();
        assert_eq!(rows, [1000, 1000, 250]);
        let sums: std::collections::BTreeSet<u64> =
            loaded.sums().iter().map(|sum| sum.hash).collect();
        assert_eq!(sums.len(), 3, "copies have rows of their own");
        assert_eq!(state(&spec(), 7).unwrap(), text);
        assert_ne!(state(&spec(), 8).unwrap(), text.replace("\"seed\":7", "\"seed\":8"));
        let mut larger = spec();
        larger.tables[0].rows += 1;
        let message = |text: &str, spec: &SqlSpec| {
            let refused = restore(text, spec, &RowCounts::new(spec));
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
