//! A blocking byte stream to a server, with one reused read buffer; both protocols stand on it.
//!
//! A protocol sends a whole request with [`Stream::send`], then asks for as many bytes as it needs
//! with [`Stream::ensure`], reads them where they lie, and lets them go with [`Stream::consume`]:
//!
//! ```text
//! stream.send(&request)?;
//! let header = stream.ensure(5)?;          // at least 5 unread bytes; more if they are there
//! let length = ...;
//! let message = &stream.ensure(5 + length)?[5..5 + length];
//! ...
//! stream.consume(5 + length);
//! ```
//!
//! The wait for an answer counts from the last `send` and is bounded by the timeout as a whole,
//! however many reads it takes. Errors carry no statement: the caller adds it with
//! [`SessionError::about`]. After a timeout or a lost connection every further call fails, because
//! a late answer would be taken for the answer to the next request.

use std::net::{TcpStream, ToSocketAddrs};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{AddressFamily, Shutdown, SocketAddrUnix, SocketType};

use crate::{Address, SessionError};

/// The longest message that is taken from or sent to a server, in bytes. A length beyond it is a
/// broken peer or a mistake.
pub(crate) const MAX_MESSAGE: usize = 64 << 20;

/// First size of the read buffer: a reply of a hundred rows fits.
const FIRST_BUFFER: usize = 32 << 10;

/// Sockets take no timeout of zero, and a year is as good as for ever.
const TIMEOUT_RANGE: (Duration, Duration) =
    (Duration::from_millis(1), Duration::from_hours(365 * 24));

/// One connection.
#[derive(Debug)]
pub(crate) struct Stream {
    socket: OwnedFd,
    /// A blocking `read` on a Unix socket is also woken when the server consumes our request, which
    /// costs a second context switch per query; `poll` filters by event. TCP does not have this.
    polls_first: bool,
    timeout: Duration,
    /// `timeout` as `poll` takes it.
    limit: Timespec,
    /// Set at the first wait after a `send`.
    deadline: Option<Instant>,
    broken: bool,
    /// Unread bytes are `buffer[start..end]`; `start <= end <= buffer.len()` always.
    buffer: Vec<u8>,
    start: usize,
    end: usize,
}

impl Stream {
    /// Opens a connection. `timeout` bounds the connect, each wait for an answer, and each send.
    pub(crate) fn connect(address: &Address, timeout: Duration) -> Result<Self, SessionError> {
        let timeout = timeout.clamp(TIMEOUT_RANGE.0, TIMEOUT_RANGE.1);
        let opened = match address {
            Address::Socket(path) => connect_unix(path, timeout),
            Address::Tcp { host, port } => connect_tcp(host, *port, timeout),
        };
        let socket = opened.map_err(|cause| SessionError::Connect {
            address: address.to_string(),
            cause,
        })?;
        Ok(Self::over(
            socket,
            matches!(address, Address::Socket(_)),
            timeout,
        ))
    }

    /// Stands on a connected, blocking socket.
    pub(crate) fn over(socket: OwnedFd, polls_first: bool, timeout: Duration) -> Self {
        Self {
            socket,
            polls_first,
            timeout,
            limit: timespec(timeout),
            deadline: None,
            broken: false,
            buffer: vec![0; FIRST_BUFFER],
            start: 0,
            end: 0,
        }
    }

