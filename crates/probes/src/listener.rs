//! Which process listens at an address: the kernel names the socket, and each process its sockets.

use std::collections::BTreeSet;
use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// State of a socket that listens, in `/proc/net/tcp`.
const LISTENS: &str = "0A";

/// The process that listens at one of these addresses on this port of TCP; `None` where nobody or more than one does,
/// or where it is another user's and this one may not look.
pub fn listener(addresses: &[IpAddr], port: u16) -> Option<u32> {
    let tables = ["/proc/net/tcp", "/proc/net/tcp6"].map(fs::read_to_string);
    let sockets = tables.iter().flatten().flat_map(|table| sockets(table, port));
    let serves =
        |ip: &IpAddr| ip.is_unspecified() || addresses.iter().any(|one| one.to_canonical() == *ip);
    let sockets: BTreeSet<String> =
        sockets.filter(|(ip, _)| serves(ip)).map(|(_, socket)| socket).collect();
    // A child may have its parent's sockets too.
    let owners: BTreeSet<u32> = sockets.iter().filter_map(|socket| owner(socket)).collect();
    if owners.len() == 1 { owners.first().copied() } else { None }
}

/// The address of each socket that listens on the port, and the link to it: `socket:[4711]`.
fn sockets(table: &str, port: u16) -> impl Iterator<Item = (IpAddr, String)> {
    let port = format!("{port:04X}");
    table.lines().skip(1).filter_map(move |line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let (ip, its_port) = words.get(1)?.split_once(':')?;
        let listens = its_port == port && *words.get(3)? == LISTENS;
        let socket = listens.then(|| words.get(9).map(|inode| format!("socket:[{inode}]")))??;
        Some((address(ip)?, socket))
    })
}

/// Words of 32 bits in the order of this machine, whose bytes are in that of the network.
fn address(text: &str) -> Option<IpAddr> {
    let word = |at: usize| {
        let word = u32::from_str_radix(text.get(at..at + 8)?, 16).ok()?;
        Some(u32::from_be(word))
    };
    if text.len() == 8 {
        return Some(Ipv4Addr::from_bits(word(0)?).into());
    }
    let bits = [0, 8, 16, 24]
        .iter()
        .try_fold(0, |bits: u128, at| Some(bits << u32::BITS | u128::from(word(*at)?)))?;
    Some(IpAddr::from(Ipv6Addr::from_bits(bits)).to_canonical())
}

/// The first process that has this socket.
fn owner(socket: &str) -> Option<u32> {
    let processes = fs::read_dir("/proc").ok()?.flatten();
    let numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    numbers.filter(|pid| has(*pid, socket)).min()
}

fn has(pid: u32, socket: &str) -> bool {
    let files = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    let mut links = files.filter_map(|file| fs::read_link(file.path()).ok());
    links.any(|link| link.to_str() == Some(socket))
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn the_process_that_listens_at_an_address_is_found_while_it_does() {
        let socket = TcpListener::bind("127.0.0.2:0").unwrap();
        let port = socket.local_addr().unwrap().port();
        let us = Some(std::process::id());
        assert_eq!(listener(&[ip("127.0.0.2")], port), us);
        assert_eq!(listener(&[ip("::1"), ip("::ffff:127.0.0.2")], port), us);
        assert_eq!(listener(&[ip("127.0.0.1")], port), None);
        drop(socket);
        assert_eq!(listener(&[ip("127.0.0.2")], port), None);
        let socket = TcpListener::bind("0.0.0.0:0").unwrap();
        let port = socket.local_addr().unwrap().port();
        assert_eq!(listener(&[ip("192.0.2.1")], port), us, "any address is this one too");
    }

    #[test]
    #[cfg(target_endian = "little")]
    fn addresses_are_read_as_the_kernel_writes_them() {
        assert_eq!(address("0100007F"), Some(ip("127.0.0.1")));
        assert_eq!(address("B80D01200000000000000000 1000000"), None);
        assert_eq!(address("B80D0120000000000000000001000000"), Some(ip("2001:db8::1")));
        assert_eq!(address("0000000000000000FFFF00000100007F"), Some(ip("127.0.0.1")));
    }
}
