//! Opens sockets whose connect, reads and writes are bounded.

use std::net::{TcpStream, ToSocketAddrs};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::time::Duration;

use rustix::io::{Errno, retry_on_intr};
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};

use crate::Address;

/// Opens a connection; the error says why there is none.
pub(super) fn open(address: &Address, timeout: Duration) -> Result<OwnedFd, String> {
    match address {
        Address::Socket(path) => open_unix(path, timeout),
        Address::Tcp { host, port } => open_tcp(host, *port, timeout),
    }
}

/// The standard library cannot bound the connect, which waits for ever when the server's queue is
/// full.
fn open_unix(path: &Path, timeout: Duration) -> Result<OwnedFd, String> {
    let address = SocketAddrUnix::new(path).map_err(|errno| match errno {
        Errno::NAMETOOLONG => {
            "the path is too long for a socket (107 bytes); use a shorter directory".to_owned()
        }
        other => other.to_string(),
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
    open().map_err(|errno: Errno| explain(errno, timeout))
}

/// Every address of the host is tried, in the order of the resolver.
fn open_tcp(host: &str, port: u16, timeout: Duration) -> Result<OwnedFd, String> {
    let addresses = (host, port).to_socket_addrs().map_err(|error| error.to_string())?;
    let mut cause = "the host name has no address".to_owned();
    for address in addresses {
        match TcpStream::connect_timeout(&address, timeout) {
            Ok(stream) => {
                stream.set_nodelay(true).map_err(|error| error.to_string())?;
                bound(&stream, timeout).map_err(|errno| errno.to_string())?;
                return Ok(OwnedFd::from(stream));
            }
            Err(error) => cause = error.to_string(),
        }
    }
    Err(cause)
}

pub(super) fn bound(socket: impl AsFd, timeout: Duration) -> Result<(), Errno> {
    set_socket_timeout(socket.as_fd(), Timeout::Recv, Some(timeout))?;
    set_socket_timeout(socket.as_fd(), Timeout::Send, Some(timeout))
}

fn explain(errno: Errno, timeout: Duration) -> String {
    if errno == Errno::AGAIN {
        return format!("no answer within {timeout:?}");
    }
    errno.to_string()
}
