//! Systems by storage engine, as the published tables have them apart.

use model::Engine;

use crate::{Cell, Report, Seen, Table};

/// A row a system; where there are several engines, those of each under its name.
pub(super) fn by_engine(
    report: &Report<'_>,
    columns: usize,
    row: impl Fn(&Seen<'_>) -> Vec<Cell>,
) -> Vec<Vec<Cell>> {
    let plan = &report.input.data.info.plan;
    let engine = |system: &Seen<'_>| plan.system(system.name).map(|planned| planned.engine);
    let mut families: Vec<Option<Engine>> = Vec::new();
    for system in &report.systems {
        if !families.contains(&engine(system)) {
            families.push(engine(system));
        }
    }
    let mut rows = Vec::new();
    for family in &families {
        if families.len() > 1 {
            rows.push(Table::heading(family.map_or("other", Engine::name), columns));
        }
        let members = report.systems.iter().filter(|s| engine(s) == *family);
        rows.extend(members.map(&row));
    }
    rows
}
