//! The settle phase of a workload of SQL statements.

use model::{Settle, SqlSpec};

use data::schema::copies;
use data::settle;
use load::clients::{Clients, Notes};
use load::{StepError, Target};

/// Connects the clients that settle all tables: one for each copy, and one that leads. Their operation
/// kind is the first of the step.
pub(super) fn clients_of_settle(
    spec: &SqlSpec,
    settle: Settle,
    target: &Target,
    notes: &Notes,
) -> Result<Clients, StepError> {
    let copies = copies(&spec.tables);
    let rows = copies.iter().map(|copy| copy.rows).sum();
    let names: Vec<String> = copies.into_iter().map(|copy| copy.name).collect();
    settle::clients(target, &names, settle::length(settle, rows), notes)
}
