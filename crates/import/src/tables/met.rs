//! `o.met`: cost per operation, a block for each test.

use std::fmt::Write;

use model::Unit;

use super::{group_of, system_of_directory};
use crate::file::{Line, quote};
use crate::round::{fixed, relative, six_digits};
use crate::sysbench::Name;
use crate::{File, ImportError, Mode, Options, Row};

const HEADER: &str = "cpu/o\tcs/o\tr/o\trKB/o\twKB/o\to/s\tdbms";

/// A line of a block: the costs of one operation and the rate, as they are printed.
#[derive(Clone, Debug, PartialEq)]
pub struct Costs {
    /// Per cent of the machine, per operation per second; six digits after the point.
    pub cpu: String,
    /// Context switches; three digits after the point.
    pub switches: String,
    /// Reads, KB read, KB written, at six significant digits; the rate, a whole number.
    pub others: [f64; 4],
    /// Name of the system.
    pub system: String,
}

/// Reads a table; lines of ratios are passed over, they follow from the others.
///
/// # Errors
/// When a block has no name, or a line not seven fields.
pub fn rows(file: &File, options: &Options) -> Result<Vec<Row>, ImportError> {
    let mut test: Option<&str> = None;
    let mut is_absolute = false;
    let mut rows = Vec::new();
    for line in file.lines() {
        let text = line.text.trim();
        let is_header = text.split_whitespace().eq(HEADER.split_whitespace());
        if text.is_empty() || is_header {
            continue;
        }
        if let Some(section) = text.strip_prefix("---") {
            is_absolute = section.trim() == "absolute";
        } else if text.starts_with("sb.") && text.split_whitespace().count() == 1 {
            test = Some(text);
            is_absolute = false;
        } else if is_absolute {
            let test = test.ok_or_else(|| line.wrong("no name of a test before its costs"))?;
            rows.push(row(line, test, options)?);
        }
    }
    Ok(rows)
}

fn row(line: Line<'_>, test: &str, options: &Options) -> Result<Row, ImportError> {
    let costs = Costs::parse(line)?;
    let (_, name) = Name::of(test).ok_or_else(|| {
        let test = quote(test);
        line.wrong(format!("{test} is no name as sb.met.TEST.rangeN.pkN.dopN"))
    })?;
    let mut row = Row::new(line, &costs.system, &name.test, name.clients);
    group_of(&name.test).clone_into(&mut row.group);
    let [reads, read_kb, written_kb, rate] = costs.others;
    let cpu = line.number("cpu/o", &costs.cpu)?;
    row.put("rate", Unit::OpsPerSecond, rate);
    match (options.mode, options.cpus) {
        (Mode::Exact, Some(cpus)) => {
            let micros = crate::sysbench::percent_to_micros(cpu, cpus);
            row.put("cpu/o", Unit::MicrosPerOp, micros);
        }
        (Mode::Exact, None) | (Mode::Compat, _) => row.put("compat.cpu/o", Unit::Percent, cpu),
    }
    row.put("cs/o", Unit::PerOp, line.number("cs/o", &costs.switches)?);
    row.put("r/o", Unit::PerOp, reads);
    row.put("rKB/o", Unit::KbPerOp, read_kb);
    row.put("wKB/o", Unit::KbPerOp, written_kb);
    Ok(row)
}

impl Costs {
    fn parse(line: Line<'_>) -> Result<Self, ImportError> {
        let fields: Vec<&str> = line.text.split_whitespace().collect();
        let [cpu, switches, reads, read_kb, written_kb, rate, directory] = *fields else {
            let found = fields.len();
            return Err(line.wrong(format!(
                "seven fields belong here, as {HEADER:?}, not {found}"
            )));
        };
        line.number("cpu/o", cpu)?;
        line.number("cs/o", switches)?;
        Ok(Self {
            cpu: cpu.to_owned(),
            switches: switches.to_owned(),
            others: [
                line.number("r/o", reads)?,
                line.number("rKB/o", read_kb)?,
                line.number("wKB/o", written_kb)?,
                line.number("o/s", rate)?,
            ],
            system: system_of_directory(directory).to_owned(),
        })
    }

