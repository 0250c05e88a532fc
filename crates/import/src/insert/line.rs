//! A line of the Insert Benchmark: 21 columns for one step of one system.

use crate::ImportError;
use crate::file::FileLine;

/// The columns, in order; the last is the name of the system.
pub const COLUMNS: [&str; 21] = [
    "ips", "qps", "rps", "rmbps", "wps", "wmbps", "rpq", "rkbpq", "wpi", "wkbpi", "csps", "cpups",
    "cspq", "cpupq", "dbgb1", "dbgb2", "rss", "maxop", "p50", "p99", "tag",
];

pub(super) const NUMBERS: usize = COLUMNS.len() - 1;

/// A line as it is printed: the numbers keep their digits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepLine {
    /// The numbers as text, in the order of [`COLUMNS`]; `NA` where there is none.
    pub fields: Vec<String>,
    /// The name of the system: size of the table, product, config.
    pub tag: String,
    /// The line of the file, from 1.
    pub number: usize,
}

impl StepLine {
    pub(super) fn is_header(text: &str) -> bool {
        text.split_whitespace().eq(COLUMNS)
    }

    pub(super) fn parse(line: FileLine<'_>) -> Result<Self, ImportError> {
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

    pub fn text(&self, column: &str) -> Option<&str> {
        let place = COLUMNS.iter().position(|name| *name == column)?;
        self.fields.get(place).map(String::as_str)
    }

    /// The value of a column; `None` where it is `NA`.
    pub fn number(&self, column: &str) -> Option<f64> {
        self.text(column)?.parse().ok()
    }

    pub fn ips(&self) -> f64 {
        self.number("ips").unwrap_or(0.0)
    }

    pub fn qps(&self) -> f64 {
        self.number("qps").unwrap_or(0.0)
    }
}
