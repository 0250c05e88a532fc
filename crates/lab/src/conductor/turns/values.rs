//! What each turn of a step came to.

use model::{Interval, KindTotals, MetricId, SliceSeries, Step, StepRecord, metrics};

pub(super) struct Values(Vec<Column>);

struct Column {
    metric: MetricId,
    /// One a slice; `None` once a slice had none that can be compared. Without the slices in which nothing was
    /// done, the others would look better than the step was.
    values: Option<Vec<f64>>,
}

impl Values {
    /// For a step that is about this kind of operation.
    pub(super) fn of(subject: &str) -> Self {
        let sliced = metrics().filter(|metric| metric.sliced);
        let columns = sliced
            .map(|metric| Column { metric: metric.of_kind(subject), values: Some(Vec::new()) });
        Self(columns.collect())
    }

    /// Adds a slice, given as the record of a step of its length.
    pub(super) fn add(&mut self, slice: &StepRecord) {
        let measured = model::measure(slice);
        for Column { metric, values } in &mut self.0 {
            let found = measured.iter().find(|m| m.metric == *metric);
            match found.filter(|m| m.value.is_finite() && m.value > 0.0) {
                Some(found) => values.iter_mut().for_each(|all| all.push(found.value)),
                None => *values = None,
            }
        }
    }

    /// The metrics of which every slice had a value.
    pub(super) fn series(self) -> Vec<SliceSeries> {
        let columns = self.0.into_iter();
        let series = columns.filter_map(|Column { metric, values }| {
            let values = values.filter(|values| !values.is_empty())?;
            Some(SliceSeries { metric, values })
        });
        series.collect()
    }
}

/// A turn, given as an interval of the step, as a record of its own.
pub(super) fn turn(step: &Step, interval: &Interval) -> StepRecord {
    let kinds = step.kinds.iter().zip(&interval.kinds);
    let kinds =
        kinds.map(|(spec, sums)| KindTotals { spec: spec.clone(), sums: sums.clone(), late: 0 });
    StepRecord {
        kinds: kinds.collect(),
        counters: interval.readings.clone(),
        ..StepRecord::of(step, interval.length)
    }
}

#[cfg(test)]
mod tests {
    use model::{
        Counter, Counts, KindInterval, KindSpec, KindTotals, Latency, Nanos, Readings, Step,
        StepId, Subject,
    };

    use super::*;

    /// A quarter of a second of so many operations, each of so much CPU and time.
    fn slice(ops: u64, server_micros: u64, micros: u64) -> StepRecord {
        let mut service = Latency::new();
        (0..ops).for_each(|_| service.record(Nanos(1_000 * micros)));
        let mut counters = Readings::default();
        counters.total(Counter::SERVER_CPU, ops * server_micros * 1_000);
        let subject = Subject { kind: "point".to_owned(), counts: Counts::Operations };
        let step = Step::new(StepId::new("point-query"), 3, 1, subject);
        StepRecord {
            kinds: vec![KindTotals {
                spec: KindSpec { name: "point".to_owned(), scheduled: false },
                sums: KindInterval { ops, service, ..KindInterval::default() },
                late: 0,
            }],
            counters,
            ..StepRecord::of(&step, Nanos::from_millis(250))
        }
    }

    fn series(slices: &[StepRecord]) -> Vec<(String, Vec<f64>)> {
        let mut values = Values::of("point");
        for slice in slices {
            values.add(slice);
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
    fn a_slice_in_which_nothing_ended_is_not_passed_over() {
        let found = series(&[slice(100, 20, 50), slice(0, 0, 0), slice(100, 20, 50)]);
        assert_eq!(found, []);
        // What the server spent on nothing has no value, how fast it was has.
        let found = series(&[slice(100, 20, 50), slice(100, 0, 50)]);
        let metrics: Vec<&str> = found.iter().map(|(metric, _)| metric.as_str()).collect();
        assert_eq!(metrics, ["rate", "service.point.mean", "service.point.p50"]);
    }

    #[test]
    fn without_slices_there_is_nothing() {
        assert_eq!(series(&[]), []);
    }
}
