//! Any two systems of two runs.

use anyhow::{Context, Result, bail};
use lab::Lab;
use model::{MetricId, RunId};
use report::{Filter, List};
use serve::Address;

use super::frame;
use crate::cmd::history;
use crate::runs;

/// Runs whose systems are offered, the latest.
const RUNS: usize = 100;

/// `base=RUN/SYSTEM` and `system=RUN/SYSTEM` beside each other; where one is missing, the choice only.
pub(super) fn page(lab: &Lab, address: &Address) -> Result<String> {
    let asked = |key| address.asked(key).unwrap_or_default();
    let (base, system) = (asked("base"), asked("system"));
    let systems = systems(lab)?;
    let choice =
        |key, chosen| Filter { key, label: key, none: "choose", values: systems.clone(), chosen };
    let filters = vec![choice("base", base), choice("system", system)];
    let (facts, list) = match (base, system) {
        ("", _) | (_, "") => {
            ("Choose a base and a system of any two runs of the same workload.".to_owned(), None)
        }
        _ => compared(lab, base, system, address.asked("metric").unwrap_or(MetricId::RATE))?,
    };
    Ok(frame::list("Compare", facts, filters, list))
}

/// The run and the base, where one run has both systems: its own page compares them round by round.
pub(super) fn within_one_run<'a>(
    lab: &Lab,
    address: &'a Address,
) -> Result<Option<(RunId, &'a str)>> {
    let asked = |key| address.asked(key).filter(|text| !text.is_empty()).map(named).transpose();
    let (Some((run, base)), Some((other, system))) = (asked("base")?, asked("system")?) else {
        return Ok(None);
    };
    if run != other {
        return Ok(None);
    }
    if lab.store.run_info(&run)?.plan.system(system).is_none() {
        bail!("run {run} has no system `{system}`");
    }
    Ok(Some((run, base)))
}

/// A run and a system of it, as an address names them.
fn named(text: &str) -> Result<(RunId, &str)> {
    let (run, system) = text
        .split_once('/')
        .with_context(|| format!("`{text}` is not a run and a system, such as r7/mysql-8.0.31"))?;
    Ok((runs::named(run), system))
}

fn compared(lab: &Lab, base: &str, system: &str, metric: &str) -> Result<(String, Option<List>)> {
    let ((of, base), (run, system)) = (named(base)?, named(system)?);
    let both = [of.clone(), run.clone()];
    let history = history::of_runs(lab, &both, metric, None, Some(&format!("{of}/{base}")))?;
    let Some(place) = history.place(&run, system) else {
        bail!("run {run} has no system `{system}` to compare, or only as a control");
    };
    if place == history.base {
        bail!("{run}/{system} and {of}/{base} are the same build: choose two that differ");
    }
    let table = report::of_two_builds(&history, place);
    Ok((format!("{run}/{system} over {of}/{base}"), Some(List { table, links: Vec::new() })))
}

/// The systems of the latest runs that measured something, as an address names them.
fn systems(lab: &Lab) -> Result<Vec<String>> {
    let all = lab.store.runs()?;
    let measured = all.iter().rev().filter(|run| run.completed + run.quarantined > 0).take(RUNS);
    let systems = measured.flat_map(|run| {
        let judged = run.info.plan.systems.iter().filter(|system| !system.control);
        judged.map(|system| format!("{}/{}", run.info.id, system.name))
    });
    Ok(systems.collect())
}
