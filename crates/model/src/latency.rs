//! A latency histogram with fixed bounds, so that any two can be merged.

use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2Serializer};
use std::io::{Read, Write};

use crate::Nanos;

/// Nanoseconds from 1 to 2^42 (73 minutes) with three significant digits; longer ones count at the upper bound.
#[derive(Clone, Debug, PartialEq)]
pub struct Latency(Histogram<u64>);

#[derive(Debug, thiserror::Error)]
#[error("a stored latency histogram is damaged: {0}")]
pub struct LatencyError(String);

const LONGEST: u64 = 1 << 42;

impl Latency {
    pub fn new() -> Self {
        let mut histogram = Histogram::new_with_bounds(1, LONGEST, 3).unwrap_or_else(|_| {
            unreachable!("1 ns to 2^42 ns at three digits are bounds that the histogram takes")
        });
        histogram.auto(false);
        Self(histogram)
    }

    #[inline]
    pub fn record(&mut self, latency: Nanos) {
        self.0.saturating_record(latency.0.max(1));
    }

    pub fn record_many(&mut self, latency: Nanos, count: u64) {
        self.0.saturating_record_n(latency.0.max(1), count);
    }

    pub fn merge(&mut self, other: &Self) {
        // Both have the same bounds, so the addition cannot fail.
        let added = self.0.add(&other.0);
        debug_assert!(added.is_ok());
    }

    pub fn count(&self) -> u64 {
        self.0.len()
    }

    /// The value at or below which a share `q` (0 to 1) lies; `None` when empty.
    pub fn quantile(&self, q: f64) -> Option<Nanos> {
        (self.count() > 0).then(|| Nanos(self.0.value_at_quantile(q).min(self.0.max())))
    }

    pub fn mean(&self) -> Option<Nanos> {
        (self.count() > 0).then(|| Nanos(self.0.mean().round() as u64))
    }

    /// The largest; zero when empty. Exact to the histogram's three digits.
    pub fn max(&self) -> Nanos {
        if self.count() == 0 { Nanos(0) } else { Nanos(self.0.max()) }
    }

    pub fn at_most(&self, limit: Nanos) -> u64 {
        self.0
            .iter_recorded()
            .take_while(|v| v.value_iterated_to() <= limit.0)
            .map(|v| v.count_since_last_iteration())
            .sum()
    }

    /// Each distinct value and how often it was counted, in rising order.
    pub fn counts(&self) -> impl Iterator<Item = (Nanos, u64)> + '_ {
        self.0
            .iter_recorded()
            .map(|v| (Nanos(v.value_iterated_to()), v.count_since_last_iteration()))
    }

    pub const fn histogram(&self) -> &Histogram<u64> {
        &self.0
    }

    /// HdrHistogram V2 encoding, deflated.
    pub fn encode(&self) -> Vec<u8> {
        let mut plain = Vec::new();
        let written = V2Serializer::new().serialize(&self.0, &mut plain);
        debug_assert!(written.is_ok(), "writing to memory");
        let mut packed = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
        let _infallible = packed.write_all(&plain);
        packed.finish().unwrap_or_default()
    }

    pub fn decode(packed: &[u8]) -> Result<Self, LatencyError> {
        let mut plain = Vec::new();
        flate2::read::ZlibDecoder::new(packed)
            .take(16 << 20)
            .read_to_end(&mut plain)
            .map_err(|e| LatencyError(e.to_string()))?;
        let histogram: Histogram<u64> = Deserializer::new()
            .deserialize(&mut plain.as_slice())
            .map_err(|e| LatencyError(e.to_string()))?;
        let mut latency = Self::new();
        latency.0.add(histogram).map_err(|e| LatencyError(e.to_string()))?;
        Ok(latency)
    }
}

impl Default for Latency {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn survives_encoding_and_merging() {
        let mut a = Latency::new();
        let mut b = Latency::new();
        for i in 1..=1000u64 {
            a.record(Nanos(i * 1000));
            b.record(Nanos(i * 2000));
        }
        let mut merged = Latency::decode(&a.encode()).unwrap();
        merged.merge(&b);
        assert_eq!(merged.count(), 2000);
        assert_eq!(Latency::decode(&merged.encode()).unwrap(), merged);
        let p50 = a.quantile(0.5).unwrap().0 as f64;
        assert!((p50 / 500_000.0 - 1.0).abs() < 0.001, "{p50}");
        assert_eq!(a.at_most(Nanos(500_500)), 500);
    }

    #[test]
    fn damage_is_an_error() {
        assert!(Latency::decode(b"nonsense").is_err());
        assert!(Latency::decode(&[]).is_err());
    }

    #[test]
    fn an_absurd_latency_is_kept_at_the_bound() {
        let mut l = Latency::new();
        l.record(Nanos(u64::MAX));
        assert_eq!(l.count(), 1);
    }
}
