//! A blocking socket whose connect and every wait are bounded.

use std::io;
use std::net::{TcpStream, ToSocketAddrs};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::buffer::spare_capacity;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, retry_on_intr};
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, Shutdown, SocketAddrUnix, SocketFlags, SocketType, recv,
    send,
};

use super::watch::Watched;
use crate::{Address, Result, SessionError};

/// One connected socket, whose reads and writes end by themselves after the timeout.
///
/// It uses `send` and `recv`, which are shorter ways through the kernel than `write` and `read`.
#[derive(Debug)]
pub(super) struct Socket {
    watched: Arc<Watched>,
    /// A blocking `read` on a Unix socket is also woken when the server consumes our request, which
    /// costs a second context switch per query; `poll` filters by event. TCP does not have this, nor
    /// have later reads of the same answer.
    polls_first: bool,
    timeout: Duration,
    patience: Patience,
    pub(super) broken: bool,
}

/// How long this exchange may still wait. The clock is not read for the first wait, which has the
/// whole timeout to itself and is the only one of most exchanges.
#[derive(Clone, Copy, Debug)]
enum Patience {
    Whole,
    Begun,
    /// No further wait begins after this.
    Until(Instant),
}

impl Socket {
    /// Of a blocking socket with this `timeout` for reads and writes: a millisecond to a year.
    pub(super) fn over(fd: OwnedFd, polls_first: bool, timeout: Duration) -> Self {
        Self {
            // Only polls are without a timeout of their own.
            watched: Watched::new(fd, timeout, polls_first),
            polls_first,
            timeout,
            patience: Patience::Whole,
            broken: false,
        }
    }

    /// Begins an exchange: what is waited for from here on has the whole timeout.
    #[inline]
    pub(super) fn begin(&mut self) -> Result {
        self.patience = Patience::Whole;
        self.check_usable()
    }

    #[inline]
    pub(super) fn write_all(&mut self, bytes: &[u8]) -> Result {
        match self.send(bytes) {
            Ok(sent) if sent == bytes.len() => Ok(()),
            other => self.write_rest(bytes, other),
        }
    }

    #[inline]
    fn send(&self, bytes: &[u8]) -> Result<usize, Errno> {
        // Without a signal when the peer is gone, whoever uses this crate.
        send(&self.watched.fd, bytes, SendFlags::NOSIGNAL)
    }

