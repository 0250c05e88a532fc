//! `o.met`: cost per operation, a block for each test. The columns are those of the line above the values: seven, six
//! without context switches in 2024, five without reads in 2020.

use std::fmt::Write;

use model::Unit;

use super::{group_of, system_of_directory};
use crate::file::{FileLine, quote};
use crate::round::{fixed, relative, six_digits};
use crate::sysbench::{self, Name};
use crate::{File, ImportedStep, Options, Result, Rows};

/// The columns that a block may have, in their order; the last is the system.
const COLUMNS: [&str; 7] = ["cpu/o", "cs/o", "r/o", "rKB/o", "wKB/o", "o/s", "dbms"];
const OPTIONAL: [&str; 2] = ["cs/o", "r/o"];
/// The metrics of the columns in compat mode.
const METRICS: [&str; 6] = ["compat.cpu/o", "cs/o", "r/o", "rKB/o", "wKB/o", "rate"];

/// A line of a block: the costs of one operation, and the rate.
#[derive(Clone, Debug, PartialEq)]
pub struct Costs {
    /// In the order of the columns. CPU is in per cent of the machine, per operation per second. Tables up to 2024 have
    /// no context switches, those of 2020 no reads either.
    pub values: [Option<f64>; 6],
    pub system: String,
}

/// Reads a table; lines of ratios are passed over, they follow from the others.
pub fn rows(file: &File, options: &Options) -> Rows {
    let mut test: Option<&str> = None;
    let mut is_absolute = false;
    let mut columns = COLUMNS.to_vec();
    let mut rows = Vec::new();
    for line in file.lines() {
        let text = line.text.trim();
        if text.is_empty() {
            continue;
        }
        if let Some(header) = header(text) {
            columns = header;
        } else if let Some(section) = text.strip_prefix("---") {
            is_absolute = section.trim() == "absolute";
        } else if text.starts_with("sb.") && text.split_whitespace().count() == 1 {
            test = Some(text);
            is_absolute = false;
        } else if is_absolute {
            let test = test.ok_or_else(|| line.wrong("no name of a test before its costs"))?;
            rows.push(row(line, &columns, test, options)?);
        }
    }
    Ok(rows)
}

/// The columns that a line names; `None` where it is not about columns.
fn header(text: &str) -> Option<Vec<&'static str>> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let is_there = |column: &&&str| words.contains(*column) || !OPTIONAL.contains(*column);
    let columns: Vec<&str> = COLUMNS.iter().filter(is_there).copied().collect();
    (columns == words).then_some(columns)
}

fn row(
    line: FileLine<'_>,
    columns: &[&str],
    test: &str,
    options: &Options,
) -> Result<ImportedStep> {
    let fields: Vec<&str> = line.text.split_whitespace().collect();
    line.expect_fields(columns.len(), &format!(", as {}", columns.join(" ")), fields.len())?;
    let number = |name: &str| {
        let place = columns.iter().position(|column| *column == name);
        place.map(|place| line.number(name, fields[place])).transpose()
    };
    let costs = sysbench::Costs {
        cpu: number("cpu/o")?,
        switches: number("cs/o")?,
        reads: number("r/o")?,
        read_kb: number("rKB/o")?,
        writes: None,
        written_kb: number("wKB/o")?,
    };
    let rate = number("o/s")?;
    let (_, name) = Name::of(test).ok_or_else(|| {
        let test = quote(test);
        line.wrong(format!("{test} is not of the form sb.met.TEST.rangeN.pkN.dopN"))
    })?;
    let clients = options.clients_or(name.clients, line)?;
    let system = system_of_directory(fields[columns.len() - 1]);
    let mut row = ImportedStep::new(line, system, &name.test, clients);
    group_of(&name.test).clone_into(&mut row.group);
    row.put_some("rate", Unit::OpsPerSecond, rate);
    costs.put(&mut row, options);
    Ok(row)
}

impl Costs {
    /// The costs of a row in compat mode; `None` where it has none.
    fn of(row: &ImportedStep) -> Option<Self> {
        let values = METRICS.map(|metric| row.value(metric));
        let is_there =
            |(name, value): (&&str, &Option<f64>)| value.is_some() || OPTIONAL.contains(name);
        let system = row.system.clone();
        COLUMNS.iter().zip(&values).all(is_there).then_some(Self { values, system })
    }

    /// Ratios to the base, in the order of the columns: of CPU, context switches and rates as they are printed. What a
    /// table has no column for is missing.
    pub fn relative_to(&self, base: &Self) -> Vec<String> {
        let value = |costs: &Self, place: usize| match COLUMNS[place] {
            "cpu/o" | "cs/o" | "o/s" => costs.printed(place)?.parse().ok(),
            _ => costs.values[place],
        };
        let ratio = |place| Some(relative(value(self, place)?, value(base, place)?));
        (0..self.values.len()).filter_map(ratio).collect()
    }

    /// A value as it is printed. The tables of 2020, which have no reads, have three digits after the point.
    fn printed(&self, place: usize) -> Option<String> {
        let [_, _, reads, ..] = self.values;
        let value = self.values[place]?;
        Some(match COLUMNS[place] {
            "cpu/o" => fixed(value, 6),
            "cs/o" => fixed(value, 3),
            "rKB/o" | "wKB/o" if reads.is_none() => fixed(value, 3),
            "o/s" => fixed(value, 0),
            _ => six_digits(value),
        })
    }

