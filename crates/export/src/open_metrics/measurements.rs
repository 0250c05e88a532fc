//! Measurements: a family for each metric and unit.

use std::collections::HashMap;
use std::io::Write;

use model::{Cell, MetricId, RunId, Unit, describe};

use super::{at, end, head, labels, number};
use crate::ExportError;

/// Collects measurements, because the format wants those of one metric together: sixteen bytes each, and
/// once what those of a step have in common.
pub struct Measurements {
    run: RunId,
    families: Vec<Family>,
    by_name: HashMap<String, u32>,
    places: Vec<Place>,
    samples: Vec<Sample>,
}

struct Family {
    name: String,
    metric: MetricId,
    unit: Unit,
}

/// What the measurements of one step of one trial have in common.
#[derive(PartialEq)]
struct Place {
    labels: String,
    time: Option<f64>,
}

struct Sample {
    family: u32,
    place: u32,
    value: f64,
}

impl Measurements {
    /// None yet.
    pub fn new(run: &RunId) -> Self {
        Self {
            run: run.clone(),
            families: Vec::new(),
            by_name: HashMap::new(),
            places: Vec::new(),
            samples: Vec::new(),
        }
    }

    /// Adds one; those of a step follow each other. `time` is when its trial started, in seconds since
    /// 1970.
    pub fn add(&mut self, cell: &Cell, time: Option<f64>) {
        let sample = Sample {
            family: self.family(cell),
            place: self.place(cell, time),
            value: in_base_unit(cell.value, cell.unit),
        };
        self.samples.push(sample);
    }

    /// Writes the whole text.
    pub fn write(mut self, out: &mut impl Write) -> Result<(), ExportError> {
        // Stable: within a family they stay in the order in which they came.
        self.samples.sort_by_key(|sample| sample.family);
        let mut samples = self.samples.iter().peekable();
        for (family, index) in self.families.iter().zip(0..) {
            let help = describe(&family.metric).map_or("", |is| is.title);
            head(out, &family.name, "gauge", unit_name(family.unit), help)?;
            while let Some(sample) = samples.next_if(|sample| sample.family == index) {
                let Some(place) = self.places.get(sample.place as usize) else {
                    continue;
                };
                writeln!(
                    out,
                    "{}{{{},{}}} {}{}",
                    family.name,
                    place.labels,
                    labels(&[("metric", &family.metric.0)]),
                    number(sample.value),
                    at(place.time)
                )?;
            }
        }
        Ok(end(out)?)
    }

    fn family(&mut self, cell: &Cell) -> u32 {
        let name = family_name(&cell.metric, cell.unit);
        if let Some(known) = self.by_name.get(&name) {
            return *known;
        }
        let index = self.families.len() as u32;
        self.families.push(Family {
            name: name.clone(),
            metric: cell.metric.clone(),
            unit: cell.unit,
        });
        self.by_name.insert(name, index);
        index
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
    let id: String = id
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
        .collect();
    match unit_name(unit) {
        "" => format!("backslide_{id}"),
        unit => format!("backslide_{id}_{unit}"),
    }
}

const fn unit_name(unit: Unit) -> &'static str {
    match unit {
        Unit::OpsPerSecond => "operations_per_second",
        Unit::RowsPerSecond => "rows_per_second",
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
        Unit::Gib => value * (1u64 << 30) as f64,
        Unit::Percent => value / 100.0,
        Unit::OpsPerSecond | Unit::RowsPerSecond | Unit::PerOp | Unit::Count => value,
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
        assert_eq!(
            name("rate", Unit::RowsPerSecond),
            "backslide_rate_rows_per_second"
        );
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
