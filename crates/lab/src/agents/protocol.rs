//! What this process and its agents say to each other: a line of JSON for each message, over the agent's standard input
//! and output. Both are of one version, which the greeting proves.

use std::io::{self, BufRead, Read, Write};

use load::{Share, Window};
use model::{
    Dbms, ErrorCount, Interval, KindInterval, Latency, LatencyError, Nanos, OpenLoop, Readings,
    System,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The version of both sides.
pub(super) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A longer line is no message.
const LONGEST: u64 = 256 << 20;

#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Request {
    /// What does your clock say?
    Time,
    /// This is the server; is it within reach?
    Reach(Box<Server>),
    /// Connect this share of the clients that the assignment describes.
    Connect { assignment: String, share: Share },
    /// Get ready for a window.
    Run(Window),
    /// Open it when your clock says so.
    Open(Nanos),
    /// Look for the process of the server at this address, to read its counters.
    Watch { address: String, dbms: Dbms },
    /// What do the counters say? At an edge of a window all of them do.
    Read { is_edge: bool },
    /// Close the sessions, and tell what the clients know.
    Report,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Answer {
    Greeting(Greeting),
    Time(Nanos),
    Reached,
    Connected,
    Ready,
    /// The window opened so much later than it was to.
    Opened {
        late: Nanos,
    },
    Interval(Box<SentInterval>),
    /// The window has closed; its last intervals follow.
    Closed,
    Ended(Box<Ended>),
    Report(String),
    /// The server's process, if it was found.
    Watching(Option<u32>),
    Readings(Readings),
    Failed(String),
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Greeting {
    pub(super) version: String,
    pub(super) cpus: u32,
}

/// A server that is not ours, and who logs in.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Server {
    pub(super) system: System,
    pub(super) address: String,
    pub(super) password: String,
    /// Of a statement of the workload.
    pub(super) timeout_seconds: u64,
}

/// What a window came to, besides its intervals.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Ended {
    pub(super) window: Nanos,
    /// For each kind.
    pub(super) late: Vec<u64>,
    pub(super) errors: Vec<ErrorCount>,
    pub(super) open_loop: Option<OpenLoop>,
    pub(super) cut_short: bool,
    pub(super) counters: Readings,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct SentInterval {
    index: u32,
    start: Nanos,
    length: Nanos,
    kinds: Vec<SentKind>,
    stalled: Nanos,
    readings: Readings,
}

/// The counts of a kind, and its histograms as `HdrHistogram` encodes them.
#[derive(Debug, Serialize, Deserialize)]
struct SentKind {
    counts: KindInterval,
    service: Vec<u8>,
    response: Option<Vec<u8>>,
}

impl From<Interval> for SentInterval {
    fn from(interval: Interval) -> Self {
        let Interval { index, start, length, kinds, stalled, readings } = interval;
        let kinds = kinds.into_iter().map(|counts| SentKind {
            service: counts.service.encode(),
            response: counts.response.as_ref().map(Latency::encode),
            counts,
        });
        Self { index, start, length, kinds: kinds.collect(), stalled, readings }
    }
}

impl TryFrom<SentInterval> for Interval {
    type Error = LatencyError;

    fn try_from(sent: SentInterval) -> Result<Self, LatencyError> {
        let SentInterval { index, start, length, kinds, stalled, readings } = sent;
        let kind = |SentKind { counts, service, response }| {
            Ok(KindInterval {
                service: Latency::decode(&service)?,
                response: response.map(|packed| Latency::decode(&packed)).transpose()?,
                ..counts
            })
        };
        let kinds: Result<_, _> = kinds.into_iter().map(kind).collect();
        Ok(Self { index, start, length, kinds: kinds?, stalled, readings })
    }
}

pub(super) fn write(to: &mut impl Write, message: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    to.write_all(&line)?;
    to.flush()
}

/// The next message; `None` at the end. What is no message comes back as its text.
pub(super) fn read<T: DeserializeOwned>(from: &mut impl BufRead) -> Option<Result<T, String>> {
    let mut line = Vec::new();
    match from.take(LONGEST).read_until(b'\n', &mut line) {
        Ok(0) | Err(_) => None,
        Ok(_) => Some(
            serde_json::from_slice(&line)
                .map_err(|_| String::from_utf8_lossy(&line).trim_end().to_owned()),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_arrives_as_it_was_sent() {
        let mut kind =
            KindInterval { ops: 2, rows: 3, errors: 4, retries: 5, ..Default::default() };
        for nanos in [17, 40_000_000] {
            kind.service.record(Nanos(nanos));
        }
        let scheduled = KindInterval { response: Some(kind.service.clone()), ..kind.clone() };
        let mut readings = Readings::default();
        readings.total("client.cpu_ns", 7);
        let interval = Interval {
            index: 3,
            start: Nanos::from_secs(3),
            length: Nanos::SECOND,
            kinds: vec![kind, scheduled],
            stalled: Nanos(9),
            readings,
        };
        let mut sent = Vec::new();
        let message = Answer::Interval(Box::new(interval.clone().into()));
        write(&mut sent, &message).unwrap();
        write(&mut sent, &Answer::Closed).unwrap();
        let mut from = sent.as_slice();
        let Some(Ok(Answer::Interval(arrived))) = read(&mut from) else { panic!("an interval") };
        assert_eq!(Interval::try_from(*arrived).unwrap(), interval);
        assert!(matches!(read(&mut from), Some(Ok(Answer::Closed))));
        assert!(read::<Answer>(&mut from).is_none());
    }

    #[test]
    fn what_is_no_message_is_told() {
        let told = read::<Answer>(&mut "Welcome to client1!\n".as_bytes());
        assert_eq!(told.unwrap().unwrap_err(), "Welcome to client1!");
    }
}
