//! Two hundred clients: is an interval or an operation lost, is the rate kept, what do they cost? And
//! does memory grow with the length of a run?

use anyhow::{Context, Result};
use bench::{Scratch, Table, forget_peak, heading, note, peak_memory, resident, servers, within};
use load::{Recorder, StepClock};
use model::{
    Bytes, Counter, Counts, Event, Interval, KindSpec, Nanos, RunId, Step, StepId, StepRecord,
    Subject, TrialKey,
};

const CLIENTS: usize = 200;
const STEP: &str = "qp100";
/// Largest resident memory of the client.
const GOAL: Bytes = Bytes(100_000_000);

const MEASURES: &str = "200 clients, each with its own table, an inserter at 100 rows/s, a deleter in \
     step with it, a scout for MIN(pk) and a query session as fast as it goes (600 threads, 800 \
     connections), for 20 s; through the lab, probes and store included. Goals: no interval and no \
     operation lost, less than 100 MB of memory.";

const HOURS: &str = "Four hours of them by simulation: each client records 2 inserts, 2 deletes and 50 \
     queries a second through the recorder, each second is stored with its histograms. Goal: once the \
     page cache of the store is full (2 MB), memory does not grow with the length of a run.";

fn main() -> Result<()> {
    if !bench::is_asked_for() {
        return Ok(());
    }
    // First, while the process has no memory of a bigger past.
    heading("200 clients for hours", HOURS)?;
    simulate()?.print("");
    heading("200 clients", MEASURES)?;
    let mut table = Table::new([
        "server",
        "intervals seen and stored of",
        "operations in them of",
        "none lost",
        "rows/s of 20000",
        "seconds on target",
        "operations/s",
        "client's share of one core",
        "peak memory",
        "under 100 MB",
    ]);
    for server in servers() {
        measure(&server, &mut table)?;
    }
    table.print("");
    Ok(())
}

/// A server with room for all connections.
fn server_plan(server: &str) -> String {
    plan(&format!(
        r#"
        build = "{server}"
        config = "quick"
        set = {{ max_connections = 1000 }}
        "#
    ))
}

fn plan(system: &str) -> String {
    format!(
        r#"
        name = "clients"
        rounds = 1
        quarantine = false
        [workload]
        kind = "insert"
        scale = "tiny"
        clients = {CLIENTS}
        rows = 1_000
        rates = [100]
        queries = ["point"]
        query_seconds = 20
        secondary_indexes = 0
        steps = ["l.i0", "{STEP}"]
        [[system]]
        {system}
        "#
    )
}

/// Intervals as they came, and what they held.
#[derive(Debug, Default, PartialEq, Eq)]
struct Sum {
    intervals: u32,
    operations: u64,
    /// Latencies in the histograms; one for each operation.
    latencies: u64,
    rows: u64,
}

impl Sum {
    /// Adds an interval if it is the next one.
    fn add(&mut self, interval: &Interval) {
        self.intervals += u32::from(interval.index == self.intervals);
        for kind in &interval.kinds {
            self.operations += kind.ops;
            self.latencies += kind.service.count();
            self.rows += kind.rows;
        }
    }

    fn expected(record: &StepRecord) -> Self {
        let operations = record.kinds.iter().map(|kind| kind.sums.ops).sum();
        Self {
            intervals: record.window.0.div_ceil(Nanos::SECOND.0) as u32,
            operations,
            latencies: operations,
            rows: record.kinds.iter().map(|kind| kind.sums.rows).sum(),
        }
    }
}

