//! `backslide run`: carries a plan out.

use std::convert::Infallible;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Error, Result, bail};
use lab::{Before, Builds, Ended, Lab, Providers, Secrets};
use load::Stop;
use model::{Event, HostShape, Nanos, Outcome, Plan, RunId, TrialKey};
use plan::{Catalog, Overrides, PlanFile};

use super::run_script;
use crate::args::{RunArgs, ScriptArgs};
use crate::exit::Exit;
use crate::printer::Printer;
use crate::progress::{self, Progress};
use crate::{disturbed, input, runs, time_needed};

pub(crate) fn run(args: &RunArgs, root: &Path, printer: Printer) -> Result<Exit> {
    let mut before = None;
    let (mut lab, run, secrets) = if let Some(resume) = &args.resume {
        let (mut lab, run) = (runs::open(root)?, runs::named(resume));
        if let Some(rounds) = args.with.rounds {
            before = Some(lab.add_rounds(&run, rounds)?);
        }
        (lab, run, Secrets::default())
    } else {
        if args.what.options.iter().any(|option| option == "--help") {
            run_script::help(args.what.named(), printer)?;
            return Ok(Exit::Fine);
        }
        let with = args.with.overrides();
        let (file, builds) = read_what(&args.what, &with)?;
        file.check_cpus(lab::refused_cpus)?;
        let mut lab = Lab::open(root)?;
        let host = lab.host()?.shape;
        let mut plan = expand_with(&file, &builds, host, printer)?;
        if args.what.is_script() && plan::estimate(&plan).peak_memory > host.memory {
            plan = expand(&of_script(&args.what, &with, false)?, &builds, host)?;
        }
        let named = (!args.what.is_script()).then_some(&file);
        check_script(&plan, named)?;
        plan.course.part = args.rounds_of;
        if let Some(note) = few_rounds(&plan, &builds.catalog) {
            printer.note(note);
        }
        note_remarks(&plan, printer);
        if let Some(note) = plan::estimate(&plan).lacks_memory(host.memory) {
            printer.note(&printer.wrapped(&note));
        }
        let campaign = args.campaign.as_ref().unwrap_or(&plan.name);
        let run = lab.begin_part(&plan, env!("CARGO_PKG_VERSION"), campaign)?;
        (lab, run, builds.secrets())
    };
    lab.template_budget = args.template_budget;
    lab.counts_in.clone_from(&args.counts_in);
    let exit = carry_out(&mut lab, &run, secrets, printer);
    match &exit {
        Ok(ended) => {
            if *ended != Exit::Failed {
                printer.note(&how_to_look(&lab, &run)?);
            }
            printer.result(&run.to_string());
        }
        // Refused before anything was measured: there is nothing to resume.
        Err(_) if args.resume.is_none() => {
            lab.store.discard_run(&run)?;
        }
        Err(_) => {}
    }
    if let Some(before) = before.filter(|_| !matches!(exit, Ok(Exit::Fine | Exit::TrialFailed))) {
        take_back(&mut lab, &run, &before, printer);
    }
    exit
}

/// Takes added rounds back of which none was measured, and says so.
fn take_back(lab: &mut Lab, run: &RunId, before: &Before, printer: Printer) {
    match lab.take_back_added_rounds(run, before) {
        Ok(true) => printer.note("no further round was measured: the run is finished as before"),
        Ok(false) => {}
        Err(error) => printer.note(&format!("run {run} may have more rounds now: {error}")),
    }
}

/// What shows the results of a run; one system has nothing to be compared with.
fn how_to_look(lab: &Lab, run: &RunId) -> Result<String> {
    let verb = if lab.store.run_info(run)?.plan.systems.len() > 1 { "compare" } else { "show" };
    Ok(format!("`backslide {verb} {run}` · `backslide report {run} -o {run}.html`"))
}

pub(super) fn note_remarks(plan: &Plan, printer: Printer) {
    for remark in plan::remarks(plan) {
        printer.note(&printer.wrapped(&format!("note: {remark}")));
    }
}

