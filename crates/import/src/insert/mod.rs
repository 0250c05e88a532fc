//! The Insert Benchmark: a line of 21 numbers for each step, tables merged of them, and the colours of
//! the summary.

mod print;

use std::collections::HashSet;

use model::{Counts, Unit};

use crate::file::FileLine;
use crate::{File, ImportedStep, Mode, Options, Result, Rows, Scale, Stated};

pub use print::{Colour, colours, merged, merged_row, relative};

/// The steps of the reports of 2021, in the order of their lines.
const STEPS_OF_2021: [&str; 15] = [
    "l.i0", "l.x", "l.i1", "q100.1", "q100.2", "q200.1", "q200.2", "q400.1", "q400.2", "q600.1",
    "q600.2", "q800.1", "q800.2", "q1000.1", "q1000.2",
];
const STEPS: [&str; 10] =
    ["l.i0", "l.x", "l.i1", "l.i2", "qr100", "qp100", "qr500", "qp500", "qr1000", "qp1000"];

/// The columns, in order; the last is the name of the system.
const COLUMNS: [&str; 21] = [
    "ips", "qps", "rps", "rmbps", "wps", "wmbps", "rpq", "rkbpq", "wpi", "wkbpi", "csps", "cpups",
    "cspq", "cpupq", "dbgb1", "dbgb2", "rss", "maxop", "p50", "p99", "tag",
];

const NUMBERS: usize = COLUMNS.len() - 1;

/// A line as it is printed: the numbers keep their digits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepLine {
    /// The numbers as text, in the order of the columns of the original; `NA` where there is none.
    pub fields: Vec<String>,
    /// The name of the system: size of the table, product, config.
    pub tag: String,
    /// The line of the file, from 1.
    pub number: usize,
}

impl StepLine {
    fn is_header(text: &str) -> bool {
        text.split_whitespace().eq(COLUMNS)
    }

    fn parse(line: FileLine<'_>) -> Result<Self> {
        let fields: Vec<&str> = line.text.split_whitespace().collect();
        let Some((tag, numbers)) = fields.split_last().filter(|(_, n)| n.len() == NUMBERS) else {
            let (need, found) = (COLUMNS.len(), fields.len());
            return Err(line.wrong(format!("{need} columns belong here (ips … tag), not {found}")));
        };
        for (name, text) in COLUMNS.iter().zip(numbers) {
            let may_miss = !matches!(*name, "ips" | "qps");
            if !(may_miss && *text == "NA") {
                line.number(name, text)?;
            }
        }
        Ok(Self {
            fields: numbers.iter().map(|&text| text.to_owned()).collect(),
            tag: (*tag).to_owned(),
            number: line.number,
        })
    }

    /// The value of a column; `None` where it is `NA`.
    fn number(&self, column: &str) -> Option<f64> {
        let place = COLUMNS.iter().position(|name| *name == column)?;
        self.fields.get(place)?.parse().ok()
    }

    pub(crate) fn ips(&self) -> f64 {
        self.number("ips").unwrap_or(0.0)
    }

    pub(crate) fn qps(&self) -> f64 {
        self.number("qps").unwrap_or(0.0)
    }
}

/// The system of a file of lines: `o.sum.t.20m.my5649.cx6d` is about `20m.my5649.cx6d`.
pub fn system_of_file(name: &str) -> &str {
    let name = name.strip_prefix("o.sum.").unwrap_or(name);
    name.strip_prefix("t.").unwrap_or(name)
}

/// A tag without the size of the table before it: `my5649.cx6d` of `20m.my5649.cx6d`.
pub fn without_size(tag: &str) -> &str {
    sized(tag).map_or(tag, |(_, _, rest)| rest)
}

/// The parts of a tag with a size: 20, times a million, and `my5649.cx6d`.
fn sized(tag: &str) -> Option<(&str, u64, &str)> {
    const LETTERS: [(char, u64); 3] = [('k', 1_000), ('m', 1_000_000), ('g', 1_000_000_000)];
    let (size, rest) = tag.split_once('.')?;
    let mut letters = LETTERS.into_iter();
    let (digits, each) =
        letters.find_map(|(letter, each)| Some((size.strip_suffix(letter)?, each)))?;
    let is_number = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    is_number.then_some((digits, each, rest))
}

