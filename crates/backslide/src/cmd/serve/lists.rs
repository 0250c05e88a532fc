//! Lists of runs, controls and builds.

use std::collections::BTreeSet;

use anyhow::Result;
use lab::{Builds, Lab};
use model::{FalseAlarms, RunId};
use report::{Cell, Columns, Filter, List, format};
use serve::Address;
use store::RunSummary;

use super::frame::{self, address_of};
use crate::cmd::{builds, list};
use crate::table::count;

/// All runs, the latest first, narrowed by plan, system and state.
pub(super) fn runs(lab: &Lab, address: &Address) -> Result<String> {
    let all = lab.store.runs()?;
    let asked = |key| address.asked(key).unwrap_or_default();
    let (plan, system, state) = (asked("plan"), asked("system"), asked("state"));
    let filters = vec![
        filter("plan", plan, all.iter().map(|run| run.info.plan.name.as_str())),
        filter("system", system, all.iter().flat_map(systems)),
        filter("state", state, all.iter().map(|run| run.info.state.word())),
    ];
    let count = all.len();
    let is_shown = |run: &RunSummary| {
        (plan.is_empty() || run.info.plan.name == plan)
            && (system.is_empty() || systems(run).any(|name| name == system))
            && (state.is_empty() || run.info.state.word() == state)
    };
    let shown: Vec<RunSummary> = all.into_iter().rev().filter(is_shown).collect();
    let links = shown.iter().map(|run| address_of(&run.info.id)).collect();
    let facts = format!("{} of {}", shown.len(), format::plural(count, "run"));
    let table = list::as_table(&list::with_rounds(lab, shown)?);
    Ok(frame::list("Runs", facts, filters, List { table, links }))
}

fn systems(run: &RunSummary) -> impl Iterator<Item = &str> {
    run.info.plan.systems.iter().map(|system| system.name.as_str())
}

fn filter<'a, 'v>(
    key: &'a str,
    chosen: &'a str,
    values: impl Iterator<Item = &'v str>,
) -> Filter<'a> {
    let values: BTreeSet<&str> = values.collect();
    let values = values.into_iter().map(str::to_owned).collect();
    Filter { key, label: key, none: "all", values, chosen }
}

/// What was said of controls, run by run.
pub(super) fn controls(lab: &Lab) -> Result<String> {
    let all = lab.store.controls()?;
    let links = all.iter().map(|(run, _)| address_of(run)).collect();
    let note = "A control is a second copy of the base. Each comparison that calls it different is a false alarm.";
    let table = Columns::new()
        .words("run", |(run, _): &&(RunId, FalseAlarms)| Cell::text(&run.0))
        .numbers("comparisons", "", |(_, counted)| count(counted.cells))
        .numbers("flagged", "", |(_, counted)| count(counted.changed))
        .table("Controls", note, &all);
    let sums = lab.store.false_alarms()?;
    let facts = format!(
        "{} of {} control comparisons were flagged, in {}",
        format::count(sums.changed),
        format::count(sums.cells),
        format::plural(sums.runs as usize, "run")
    );
    Ok(frame::list("False alarms", facts, Vec::new(), List { table, links }))
}

pub(super) fn builds() -> Result<String> {
    let table = builds::table_of(&Builds::of_user()?)?;
    let list = List { table, links: Vec::new() };
    Ok(frame::list("Builds", String::new(), Vec::new(), list))
}
