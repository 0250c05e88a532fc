//! `backslide quick` and `backslide init`: a plan of what the command line says, sized to fit a time; and `backslide
//! demo`, which compares two SQLite configurations.

use std::path::Path;

use anyhow::{Context, Result, bail};
use lab::{Builds, Lab, Secrets};
use model::{HostShape, Nanos, Plan, RunData};
use plan::{Argument, PlanFile, SystemArguments};
use report::tables::Shown;
use stats::{Budget, Selection};

use super::run_script::INTERLEAVE;
use super::{compare, run};
use crate::args::{CompareFormat, InitArgs, QuickArgs};
use crate::exit::Exit;
use crate::foreseen::{self, Noise};
use crate::printer::Printer;
use crate::{input, runs};

/// Rounds after which the run looks at its verdicts. Of two sizes that fit, more rounds decide more than more tests.
const FIRST_LOOK: u32 = 4;
/// More rounds than these are of little use.
const MOST_ROUNDS: u32 = 20;
/// Longer windows are of little use.
const LONGEST_WINDOW: Nanos = Nanos::from_secs(60);
/// The keys of a workload that are lengths of windows.
const WINDOWS: [&str; 5] =
    ["seconds", "query_seconds", "read_seconds", "write_seconds", "scan_seconds"];
/// Seconds a step of a workload that the catalog has no sizes of, for each size.
const SECONDS: [u32; 3] = [20, 5, 1];
const IN_PAIRS: &str = "interleave = \"turns\"\nat_once    = \"pairs\"\n";

/// A plan that fits, its text and how long it takes.
struct Sized {
    text: String,
    plan: Plan,
    time: Nanos,
    noise: Noise,
}

pub(crate) fn demo(output: Option<&Path>, root: &Path, printer: Printer) -> Result<Exit> {
    let mut lab = Lab::open(root)?;
    let builds = Builds::of_user()?;
    let file = run::of_catalog("demo", &builds)?;
    let plan = run::expand(&file, &builds, lab.host()?.shape)?;
    let (exit, _) = measure(&mut lab, &plan, Secrets::default(), output, printer)?;
    Ok(exit)
}

pub(crate) fn run(args: &QuickArgs, root: &Path, printer: Printer) -> Result<Exit> {
    let mut lab = Lab::open(root)?;
    let builds = Builds::of_user()?;
    let host = lab.host()?.shape;
    // What is missing is installed.
    let expand = |file: &PlanFile| run::expand_with(file, &builds, host, printer);
    let sized = prepared(&args.what, &builds, (host, Some(&lab)), printer, expand)?;
    let output = args.output.as_deref();
    let (exit, data) = measure(&mut lab, &sized.plan, builds.secrets(), output, printer)?;
    let Some(data) = data else { return Ok(exit) };
    if !compare::has_a_pair(&data, &data.info.plan.base) {
        return Ok(compare::nothing_to_judge(&data, CompareFormat::Text, printer));
    }
    // As `compare` does: a cost that rose is told, and decides nothing.
    Ok(Exit::of(runs::compare(&data, None, Selection::Deciding, None)?.iter()))
}

/// Carries a new plan out, prints its verdicts and writes its report to `output`, otherwise into the lab. Gives
/// the exit status, and the data if the run finished.
fn measure(
    lab: &mut Lab,
    plan: &Plan,
    secrets: Secrets,
    output: Option<&Path>,
    printer: Printer,
) -> Result<(Exit, Option<RunData>)> {
    let run = lab.begin(plan, env!("CARGO_PKG_VERSION"))?;
    let exit = run::carry_out(lab, &run, secrets, printer)?;
    // A failed trial leaves others to compare.
    if !matches!(exit, Exit::Fine | Exit::TrialFailed) {
        return Ok((exit, None));
    }
    let data = runs::load(lab, Some(&run.0), runs::EVERYTHING)?;
    let comparisons = runs::compare(&data, None, Selection::All, None)?;
    let shown = Shown { control_decided_only: true, ..Shown::default() };
    compare::show(lab, &data.info.plan.base, &data, &comparisons, &shown, printer)?;
    let output = super::report::destination(lab, &run, output)?;
    super::report::write(lab, &data, &comparisons, &output)?;
    printer.result(&format!("\nReport: {}", output.display()));
    printer
        .note(&format!("Run {run}; more: `backslide show {run}`, `backslide compare {run} --all`"));
    Ok((exit, Some(data)))
}

pub(crate) fn init(args: &InitArgs, root: &Path, printer: Printer) -> Result<Exit> {
    let host = probes::identify(super::existing(root)?)?.shape;
    let lab = Lab::open_to_read(root).ok();
    let builds = Builds::of_user()?;
    let expand = |file: &PlanFile| run::expand(file, &builds, host);
    let sized = prepared(args, &builds, (host, lab.as_ref()), printer, expand)?;
    printer.result(sized.text.trim_end());
    Ok(Exit::Fine)
}

