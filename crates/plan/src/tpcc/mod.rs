//! The `workload` table of the TPC-C-like workload: its keys, what must hold between them, and what a
//! system must be able to do.

mod check;
mod keys;
mod pace;
mod remarks;

use crate::PlanError;
use crate::document::Node;

pub(crate) use check::check_for;
pub(crate) use keys::resolve;
pub(crate) use remarks::remarks;

/// Terminals of a warehouse that wait as people do.
const TERMINALS: u32 = 10;

/// Checks the whole table: none of it needs the catalog or a host.
pub(crate) fn check_table(table: &Node) -> Result<(), PlanError> {
    resolve(table, 1).map(drop)
}
