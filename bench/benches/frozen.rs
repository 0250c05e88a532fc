//! What standing still changes for a server: it sees time jump, and its timed work is more frequent by its own clock.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use bench::{OneCpu, Table, heading, note, servers};
use lab::Site;
use model::{Counter, Readings};
use probes::{Detail, Probe, Watch};

/// Systems that take turns beside the one that is measured: it stands still for as many turns.
const BESIDE: [u32; 3] = [0, 1, 3];
const TURN: Duration = Duration::from_millis(500);
const TURNS: u32 = 20;
/// Each number of systems has its spell in each cycle, so that all meet the same weather.
const CYCLES: u32 = 3;
const UPDATE: &str = "UPDATE t SET k = k + 1 WHERE id = ";

const MEASURES: &str = "A server runs for 20 turns of 500 ms and stands still between them, as if so many other \
     systems took their turns. Three such spells of each, one after the other, idle and then with a client that \
     updates random rows, a transaction each, on the server's CPU. All numbers are per second or operation of the \
     server's own clock.";

fn main() -> Result<()> {
    if !bench::is_asked_for() {
        return Ok(());
    }
    heading("Servers that stand still", MEASURES)?;
    let mut table = Table::new([
        "server",
        "systems beside it",
        "idle: CPU, ms/s",
        "idle: switches/s",
        "updates/s",
        "CPU, µs/update",
        "written, KB/update",
        "switches/update",
    ]);
    for server in servers() {
        measure(&server, &mut table)?;
    }
    table.print("");
    Ok(())
}

fn measure(server: &str, table: &mut Table<8>) -> Result<()> {
    let mut one = OneCpu::start(server)?;
    let (done, is_over) = (AtomicU64::new(0), AtomicBool::new(false));
    note(&format!("{server}: idle"));
    let idle = cycles(one.site.as_mut(), &done)?;
    let client = one.client();
    let updating = thread::scope(|scope| {
        let client = scope.spawn(|| client.send(UPDATE, 0, &done, &is_over));
        thread::sleep(Duration::from_secs(5));
        note(&format!("{server}: updates"));
        let updating = cycles(one.site.as_mut(), &done);
        is_over.store(true, Ordering::Relaxed);
        one.site.thaw()?;
        client.join().ok().context("the client panicked")??;
        updating
    })?;
    one.stop()?;
    for ((beside, idle), updating) in BESIDE.into_iter().zip(idle).zip(updating) {
        let operations = updating.operations as f64;
        table.row([
            server.to_owned(),
            beside.to_string(),
            format!("{:.2}", idle.per_second(Counter::SERVER_CPU)? / 1e6),
            format!("{:.0}", idle.per_second(Counter::SERVER_CS)?),
            format!("{:.0}", operations / updating.time.as_secs_f64()),
            format!("{:.2}", updating.of(Counter::SERVER_CPU)? / operations / 1e3),
            format!("{:.2}", updating.of(Counter::SERVER_WRITTEN)? / operations / 1e3),
            format!("{:.2}", updating.of(Counter::SERVER_CS)? / operations),
        ]);
    }
    Ok(())
}

/// What a server did in spells, by its own clock.
#[derive(Default)]
struct Spent {
    time: Duration,
    readings: Option<Readings>,
    operations: u64,
}

impl Spent {
    fn of(&self, counter: &str) -> Result<f64> {
        let value = self.readings.as_ref().and_then(|readings| readings.get(counter));
        Ok(value.with_context(|| format!("{counter} cannot be read"))? as f64)
    }

    fn per_second(&self, counter: &str) -> Result<f64> {
        Ok(self.of(counter)? / self.time.as_secs_f64())
    }

    fn add(&mut self, time: Duration, readings: Readings, operations: u64) {
        self.time += time;
        self.operations += operations;
        self.readings = Some(match &self.readings {
            Some(before) => before.plus(&readings),
            None => readings,
        });
    }
}

/// The sums of all cycles, in the order of [`BESIDE`].
fn cycles(site: &mut dyn Site, done: &AtomicU64) -> Result<[Spent; BESIDE.len()]> {
    let watch = Watch { server: site.pid(), ..Watch::default() };
    let mut probes = probes::all(&watch);
    let mut spent = <[Spent; BESIDE.len()]>::default();
    for _ in 0..CYCLES {
        for (beside, spent) in BESIDE.into_iter().zip(&mut spent) {
            let (before, first) = (read(&mut probes), done.load(Ordering::Relaxed));
            let time = spell(site, beside)?;
            let operations = done.load(Ordering::Relaxed) - first;
            spent.add(time, read(&mut probes).since(&before), operations);
        }
    }
    Ok(spent)
}

fn read(probes: &mut [Box<dyn Probe>]) -> Readings {
    probes::read_all(probes, Detail::Edge).0
}

/// The time for which the server ran; it stands still at the end.
fn spell(site: &mut dyn Site, beside: u32) -> Result<Duration> {
    let mut ran = Duration::ZERO;
    for turn in 1..=TURNS {
        let began = Instant::now();
        site.thaw()?;
        thread::sleep(TURN);
        if beside > 0 || turn == TURNS {
            site.freeze(&mut || ran += began.elapsed())?;
            thread::sleep(TURN * beside);
        } else {
            ran += began.elapsed();
        }
    }
    Ok(ran)
}