const ROUNDS_FOR_A_VERDICT: u32 = 3;

/// What to say of a plan with fewer. Built-in plans have fewer on purpose: they try whether something works.
pub(crate) fn few_rounds(plan: &Plan, catalog: &Catalog) -> Option<&'static str> {
    let is_meant = catalog.plan(&plan.name).is_ok_and(|text| text == plan.source);
    let has_few = plan.rounds_of_each() < ROUNDS_FOR_A_VERDICT && plan.systems.len() > 1;
    (has_few && !is_meant)
        .then_some("note: a verdict needs 3 rounds; with fewer, backslide prints ratios only")
}

/// Reads the plan, or makes that of a script.
fn read_what(what: &ScriptArgs, with: &Overrides<'_>) -> Result<(PlanFile, Builds)> {
    if !what.is_script() {
        return read(what.named(), with);
    }
    Ok((of_script(what, with, true)?, Builds::of_user()?))
}

/// The plan of a script; for `at_once` see [`run_script::plan_text`].
fn of_script(what: &ScriptArgs, with: &Overrides<'_>, at_once: bool) -> Result<PlanFile> {
    let text = run_script::plan_text(what, at_once)?;
    let file = plan::read_with(&text, "the plan of these arguments", with)?;
    Ok(with_cpus(input::with_workload_file(file, Path::new(""))?))
}

/// Loads the plan's script, and reports errors in it or in its options before anything starts. If the plan is a file,
/// errors in options name its line.
pub(crate) fn check_script(plan: &Plan, file: Option<&PlanFile>) -> Result<()> {
    let (Some(spec), Some(first)) = (plan.workload.script(), plan.systems.first()) else {
        return Ok(());
    };
    let Err(problem) = workloads::script_options(spec, first.build.dbms.dialect()) else {
        return Ok(());
    };
    Err(match (file, &problem.option) {
        (Some(file), Some(option)) => file.refuse_option(option, problem.message).into(),
        _ => problem.into(),
    })
}

/// Reads the plan that a person named: a file, or one of the catalog.
pub(crate) fn read(named: &str, with: &Overrides<'_>) -> Result<(PlanFile, Builds)> {
    let builds = Builds::of_user()?;
    let path = Path::new(named);
    if path.extension().is_some_and(|extension| extension == "lua") {
        bail!(
            "{named} is a script of sysbench, not a plan: `backslide run {named} SYSTEM… -- OPTION…` runs it"
        );
    }
    // Names of the catalog may have dots: `mysql-5.6-to-9.7`.
    let looks_like_file = path.extension().is_some() || named.contains('/');
    let is_there = path.exists() && !path.is_dir();
    let is_file = is_there || (looks_like_file && builds.catalog.plan(named).is_err());
    if !is_file {
        let file = plan::read_with(builds.catalog.plan(named)?, named, with)?;
        return Ok((with_cpus(file), builds));
    }
    let text = input::text_of(path)?;
    let file = input::with_workload_file(plan::read_with(&text, named, with)?, path)?;
    Ok((with_cpus(file), builds))
}

/// The plan of the catalog, whatever files there are of its name.
pub(crate) fn of_catalog(named: &str, builds: &Builds) -> Result<PlanFile> {
    Ok(with_cpus(plan::read(builds.catalog.plan(named)?, named)?))
}

/// With the CPUs that this process may use.
pub(crate) fn with_cpus(file: PlanFile) -> PlanFile {
    let cpus = probes::allowed().into_iter().map(|cpu| cpu as u32);
    file.with_cpus(cpus.collect())
}

/// Resolves everything in a plan, and checks what only its workload knows. Builds of the catalog that are not
/// installed stand in it as they would be: [`Builds::take_wanted`].
pub(crate) fn expand(file: &PlanFile, builds: &Builds, host: HostShape) -> Result<Plan> {
    let plan = builds.expand(file, host)?;
    lab::check_margins(&plan)?;
    plan::check_settings(file, &plan, &lab::refused_setting)?;
    Ok(plan)
}