    /// The costs of a row in compat mode; `None` where it has none.
    pub fn of(row: &Row) -> Option<Self> {
        let value = |metric| row.value(metric);
        Some(Self {
            cpu: fixed(value("compat.cpu/o")?, 6),
            switches: fixed(value("cs/o")?, 3),
            others: [
                value("r/o")?,
                value("rKB/o")?,
                value("wKB/o")?,
                value("rate")?,
            ],
            system: row.system.clone(),
        })
    }

    /// Six ratios to the base: cpu, cs, r, rKB, wKB, rate; of the printed numbers.
    pub fn relative_to(&self, base: &Self) -> [String; 6] {
        let number = |text: &str| text.parse::<f64>().unwrap_or(f64::NAN);
        let [r, rkb, wkb, rate] = self.others;
        let [base_r, base_rkb, base_wkb, base_rate] = base.others;
        [
            relative(number(&self.cpu), number(&base.cpu)),
            relative(number(&self.switches), number(&base.switches)),
            relative(r, base_r),
            relative(rkb, base_rkb),
            relative(wkb, base_wkb),
            relative(rate.round_ties_even(), base_rate.round_ties_even()),
        ]
    }

    fn print(&self) -> String {
        let [r, rkb, wkb, rate] = self.others;
        let others = [
            six_digits(r),
            six_digits(rkb),
            six_digits(wkb),
            fixed(rate, 0),
        ];
        let Self {
            cpu,
            switches,
            system,
            ..
        } = self;
        format!("{cpu}\t{switches}\t{}\t{system}", others.join("\t"))
    }
}

/// The published table of rows in compat mode, which are of one number of clients and one round: absolute
/// costs, and ratios to the first system of each test.
pub fn print(rows: &[Row]) -> String {
    let mut text = String::new();
    for test in super::tests(rows) {
        let of_test = rows.iter().filter(|row| row.test == test);
        let costs: Vec<Costs> = of_test.filter_map(Costs::of).collect();
        let Some((base, others)) = costs.split_first() else {
            continue;
        };
        let _infallible = writeln!(text, "{test}\n--- absolute\n{HEADER}");
        for costs in &costs {
            let _infallible = writeln!(text, "{}", costs.print());
        }
        let _infallible = writeln!(text, "--- relative to first result\n{HEADER}");
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
    use crate::file::file;

    const TABLE: &str = "sb.met.delete.range100.pk1.dop1\n--- absolute\n\
        cpu/o\tcs/o\tr/o\trKB/o\twKB/o\to/s\tdbms\n\
        0.000098\t0.009\t0\t0.001\t1.24\t128534\tx.my5651_rel.z12a.pk1\n\
        0.000098\t0.020\t0\t0\t1.214\t121065\tx.my5744_rel.z12a.pk1\n\
        --- relative to first result\n1.00\t2.22\t1\t0.00\t0.98\t0.94\tx.my5744_rel.z12a.pk1\n\n";

    fn options() -> Options {
        Options {
            mode: Mode::Compat,
            ..Options::default()
        }
    }

    #[test]
    fn ratios_are_the_published_ones() {
        let rows = rows(&file("o.met", TABLE), &options()).unwrap();
        assert_eq!(rows.len(), 2);
        let text = print(&rows);
        assert!(
            text.contains("\n1.00\t2.22\t1\t0.00\t0.98\t0.94\tmy5744_rel.z12a\n"),
            "{text}"
        );
        assert!(text.contains("\n0.000098\t0.009\t0\t0.001\t1.24\t128534\tmy5651_rel.z12a\n"));
    }

    #[test]
    fn cpu_is_time_where_the_cpus_are_known() {
        let options = Options {
            cpus: Some(8),
            ..Options::default()
        };
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
