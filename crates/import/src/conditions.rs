//! What must be equal before numbers stand beside each other in a run: the CPUs of the host, the scale
//! of a test, the unit of a metric.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use model::Unit;

use crate::file::{FileLine, quote};
use crate::{ImportedStep, Result, Scale, Stated};

/// The CPUs of the host, where files state them, otherwise the given ones. A run is of one host: all must state the same.
pub(crate) fn cpus(rows: &[ImportedStep], given: Option<u32>) -> Result<Option<u32>> {
    let mut stated = rows.iter().filter_map(|row| row.cpus.as_ref());
    let Some(first) = stated.next() else { return Ok(given) };
    let known = first.value;
    if let Some(given) = given.filter(|given| *given != known) {
        let what = format!(
            "the number of CPUs is {known} here, and --cpus says {given}: leave --cpus out"
        );
        return Err(first.place().wrong(what));
    }
    let Some(other) = stated.find(|other| other.value != known) else { return Ok(Some(known)) };
    let (cpus, origin, line) = (other.value, &first.origin, first.line);
    Err(other.place().wrong(format!(
        "the number of CPUs is {cpus} here, and {known} in {origin}:{line}: a run covers one host, so import each host's results as a separate run"
    )))
}

/// The scale of each test, with whatever number of clients, where files state it; in the order of the
/// tests.
pub(crate) fn scales(rows: &[ImportedStep]) -> Result<Vec<(&str, Scale)>> {
    let mut known: HashMap<&str, &Stated<Scale>> = HashMap::new();
    let mut scales = Vec::new();
    for row in rows {
        let Some(scale) = &row.scale else { continue };
        match known.entry(&row.test) {
            Entry::Vacant(place) => {
                place.insert(scale);
                scales.push((row.test.as_str(), scale.value));
            }
            Entry::Occupied(first) if first.get().value != scale.value => {
                let (test, here) = (quote(&row.test), scale.value);
                let Stated { value: there, origin, line } = first.get();
                let what = format!(
                    "{test} has {here} here, {there} in {origin}:{line}: import the results of each as a separate run"
                );
                return Err(scale.place().wrong(what));
            }
            Entry::Occupied(_) => {}
        }
    }
    Ok(scales)
}

/// Refuses a metric of a test that has different units.
pub(crate) fn units(rows: &[ImportedStep]) -> Result<()> {
    let mut known: HashMap<(&str, &str), (Unit, FileLine<'_>)> = HashMap::new();
    for row in rows {
        for (measured, line) in row.measurements.iter().zip(&row.lines) {
            let here = FileLine::at(&row.origin, *line);
            let metric = measured.metric.0.as_str();
            let key = (row.test.as_str(), metric);
            let (unit, there) = *known.entry(key).or_insert((measured.unit, here));
            if unit != measured.unit {
                let (test, metric, own) = (quote(&row.test), quote(metric), measured.unit);
                let (origin, number) = (there.origin, there.number);
                return Err(here.wrong(format!(
                    "{metric} of {test} is in {own} here, in {unit} in {origin}:{number}: give both one unit (--compat gives scans that of published tables), or import each as a run of its own"
                )));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::file;

    /// A row of the second line of a file.
    fn row(origin: &str, system: &str) -> ImportedStep {
        let file = file(origin, "one\ntwo");
        ImportedStep::new(file.end(), system, "point", 8)
    }

    fn with_scale(mut row: ImportedStep, value: Scale) -> ImportedStep {
        row.scale = Some(Stated::at(row.place(), value));
        row
    }

    fn with_cpus(mut row: ImportedStep, value: u32) -> ImportedStep {
        row.cpus = Some(Stated::at(row.place(), value));
        row
    }

    fn tables(tables: u32, rows: u64) -> Scale {
        Scale::Tables { tables, rows }
    }

    #[test]
    fn another_scale_is_told_with_both_places() {
        let small = with_scale(row("1M.txt", "mysql-8.0.31"), tables(1, 1_000_000));
        let large = with_scale(row("10M.txt", "mysql-9.7.4"), tables(8, 1_000_000));
        let unknown = row("qps.abs", "mysql-5.6.51");
        let error = scales(&[unknown.clone(), small.clone(), large.clone()]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "10M.txt:2: `point` has 8 tables of 1000000 rows here, 1 table of 1000000 rows in 1M.txt:2: import the results of each as a separate run"
        );
        // With another number of clients it is the same sweep.
        let swept = ImportedStep { clients: 1, ..large.clone() };
        assert!(scales(&[small.clone(), swept]).is_err());
        let other_test = ImportedStep { test: "scan".to_owned(), ..large };
        let known = [small.clone(), unknown, small, other_test];
        assert_eq!(
            scales(&known),
            Ok(vec![("point", tables(1, 1_000_000)), ("scan", tables(8, 1_000_000))])
        );
        let factors = [10, 100].map(|f| with_scale(row("pg.txt", "pg18"), Scale::Factor(f)));
        let error = scales(&factors).unwrap_err();
        assert!(error.what.contains("scaling factor 100 here"), "{error}");
    }

    #[test]
    fn another_host_is_told_with_both_places() {
        let small = with_cpus(row("a.txt", "mysql-8.0.31"), 8);
        let large = with_cpus(row("b.txt", "mysql-9.7.4"), 40);
        let unknown = row("qps.abs", "mysql-5.6.51");
        assert_eq!(cpus(std::slice::from_ref(&unknown), Some(4)), Ok(Some(4)));
        assert_eq!(cpus(&[unknown, small.clone()], Some(8)), Ok(Some(8)));
        let error = cpus(&[small.clone(), large], None).unwrap_err().to_string();
        assert!(
            error.starts_with(
                "b.txt:2: the number of CPUs is 40 here, and 8 in a.txt:2: a run covers"
            ),
            "{error}"
        );
        let error = cpus(&[small], Some(40)).unwrap_err().to_string();
        assert!(
            error.starts_with("a.txt:2: the number of CPUs is 8 here, and --cpus says 40"),
            "{error}"
        );
    }

    #[test]
    fn another_unit_is_told_with_both_places() {
        let mut rows = [row("a.csv", "mysql-8.0.31"), row("b.csv", "mysql-9.7.4")];
        for row in &mut rows {
            row.put("cs/o", Unit::PerOp, 3.0);
        }
        rows[0].put("rate", Unit::OpsPerSecond, 1.0);
        assert_eq!(units(&rows), Ok(()));
        rows[1].put_at(7, "rate", Unit::RowsPerSecond, 1.0);
        let error = units(&rows).unwrap_err().to_string();
        assert!(
            error.starts_with(
                "b.csv:7: `rate` of `point` is in rows/s here, in ops/s in a.csv:2: give both one"
            ),
            "{error}"
        );
        rows[1].test = "scan".to_owned();
        assert_eq!(units(&rows), Ok(()));
    }
}
