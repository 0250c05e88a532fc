//! The `workload` table of the TPC-C-like workload: its keys, what must hold between them, and what a
//! system must be able to do.

mod check;
mod keys;
mod pace;

use crate::Result;
use crate::document::Node;

pub(crate) use check::{check_for, remarks};
pub(crate) use keys::{KEYS, resolve};
pub(crate) use pace::KEYS as PACE_KEYS;

/// Terminals of a warehouse that wait as people do.
const TERMINALS: u32 = 10;

/// Checks the whole table: none of it needs the catalog or a host.
pub(crate) fn check_table(table: &Node) -> Result<()> {
    resolve(table, 1).map(drop)
}
