//! A TCP port for a server of ours.

use std::collections::hash_map::RandomState;
use std::fs;
use std::hash::{BuildHasher, Hasher};
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::ops::RangeInclusive;

/// Where servers of ours listen: the loopback interface alone.
pub(crate) const ADDRESS: Ipv4Addr = Ipv4Addr::LOCALHOST;

/// The ports that the kernel gives to outgoing connections: two numbers.
const EPHEMERAL: &str = "/proc/sys/net/ipv4/ip_local_port_range";

/// Those of most kernels, where the file cannot be read.
const USUAL_EPHEMERAL: RangeInclusive<u16> = 32_768..=60_999;

/// Below it are the ports of well-known services.
const LOWEST: u16 = 10_240;

/// Ports that are tried before the kernel is asked for one.
const ATTEMPTS: u32 = 64;

/// A port on which nobody listens now. Another process may take it before the server does.
///
/// It is none of those that the kernel gives to outgoing connections where that can be: a client that
/// tries to connect again and again while the server is down may be given the server's own port and then
/// connects to itself, and any other connection of the host may sit on it when the server is back.
pub(crate) fn free() -> io::Result<u16> {
    let ephemeral =
        fs::read_to_string(EPHEMERAL).ok().and_then(|text| parse(&text)).unwrap_or(USUAL_EPHEMERAL);
    for attempt in 0..ATTEMPTS {
        let port = outside(&ephemeral, random(attempt));
        if let Some(port) = port.filter(|port| !is_taken(*port)) {
            return Ok(port);
        }
    }
    Ok(TcpListener::bind((ADDRESS, 0))?.local_addr()?.port())
}

/// Does anybody listen there, or use it otherwise?
pub(crate) fn is_taken(port: u16) -> bool {
    TcpListener::bind((ADDRESS, port)).is_err()
}

fn parse(text: &str) -> Option<RangeInclusive<u16>> {
    let mut numbers = text.split_ascii_whitespace().map(str::parse::<u16>);
    let (low, high) = (numbers.next()?.ok()?, numbers.next()?.ok()?);
    (low <= high).then_some(low..=high)
}

/// The port number `pick`, modulo how many there are, of those from [`LOWEST`] on that are not ephemeral;
/// `None` where all are.
fn outside(ephemeral: &RangeInclusive<u16>, pick: u64) -> Option<u16> {
    let (low, high) = (*ephemeral.start(), *ephemeral.end());
    let below = u64::from(low.saturating_sub(LOWEST));
    let above = u64::from(u16::MAX - high.max(LOWEST - 1));
    let place = pick.checked_rem(below + above)?;
    let port = if place < below {
        u64::from(LOWEST) + place
    } else {
        u64::from(high.max(LOWEST - 1)) + 1 + place - below
    };
    u16::try_from(port).ok()
}

/// Another number in each process: runs that begin at the same time must not all try the same ports.
fn random(attempt: u32) -> u64 {
    let mut hasher = RandomState::new().build_hasher();
    hasher.write_u32(attempt);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_free_port_can_be_had_and_is_taken_then() {
        let port = free().unwrap();
        let listener = TcpListener::bind((ADDRESS, port)).unwrap();
        assert!(is_taken(port));
        drop(listener);
        assert!(!is_taken(port));
    }

    #[test]
    fn ranges_as_the_kernel_writes_them() {
        assert_eq!(parse("32768\t60999\n"), Some(USUAL_EPHEMERAL));
        assert_eq!(parse("60999 32768"), None);
        assert_eq!(parse("1024"), None);
        assert_eq!(outside(&(1_024..=u16::MAX), 5), None);
    }

    proptest! {
        #[test]
        fn no_port_is_ephemeral_or_well_known(low in 1u16.., more in any::<u16>(), pick in any::<u64>()) {
            let ephemeral = low..=low.saturating_add(more);
            if let Some(port) = outside(&ephemeral, pick) {
                prop_assert!(port >= LOWEST && !ephemeral.contains(&port), "{port}");
            }
        }
    }
}
