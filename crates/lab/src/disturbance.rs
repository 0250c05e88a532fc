//! Disturbances of a step beside server and client, held against the plan's limits.

use std::time::Instant;

use model::{Counter, Dialect, Nanos, Outcome, Quarantine, Readings, StepRecord};
use probes::{Detail, Watch};

use crate::site::Site;

/// Less CPU time is no disturbance: a few ticks of 10 ms that fell by chance are a large share of a short step.
const SMALLEST: Nanos = Nanos::from_millis(100);
/// Nor are fewer pages, 1 MiB of the usual size of pages, or page faults.
const FEWEST_PAGES: u64 = 256;
/// Steps that the reason of a quarantined trial names.
const NAMED: usize = 3;

/// A disturbance of a step, as in reasons.
const STEAL: &str = "other guests took";
const FOREIGN: &str = "other processes took";
const THROTTLED: &str = "a quota held processes back for";
const SWAPPED: &str = "pages a second were swapped";
const FAULTS: &str = "major page faults a second of the server";

/// Each of these, and its name without a number.
const KINDS: [(&str, &str); 5] = [
    (STEAL, "other guests took CPU time"),
    (FOREIGN, "other processes took CPU time"),
    (THROTTLED, "a quota held processes back"),
    (SWAPPED, "pages of memory were swapped"),
    (FAULTS, "the server had major page faults"),
];

/// The disturbance in a quarantine's reason, without the numbers; empty for an unknown reason.
pub fn kinds_of_disturbance(reason: &str) -> Vec<&'static str> {
    let told = KINDS.iter().filter(|(words, _)| reason.contains(*words));
    told.map(|(_, kind)| *kind).collect()
}

/// The limits in words: `other processes took more than 30 % of one CPU, … or …`.
pub fn limits_in_words(limits: &Quarantine) -> String {
    let percent = |permille: u32| f64::from(permille) / 10.0;
    let (foreign, steal) = (limits.foreign_permille, limits.steal_permille);
    let mut words = vec![
        format!("{FOREIGN} more than {} % of one CPU", percent(foreign)),
        format!("{STEAL} more than {} % of all CPUs", percent(steal)),
        format!("{THROTTLED} more than {} % of one CPU", percent(limits.throttled_permille)),
    ];
    let mut last = format!("more than {} {SWAPPED}", limits.swapped_pages);
    if limits.major_faults < u32::MAX {
        words.push(last);
        last =
            format!("the server had more than {} major page faults a second", limits.major_faults);
    }
    format!("{} or {last}", words.join(", "))
}

/// Disturbances of a measured step beyond the limits, of the values that this host provides.
pub(crate) fn of_step(record: &StepRecord, limits: &Quarantine) -> Option<String> {
    let found =
        if record.measured { over(&record.counters, record.window, limits) } else { Vec::new() };
    (!found.is_empty()).then(|| format!("{}: {}", record.step, found.join(", ")))
}

/// The outcome of a complete trial with right answers, given its disturbances.
pub(crate) fn outcome(disturbed: &[String]) -> Outcome {
    if disturbed.is_empty() {
        return Outcome::Completed;
    }
    let named: Vec<&str> = disturbed.iter().take(NAMED).map(String::as_str).collect();
    let more = match disturbed.len().saturating_sub(NAMED) {
        0 => String::new(),
        1 => "; and 1 more step".to_owned(),
        more => format!("; and {more} more steps"),
    };
    Outcome::Quarantined { reason: format!("{}{more}", named.join("; ")) }
}

/// The counters with the CPU time that was neither the server's nor the client's, where the server's is known.
pub(crate) fn with_foreign(counters: Readings, site: &dyn Site) -> Readings {
    if !site.knows_foreign() {
        return counters;
    }
    let server = counters.get(Counter::SERVER_CPU);
    let server = server.or_else(|| match site.target().dialect {
        // Its engine works in the client.
        Dialect::Sqlite => Some(0),
        Dialect::Mysql | Dialect::Postgres => None,
    });
    beside_server(counters, server)
}

/// The same, where the server took so much.
pub(crate) fn beside_server(mut counters: Readings, server: Option<u64>) -> Readings {
    let host = counters.get(Counter::HOST_CPU);
    let client = counters.get(Counter::CLIENT_CPU);
    if let (Some(host), Some(server), Some(client)) = (host, server, client) {
        // The host's is counted in ticks, the others' exactly: it may be the smaller one.
        let foreign = host.saturating_sub(server.saturating_add(client));
        counters.total(Counter::HOST_FOREIGN, foreign);
    }
    counters
}

