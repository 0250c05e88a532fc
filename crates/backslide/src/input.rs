//! What is read for a verb: the workload file that a plan names, and what a report is made of: what the captures of a
//! run say of its systems, their variables, and the conditions that must be equal.

use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use anyhow::{Context, Result, bail};
use explain::{Facts, StepWhy, overview, stack_costs, unequal};
use lab::Lab;
use model::{Bytes, Comparison, Dbms, Moment, ProfiledStep, RunData, RunInfo, System};
use plan::{Catalog, PlanFile};
use report::{Differing, Input};
use rustix::fs::OFlags;

use crate::script;

/// The largest plan or workload file that is read; those of the catalog have up to 18 KiB.
const LARGEST_TEXT: Bytes = Bytes(4 << 20);

/// The plan with the workload file or script that it names, if it names one: a path relative to the plan's own.
pub(crate) fn with_workload_file(file: PlanFile, plan: &Path) -> Result<PlanFile> {
    if let Some((name, path)) = file.script() {
        let (found, directories) = script::find(name, &path, plan)?;
        let (text, found) = (text_of(&found)?, found.display().to_string());
        return Ok(file.with_script(text, found, directories));
    }
    let Some(named) = file.workload_file() else { return Ok(file) };
    let path = plan.parent().unwrap_or(Path::new("")).join(named);
    let origin = path.display().to_string();
    let text = text_of(&path)
        .with_context(|| format!("cannot read the workload of {}", plan.display()))?;
    Ok(file.with_workload_file(&text, &origin)?)
}

/// The text of a plan or workload file. Neither a device without end nor a pipe without a writer holds it up.
pub(crate) fn text_of(path: &Path) -> Result<String> {
    read_text(path).with_context(|| format!("cannot read {}", path.display()))
}

fn read_text(path: &Path) -> Result<String> {
    // A pipe would wait for its writer while it is opened.
    let mut options = std::fs::OpenOptions::new();
    options.custom_flags(OFlags::NONBLOCK.bits() as i32);
    let file = options.read(true).open(path)?;
    let metadata = file.metadata()?;
    if metadata.is_dir() {
        bail!("it is a directory");
    }
    if !metadata.is_file() {
        bail!("it is not a regular file; copy its contents into one");
    }
    let mut text = String::new();
    // The length that is told may be another than what can be read, as in /proc.
    file.take(LARGEST_TEXT.0 + 1).read_to_string(&mut text)?;
    if text.len() as u64 > LARGEST_TEXT.0 {
        bail!("it is larger than {LARGEST_TEXT}; plans and workload files are smaller");
    }
    Ok(text)
}

/// When a report or a page is made: `2026-11-23 16:56 UTC`.
pub(crate) fn now() -> String {
    jiff::Zoned::now().strftime("%Y-%m-%d %H:%M %Z").to_string()
}

/// What a report of a run is made of, with these comparisons with `base`.
pub(crate) fn of<'a>(
    lab: &Lab,
    data: &'a RunData,
    base: &str,
    comparisons: &'a [Comparison],
) -> Result<Input<'a>> {
    let profiled = profiled(lab, &data.info)?;
    Ok(Input {
        differing: differing(lab, data, base)?,
        why: why(lab, &data.info, &profiled)?,
        stack_costs: stack_costs(&profiled),
        false_alarms: Some(lab.store.false_alarms()?),
        ..Input::new(data, comparisons)
    })
}

/// The steps of profiled rounds; nothing where no round was profiled.
pub(crate) fn profiled(lab: &Lab, info: &RunInfo) -> Result<Vec<ProfiledStep>> {
    let has_some = info.plan.profiled_rounds().next().is_some();
    Ok(if has_some { lab.store.profiles(&info.id)? } else { Vec::new() })
}

/// Where the systems of a run spend more than its base.
pub(crate) fn why(lab: &Lab, info: &RunInfo, profiled: &[ProfiledStep]) -> Result<Vec<StepWhy>> {
    if profiled.is_empty() {
        return Ok(Vec::new());
    }
    let mut judged = lab.store.step_records(&info.id)?;
    judged.retain(|(trial, _)| !info.plan.is_profiled(trial.round));
    Ok(explain::why(&info.plan, &judged, profiled))
}

/// What differs between the systems of a run, each Dbms against `base` where it has it, else against its
/// first system; `None` where no two systems were captured.
fn differing(lab: &Lab, data: &RunData, base: &str) -> Result<Option<Differing>> {
    let catalog = Catalog::embedded()?;
    let mut all = Vec::new();
    for system in data.info.plan.systems.iter().filter(|s| !s.control) {
        all.extend(facts(lab, data, system)?);
    }
    if all.len() < 2 {
        return Ok(None);
    }
    let variables = Dbms::all().into_iter().filter_map(|dbms| {
        let of_dbms: Vec<&Facts> = all.iter().filter(|facts| facts.dbms == dbms).collect();
        let base = of_dbms.iter().position(|facts| facts.system == base);
        let mut others = of_dbms;
        if others.len() < 2 {
            return None;
        }
        let base = others.remove(base.unwrap_or(0));
        Some(overview(catalog.variables(dbms), base, &others))
    });
    let variables = variables.collect();
    let with_rules: Vec<_> = all.iter().map(|f| (catalog.variables(f.dbms), f)).collect();
    let mut durability = all.iter().map(explain::durability);
    let first = durability.next().flatten();
    let durability = first.filter(|first| durability.all(|other| other == Some(*first)));
    Ok(Some(Differing { variables, unequal: unequal(&with_rules), durability }))
}

/// What a system told before the first step of its first trial that counts; `None` where it was not
/// captured.
pub(crate) fn facts(lab: &Lab, data: &RunData, system: &System) -> Result<Option<Facts>> {
    let trial = data.counted().find(|trial| trial.system == system.name);
    let (Some(trial), Some(step)) = (trial, data.steps.first()) else { return Ok(None) };
    let run = &data.info.id;
    let captures = lab.store.captures(run, &system.name, trial.round, &step.id, Moment::Before)?;
    Ok(Facts::new(system, &captures, &trial.provenance))
}
