//! `backslide submit`: measures the rounds of a plan on many hosts, by Slurm or `ssh`, and merges what they found.
//!
//! All that is known of a campaign is in a directory of the lab: the script, the number of its job, the labs of the
//! parts that are done, and what each part said.

mod place;
mod script;
mod ssh;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use lab::Lab;
use model::{RunId, RunState};
use report::format::plural;

use self::place::{JOB, Place, SCRIPT};
use self::script::{Campaign, Request};
use super::{merge, run};
use crate::args::{SubmitArgs, Target};
use crate::exit::Exit;
use crate::printer::Printer;

pub(crate) fn run(args: &SubmitArgs, root: &Path, printer: Printer) -> Result<Exit> {
    if let Some(name) = &args.cancel {
        let place = Place::of(root, name)?;
        let (_, job) = place.job()?;
        let job =
            job.with_context(|| format!("campaign `{name}` has no Slurm job; ^C ends a `submit` over ssh and the rounds under way"))?;
        call(Command::new("scancel").arg(&job))?;
        printer.note(&format!("cancelled job {job}; `backslide submit --status {name}` merges the rounds that are done"));
        return Ok(Exit::Fine);
    }
    if let Some(name) = &args.status {
        return status(&Place::of(root, name)?, root, printer);
    }
    submit(args, root, printer)
}

fn submit(args: &SubmitArgs, root: &Path, printer: Printer) -> Result<Exit> {
    let named = args.plan.as_deref().unwrap_or_default();
    let with = args.with.overrides();
    let (file, builds) = run::read(named, &with)?;
    let shape = Lab::open(root)?.host()?.shape;
    // Says here what is wrong with the plan; and where the depot is shared, no node has to fetch a build.
    let plan = if args.dry_run {
        run::expand(&file, &builds, shape)?
    } else {
        run::expand_with(&file, &builds, shape, printer)?
    };
    lab::check_parts(&plan, plan.planned_cycles())?;
    let name = args.campaign.as_ref().unwrap_or(&plan.name);
    let place = Place::of(root, name)?;
    let campaign = Campaign { name, parts: plan.planned_cycles(), with: args.with.arguments() };
    let target = args.to.as_ref().context("say where to: --to slurm, or --to ssh:HOST,HOST")?;
    let script = match target {
        Target::Slurm => {
            let program = std::env::current_exe().context("cannot find this program")?;
            let path =
                fs::canonicalize(named).map_or(named.to_owned(), |p| p.display().to_string());
            let request = Request { nodes: args.nodes, partition: args.partition.as_deref() };
            let missing = place.missing(campaign.parts);
            campaign.for_slurm(&request, &missing, &program, &path, &place.directory)
        }
        Target::Ssh(_) => campaign.for_ssh(&plan.source),
    };
    if args.dry_run {
        printer.result(script.trim_end());
        return Ok(Exit::Fine);
    }
    let _lock = place.lock()?;
    if let Target::Slurm = target {
        check_submitted(&place, campaign.parts)?;
    }
    place.check_plan(&plan)?;
    place.prepare(&script, &plan)?;
    match target {
        Target::Slurm => give_to_slurm(&place, campaign.parts, printer),
        Target::Ssh(hosts) => {
            place.write(JOB, &format!("{}\n", campaign.parts))?;
            ssh::measure(hosts, &place, campaign.parts, &script, printer)?;
            status(&place, root, printer)
        }
    }
}

/// The script of a job that Slurm may still start again stays as it is. When the job is over, what failed may be
/// submitted again.
fn check_submitted(place: &Place, parts: u32) -> Result<()> {
    let name = &place.name;
    let Ok((_, Some(job))) = place.job() else { return Ok(()) };
    let is_over = queue(&job)?.is_empty();
    ensure!(
        is_over && !place.missing(parts).is_empty(),
        "campaign `{name}` was submitted already: `backslide submit --status {name}`, or name another (--campaign)"
    );
    Ok(())
}

