//! In what the systems differ: settings and server variables, a row each, a column a system.

use std::collections::BTreeSet;

use explain::{Kind, Overview};
use model::{Placement, System};

use crate::table::{Cell, Header, Table};
use crate::view::View;

pub(crate) fn settings(view: &View<'_>) -> Option<Table> {
    let planned = &view.input.data.info.plan.systems;
    let names: BTreeSet<&str> = planned
        .iter()
        .flat_map(|s| s.config.settings.iter().map(|o| o.name.as_str()))
        .collect();
    let value = |system: &str, name: &str| {
        let config = &view.input.data.info.plan.system(system)?.config;
        // The last one counts, as it does for the server.
        let setting = config.settings.iter().rev().find(|o| o.name == name)?;
        Some(setting.value.clone().unwrap_or_else(|| "set".to_owned()))
    };
    let rows = names.into_iter().map(|name| {
        let values = view.systems.iter().map(|s| value(s.name, name));
        (name.to_owned(), values.collect())
    });
    table(
        view,
        "Settings in which the configs differ",
        "A dash stands for a setting that the config leaves at the server's default.",
        rows,
    )
}

/// The placement that all systems share, in words; `None` where it is not the same.
pub(crate) fn shared_placement(systems: &[System]) -> Option<String> {
    let first = systems.first()?.placement();
    systems
        .iter()
        .all(|system| system.placement() == first)
        .then_some(first)
}

/// The placement of each system in words: `a: together on CPU 1; b: free`.
pub(crate) fn each_placement(systems: &[System]) -> String {
    let each = systems
        .iter()
        .map(|system| format!("{}: {}", system.name, system.placement()));
    each.collect::<Vec<_>>().join("; ")
}

/// On which CPUs each system was measured, where they do not share them.
pub(crate) fn placements(view: &View<'_>) -> Option<Table> {
    let systems = &view.input.data.info.plan.systems;
    if shared_placement(systems).is_some() {
        return None;
    }
    let rows = systems
        .iter()
        .map(|system| vec![Cell::text(&system.name), Cell::text(system.placement())]);
    Some(Table {
        title: "Placement of each system".to_owned(),
        note: "The CPUs of the server and of the client; free where the kernel decides.".to_owned(),
        headers: ["system", "placement"].map(Header::words).to_vec(),
        rows: rows.collect(),
    })
}

/// The placement of a plan's systems, in lines of plain text; none where all are free.
pub fn placement_lines(systems: &[System]) -> Vec<String> {
    match shared_placement(systems) {
        Some(words) if words == Placement::default().words() => Vec::new(),
        Some(words) => vec![format!("placement: {words}")],
        None => systems
            .iter()
            .map(|system| format!("placement of {}: {}", system.name, system.placement()))
            .collect(),
    }
}

/// Server variables that differ: for each Dbms a table of values, then one of the names of those that
/// only some systems have.
pub(crate) fn differing(view: &View<'_>) -> Vec<Table> {
    let Some(differing) = &view.input.differing else {
        return Vec::new();
    };
    let all = differing.variables.iter();
    let tables = all.flat_map(|overview| {
        let names = (!view.is_brief).then(|| names(overview));
        std::iter::once(values(view, overview)).chain(names)
    });
    tables.filter(|table| !table.rows.is_empty()).collect()
}

fn values(view: &View<'_>, overview: &Overview) -> Table {
    let systems = overview.systems.iter().map(Header::words);
    let mut headers = vec![Header::words("variable")];
    headers.extend(systems);
    headers.extend(["why it differs", "group", "why it matters"].map(Header::words));
    let rows = overview.rows.iter().map(|row| {
        let kinds: Vec<&str> = row.kinds.iter().map(|kind| kind.name()).collect();
        let mut cells = vec![Cell::text(&row.name)];
        cells.extend(row.values.iter().map(Cell::text));
        cells.push(Cell::text(kinds.join(", ")));
        cells.push(Cell::text(&row.group));
        cells.push(Cell::text(row.matters.as_deref().unwrap_or_default()));
        cells
    });
    Table {
        title: format!("Server variables that differ{}", of_dbms(view, overview)),
        note: "As the servers themselves reported them, against the first system; of lists only the parts that are not in all. What is known to matter comes first, and what no config asks for before what is on purpose.".to_owned(),
        headers,
        rows: rows.collect(),
    }
}

fn names(overview: &Overview) -> Table {
    let base = overview.systems.first().map_or("the base", String::as_str);
    let rows = overview.names.iter().map(|names| {
        let only = match names.kind {
            Kind::Gone => base,
            Kind::New | Kind::NotAsSet | Kind::ChangedDefault | Kind::Follows | Kind::OnPurpose => {
                &names.system
            }
        };
        vec![
            Cell::text(&names.system),
            Cell::text(only),
            Cell::text(&names.group),
            Cell::text(names.names.join(", ")),
        ]
    });
    Table {
        title: "Server variables that only some systems have".to_owned(),
        note: String::new(),
        headers: ["compared", "only in", "group", "variables"]
            .map(Header::words)
            .to_vec(),
        rows: rows.collect(),
    }
}

/// Which systems a table is of, where there is one for each Dbms.
fn of_dbms(view: &View<'_>, overview: &Overview) -> String {
    let is_only = view
        .input
        .differing
        .as_ref()
        .is_none_or(|differing| differing.variables.len() < 2);
    let first = overview.systems.first();
    let first = first.and_then(|name| view.input.data.info.plan.system(name));
    match first {
        Some(system) if !is_only => format!(": {}", system.build.dbms),
        _ => String::new(),
    }
}

/// Rows whose values are all alike are left out; `None` when none is left.
fn table(
    view: &View<'_>,
    title: &str,
    note: &str,
    rows: impl Iterator<Item = (String, Vec<Option<String>>)>,
) -> Option<Table> {
    let differ = |values: &[Option<String>]| values.windows(2).any(|w| w.first() != w.last());
    let rows: Vec<Vec<Cell>> = rows
        .filter(|(_, values)| differ(values))
        .map(|(name, values)| {
            let cells = values
                .into_iter()
                .map(|v| v.map_or_else(Cell::absent, Cell::text));
            std::iter::once(Cell::text(name)).chain(cells).collect()
        })
        .collect();
    let columns = view.systems.iter().map(|s| Header::words(s.name));
    (!rows.is_empty()).then(|| Table {
        title: title.to_owned(),
        note: note.to_owned(),
        headers: std::iter::once(Header::words("name"))
            .chain(columns)
            .collect(),
        rows,
    })
}