/// Where a plan is to run; the lab, if there is one.
type Place<'a> = (HostShape, Option<&'a Lab>);

/// The plan of the arguments; says what it detects, and where even the smallest size does not fit. What is wrong with a
/// system is told of its argument, by `expand`.
fn prepared(
    args: &InitArgs,
    builds: &Builds,
    place: Place<'_>,
    printer: Printer,
    expand: impl FnOnce(&PlanFile) -> Result<Plan>,
) -> Result<Sized> {
    let label = label(args);
    let systems = systems(args, &label)?;
    expand(&plan::of_arguments(&systems)?)?;
    let sized = sized(args, &systems, builds, place)?;
    let (wanted, time) = (args.minutes, sized.time);
    if time > wanted {
        printer.note(&format!(
            "{wanted} is too short for {FIRST_LOOK} rounds; this takes about {time}"
        ));
    }
    if let Some(sentence) = sized.noise.sentence(&sized.plan, time) {
        printer.note(&printer.wrapped(&sentence));
    }
    run::note_remarks(&sized.plan, printer);
    Ok(sized)
}

/// The systems of the arguments. One alone is compared with itself as its settings change it.
fn systems<'a>(args: &'a InitArgs, label: &'a str) -> Result<Vec<SystemArguments<'a>>> {
    let named = args.systems.iter().map(|name| super::named_system::system_of(name));
    let mut systems = named.collect::<Result<Vec<_>>>()?;
    let option = |text| Argument { name: "--set", text };
    let set: Vec<_> =
        args.set.iter().map(|set| (option(set.name.as_str()), set.value.as_deref())).collect();
    match systems.as_slice() {
        [_] if set.is_empty() => {
            bail!(
                "name two systems, or one and a setting: `backslide quick postgres-18 --set jit=off`"
            )
        }
        [one] => {
            let label = Some(option(label));
            systems = vec![one.clone(), SystemArguments { set, label, ..one.clone() }];
        }
        _ => systems.iter_mut().for_each(|system| system.set.clone_from(&set)),
    }
    Ok(systems)
}

/// Names the system with the settings: `postgres-18 jit=off`.
fn label(args: &InitArgs) -> String {
    let set = args.set.iter().map(|set| plan::set_text(&set.name, set.value.as_deref()));
    let words: Vec<String> = args.systems.iter().take(1).cloned().chain(set).collect();
    words.join(" ")
}

