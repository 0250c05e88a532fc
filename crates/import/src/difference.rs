//! How far the exact numbers are from the original's, and why.

use std::collections::{BTreeMap, HashMap};

use crate::ImportedStep;

#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    pub metric: String,
    /// Values that both modes have.
    pub values: usize,
    /// Of these, how many differ.
    pub differ: usize,
    /// The largest relative difference of exact to compat, with its sign.
    pub largest: f64,
    pub why: &'static str,
}

/// Compares the rows of the same sources, read in both modes. Metrics that only one mode has are not
/// among them, nor those whose unit differs, nor steps of which one mode counts rows and the other not.
pub fn differences(exact: &[ImportedStep], compat: &[ImportedStep]) -> Vec<Difference> {
    let of_compat: HashMap<Place<'_>, &ImportedStep> =
        places(compat).into_iter().zip(compat).collect();
    let mut all: BTreeMap<&str, Difference> = BTreeMap::new();
    for (row, place) in exact.iter().zip(places(exact)) {
        let counts_the_same = |other: &&&ImportedStep| other.subject.counts == row.subject.counts;
        let Some(other) = of_compat.get(&place).filter(counts_the_same) else { continue };
        for ours in &row.measurements {
            let metric = ours.metric.0.as_str();
            let mut theirs = other.measurements.iter();
            let Some(theirs) = theirs.find(|m| m.metric == ours.metric && m.unit == ours.unit)
            else {
                continue;
            };
            let entry = all.entry(metric).or_insert_with(|| Difference {
                metric: metric.to_owned(),
                values: 0,
                differ: 0,
                largest: 0.0,
                why: why(metric),
            });
            entry.values += 1;
            let (exact, compat) = (ours.value, theirs.value);
            if (exact - compat).abs() > 1e-12 * compat.abs() {
                entry.differ += 1;
                let relative = exact / compat - 1.0;
                if relative.is_finite() && relative.abs() > entry.largest.abs() {
                    entry.largest = relative;
                }
            }
        }
    }
    all.into_values().filter(|one| one.differ > 0).collect()
}

/// The place of a row: system, step, clients, and how many rows with these came before it.
type Place<'a> = (&'a str, &'a str, u32, usize);

fn places(rows: &[ImportedStep]) -> Vec<Place<'_>> {
    let mut seen: HashMap<(&str, &str, u32), usize> = HashMap::new();
    let mut places = Vec::with_capacity(rows.len());
    for row in rows {
        let (system, test) = (row.system.as_str(), row.test.as_str());
        let before = seen.entry((system, test, row.clients)).or_default();
        places.push((system, test, row.clients, *before));
        *before += 1;
    }
    places
}

/// What `docs/import.md` says at length.
fn why(metric: &str) -> &'static str {
    match metric {
        "rate" => {
            "the original takes the rate that sysbench prints, by a clock of its own, as a whole number; exact divides the count by the printed time"
        }
        "cpu/o" => {
            "the original rounds to whole microseconds; exact divides CPU per second by the rate"
        }
        "cs/o" | "compat.cpu/o" => {
            "the original rounds, and of vmstat counts repeated headers and the mean since boot as samples"
        }
        "r/o" => "the original rounds to three digits",
        "w/o" | "wKB/o" => {
            "the original rounds, and in query steps of the Insert Benchmark divides by inserts"
        }
        "rKB/o" => {
            "the original rounds to three digits, and of iostat adds disks whose names contain the device's"
        }
        _ => "the original rounds",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::file;
    use model::{Counts, Unit};

    fn row(rate: f64) -> ImportedStep {
        let file = file("x", "");
        let mut row = ImportedStep::new(file.end(), "a", "t", 1);
        row.put("rate", Unit::OpsPerSecond, rate);
        row
    }

    #[test]
    fn the_same_step_again_is_compared_with_its_like() {
        let exact = [row(100.4), row(200.0)];
        let compat = [row(100.0), row(200.0)];
        let all = differences(&exact, &compat);
        let one = all.first().unwrap();
        assert_eq!((all.len(), one.values, one.differ), (1, 2, 1));
        assert!((one.largest - 0.004).abs() < 1e-12);
        assert!(differences(&exact, &exact).is_empty());
        let mut of_rows = [row(1e6)];
        of_rows[0].subject.counts = Counts::Rows;
        assert!(differences(&of_rows, &exact).is_empty());
    }
}
