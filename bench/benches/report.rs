//! The report of a big run: 4 systems × 10 steps × 6 rounds × 1,800 intervals.

use std::ffi::OsStr;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use bench::{Table, heading, peak_memory, within};
use model::{Bytes, Nanos, Rng};
use nix::sys::resource::{UsageWho, getrusage};
use report::Input;
use stats::{Options, Selection};
use store::{Store, Want};

/// Longest time from the store to the finished file.
const GOAL: Nanos = Nanos::from_secs(3);
/// Largest report.
const LARGEST: Bytes = Bytes(2_000_000);
const REPEATS: u32 = 3;

const USAGE: &str = "report LAB PROGRAM: a lab with the run of big_run, and the backslide to run";

const MEASURES: &str = "`backslide report -o FILE` over a made-up run of 4 systems × 10 steps × 6 rounds \
     × 1,800 intervals (written by `bench/examples/big_run.rs`), the whole command; then its \
     parts in this process. Goal: under 3 s and under 2 MB.";

fn main() -> Result<()> {
    let Some([lab, program]) = bench::arguments(USAGE) else {
        return Ok(());
    };
    heading("Report of a big run", MEASURES)?;
    // First, because the peak memory of a child is never below its parent's.
    command(Path::new(&lab), Path::new(&program))?;
    parts(Path::new(&lab))?;
    heading("An import of many tests", IMPORTED)?;
    imported(Path::new(&program))
}

/// Tests and rounds of the import; two systems.
const TESTS: u32 = 20_000;
const ROUNDS: u32 = 3;

const IMPORTED: &str = "An import of 20,000 tests of 2 systems in 3 rounds: each command as a whole. Goal: `compare` under \
     2 s, `report` under 5 s.";

fn imported(program: &Path) -> Result<()> {
    let directory = tempfile::tempdir()?;
    let [csv, lab, page] =
        ["tests.csv", "lab", "page.html"].map(|name| directory.path().join(name));
    let mut rng = Rng::new(1);
    let mut text = "system,step,metric,value,round\n".to_owned();
    for test in 0..TESTS {
        for (system, round) in ["mysql-8.0.31", "mysql-9.7.4"]
            .iter()
            .flat_map(|system| (1..=ROUNDS).map(move |round| (system, round)))
        {
            let value = 1000.0 * (1.0 + 0.02 * rng.unit());
            writeln!(text, "{system},test-{test},rate,{value:.2},{round}")?;
        }
    }
    std::fs::write(&csv, text)?;
    let run = |arguments: &[&OsStr]| -> Result<Nanos> {
        let begin = Instant::now();
        let mut command = Command::new(program);
        command.arg("--quiet").args(arguments).arg("--lab").arg(&lab);
        let status = command.stdout(Stdio::null()).status()?;
        // Nothing certainly differs, which has a status of its own.
        let is_fine = matches!(status.code(), Some(0 | 11));
        ensure!(is_fine, "{} failed: {status}", program.display());
        Ok(Nanos::from(begin.elapsed()))
    };
    let mut table = Table::new(["command", "time", "goal met"]);
    for (name, arguments, goal) in [
        ("import", vec![OsStr::new("import"), csv.as_os_str()], None),
        ("compare", vec![OsStr::new("compare")], Some(2)),
        ("report", vec![OsStr::new("report"), OsStr::new("-o"), page.as_os_str()], Some(5)),
    ] {
        let took = run(&arguments)?;
        let met = goal.map_or_else(String::new, |goal| within(took < Nanos::from_secs(goal)));
        table.row([name.to_owned(), took.to_string(), met]);
    }
    table.print("");
    Ok(())
}

fn command(lab: &Path, program: &Path) -> Result<()> {
    let directory = tempfile::tempdir()?;
    let file: PathBuf = directory.path().join("report.html");
    let mut table =
        Table::new(["command", "time", "under 3 s", "CPU", "peak memory", "size", "under 2 MB"]);
    for _ in 0..REPEATS {
        let (begin, cpu) = (Instant::now(), child_cpu()?);
        let status = Command::new(program)
            .args(["--quiet", "report", "-o"])
            .arg(&file)
            .arg("--lab")
            .arg(lab)
            .stdout(Stdio::null())
            .status()?;
        let took = Nanos::from(begin.elapsed());
        ensure!(status.success(), "{} failed", program.display());
        let size = Bytes(std::fs::metadata(&file)?.len());
        table.row([
            "backslide report".to_owned(),
            took.to_string(),
            within(took < GOAL),
            (child_cpu()? - cpu).to_string(),
            Bytes((children()?.max_rss() as u64) << 10).to_string(),
            size.to_string(),
            within(size < LARGEST),
        ]);
    }
    table.print("Its parts, once:\n");
    Ok(())
}

fn children() -> Result<nix::sys::resource::Usage> {
    Ok(getrusage(UsageWho::RUSAGE_CHILDREN)?)
}

fn child_cpu() -> Result<Nanos> {
    let usage = children()?;
    let micros = [usage.user_time(), usage.system_time()]
        .map(|time| time.tv_sec() as u64 * 1_000_000 + time.tv_usec() as u64);
    Ok(Nanos(micros.iter().sum::<u64>() * 1000))
}

fn parts(lab: &Path) -> Result<()> {
    let mut table = Table::new(["part", "time", "peak memory after it"]);
    let mut begin = Instant::now();
    let mut part = |name: String| -> Result<()> {
        let took = Nanos::from(begin.elapsed());
        table.row([name, took.to_string(), peak_memory()?.to_string()]);
        begin = Instant::now();
        Ok(())
    };
    let store = Store::open(&lab.join("lab.sqlite"))?;
    let run = store.latest_run()?.context("the lab has no run")?;
    let want = Want { series: true, histograms: true };
    let data = store.load(&run, want)?;
    let intervals: usize = data.series.iter().map(|series| series.spans.len()).sum();
    part(format!("load {intervals} intervals"))?;
    let options = Options { metrics: Selection::All, ..Options::default() };
    let comparisons = stats::compare(&data, &options)?;
    part(format!("compare: {} comparisons", comparisons.len()))?;
    let page = report::Report::new(&Input::new(&data, &comparisons)).html();
    part(format!("html: {} bytes", page.len()))?;
    table.print("");
    Ok(())
}
