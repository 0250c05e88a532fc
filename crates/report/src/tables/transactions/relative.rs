//! What the charts show, as a table.

use super::super::grid::{name, relative_cell};
use super::families::by_engine;
use crate::table::{Header, Table};
use crate::transactions::{Moment, Transactions};
use crate::view::View;

/// Throughput, CPU, writes and size relative to the base.
pub(crate) fn relative(view: &View<'_>, run: &Transactions<'_>) -> Table {
    let quantities = run.quantities(view);
    let columns = quantities
        .iter()
        .flat_map(|quantity| quantity.moments.iter().map(move |m| (quantity.word, m)));
    let columns: Vec<(&str, &Moment<'_>)> = columns.collect();
    let mut headers = vec![Header::words("system")];
    headers.extend(
        columns
            .iter()
            .map(|(word, moment)| Header::numbers(format!("{word} {}", moment.label), "")),
    );
    let rows = by_engine(view, headers.len(), |system| {
        let values = columns
            .iter()
            .map(|(_, moment)| relative_cell(view, system, moment.step, moment.metric));
        std::iter::once(name(system)).chain(values).collect()
    });
    Table {
        title: format!("Transactions relative to {}", view.base),
        note: "Geometric means of the paired ratios of all rounds. CPU of the whole host and KB written are per completed New-Order; more CPU, KB or size than 1 is worse, more tpmc is better.".to_owned(),
        headers,
        rows,
    }
}
