//! What the hooks of a script for reports are called with: what was measured, as sysbench tells it.

use std::ops::ControlFlow;
use std::sync::atomic::Ordering;

use lua::Script;
use model::{Edge, Interval, KindInterval, Nanos, StepRecord};

use super::client::{Common, EVENTS};
use load::{Observer, note};

/// sysbench's usual `--percentile`.
const PERCENTILE: f64 = 95.0;

/// Calls a script's hooks, and shows all to another observer too.
pub(super) struct Reports<'a> {
    pub(super) observer: &'a mut dyn Observer,
    pub(super) script: &'a Script,
    pub(super) common: &'a Common,
    pub(super) clients: u32,
    /// Seconds between two reports; 0 for none but the last.
    pub(super) every: u32,
    pub(super) percentile: Option<f64>,
    pub(super) seen: Seen,
}

/// What was measured since the last report.
#[derive(Default)]
pub(super) struct Seen {
    length: Nanos,
    kinds: Vec<KindInterval>,
    /// How often scripts had connected anew before.
    reconnects: u64,
}

impl Observer for Reports<'_> {
    fn edge(&mut self, edge: Edge) {
        self.observer.edge(edge);
    }

    fn interval(&mut self, interval: Interval) -> ControlFlow<()> {
        if self.every > 0 {
            let seen = &mut self.seen;
            seen.kinds.resize(interval.kinds.len(), KindInterval::default());
            seen.kinds.iter_mut().zip(&interval.kinds).for_each(|(sum, kind)| sum.merge(kind));
            seen.length += interval.length;
            if ends_a_report(interval.start, interval.length, self.every) {
                let reconnects = self.common.reconnects.load(Ordering::Relaxed);
                let next = Seen { reconnects, ..Seen::default() };
                let seen = std::mem::replace(&mut self.seen, next);
                let end = interval.start + interval.length;
                let anew = reconnects - seen.reconnects;
                self.call("report_intermediate", seen.length, end, (&seen.kinds, anew));
            }
        }
        self.observer.interval(interval)
    }

    fn ended(&mut self) {
        self.observer.ended();
    }
}

/// Does the interval end nearest to the time of a report? Turns need not add up to whole seconds.
fn ends_a_report(start: Nanos, length: Nanos, every_seconds: u32) -> bool {
    let every = Nanos::from_secs(every_seconds.into()).0;
    let due_by = |at: Nanos| (at.0 + length.0 / 2) / every;
    due_by(start + length) > due_by(start)
}

impl Reports<'_> {
    pub(super) fn cumulative(&self, record: &StepRecord) {
        let kinds: Vec<KindInterval> = record.kinds.iter().map(|kind| kind.sums.clone()).collect();
        let reconnects = self.common.reconnects.load(Ordering::Relaxed);
        self.call("report_cumulative", record.window, record.window, (&kinds, reconnects));
    }

    fn call(
        &self,
        hook: &str,
        length: Nanos,
        total: Nanos,
        (kinds, reconnects): (&[KindInterval], u64),
    ) {
        let done = |kind: usize| kinds.get(EVENTS + kind).map_or(0, |kind| kind.ops) as f64;
        let Some(events) = kinds.get(EVENTS) else { return };
        let latency = events.response.as_ref().unwrap_or(&events.service);
        let quantile = |q| latency.quantile(q).unwrap_or_default().as_secs_f64();
        let waiting = self.common.queue.as_ref().map_or(0, |queue| queue.waiting(total));
        let under_way = self.common.under_way.load(Ordering::Relaxed);
        let mean = latency.mean().unwrap_or_default().as_secs_f64();
        let stat = [
            ("threads_running", f64::from(self.clients)),
            ("time_interval", length.as_secs_f64()),
            ("time_total", total.as_secs_f64()),
            ("events", events.ops as f64),
            ("reads", done(1)),
            ("writes", done(2)),
            ("other", done(3)),
            ("errors", events.retries as f64),
            ("reconnects", reconnects as f64),
            ("queue_length", waiting as f64),
            ("concurrency", f64::from(under_way)),
            ("latency_pct", quantile(self.percentile.unwrap_or(PERCENTILE) / 100.0)),
            ("latency_min", quantile(0.0)),
            ("latency_avg", mean),
            ("latency_max", latency.max().as_secs_f64()),
            ("latency_sum", mean * latency.count() as f64),
        ];
        if let Err(error) = self.script.report(hook, &stat) {
            note(&self.common.notes, format!("{hook} failed: {error}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_comes_once_in_its_interval_however_long_turns_are() {
        // Milliseconds of a turn, seconds between reports; when the reports come, in milliseconds.
        let cases: [(u64, u32, &[u64]); 4] = [
            (1_000, 2, &[2_000, 4_000, 6_000]),
            (500, 2, &[2_000, 4_000, 6_000]),
            (480, 2, &[1_920, 3_840, 5_760]),
            (20, 3, &[3_000, 6_000]),
        ];
        for (turn, every, expected) in cases {
            let length = Nanos::from_millis(turn);
            let starts =
                (0..).map(|number| number * turn).take_while(|start| start + turn <= 6_500);
            let ends =
                starts.filter(|start| ends_a_report(Nanos::from_millis(*start), length, every));
            assert_eq!(
                ends.map(|start| start + turn).collect::<Vec<_>>(),
                expected,
                "turns of {turn} ms"
            );
        }
    }
}
