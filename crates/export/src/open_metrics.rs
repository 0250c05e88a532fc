//! OpenMetrics text, version 1.0: for Prometheus and what else reads its format.
//!
//! Units are the base units that the format asks for (seconds, bytes, ratios), and the unit ends the name
//! of a family. All samples of a family stand together, as the format requires; a text ends in `# EOF`.
//! Samples carry the time at which their trial started, so that a run can be loaded as history.

mod measurements;

use std::io::{self, Write};

use model::{Clock, Comparison, Nanos, RunId, StepHistogram, StepPlace};

pub use self::measurements::Measurements;
use crate::ExportError;

/// Upper ends of the buckets, in nanoseconds: those of the published response-time tables, and two below.
const BUCKETS: [u64; 11] = [
    16_000,
    64_000,
    256_000,
    1_000_000,
    4_000_000,
    16_000_000,
    64_000_000,
    256_000_000,
    1_000_000_000,
    4_000_000_000,
    16_000_000_000,
];

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
    pub fn family(&mut self, clock: Clock) -> Result<(), ExportError> {
        let help = match clock {
            Clock::Service => "from sending to the complete reply",
            Clock::Response => "from the intended start to the complete reply",
        };
        Ok(head(&mut self.out, name(clock), "histogram", "seconds", help)?)
    }

    /// One histogram of the clock whose family was begun last. `time` is when its trial started, in
    /// seconds since 1970.
    pub fn add(
        &mut self,
        place: &StepPlace,
        histogram: &StepHistogram,
        time: Option<f64>,
    ) -> Result<(), ExportError> {
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
        for bucket in BUCKETS {
            let count = latency.at_most(Nanos(bucket));
            let bound = bound(Nanos(bucket));
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
    pub fn finish(mut self) -> Result<(), ExportError> {
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

/// A number of a comparison: its family, unit, help text, and the number.
type Number = (&'static str, &'static str, &'static str, fn(&Comparison) -> Option<f64>);

const NUMBERS: [Number; 5] = [
    (
        "backslide_comparison_ratio",
        "ratio",
        "geometric mean over the rounds of the system over the base",
        |comparison| comparison.ratio,
    ),
    (
        "backslide_comparison_low_ratio",
        "ratio",
        "lower end of the 95 % interval of the ratio",
        |comparison| comparison.low,
    ),
    (
        "backslide_comparison_high_ratio",
        "ratio",
        "upper end of the 95 % interval of the ratio",
        |comparison| comparison.high,
    ),
    ("backslide_comparison_rounds", "rounds", "complete rounds behind the ratio", |comparison| {
        Some(f64::from(comparison.rounds))
    }),
    ("backslide_comparison_q_value", "", "p-value adjusted for false discoveries", |comparison| {
        comparison.q_value
    }),
];

pub fn comparisons(
    run: &RunId,
    comparisons: &[Comparison],
    out: &mut impl Write,
) -> Result<(), ExportError> {
    for (name, unit, help, value) in NUMBERS {
        head(out, name, "gauge", unit, help)?;
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
    if value.is_nan() {
        "NaN".to_owned()
    } else if value == f64::INFINITY {
        "+Inf".to_owned()
    } else if value == f64::NEG_INFINITY {
        "-Inf".to_owned()
    } else {
        value.to_string()
    }
}

/// A timestamp after a value: seconds since 1970, or nothing where it is not known.
fn at(time: Option<f64>) -> String {
    time.filter(|time| time.is_finite()).map_or_else(String::new, |time| format!(" {time}"))
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