pub(crate) fn over(counters: &Readings, window: Nanos, limits: &Quarantine) -> Vec<String> {
    let one_cpu = Share { counters, there_was: window.0, of: "of one CPU" };
    let all_cpus = counters.get(Counter::HOST_CPUS).map(|cpus| Share {
        there_was: window.0.saturating_mul(cpus),
        of: "of all CPUs",
        ..one_cpu
    });
    let found = [
        all_cpus.and_then(|all| {
            let limit = limits.steal_permille;
            all.over(STEAL, Counter::HOST_STEAL, limit)
        }),
        one_cpu.over(FOREIGN, Counter::HOST_FOREIGN, limits.foreign_permille),
        one_cpu.over(THROTTLED, Counter::HOST_THROTTLED, limits.throttled_permille),
        each_second(counters, window, Counter::HOST_SWAPPED, SWAPPED, limits.swapped_pages),
        each_second(counters, window, Counter::SERVER_MAJFLT, FAULTS, limits.major_faults),
    ];
    found.into_iter().flatten().collect()
}

/// Times that counters hold, as shares of the time that there was.
#[derive(Clone, Copy)]
struct Share<'a> {
    counters: &'a Readings,
    /// Nanoseconds.
    there_was: u64,
    of: &'static str,
}

impl Share<'_> {
    /// `what` with the share, where that is over the limit.
    fn over(&self, what: &str, counter: &str, limit_permille: u32) -> Option<String> {
        let took = self.counters.get(counter)?;
        let limit = u128::from(self.there_was) * u128::from(limit_permille) / 1000;
        let is_over = took >= SMALLEST.0 && u128::from(took) > limit;
        is_over.then(|| {
            let percent = 100.0 * took as f64 / self.there_was.max(1) as f64;
            let limit = f64::from(limit_permille) / 10.0;
            format!("{what} {percent:.1} % {} (limit {limit} %)", self.of)
        })
    }
}