    /// The columns of a table that has these.
    fn header(&self) -> String {
        let named = COLUMNS.iter().zip(&self.values).filter(|(_, value)| value.is_some());
        named.map(|(name, _)| *name).chain(["dbms"]).collect::<Vec<_>>().join("\t")
    }

    fn print(&self) -> String {
        let fields = (0..self.values.len()).filter_map(|place| self.printed(place));
        fields.chain([self.system.clone()]).collect::<Vec<_>>().join("\t")
    }
}

/// The published table of rows in compat mode, which are of one number of clients and one round: absolute
/// costs, and ratios to the first system of each test.
pub fn print(rows: &[ImportedStep]) -> String {
    let mut text = String::new();
    for test in super::tests(rows) {
        let of_test = rows.iter().filter(|row| row.test == test);
        let costs: Vec<Costs> = of_test.filter_map(Costs::of).collect();
        let Some((base, others)) = costs.split_first() else { continue };
        let header = base.header();
        let _infallible = writeln!(text, "{test}\n--- absolute\n{header}");
        for costs in &costs {
            let _infallible = writeln!(text, "{}", costs.print());
        }
        let _infallible = writeln!(text, "--- relative to first result\n{header}");
        for costs in others {
            let ratios = costs.relative_to(base).join("\t");
            let _infallible = writeln!(text, "{ratios}\t{}", costs.system);
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Mode;
    use crate::file::file;

    const TABLE: &str = "sb.met.delete.range100.pk1.dop1\n--- absolute\n\
        cpu/o\tcs/o\tr/o\trKB/o\twKB/o\to/s\tdbms\n\
        0.000098\t0.009\t0\t0.001\t1.24\t128534\tx.my5651_rel.z12a.pk1\n\
        0.000098\t0.020\t0\t0\t1.214\t121065\tx.my5744_rel.z12a.pk1\n\
        --- relative to first result\n1.00\t2.22\t1\t0.00\t0.98\t0.94\tx.my5744_rel.z12a.pk1\n\n";

    fn options() -> Options {
        Options { mode: Mode::Compat, ..Options::default() }
    }

    #[test]
    fn ratios_are_the_published_ones() {
        let rows = rows(&file("o.met", TABLE), &options()).unwrap();
        assert_eq!(rows.len(), 2);
        let text = print(&rows);
        assert!(text.contains("\n1.00\t2.22\t1\t0.00\t0.98\t0.94\tmy5744_rel.z12a\n"), "{text}");
        assert!(text.contains("\n0.000098\t0.009\t0\t0.001\t1.24\t128534\tmy5651_rel.z12a\n"));
    }

    /// Of 2024 and of 2020: no context switches, then no reads.
    const SIX: &str = "sb.met.scan.range100.pk1.dop1\n--- absolute\n\
        cpu/o\t\tr/o\trKB/o\twKB/o\to/s\tdbms\n0.000003\t0\t0\t0\t3875218\tx.my5621_rel.z10a_bee.pk1\n\
        0.000004\t0\t0\t0.03\t3412038\tx.my5631_rel.z10a_bee.pk1\n--- relative to first result\n\
        1.33\t\t1\t1\tinf\t0.88\tx.my5631_rel.z10a_bee.pk1\n\n";
    const FIVE: &str = "sb.met.insert.range100.pk1.dop1\n--- absolute\ncpu/o\t\trKB/o\twKB/o\to/s\tdbms\n\
        0.001138\t0.000\t0.002\t24403\tx.my5649.x6d.pk1\n0.001349\t0.000\t0.000\t20726\tx.my5731.x6d.pk1\n\
        --- relative to first result\n1.19\t\t1\t0.00\t0.85\tx.my5731.x6d.pk1\n\n";

    #[test]
    fn tables_of_five_and_six_columns_come_out_as_they_went_in() {
        for (table, missing) in [(SIX, &["cs/o"][..]), (FIVE, &["cs/o", "r/o"][..])] {
            let rows = rows(&file("o.met", table), &options()).unwrap();
            assert_eq!(rows.len(), 2);
            for metric in ["compat.cpu/o", "cs/o", "r/o", "rKB/o", "wKB/o", "rate"] {
                let is_there = rows.iter().all(|row| row.value(metric).is_some());
                assert_eq!(is_there, !missing.contains(&metric), "{metric}");
            }
            let values = |text: &str| -> Vec<String> {
                let lines = text.lines().filter(|line| line.contains("my5"));
                lines
                    .map(|line| {
                        line.replace("\t\t", "\t").replace("x.my", "my").replace(".pk1", "")
                    })
                    .collect()
            };
            assert_eq!(values(&print(&rows)), values(table));
        }
        let cut = FIVE.replace("\t0.002", "");
        let error = rows(&file("o.met", &cut), &options()).unwrap_err();
        assert_eq!(error.line, 4, "{error}");
    }

    #[test]
    fn cpu_is_time_where_the_cpus_are_known() {
        let options = Options { cpus: Some(8), ..Options::default() };
        let rows = rows(&file("o.met", TABLE), &options).unwrap();
        let cpu = rows.first().and_then(|row| row.value("cpu/o")).unwrap();
        assert!((cpu - 7.84).abs() < 1e-9, "{cpu}");
    }

    #[test]
    fn damage_is_told_with_its_line() {
        for (from, to, line) in [("1.24", "x", 4), ("\t128534", "", 4), ("sb.met", "met", 4)] {
            let text = TABLE.replacen(from, to, 1);
            let error = rows(&file("o.met", &text), &options()).unwrap_err();
            assert_eq!(error.line, line, "{error}");
        }
    }
}
