//! Which process listens on a port: the kernel names the socket, and each process its sockets.

use std::collections::BTreeSet;
use std::fs;

/// State of a socket that listens, in `/proc/net/tcp`.
const LISTENS: &str = "0A";

/// The first process that listens on this port of TCP; `None` where nobody does, or where it is another user's and
/// this one may not look.
pub fn listener(port: u16) -> Option<u32> {
    let tables = ["/proc/net/tcp", "/proc/net/tcp6"].map(fs::read_to_string);
    let sockets: BTreeSet<String> =
        tables.iter().flatten().flat_map(|table| sockets(table, port)).collect();
    let processes = fs::read_dir("/proc").ok()?.flatten();
    let numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    numbers.filter(|pid| has_any(*pid, &sockets)).min()
}

/// Links to the sockets that listen on the port: `socket:[4711]`.
fn sockets(table: &str, port: u16) -> impl Iterator<Item = String> {
    let port = format!(":{port:04X}");
    table.lines().skip(1).filter_map(move |line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let listens = words.get(1)?.ends_with(&port) && *words.get(3)? == LISTENS;
        listens.then(|| words.get(9).map(|inode| format!("socket:[{inode}]")))?
    })
}

fn has_any(pid: u32, sockets: &BTreeSet<String>) -> bool {
    let files = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    let mut links = files.filter_map(|file| fs::read_link(file.path()).ok());
    links.any(|link| link.to_str().is_some_and(|link| sockets.contains(link)))
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn the_process_that_listens_is_found_while_it_does() {
        let socket = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = socket.local_addr().unwrap().port();
        assert_eq!(listener(port), Some(std::process::id()));
        drop(socket);
        assert_eq!(listener(port), None);
    }
}
