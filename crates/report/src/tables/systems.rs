//! In what the systems differ: settings and server variables, a row each, a column a system.

use std::collections::BTreeSet;

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

pub(crate) fn differing(view: &View<'_>) -> Option<Table> {
    let variables = view.input.differing.as_ref()?;
    let rows = variables.iter().map(|variable| {
        let value = |system: &str| {
            let known = variable.values.iter().find(|(name, _)| name == system);
            known.map(|(_, value)| value.clone())
        };
        let values = view.systems.iter().map(|s| value(s.name)).collect();
        (variable.name.clone(), values)
    });
    table(
        view,
        "Server variables that differ",
        "As the servers themselves reported them; a dash stands for a variable that a server does not have.",
        rows,
    )
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
