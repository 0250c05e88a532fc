//! What each metric of the run is.

use std::collections::BTreeMap;

use model::{Direction, Group, Metric, Unit, describe};

use crate::{Cell, Header, Report, Table, format};

impl Report<'_> {
    /// What each metric of this run is, its unit and its margin.
    pub fn metrics(&self) -> Table {
        let mut measured: BTreeMap<(Group, &str), (Unit, &Metric)> = BTreeMap::new();
        for cell in &self.input.data.cells {
            if let Some(is) = describe(&cell.metric) {
                measured.entry((is.group, is.id)).or_insert((cell.unit, is));
            }
        }
        let used = margins_used(self);
        let rows = measured.into_iter().map(|((_, id), (unit, is))| {
            let (least, most) = used.get(id).copied().unwrap_or((is.margin, is.margin));
            let unit =
                if is.unit.is_some() { unit.name() } else { "rows/s, ops/s or statements/s" };
            vec![
                Cell::text(id.replace("{kind}", "<kind>")),
                Cell::text(is.title),
                Cell::text(unit),
                Cell::text(better(is.direction)),
                margin(100.0 * least, 100.0 * most),
            ]
        });
        let note = format!(
            "Per operation means {}. The margin is the smallest change that is called.",
            per_operation(self),
        );
        let words = ["metric", "what it is", "unit", "better is"].map(Header::words).into_iter();
        let headers = words.chain([Header::numbers("margin", "%")]).collect();
        Table::new("Metrics", note, headers, rows)
    }
}

/// What costs per operation count.
fn per_operation(report: &Report<'_>) -> &'static str {
    let workload = &report.input.data.info.plan.workload;
    if workload.insert().is_some() {
        "per inserted or indexed row in the load steps and per query in the query steps"
    } else if workload.tpcc().is_some() {
        "per completed New-Order where transactions run, and per row where tables are loaded or indexed"
    } else {
        "per statement, BEGIN and COMMIT among them, in steps of one operation, per whole operation in steps that mix several, and per row where tables are loaded, indexed or scanned"
    }
}

/// By metric, the smallest and the largest margin that verdicts were given with: a plan may have its own, and not
/// the same one for each operation kind.
fn margins_used(report: &Report<'_>) -> BTreeMap<&'static str, (f64, f64)> {
    let mut margins: BTreeMap<&str, (f64, f64)> = BTreeMap::new();
    for one in report.input.comparisons {
        if let (Some(evidence), Some(is)) = (&one.evidence, describe(&one.metric)) {
            let (least, most) = margins.entry(is.id).or_insert((evidence.margin, evidence.margin));
            (*least, *most) = (least.min(evidence.margin), most.max(evidence.margin));
        }
    }
    margins
}

/// The margins of a family, in per cent: `2.0`, or `1.0 to 5.0`.
fn margin(least: f64, most: f64) -> Cell {
    let [from, to] = [least, most].map(format::percent);
    let text = if from == to { from } else { format!("{from} to {to}") };
    Cell::number(least, text)
}

const fn better(direction: Direction) -> &'static str {
    match direction {
        Direction::Higher => "higher",
        Direction::Lower => "lower",
        Direction::Neither => "not judged",
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
}