fn give_to_slurm(place: &Place, parts: u32, printer: Printer) -> Result<Exit> {
    let submitted = plural(place.missing(parts).len(), "part");
    let said = call(Command::new("sbatch").arg("--parsable").arg(place.directory.join(SCRIPT)))?;
    let job = said.trim().split(';').next().unwrap_or_default();
    place.write(JOB, &format!("{parts} {job}\n"))?;
    let (name, directory) = (&place.name, place.directory.display());
    printer.note(&format!("submitted {submitted} as job {job}; script and logs: {directory}"));
    printer
        .note(&format!("`backslide submit --status {name}` shows them, and merges what is done"));
    printer.result(name);
    Ok(Exit::Fine)
}

/// Shows each part, and merges those that are done into the lab.
fn status(place: &Place, root: &Path, printer: Printer) -> Result<Exit> {
    let (parts, job) = place.job()?;
    let queued = job.map_or_else(|| Ok(Vec::new()), |job| queue(&job))?;
    let mut done = Vec::new();
    let mut missing = 0;
    for part in 1..=parts {
        let state = queued.iter().find(|(queued, _)| *queued == part);
        let told = if place.is_done(part) {
            done.push(part);
            "done".to_owned()
        } else if let Some((_, state)) = state {
            state.clone()
        } else {
            missing += 1;
            let log = place.log(part);
            if log.exists() {
                format!("not measured; its log: {}", log.display())
            } else {
                "not measured; it has not begun".to_owned()
            }
        };
        printer.note(&format!("part {part}/{parts}: {told}"));
    }
    if missing > 0 {
        printer.note("`backslide submit` with the same plan measures the missing parts");
    }
    ensure!(!done.is_empty(), "no part of campaign `{}` is done yet", place.name);
    let (runs, refused) = merge_parts(place, &done, root, printer)?;
    for run in runs.keys() {
        printer.result(&run.to_string());
    }
    let is_whole = runs.values().all(|state| *state == RunState::Finished);
    let is_fine = refused == 0 && (is_whole || missing == 0);
    let has_failed = report_failed(&runs, root, printer)?;
    Ok(match (is_fine, has_failed) {
        (false, _) => Exit::Failed,
        (true, true) => Exit::TrialFailed,
        (true, false) => Exit::Fine,
    })
}

/// Reports how many trials of these runs failed; returns whether any did.
fn report_failed(runs: &BTreeMap<RunId, RunState>, root: &Path, printer: Printer) -> Result<bool> {
    let mut has_failed = false;
    for summary in Lab::open_to_read(root)?.store.runs()? {
        let run = &summary.info.id;
        if summary.failed > 0 && runs.contains_key(run) {
            run::note_failed(summary.failed, run, printer);
            has_failed = true;
        }
    }
    Ok(has_failed)
}

/// Merges parts; where one is refused, each by itself, so that it keeps no other one back. How many were refused.
fn merge_parts(
    place: &Place,
    parts: &[u32],
    root: &Path,
    printer: Printer,
) -> Result<(BTreeMap<RunId, RunState>, usize)> {
    let labs: Vec<PathBuf> = parts.iter().map(|part| place.part(*part)).collect();
    let refusal = match merge::merge(&labs, root, printer) {
        Ok(runs) => return Ok((runs, 0)),
        Err(refusal) => refusal,
    };
    let (mut runs, mut refused) = (BTreeMap::new(), 0);
    for (part, lab) in parts.iter().zip(labs) {
        match merge::merge(&[lab], root, printer) {
            Ok(merged) => runs.extend(merged),
            Err(error) => {
                refused += 1;
                printer.note(&format!("part {part} is left out: {error:#}"));
            }
        }
    }
    if refused == parts.len() { Err(refusal) } else { Ok((runs, refused)) }
}

/// The parts that Slurm still has, and in which state: `pending`, `running on n1`.
fn queue(job: &str) -> Result<Vec<(u32, String)>> {
    let said =
        call(Command::new("squeue").args(["--noheader", "--array", "--format=%F %K %T %N"]))?;
    let parts = said.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        let part = words.next().filter(|id| *id == job).and_then(|_| words.next()?.parse().ok())?;
        let state = words.next()?.to_lowercase();
        Some((part, words.next().map_or(state.clone(), |node| format!("{state} on {node}"))))
    });
    Ok(parts.collect())
}

/// What a command of the scheduler prints.
fn call(command: &mut Command) -> Result<String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command
        .output()
        .with_context(|| format!("cannot start `{name}`: is this a host of a Slurm cluster?"))?;
    if !output.status.success() {
        bail!("`{name}` failed: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
