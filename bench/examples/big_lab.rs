//! Writes a lab as large as years of use leave it: 40 runs, 1,000 trials, 10 million intervals, about 4 GiB.
//!
//! `cargo run --release -p bench --example big_lab -- DIRECTORY` leaves `lab.sqlite` in the directory, which must
//! not have one. A minute or two.
//!
//! Of each step the store writes the first seconds, as it does in a run; all others are copies of these with a
//! start of their own, which go past the store into its file: it has no fast way to keep what nobody measures.

use std::io::{Write, stdout};
use std::path::{Path, PathBuf};
use std::time::Instant;

use model::{Nanos, Plan, Rng, measure};
use rusqlite::{Connection, params};
use store::{Store, TrialId, Want};
use testkit::fixtures;

mod made_up;

use made_up::{Kind, Result, STEPS};

/// Runs of one plan.
struct Shape {
    plan: &'static str,
    runs: u32,
    systems: usize,
    rounds: u32,
    steps: u32,
    /// Of each step.
    seconds: u32,
}

/// 96, 160 and 744 trials with 1.0, 1.5 and 7.4 million intervals.
const SHAPES: [Shape; 3] = [
    Shape { plan: "grid", runs: 1, systems: 12, rounds: 8, steps: 40, seconds: 270 },
    Shape { plan: "micro", runs: 8, systems: 5, rounds: 4, steps: 32, seconds: 300 },
    Shape { plan: "nightly", runs: 31, systems: 4, rounds: 6, steps: 10, seconds: 1_000 },
];

/// The first systems of every plan; further ones have numbers.
const SYSTEMS: [&str; 2] = ["release", "trunk"];
/// The operation kinds of every step.
const KINDS: [Kind; 2] = [("insert", true), ("query", false)];
/// Seconds of each step that the store writes.
const WRITTEN: u32 = 4;
/// Latencies recorded in each second for each kind. A run has more; the lab would have three times the size.
const SAMPLES: u64 = 4;
/// Latencies in the histograms of a whole step.
const SAMPLES_OF_STEP: u64 = 2_000;

fn main() -> Result<()> {
    let directory = std::env::args().nth(1).ok_or("usage: big_lab DIRECTORY")?;
    let path = Path::new(&directory).join("lab.sqlite");
    if path.exists() {
        return Err(format!("{} is there already", path.display()).into());
    }
    let mut out = stdout();
    let mut writer = Writer::new(path)?;
    for shape in &SHAPES {
        let begin = Instant::now();
        for number in 0..shape.runs {
            writer.write_run(shape, number)?;
        }
        writeln!(
            out,
            "{}: {} runs of {} systems × {} rounds × {} steps × {} s in {:.0?}",
            shape.plan,
            shape.runs,
            shape.systems,
            shape.rounds,
            shape.steps,
            shape.seconds,
            begin.elapsed()
        )?;
    }
    writer.check()?;
    let size = std::fs::metadata(&writer.path)?.len() >> 20;
    writeln!(out, "{} intervals, {size} MiB", writer.intervals)?;
    Ok(())
}

struct Writer {
    path: PathBuf,
    store: Store,
    /// Writes the copies.
    copies: Connection,
    rng: Rng,
    intervals: u64,
}

impl Writer {
    fn new(path: PathBuf) -> Result<Self> {
        let store = Store::open(&path)?;
        let copies = Connection::open(&path)?;
        // A lab that is cut short is made again.
        copies.pragma_update(None, "synchronous", "OFF")?;
        // A copy refers to what its original refers to.
        copies.pragma_update(None, "foreign_keys", false)?;
        Ok(Self { path, store, copies, rng: Rng::new(1), intervals: 0 })
    }

    fn write_run(&mut self, shape: &Shape, number: u32) -> Result<()> {
        // While somebody reads the file as it was before the run, the store's log is not moved into it: that
        // would wait for the disk after each of 16,000 steps.
        let reader = Connection::open(&self.path)?;
        let before = reader.unchecked_transaction()?;
        let _runs: u32 = before.query_row("SELECT count(*) FROM run", [], |row| row.get(0))?;
        // Trunk has lost 5 % since the middle of its runs.
        let has_lost = number * 2 >= shape.runs;
        let (steps, seconds) = (shape.steps, shape.seconds);
        let Self { store, copies, rng, intervals, .. } = self;
        made_up::write_run(
            store,
            &plan(shape),
            (steps, seconds),
            |store, trial, system, ordinal| {
                let level = if has_lost && system == "trunk" { 1.05 } else { 1.0 };
                let slowness = level * (0.99 + 0.02 * rng.unit());
                *intervals += u64::from(seconds);
                write_step(store, copies, rng, (trial, ordinal), (seconds, slowness))
            },
        )?;
        drop(before);
        self.copies.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
        Ok(())
    }

