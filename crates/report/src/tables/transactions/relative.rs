//! What the charts show, as a table.

use super::super::grid::{headers, named};
use super::families::by_engine;
use crate::transactions::Moment;
use crate::{Header, Report, Table, Transactions};

impl Report<'_> {
    /// Throughput, CPU, writes and size relative to the base.
    pub(crate) fn relative_of_run(&self, run: &Transactions<'_>) -> Table {
        let quantities = run.quantities(self);
        let columns = quantities
            .iter()
            .flat_map(|quantity| quantity.moments.iter().map(|m| (quantity.word, m)));
        let columns: Vec<(&str, &Moment<'_>)> = columns.collect();
        let heads = columns
            .iter()
            .map(|(word, moment)| Header::numbers(format!("{word} {}", moment.label), ""));
        let headers = headers(heads);
        let rows = by_engine(self, headers.len(), |system| {
            let cells = columns.iter();
            let cells = cells.map(|(_, one)| self.relative_cell(system, one.step, one.metric));
            named(system, cells.collect())
        });
        let note = "Geometric means of the paired ratios of all rounds. CPU of the whole host and KB written are per completed New-Order; more CPU, KB or size than 1 is worse, more tpmc is better.";
        Table::new(format!("Transactions relative to {}", self.base), note, headers, rows)
    }

    /// The same; `None` for other workloads, and where there is nothing to compare.
    pub fn relative_transactions(&self) -> Option<Table> {
        let run = Transactions::of(self).filter(|_| self.has_candidates())?;
        Some(self.relative_of_run(&run))
    }
}
