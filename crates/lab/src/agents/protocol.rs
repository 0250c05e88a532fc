//! What this process and its agents, the same program, say to each other: lines of JSON over standard streams.

use std::io::{self, BufRead, Read, Write};
use std::net::IpAddr;
use std::path::Path;
use std::time::Duration;

use load::{Share, Window};
use model::{
    Dbms, ErrorCount, Interval, KindInterval, Latency, LatencyError, Nanos, OpenLoop, Readings,
    System,
};
use obtain::{ObtainError, file_digest};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::marker::Owner;

pub(super) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// How often an agent hears of us at least, and after which silence it ends: nothing else tells it of a cut network.
pub(super) const SIGN_EVERY: Duration = Duration::from_secs(1);
pub(super) const SILENCE: Duration = Duration::from_secs(30);

/// A longer line is no greeting.
pub(super) const LONGEST_GREETING: u64 = 4 << 10;

/// A longer line is no message.
pub(super) const LONGEST: u64 = 256 << 20;

const SHOWN: usize = 200;

// Not `Debug`: a server's password is in it.
#[derive(Serialize, Deserialize)]
pub(super) enum Request {
    /// A sign of life, without an answer.
    Alive,
    /// What does your clock say?
    Time,
    /// This is the server; is it within reach?
    Reach(Box<Server>),
    /// Our database there has this marker: is it the same server?
    Recognize(Owner),
    /// Connect this share of the clients that the assignment describes. They open so many sessions in all.
    Connect { assignment: String, share: Share, all_sessions: u32 },
    /// Get ready for a window.
    Run(Window),
    /// Open it when your clock says so.
    Open(Nanos),
    /// Look for the process of the server at this address, to read its counters.
    Watch { address: String, addresses: Vec<IpAddr>, dbms: Dbms },
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
    Recognized,
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
    /// Its digest; builds of one version may differ.
    #[serde(default)]
    pub(super) program: String,
    pub(super) cpus: u32,
}

/// A server that is not ours, and who logs in. Not `Debug`: the password is in it.
#[derive(Serialize, Deserialize)]
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

/// The digest of this program, also where its file has been replaced.
pub(super) fn program() -> Result<String, ObtainError> {
    file_digest(Path::new("/proc/self/exe"))
}

pub(super) fn line(message: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    Ok(line)
}

pub(super) fn write(to: &mut impl Write, message: &impl Serialize) -> io::Result<()> {
    to.write_all(&line(message)?)?;
    to.flush()
}

/// The next message, of at most `longest` bytes; `None` at the end. Returns an unreadable line, shortened, as text.
pub(super) fn read<T: DeserializeOwned>(
    from: &mut impl BufRead,
    longest: u64,
) -> Option<Result<T, String>> {
    let mut line = Vec::new();
    match from.take(longest).read_until(b'\n', &mut line) {
        Ok(0) | Err(_) => None,
        Ok(_) => Some(serde_json::from_slice(&line).map_err(|_| shown(&line))),
    }
}

fn shown(line: &[u8]) -> String {
    String::from_utf8_lossy(line).trim_end().chars().take(SHOWN).collect()
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
        let Some(Ok(Answer::Interval(arrived))) = read(&mut from, LONGEST) else {
            panic!("an interval")
        };
        assert_eq!(Interval::try_from(*arrived).unwrap(), interval);
        assert!(matches!(read(&mut from, LONGEST), Some(Ok(Answer::Closed))));
        assert!(read::<Answer>(&mut from, LONGEST).is_none());
    }

    #[test]
    fn an_unreadable_line_is_returned_as_far_as_it_is_shown() {
        let text = |line: &str, longest| {
            read::<Answer>(&mut line.as_bytes(), longest).unwrap().unwrap_err()
        };
        assert_eq!(text("Welcome to client1!\n", LONGEST), "Welcome to client1!");
        assert_eq!(text(&"é".repeat(300), LONGEST), "é".repeat(SHOWN));
        assert_eq!(text("\"Reached\"\n", 5), "\"Reac");
    }
}
