//! The tables of a report, built once for every output: methods of [`Report`].
//!
//! Absolute values are medians over the rounds; ratios come from the comparisons (geometric mean of
//! the paired ratios). So the ratio of two medians need not be the printed ratio to the last digit.

mod before;
mod costs;
mod grid;
mod open_loop;
mod over_clients;
mod printed;
mod response;
mod systems;
mod throughput;
mod transactions;
mod verdicts;
pub(crate) mod why;

use std::collections::HashSet;

use model::Step;

use crate::{Report, Table, format};

pub use over_clients::Crossover;
pub use systems::placement_lines;
pub(crate) use systems::{each_placement, shared_placement};
pub(crate) use transactions::Which;
pub use verdicts::Shown;
pub(crate) use verdicts::without_same_why;
pub use why::{instructions, why};

impl Report<'_> {
    /// Systems × steps, or in a sweep a table of tests × client counts for each system.
    pub fn throughput(&self) -> Vec<Table> {
        let others = self.absolute_of(|step| !self.is_swept(step)).unless_empty();
        let swept = self.systems.iter().filter_map(|system| self.absolute_over_clients(system));
        told_once(others.into_iter().chain(swept))
    }

    /// Throughput relative to the base likewise; in a sweep a table for each candidate.
    pub(crate) fn ratios(&self) -> Vec<Table> {
        let others = self.relative_of(|step| !self.is_swept(step)).unless_empty();
        let swept = self.systems.iter().filter_map(|system| self.over_clients(system.name));
        told_once(others.into_iter().chain(swept))
    }

    pub(crate) fn is_swept(&self, step: &Step) -> bool {
        self.sweep.as_ref().is_some_and(|sweep| sweep.holds(step))
    }

    /// The tables of the TPC-C-like workload for its first and last step of transactions; none for other workloads.
    pub fn transactions(&self) -> Vec<Table> {
        self.transaction_tables(Which::Ends)
    }
}

/// Tables that follow each other, without the lines of notes that one before has already.
fn told_once(tables: impl Iterator<Item = Table>) -> Vec<Table> {
    let mut tables: Vec<Table> = tables.collect();
    let mut told = HashSet::new();
    for table in &mut tables {
        let lines = table.note.lines().filter(|line| told.insert((*line).to_owned()));
        table.note = format::joined(lines, "\n");
    }
    tables
}