/// The first size of the workload that leaves time for [`FIRST_LOOK`] rounds, else its smallest one.
fn sized(
    args: &InitArgs,
    systems: &[SystemArguments<'_>],
    builds: &Builds,
    place: Place<'_>,
) -> Result<Sized> {
    let mut fits = None;
    for head in heads(&args.workload, builds)? {
        let sized = planned(&head, args.minutes, systems, builds, place)?;
        let is_enough = sized.time <= args.minutes;
        fits = Some(sized);
        if is_enough {
            break;
        }
    }
    fits.context("the catalog has no sizes")
}

/// Plans of a workload without a name, rounds and systems, the largest first.
pub(super) fn heads(workload: &str, builds: &Builds) -> Result<Vec<String>> {
    let of_catalog = builds.catalog.quick(workload);
    if of_catalog.is_empty() {
        check_workload(workload, builds)?;
        return Ok(SECONDS.map(|seconds| of_file(workload, seconds)).to_vec());
    }
    Ok(of_catalog.into_iter().map(str::to_owned).collect())
}

/// Is it a file that can be read, or a workload of the catalog?
fn check_workload(named: &str, builds: &Builds) -> Result<()> {
    let catalog = &builds.catalog;
    if plan::is_workload_path(named) {
        input::text_of(Path::new(named)).context("--workload")?;
    } else if !catalog.workload_names().contains(&named) {
        let names = catalog.workload_names().join(", ");
        bail!(
            "--workload: no workload `{named}`; available: insert, tpcc, {names}, and paths of workload files"
        );
    }
    Ok(())
}

/// The plan of a workload file, or of one of the catalog by its name, without a name, rounds and systems.
fn of_file(named: &str, seconds: u32) -> String {
    let keys = format!(
        "read_seconds = {seconds}\nwrite_seconds = {seconds}\nwarmup = \"fixed\"\nwarmup_seconds = 1\nsettle = 0\n"
    );
    let named = plan::toml_string(named);
    format!(
        "{INTERLEAVE}placement = \"together\"\nquarantine = false\n\n[workload]\nkind = \"sql\"\nfile = {named}\n{keys}"
    )
}

/// The plan of one size with the rounds, [`FIRST_LOOK`] at least, and the windows that detect most in this time.
fn planned(
    head: &str,
    time: Nanos,
    systems: &[SystemArguments<'_>],
    builds: &Builds,
    (host, lab): Place<'_>,
) -> Result<Sized> {
    let made = |head: &str, rounds: u32, times: u32| -> Result<(String, Plan, Nanos)> {
        let text =
            plan::plan_text("quick", &lengthened(head, times), (FIRST_LOOK, rounds), systems);
        let origin = Path::new("quick");
        let file = run::with_cpus(input::with_workload_file(plan::read(&text, "quick")?, origin)?);
        let plan = run::expand(&file, builds, host)?;
        let time = plan::estimate(&plan).time;
        Ok((text, plan, time))
    };
    let mut head = head.to_owned();
    let mut least = made(&head, FIRST_LOOK, 1)?;
    // Fewer systems at a time need less: the base and one other, then one.
    for (now, less) in [(INTERLEAVE, IN_PAIRS), (IN_PAIRS, "")] {
        if plan::estimate(&least.1).peak_memory > host.memory {
            head = head.replace(now, less);
            least = made(&head, FIRST_LOOK, 1)?;
        }
    }
    let (_, plan, of_least) = &least;
    let noise = Noise::of(lab, plan)?;
    // The time grows in proportion to the rounds, and that of each round to its windows.
    let round = made(&head, FIRST_LOOK + 1, 1)?.2.saturating_sub(*of_least);
    let windows = made(&head, FIRST_LOOK, 2)?.2.saturating_sub(*of_least).0;
    let windows = Nanos(windows / u64::from(FIRST_LOOK));
    let once = of_least.saturating_sub(Nanos(round.0 * u64::from(FIRST_LOOK)));
    let most = (LONGEST_WINDOW.0 / foreseen::window(plan).0.max(1)).max(1) as u32;
    let budget = Budget { time, once, round, windows };
    let chosen = noise.choose(&budget, plan, FIRST_LOOK..=MOST_ROUNDS, most);
    let (text, plan, time) = match chosen {
        Some((rounds, times)) => made(&head, rounds, times)?,
        None => least,
    };
    Ok(Sized { text, plan, time, noise })
}

/// The text with windows so many times as long.
fn lengthened(head: &str, times: u32) -> String {
    let line = |line: &str| {
        let (key, length) = line.split_once('=')?;
        let length: u32 = length.trim().parse().ok()?;
        let is_window = WINDOWS.contains(&key.trim());
        is_window.then(|| format!("{key}= {}\n", length.saturating_mul(times)))
    };
    head.lines().map(|text| line(text).unwrap_or_else(|| format!("{text}\n"))).collect()
}

#[cfg(test)]
mod tests {
    use model::{Bytes, HostShape};

    use super::*;

    const HOST: HostShape = HostShape { cpus: 2, memory: Bytes(8 << 30) };

    fn args(systems: &[&str], workload: &str, minutes: u64) -> InitArgs {
        InitArgs {
            systems: systems.iter().map(|&name| name.to_owned()).collect(),
            workload: workload.to_owned(),
            minutes: Nanos::from_secs(60 * minutes),
            set: Vec::new(),
        }
    }

    #[test]
    fn every_size_is_a_plan_that_fits_its_time_or_the_smallest() {
        let builds = Builds::of_user().unwrap();
        for workload in ["micro", "insert", "tpcc"] {
            let mut before = 0;
            for minutes in [1, 3, 10, 30, 60, 240] {
                let args = args(&["sqlite/wal", "sqlite/rollback"], workload, minutes);
                let sized =
                    sized(&args, &systems(&args, "").unwrap(), &builds, (HOST, None)).unwrap();

                assert!(
                    sized.time <= args.minutes || minutes < 10,
                    "{workload} {minutes}: {}",
                    sized.time
                );
                assert!((FIRST_LOOK..=MOST_ROUNDS).contains(&sized.plan.rounds));
                assert!(foreseen::window(&sized.plan) <= LONGEST_WINDOW);
                let measured = sized.plan.steps.iter().filter(|step| step.measured);
                let windows = measured.filter_map(|step| step.window).map(|window| window.0);
                let size = windows.sum::<u64>() * u64::from(sized.plan.rounds);
                assert!(
                    size >= before || minutes > 10,
                    "{workload} {minutes}: {size} after {before}"
                );
                before = size;
            }
        }
    }

    #[test]
    fn every_size_of_the_catalog_can_be_lengthened() {
        let text = "rows = 2\nread_seconds   = 2\nseconds = \"formula\"\n# scan_seconds";
        let long = "rows = 2\nread_seconds   = 6\nseconds = \"formula\"\n# scan_seconds\n";
        assert_eq!(lengthened(text, 3), long);
        let catalog = Builds::of_user().unwrap().catalog;
        for workload in ["micro", "insert", "tpcc"] {
            for head in catalog.quick(workload) {
                assert_ne!(lengthened(head, 2), lengthened(head, 1), "{head}");
            }
        }
    }

    #[test]
    fn one_system_needs_a_setting() {
        let one = args(&["sqlite/wal"], "micro", 10);
        let error = systems(&one, "").unwrap_err().to_string();
        assert!(error.starts_with("name two systems, or one and a setting"), "{error}");
    }
}
