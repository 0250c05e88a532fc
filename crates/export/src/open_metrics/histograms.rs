//! Merged histograms: a family for service time and one for response time.

use std::io::Write;

use model::{Clock, Nanos, RunId, StepHistogram, StepPlace};

use super::{at, end, head, labels, number};
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
