//! A blocking byte stream to a server, with one reused read buffer; both protocols stand on it.
//!
//! A protocol sends a whole request with [`Stream::send`], then asks for as many bytes as it needs
//! with [`Stream::ensure`], reads them where they lie, and lets them go with [`Stream::consume`].
//!
//! The first wait for an answer is bounded by the timeout, or a little more on a Unix socket; so is each
//! further wait for the same answer, and none begins when the first ended longer ago than that: an
//! answer takes four times the timeout at the very most, however many reads it needs, and the clock is
//! not read for the first. Errors carry no statement: the caller adds it with [`SessionError::about`].
//! After a timeout or a lost connection every further call fails, because a late answer would be taken
//! for the answer to the next request.
//!
//! A stream may be encrypted, and compressed as MySQL does it; both lie below the buffer, so that protocols read the same bytes in the same way.

pub(crate) mod compressed;
mod layers;
mod socket;
mod tls;
mod watch;

use std::os::fd::OwnedFd;
use std::time::Duration;

use self::layers::Layers;
use self::socket::Socket;
use self::tls::Tls;
use crate::{Address, Result, SessionError};

/// The longest message taken or sent, in bytes. A greater length is a broken peer or a mistake.
pub(crate) const MAX_MESSAGE: usize = 64 << 20;

/// First size of the read buffer: a reply of a hundred rows fits.
const FIRST_BUFFER: usize = 32 << 10;

/// Sockets take no timeout of zero, and a year is as good as for ever.
const TIMEOUT_RANGE: (Duration, Duration) =
    (Duration::from_millis(1), Duration::from_hours(365 * 24));

#[derive(Debug)]
pub(crate) struct Stream {
    socket: Socket,
    /// `None` on a plain connection, which then costs a comparison per send and per read.
    layers: Option<Box<Layers>>,
    /// What arrived; unread from `start` on, which is never beyond its end.
    buffer: Vec<u8>,
    start: usize,
}

impl Stream {
    /// Opens a connection. `timeout` bounds the connect, the waits for an answer, and each send.
    pub(crate) fn connect(address: &Address, timeout: Duration) -> Result<Self> {
        let timeout = timeout.clamp(TIMEOUT_RANGE.0, TIMEOUT_RANGE.1);
        let socket = socket::open(address, timeout).map_err(|cause| {
            let (address, cause) = (address.to_string(), cause.to_string());
            SessionError::Connect { address, cause }
        })?;
        Ok(Self::over(socket, matches!(address, Address::Socket(_)), timeout))
    }

    /// Stands on a blocking socket with `timeout` for reads and writes. `polls_first` is for Unix sockets.
    pub(crate) fn over(socket: OwnedFd, polls_first: bool, timeout: Duration) -> Self {
        Self {
            socket: Socket::over(socket, polls_first, timeout),
            layers: None,
            buffer: Vec::with_capacity(FIRST_BUFFER),
            start: 0,
        }
    }

    /// Encrypts the connection from here on; `host` is the name sent to the server. Returns
    /// what was agreed: `TLSv1.3 TLS_AES_256_GCM_SHA384`. The server must have said that it is ready.
    /// Errors: those of a lost connection, and a peer that does not speak TLS 1.2 or 1.3.
    pub(crate) fn encrypt(&mut self, host: &str) -> Result<String> {
        self.socket.begin()?;
        if !self.unread().is_empty() {
            self.abandon();
            let what = "the server went on in plain text after it had agreed to TLS";
            return Err(SessionError::protocol(what));
        }
        let (tls, agreed) = Tls::shake_hands(&mut self.socket, host, &mut self.buffer)?;
        self.layers.get_or_insert_default().tls = Some(tls);
        Ok(agreed)
    }

    /// Compresses what is sent and received from here on; what is unread is compressed too.
    pub(crate) fn compress(&mut self) {
        let unread = self.buffer.split_off(self.start);
        self.layers.get_or_insert_default().compress(unread);
    }

    /// Sends all of `bytes`, which begin a request. The wait for the answer begins here.
    #[inline]
    pub(crate) fn send(&mut self, bytes: &[u8]) -> Result {
        self.write(bytes, true)
    }

    /// Sends all of `bytes`, which go on with a request. The wait for the answer begins here.
    pub(crate) fn send_more(&mut self, bytes: &[u8]) -> Result {
        self.write(bytes, false)
    }

