//! The cost of reading the probes. Watches the server with the given process number (and the device of
//! the current directory), or itself with 250 idle threads:
//! `cargo run --release -p bench --example probe_cost [PID]`

use std::path::Path;
use std::process::ExitCode;
use std::sync::mpsc;
use std::thread;

use probes::{Detail, Watch, all, identify, read_all};
use rustix::time::{ClockId, clock_gettime};

const THREADS: usize = 250;
const READINGS: u32 = 100;

#[expect(clippy::print_stdout, reason = "an example prints what it measured")]
fn main() -> ExitCode {
    let Ok(pid) = std::env::args().nth(1).map(|pid| pid.parse::<u32>()).transpose() else {
        println!("usage: probe_cost [PID]");
        return ExitCode::from(2);
    };
    let (_end, threads) = idle_threads(if pid.is_none() { THREADS } else { 0 });
    let watch = Watch {
        host: true,
        server: pid.or_else(|| Some(std::process::id())),
        device: identify(Path::new(".")).ok().and_then(|host| host.disk.device),
        is_elsewhere: false,
    };
    println!("{watch:?}, {threads} idle threads of our own; CPU per reading:");
    for detail in [Detail::Second, Detail::Edge] {
        let mut together = 0.0;
        for mut probe in all(&watch) {
            if let Err(error) = probe.read(detail) {
                println!("  {:<10} {error}", probe.name());
                continue;
            }
            let before = cpu_micros();
            for _ in 0..READINGS {
                let _ = probe.read(detail);
            }
            let each = (cpu_micros() - before) / f64::from(READINGS);
            together += each;
            println!("  {detail:?} {:<10} {each:>9.1} µs", probe.name());
        }
        println!(
            "  {detail:?} together   {together:>9.1} µs = {:.3} % of one core once a second",
            together / 1e4
        );
    }
    let (readings, _) = read_all(&mut all(&watch), Detail::Edge);
    for (id, counter) in &readings.0 {
        println!("  {id:<28} {:>20}", counter.value);
    }
    ExitCode::SUCCESS
}

/// Threads that wait until the sender is dropped.
fn idle_threads(count: usize) -> (Vec<mpsc::Sender<()>>, usize) {
    let ends: Vec<_> = (0..count)
        .map(|_| {
            let (end, wait) = mpsc::channel::<()>();
            thread::spawn(move || wait.recv());
            end
        })
        .collect();
    let count = ends.len();
    (ends, count)
}

fn cpu_micros() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 * 1e6 + time.tv_nsec as f64 / 1e3
}
