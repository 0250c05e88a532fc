//! Recording takes the same memory after an hour as after ten minutes. Alone in its program: other
//! tests would take memory too.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use load::{Recorder, StepClock};
use model::{KindSpec, Nanos};

const CLIENTS: usize = 600;
const SECONDS: u64 = 3_600;
const MIB: u64 = 1 << 20;

#[test]
fn an_hour_of_600_clients_fits() {
    let kinds = ["query", "insert"]
        .map(|name| KindSpec { name: name.to_owned(), scheduled: name == "insert" });
    let before = resident();
    let recorder = Recorder::new(kinds.to_vec(), CLIENTS, Nanos::SECOND);
    let clock = StepClock::start();
    let mut clients: Vec<_> = (0..CLIENTS).map(|index| recorder.client(index, &clock)).collect();
    let mut early = 0;
    let mut highest = 0;
    for second in 0..SECONDS {
        let at = |micros: u64| Nanos(second * Nanos::SECOND.0 + micros * 1_000);
        for (client, index) in clients.iter_mut().zip(0..) {
            // Latencies from a few microseconds to most of a second, so that histograms are wide.
            let latency = 7 + (index * 1_319 + second * 7) % 800_000;
            client.record(0, at(0), None, at(latency), 10);
            client.record(1, at(10), Some(at(0)), at(10 + latency / 2), 50);
        }
        let interval = recorder.interval(second as u32, Nanos::SECOND, at(1_000_000));
        assert_eq!(interval.kinds[0].ops, CLIENTS as u64);
        if second % 60 == 59 {
            highest = highest.max(resident());
        }
        if second == 600 {
            early = resident();
        }
    }
    let (totals, _) = recorder.totals();
    assert_eq!(totals[1].sums.service.count(), CLIENTS as u64 * SECONDS);
    assert!(highest - before < 100 * MIB, "grew from {before} to {highest} bytes");
    let late = resident();
    assert!(late < early + 2 * MIB, "grew from {early} at ten minutes to {late} bytes at an hour");
}

/// Resident memory of this process, in bytes.
fn resident() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: u64 = statm.split(' ').nth(1).unwrap().parse().unwrap();
    pages * rustix::param::page_size() as u64
}