/// The rows that the table of a tag has: 20,000,000 of `20m.my5649.cx6d`.
fn rows_of_tag(tag: &str) -> Option<u64> {
    let (digits, each, _) = sized(tag)?;
    digits.parse::<u64>().ok()?.checked_mul(each)
}

/// A table and the lines of it; `-` separates systems that are compared among themselves.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    pub step: String,
    /// Its lines; `None` for a separator.
    pub lines: Vec<Option<StepLine>>,
}

/// The lines of one system, one for each step in the order in which they ran.
pub fn lines_of_system(file: &File) -> Result<Vec<(&'static str, StepLine)>> {
    let mut lines = Vec::new();
    for line in file.lines().filter(|line| !line.text.trim().is_empty()) {
        if !StepLine::is_header(line.text) {
            lines.push(StepLine::parse(line)?);
        }
    }
    let steps: &[&'static str] = match lines.len() {
        15 => &STEPS_OF_2021,
        10 => &STEPS,
        other => {
            return Err(file.end().wrong(format!(
                "{other} lines: there are 10 steps (15 in 2021), and their order says which is which; import mrg.STEP, which names it"
            )));
        }
    };
    Ok(steps.iter().copied().zip(lines).collect())
}

/// The tables of a file `mrg.STEP`, or of one with several steps, each under its name.
pub fn tables_of_file(file: &File) -> Result<Vec<Table>> {
    if let Some(step) = file.name().strip_prefix("rel.") {
        let what = format!("ratios only; import mrg.{step}, which they were made of");
        return Err(file.end().wrong(what));
    }
    let named = file.name().strip_prefix("mrg.").filter(|step| is_step(step));
    let mut tables: Vec<Table> = Vec::new();
    let table = |step: &str| Table { step: step.to_owned(), lines: Vec::new() };
    tables.extend(named.map(table));
    for line in file.lines() {
        let text = line.text.trim();
        if text.is_empty() || StepLine::is_header(text) {
            continue;
        }
        if is_step(text) {
            tables.push(table(text));
            continue;
        }
        let parsed = if text == "-" { None } else { Some(StepLine::parse(line)?) };
        let current = tables.last_mut().ok_or_else(|| {
            line.wrong("which step? Call the file mrg.STEP, or put the step's name above its table")
        })?;
        current.lines.push(parsed);
    }
    Ok(tables)
}

/// `l.i0`, `q100.2`, `qr100`: a letter `l` or `q`, and no tabs.
fn is_step(text: &str) -> bool {
    let rest = text.strip_prefix("l.").or_else(|| text.strip_prefix('q'));
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '.';
    rest.is_some_and(|rest| !rest.is_empty() && rest.chars().all(is_name)) && text.len() < 16
}

pub(crate) fn rows_of_system(system: &str, file: &File, options: &Options) -> Rows {
    let lines = lines_of_system(file)?.into_iter();
    lines.map(|(step, line)| row(file, system, step, &line, options)).collect()
}

pub(crate) fn rows_of_table(file: &File, options: &Options) -> Rows {
    let tables = tables_of_file(file)?;
    let mut rows = Vec::new();
    // The base of several parts stands in each of them: the same result, not another round.
    let mut seen = HashSet::new();
    for table in &tables {
        for line in table.lines.iter().flatten() {
            if seen.insert((&table.step, &line.tag, &line.fields)) {
                rows.push(row(file, without_size(&line.tag), &table.step, line, options)?);
            }
        }
    }
    Ok(rows)
}

/// Rows per second that the writers were asked for in a query step: the number in its name.
pub(crate) fn rate_of_step(step: &str) -> Option<u64> {
    let rest = step.strip_prefix('q')?.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    rest.split('.').next()?.parse().ok().filter(|rate| *rate < 1_000_000_000)
}

