//! What sampling the stacks of a server costs it: point selects, with the sampler and without it by turns.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use bench::{OneCpu, Table, heading, note, servers, within};
use model::System;
use profiles::Sampler;

/// The largest loss of throughput that is allowed.
const GOAL: f64 = 0.03;
/// Blocks with the sampler; there are as many without it, each beside one with it.
const PAIRS: u32 = 20;
const BLOCK: Duration = Duration::from_secs(8);
/// The kernel looks for events of switches one second longer than there are any.
const LEAD_IN: Duration = Duration::from_millis(1500);
const CLIENTS: u64 = 2;
const SELECT: &str = "SELECT c FROM t WHERE id = ";

const MEASURES: &str = "Point selects per second of two clients, prepared, on the server's CPU. The \
     sampler of profiled rounds is on and off alternately for 8 s each, and the order changes from pair to \
     pair. It takes 200 to 250 stacks per second of CPU time, and the switches that its budget allows. It may use \
     any CPU, as in a trial. The loss is the mean of the middle half of the pairs; the interval is that of \
     the mean of all at 95 %.";

fn main() -> Result<()> {
    if !bench::is_asked_for() {
        return Ok(());
    }
    heading("Sampled servers", MEASURES)?;
    let mut table = Table::new(["server", "selects/s", "slower by", "interval", "at most 3 %"]);
    for server in servers() {
        measure(&server, &mut table)?;
    }
    table.print("");
    Ok(())
}

fn measure(server: &str, table: &mut Table<5>) -> Result<()> {
    let one = OneCpu::start(server)?;
    let (done, is_over) = (AtomicU64::new(0), AtomicBool::new(false));
    let pid = one.site.pid().context("the server has no process")?;
    let (client, done, is_over) = (&one.client(), &done, &is_over);
    let found = thread::scope(|scope| {
        let clients = (0..CLIENTS)
            .map(|first| scope.spawn(move || client.send(SELECT, first, done, is_over)));
        let clients: Vec<_> = clients.collect();
        thread::sleep(Duration::from_secs(3));
        let found = pairs(server, &one.system, pid, done);
        is_over.store(true, Ordering::Relaxed);
        for client in clients {
            client.join().ok().context("a client panicked")??;
        }
        found
    })?;
    one.stop()?;
    let (mean, error) = mean_and_error(&found.ratios).context("too few pairs")?;
    let loss = |log: f64| 100.0 * (1.0 - log.exp());
    table.row([
        server.to_owned(),
        format!("{:.0}", found.rate),
        format!("{:.1} %", loss(mean)),
        format!("[{:.1}, {:.1}] %", loss(mean + 1.96 * error), loss(mean - 1.96 * error)),
        within(1.0 - mean.exp() <= GOAL),
    ]);
    Ok(())
}

/// The ln ratio of each pair, with the sampler over without it; selects per second without it.
struct Pairs {
    ratios: Vec<f64>,
    rate: f64,
}

fn pairs(server: &str, system: &System, pid: u32, done: &AtomicU64) -> Result<Pairs> {
    let serving = &system.build.dbms.product().program.serving;
    let block = |sampled: bool| -> Result<f64> {
        let processes = profiles::Target::Processes(probes::processes(pid)?);
        let sampler = sampled.then(|| Sampler::start(&processes, serving)).transpose()?;
        thread::sleep(LEAD_IN);
        if let Some(sampler) = &sampler {
            sampler.open();
        }
        let (began, before) = (Instant::now(), done.load(Ordering::Relaxed));
        thread::sleep(BLOCK);
        let operations = done.load(Ordering::Relaxed) - before;
        let rate = operations as f64 / began.elapsed().as_secs_f64();
        if let Some(sampler) = sampler {
            sampler.close();
            sampler.finish();
        }
        Ok(rate)
    };
    let mut found = Pairs { ratios: Vec::new(), rate: 0.0 };
    for pair in 0..PAIRS {
        if pair % 10 == 0 {
            note(&format!("{server}: pair {} of {PAIRS}", pair + 1));
        }
        let sampled_first = pair % 2 == 1;
        let first = block(sampled_first)?;
        let second = block(!sampled_first)?;
        let (sampled, alone) = if sampled_first { (first, second) } else { (second, first) };
        found.ratios.push((sampled / alone).ln());
        found.rate += alone / f64::from(PAIRS);
    }
    Ok(found)
}

/// The mean of the middle half, and its standard error as if it were the mean of all, which is larger.
fn mean_and_error(values: &[f64]) -> Option<(f64, f64)> {
    let count = values.len() as f64;
    let mean = stats::mean(values)?;
    let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (count - 1.0);
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.get(sorted.len() / 4..sorted.len() - sorted.len() / 4)?;
    Some((stats::mean(middle)?, (variance / count).sqrt()))
}
