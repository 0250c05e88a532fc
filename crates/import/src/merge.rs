//! What several tables say of one measurement becomes one row.
//!
//! A campaign has a table of rates and one of costs, and a system that several tables show is the same result in each.
//! Where a table repeats what another says of a system, its rows are the same rows; where it says something else, they are
//! those of another round.

use std::collections::HashMap;

use crate::{FileKind, ImportedStep};

/// A system in a table, with a number of clients.
type Column = (String, u32);

/// What a table says of a column: its kind, and where the row of each test is.
type Said = (FileKind, HashMap<String, usize>);

/// The rows of all sources. Those of tables of rates and costs are joined where they are the same measurement.
pub(crate) fn tables(sources: Vec<(FileKind, Vec<ImportedStep>)>) -> Vec<ImportedStep> {
    let mut all: Vec<ImportedStep> = Vec::new();
    let mut known: HashMap<Column, Vec<Said>> = HashMap::new();
    for (kind, rows) in sources {
        if !matches!(kind, FileKind::QpsTable | FileKind::MetTable) {
            all.extend(rows);
            continue;
        }
        let mut columns: Vec<(Column, Vec<ImportedStep>)> = Vec::new();
        let mut places: HashMap<Column, usize> = HashMap::new();
        for row in rows {
            let column = (row.system.clone(), row.clients);
            let place = *places.entry(column.clone()).or_insert(columns.len());
            if place == columns.len() {
                columns.push((column, Vec::new()));
            }
            columns[place].1.push(row);
        }
        for (column, rows) in columns {
            let said = known.entry(column).or_default();
            let same = said.iter().position(|(of, tests)| is_same(&rows, kind, *of, tests, &all));
            let place = same.unwrap_or(said.len());
            if place == said.len() {
                said.push((kind, HashMap::new()));
            }
            join(rows, kind, &mut said[place].1, &mut all);
        }
    }
    all
}

/// Does a column say what another table says? At least one test is in both, and all that are agree; but scans have
/// another unit in tables of costs than in tables of rates.
fn is_same(
    rows: &[ImportedStep],
    kind: FileKind,
    of: FileKind,
    tests: &HashMap<String, usize>,
    all: &[ImportedStep],
) -> bool {
    let shared = rows.iter().filter_map(|row| {
        let known = all.get(*tests.get(&row.test)?)?;
        let judged = kind == of || !row.test.starts_with("scan");
        judged.then_some((row, known))
    });
    let mut shared = shared.peekable();
    shared.peek().is_some() && shared.all(|(row, known)| agree(row, known))
}

/// Have both the same value wherever both have one? A table of ratios has none in common with the rates that it was made
/// of.
fn agree(row: &ImportedStep, known: &ImportedStep) -> bool {
    let values = row.measurements.iter();
    let mut pairs = values.filter_map(|one| Some((one.value, known.value(&one.metric.0)?)));
    pairs.all(|(own, other)| own.total_cmp(&other).is_eq())
}