    /// What went past the store must be what it reads: each second at its own place.
    fn check(&self) -> Result<()> {
        let run = self.store.latest_run()?.ok_or("the lab has no run")?;
        let want = Want { series: true, histograms: false };
        for series in self.store.load(&run, want)?.series {
            let starts = series.spans.iter().map(|(start, _)| *start as usize);
            if !starts.eq(0..series.spans.len()) || series.spans.len() <= WRITTEN as usize {
                return Err(format!("the seconds of step {} are not in order", series.step).into());
            }
        }
        Ok(())
    }
}

fn write_step(
    store: &mut Store,
    copies: &mut Connection,
    rng: &mut Rng,
    (trial, ordinal): (TrialId, u32),
    (seconds, slowness): (u32, f64),
) -> Result<()> {
    let name = step_name(ordinal);
    let row = store.begin_step(trial, &made_up::step(name.as_str(), ordinal, &KINDS))?;
    for index in 0..WRITTEN.min(seconds) {
        let mut second = made_up::second(&KINDS, SAMPLES, slowness, rng);
        second.index = index;
        second.start = Nanos::from_secs(index.into());
        store.add_interval(row, &second)?;
    }
    copy_seconds(copies, seconds)?;
    // What each kind does in the whole step.
    let totals = KINDS.map(|(_, scheduled)| {
        let mut total = made_up::kind(scheduled, SAMPLES_OF_STEP, slowness, rng);
        total.ops *= u64::from(seconds);
        total.rows *= u64::from(seconds);
        total
    });
    let record = made_up::record(&name, ordinal, seconds, &KINDS, totals.into());
    store.finish_step(row, &record, &measure(&record))?;
    Ok(())
}

/// Fills the step that was begun last with copies of its first seconds.
fn copy_seconds(copies: &mut Connection, seconds: u32) -> Result<()> {
    let change = copies.transaction()?;
    let step: i64 = change.query_row("SELECT max(id) FROM step", [], |row| row.get(0))?;
    let first = first_seconds(&change, step)?;
    {
        let mut interval = change
            .prepare_cached("INSERT INTO interval (step, number, numbers) VALUES (?1, ?2, ?3)")?;
        let mut detail = change.prepare_cached(
            "INSERT INTO interval_detail (step, number, latency, readings)
             VALUES (?1, ?2, ?3, ?4)",
        )?;
        for (index, second) in (WRITTEN..seconds).zip(first.iter().cycle()) {
            interval.execute(params![step, index, with_start(&second.numbers, index)])?;
            detail.execute(params![step, index, second.latency, second.readings])?;
        }
    }
    change.commit()?;
    Ok(())
}

/// A second as the store wrote it.
struct Second {
    numbers: Vec<u8>,
    latency: Vec<u8>,
    readings: Vec<u8>,
}

fn first_seconds(state: &Connection, step: i64) -> Result<Vec<Second>> {
    let mut query = state.prepare_cached(
        "SELECT numbers, latency, readings
         FROM interval JOIN interval_detail USING (step, number) WHERE step = ?1 ORDER BY number",
    )?;
    let seconds = query.query_map([step], |row| {
        Ok(Second { numbers: row.get(0)?, latency: row.get(1)?, readings: row.get(2)? })
    })?;
    Ok(seconds.collect::<std::result::Result<_, _>>()?)
}

/// The column `numbers` of another second: its first number is the start, in LEB128 (`src/interval.rs`).
fn with_start(numbers: &[u8], second: u32) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(numbers.len() + 8);
    let mut start = Nanos::from_secs(second.into()).0;
    while start > 0x7f {
        bytes.push(start as u8 | 0x80);
        start >>= 7;
    }
    bytes.push(start as u8);
    // The last byte of a number is the first below 0x80.
    bytes.extend(numbers.iter().skip_while(|byte| **byte > 0x7f).skip(1));
    bytes
}

/// The shape's plan.
fn plan(shape: &Shape) -> Plan {
    let names = SYSTEMS.iter().map(|name| (*name).to_owned());
    let names = names.chain((1..).map(|number| format!("branch-{number}")));
    let names: Vec<String> = names.take(shape.systems).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut plan = fixtures::plan(&names, shape.rounds);
    shape.plan.clone_into(&mut plan.name);
    plan
}

/// Those of the Insert Benchmark, then others.
fn step_name(ordinal: u32) -> String {
    STEPS.get(ordinal as usize).map_or_else(|| format!("q{ordinal}"), |name| (*name).to_owned())
}