/// How many pages a second, and `what` they were, where they were more than the limit.
fn each_second(
    counters: &Readings,
    window: Nanos,
    counter: &str,
    what: &str,
    limit: u32,
) -> Option<String> {
    let pages = counters.get(counter)?;
    let each_second = pages as f64 / window.as_secs_f64().max(f64::MIN_POSITIVE);
    let is_over = pages >= FEWEST_PAGES && each_second > f64::from(limit);
    is_over.then(|| format!("{each_second:.0} {what} (limit {limit})"))
}

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
        throttled_permille: 55,
        swapped_pages: 100,
        major_faults: 1_000,
        reruns: 2,
    };

    /// The values over the limits in a window, with counters in milliseconds and pages.
    fn found(window: u64, counters: &[(&'static str, u64)]) -> Vec<String> {
        let mut readings = Readings::default();
        readings.level(Counter::HOST_CPUS, 2);
        for &(id, value) in counters {
            let value = match id {
                Counter::HOST_SWAPPED | Counter::SERVER_MAJFLT => value,
                _ => Nanos::from_millis(value).0,
            };
            readings.total(id, value);
        }
        over(&readings, Nanos::from_millis(window), &LIMITS)
    }

    #[test]
    fn each_limit_holds_by_itself() {
        let ten_seconds = [
            (Counter::HOST_STEAL, 2_000, 2_040),
            (Counter::HOST_FOREIGN, 3_000, 3_010),
            (Counter::HOST_THROTTLED, 550, 560),
            (Counter::HOST_SWAPPED, 1_000, 1_010),
            (Counter::SERVER_MAJFLT, 10_000, 10_010),
        ];
        let mut told = Vec::new();
        for (id, allowed, too_much) in ten_seconds {
            assert!(found(10_000, &[(id, allowed)]).is_empty(), "{id}");
            told.extend(found(10_000, &[(id, too_much)]));
        }
        assert_eq!(
            told,
            [
                "other guests took 10.2 % of all CPUs (limit 10 %)",
                "other processes took 30.1 % of one CPU (limit 30 %)",
                "a quota held processes back for 5.6 % of one CPU (limit 5.5 %)",
                "101 pages a second were swapped (limit 100)",
                "1001 major page faults a second of the server (limit 1000)",
            ]
        );
        let kinds: Vec<_> = told.iter().map(|reason| kinds_of_disturbance(reason)).collect();
        assert_eq!(kinds, KINDS.map(|(_, kind)| vec![kind]));
    }

    #[test]
    fn kinds_are_told_without_numbers() {
        let reason = "s1: other processes took 30.1 % of one CPU (limit 30 %), 101 pages a second were swapped \
                      (limit 100); s2: other processes took 40.0 % of one CPU (limit 30 %); and 1 more step";
        assert_eq!(
            kinds_of_disturbance(reason),
            ["other processes took CPU time", "pages of memory were swapped"]
        );
        assert!(kinds_of_disturbance("noise").is_empty());
    }

    #[test]
    fn limits_are_told_as_reasons_tell_what_was_over_them() {
        insta::assert_snapshot!(limits_in_words(&LIMITS), @"other processes took more than 30 % of one CPU, other guests took more than 10 % of all CPUs, a quota held processes back for more than 5.5 % of one CPU, more than 100 pages a second were swapped or the server had more than 1000 major page faults a second");
        let any_faults = Quarantine { major_faults: u32::MAX, ..LIMITS };
        let told = limits_in_words(&any_faults);
        let end = "a quota held processes back for more than 5.5 % of one CPU or more than 100 pages a second were swapped";
        assert!(told.ends_with(end), "{told}");
    }

    #[test]
    fn what_was_not_read_is_not_judged() {
        assert!(found(10_000, &[]).is_empty());
        let mut stolen = Readings::default();
        stolen.total(Counter::HOST_STEAL, u64::MAX);
        assert!(over(&stolen, Nanos::SECOND, &LIMITS).is_empty());
        stolen.level(Counter::HOST_CPUS, 2);
        assert_eq!(over(&stolen, Nanos::SECOND, &LIMITS).len(), 1);
    }

    #[test]
    fn a_few_ticks_or_pages_of_a_short_step_are_no_disturbance() {
        for (id, little, enough) in [
            (Counter::HOST_STEAL, 99, 100),
            (Counter::HOST_FOREIGN, 99, 100),
            (Counter::HOST_THROTTLED, 99, 100),
            (Counter::HOST_SWAPPED, 255, 256),
            (Counter::SERVER_MAJFLT, 255, 256),
        ] {
            assert!(found(50, &[(id, little)]).is_empty(), "{id}");
            assert_eq!(found(50, &[(id, enough)]).len(), 1, "{id}");
        }
        // A window of no length has no shares.
        assert_eq!(found(0, &[(Counter::HOST_FOREIGN, 99)]).len(), 0);
    }

    #[test]
    fn plans_of_versions_without_a_limit_of_faults_allow_any_number() {
        let stored = r#"{"steal_permille":100,"foreign_permille":300,"throttled_permille":55,"swapped_pages":100,"reruns":2}"#;
        let read: Quarantine = serde_json::from_str(stored).unwrap();
        let expected = Quarantine { major_faults: u32::MAX, ..LIMITS };
        assert_eq!(read, expected);
    }

    #[test]
    fn a_limit_of_zero_allows_nothing_that_can_be_told() {
        let none = Quarantine { foreign_permille: 0, ..LIMITS };
        let mut readings = Readings::default();
        readings.total(Counter::HOST_FOREIGN, SMALLEST.0);
        assert_eq!(
            over(&readings, Nanos::from_secs(100), &none),
            ["other processes took 0.1 % of one CPU (limit 0 %)"]
        );
    }

    #[test]
    fn the_reason_names_the_first_steps() {
        let steps = |count: usize| -> Vec<String> {
            (1..=count).map(|step| format!("s{step}: x")).collect()
        };
        let reason = |count| match outcome(&steps(count)) {
            Outcome::Quarantined { reason } => reason,
            Outcome::Completed | Outcome::Profiled | Outcome::Failed { .. } => "none".to_owned(),
        };
        assert_eq!(reason(0), "none");
        assert_eq!(reason(1), "s1: x");
        assert_eq!(reason(4), "s1: x; s2: x; s3: x; and 1 more step");
        assert_eq!(reason(9), "s1: x; s2: x; s3: x; and 6 more steps");
    }

    /// A host on which CPUs worked for `host` milliseconds of a second, this process for 900 of them.
    fn beside(host: u64) -> Beside {
        let mut counters = Readings::default();
        counters.total(Counter::HOST_CPU, Nanos::from_millis(host).0);
        counters.total(Counter::CLIENT_CPU, Nanos::from_millis(900).0);
        judged(counters, Nanos::SECOND, &LIMITS)
    }

    #[test]
    fn what_this_process_did_is_no_disturbance() {
        let quiet = Beside { over: Vec::new(), foreign_percent: Some(25.0) };
        assert_eq!(beside(1_150), quiet);
        let busy = Beside {
            over: vec!["other processes took 50.0 % of one CPU (limit 30 %)".to_owned()],
            foreign_percent: Some(50.0),
        };
        assert_eq!(beside(1_400), busy);
        assert_eq!(beside(800).foreign_percent, Some(0.0));
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