/// The same with what is missing installed first.
pub(crate) fn expand_with(
    file: &PlanFile,
    builds: &Builds,
    host: HostShape,
    printer: Printer,
) -> Result<Plan> {
    let plan = expand(file, builds, host)?;
    let wanted = builds.take_wanted();
    if wanted.is_empty() {
        return Ok(plan);
    }
    for recipe in &wanted {
        super::install::install(builds, recipe, printer)?;
    }
    expand(file, builds, host)
}

const TOLD: &str = "\nstopping; a statement may take 2 s to end; ^C again stops at once";
const TOLD_OF_SCRIPTS: &str = "\nstopping; a statement or a script may take 2 s to end; a C function that it calls \
                               (string.find, os.execute) may take longer; ^C again stops at once";

/// Runs what is left of a run, with progress; ^C stops it.
pub(crate) fn carry_out(
    lab: &mut Lab,
    run: &RunId,
    secrets: Secrets,
    printer: Printer,
) -> Result<Exit> {
    let stop = Stop::default();
    let resumed = run.clone();
    let info = lab.store.run_info(run)?;
    let is_script = info.plan.workload.script().is_some();
    let told = if is_script { TOLD_OF_SCRIPTS } else { TOLD };
    stop_on_signals(stop.clone(), printer, told, move || {
        printer.note(&format!("continue with `backslide run --resume {resumed}`"));
        printer.result(&resumed.to_string());
    })?;
    let done = lab.store.journal(run)?;
    let root = lab.root().display().to_string();
    let mut announced = false;
    let mut begun = false;
    let ended = execute(lab, run, secrets, &stop, printer, &mut |event| {
        begun |= matches!(event, Event::TrialStarted { .. });
        if !std::mem::replace(&mut announced, true) {
            let systems = report::format::plural(info.plan.systems.len(), "system");
            let (name, rounds) = (&info.plan.name, report::planned_rounds(&info.plan));
            printer.note(&format!("run {run}: plan {name}, {systems} × {rounds}, in {root}"));
            for line in how_long(&info.plan, &done) {
                printer.note(&line);
            }
        }
    });
    if ended.is_err() && begun {
        printer
            .note(&format!("measurements are kept; continue with `backslide run --resume {run}`"));
        printer.result(&run.to_string());
    }
    let ended = ended?;
    if ended == Ended::NeedsValgrind {
        return Err(resume_under_valgrind(lab, run, printer));
    }
    if ended != Ended::Interrupted
        && let Some(told) = disturbed::at_the_end(&info.plan, &lab.store.journal(run)?)
    {
        printer.note(&format!("{told}; `backslide show {run}` prints the details"));
    }
    Ok(say_end(ended, run, printer))
}

/// Replaces this process by one that goes on under Valgrind; returns only if it cannot.
fn resume_under_valgrind(lab: &Lab, run: &RunId, printer: Printer) -> Error {
    let replaced = || -> Result<Infallible> {
        let (mut command, directory) = lab.under_valgrind()?;
        command.arg(std::env::current_exe()?).args(printer.is_quiet().then_some("--quiet"));
        command.arg("--lab").arg(lab.root()).args(["run", "--resume", &run.0, "--counts-in"]);
        Err(command.arg(directory).exec().into())
    };
    let Err(error) = replaced();
    error
        .context(format!("cannot count under Valgrind; `backslide run --resume {run}` tries again"))
}

/// Runs what is left of a run until `stop`, with a live line; `listen` gets each event before the line does.
pub(super) fn execute(
    lab: &mut Lab,
    run: &RunId,
    secrets: Secrets,
    stop: &Stop,
    printer: Printer,
    listen: &mut dyn FnMut(&Event),
) -> Result<Ended> {
    let plan = lab.store.run_info(run)?.plan;
    // Another process may not remove a build under a server that runs.
    let _held = lab::hold_builds(&plan.systems)?;
    let mut progress = Progress::new(printer, &plan, &lab.store.journal(run)?);
    let provider = Providers { secrets, stop: stop.clone() };
    let ended = lab.carry_out(run, &provider, stop, &mut |event| {
        listen(event);
        progress.see(event);
    });
    progress.finish();
    Ok(ended?)
}

