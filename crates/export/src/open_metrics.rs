//! OpenMetrics text, version 1.0: for Prometheus and what else reads its format.
//!
//! Units are the base units that the format asks for (seconds, bytes, ratios), and the unit ends the name
//! of a family. All samples of a family stand together, as the format requires; a text ends in `# EOF`.
//! Samples carry the time at which their trial started, so that a run can be loaded as history.

use std::collections::HashMap;
use std::io::{self, Write};

use model::{
    Cell, Clock, Comparison, MetricId, Nanos, RunId, StepHistogram, StepPlace, Unit, describe,
};

use crate::Result;

/// Upper ends of the buckets, in microseconds: those of the published response-time tables, and two below.
const BUCKETS: [u64; 11] =
    [16, 64, 256, 1_000, 4_000, 16_000, 64_000, 256_000, 1_000_000, 4_000_000, 16_000_000];

/// Writes merged histograms as they come: first all of one clock, then all of the other.
pub struct Histograms<'a, W: Write> {
    run: &'a RunId,
    out: W,
}

impl<'a, W: Write> Histograms<'a, W> {
    pub const fn begin(run: &'a RunId, out: W) -> Self {
        Self { run, out }
    }

    /// The metadata above the histograms of this clock.
    pub fn family(&mut self, clock: Clock) -> Result {
        let help = match clock {
            Clock::Service => "from sending to the complete reply",
            Clock::Response => "from the intended start to the complete reply",
        };
        Ok(head(&mut self.out, name(clock), "histogram", "seconds", help)?)
    }

    /// Of the clock whose family was begun last. `time` is when its trial started, in seconds since 1970.
    pub fn add(
        &mut self,
        place: &StepPlace,
        histogram: &StepHistogram,
        time: Option<f64>,
    ) -> Result {
        let name = name(Clock::of(histogram.is_response));
        let labels = labels(&[
            ("run", &self.run.0),
            ("round", &place.trial.round.to_string()),
            ("position", &place.trial.position.to_string()),
            ("system", &place.trial.system),
            ("step", &place.step.0),
            ("clients", &place.clients.to_string()),
            ("kind", &histogram.kind),
        ]);
        let (latency, time) = (&histogram.latency, at(time));
        for bucket in BUCKETS.map(|micros| Nanos(1_000 * micros)) {
            let count = latency.at_most(bucket);
            let bound = bound(bucket);
            writeln!(self.out, "{name}_bucket{{{labels},le=\"{bound}\"}} {count}{time}")?;
        }
        let count = latency.count();
        let sum = latency.mean().unwrap_or_default().as_secs_f64() * count as f64;
        writeln!(self.out, "{name}_bucket{{{labels},le=\"+Inf\"}} {count}{time}")?;
        writeln!(self.out, "{name}_count{{{labels}}} {count}{time}")?;
        writeln!(self.out, "{name}_sum{{{labels}}} {}{time}", number(sum))?;
        Ok(())
    }

    /// Output not yet written.
    pub fn finish(mut self) -> Result {
        Ok(end(&mut self.out)?)
    }
}

/// Seconds with a point, as the format writes bounds: `0.000016`, `1.0`.
fn bound(bucket: Nanos) -> String {
    let seconds = bucket.as_secs_f64().to_string();
    if seconds.contains('.') { seconds } else { format!("{seconds}.0") }
}

const fn name(clock: Clock) -> &'static str {
    match clock {
        Clock::Service => "backslide_service_time_seconds",
        Clock::Response => "backslide_response_time_seconds",
    }
}

const VERDICT: &str = "backslide_comparison_verdict";

const STATES: [&str; 5] = ["regressed", "improved", "unchanged", "inconclusive", "incomparable"];