    #[inline]
    fn write(&mut self, bytes: &[u8], begins: bool) -> Result {
        self.socket.begin()?;
        if let Some(layers) = &mut self.layers {
            return layers.send(&mut self.socket, bytes, begins);
        }
        self.socket.write_all(bytes)
    }

    /// Sends several short requests at once, which end where `ends` says. The wait for the first answer begins.
    pub(crate) fn send_requests(&mut self, bytes: &[u8], ends: &[usize]) -> Result {
        self.socket.begin()?;
        let Some(layers) = &mut self.layers else {
            return self.socket.write_all(bytes);
        };
        let mut start = 0;
        let requests = ends.iter().map(|&end| {
            let request = bytes.get(start..end).unwrap_or_default();
            start = end;
            request
        });
        layers.send_requests(&mut self.socket, requests)
    }

    /// Begins the wait for the next of several answers, which has the whole timeout again.
    pub(crate) fn begin_answer(&mut self) -> Result {
        self.socket.begin()
    }

    /// Takes what has arrived, without waiting; was there anything beyond what was unread already?
    pub(crate) fn has_arrived(&mut self) -> Result<bool> {
        self.socket.check_usable()?;
        let before = self.unread().len();
        if self.socket.is_readable() {
            self.fill()?;
        }
        Ok(self.unread().len() > before)
    }

    /// The certificate that the server showed for itself, in DER; `None` without TLS.
    pub(crate) fn peer_certificate(&self) -> Option<&[u8]> {
        self.layers.as_ref()?.tls.as_ref()?.peer_certificate()
    }

    /// Waits until at least `count` unread bytes are there and returns all that are unread.
    #[inline]
    pub(crate) fn ensure(&mut self, count: usize) -> Result<&[u8]> {
        if self.buffer.len() - self.start < count {
            self.fill_to(count)?;
        }
        Ok(self.unread())
    }

    /// The bytes that have arrived and were not consumed yet, without waiting.
    #[inline]
    pub(crate) fn unread(&self) -> &[u8] {
        self.buffer.get(self.start..).unwrap_or_default()
    }

    /// Lets go of the first `count` unread bytes (of all, when there are fewer).
    #[inline]
    pub(crate) fn consume(&mut self, count: usize) {
        self.start = self.start.saturating_add(count);
        if self.start >= self.buffer.len() {
            self.start = 0;
            self.buffer.clear();
        }
    }

    /// Ends the connection, so that the server notices and no later call can use it. For a peer
    /// that broke the protocol: what it sends next has no meaning.
    pub(crate) fn abandon(&mut self) {
        self.socket.abandon();
    }

    /// Completes the error of an answer with its statement. After an answer that the protocol does not
    /// allow, what follows has no meaning either: the connection ends.
    #[cold]
    pub(crate) fn settle(&mut self, error: SessionError, sql: &str) -> SessionError {
        if matches!(error, SessionError::Protocol { .. }) {
            self.abandon();
        }
        error.about(sql)
    }

    /// After a send that found the connection lost: takes what the server had said before, and returns
    /// all that is unread. Does not wait, because the socket is shut down.
    #[cold]
    pub(crate) fn last_words(&mut self) -> &[u8] {
        while self.unread().len() < FIRST_BUFFER && self.fill().is_ok() {}
        self.unread()
    }

    pub(crate) fn is_broken(&self) -> bool {
        self.socket.broken
    }

    /// Out of line, so that messages which have arrived cost next to nothing.
    #[inline(never)]
    fn fill_to(&mut self, count: usize) -> Result {
        self.socket.check_usable()?;
        if count > MAX_MESSAGE {
            return Err(self.refuse(count));
        }
        while self.buffer.len() - self.start < count {
            self.fill()?;
        }
        Ok(())
    }

    #[cold]
    fn refuse(&mut self, count: usize) -> SessionError {
        self.abandon();
        SessionError::protocol(format!(
            "a message of {count} bytes, more than the {MAX_MESSAGE} that are taken"
        ))
    }

    #[inline]
    fn fill(&mut self) -> Result {
        let is_full = self.buffer.len() == self.buffer.capacity();
        if self.start > 0 || is_full || self.layers.is_some() {
            return self.fill_with_care();
        }
        // The usual: an answer to a plain connection that has nothing else to read.
        self.socket.read(&mut self.buffer)
    }