/// Says how many trials of a run failed, and where the reasons are.
pub(super) fn note_failed(failed: u32, run: &RunId, printer: Printer) {
    let trials = report::format::plural(failed as usize, "trial");
    printer.note(&format!("{trials} failed: `backslide show {run}` says why"));
}

fn say_end(ended: Ended, run: &RunId, printer: Printer) -> Exit {
    match ended {
        Ended::Finished { failed: 0 } => Exit::Fine,
        Ended::Finished { failed } => {
            note_failed(failed, run, printer);
            Exit::TrialFailed
        }
        Ended::Interrupted | Ended::NeedsValgrind => {
            printer.note(&format!("interrupted; continue with `backslide run --resume {run}`"));
            Exit::Failed
        }
    }
}

/// Of runs that take longer it is told what takes the time.
const LONG: Nanos = Nanos::from_secs(600);

/// How long the planned trials take that are left, and what takes the time of a long run; nothing where none is left.
fn how_long(plan: &Plan, done: &[(TrialKey, Outcome)]) -> Vec<String> {
    let left = progress::time_of_rest(plan, done);
    if left == Nanos(0) {
        return Vec::new();
    }
    let at_most = plan.course.first_look.map_or("", |_| "at most ");
    let longest = plan::estimate(plan).longest.filter(|_| done.is_empty());
    let longest = longest.map(|time| format!(", up to {time} with re-run rounds"));
    let time = format!("{at_most}about {left}{}", longest.unwrap_or_default());
    // Others take as long as the server needs.
    let parts = plan.workload.sql().filter(|_| left > LONG).map(|spec| {
        format!("of a trial of {}: {}", plan.base, time_needed::where_it_goes(plan, spec))
    });
    [Some(time), parts].into_iter().flatten().collect()
}

/// The first ^C (or SIGTERM) asks to stop and says so, the second ends the process at once after `last`: the kernel then
/// kills the servers, and what was journaled stays.
pub(super) fn stop_on_signals(
    stop: Stop,
    printer: Printer,
    told: &'static str,
    last: impl Fn() + Send + 'static,
) -> Result<()> {
    let asked = AtomicBool::new(false);
    ctrlc::set_handler(move || {
        if asked.swap(true, Ordering::Relaxed) {
            last();
            leave_at_once();
        }
        printer.note(told);
        stop.ask();
    })
    .context("cannot handle ^C")
}

#[expect(
    clippy::exit,
    reason = "the second ^C means now; nothing is left to tidy up in this process"
)]
fn leave_at_once() {
    std::process::exit(1);
}

#[cfg(test)]
mod tests {
    use super::*;
    use testkit::made_up::{self, micro::Micro};

    #[test]
    fn a_long_run_says_what_takes_its_time_and_one_that_is_done_nothing() {
        let micro = Micro { tests: 1, ..Micro::usual() };
        let mut plan = made_up::micro::run(&micro).info.plan;
        let trials = plan.trials().into_iter().map(|trial| {
            let system = plan.systems[trial.system].name.clone();
            TrialKey { round: trial.round, position: trial.position, system }
        });
        let done: Vec<_> = trials.map(|key| (key, Outcome::Completed)).collect();
        assert!(how_long(&plan, &done).is_empty());
        plan.rounds = 1;
        let short = how_long(&plan, &[]);
        assert_eq!(short.len(), 1);
        assert!(short[0].starts_with("about "), "{short:?}");
        plan.rounds = 1_000;
        let long = how_long(&plan, &[]);
        assert_eq!(long.len(), 2);
        let begin = "of a trial of mysql-5.6.24/z12a: ";
        assert!(long[1].starts_with(begin), "{long:?}");
    }
}
