//! What each metric of the run is.

use std::collections::BTreeMap;

use model::{Described, Direction, Group, MetricId, Unit, WorkloadSpec, describe};

use crate::format;
use crate::table::{Cell, Header, Table};
use crate::view::View;

pub(crate) fn metrics(view: &View<'_>) -> Table {
    let mut families: BTreeMap<(Group, String), (Unit, Described)> = BTreeMap::new();
    for cell in &view.input.data.cells {
        if let Some(described) = describe(&cell.metric) {
            let key = (described.group, family(&cell.metric));
            families.entry(key).or_insert((cell.unit, described));
        }
    }
    let used = margins_used(view);
    let rows = families.into_iter().map(|((_, id), (unit, is))| {
        let (least, most) = used.get(&id).copied().unwrap_or((is.margin, is.margin));
        let unit = if id == MetricId::RATE {
            "rows/s, ops/s or statements/s"
        } else {
            unit.name()
        };
        vec![
            Cell::text(id),
            Cell::text(is.title),
            Cell::text(unit),
            Cell::text(better(is.direction)),
            margin(100.0 * least, 100.0 * most),
        ]
    });
    Table {
        title: "Metrics".to_owned(),
        note: format!(
            "Per operation means {}. The margin is the smallest change that is called.",
            match view.input.data.info.plan.workload {
                WorkloadSpec::Insert(_) =>
                    "per inserted or indexed row in the load steps and per query in the query steps",
                WorkloadSpec::Sql(_) =>
                    "per statement, BEGIN and COMMIT among them, in steps of one operation, per whole operation in steps that mix several, and per row where tables are loaded, indexed or scanned",
                WorkloadSpec::Tpcc(_) =>
                    "per completed New-Order where transactions run, and per row where tables are loaded or indexed",
            }
        ),
        headers: vec![
            Header::words("metric"),
            Header::words("what it is"),
            Header::words("unit"),
            Header::words("better is"),
            Header::numbers("margin", "%"),
        ],
        rows: rows.collect(),
    }
}

/// By family, the smallest and the largest margin that verdicts were given with: a plan may have its own, and not the
/// same one for each operation kind.
fn margins_used(view: &View<'_>) -> BTreeMap<String, (f64, f64)> {
    let compared = view.input.comparisons.iter();
    let used = compared.filter_map(|c| {
        let margin = c.evidence.as_ref()?.margin;
        Some((family(&c.metric), margin))
    });
    let mut margins: BTreeMap<String, (f64, f64)> = BTreeMap::new();
    for (family, margin) in used {
        let (least, most) = margins.entry(family).or_insert((margin, margin));
        (*least, *most) = (least.min(margin), most.max(margin));
    }
    margins
}

/// The margins of a family, in per cent: `2.0`, or `1.0 to 5.0`.
fn margin(least: f64, most: f64) -> Cell {
    let [from, to] = [least, most].map(format::percent);
    let text = if from == to {
        from
    } else {
        format!("{from} to {to}")
    };
    Cell::number(least, text)
}

const fn better(direction: Direction) -> &'static str {
    match direction {
        Direction::Higher => "higher",
        Direction::Lower => "lower",
        Direction::Neither => "not judged",
    }
}

/// The id with the operation kind left open: `service.query.p99` is of `service.<kind>.p99`.
fn family(id: &MetricId) -> String {
    let parts: Vec<&str> = id.0.split('.').collect();
    match parts.as_slice() {
        [share] if share.starts_with("sla/") => "sla/<kind>".to_owned(),
        [clock @ ("service" | "response"), .., last] => format!("{clock}.<kind>.{last}"),
        [head @ ("rate" | "rows" | "errors" | "retries"), _, ..] => format!("{head}.<kind>"),
        _ => id.0.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn margins_of_a_family_that_differ_are_a_range() {
        assert_eq!(margin(2.0, 2.0).text, "2.0");
        assert_eq!(margin(1.0, 5.0).text, "1.0 to 5.0");
    }

    #[test]
    fn families_leave_the_kind_open() {
        let of = |id: &str| family(&MetricId::new(id));
        assert_eq!(of("service.query.p99"), "service.<kind>.p99");
        assert_eq!(of("rows.insert"), "rows.<kind>");
        assert_eq!(of("rate"), "rate");
        assert_eq!(of("sla/stock-level"), "sla/<kind>");
        assert_eq!(of("server.cpu/o"), "server.cpu/o");
    }
}