fn measure(server: &str, table: &mut Table<10>) -> Result<()> {
    forget_peak()?;
    let mut scratch = Scratch::new()?;
    let (mut seen, mut record, mut at_step) = (Sum::default(), None, false);
    let run = scratch.carry_out(&server_plan(server), &mut |event| match event {
        Event::StepStarted { step } => {
            note(&format!("{server}: {}", step.id));
            at_step = step.id.0 == STEP;
        }
        Event::IntervalClosed { interval } if at_step => seen.add(interval),
        Event::StepFinished { record: it } if at_step => record = Some(StepRecord::clone(it)),
        _ => {}
    })?;
    let peak = peak_memory()?;
    let record = record.context("the step has no record")?;
    let stored = stored(&scratch, &run)?;
    let expected = Sum::expected(&record);
    let seconds = record.window.as_secs_f64();
    let insert = record.kinds.iter().find(|k| k.spec.name == "insert");
    let rows = insert.context("no inserts")?.sums.rows as f64 / seconds;
    let cpu = record.counters.get(Counter::CLIENT_CPU).unwrap_or(0) as f64 / 1e9;
    let (met, of) = record.seconds_on_target.unwrap_or_default();
    table.row([
        server.to_owned(),
        format!("{}, {} of {}", seen.intervals, stored.intervals, expected.intervals),
        format!("{} of {}", stored.operations, expected.operations),
        within(seen == expected && stored == expected),
        format!("{rows:.0}"),
        format!("{met} of {of}"),
        format!("{:.0}", expected.operations as f64 / seconds),
        format!("{:.0} %", cpu / seconds * 100.0),
        peak.to_string(),
        within(peak < GOAL),
    ]);
    Ok(())
}

/// The intervals as they are read back from the store.
fn stored(scratch: &Scratch, run: &RunId) -> Result<Sum> {
    let store = &scratch.lab.store;
    let mut sum = Sum::default();
    store.each_second(run, |place, interval| -> Result<()> {
        if place.step.0 == STEP {
            sum.add(interval);
        }
        Ok(())
    })?;
    Ok(sum)
}

/// Operation kinds of the simulation, whether they are scheduled, and operations a second and client.
const KINDS: [(&str, bool, u64); 3] =
    [("query", false, 50), ("insert", true, 2), ("delete", true, 2)];

/// Seconds after which memory is looked at.
const LOOKS: [u32; 6] = [60, 600, 3600, 7200, 10_800, 14_400];

fn simulate() -> Result<Table<3>> {
    let kinds = KINDS.map(|(name, scheduled, _)| KindSpec { name: name.to_owned(), scheduled });
    let mut scratch = Scratch::new()?;
    let plan = bench::expand(&plan("build = \"sqlite\""), &scratch.lab.host()?)?;
    let run = scratch.lab.begin(&plan, env!("CARGO_PKG_VERSION"))?;
    let store = &mut scratch.lab.store;
    let key = TrialKey { round: 1, position: 1, system: plan.base };
    let trial = store.begin_trial(&run, &key, "2026-01-01T00:00:00Z")?;
    let subject = Subject { kind: "query".to_owned(), counts: Counts::Operations };
    let planned = Step::new(StepId::new(STEP), 0, CLIENTS as u32, subject);
    let step = store.begin_step(trial, &Step { kinds: kinds.to_vec(), ..planned })?;
    let recorder = Recorder::new(kinds.to_vec(), CLIENTS * KINDS.len(), Nanos::SECOND);
    let clock = StepClock::start();
    let mut clients: Vec<_> =
        (0..CLIENTS * KINDS.len()).map(|client| recorder.client(client, &clock)).collect();
    let mut table = Table::new(["simulated seconds", "operations", "resident memory"]);
    let mut operations = 0;
    for second in 0..14_400 {
        for (client, place) in clients.iter_mut().zip((0..KINDS.len()).cycle()) {
            operations += record_second(client, place, second);
        }
        let end = Nanos::from_secs(u64::from(second) + 1);
        store.add_interval(step, &recorder.interval(second, Nanos::SECOND, end))?;
        if LOOKS.contains(&(second + 1)) {
            let (second, memory) = (second + 1, resident()?);
            table.row([second.to_string(), operations.to_string(), memory.to_string()]);
        }
    }
    Ok(table)
}

/// A second's records of a thread of kind `place`: evenly spread, from 0.1 ms to 0.9 ms each.
fn record_second(client: &mut load::ClientRecorder, place: usize, second: u32) -> u64 {
    let Some((_, scheduled, operations)) = KINDS.get(place) else {
        return 0;
    };
    for n in 0..*operations {
        let start = Nanos::from_secs(u64::from(second)) + Nanos(n * Nanos::SECOND.0 / operations);
        let service = Nanos(100_000 + (u64::from(second) * 7919 + n * 104_729) % 800_000);
        client.record(place, start, scheduled.then_some(start), start + service, 1);
    }
    *operations
}