    /// Goes on after a first write that did not send all.
    #[cold]
    #[inline(never)]
    fn write_rest(&mut self, bytes: &[u8], first: Result<usize, Errno>) -> Result {
        let (mut rest, mut written) = (bytes, first);
        loop {
            match written {
                Ok(sent) => {
                    rest = rest.get(sent..).unwrap_or_default();
                    if rest.is_empty() {
                        return Ok(());
                    }
                    self.go_on()?;
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return Err(self.timed_out()),
                Err(errno) => return Err(self.lost(&errno.to_string())),
            }
            written = self.send(rest);
        }
    }

    /// Waits for bytes and appends as many to `buffer` as its spare capacity, which is not zero, takes.
    #[inline]
    pub(super) fn read(&mut self, buffer: &mut Vec<u8>) -> Result {
        loop {
            self.wait()?;
            match recv(&self.watched.fd, spare_capacity(buffer), RecvFlags::empty()) {
                Ok((_, 0)) => return Err(self.lost("the server closed the connection")),
                Ok(_) => return Ok(()),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return Err(self.timed_out()),
                Err(errno) => return Err(self.lost(&errno.to_string())),
            }
        }
    }

    /// Waits until a read may be tried, which then blocks no longer than the socket's own timeout.
    #[inline]
    fn wait(&mut self) -> Result {
        if !matches!(self.patience, Patience::Whole) {
            return self.go_on();
        }
        self.patience = Patience::Begun;
        if !self.polls_first {
            return Ok(());
        }
        self.watched.step();
        let limit = (!self.watched.guarded).then(|| timespec(self.timeout));
        let ready = self.poll(limit.as_ref());
        self.watched.step();
        match ready {
            // Even if an answer came in the last moment: the socket is shut down.
            _ if self.watched.has_expired() => Err(self.timed_out()),
            Ok(0) => Err(self.timed_out()),
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(errno) => Err(self.lost(&errno.to_string())),
        }
    }

    /// Waits for bytes or an error, at most for so long; how many sockets there are with any: none or one.
    #[inline]
    fn poll(&self, limit: Option<&Timespec>) -> Result<usize, Errno> {
        let fd = PollFd::new(&self.watched.fd, PollFlags::IN);
        poll(&mut [fd], limit)
    }

    /// Are there bytes to read, or is there an error to see, without waiting?
    pub(super) fn is_readable(&self) -> bool {
        let at_once = timespec(Duration::ZERO);
        self.poll(Some(&at_once)).is_ok_and(|ready| ready > 0)
    }

    /// May this exchange wait once more? Starts the clock when it does not run yet.
    #[cold]
    fn go_on(&mut self) -> Result {
        let now = Instant::now();
        match self.patience {
            Patience::Until(end) if end <= now => Err(self.timed_out()),
            Patience::Until(_) => Ok(()),
            Patience::Whole | Patience::Begun => {
                self.patience = Patience::Until(now + self.timeout);
                Ok(())
            }
        }
    }

    /// Ends the connection, so that the server notices and no later call can use it.
    pub(super) fn abandon(&mut self) {
        self.broken = true;
        // The peer may be gone already, which is as good.
        let _ = rustix::net::shutdown(&self.watched.fd, Shutdown::Both);
    }

    #[inline]
    pub(super) fn check_usable(&self) -> Result {
        if self.broken {
            return Err(SessionError::lost("an earlier error ended this session"));
        }
        Ok(())
    }

    #[cold]
    fn timed_out(&mut self) -> SessionError {
        self.abandon();
        SessionError::Timeout { limit: self.timeout, statement: String::new() }
    }

    #[cold]
    fn lost(&mut self, cause: &str) -> SessionError {
        if self.watched.has_expired() {
            return self.timed_out();
        }
        self.abandon();
        SessionError::lost(cause)
    }
}

/// A duration of at most a year, as `poll` takes it.
fn timespec(duration: Duration) -> Timespec {
    Timespec { tv_sec: duration.as_secs().cast_signed(), tv_nsec: duration.subsec_nanos().into() }
}

/// Opens a connection; the error says why there is none.
pub(super) fn open(address: &Address, timeout: Duration) -> io::Result<OwnedFd> {
    match address {
        Address::Socket(path) => open_unix(path, timeout),
        Address::Tcp { host, port } => open_tcp(host, *port, timeout),
    }
}

/// The standard library cannot bound the connect, which waits for ever on a server's full queue.
fn open_unix(path: &Path, timeout: Duration) -> io::Result<OwnedFd> {
    let address = SocketAddrUnix::new(path).map_err(|errno| match errno {
        Errno::NAMETOOLONG => io::Error::other(
            "the path is too long for a socket (107 bytes); use a shorter directory",
        ),
        other => other.into(),
    })?;
    let open = || {
        // Not for the programs that another thread starts at this moment.
        let flags = SocketFlags::CLOEXEC;
        let socket =
            rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
        bound(&socket, timeout)?;
        retry_on_intr(|| rustix::net::connect(&socket, &address))?;
        Ok(socket)
    };
    open().map_err(|errno: Errno| match errno {
        Errno::AGAIN => io::Error::other(format!("no answer within {timeout:?}")),
        other => other.into(),
    })
}

/// Every address of the host is tried, in the order of the resolver.
fn open_tcp(host: &str, port: u16, timeout: Duration) -> io::Result<OwnedFd> {
    let mut cause = io::Error::other("the host name has no address");
    for address in (host, port).to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, timeout) {
            Ok(stream) => {
                stream.set_nodelay(true)?;
                bound(&stream, timeout)?;
                return Ok(OwnedFd::from(stream));
            }
            Err(error) => cause = error,
        }
    }
    Err(cause)
}

pub(super) fn bound(socket: impl AsFd, timeout: Duration) -> Result<(), Errno> {
    set_socket_timeout(socket.as_fd(), Timeout::Recv, Some(timeout))?;
    set_socket_timeout(socket.as_fd(), Timeout::Send, Some(timeout))
}