    /// Sends all of `bytes`. The wait for the answer counts from here.
    pub(crate) fn send(&mut self, bytes: &[u8]) -> Result<(), SessionError> {
        self.check_usable()?;
        self.deadline = None;
        let mut rest = bytes;
        while !rest.is_empty() {
            match rustix::io::write(&self.socket, rest) {
                Ok(sent) if sent == rest.len() => return Ok(()),
                Ok(sent) => {
                    rest = rest.get(sent..).unwrap_or_default();
                    self.remaining()?;
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return Err(self.timed_out()),
                Err(errno) => return Err(self.lost(&errno.to_string())),
            }
        }
        Ok(())
    }

    /// Waits until at least `count` unread bytes are there and returns all that are unread.
    #[inline]
    pub(crate) fn ensure(&mut self, count: usize) -> Result<&[u8], SessionError> {
        if self.end - self.start < count {
            self.fill_to(count)?;
        }
        Ok(self.unread())
    }

    /// The bytes that have arrived and were not consumed yet, without waiting.
    #[inline]
    pub(crate) fn unread(&self) -> &[u8] {
        self.buffer.get(self.start..self.end).unwrap_or_default()
    }

    /// Lets go of the first `count` unread bytes (of all, when there are fewer).
    #[inline]
    pub(crate) fn consume(&mut self, count: usize) {
        self.start = self.start.saturating_add(count).min(self.end);
        if self.start == self.end {
            self.start = 0;
            self.end = 0;
        }
    }

    /// Ends the connection, so that the server notices and no later call can use it. For a peer
    /// that broke the protocol: what it sends next has no meaning.
    pub(crate) fn abandon(&mut self) {
        self.broken = true;
        // The peer may be gone already, which is as good.
        let _ = rustix::net::shutdown(&self.socket, Shutdown::Both);
    }

    /// Has the connection ended?
    pub(crate) fn is_broken(&self) -> bool {
        self.broken
    }

    /// Out of line, so that messages which have arrived cost next to nothing.
    #[cold]
    #[inline(never)]
    fn fill_to(&mut self, count: usize) -> Result<(), SessionError> {
        while self.end - self.start < count {
            self.fill(count)?;
        }
        Ok(())
    }

    /// Reads once, on the way to `count` unread bytes.
    fn fill(&mut self, count: usize) -> Result<(), SessionError> {
        self.check_usable()?;
        if count > MAX_MESSAGE {
            self.abandon();
            return Err(SessionError::Protocol {
                what: format!(
                    "a message of {count} bytes, more than the {MAX_MESSAGE} that are taken"
                ),
            });
        }
        // What is unread moves to the front: part of one message, and seldom more than a row.
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        // Memory follows the bytes that arrived, not the length that was announced.
        if self.end == self.buffer.len() {
            self.buffer.resize(self.end * 2, 0);
        }
        self.wait()?;
        let room = self.buffer.get_mut(self.end..).unwrap_or_default();
        match rustix::io::read(&self.socket, room) {
            Ok(0) => Err(self.lost("the server closed the connection")),
            Ok(count) => {
                self.end += count;
                Ok(())
            }
            Err(Errno::INTR) => Ok(()),
            Err(Errno::AGAIN) => Err(self.timed_out()),
            Err(errno) => Err(self.lost(&errno.to_string())),
        }
    }

    /// Waits until a read will not block, or is allowed to. On TCP the first read of an answer waits
    /// by itself under the socket's own timeout; later ones have only what is left of the deadline.
    fn wait(&mut self) -> Result<(), SessionError> {
        let first = self.deadline.is_none();
        let limit = self.remaining()?;
        if first && !self.polls_first {
            return Ok(());
        }
        let polled = poll(
            &mut [PollFd::new(&self.socket, PollFlags::IN)],
            Some(&limit),
        );
        match polled {
            Ok(0) => Err(self.timed_out()),
            Ok(_) => Ok(()),
            Err(Errno::INTR) => self.wait(),
            Err(errno) => Err(self.lost(&errno.to_string())),
        }
    }

    /// What is left of the time for this answer; starts the count when it does not run yet.
    fn remaining(&mut self) -> Result<Timespec, SessionError> {
        let now = Instant::now();
        let Some(deadline) = self.deadline else {
            self.deadline = Some(now + self.timeout);
            return Ok(self.limit);
        };
        let remaining = deadline.saturating_duration_since(now);
        if remaining.is_zero() {
            return Err(self.timed_out());
        }
        Ok(timespec(remaining))
    }

    fn check_usable(&self) -> Result<(), SessionError> {
        if self.broken {
            return Err(SessionError::Lost {
                cause: "an earlier error ended this session".to_owned(),
            });
        }
        Ok(())
    }

    fn timed_out(&mut self) -> SessionError {
        self.abandon();
        SessionError::Timeout {
            limit: self.timeout,
            statement: String::new(),
        }
    }

    fn lost(&mut self, cause: &str) -> SessionError {
        self.abandon();
        SessionError::Lost {
            cause: cause.to_owned(),
        }
    }
}

/// A duration within [`TIMEOUT_RANGE`], as `poll` takes it.
fn timespec(duration: Duration) -> Timespec {
    Timespec {
        tv_sec: duration.as_secs().cast_signed(),
        tv_nsec: duration.subsec_nanos().into(),
    }
}

/// Opens a Unix socket whose connect, reads and writes are bounded. The standard library cannot
/// bound the connect, which waits for ever when the server's queue is full.
fn connect_unix(path: &Path, timeout: Duration) -> Result<OwnedFd, String> {
    let address = SocketAddrUnix::new(path).map_err(|errno| match errno {
        Errno::NAMETOOLONG => {
            "the path is too long for a socket (107 bytes); use a shorter directory".to_owned()
        }
        other => other.to_string(),
    })?;
    let open = || {
        let socket = rustix::net::socket(AddressFamily::UNIX, SocketType::STREAM, None)?;
        rustix::io::fcntl_setfd(&socket, rustix::io::FdFlags::CLOEXEC)?;
        bound(&socket, timeout)?;
        rustix::net::connect(&socket, &address)?;
        Ok(socket)
    };
    open().map_err(|errno: Errno| explain(errno, timeout))
}

/// Opens a TCP connection: every address of the host is tried, in the order of the resolver.
fn connect_tcp(host: &str, port: u16, timeout: Duration) -> Result<OwnedFd, String> {
    let addresses = (host, port)
        .to_socket_addrs()
        .map_err(|error| error.to_string())?;
    let mut cause = "the host name has no address".to_owned();
    for address in addresses {
        match TcpStream::connect_timeout(&address, timeout) {
            Ok(stream) => {
                stream
                    .set_nodelay(true)
                    .map_err(|error| error.to_string())?;
                bound(&stream, timeout).map_err(|errno| errno.to_string())?;
                return Ok(OwnedFd::from(stream));
            }
            Err(error) => cause = error.to_string(),
        }
    }
    Err(cause)
}

/// Sets the timeouts of reads and writes.
fn bound(socket: impl AsFd, timeout: Duration) -> Result<(), Errno> {
    set_socket_timeout(socket.as_fd(), Timeout::Recv, Some(timeout))?;
    set_socket_timeout(socket.as_fd(), Timeout::Send, Some(timeout))
}

fn explain(errno: Errno, timeout: Duration) -> String {
    if errno == Errno::AGAIN {
        return format!("no answer within {timeout:?}");
    }
    errno.to_string()
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::os::unix::net::UnixStream;

    use super::*;

    const SHORT: Duration = Duration::from_millis(80);

    fn pair() -> (Stream, UnixStream) {
        let (ours, theirs) = UnixStream::pair().unwrap();
        (Stream::over(ours.into(), true, SHORT), theirs)
    }

    #[test]
    fn bytes_are_read_in_place_and_let_go() {
        let (mut stream, mut server) = pair();
        server.write_all(b"hello world").unwrap();
        assert_eq!(stream.ensure(5).unwrap(), b"hello world");
        stream.consume(6);
        assert_eq!(stream.unread(), b"world");
        server.write_all(b"!").unwrap();
        assert_eq!(stream.ensure(6).unwrap(), b"world!");
        stream.consume(100);
        assert_eq!(stream.unread(), b"");
    }

    #[test]
    fn a_message_longer_than_the_buffer_arrives_whole() {
        let (mut stream, mut server) = pair();
        let message: Vec<u8> = (0..200_000_u32).map(|i| (i % 251) as u8).collect();
        let sent = message.clone();
        let writer = std::thread::spawn(move || server.write_all(&sent));
        assert!(stream.ensure(message.len()).unwrap() == message);
        writer.join().unwrap().unwrap();
    }

    #[test]
    fn a_silent_server_is_a_timeout_and_ends_the_session() {
        let (mut stream, mut server) = pair();
        stream.send(b"request").unwrap();
        let before = Instant::now();
        let error = stream.ensure(1).unwrap_err();
        assert_eq!(error.code(), "timeout");
        assert!(before.elapsed() >= SHORT);
        // The late answer must not be taken for the answer to the next request.
        let _ = server.write_all(b"late");
        assert_eq!(stream.send(b"again").unwrap_err().code(), "lost");
        assert_eq!(stream.ensure(1).unwrap_err().code(), "lost");
    }

    #[test]
    fn a_trickling_server_does_not_extend_the_deadline() {
        for polls_first in [true, false] {
            let (ours, mut theirs) = UnixStream::pair().unwrap();
            bound(&ours, SHORT).unwrap();
            let mut stream = Stream::over(ours.into(), polls_first, SHORT);
            stream.send(b"request").unwrap();
            let trickle = std::thread::spawn(move || {
                while theirs.write_all(b".").is_ok() {
                    std::thread::sleep(SHORT / 8);
                }
            });
            let before = Instant::now();
            assert_eq!(stream.ensure(10_000).unwrap_err().code(), "timeout");
            assert!(before.elapsed() < SHORT * 10);
            trickle.join().unwrap();
        }
    }

    #[test]
    fn a_server_that_reads_nothing_times_out_the_send() {
        let (ours, _theirs) = UnixStream::pair().unwrap();
        bound(&ours, SHORT).unwrap();
        let mut stream = Stream::over(ours.into(), true, SHORT);
        let error = stream.send(&vec![0; 8 << 20]).unwrap_err();
        assert_eq!(error.code(), "timeout");
    }

    #[test]
    fn a_closed_connection_is_lost() {
        let (mut stream, server) = pair();
        drop(server);
        assert_eq!(stream.ensure(1).unwrap_err().code(), "lost");
        assert!(stream.is_broken());
    }

    #[test]
    fn an_absurd_length_is_refused_and_a_false_one_takes_no_memory() {
        let (mut stream, _server) = pair();
        assert_eq!(stream.ensure(MAX_MESSAGE).unwrap_err().code(), "timeout");
        assert_eq!(stream.buffer.len(), FIRST_BUFFER);
        let (mut stream, _server) = pair();
        let error = stream.ensure(MAX_MESSAGE + 1).unwrap_err();
        assert_eq!(error.code(), "protocol");
        assert_eq!(stream.buffer.len(), FIRST_BUFFER);
    }

    #[test]
    fn connect_errors_name_the_address_and_the_cause() {
        let dir = tempfile::tempdir().unwrap();
        let missing = Address::Socket(dir.path().join("none.sock"));
        let error = Stream::connect(&missing, SHORT).unwrap_err().to_string();
        assert!(
            error.contains("none.sock") && error.contains("No such file"),
            "{error}"
        );
        let long = Address::Socket(dir.path().join("x".repeat(200)));
        let error = Stream::connect(&long, SHORT).unwrap_err().to_string();
        assert!(error.contains("107 bytes"), "{error}");
    }

    #[test]
    fn tcp_carries_the_same_bytes() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let echo = std::thread::spawn(move || {
            let (mut peer, _) = listener.accept().unwrap();
            let mut request = [0; 4];
            peer.read_exact(&mut request).unwrap();
            peer.write_all(&request).unwrap();
        });
        let address = Address::Tcp {
            host: "127.0.0.1".to_owned(),
            port,
        };
        let mut stream = Stream::connect(&address, Duration::from_secs(5)).unwrap();
        stream.send(b"ping").unwrap();
        assert_eq!(stream.ensure(4).unwrap(), b"ping");
        echo.join().unwrap();
    }
}
