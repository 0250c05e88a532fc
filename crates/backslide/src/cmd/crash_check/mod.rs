//! `backslide crash-check`: is all that a system acknowledged still there after a crash?

mod output;
mod verdict;

use std::path::Path;
use std::process::Command;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, anyhow};
use explain::Facts;
use lab::{Builds, Crash, CrashCheck, CrashSpec, Lab, SiteError};
use load::Stop;
use model::{Bytes, Plan, TpccCardinality, mix};
use plan::{Argument, PlanError, SystemArguments};

use self::output::Outcome;
use self::verdict::{Terms, Verdict};
use crate::args::CrashCheckArgs;
use crate::exit::Exit;
use crate::printer::Printer;
use crate::runs;

const TERMINALS: &str = "crash-terminals";
/// By so much there are fewer items and customers than the standard has.
const TENTH: u32 = 10;

pub(crate) fn run(args: &CrashCheckArgs, root: &Path, printer: Printer) -> Result<Exit> {
    let builds = Builds::of_user()?;
    let lab = Lab::open(root)?;
    let plan = expand(args, &builds, &lab, printer)?;
    let (Some(system), Some(workload)) = (plan.systems.first(), plan.workload.tpcc()) else {
        return Err(anyhow!("no system"));
    };
    check_disk(&plan, lab.host()?.disk.free, &lab.root().display().to_string())?;
    let stop = Stop::default();
    stop_on_signals(stop.clone(), printer)?;
    // Another process may not remove a build under a server that runs.
    let _held = lab::hold_builds(&plan.systems)?;
    let claim = runs::claim(&lab, printer)?;
    let program = std::env::current_exe().context("cannot find this program itself")?;
    let terminals = || {
        let mut command = Command::new(&program);
        command.arg(TERMINALS);
        command
    };
    let spec = CrashSpec {
        system,
        workload,
        seed: seed(),
        within: Duration::from_secs(u64::from(args.seconds)),
        terminals: &terminals,
    };
    printer.note(&output::beginning(system, workload));
    let mut check = CrashCheck::begin(spec, &claim, &stop).map_err(|error| told(&error))?;
    let told = check.told();
    let facts = Facts::new(system, &told.captures, &told.provenance);
    let terms = Terms {
        durability: facts.and_then(|facts| explain::durability(&facts)),
        terminals: args.clients,
    };
    let crashes = crashes(&mut check, terms, args.times, &stop, printer);
    let (crashes, kept) = end(check, terms, crashes, &stop)?;
    let outcome =
        Outcome { system, workload, seconds: args.seconds, terms, crashes: &crashes, kept };
    output::print(printer, &outcome, args.format);
    Ok(match outcome.verdict() {
        Verdict::NothingLost | Verdict::LostAsAllowed => Exit::Fine,
        Verdict::Lost => Exit::Regressed,
    })
}

/// Runs the terminals that a crash check asks for, until it kills this process.
pub(crate) fn terminals() -> Result<Exit> {
    lab::run_terminals(std::io::stdin().lock()).map_err(|error| anyhow!(error.reason))?;
    Ok(Exit::Fine)
}

/// Kills the system and looks at it so often, or until something is lost.
fn crashes(
    check: &mut CrashCheck<'_>,
    terms: Terms,
    times: u32,
    stop: &Stop,
    printer: Printer,
) -> Result<Vec<Crash>, SiteError> {
    let mut crashes = Vec::new();
    for round in 1..=times {
        let killed = check.kill(round, stop)?;
        let recovery = check.recover()?;
        let crash = check.verify(killed, recovery, stop)?;
        printer.note(&output::line(&crash, terms, times));
        let verdict = terms.judge(&crash);
        crashes.push(crash);
        if verdict == Verdict::Lost {
            break;
        }
    }
    Ok(crashes)
}

/// Ends the system; what was found, and where the evidence is, if something is wrong.
fn end(
    check: CrashCheck<'_>,
    terms: Terms,
    crashes: Result<Vec<Crash>, SiteError>,
    stop: &Stop,
) -> Result<(Vec<Crash>, Option<String>)> {
    match crashes {
        Ok(crashes) => {
            let found: Vec<String> = crashes
                .iter()
                .filter(|crash| terms.judge(crash) == Verdict::Lost)
                .flat_map(|crash| terms.found(crash))
                .collect();
            let found = (!found.is_empty()).then(|| found.join("; "));
            let kept = check.end(found).map_err(|error| told(&error))?;
            Ok((crashes, kept))
        }
        Err(error) => {
            // Of what the user ended there is nothing to explain.
            let found = (!stop.is_asked()).then(|| error.reason.clone());
            let reason = check.end(found).ok().flatten();
            Err(told(&SiteError {
                reason: reason.unwrap_or_else(|| error.reason.clone()),
                ..error
            }))
        }
    }
}

/// The error with the last lines of the server's log.
fn told(error: &SiteError) -> anyhow::Error {
    anyhow::anyhow!(error.with_lines())
}

/// The one system that the arguments describe, as a plan would have it, with the workload.
fn expand(args: &CrashCheckArgs, builds: &Builds, lab: &Lab, printer: Printer) -> Result<Plan> {
    let file = plan::of_arguments(&[system(args)])?;
    Ok(with_workload(super::run::expand_with(&file, builds, lab.host()?.shape, printer)?, args))
}

