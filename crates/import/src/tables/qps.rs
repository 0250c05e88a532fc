//! `qps.abs` and `qps.rel`: a line for each test, a column for each directory.

use std::fmt::Write;

use model::Unit;

use super::{group_of, system_of_directory, systems, tests, value};
use crate::file::{Line, quote};
use crate::round::{fixed, relative};
use crate::{File, ImportError, Options, Row};

/// Columns that a table may have.
const MOST_COLUMNS: usize = 1_000;

/// The id of the ratio in a table that has nothing else.
const RATIO: &str = "compat.ratio";

/// Reads a table. Of a relative one the base has the value 1 in each test, and the rest have no rate but
/// the published ratio.
///
/// # Errors
/// When the legend or a column is missing, or a value is none.
pub fn rows(file: &File, options: &Options) -> Result<Vec<Row>, ImportError> {
    let mut legend = Legend::default();
    let mut rows = Vec::new();
    for line in file.lines() {
        let text = line.text.trim_end();
        if let Some(base) = text.strip_prefix("Relative to:") {
            legend.base = Some(system_of_directory(base.trim()).to_owned());
        } else if text.starts_with("col-") {
            legend.add(line)?;
        } else if !text.is_empty() {
            rows.extend(legend.values(line, options)?);
        }
    }
    Ok(rows)
}

/// Which column is which directory.
#[derive(Default)]
struct Legend {
    /// Of a relative table.
    base: Option<String>,
    columns: Vec<String>,
}

impl Legend {
    /// `col-1 : x.my8044…`; the header line, which repeats the names of the columns, has no directory.
    fn add(&mut self, line: Line<'_>) -> Result<(), ImportError> {
        let Some((_, directory)) = line.text.split_once(" : ") else {
            return Ok(());
        };
        if self.columns.len() == MOST_COLUMNS {
            return Err(line.wrong(format!("more than {MOST_COLUMNS} columns")));
        }
        self.columns
            .push(system_of_directory(directory.trim()).to_owned());
        Ok(())
    }

    /// The values of a test.
    fn values(&self, line: Line<'_>, options: &Options) -> Result<Vec<Row>, ImportError> {
        let fields: Vec<&str> = line.text.split_whitespace().collect();
        let columns = self.columns.len();
        let (test, values) = match fields.split_last() {
            Some((test, values)) if values.len() == columns && columns > 0 => (*test, values),
            Some(_) | None => {
                let found = fields.len();
                return Err(line.wrong(format!(
                    "{columns} values and the name of a test belong here, as the legend `col-1 : DIRECTORY` has it, not {found} fields"
                )));
            }
        };
        let row = |system: &str, value: f64| {
            let mut row = Row::new(line, system, test, options.clients());
            group_of(test).clone_into(&mut row.group);
            match self.base {
                Some(_) => row.put(RATIO, Unit::Count, value),
                None => row.put("rate", Unit::OpsPerSecond, value),
            }
            row
        };
        let mut rows: Vec<Row> = self.base.iter().map(|base| row(base, 1.0)).collect();
        for (system, text) in self.columns.iter().zip(values) {
            let value = line.number(&format!("the value of {}", quote(system)), text)?;
            rows.push(row(system, value));
        }
        Ok(rows)
    }
}

/// The published table of rates: whole numbers. `rows` are of one number of clients and one round, here and
/// in the other tables.
pub fn print_absolute(rows: &[Row]) -> String {
    let all = systems(rows);
    print(rows, &all, &all, |value, _| fixed(value, 0))
}

/// The published table of ratios to the first system; from the whole numbers of the other table.
pub fn print_relative(rows: &[Row]) -> String {
    let all = systems(rows);
    let Some((base, others)) = all.split_first() else {
        return String::new();
    };
    let table = print(rows, others, &all, |value, base| {
        relative(value.round_ties_even(), base.round_ties_even())
    });
    format!("Relative to: {base}\n{table}")
}

/// Systems as columns, tests as lines. A cell that is not there is `NA`: the original shifts all that
/// follows.
fn print(
    rows: &[Row],
    columns: &[&str],
    all: &[&str],
    cell: impl Fn(f64, f64) -> String,
) -> String {
    let mut text = String::new();
    let mut header = Vec::new();
    for (number, system) in (1..).zip(columns) {
        let _infallible = writeln!(text, "col-{number} : {system}");
        header.push(format!("col-{number}"));
    }
    let _infallible = writeln!(text, "\n{}", header.join("\t"));
    let base = all.first().copied().unwrap_or_default();
    let mut all_tests = tests(rows);
    let order = ["", "point", "range-aggregate", "range", "write"];
    let place = |test: &str| order.iter().position(|group| *group == group_of(test));
    all_tests.sort_by_key(|test| place(test));
    for test in all_tests
        .into_iter()
        .filter(|test| !group_of(test).is_empty())
    {
        let of_base = value(rows, base, test, "rate");
        for system in columns {
            let text_of_cell = value(rows, system, test, "rate")
                .zip(of_base)
                .map_or_else(|| "NA".to_owned(), |(value, base)| cell(value, base));
            let _infallible = write!(text, "{text_of_cell}\t");
        }
        let _infallible = writeln!(text, "{test}");
    }
    text
}

#[cfg(test)]
mod tests_of_qps {
    use super::*;
    use crate::file::file;

    const ABSOLUTE: &str = "col-1 : x.my5651_rel.z12a.pk1\ncol-2 : x.my8043_rel.z12a.pk1\n\n\
        col-1\tcol-2\n4527\t2979\thot-points_range=100\n13972\t8450\tdelete_range=100\n";

    #[test]
    fn a_table_survives_and_its_ratios_are_the_published_ones() {
        let rows = rows(&file("qps.abs.tsv", ABSOLUTE), &Options::default()).unwrap();
        assert_eq!(rows.len(), 4);
        let again = ABSOLUTE.replace("x.", "").replace(".pk1", "");
        assert_eq!(print_absolute(&rows), again);
        let relative = "Relative to: my5651_rel.z12a\ncol-1 : my8043_rel.z12a\n\ncol-1\n\
            0.66\thot-points_range=100\n0.60\tdelete_range=100\n";
        assert_eq!(print_relative(&rows), relative);
        let read = super::rows(&file("qps.rel.tsv", relative), &Options::default()).unwrap();
        assert_eq!(read.first().and_then(|row| row.value(RATIO)), Some(1.0));
        assert_eq!(read.get(1).and_then(|row| row.value(RATIO)), Some(0.66));
    }

    #[test]
    fn a_line_that_does_not_fit_the_legend_is_told() {
        for (text, line) in [
            ("1\t2\ttest\n", 1),
            ("col-1 : a\n\ncol-1\n5\tx\ty\n", 4),
            ("col-1 : a\n\ncol-1\nNaN\tx\n", 4),
        ] {
            let error = rows(&file("qps.abs", text), &Options::default()).unwrap_err();
            assert_eq!(error.line, line, "{error}");
        }
    }
}