/// A number of a comparison: the end of its family's name, unit, help text, and the number.
type Number = (&'static str, &'static str, &'static str, fn(&Comparison) -> Option<f64>);

const NUMBERS: [Number; 5] = [
    ("ratio", "ratio", "geometric mean over the rounds of the system over the base", |c| c.ratio),
    ("low_ratio", "ratio", "lower end of the 95 % interval of the ratio", |c| c.low),
    ("high_ratio", "ratio", "upper end of the 95 % interval of the ratio", |c| c.high),
    ("rounds", "rounds", "complete rounds behind the ratio", |c| Some(f64::from(c.rounds))),
    ("q_value", "", "p-value adjusted for false discoveries", |c| c.q_value),
];

pub fn comparisons(run: &RunId, comparisons: &[Comparison], out: &mut impl Write) -> Result {
    for (name, unit, help, value) in NUMBERS {
        let name = format!("backslide_comparison_{name}");
        head(out, &name, "gauge", unit, help)?;
        for comparison in comparisons {
            if let Some(value) = value(comparison).filter(|value| value.is_finite()) {
                let labels = labels_of(run, comparison);
                writeln!(out, "{name}{{{labels}}} {}", number(value))?;
            }
        }
    }
    head(out, VERDICT, "stateset", "", "what is concluded")?;
    for comparison in comparisons {
        let labels = labels_of(run, comparison);
        for state in STATES {
            let holds = u8::from(comparison.verdict.word() == state);
            writeln!(out, "{VERDICT}{{{labels},{VERDICT}=\"{state}\"}} {holds}")?;
        }
    }
    Ok(end(out)?)
}

fn labels_of(run: &RunId, comparison: &Comparison) -> String {
    labels(&[
        ("run", &run.0),
        ("base", &comparison.base),
        ("system", &comparison.system),
        ("step", &comparison.step.0),
        ("clients", &comparison.clients.to_string()),
        ("metric", &comparison.metric.0),
    ])
}

/// The metadata above the samples of a family; an empty unit means none.
fn head(out: &mut impl Write, name: &str, kind: &str, unit: &str, help: &str) -> io::Result<()> {
    writeln!(out, "# TYPE {name} {kind}")?;
    if !unit.is_empty() {
        writeln!(out, "# UNIT {name} {unit}")?;
    }
    writeln!(out, "# HELP {name} {}", escaped(help))
}

fn end(out: &mut impl Write) -> io::Result<()> {
    out.write_all(b"# EOF\n")?;
    out.flush()
}

/// `a="1",b="2"`.
fn labels(pairs: &[(&str, &str)]) -> String {
    let pairs = pairs.iter().map(|(name, value)| format!("{name}=\"{}\"", escaped(value)));
    pairs.collect::<Vec<_>>().join(",")
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

fn number(value: f64) -> String {
    match value {
        f64::INFINITY => "+Inf".to_owned(),
        f64::NEG_INFINITY => "-Inf".to_owned(),
        value => value.to_string(),
    }
}

/// A timestamp after a value: seconds since 1970, or nothing where it is not known.
fn at(time: Option<f64>) -> String {
    time.filter(|time| time.is_finite()).map_or_else(String::new, |time| format!(" {time}"))
}

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

    /// Those of a step follow each other. `time` is when its trial started, in seconds since 1970.
    pub fn add(&mut self, cell: &Cell, time: Option<f64>) {
        let sample = Sample {
            metric: self.metric(cell),
            place: self.place(cell, time),
            value: in_base_unit(cell.value, cell.unit),
        };
        self.samples.push(sample);
    }

    pub fn write(mut self, out: &mut impl Write) -> Result {
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
    fn quotes_and_line_ends_stay_within_their_label() {
        assert_eq!(
            labels(&[("system", "a\"b\\c\nd"), ("step", "l.i0")]),
            "system=\"a\\\"b\\\\c\\nd\",step=\"l.i0\""
        );
    }

    #[test]
    fn what_is_no_number_has_the_names_of_the_format() {
        let texts = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.5].map(number);
        assert_eq!(texts, ["NaN", "+Inf", "-Inf", "0.5"]);
        assert_eq!((at(None), at(Some(12.5))), (String::new(), " 12.5".into()));
    }
}

#[cfg(test)]
mod tests_of_measurements {
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
