//! The intervals of several processes as those of one step. Counts and histograms are added: each percentile is of all.

use std::collections::{BTreeMap, VecDeque};

use model::{
    ErrorCount, Interval, KindInterval, KindSpec, KindTotals, OpenLoop, Readings, StepRecord,
};

use super::protocol::Ended;

pub(super) struct Merge {
    parts: Vec<Part>,
    /// Of the intervals that were handed out.
    totals: Vec<KindInterval>,
    handed_out: u32,
}

#[derive(Default)]
struct Part {
    intervals: VecDeque<Interval>,
    ended: Option<Ended>,
}

impl Merge {
    pub(super) fn new(parts: usize, kinds: &[KindSpec]) -> Self {
        Self {
            parts: (0..parts).map(|_| Part::default()).collect(),
            totals: kinds.iter().map(blank).collect(),
            handed_out: 0,
        }
    }

    /// Takes the next interval of a part. False where it is not the next one, or of another step.
    pub(super) fn add(&mut self, part: usize, interval: Interval) -> bool {
        let intervals = &mut self.parts[part].intervals;
        let next = self.handed_out + intervals.len() as u32;
        let fits = interval.index == next && interval.kinds.len() == self.totals.len();
        intervals.push_back(interval);
        fits
    }

    pub(super) fn end(&mut self, part: usize, ended: Ended) {
        self.parts[part].ended = Some(ended);
    }

    pub(super) fn have_all_ended(&self) -> bool {
        self.parts.iter().all(|part| part.ended.is_some())
    }

    pub(super) const fn next_index(&self) -> u32 {
        self.handed_out
    }

    /// Is there the next interval of each part that has not ended?
    pub(super) fn has_next(&self) -> bool {
        let mut parts = 0..self.parts.len();
        parts.all(|part| !self.awaits(part))
            && self.parts.iter().any(|part| !part.intervals.is_empty())
    }

    /// Is it this part that the next interval waits for?
    pub(super) fn awaits(&self, part: usize) -> bool {
        let Part { intervals, ended } = &self.parts[part];
        ended.is_none() && intervals.is_empty()
    }

    /// Hands out the next interval, with the readings of all parts.
    pub(super) fn hand_out(&mut self) -> Option<Interval> {
        let all = self.parts.iter_mut().filter_map(|part| part.intervals.pop_front());
        let whole = all.reduce(|mut whole, other| {
            whole.length = whole.length.max(other.length);
            whole.stalled = whole.stalled.max(other.stalled);
            whole.readings.add_beside(&other.readings);
            add(&mut whole.kinds, &other.kinds);
            whole
        })?;
        add(&mut self.totals, &whole.kinds);
        self.handed_out += 1;
        Some(whole)
    }

    /// The record of the window, when every interval was handed out.
    pub(super) fn record(self, kinds: &[KindSpec], timed: bool) -> StepRecord {
        let ended: Vec<Ended> = self.parts.into_iter().filter_map(|part| part.ended).collect();
        let mut counters = Readings::default();
        for one in &ended {
            counters.add_beside(&one.counters);
        }
        let late = |place: usize| ended.iter().filter_map(|one| one.late.get(place)).sum();
        let kinds = kinds.iter().zip(self.totals).enumerate();
        let kinds = kinds.map(|(place, (spec, sums))| KindTotals {
            spec: spec.clone(),
            sums,
            late: late(place),
        });
        StepRecord {
            window: ended.iter().map(|one| one.window).max().unwrap_or_default(),
            kinds: kinds.collect(),
            errors: errors(&ended),
            open_loop: ended.iter().filter_map(|one| one.open_loop).reduce(add_open_loops),
            timed,
            cut_short: ended.iter().any(|one| one.cut_short),
            counters,
            ..StepRecord::default()
        }
    }
}

fn blank(kind: &KindSpec) -> KindInterval {
    KindInterval { response: kind.scheduled.then(Default::default), ..KindInterval::default() }
}

fn add(sums: &mut [KindInterval], others: &[KindInterval]) {
    sums.iter_mut().zip(others).for_each(|(sum, other)| sum.merge(other));
}

fn errors(ended: &[Ended]) -> Vec<ErrorCount> {
    let mut sums: BTreeMap<(&str, &str, bool), u64> = BTreeMap::new();
    for ErrorCount { kind, code, count, retried } in ended.iter().flat_map(|one| &one.errors) {
        *sums.entry((kind, code, *retried)).or_default() += count;
    }
    let sums = sums.into_iter().map(|((kind, code, retried), count)| ErrorCount {
        kind: kind.to_owned(),
        code: code.to_owned(),
        count,
        retried,
    });
    sums.collect()
}

