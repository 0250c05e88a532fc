//! What regressed in the lab's runs.

use std::collections::HashMap;
use std::num::NonZeroUsize;

use anyhow::{Context, Result};
use lab::Lab;
use model::{RunId, RunState};
use report::{Cell, Columns, List, Tone, format};
use serve::Address;
use stats::Selection;

use super::frame::{self, address_of};
use crate::runs;

/// Runs that are looked at, unless the address asks for others.
const RUNS: usize = 50;

/// A step that is certainly slower in what decides it.
#[derive(Clone, Debug)]
pub(super) struct Regression {
    run: RunId,
    plan: String,
    system: String,
    base: String,
    step: String,
    metric: String,
    ratio: Option<f64>,
    interval: String,
}

/// The regressions of the latest runs that are finished, the largest first.
pub(super) fn page(
    lab: &Lab,
    address: &Address,
    known: &mut HashMap<RunId, Vec<Regression>>,
) -> Result<String> {
    let most = match address.asked("runs") {
        Some(text) => text
            .parse()
            .ok()
            .map(NonZeroUsize::get)
            .with_context(|| format!("`runs` must be a number from 1, not `{text}`"))?,
        None => RUNS,
    };
    let all = lab.store.runs()?;
    let finished = all.iter().rev().filter(|run| run.info.state == RunState::Finished);
    let mut found = Vec::new();
    let mut looked_at = 0;
    for run in finished.take(most) {
        looked_at += 1;
        let id = &run.info.id;
        if !known.contains_key(id) {
            known.insert(id.clone(), regressions(lab, id)?);
        }
        found.extend(known[id].iter().cloned());
    }
    let size = |one: &Regression| one.ratio.map_or(f64::INFINITY, |ratio| ratio.ln().abs());
    found.sort_by(|a, b| size(b).total_cmp(&size(a)));
    let links = found.iter().map(|one| address_of(&one.run)).collect();
    let table = Columns::new()
        .words("run", |one: &&Regression| Cell::text(&one.run.0))
        .words("plan", |one| Cell::text(&one.plan))
        .words("system", |one| Cell::text(&one.system))
        .words("base", |one| Cell::text(&one.base))
        .words("step", |one| Cell::text(&one.step))
        .words("metric", |one| Cell::text(&one.metric))
        .numbers("ratio", "", |one| match one.ratio {
            Some(ratio) => Cell::number(ratio, format::ratio(ratio)).with_tone(Tone::Regressed),
            None => Cell::text(format::FELL_TO_ZERO).with_tone(Tone::Regressed),
        })
        .numbers("95 % interval", "", |one| Cell::text(&one.interval))
        .table("Steps that are certainly slower", "", &found);
    let facts = format!(
        "{} in the latest {} that finished, the largest first",
        format::plural(found.len(), "regression"),
        format::plural(looked_at, "run")
    );
    Ok(frame::list("Regressions", facts, Vec::new(), List { table, links }))
}

fn regressions(lab: &Lab, run: &RunId) -> Result<Vec<Regression>> {
    let data = lab.store.load(run, runs::NUMBERS)?;
    if data.info.plan.systems.len() < 2 {
        return Ok(Vec::new());
    }
    let compared = runs::compare(&data, None, Selection::Deciding, None)?;
    let slower = compared
        .into_iter()
        .filter(|one| one.verdict.is_regression() && !data.info.plan.is_control(&one.system));
    let regressions = slower.map(|one| Regression {
        run: run.clone(),
        plan: data.info.plan.name.clone(),
        interval: format::interval(&one).unwrap_or_default(),
        ratio: one.ratio,
        system: one.system,
        base: one.base,
        step: match one.clients {
            0 | 1 => one.step.0,
            clients => format!("{} ×{clients}", one.step),
        },
        metric: one.metric.0,
    });
    Ok(regressions.collect())
}