/// Adds the rows of a column: new tests, and what is new of those that are there. Of a scan the table of costs decides.
fn join(
    rows: Vec<ImportedStep>,
    kind: FileKind,
    tests: &mut HashMap<String, usize>,
    all: &mut Vec<ImportedStep>,
) {
    for row in rows {
        let Some(known) = tests.get(&row.test).and_then(|place| all.get_mut(*place)) else {
            tests.insert(row.test.clone(), all.len());
            all.push(row);
            continue;
        };
        if !agree(&row, known) {
            if kind == FileKind::MetTable {
                *known = row;
            }
            continue;
        }
        for (measured, line) in row.measurements.iter().zip(&row.lines) {
            if known.value(&measured.metric.0).is_none() {
                known.put_at(*line, &measured.metric.0, measured.unit, measured.value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::file;
    use crate::{Options, tables::met, tables::qps};

    fn options() -> Options {
        Options { clients: vec![1], ..Options::default() }
    }

    fn rates(text: &str) -> (FileKind, Vec<ImportedStep>) {
        let rows = qps::rows(&file("qps.abs", text), None, &options()).unwrap();
        (FileKind::QpsTable, rows)
    }

    fn costs(text: &str) -> (FileKind, Vec<ImportedStep>) {
        let rows = met::rows(&file("o.met", text), &options()).unwrap();
        (FileKind::MetTable, rows)
    }

    const RATES: &str = "col-1 : my5621.a\ncol-2 : my5651.a\n\ncol-1\n160\t158\trandom-points_range=1000\n\
        3.875\t3.437\tscan_range=100\n";
    const COSTS: &str = "sb.met.random-points.range1000.pk1.dop1\n--- absolute\n\
        0.078523\t1\t0\t0\t0.172\t160\tx.my5621.a.pk1\n0.079788\t1\t0\t0\t0.175\t158\tx.my5651.a.pk1\n\n\
        sb.met.scan.range100.pk1.dop1\n--- absolute\n0.000003\t1\t0\t0\t0\t3875218\tx.my5621.a.pk1\n\
        0.000004\t1\t0\t0\t0\t3436780\tx.my5651.a.pk1\n";

    /// Systems, tests and rounds.
    fn shape(sources: &[(FileKind, Vec<ImportedStep>)]) -> Vec<(String, String, u32)> {
        let rows = tables(sources.to_vec());
        let rounds = crate::run::rounds(&rows).unwrap();
        let named = rows.into_iter().zip(rounds);
        named.map(|(row, round)| (row.system, row.test, round)).collect()
    }

    #[test]
    fn the_tables_of_a_campaign_are_one_round() {
        for sources in [[rates(RATES), costs(COSTS)], [costs(COSTS), rates(RATES)]] {
            let all = shape(&sources);
            assert_eq!(all.len(), 4, "{all:?}");
            assert!(all.iter().all(|(_, _, round)| *round == 1), "{all:?}");
            let rows = tables(sources.to_vec());
            let of = |test: &str| rows.iter().find(|row| row.test.starts_with(test)).unwrap();
            assert_eq!(of("random").value("wKB/o"), Some(0.172));
            assert_eq!(of("random").value("rate"), Some(160.0));
            // Both numbers of a scan's row have one unit.
            assert_eq!(of("scan").value("rate"), Some(3_875_218.0));
        }
    }

    #[test]
    fn a_system_that_two_tables_show_is_one_result() {
        let other = "col-1 : my5651.a\ncol-2 : my5744.a\n\ncol-1\n158\t140\trandom-points_range=1000\n\
            3.437\t3.3\tscan_range=100\n7\t8\tinsert_range=100\n";
        let all = shape(&[rates(RATES), rates(other)]);
        assert_eq!(all.len(), 8, "{all:?}");
        assert!(all.iter().all(|(_, _, round)| *round == 1), "{all:?}");
    }

    #[test]
    fn ratios_belong_to_the_rates_that_they_were_made_of() {
        let ratios =
            "Relative to: my5621.a\ncol-1 : my5651.a\n\ncol-1\n0.99\trandom-points_range=1000\n";
        let sources = [rates(RATES), rates(ratios)];
        assert!(shape(&sources).iter().all(|(_, _, round)| *round == 1));
        assert_eq!(tables(sources.to_vec()).len(), 4);
    }

    #[test]
    fn other_numbers_are_another_round_even_where_some_are_equal() {
        let again = RATES.replace("3.437", "3.438");
        let all = shape(&[rates(RATES), rates(&again)]);
        let of_newer: Vec<u32> = all
            .iter()
            .filter(|(system, ..)| system == "my5651.a")
            .map(|(.., round)| *round)
            .collect();
        assert_eq!(of_newer, [1, 1, 2, 2]);
        let of_older = all.iter().filter(|(system, ..)| system == "my5621.a");
        assert_eq!(of_older.count(), 2, "the same column is the same result");
    }
}
