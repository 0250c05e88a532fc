//! `qps.abs` and `qps.rel`: a line for each test, a column for each directory; their twins with commas, which have no
//! legend; and `o.qps.abs` of 2020: a block for each test, a column for each number of clients.

use std::fmt::Write;

use model::Unit;

use super::{group_of, system_of_directory, systems, tests, value};
use crate::file::{FileLine, quote};
use crate::round::{fixed, relative};
use crate::sysbench::Name;
use crate::{File, ImportedStep, Options, Result, Rows};

const MOST_COLUMNS: usize = 1_000;

/// The id of the ratio in a table that has nothing else.
const RATIO: &str = "compat.ratio";

/// What the names of the files of 2020 have before that of the test.
const BLOCK: &str = "sb.r.qps.";

/// Reads a table. Of a relative one the base has the value 1 in each test, and the rest have no rate but
/// the published ratio. `systems` names those of a table without a legend, with commas between them; of a relative
/// one the base first.
pub fn rows(file: &File, systems: Option<&str>, options: &Options) -> Rows {
    let first = file.lines().find(|line| !line.text.trim().is_empty());
    if first.is_some_and(|line| line.text.starts_with(BLOCK)) {
        return blocks(file, options);
    }
    let mut legend = Legend::given(file, systems);
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

/// The systems that the legend of a table names, as [`rows`] takes them for its twin with commas.
pub fn systems_of_legend(file: &File) -> Option<String> {
    let directories = file.lines().filter_map(|line| {
        let base = line.text.strip_prefix("Relative to:");
        base.or_else(|| Some(line.text.strip_prefix("col-")?.split_once(" : ")?.1))
    });
    let systems: Vec<&str> =
        directories.map(|directory| system_of_directory(directory.trim())).collect();
    (!systems.is_empty()).then(|| systems.join(","))
}

/// The tables of 2020: under the name of a test a line for each system, with a rate for each number of clients.
fn blocks(file: &File, options: &Options) -> Rows {
    let mut test = None;
    let mut rows = Vec::new();
    for line in file.lines().filter(|line| !line.text.trim().is_empty()) {
        if let Some(name) = line.text.trim().strip_prefix(BLOCK) {
            let named = Name::of(&format!("sb.r.{name}")).map(|(_, name)| name.test);
            test = Some(named.ok_or_else(|| {
                line.wrong(format!("{} is not of the form TEST.rangeN.pkN", quote(name)))
            })?);
            continue;
        }
        let test = test.as_ref().ok_or_else(|| line.wrong("no name of a test above it"))?;
        let fields: Vec<&str> = line.text.split_whitespace().collect();
        let Some((directory, rates)) = fields.split_last() else { continue };
        if rates.len() != options.clients.len() {
            let (columns, given) = (rates.len(), options.clients.len());
            return Err(line.wrong(format!(
                "{columns} columns, and {given} numbers of clients are given: say how many clients each column has, as --clients 1,2,4 or PATH@1,2,4"
            )));
        }
        for (rate, clients) in rates.iter().zip(&options.clients) {
            let mut row = ImportedStep::new(line, system_of_directory(directory), test, *clients);
            group_of(test).clone_into(&mut row.group);
            row.put("rate", Unit::OpsPerSecond, line.number("the rate", rate)?);
            rows.push(row);
        }
    }
    if file.name().contains("qps.rel") {
        let what = "ratios to an unnamed system; import the rates behind them (o.qps.abs)";
        return Err(file.end().wrong(what));
    }
    Ok(rows)
}

#[derive(Default)]
struct Legend {
    base: Option<String>,
    columns: Vec<String>,
}

impl Legend {
    fn given(file: &File, systems: Option<&str>) -> Self {
        let split = systems.into_iter().flat_map(|all| all.split(','));
        let mut names = split.map(|name| name.trim().to_owned());
        let is_relative = systems.is_some() && file.name().starts_with("qps.rel");
        let base = is_relative.then(|| names.next()).flatten();
        Self { base, columns: names.collect() }
    }

    /// `col-1 : x.my8044…`; the header line, which repeats the names of the columns, has no directory.
    fn add(&mut self, line: FileLine<'_>) -> Result<()> {
        let Some((_, directory)) = line.text.split_once(" : ") else { return Ok(()) };
        if self.columns.len() >= MOST_COLUMNS {
            return Err(line.wrong(format!("more than {MOST_COLUMNS} columns")));
        }
        self.columns.push(system_of_directory(directory.trim()).to_owned());
        Ok(())
    }

    fn values(&self, line: FileLine<'_>, options: &Options) -> Rows {
        let has_commas = line.text.contains(',');
        let fields: Vec<&str> = if has_commas {
            line.text.split(',').map(str::trim).collect()
        } else {
            line.text.split_whitespace().collect()
        };
        let columns = self.columns.len();
        if has_commas && columns == 0 {
            return Err(line.wrong(
                "whose rates are these? Only the table with tabs has a legend: keep it beside this one, as NAME.tsv beside NAME.csv, or name the systems, A,B,C=PATH",
            ));
        }
        let parts = if has_commas { fields.split_first() } else { fields.split_last() };
        let parts = parts.filter(|(_, values)| values.len() == columns && columns > 0);
        let (&test, values) = parts.ok_or_else(|| {
            let found = fields.len();
            line.wrong(format!(
                "{columns} values and the name of a test belong here, as the legend `col-1 : DIRECTORY` has it, not {found} fields"
            ))
        })?;
        let clients = options.clients(line)?;
        let row = |system: &str, value: f64| {
            let mut row = ImportedStep::new(line, system, test, clients);
            group_of(test).clone_into(&mut row.group);
            match self.base {
                Some(_) => row.put(RATIO, Unit::Count, value),
                None => row.put("rate", Unit::OpsPerSecond, value),
            }
            row
        };
        let mut rows: Vec<ImportedStep> = self.base.iter().map(|base| row(base, 1.0)).collect();
        for (system, text) in self.columns.iter().zip(values) {
            let value = line.number(&format!("the value of {}", quote(system)), text)?;
            rows.push(row(system, value));
        }
        Ok(rows)
    }
}

/// The published table of rates: whole numbers, but for scans of 2024, which have three digits. `rows` are of one number of clients and one round, here and
/// in the other tables.
pub fn print_absolute(rows: &[ImportedStep]) -> String {
    let all = systems(rows);
    print(rows, &all, &all, |value, _, digits| fixed(value, digits))
}

/// The published table of ratios to the first system; from the numbers of the other table.
pub fn print_relative(rows: &[ImportedStep]) -> String {
    let all = systems(rows);
    let Some((base, others)) = all.split_first() else { return String::new() };
    let table = print(rows, others, &all, |value, base, _| relative(value, base));
    format!("Relative to: {base}\n{table}")
}

/// Systems as columns, tests as lines. A cell that is not there is `NA`: the original shifts all that
/// follows.
fn print(
    rows: &[ImportedStep],
    columns: &[&str],
    all: &[&str],
    cell: impl Fn(f64, f64, usize) -> String,
) -> String {
    let mut text = String::new();
    for (number, system) in (1..).zip(columns) {
        let _infallible = writeln!(text, "col-{number} : {system}");
    }
    let header: Vec<String> = (1..=columns.len()).map(|number| format!("col-{number}")).collect();
    let _infallible = writeln!(text, "\n{}", header.join("\t"));
    let base = all.first().copied().unwrap_or_default();
    let mut all_tests = tests(rows);
    let order = ["", "point", "range-aggregate", "range", "write"];
    let place = |test: &str| order.iter().position(|group| *group == group_of(test));
    all_tests.sort_by_key(|test| place(test));
    for test in all_tests.into_iter().filter(|test| !group_of(test).is_empty()) {
        let of_base = value(rows, base, test, "rate");
        let of_test = rows.iter().filter(|row| row.test == test);
        let digits = digits(of_test.filter_map(|row| row.value("rate")));
        for system in columns {
            let text_of_cell = value(rows, system, test, "rate")
                .zip(of_base)
                .map_or_else(|| "NA".to_owned(), |(value, base)| cell(value, base, digits));
            let _infallible = write!(text, "{text_of_cell}\t");
        }
        let _infallible = writeln!(text, "{test}");
    }
    text
}

/// Digits after the point that these rates need, at most three: those of a line have as many.
fn digits(rates: impl Iterator<Item = f64>) -> usize {
    const MOST: usize = 3;
    let zeros = |text: String| text.len() - text.trim_end_matches('0').len();
    rates.map(|rate| MOST.saturating_sub(zeros(fixed(rate, MOST)))).max().unwrap_or(0)
}

#[cfg(test)]
mod tests_of_qps {
    use super::*;
    use crate::file::file;

    /// One client, as `--clients 1` has it.
    fn one() -> Options {
        of(&[1])
    }

    fn of(clients: &[u32]) -> Options {
        Options { clients: clients.to_vec(), ..Options::default() }
    }

    const ABSOLUTE: &str = "col-1 : x.my5651_rel.z12a.pk1\ncol-2 : x.my8043_rel.z12a.pk1\n\n\
        col-1\tcol-2\n4527\t2979\thot-points_range=100\n13972\t8450\tdelete_range=100\n";

    #[test]
    fn a_table_survives_and_its_ratios_are_the_published_ones() {
        let rows = rows(&file("qps.abs.tsv", ABSOLUTE), None, &one()).unwrap();
        assert_eq!(rows.len(), 4);
        let again = ABSOLUTE.replace("x.", "").replace(".pk1", "");
        assert_eq!(print_absolute(&rows), again);
        let relative = "Relative to: my5651_rel.z12a\ncol-1 : my8043_rel.z12a\n\ncol-1\n\
            0.66\thot-points_range=100\n0.60\tdelete_range=100\n";
        assert_eq!(print_relative(&rows), relative);
        let read = super::rows(&file("qps.rel.tsv", relative), None, &one()).unwrap();
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
            let error = rows(&file("qps.abs", text), None, &one()).unwrap_err();
            assert_eq!(error.line, line, "{error}");
        }
    }

    #[test]
    fn a_table_whose_clients_nobody_states_is_refused() {
        let table = file("qps.abs.tsv", ABSOLUTE);
        let error = rows(&table, None, &Options::default()).unwrap_err();
        assert_eq!(error.line, 5, "{error}");
        assert!(error.what.contains("--clients N"), "{error}");
        assert!(rows(&table, None, &of(&[1, 4])).is_err());
        let all = rows(&table, None, &of(&[40])).unwrap();
        assert!(all.iter().all(|row| row.clients == 40));
    }

    #[test]
    fn the_twin_with_commas_has_the_systems_of_the_legend() {
        let table = file("qps.abs.tsv", ABSOLUTE);
        let twin = "hot-points_range=100,4527,2979\ndelete_range=100,13972,8450\n";
        let twin = file("qps.abs.csv", twin);
        let systems = systems_of_legend(&table);
        assert_eq!(systems.as_deref(), Some("my5651_rel.z12a,my8043_rel.z12a"));
        let values = |rows: &[ImportedStep]| -> Vec<(String, String, Option<f64>)> {
            let each = rows.iter();
            each.map(|row| (row.system.clone(), row.test.clone(), row.value("rate"))).collect()
        };
        let of_twin = rows(&twin, systems.as_deref(), &one()).unwrap();
        assert_eq!(values(&of_twin), values(&rows(&table, None, &one()).unwrap()));
        let error = rows(&twin, None, &one()).unwrap_err();
        assert!(error.what.contains("A,B,C=PATH"), "{error}");
        assert!(rows(&twin, Some("a"), &one()).is_err());
        let ratios = file("qps.rel.csv", "hot-points_range=100,0.66\n");
        let ratios = rows(&ratios, systems.as_deref(), &one()).unwrap();
        let ratios: Vec<Option<f64>> = ratios.iter().map(|row| row.value(RATIO)).collect();
        assert_eq!(ratios, [Some(1.0), Some(0.66)]);
    }

    #[test]
    fn scans_keep_the_digits_that_the_table_has() {
        let table = "col-1 : a\ncol-2 : b\ncol-3 : c\n\ncol-1\tcol-2\tcol-3\n\
            1.466\t1.600\t1.35\tscan_range=100\n299\t291\t287\tread-only_range=10000\n";
        let rows = rows(&file("qps.abs", table), None, &one()).unwrap();
        let printed = print_absolute(&rows);
        assert!(printed.contains("\n1.466\t1.600\t1.350\tscan_range=100\n"), "{printed}");
        assert!(printed.contains("\n299\t291\t287\t"), "{printed}");
        let ratios = print_relative(&rows);
        assert!(ratios.contains("\n1.09\t0.92\tscan_range=100\n"), "{ratios}");
    }

    /// Of December 2020: rates of one, two and four clients.
    const BLOCKS: &str = "sb.r.qps.point-query.pre.range100.pk1\n24403\t48328\t63918\tx.my5649.x6d.pk1\n\
        20726\t41349\t58654\tx.my5731.x6d.pk1\n\nsb.r.qps.insert.range100.pk1\n\
        14286\t26672\t34498\tx.my5649.x6d.pk1\n12046\t22653\t27880\tx.my5731.x6d.pk1\n\n";

    #[test]
    fn blocks_have_a_column_for_each_number_of_clients() {
        let table = file("o.qps.abs", BLOCKS);
        let all = rows(&table, None, &of(&[1, 2, 4])).unwrap();
        assert_eq!(all.len(), 12);
        let of_four = all.iter().filter(|row| row.clients == 4);
        let of_four: Vec<_> = of_four
            .map(|row| (row.system.as_str(), row.test.as_str(), row.value("rate")))
            .collect();
        assert_eq!(of_four[1], ("my5731.x6d", "point-query.pre_range=100", Some(58654.0)));
        assert_eq!(of_four[2], ("my5649.x6d", "insert_range=100", Some(34498.0)));
        for clients in [&[][..], &[1][..], &[1, 2][..]] {
            let error = rows(&table, None, &of(clients)).unwrap_err();
            assert!(error.what.starts_with("3 columns, and"), "{error}");
        }
        let ratios = file("o.qps.rel", BLOCKS);
        let error = rows(&ratios, None, &of(&[1, 2, 4])).unwrap_err();
        assert!(error.what.contains("o.qps.abs"), "{error}");
    }
}
