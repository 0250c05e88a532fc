//! Writes a synthetic run as large as a big real one and says how long it takes to read it back:
//! 4 systems × 10 steps × 6 rounds × 1,800 intervals, or fewer rounds and seconds.
//!
//! `cargo run --release -p bench --example big_run -- DIRECTORY [ROUNDS [SECONDS]]` leaves
//! `lab.sqlite` in the directory. Where it is there already, it is only read.

use std::io::{Write, stdout};
use std::path::Path;
use std::time::Instant;

use model::{Interval, KindInterval, Nanos, Rng, measure};
use store::{Store, TrialId, Want};
use testkit::fixtures;

mod made_up;

use made_up::{Kind, Result, STEPS};

const SYSTEMS: [&str; 4] = ["base", "faster", "slower", "control"];
/// The operation kinds of every step.
const KINDS: [Kind; 3] = [("insert", true), ("delete", true), ("query", false)];
/// Latencies recorded in each second for each kind.
const SAMPLES: u64 = 50;
/// Different seconds made for each step; the others repeat them.
const VARIETY: u32 = 20;

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let directory = arguments.next().ok_or("usage: big_run DIRECTORY [ROUNDS [SECONDS]]")?;
    let rounds = arguments.next().map_or(Ok(6), |text| text.parse())?;
    let seconds = arguments.next().map_or(Ok(1800), |text| text.parse())?;
    let path = Path::new(&directory).join("lab.sqlite");
    let mut out = stdout();
    if !path.exists() {
        let begin = Instant::now();
        let written = write_run(&path, rounds, seconds)?;
        let each = begin.elapsed() / written.max(1);
        writeln!(out, "{written} intervals written, {each:?} each")?;
    }
    writeln!(out, "{} MiB", std::fs::metadata(&path)?.len() >> 20)?;
    let store = Store::open(&path)?;
    let run = store.latest_run()?.ok_or("the lab has no run")?;
    for attempt in 1..=3 {
        let begin = Instant::now();
        let want = Want { series: true, histograms: true };
        let data = store.load(&run, want)?;
        let intervals: usize = data.series.iter().map(|s| s.spans.len()).sum();
        writeln!(
            out,
            "read {attempt}: {intervals} intervals, {} cells, {} histograms in {:?}",
            data.cells.len(),
            data.histograms.len(),
            begin.elapsed()
        )?;
    }
    Ok(())
}

/// Writes the run and says how many intervals it has.
fn write_run(path: &Path, rounds: u32, seconds: u32) -> Result<u32> {
    let plan = fixtures::plan(&SYSTEMS, rounds);
    let steps = STEPS.len() as u32;
    let mut rng = Rng::new(1);
    let mut store = Store::open(path)?;
    made_up::write_run(&mut store, &plan, (steps, seconds), |store, trial, system, ordinal| {
        // One system is 5 % faster than the base and one 5 % slower; each trial varies by 1 %.
        let slowness = match system {
            "faster" => 0.95,
            "slower" => 1.05,
            _ => 1.0,
        } * (0.99 + 0.02 * rng.unit());
        write_step(store, trial, ordinal, (seconds, slowness), &mut rng)
    })?;
    Ok(plan.trials().len() as u32 * steps * seconds)
}

fn write_step(
    store: &mut Store,
    trial: TrialId,
    ordinal: u32,
    (seconds, slowness): (u32, f64),
    rng: &mut Rng,
) -> Result<()> {
    let step = STEPS[ordinal as usize];
    let row = store.begin_step(trial, &made_up::step(step, ordinal, &KINDS))?;
    let mut some: Vec<Interval> = (0..VARIETY.min(seconds))
        .map(|_| made_up::second(&KINDS, SAMPLES, slowness, rng))
        .collect();
    let mut totals: Vec<KindInterval> = KINDS.map(|_| KindInterval::default()).into();
    for index in 0..seconds {
        let place = (index % VARIETY) as usize;
        let interval = some.get_mut(place).ok_or("no such second")?;
        interval.index = index;
        interval.start = Nanos::from_secs(u64::from(index));
        for (total, kind) in totals.iter_mut().zip(&interval.kinds) {
            total.merge(kind);
        }
        store.add_interval(row, interval)?;
    }
    let record = made_up::record(step, ordinal, seconds, &KINDS, totals);
    store.finish_step(row, &record, &measure(&record))?;
    Ok(())
}
