//! Rows that one set of tables can show: of one number of clients and one round.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::group_of;
use crate::{ImportError, ImportedStep};

/// What one set of tables shows.
pub(crate) struct Set {
    /// What tells its tables from those of other sets: `, 40 clients, round 2`; empty where there is one.
    pub(crate) title: String,
    pub(crate) rows: Vec<ImportedStep>,
}

/// The sets by their number of clients, and by their rounds.
pub(crate) fn sets(rows: &[ImportedStep]) -> Result<Vec<Set>, ImportError> {
    let is_load = |row: &ImportedStep| group_of(&row.test).is_empty();
    let fewest = rows.iter().filter(|row| !is_load(row)).map(|row| row.clients).min();
    let mut sets: BTreeMap<(u32, u32), Vec<ImportedStep>> = BTreeMap::new();
    for (row, round) in rows.iter().zip(crate::run::rounds(rows)?) {
        // No name says with how many clients it was loaded: the load stands with the fewest.
        let of_load = fewest.filter(|_| is_load(row));
        let key = (of_load.unwrap_or(row.clients), round);
        sets.entry(key).or_default().push(row.clone());
    }
    let clients: BTreeSet<u32> = sets.keys().map(|(clients, _)| *clients).collect();
    let rounds: BTreeSet<u32> = sets.keys().map(|(_, round)| *round).collect();
    let named = sets.into_iter().map(|(key, rows)| {
        let mut title = String::new();
        if clients.len() > 1 {
            let _infallible = write!(title, ", {}", clients_in_words(key.0));
        }
        if rounds.len() > 1 {
            let _infallible = write!(title, ", round {}", key.1);
        }
        Set { title, rows }
    });
    Ok(named.collect())
}

/// `1 client`, `40 clients`.
pub(crate) fn clients_in_words(clients: u32) -> String {
    let ending = if clients == 1 { "" } else { "s" };
    format!("{clients} client{ending}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::file;

    fn row(system: &str, test: &str, clients: u32) -> ImportedStep {
        ImportedStep::new(file("x", "").end(), system, test, clients)
    }

    /// Titles, and of the rows systems and tests.
    fn shape(rows: &[ImportedStep]) -> Vec<(String, Vec<String>)> {
        let sets = sets(rows).unwrap().into_iter();
        let named = |row: &ImportedStep| format!("{} {}", row.system, row.test);
        let shape = sets.map(|set| (set.title, set.rows.iter().map(named).collect()));
        shape.collect()
    }

    fn is(title: &str, rows: &[&str]) -> (String, Vec<String>) {
        let rows = rows.iter().map(|row| (*row).to_owned());
        (title.to_owned(), rows.collect())
    }

    #[test]
    fn one_number_of_clients_and_one_round_are_one_set_without_a_title() {
        let rows = [row("a", "prepare", 1), row("a", "p", 40), row("b", "p", 40)];
        assert_eq!(shape(&rows), [is("", &["a prepare", "a p", "b p"])]);
        let load = [row("a", "prepare", 1)];
        assert_eq!(shape(&load), [is("", &["a prepare"])]);
        assert!(shape(&[]).is_empty());
    }

    #[test]
    fn numbers_of_clients_and_rounds_are_told_apart() {
        let rows = [
            row("a", "p", 40),
            row("a", "p", 1),
            row("b", "p", 1),
            row("b", "p", 40),
            row("a", "p", 1),
        ];
        let expected = [
            is(", 1 client, round 1", &["a p", "b p"]),
            is(", 1 client, round 2", &["a p"]),
            is(", 40 clients, round 1", &["a p", "b p"]),
        ];
        assert_eq!(shape(&rows), expected);
        assert_eq!(
            shape(&rows[..4]),
            [is(", 1 client", &["a p", "b p"]), is(", 40 clients", &["a p", "b p"])]
        );
    }
}