/// Each has the rate of all.
const fn add_open_loops(one: OpenLoop, other: OpenLoop) -> OpenLoop {
    OpenLoop {
        arrived: one.arrived + other.arrived,
        shed: one.shed + other.shed,
        waiting: one.waiting + other.waiting,
        ..one
    }
}

#[cfg(test)]
mod tests {
    use model::{Latency, Nanos, Rng};

    use super::*;

    fn kinds() -> Vec<KindSpec> {
        vec![KindSpec { name: "order".to_owned(), scheduled: true }]
    }

    fn interval(index: u32, length: Nanos, latencies: &[Nanos]) -> Interval {
        let mut latency = Latency::new();
        for nanos in latencies {
            latency.record(*nanos);
        }
        let mut readings = Readings::default();
        readings.total("client.cpu_ns", 5);
        Interval {
            index,
            start: Nanos::from_secs(u64::from(index)),
            length,
            kinds: vec![KindInterval {
                ops: latencies.len() as u64,
                service: latency.clone(),
                response: Some(latency),
                ..KindInterval::default()
            }],
            stalled: Nanos(0),
            readings,
        }
    }

    fn ended(window: Nanos) -> Ended {
        let error = |retried| ErrorCount {
            kind: "order".to_owned(),
            code: "1213".to_owned(),
            count: 2,
            retried,
        };
        let open_loop =
            OpenLoop { per_second: 100, arrived: 50, waiting: 1, ..OpenLoop::default() };
        Ended {
            window,
            late: vec![1],
            errors: vec![error(true), error(false)],
            open_loop: Some(open_loop),
            ..Ended::default()
        }
    }

    #[test]
    fn percentiles_are_those_of_the_pooled_operations() {
        let mut rng = Rng::new(1);
        let mut merge = Merge::new(2, &kinds());
        let mut pooled = Latency::new();
        for index in 0..20 {
            for part in 0..2 {
                // Few slow operations on one host, many quick ones on the other.
                let (number, scale) = [(20, 1 << 30), (1_000, 1 << 20)][part];
                let latencies: Vec<Nanos> = (0..number).map(|_| Nanos(rng.below(scale))).collect();
                for nanos in &latencies {
                    pooled.record(*nanos);
                }
                assert!(merge.add(part, interval(index, Nanos::SECOND, &latencies)));
            }
            assert!(merge.has_next() && merge.hand_out().is_some());
        }
        (0..2).for_each(|part| merge.end(part, ended(Nanos::from_secs(20))));
        let record = merge.record(&kinds(), true);
        let sums = &record.kinds[0].sums;
        assert_eq!(
            (sums.ops, &sums.service, sums.response.as_ref()),
            (20_400, &pooled, Some(&pooled))
        );
        assert_eq!(sums.service.quantile(0.99), pooled.quantile(0.99));
        assert_eq!((record.kinds[0].late, record.window), (2, Nanos::from_secs(20)));
        let errors: Vec<_> =
            record.errors.iter().map(|error| (error.count, error.retried)).collect();
        assert_eq!(errors, [(4, false), (4, true)]);
        let open_loop = record.open_loop.unwrap();
        assert_eq!((open_loop.per_second, open_loop.arrived, open_loop.waiting), (100, 100, 2));
    }

    #[test]
    fn an_interval_is_handed_out_when_every_part_has_sent_it_or_has_ended() {
        let mut merge = Merge::new(2, &kinds());
        assert!(merge.add(0, interval(0, Nanos::SECOND, &[Nanos(1)])));
        assert!(!merge.has_next());
        assert!(merge.add(1, interval(0, Nanos(7), &[Nanos(2), Nanos(3)])));
        let whole = merge.hand_out().unwrap();
        assert_eq!((whole.kinds[0].ops, whole.length), (3, Nanos::SECOND));
        assert_eq!(whole.readings.get("client.cpu_ns"), Some(10));
        merge.end(1, ended(Nanos(7)));
        assert!(merge.add(0, interval(1, Nanos(5), &[])) && merge.has_next());
        assert_eq!(merge.hand_out().map(|it| it.index), Some(1));
        assert!(!merge.has_next() && !merge.have_all_ended());
        assert!(!merge.add(0, interval(3, Nanos(5), &[])), "interval 2 is missing");
    }
}