fn with_workload(plan: Plan, args: &CrashCheckArgs) -> Plan {
    let TpccCardinality { items, customers } = TpccCardinality::STANDARD;
    let cardinality = if args.standard {
        TpccCardinality::STANDARD
    } else {
        TpccCardinality { items: items / TENTH, customers: customers / TENTH }
    };
    let within = Duration::from_secs(u64::from(args.seconds));
    let workload = lab::crash_workload(args.warehouses, args.clients, within, cardinality);
    plan.with_workload(workload.into())
}

fn system(args: &CrashCheckArgs) -> SystemArguments<'_> {
    let argument = |name, text| Argument { name, text };
    let set = args.set.iter();
    SystemArguments {
        engine: args.engine.as_deref().map(|engine| argument("--engine", engine)),
        config: Some(argument("--config", &args.config)),
        set: set.map(|one| (argument("--set", &one.name), one.value.as_deref())).collect(),
        ..SystemArguments::of(argument("BUILD", &args.build))
    }
}

/// Does the database fit into the `free` space of `place`? The error says which arguments decide its size.
fn check_disk(plan: &Plan, free: Bytes, place: &str) -> Result<()> {
    match plan::estimate(plan).fits(free, place) {
        Ok(()) => Ok(()),
        Err(PlanError::TooLarge { need, place, free }) => Err(anyhow!(
            "the check needs about {need} of disk, {place} has {free} free; use fewer --warehouses, leave \
             --standard out, or give --lab elsewhere"
        )),
        Err(other) => Err(other.into()),
    }
}

/// Another one each time: the moments of the kills are to differ.
fn seed() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos() as u64;
    mix(now, &[u64::from(std::process::id())])
}

pub(super) fn stop_on_signals(stop: Stop, printer: Printer) -> Result<()> {
    let told = "\nstopping when the statements under way have ended; ^C again stops at once";
    super::run::stop_on_signals(stop, printer, told, || ())
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;
    use model::HostShape;

    use super::*;
    use crate::args::{Args, Verb};

    fn args(arguments: &[&str]) -> CrashCheckArgs {
        let arguments = ["backslide", "crash-check"].iter().chain(arguments);
        match Args::try_parse_from(arguments).unwrap().verb {
            Verb::CrashCheck(args) => args,
            other => panic!("{other:?}"),
        }
    }

    /// The plan of a system that is always here, with the workload of these arguments.
    fn planned(arguments: &[&str]) -> Plan {
        let args = args(&[&["sqlite"], arguments].concat());
        let builds = Builds::of_user().unwrap();
        let host = HostShape { cpus: 2, memory: Bytes(8 << 30) };
        let file = plan::of_arguments(&[system(&args)]).unwrap();
        with_workload(super::super::run::expand(&file, &builds, host).unwrap(), &args)
    }

    #[test]
    fn the_arguments_describe_one_system() {
        let args = args(&[
            "mysql-8.0.33",
            "--engine",
            "innodb",
            "--config",
            "z12a",
            "--set",
            "sync_binlog=1",
            "--set",
            "skip-log-bin",
            "--set",
            "init_connect=SET @a = 1",
        ]);
        let argument = |name, text| Argument { name, text };
        let set = [
            ("sync_binlog", Some("1")),
            ("skip-log-bin", None),
            ("init_connect", Some("SET @a = 1")),
        ];
        let wanted = SystemArguments {
            engine: Some(argument("--engine", "innodb")),
            config: Some(argument("--config", "z12a")),
            set: set.map(|(option, value)| (argument("--set", option), value)).to_vec(),
            ..SystemArguments::of(argument("BUILD", "mysql-8.0.33"))
        };
        assert_eq!(system(&args), wanted);
        assert!(plan::of_arguments(&[wanted]).is_ok());
    }

    #[test]
    fn a_database_that_does_not_fit_is_told_with_the_arguments_that_decide_its_size() {
        let small = planned(&["--warehouses", "1"]);
        assert!(check_disk(&small, Bytes(1 << 40), "/var/lab").is_ok());
        let large = planned(&["--warehouses", "1000", "--standard"]);
        let error = check_disk(&large, Bytes(1 << 30), "/var/lab").unwrap_err();
        let error = error.to_string();
        assert!(error.starts_with("the check needs about "), "{error}");
        assert!(
            error.ends_with(
                "/var/lab has 1.00 GiB free; use fewer --warehouses, leave --standard out, or give --lab \
                 elsewhere"
            ),
            "{error}"
        );
    }

    #[test]
    fn what_cannot_be_is_refused_before_anything_begins() {
        for wrong in [
            &["sqlite", "--warehouses", "0"][..],
            &["sqlite", "--clients", "0"],
            &["sqlite", "--seconds", "1"],
            &["sqlite", "--times", "0"],
            &["sqlite", "--set", "synchronous"],
            &["sqlite", "--set", "=full"],
            &[],
        ] {
            let arguments = ["backslide", "crash-check"].iter().chain(wrong);
            assert!(Args::try_parse_from(arguments).is_err(), "{wrong:?}");
        }
    }
}
