//! `backslide crash-check`: is all that a system acknowledged still there after a crash?

mod output;
mod verdict;

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, anyhow};
use explain::Facts;
use lab::{Builds, Crash, CrashCheck, CrashSpec, Lab, SiteError};
use load::Stop;
use model::{Plan, TpccCardinality, WorkloadSpec, mix};

use self::output::Outcome;
use self::verdict::{Terms, Verdict};
use crate::args::CrashCheckArgs;
use crate::exit::Exit;
use crate::printer::Printer;

/// The hidden verb that runs the terminals of an embedded database.
const TERMINALS: &str = "crash-terminals";
/// By so much there are fewer items and customers than the standard has.
const TENTH: u32 = 10;

pub(crate) fn run(args: &CrashCheckArgs, root: &Path, printer: Printer) -> Result<Exit> {
    let builds = Builds::of_user()?;
    let lab = Lab::open(root)?;
    let plan = expand(args, &builds, &lab, printer)?;
    let (Some(system), WorkloadSpec::Tpcc(workload)) = (plan.systems.first(), &plan.workload)
    else {
        return Err(anyhow!("no system"));
    };
    let free = lab.host()?.disk.free;
    plan::estimate(&plan).fits(free, &lab.root().display().to_string())?;
    let stop = Stop::default();
    stop_on_signals(stop.clone(), printer)?;
    // Another process may not remove a build under a server that runs.
    let _held = lab::hold_builds(&plan.systems)?;
    let claim = lab.claim_instances()?;
    for text in claim.swept() {
        printer.note(text);
    }
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
    let outcome = Outcome {
        system,
        workload,
        seconds: args.seconds,
        terms,
        crashes: &crashes,
        kept,
    };
    output::print(printer, &outcome, args.format)?;
    Ok(match outcome.verdict() {
        Verdict::NothingLost | Verdict::LostAsAllowed => Exit::Fine,
        Verdict::Lost => Exit::Lost,
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
    let file = plan::read(&plan_text(args), "crash-check")?;
    let plan = super::run::expand_with(&file, builds, lab.host()?.shape, printer)?;
    let cardinality = if args.standard {
        TpccCardinality::STANDARD
    } else {
        TpccCardinality {
            items: TpccCardinality::STANDARD.items / TENTH,
            customers: TpccCardinality::STANDARD.customers / TENTH,
        }
    };
    let within = Duration::from_secs(u64::from(args.seconds));
    let workload = lab::crash_workload(args.warehouses, args.clients, within, cardinality);
    Ok(Plan {
        workload: WorkloadSpec::Tpcc(workload),
        ..plan
    })
}

/// A plan of that system. Its workload only stands for one.
fn plan_text(args: &CrashCheckArgs) -> String {
    let mut text = format!(
        "name = \"crash-check\"\nrounds = 1\nworkload = {{ kind = \"insert\", scale = \"tiny\" }}\n\
         [[system]]\nbuild = {}\nconfig = {}\n",
        quoted(&args.build),
        quoted(&args.config)
    );
    if let Some(engine) = &args.engine {
        let _infallible = writeln!(text, "engine = {}", quoted(engine));
    }
    if !args.set.is_empty() {
        let settings = args.set.iter().map(|setting| {
            let value = setting.value.as_deref().map(quoted);
            let value = value.unwrap_or_else(|| "true".to_owned());
            format!("{} = {value}", quoted(&setting.name))
        });
        let settings: Vec<String> = settings.collect();
        let _infallible = writeln!(text, "set = {{ {} }}", settings.join(", "));
    }
    text
}

/// The text as TOML has it.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => {
                let _infallible = write!(quoted, "\\u{:04X}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// Another one each time: the moments of the kills are to differ.
fn seed() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = now.unwrap_or_default().as_nanos() as u64;
    mix(now, &[u64::from(std::process::id())])
}

/// The first ^C (or SIGTERM) asks to stop, the second ends the process at once; the kernel then kills what
/// it started.
fn stop_on_signals(stop: Stop, printer: Printer) -> Result<()> {
    let asked = AtomicBool::new(false);
    ctrlc::set_handler(move || {
        if asked.swap(true, Ordering::Relaxed) {
            super::run::leave_at_once();
        }
        printer.note("\nstopping when the statements under way have ended; ^C again stops at once");
        stop.ask();
    })
    .context("cannot handle ^C")
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::args::{Args, Verb};

    fn args(arguments: &[&str]) -> CrashCheckArgs {
        let arguments = ["backslide", "crash-check"].iter().chain(arguments);
        match Args::try_parse_from(arguments).unwrap().verb {
            Verb::CrashCheck(args) => args,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_system_is_one_of_a_plan() {
        let text = plan_text(&args(&[
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
            "init_connect=SET @a = \"\\x\"",
        ]));
        let system = text.split_once("[[system]]\n").unwrap().1;
        let expected = "build = \"mysql-8.0.33\"\nconfig = \"z12a\"\nengine = \"innodb\"\n\
                        set = { \"sync_binlog\" = \"1\", \"skip-log-bin\" = true, \
                        \"init_connect\" = \"SET @a = \\\"\\\\x\\\"\" }\n";
        assert_eq!(system, expected);
        assert!(plan::read(&text, "x").is_ok());
        assert!(plan::read(&plan_text(&args(&["sqlite"])), "x").is_ok());
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

    #[test]
    fn text_is_quoted_for_toml() {
        assert_eq!(quoted("a\"b\\c\nd"), "\"a\\\"b\\\\c\\u000Ad\"");
    }
}
