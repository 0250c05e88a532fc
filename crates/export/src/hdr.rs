//! The interval log of `HdrHistogram`: a histogram a second, which its own tools read.
//!
//! A line is `Tag=…,start,length,max,histogram`: seconds, seconds, milliseconds, and the histogram of
//! nanoseconds in the encoding V2, deflated, in base64. One log holds all steps; its tags tell them apart.

use std::io::Write;
use std::time::{Duration, SystemTime};

use hdrhistogram::serialization::interval_log::{
    IntervalLogWriter, IntervalLogWriterBuilder, IntervalLogWriterError, Tag,
};
use hdrhistogram::serialization::{V2DeflateSerializeError, V2DeflateSerializer};
use model::{Clock, Interval, Latency, StepPlace};

use crate::{ExportError, Result};

/// Nanoseconds of a millisecond: such logs give the maximum in milliseconds.
const MAX_DIVISOR: f64 = 1e6;

/// Buffers for packing histograms.
#[derive(Default)]
pub struct Packer(V2DeflateSerializer);

pub struct IntervalLog<'a, W: Write + 'a>(IntervalLogWriter<'a, 'a, W, V2DeflateSerializer>);

impl<'a, W: Write + 'a> IntervalLog<'a, W> {
    /// A log with a comment `about` its content, and the start of the run if known.
    pub fn begin(
        out: &'a mut W,
        packer: &'a mut Packer,
        about: &str,
        started: Option<SystemTime>,
    ) -> Result<Self> {
        let mut head = IntervalLogWriterBuilder::new();
        head.add_comment("[Histogram log format version 1.3]");
        head.add_comment(about);
        head.with_max_value_divisor(MAX_DIVISOR);
        if let Some(started) = started {
            head.with_start_time(started);
        }
        Ok(Self(head.begin_log_with(out, &mut packer.0)?))
    }

    /// The histograms of one interval: service time of each kind, and response time where there is one.
    pub fn interval(&mut self, place: &StepPlace, interval: &Interval) -> Result {
        for (kind, done) in place.kinds.iter().zip(&interval.kinds) {
            let service = tag(place, kind, Clock::Service);
            self.put(&service, interval, &done.service)?;
            if let Some(latency) = &done.response {
                self.put(&tag(place, kind, Clock::Response), interval, latency)?;
            }
        }
        Ok(())
    }

    fn put(&mut self, tag: &str, interval: &Interval, latency: &Latency) -> Result {
        let (start, length): (Duration, Duration) = (interval.start.into(), interval.length.into());
        let histogram = latency.histogram();
        self.0.write_histogram(histogram, start, length, Tag::new(tag)).map_err(not_written)
    }
}

/// `SYSTEM:ROUND:STEP:KIND:CLOCK`, without what a tag must not hold.
fn tag(place: &StepPlace, kind: &str, clock: Clock) -> String {
    let trial = &place.trial;
    let clock = clock.word();
    let tag = format!("{}:{}:{}:{kind}:{clock}", trial.system, trial.round, place.step);
    tag.replace(|c: char| c == ',' || c.is_whitespace() || c.is_control(), "_")
}

fn not_written(error: IntervalLogWriterError<V2DeflateSerializeError>) -> ExportError {
    match error {
        IntervalLogWriterError::IoError(error) => ExportError::Io(error),
        IntervalLogWriterError::SerializeError(error) => ExportError::Histogram(error.to_string()),
    }
}
