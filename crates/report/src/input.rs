//! What a report is made of.

use explain::{Durability, Overview, StackCosts, StepWhy, Warning};
use model::{Comparison, FalseAlarms, RunData};

/// Everything that a report needs; nothing is looked up elsewhere.
#[derive(Clone, Debug)]
pub struct Input<'a> {
    /// The run, with series and histograms where the report shall show them.
    pub data: &'a RunData,
    /// Every candidate against the base; empty where there is nothing to compare.
    pub comparisons: &'a [Comparison],
    /// What differs between the systems at run time; `None` where their variables were not captured.
    pub differing: Option<Differing>,
    /// Where the CPU of each candidate goes, against the base; empty without profiled rounds.
    pub why: Vec<StepWhy>,
    /// What flame graphs are drawn from; empty without profiled rounds.
    pub stack_costs: Vec<StackCosts>,
    /// When the report is made, as it shall be printed.
    pub generated: &'a str,
    /// Warnings to show beside those that the report finds itself.
    pub findings: Vec<Finding>,
    /// Addresses and names of other pages of the lab; none where the page stands alone.
    pub links: Vec<(String, String)>,
    /// What was said of the controls of all runs of the lab that ended; `None` where that is not known.
    pub false_alarms: Option<FalseAlarms>,
}

impl<'a> Input<'a> {
    /// Of a run and what was compared in it, and of nothing besides.
    pub const fn new(data: &'a RunData, comparisons: &'a [Comparison]) -> Self {
        Self {
            data,
            comparisons,
            differing: None,
            why: Vec::new(),
            stack_costs: Vec::new(),
            generated: "",
            findings: Vec::new(),
            links: Vec::new(),
            false_alarms: None,
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Differing {
    /// Variables: for each Dbms its systems against the base, or against the first of them.
    pub variables: Vec<Overview>,
    pub unequal: Vec<Warning>,
    /// What a commit survives, if that is the same in all systems.
    pub durability: Option<Durability>,
}

/// Something that a reader must know before believing the numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub title: String,
    /// What it means and what to do, in a sentence or two.
    pub text: String,
}
