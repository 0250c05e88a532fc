//! Measurements: a family for each metric and unit.

use std::collections::HashMap;
use std::io::{self, Write};

use model::{Cell, MetricId, RunId, Unit, describe};

use super::{at, end, head, labels, number};
use crate::ExportError;

/// Collects measurements, because the format wants those of one metric together: sixteen bytes each, and
/// once what those of a step have in common.
pub struct Measurements {
    run: RunId,
    metrics: Vec<Metric>,
    by_id: HashMap<(MetricId, Unit), u32>,
    places: Vec<Place>,
    samples: Vec<Sample>,
}

struct Metric {
    /// The name of its family; where ids differ only in what such names cannot hold, several share one.
    family: String,
    id: MetricId,
    unit: Unit,
}

/// The common labels of one step's measurements in one trial.
#[derive(PartialEq)]
struct Place {
    labels: String,
    time: Option<f64>,
}

struct Sample {
    metric: u32,
    place: u32,
    value: f64,
}

impl Measurements {
    pub fn new(run: &RunId) -> Self {
        Self {
            run: run.clone(),
            metrics: Vec::new(),
            by_id: HashMap::new(),
            places: Vec::new(),
            samples: Vec::new(),
        }
    }

    /// Adds one; those of a step follow each other. `time` is when its trial started, in seconds since
    /// 1970.
    pub fn add(&mut self, cell: &Cell, time: Option<f64>) {
        let sample = Sample {
            metric: self.metric(cell),
            place: self.place(cell, time),
            value: in_base_unit(cell.value, cell.unit),
        };
        self.samples.push(sample);
    }

    pub fn write(mut self, out: &mut impl Write) -> Result<(), ExportError> {
        // Stable: measurements of a metric keep their order.
        self.samples.sort_by_key(|sample| sample.metric);
        let mut families: HashMap<&str, usize> = HashMap::new();
        for (metric, place) in self.metrics.iter().zip(0..) {
            families.entry(&metric.family).or_insert(place);
        }
        let mut metrics: Vec<(u32, &Metric)> = (0..).zip(&self.metrics).collect();
        metrics.sort_by_key(|(_, metric)| families.get(metric.family.as_str()));
        let mut family = "";
        for (place, metric) in metrics {
            if metric.family != family {
                family = &metric.family;
                let help = describe(&metric.id).map_or("", |is| is.title);
                head(out, family, "gauge", unit_name(metric.unit), help)?;
            }
            self.samples_of(place, metric, out)?;
        }
        Ok(end(out)?)
    }

    fn samples_of(&self, place: u32, metric: &Metric, out: &mut impl Write) -> io::Result<()> {
        let begin = self.samples.partition_point(|one| one.metric < place);
        let samples = self.samples.iter().skip(begin);
        let name = &metric.family;
        let id = labels(&[("metric", &metric.id.0)]);
        for sample in samples.take_while(|one| one.metric == place) {
            if let Some(at_step) = self.places.get(sample.place as usize) {
                let (value, time) = (number(sample.value), at(at_step.time));
                writeln!(out, "{name}{{{},{id}}} {value}{time}", at_step.labels)?;
            }
        }
        Ok(())
    }

    fn metric(&mut self, cell: &Cell) -> u32 {
        let key = (cell.metric.clone(), cell.unit);
        let next = self.metrics.len() as u32;
        let place = *self.by_id.entry(key).or_insert(next);
        if place == next {
            self.metrics.push(Metric {
                family: family_name(&cell.metric, cell.unit),
                id: cell.metric.clone(),
                unit: cell.unit,
            });
        }
        place
    }

    fn place(&mut self, cell: &Cell, time: Option<f64>) -> u32 {
        let labels = labels(&[
            ("run", &self.run.0),
            ("round", &cell.round.to_string()),
            ("position", &cell.position.to_string()),
            ("system", &cell.system),
            ("step", &cell.step.0),
            ("clients", &cell.clients.to_string()),
        ]);
        let place = Place { labels, time };
        if self.places.last() != Some(&place) {
            self.places.push(place);
        }
        self.places.len() as u32 - 1
    }
}

/// `backslide_server_cpu_seconds_per_operation` of `server.cpu/o`: the unit says what `/o` says.
fn family_name(metric: &MetricId, unit: Unit) -> String {
    let id = metric.0.strip_suffix("/o").unwrap_or(&metric.0);
    let id: String = id.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    match unit_name(unit) {
        "" => format!("backslide_{id}"),
        unit => format!("backslide_{id}_{unit}"),
    }
}

const fn unit_name(unit: Unit) -> &'static str {
    match unit {
        Unit::OpsPerSecond | Unit::PerMinute => "operations_per_second",
        Unit::RowsPerSecond => "rows_per_second",
        Unit::MbPerSecond => "bytes_per_second",
        // Figures of published tables, as these have them.
        Unit::KbPerSecondPerTpmc => "kilobytes_per_second_per_tpmc",
        Unit::MicroPercentPerTpmc => "micropercent_per_tpmc",
        Unit::Micros => "seconds",
        Unit::MicrosPerOp => "seconds_per_operation",
        Unit::PerOp => "per_operation",
        Unit::KbPerOp => "bytes_per_operation",
        Unit::Gib => "bytes",
        Unit::Percent => "ratio",
        Unit::Count => "",
    }
}

fn in_base_unit(value: f64, unit: Unit) -> f64 {
    match unit {
        Unit::Micros | Unit::MicrosPerOp => value / 1e6,
        Unit::KbPerOp => value * 1024.0,
        Unit::PerMinute => value / 60.0,
        Unit::MbPerSecond => value * 1024.0 * 1000.0,
        Unit::Gib => value * (1u64 << 30) as f64,
        Unit::Percent => value / 100.0,
        Unit::OpsPerSecond
        | Unit::RowsPerSecond
        | Unit::KbPerSecondPerTpmc
        | Unit::MicroPercentPerTpmc
        | Unit::PerOp
        | Unit::Count => value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_family_ends_in_its_unit() {
        let name = |metric: &str, unit| family_name(&MetricId::new(metric), unit);
        assert_eq!(
            name("server.cpu/o", Unit::MicrosPerOp),
            "backslide_server_cpu_seconds_per_operation"
        );
        assert_eq!(name("rate", Unit::RowsPerSecond), "backslide_rate_rows_per_second");
        assert_eq!(
            name("service.read-only.p99", Unit::Micros),
            "backslide_service_read_only_p99_seconds"
        );
        assert_eq!(name("errors", Unit::Count), "backslide_errors");
    }

    #[test]
    fn values_are_in_base_units() {
        assert_eq!(in_base_unit(1500.0, Unit::Micros).to_string(), "0.0015");
        assert_eq!(in_base_unit(2.0, Unit::KbPerOp).to_string(), "2048");
        assert_eq!(in_base_unit(97.5, Unit::Percent).to_string(), "0.975");
    }
}
