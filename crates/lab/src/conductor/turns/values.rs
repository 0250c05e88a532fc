//! What each turn of a step came to.

use std::borrow::Cow;

use model::{Interval, KindTotals, MetricId, SliceSeries, Step, StepRecord, metrics};

/// One slice in so many may be idle: nothing ended in it. With more idle slices, stalls take a part of the window that
/// the middle half of the slices would hide, or operations are about as long as slices.
const FOR_EACH_IDLE: usize = 50;

pub(super) struct Values {
    columns: Vec<Column>,
    /// The idle slices since the last one in which something ended.
    idle: Option<Interval>,
}

struct Column {
    metric: MetricId,
    /// One a slice, no number for an idle one; `None` once another one had no value that can be compared.
    values: Option<Vec<f64>>,
}

impl Values {
    /// For a step that is about this kind of operation.
    pub(super) fn of(subject: &str) -> Self {
        let sliced = metrics().filter(|metric| metric.sliced);
        let columns = sliced
            .map(|metric| Column { metric: metric.of_kind(subject), values: Some(Vec::new()) });
        Self { columns: columns.collect(), idle: None }
    }

    /// Adds a slice. An idle one counts with the next one: without it, the others would look better than the step was.
    pub(super) fn add(&mut self, step: &Step, slice: &Interval) {
        let slice = match self.idle.take() {
            Some(idle) => Cow::Owned(joined(idle, slice)),
            None => Cow::Borrowed(slice),
        };
        let record = record(step, &slice);
        if record.subject_count() == 0 {
            self.columns
                .iter_mut()
                .flat_map(|column| &mut column.values)
                .for_each(|values| values.push(f64::NAN));
            self.idle = Some(slice.into_owned());
            return;
        }
        let measured = model::measure(&record);
        for Column { metric, values } in &mut self.columns {
            let found = measured.iter().find(|m| m.metric == *metric);
            match found.filter(|m| m.value.is_finite() && m.value > 0.0) {
                Some(found) => values.iter_mut().for_each(|all| all.push(found.value)),
                None => *values = None,
            }
        }
    }

    /// The metrics of which every slice had a value, except a few idle ones. None if the last slice was idle.
    pub(super) fn series(self) -> Vec<SliceSeries> {
        if self.idle.is_some() {
            return Vec::new();
        }
        let columns = self.columns.into_iter();
        let series = columns.filter_map(|Column { metric, values }| {
            let values = values?;
            let idle = values.iter().filter(|value| value.is_nan()).count();
            let are_few = !values.is_empty() && values.len() >= FOR_EACH_IDLE * idle;
            are_few.then_some(SliceSeries { metric, values })
        });
        series.collect()
    }
}

fn joined(mut one: Interval, next: &Interval) -> Interval {
    one.length += next.length;
    one.kinds.iter_mut().zip(&next.kinds).for_each(|(sum, other)| sum.merge(other));
    one.readings = one.readings.plus(&next.readings);
    one
}

fn record(step: &Step, slice: &Interval) -> StepRecord {
    let kinds = step.kinds.iter().zip(&slice.kinds);
    let kinds =
        kinds.map(|(spec, sums)| KindTotals { spec: spec.clone(), sums: sums.clone(), late: 0 });
    StepRecord {
        kinds: kinds.collect(),
        counters: slice.readings.clone(),
        ..StepRecord::of(step, slice.length)
    }
}

#[cfg(test)]
mod tests {
    use model::{
        Counter, Counts, KindInterval, KindSpec, Latency, Nanos, Readings, StepId, Subject,
    };

    use super::*;

    fn step() -> Step {
        let subject = Subject { kind: "point".to_owned(), counts: Counts::Operations };
        let kinds = vec![KindSpec::unscheduled("point")];
        Step { kinds, ..Step::new(StepId::new("point-query"), 3, 1, subject) }
    }

    /// A quarter of a second of so many operations, each of so much CPU and time.
    fn slice(ops: u64, server_micros: u64, micros: u64) -> Interval {
        spent(ops, ops * server_micros, micros)
    }

    fn spent(ops: u64, server_micros: u64, micros: u64) -> Interval {
        let mut service = Latency::new();
        (0..ops).for_each(|_| service.record(Nanos(1_000 * micros)));
        let mut readings = Readings::default();
        readings.total(Counter::SERVER_CPU, server_micros * 1_000);
        Interval {
            index: 0,
            start: Nanos(0),
            length: Nanos::from_millis(250),
            kinds: vec![KindInterval { ops, service, ..KindInterval::default() }],
            stalled: Nanos(0),
            readings,
        }
    }

    fn series(slices: &[Interval]) -> Vec<(String, Vec<f64>)> {
        let mut values = Values::of("point");
        for slice in slices {
            values.add(&step(), slice);
        }
        let series = values.series().into_iter();
        series
            .map(|SliceSeries { metric, values }| {
                let rounded = values.iter().map(|value| value.round());
                (metric.0, rounded.collect())
            })
            .collect()
    }

    #[test]
    fn each_slice_has_its_value_of_each_metric_that_was_read() {
        let found = series(&[slice(100, 20, 50), slice(200, 10, 30)]);
        // Neither client nor context switches were counted.
        let expected = [
            ("rate", [400.0, 800.0]),
            ("server.cpu/o", [20.0, 10.0]),
            ("service.point.mean", [50.0, 30.0]),
            ("service.point.p50", [50.0, 30.0]),
        ];
        let expected = expected.map(|(metric, values)| (metric.to_owned(), values.to_vec()));
        assert_eq!(found, expected);
    }

    #[test]
    fn what_has_no_value_in_a_slice_has_none_in_the_others() {
        // What the server spent on nothing has no value, how fast it was has.
        let found = series(&[slice(100, 20, 50), slice(100, 0, 50)]);
        let metrics: Vec<&str> = found.iter().map(|(metric, _)| metric.as_str()).collect();
        assert_eq!(metrics, ["rate", "service.point.mean", "service.point.p50"]);
    }

    #[test]
    fn a_slice_in_which_nothing_ended_counts_with_the_next_one() {
        let mut slices = vec![slice(100, 20, 50); 99];
        slices[3] = spent(0, 4_000, 0);
        let found = series(&slices);
        let of = |place: usize| {
            let (metric, values) = &found[place];
            (metric.as_str(), &values[2..6])
        };
        let ((rate, rates), (cpu, cpus)) = (of(0), of(1));
        assert_eq!((rate, cpu), ("rate", "server.cpu/o"));
        assert!(rates[1].is_nan() && cpus[1].is_nan());
        // Half a second, and all that the server spent in it.
        assert_eq!((rates[0], rates[2], rates[3]), (400.0, 200.0, 400.0));
        assert_eq!((cpus[0], cpus[2], cpus[3]), (20.0, 60.0, 20.0));
        // Two of 99 are too many, two of 100 are not, unless the last one is one of them.
        slices[9] = spent(0, 4_000, 0);
        assert_eq!(series(&slices).len(), 0);
        slices.push(slice(100, 20, 50));
        assert_eq!(series(&slices).len(), 4);
        slices.swap(9, 99);
        assert_eq!(series(&slices).len(), 0);
    }

    #[test]
    fn without_slices_there_is_nothing() {
        assert_eq!(series(&[]), []);
    }
}
