//! What a report is made of.

use model::{Comparison, RunData};

/// Everything that a report needs; nothing is looked up elsewhere.
#[derive(Clone, Debug)]
pub struct Input<'a> {
    /// The run, with series and histograms where the report shall show them.
    pub data: &'a RunData,
    /// Every candidate against the base; empty where there is nothing to compare.
    pub comparisons: &'a [Comparison],
    /// Server variables whose values differ between the systems; `None` where they were not captured.
    pub differing: Option<Vec<Variable>>,
    /// When the report is made, as it shall be printed.
    pub generated: &'a str,
    /// Warnings to show beside those that the report finds itself.
    pub findings: Vec<Finding>,
}

/// A server variable and its value in each system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Name of the system and the value there.
    pub values: Vec<(String, String)>,
}

/// Something that a reader must know before believing the numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What, in a few words.
    pub title: String,
    /// What it means and what to do, in a sentence or two.
    pub text: String,
}