    #[inline(never)]
    fn fill_with_care(&mut self) -> Result {
        // What is unread moves to the front: part of one message, and seldom more than a row.
        if self.start > 0 {
            self.buffer.drain(..self.start);
            self.start = 0;
        }
        if let Some(layers) = &mut self.layers {
            return layers.receive(&mut self.socket, &mut self.buffer);
        }
        // Memory follows the bytes that arrived, not the length that was announced.
        if self.buffer.len() == self.buffer.capacity() {
            self.buffer.reserve(self.buffer.len().max(FIRST_BUFFER));
        }
        self.socket.read(&mut self.buffer)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::os::unix::net::UnixStream;
    use std::time::Instant;

    use super::socket::bound;
    use super::*;

    const SHORT: Duration = Duration::from_millis(80);

    fn pair() -> (Stream, UnixStream) {
        let (ours, theirs) = UnixStream::pair().unwrap();
        bound(&ours, SHORT).unwrap();
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
    fn what_has_arrived_is_taken_without_waiting() {
        let (mut stream, mut server) = pair();
        assert!(!stream.has_arrived().unwrap());
        server.write_all(b"ab").unwrap();
        assert!(stream.has_arrived().unwrap());
        assert_eq!(stream.unread(), b"ab");
        assert!(!stream.has_arrived().unwrap());
        drop(server);
        assert_eq!(stream.has_arrived().unwrap_err().code(), "lost");
    }

    #[test]
    fn an_answer_in_parts_waits_for_each_part() {
        let (ours, mut server) = UnixStream::pair().unwrap();
        let patient = Duration::from_secs(5);
        bound(&ours, patient).unwrap();
        let mut stream = Stream::over(ours.into(), true, patient);
        stream.send(b"request").unwrap();
        let parts = std::thread::spawn(move || {
            for _ in 0..3 {
                std::thread::sleep(SHORT / 4);
                server.write_all(b"part").unwrap();
            }
        });
        assert_eq!(stream.ensure(12).unwrap(), b"partpartpart");
        parts.join().unwrap();
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
    fn what_a_server_said_before_it_hung_up_is_heard() {
        let (mut stream, mut server) = pair();
        server.write_all(b"goodbye").unwrap();
        drop(server);
        assert_eq!(stream.send(b"request").unwrap_err().code(), "lost");
        assert_eq!(stream.last_words(), b"goodbye");
        assert_eq!(stream.last_words(), b"goodbye");
        assert_eq!(stream.send(b"again").unwrap_err().code(), "lost");
        // The same over TCP, where the server has not hung up.
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let ours = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        bound(&ours, SHORT).unwrap();
        let (mut server, _) = listener.accept().unwrap();
        let mut stream = Stream::over(ours.into(), false, SHORT);
        server.write_all(b"goodbye").unwrap();
        std::thread::sleep(SHORT);
        stream.abandon();
        assert_eq!(stream.last_words(), b"goodbye");
    }

    #[test]
    fn an_absurd_length_is_refused_and_a_false_one_takes_no_memory() {
        let (mut stream, _server) = pair();
        assert_eq!(stream.ensure(MAX_MESSAGE).unwrap_err().code(), "timeout");
        assert_eq!(stream.buffer.capacity(), FIRST_BUFFER);
        let (mut stream, _server) = pair();
        let error = stream.ensure(MAX_MESSAGE + 1).unwrap_err();
        assert_eq!(error.code(), "protocol");
        assert_eq!(stream.buffer.capacity(), FIRST_BUFFER);
    }

    #[test]
    fn connect_errors_name_the_address_and_the_cause() {
        let dir = tempfile::tempdir().unwrap();
        let missing = Address::Socket(dir.path().join("none.sock"));
        let error = Stream::connect(&missing, SHORT).unwrap_err().to_string();
        assert!(error.contains("none.sock") && error.contains("No such file"), "{error}");
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
        let address = Address::Tcp { host: "127.0.0.1".to_owned(), port };
        let mut stream = Stream::connect(&address, Duration::from_secs(5)).unwrap();
        stream.send(b"ping").unwrap();
        assert_eq!(stream.ensure(4).unwrap(), b"ping");
        echo.join().unwrap();
    }
}
