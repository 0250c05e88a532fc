//! Other tools' names for our metrics.

/// Names that people bring along, and the metrics that they stand for, the likeliest first.
const ALIASES: &[(&[&str], &[&str])] = &[
    (&["qps", "tps", "ips", "ops", "iops", "throughput", "speed"], &["rate", "tpmc"]),
    (
        &["latency", "lat", "response", "response_time", "rt"],
        &["service.p99", "response.p99", "service.p50"],
    ),
    (&["p99"], &["service.p99", "response.p99"]),
    (&["p95"], &["service.p95", "response.p95"]),
    (&["median", "p50"], &["service.p50", "response.p50"]),
    (&["average", "avg", "mean"], &["service.mean", "rate"]),
    (&["cpu", "cpu%", "cpu_time"], &["server.cpu/o", "cpu/o"]),
    (&["io", "disk"], &["r/o", "w/o", "size.total"]),
    (&["memory", "mem", "rss"], &["server.rss"]),
    (&["size", "space"], &["size.total", "size.data"]),
];

/// The metrics, or their short forms, that `name` may mean if it is not a metric of ours.
pub fn meant_by(name: &str) -> &'static [&'static str] {
    let name = name.to_ascii_lowercase();
    let found = ALIASES.iter().find(|(names, _)| names.contains(&name.as_str()));
    found.map_or(&[], |(_, metrics)| metrics)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MetricId, describe};

    #[test]
    fn aliases_are_no_metrics_and_stand_for_metrics() {
        let is_metric = |name: &str| {
            let id = MetricId::new(name);
            describe(&id).is_some() || id.of_subject("query").is_some()
        };
        for (names, metrics) in ALIASES {
            assert!(names.iter().all(|name| !is_metric(name)), "{names:?}");
            assert!(metrics.iter().all(|name| is_metric(name)), "{metrics:?}");
        }
        assert_eq!(meant_by("QPS"), ["rate", "tpmc"]);
        assert!(meant_by("rates").is_empty());
    }
}