/// Where a step stands, whatever the order of the files: loads as in the benchmark, then queries by the rate of the
/// writers beside them, with `qr100` before `qp100` and `q100.1` before `q100.2`.
pub(crate) fn order_of_step(step: &str) -> (u64, u64, u64) {
    let Some(rest) = step.strip_prefix('q') else {
        let place = STEPS.iter().position(|known| *known == step);
        return (0, place.unwrap_or(STEPS.len()) as u64, 0);
    };
    let numbered = rest.split_once('.').map(|(_, number)| number.parse().ok());
    let part = numbered.flatten().unwrap_or(0);
    let rate = rate_of_step(step).unwrap_or(u64::MAX - 1);
    (rate + 1, u64::from(rest.starts_with('p')), part)
}

fn row(
    file: &File,
    system: &str,
    step: &str,
    line: &StepLine,
    options: &Options,
) -> Result<ImportedStep> {
    let at = FileLine::at(&file.origin, line.number);
    let clients = options.clients(at)?;
    let mut row = ImportedStep::new(at, system, step, clients);
    row.order = Some(order_of_step(step));
    row.scale = rows_of_tag(&line.tag).map(|rows| Stated::at(at, Scale::Rows(rows)));
    let is_query = step.starts_with('q');
    let rate = if is_query { line.qps() } else { line.ips() };
    if is_query {
        row.target_rate = rate_of_step(step).map(|each| each * u64::from(clients));
        row.put("rate", Unit::OpsPerSecond, rate);
        row.put("rows.insert", Unit::RowsPerSecond, line.ips());
        if let Some(target) = row.target_rate.filter(|target| *target > 0) {
            row.put("sla.insert", Unit::Percent, 100.0 * line.ips() / target as f64);
        }
    } else {
        let kind = if step == "l.x" { "create_index" } else { "insert" };
        kind.clone_into(&mut row.subject.kind);
        row.subject.counts = Counts::Rows;
        row.put("rate", Unit::RowsPerSecond, rate);
    }
    put_costs(&mut row, line, rate, is_query, options);
    put_sizes(&mut row, line);
    Ok(row)
}

fn put_costs(
    row: &mut ImportedStep,
    line: &StepLine,
    rate: f64,
    is_query: bool,
    options: &Options,
) {
    let number = |name: &str| line.number(name);
    // Where a column is more precise per second than per operation, the former is divided. It has no more
    // digits for that: comparisons multiply by the rate again to see them (`stats::rounding`).
    let per_op = |per_second: &str, printed: &str| match options.mode {
        Mode::Exact if rate > 0.0 => number(per_second).map(|value| value / rate),
        Mode::Exact | Mode::Compat => number(printed),
    };
    let cpu = match (options.mode, options.cpus, number("cpups")) {
        (Mode::Exact, Some(cpus), Some(percent)) if rate > 0.0 => {
            Some(crate::sysbench::percent_to_micros(percent, cpus) / rate)
        }
        _ => number("cpupq"),
    };
    row.put_some("cpu/o", Unit::MicrosPerOp, cpu);
    row.put_some("cs/o", Unit::PerOp, per_op("csps", "cspq"));
    row.put_some("r/o", Unit::PerOp, per_op("rps", "rpq"));
    row.put_some("rKB/o", Unit::KbPerOp, number("rkbpq"));
    row.put_some("w/o", Unit::PerOp, per_op("wps", "wpi"));
    // The original divides by inserts in query steps, too.
    let mut written = number("wkbpi");
    if options.mode == Mode::Exact && is_query {
        written = written.map(|kb| kb * line.ips() / rate).filter(|kb| kb.is_finite());
    }
    row.put_some("wKB/o", Unit::KbPerOp, written);
}

fn put_sizes(row: &mut ImportedStep, line: &StepLine) {
    let number = |name: &str| line.number(name);
    let id = format!("service.{}.max", row.subject.kind);
    row.put_some(&id, Unit::Micros, number("maxop").map(|seconds| seconds * 1e6));
    for (id, column) in [("size.data", "dbgb1"), ("size.total", "dbgb2"), ("server.rss", "rss")] {
        // A size of zero was not measured.
        row.put_some(id, Unit::Gib, number(column).filter(|size| *size > 0.0));
    }
    for (id, column) in [("compat.p50", "p50"), ("compat.p99", "p99")] {
        row.put_some(id, Unit::OpsPerSecond, number(column));
    }
}

#[cfg(test)]
mod tests;
