//! A large lab: the verbs that look at it, and the analysis of long histories.

use std::fs::File;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use bench::{Spread, Table, heading, note, within};
use model::{Bytes, Nanos, Rng};
use rustix::fs::{Advice, fadvise};
use stats::Series;
use store::Store;

const LIST: Nanos = Nanos::from_millis(200);
const COMPARE: Nanos = Nanos::from_secs(1);
const REPORT: Nanos = Nanos::from_secs(5);
const ANALYSE: Nanos = Nanos::from_millis(100);
const REPEATS: usize = 5;

const SERIES: usize = 500;
const POINTS: usize = 100;

const USAGE: &str = "lab LAB PROGRAM: a lab made by big_lab, and the backslide to run";

const MEASURES: &str = "The lab has 40 runs with 1,000 trials and 10 million intervals, made up by \
     `bench/examples/big_lab.rs`: `nightly` is 31 runs of 4 systems × 10 steps × 6 rounds × 1,000 \
     intervals, `micro` is 8 of 5 × 32 × 4 × 300, `grid` is one of 12 × 40 × 8 × 270. Each command is a \
     process of its own. The first time neither the lab nor the program is in the page cache. Goals: `list` \
     0.2 s, `compare` 1 s, `report` 5 s, both the first time and again.";

/// Plans of the lab, with their sizes rising.
const PLANS: [&str; 3] = ["micro", "nightly", "grid"];

fn main() -> Result<()> {
    let Some([lab, program]) = bench::arguments(USAGE) else {
        return Ok(());
    };
    heading("A lab of 1,000 trials", MEASURES)?;
    let missed = verbs(Path::new(&lab), Path::new(&program))? + analysis();
    ensure!(missed == 0, "goals that were missed: {missed}");
    Ok(())
}

/// A command line and how long it may take.
struct Verb {
    /// Its name in tables.
    name: String,
    arguments: Vec<String>,
    /// The report that it writes.
    report: Option<PathBuf>,
    goal: Option<Nanos>,
}

/// Times each verb; how many missed their goal.
fn verbs(lab: &Path, program: &Path) -> Result<u32> {
    let directory = tempfile::tempdir()?;
    let mut table = Table::new(["command", "first, s", "again, s", "goal", "reached", "size"]);
    let mut missed = 0;
    for verb in all(lab, directory.path())? {
        note(&verb.name);
        for file in [lab.join("lab.sqlite").as_path(), program] {
            drop_from_cache(file)?;
        }
        let first = took(lab, program, &verb)?;
        let mut again = Spread::default();
        for _ in 0..REPEATS {
            again.add(took(lab, program, &verb)?.as_secs_f64());
        }
        let reached = verb.goal.map(|goal| {
            let goal = goal.as_secs_f64();
            first.as_secs_f64() < goal && again.median() < goal
        });
        missed += u32::from(reached == Some(false));
        let size = verb.report.as_deref().map(std::fs::metadata).transpose()?;
        table.row([
            verb.name,
            format!("{:.2}", first.as_secs_f64()),
            format!("{again:.2}"),
            verb.goal.map_or_else(String::new, |goal| goal.to_string()),
            reached.map_or_else(String::new, within),
            size.map_or_else(String::new, |file| Bytes(file.len()).to_string()),
        ]);
    }
    table.print("");
    Ok(missed)
}

/// The timed commands, over the last run of each plan.
fn all(lab: &Path, reports: &Path) -> Result<Vec<Verb>> {
    let store = Store::open(&lab.join("lab.sqlite"))?;
    let runs = store.runs()?;
    let trials: u32 = runs.iter().map(|run| run.completed).sum();
    ensure!(trials == 1_000, "the lab has {trials} trials: big_lab makes 1,000");
    let verb = |name: &str, arguments: &[&str], goal| Verb {
        name: name.to_owned(),
        arguments: arguments.iter().map(|a| (*a).to_owned()).collect(),
        report: None,
        goal,
    };
    let mut verbs = vec![verb("list", &["list"], Some(LIST))];
    for plan in PLANS {
        let mut of_plan = runs.iter().rev();
        let run = of_plan
            .find(|run| run.info.plan.name == plan)
            .with_context(|| format!("the lab has no run of {plan}"))?;
        let run: &str = &run.info.id.0;
        let name = format!("compare, {plan}");
        verbs.push(verb(&name, &["compare", run], Some(COMPARE)));
        let name = format!("report, {plan}");
        let file = reports.join(format!("{plan}.html"));
        let file_name = file.to_string_lossy();
        let report = verb(&name, &["report", run, "-o", &file_name], Some(REPORT));
        verbs.push(Verb { report: Some(file.clone()), ..report });
    }
    let history = ["history", "--label", "trunk"];
    verbs.push(verb("history of the 31 nightly runs", &history, None));
    Ok(verbs)
}

fn took(lab: &Path, program: &Path, verb: &Verb) -> Result<Nanos> {
    let begin = Instant::now();
    let mut command = Command::new(program);
    let status = command
        .arg("--quiet")
        .arg("--lab")
        .arg(lab)
        .args(&verb.arguments)
        .stdout(Stdio::null())
        .status()?;
    let took = Nanos::from(begin.elapsed());
    // 10 and 11 are verdicts.
    let is_fine = matches!(status.code(), Some(0 | 10 | 11));
    ensure!(is_fine, "`{}` of {}: {status}", verb.name, program.display());
    Ok(took)
}

/// Takes a file out of the page cache.
fn drop_from_cache(path: &Path) -> Result<()> {
    let file = File::open(path)?;
    // Only clean pages can be dropped.
    file.sync_all()?;
    Ok(fadvise(file, 0, None, Advice::DontNeed)?)
}

/// Times the analysis of a family; how many goals were missed.
fn analysis() -> u32 {
    let family = family();
    let mut times = Spread::default();
    let mut changes: usize = 0;
    for _ in 0..REPEATS {
        let begin = Instant::now();
        let found = black_box(stats::analyse(&family));
        times.add(begin.elapsed().as_secs_f64());
        changes = found.iter().map(|series| series.changes.len()).sum();
    }
    let reached = times.median() < ANALYSE.as_secs_f64();
    let mut table = Table::new(["analysis", "time, s", "goal", "reached", "changes found"]);
    table.row([
        format!("{SERIES} series × {POINTS} points, one family"),
        format!("{times:.3}"),
        ANALYSE.to_string(),
        within(reached),
        changes.to_string(),
    ]);
    table.print("");
    u32::from(!reached)
}

/// Series that scatter by about 1 %; every fifth has a step of 5 % somewhere.
fn family() -> Vec<Series> {
    let mut rng = Rng::new(1);
    let series = (0..SERIES).map(|number| {
        let step = rng.below(POINTS as u64) as usize;
        let builds = (0..POINTS).map(|build| {
            let has_stepped = number % 5 == 0 && build >= step;
            let level = if has_stepped { -0.05 } else { 0.0 };
            vec![level + 0.025 * (rng.unit() + rng.unit() - 1.0)]
        });
        Series { builds: builds.collect(), margin: 0.02_f64.ln_1p(), ..Series::default() }
    });
    series.collect()
}
