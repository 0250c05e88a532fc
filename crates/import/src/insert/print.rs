//! Merged tables as the original writes them, to the last digit.

use std::fmt::Write;

use super::line::{COLUMNS, NUMBERS};
use super::{StepLine, Table, without_size};
use crate::round::{fixed, relative as ratio};

/// A line of one system as the merged tables have it: reads per second as a whole number, and the tag
/// without the size of the table.
pub fn merged_row(line: &StepLine) -> StepLine {
    let mut fields = line.fields.clone();
    for (name, text) in COLUMNS.iter().zip(&mut fields) {
        let digits = match *name {
            "ips" | "qps" | "rps" => 0,
            "dbgb2" => 1,
            _ => continue,
        };
        if let Ok(value) = text.parse::<f64>()
            && (digits == 0 || value >= 10.0)
        {
            *text = fixed(value, digits);
        }
    }
    StepLine { fields, tag: without_size(&line.tag).to_owned(), number: line.number }
}

/// A table `mrg.STEP`.
pub fn merged(table: &Table) -> String {
    print(table.lines.iter().map(|line| {
        let line = line.as_ref().map(merged_row)?;
        Some((line.fields, line.tag))
    }))
}

/// A table `rel.STEP`: each number divided by that of the first line of its part; that line is left out.
pub fn relative(table: &Table) -> String {
    let mut base: Option<&StepLine> = None;
    let mut lines = Vec::new();
    for line in &table.lines {
        match (line, base) {
            (None, _) => {
                base = None;
                lines.push(None);
            }
            (Some(first), None) => base = Some(first),
            (Some(line), Some(base)) => lines.push(Some(ratios(line, base))),
        }
    }
    print(lines.into_iter())
}

fn ratios(line: &StepLine, base: &StepLine) -> (Vec<String>, String) {
    let pairs = COLUMNS.iter().take(NUMBERS);
    let fields = pairs.map(|name| match (line.number(name), base.number(name)) {
        (Some(value), Some(base)) => ratio(value, base),
        (None, _) | (_, None) => "NA".to_owned(),
    });
    (fields.collect(), line.tag.clone())
}

fn print(lines: impl Iterator<Item = Option<(Vec<String>, String)>>) -> String {
    let mut text = format!("{}\n", COLUMNS.join("\t"));
    for line in lines {
        let _infallible = match line {
            Some((fields, tag)) => writeln!(text, "{}\t{tag}", fields.join("\t")),
            None => writeln!(text, "-"),
        };
    }
    text
}
