//! The process of this host that serves an address.

use std::fs;
use std::net::IpAddr;
use std::os::unix::net::UnixStream;

use drivers::Address;
use model::Dbms;

/// The process of a server of this product that listens at an address of this host. A container's proxy does not count.
pub(crate) fn serving_process(address: &Address, addresses: &[IpAddr], dbms: Dbms) -> Option<u32> {
    let pid = match address {
        Address::Socket(_) => local_process(address),
        Address::Tcp { port, .. } => probes::listener(addresses, *port),
    }?;
    let name = fs::read_to_string(format!("/proc/{pid}/comm")).ok()?;
    let names = &dbms.product().program.names;
    names.iter().any(|program| program == name.trim()).then_some(pid)
}

/// The process that listens on a Unix socket of this machine, so that it can be watched too.
pub(crate) fn local_process(address: &Address) -> Option<u32> {
    let Address::Socket(path) = address else { return None };
    let stream = UnixStream::connect(path).ok()?;
    let peer = rustix::net::sockopt::socket_peercred(&stream).ok()?;
    u32::try_from(peer.pid.as_raw_nonzero().get()).ok()
}
