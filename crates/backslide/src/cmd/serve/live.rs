//! A run while it is measured.

use anyhow::Result;
use lab::Lab;
use model::{Outcome, RunState, TrialKey};
use report::{Cell, Columns, ListPage, Live, Tone, format, live_html};
use store::UnderWay;

use super::frame::{address_of, generated, site};
use crate::{runs, table};

/// Seconds of the present step that are read, and shown.
const SECONDS: u32 = 15;

pub(super) fn page(lab: &Lab, run: &str) -> Result<String> {
    let info = lab.store.run_info(&runs::named(run))?;
    let (html, goes_on) = part(lab, run)?;
    let mut links = site();
    links.push((address_of(&info.id), "Report".to_owned()));
    Ok(ListPage {
        title: &format!("{}, run {}", info.plan.name, info.id),
        links,
        live: Some(Live { events: format!("/runs/{}/events", info.id), html, goes_on }),
        generated: &generated(),
        ..ListPage::default()
    }
    .html())
}

/// How far a run is, and whether trials are left.
pub(super) fn part(lab: &Lab, run: &str) -> Result<(String, bool)> {
    let run = runs::named(run);
    let info = lab.store.run_info(&run)?;
    let journal = lab.store.journal(&run)?;
    let planned = info.plan.trials().len();
    let goes_on = info.state == RunState::Unfinished;
    let done = format::plural(journal.len(), "trial");
    let mut sentences = vec![if goes_on {
        format!("{done} of {planned} ended.")
    } else {
        format!("{done} ended. The run is finished.")
    }];
    let now = if goes_on { lab.store.under_way(&run, SECONDS)? } else { None };
    let mut tables = Vec::new();
    if let Some(now) = &now {
        sentences.push(format!(
            "Now: step {} of {}, round {}.",
            now.step, now.trial.system, now.trial.round
        ));
        tables.push(seconds(now));
    }
    tables.push(trials(&journal));
    Ok((live_html(&sentences, &tables), goes_on))
}

/// Operations of the latest seconds of the present step.
fn seconds(now: &UnderWay) -> report::Table {
    Columns::new()
        .numbers("second", "", |one: &&model::Interval| {
            Cell::number(f64::from(one.index), (one.index + 1).to_string())
        })
        .numbers("operations", "/s", |one| {
            let ops: u64 = one.kinds.iter().map(|kind| kind.ops).sum();
            let rate = ops as f64 / one.length.as_secs_f64();
            Cell::number(rate, format::number(rate))
        })
        .numbers("errors", "", |one| table::count(one.kinds.iter().map(|kind| kind.errors).sum()))
        .table("The latest seconds", "", &now.latest)
}

fn trials(journal: &[(TrialKey, Outcome)]) -> report::Table {
    Columns::new()
        .numbers("round", "", |(key, _): &&(TrialKey, Outcome)| {
            Cell::number(f64::from(key.round), key.round.to_string())
        })
        .words("system", |(key, _)| Cell::text(&key.system))
        .words("outcome", |(_, outcome)| match outcome {
            Outcome::Completed => Cell::text("completed"),
            Outcome::Profiled => Cell::text("profiled"),
            Outcome::Quarantined { reason } => {
                Cell::text(format!("disturbed: {reason}")).with_tone(Tone::Missed)
            }
            Outcome::Failed { reason, .. } => {
                Cell::text(format!("failed: {reason}")).with_tone(Tone::Missed)
            }
        })
        .table("Trials that ended", "", journal.iter().rev())
}
