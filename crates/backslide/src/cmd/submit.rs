//! `backslide submit`: measures the rounds of a plan on many hosts, by Slurm or `ssh`, and merges what they found.
//!
//! All that is known of a campaign is in a directory of the lab: the script, the number of its job, the labs of the
//! parts that are done, and what each part said.

mod place;
mod script;
mod ssh;

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use lab::Lab;
use model::RunState;
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
            job.with_context(|| format!("campaign `{name}` has no Slurm job; ^C ends a `submit` over ssh, but hosts finish the rounds they began"))?;
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
            campaign.for_slurm(&request, &program, &path, &place.directory)
        }
        Target::Ssh(_) => campaign.for_ssh(&plan.source),
    };
    if args.dry_run {
        printer.result(script.trim_end());
        return Ok(Exit::Fine);
    }
    // The script of a job that Slurm may still start again stays as it is.
    ensure!(
        matches!(target, Target::Ssh(_)) || !place.directory.join(JOB).exists(),
        "campaign `{name}` was submitted already: `backslide submit --status {name}`, or name another (--campaign)"
    );
    place.prepare(&script)?;
    match target {
        Target::Slurm => {
            let said =
                call(Command::new("sbatch").arg("--parsable").arg(place.directory.join(SCRIPT)))?;
            let job = said.trim().split(';').next().unwrap_or_default();
            place.write(JOB, &format!("{} {job}\n", campaign.parts))?;
            let parts = plural(campaign.parts as usize, "part");
            printer.note(&format!(
                "submitted {parts} as job {job}; script and logs: {}",
                place.directory.display()
            ));
            printer.note(&format!(
                "`backslide submit --status {name}` shows them, and merges what is done"
            ));
            printer.result(name);
            Ok(Exit::Fine)
        }
        Target::Ssh(hosts) => {
            place.write(JOB, &format!("{}\n", campaign.parts))?;
            ssh::measure(hosts, &place, campaign.parts, &script, printer)?;
            status(&place, root, printer)
        }
    }
}

/// Shows each part, and merges those that are done into the lab.
fn status(place: &Place, root: &Path, printer: Printer) -> Result<Exit> {
    let (parts, job) = place.job()?;
    let queued = job.map_or_else(|| Ok(Vec::new()), |job| queue(&job))?;
    let mut done = Vec::new();
    let mut missing = 0;
    for part in 1..=parts {
        let lab = place.part(part);
        let state = queued.iter().find(|(queued, _)| *queued == part);
        let told = if lab.join("lab.sqlite").is_file() {
            done.push(lab);
            "done".to_owned()
        } else if let Some((_, state)) = state {
            state.clone()
        } else {
            missing += 1;
            format!("not measured; its log: {}", place.log(part).display())
        };
        printer.note(&format!("part {part}/{parts}: {told}"));
    }
    ensure!(!done.is_empty(), "no part of campaign `{}` is done yet", place.name);
    let runs = merge::merge(&done, root, printer)?;
    for run in runs.keys() {
        printer.result(&run.to_string());
    }
    let is_whole = runs.values().all(|state| *state == RunState::Finished);
    Ok(if is_whole || missing == 0 { Exit::Fine } else { Exit::Failed })
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
