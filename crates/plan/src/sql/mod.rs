//! Workload files: SQL, with tables, values and steps as data. The microbenchmarks are one of the catalog.

mod draft;
mod draw;
mod file;
mod names;
mod operation;
pub(crate) mod options;
pub(crate) mod pace;
mod scan;
mod scope;
mod select;
mod statement;
mod steps;
mod table;

use std::path::Path;

use model::{HostShape, SqlSpec};

use crate::document::Node;
use crate::kind::WorkloadKind;
use crate::{Place, Result};

pub(crate) use file::{WorkloadFile, check_for, statements};
pub use file::{WorkloadListing, read_workload};
pub use select::WorkloadSet;

use options::{Options, plan_fields};

pub(crate) const MICRO: &str = "micro";
/// Clients of a load where nobody says how many: one for each CPU, but not more than these.
const MOST_LOAD_CLIENTS: u32 = 8;

pub(crate) fn load_clients(host: HostShape) -> u32 {
    host.cpus.clamp(1, MOST_LOAD_CLIENTS)
}

/// Checks keys, types and ranges of a plan's workload, everything that needs no workload file.
pub(crate) fn check_table(table: &Node, kind: WorkloadKind) -> Result<()> {
    let fields = plan_fields(table)?;
    if kind == WorkloadKind::Sql {
        fields.text("file")?;
    } else if let Some(item) = fields.get("file") {
        return Err(item.conflict(
            "`file` and `kind = \"micro\"`: write `kind = \"sql\"` for a workload file of your own",
        ));
    }
    Options::usual(1).apply(&fields)
}

/// The workload file that a plan names and where: a path, or a name in the catalog.
pub(crate) fn named(table: &Node, kind: WorkloadKind) -> Option<(&str, Place)> {
    match kind {
        WorkloadKind::Insert | WorkloadKind::Tpcc | WorkloadKind::Lua => None,
        WorkloadKind::Micro => Some((MICRO, table.place.clone())),
        WorkloadKind::Sql => {
            let item = plan_fields(table).ok()?.get("file")?;
            Some((item.text().ok()?, item.place()))
        }
    }
}

/// Does it name a workload file by its path? Names of the catalog have neither a slash nor an ending.
pub fn is_path(named: &str) -> bool {
    let ending = Path::new(named).extension();
    named.contains('/') || ending.is_some_and(|ending| ending.eq_ignore_ascii_case("toml"))
}

/// The whole spec: what is usual, then the file's own defaults, then the plan's.
pub(crate) fn resolve(workload: &WorkloadFile, table: &Node, host: HostShape) -> Result<SqlSpec> {
    workload.resolve(Some(&plan_fields(table)?), load_clients(host))
}
