//! The two columns of an interval: its numbers, and its histograms.
//!
//! All numbers are unsigned LEB128 (seven bits a byte, lowest first). `numbers` holds
//! `start length stalled`, all in nanoseconds, the number of kinds, and for each kind
//! `ops rows errors retries p50 p99 max`; the last three are of the service time, in nanoseconds,
//! taken from the histogram so that charts need not read it. `latency` holds for each kind the
//! length of the service histogram and the histogram, then the same of the response histogram,
//! with the length one too large and zero where there is none.

use model::{Interval, IntervalNumbers, KindInterval, KindNumbers, Latency, Nanos, Readings};

use crate::error::Result;

#[derive(Debug)]
pub(crate) struct Damage(pub(crate) String);

impl Damage {
    fn cut_short() -> Self {
        Self("it ends too early".to_owned())
    }
}

pub(crate) fn encode_numbers(interval: &Interval) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(32 + 32 * interval.kinds.len());
    let head = [interval.start.0, interval.length.0, interval.stalled.0];
    let mut put = |value| put_number(&mut bytes, value);
    head.into_iter().for_each(&mut put);
    put(interval.kinds.len() as u64);
    for kind in &interval.kinds {
        let quantile = |q| kind.service.quantile(q).unwrap_or_default().0;
        let counts = [kind.ops, kind.rows, kind.errors, kind.retries];
        counts.into_iter().for_each(&mut put);
        let times = [quantile(0.5), quantile(0.99), kind.service.max().0];
        times.into_iter().for_each(&mut put);
    }
    bytes
}

pub(crate) fn encode_latency(interval: &Interval) -> Vec<u8> {
    let mut bytes = Vec::new();
    for kind in &interval.kinds {
        let service = kind.service.encode();
        put_number(&mut bytes, service.len() as u64);
        bytes.extend(service);
        match &kind.response {
            None => put_number(&mut bytes, 0),
            Some(response) => {
                let response = response.encode();
                put_number(&mut bytes, response.len() as u64 + 1);
                bytes.extend(response);
            }
        }
    }
    bytes
}

/// Reads a column from its start to its end.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn kind(&mut self) -> Result<KindNumbers, Damage> {
        Ok(KindNumbers {
            ops: self.number()?,
            rows: self.number()?,
            errors: self.number()?,
            retries: self.number()?,
            p50: Nanos(self.number()?),
            p99: Nanos(self.number()?),
            max: Nanos(self.number()?),
        })
    }

    fn number(&mut self) -> Result<u64, Damage> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let (byte, rest) = self.0.split_first().ok_or_else(Damage::cut_short)?;
            self.0 = rest;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(Damage("a number has no end".to_owned()))
    }

    fn histogram(&mut self, length: u64) -> Result<Latency, Damage> {
        let length = usize::try_from(length).map_err(|_| Damage::cut_short())?;
        let (packed, rest): (&'a [u8], _) =
            self.0.split_at_checked(length).ok_or_else(Damage::cut_short)?;
        self.0 = rest;
        Latency::decode(packed).map_err(|cause| Damage(cause.to_string()))
    }
}

pub(crate) fn decode_numbers(index: u32, bytes: &[u8]) -> Result<IntervalNumbers, Damage> {
    let mut reader = Reader(bytes);
    let [start, length, stalled] =
        [reader.number()?, reader.number()?, reader.number()?].map(Nanos);
    let kinds = (0..reader.number()?).map(|_| reader.kind()).collect::<Result<_, _>>()?;
    Ok(IntervalNumbers { index, start, length, stalled, kinds })
}

pub(crate) fn decode(
    index: u32,
    numbers: &[u8],
    latency: &[u8],
    readings: Readings,
) -> Result<Interval, Damage> {
    let IntervalNumbers { index, start, length, stalled, kinds: counted } =
        decode_numbers(index, numbers)?;
    let mut latency = Reader(latency);
    let mut kinds = Vec::with_capacity(counted.len());
    for kind in counted {
        let length = latency.number()?;
        let service = latency.histogram(length)?;
        let response = match latency.number()? {
            0 => None,
            longer => Some(latency.histogram(longer - 1)?),
        };
        kinds.push(KindInterval {
            ops: kind.ops,
            rows: kind.rows,
            errors: kind.errors,
            retries: kind.retries,
            service,
            response,
        });
    }
    Ok(Interval { index, start, length, kinds, stalled, readings })
}

fn put_number(bytes: &mut Vec<u8>, mut value: u64) {
    while value > 0x7f {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_survive(values in prop::collection::vec(any::<u64>(), 0..10)) {
            let mut bytes = Vec::new();
            for value in &values {
                put_number(&mut bytes, *value);
            }
            let mut reader = Reader(&bytes);
            for value in values {
                prop_assert_eq!(reader.number().unwrap(), value);
            }
            prop_assert!(reader.number().is_err());
        }

        #[test]
        fn nonsense_is_an_error_and_never_a_panic(
            numbers in prop::collection::vec(any::<u8>(), 0..200),
            latency in prop::collection::vec(any::<u8>(), 0..200),
        ) {
            let _either = decode(0, &numbers, &latency, Readings::default());
        }
    }

    #[test]
    fn a_number_without_an_end_is_damage() {
        let error = Reader(&[0xff; 20]).number().unwrap_err();
        assert_eq!(error.0, "a number has no end");
    }
}
