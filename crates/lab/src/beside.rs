//! What else a host does while this process works alone, held against the limits of a plan: would a step that is
//! measured now be called disturbed?

use std::time::Instant;

use model::{Counter, Nanos, Quarantine, Readings};
use probes::{Detail, Watch};

use crate::disturbance::{beside_server, over};

/// The host's other activity while this process worked.
#[derive(Clone, Debug, PartialEq)]
pub struct Beside {
    /// All that was more than its limit, in the words of the reason of a quarantined trial.
    pub over: Vec<String>,
    /// CPU use of other processes, in per cent of one CPU; `None` if the host does not report it.
    pub foreign_percent: Option<f64>,
}

/// Runs `work` in this process and watches the host meanwhile, as it is watched during a step that has no server.
pub fn watch_beside<T>(limits: &Quarantine, work: impl FnOnce() -> T) -> (T, Beside) {
    let mut probes = probes::all(&Watch { host: true, ..Watch::default() });
    // Unreadable values are not judged, as in a run.
    let (before, _) = probes::read_all(&mut probes, Detail::Edge);
    let begun = Instant::now();
    let done = work();
    let window = Nanos::from(begun.elapsed());
    let (after, _) = probes::read_all(&mut probes, Detail::Edge);
    (done, judged(after.since(&before), window, limits))
}

fn judged(counters: Readings, window: Nanos, limits: &Quarantine) -> Beside {
    let counters = beside_server(counters, Some(0));
    let foreign = counters.get(Counter::HOST_FOREIGN);
    Beside {
        over: over(&counters, window, limits),
        foreign_percent: foreign.map(|took| 100.0 * took as f64 / window.0.max(1) as f64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Quarantine = Quarantine {
        steal_permille: 100,
        foreign_permille: 300,
        throttled_permille: 100,
        swapped_pages: 256,
        major_faults: 1_000,
        reruns: 2,
    };

    /// A host on which CPUs worked for `host` milliseconds of a second, this process for 900 of them.
    fn found(host: u64) -> Beside {
        let mut counters = Readings::default();
        counters.total(Counter::HOST_CPU, Nanos::from_millis(host).0);
        counters.total(Counter::CLIENT_CPU, Nanos::from_millis(900).0);
        judged(counters, Nanos::SECOND, &LIMITS)
    }

    #[test]
    fn what_this_process_did_is_no_disturbance() {
        let quiet = Beside { over: Vec::new(), foreign_percent: Some(25.0) };
        assert_eq!(found(1_150), quiet);
        let busy = Beside {
            over: vec!["other processes took 50.0 % of one CPU (limit 30 %)".to_owned()],
            foreign_percent: Some(50.0),
        };
        assert_eq!(found(1_400), busy);
        assert_eq!(found(800).foreign_percent, Some(0.0));
        let nothing = judged(Readings::default(), Nanos::SECOND, &LIMITS);
        assert_eq!(nothing.foreign_percent, None);
        assert!(nothing.over.is_empty());
    }

    #[test]
    fn this_host_tells_while_work_is_done() {
        let (done, beside) = watch_beside(&LIMITS, || 7);
        assert_eq!(done, 7);
        assert!(beside.foreign_percent.is_some_and(|percent| percent >= 0.0));
    }
}
