//! The floor: a client that writes a point select, polls, reads, and looks at nothing but the number of
//! bytes. Its cost is the kernel's; no client that waits for each answer can cost less.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use model::{Dialect, Rng};
use rustix::event::{PollFd, PollFlags, poll};

use crate::server::{Place, ROWS};

const SQL_MYSQL: &str = "SELECT c FROM sbtest1 WHERE id=?";
const SQL_POSTGRES: &str = "SELECT c FROM sbtest1 WHERE id=$1";

/// A request whose key can be changed in place.
struct Request {
    bytes: Vec<u8>,
    /// Where the eight bytes of the key are.
    key: usize,
    big_endian: bool,
}

impl Request {
    fn set_key(&mut self, key: u64) {
        let bytes = if self.big_endian { key.to_be_bytes() } else { key.to_le_bytes() };
        self.bytes[self.key..self.key + 8].copy_from_slice(&bytes);
    }
}

/// Queries for the given seconds; returns the number of answers.
pub(crate) fn run(seconds: u32, place: &Place) -> Result<u64> {
    let mut socket = UnixStream::connect(place.socket_file())?;
    socket.set_read_timeout(Some(Duration::from_secs(10)))?;
    let mut request = match place.dialect {
        Dialect::Postgres => postgres(&mut socket, place)?,
        Dialect::Mysql | Dialect::Sqlite => mysql(&mut socket, place)?,
    };
    let mut rng = Rng::new(7);
    let mut buffer = vec![0; 32 << 10];
    // Every row has the same length, and so has every answer.
    request.set_key(1);
    socket.write_all(&request.bytes)?;
    let answer = until_quiet(&mut socket, &mut buffer)?;
    let end = Instant::now() + Duration::from_secs(seconds.into());
    let mut done = 0;
    // One look at the clock each, as a client that records latencies has at least.
    while Instant::now() < end {
        request.set_key(1 + rng.below(ROWS));
        socket.write_all(&request.bytes)?;
        let mut read = 0;
        while read < answer {
            poll(&mut [PollFd::new(&socket, PollFlags::IN)], None)?;
            let got = socket.read(&mut buffer)?;
            if got == 0 {
                bail!("the server hung up");
            }
            read += got;
        }
        done += 1;
    }
    Ok(done)
}

/// Reads until nothing has come for a while; how many bytes came.
fn until_quiet(socket: &mut UnixStream, buffer: &mut [u8]) -> Result<usize> {
    let mut read = 0;
    let quiet = rustix::event::Timespec { tv_sec: 0, tv_nsec: 200_000_000 };
    while poll(&mut [PollFd::new(&*socket, PollFlags::IN)], Some(&quiet))? > 0 {
        let got = socket.read(&mut buffer[read..])?;
        if got == 0 {
            bail!("the server hung up: {}", String::from_utf8_lossy(&buffer[..read]));
        }
        read += got;
    }
    Ok(read)
}

/// Logs in without a password, prepares, and gives the request that runs the statement.
fn mysql(socket: &mut UnixStream, place: &Place) -> Result<Request> {
    let mut buffer = vec![0; 32 << 10];
    until_quiet(socket, &mut buffer)?;
    // LONG_PASSWORD, CONNECT_WITH_DB, PROTOCOL_41, TRANSACTIONS, SECURE_CONNECTION, PLUGIN_AUTH.
    let mut login = (1_u32 | 1 << 3 | 1 << 9 | 1 << 13 | 1 << 15 | 1 << 19).to_le_bytes().to_vec();
    login.extend((1_u32 << 24).to_le_bytes());
    login.push(33);
    login.extend([0; 23]);
    login.extend(place.user.as_bytes());
    // No password: an answer of no bytes.
    login.extend([0, 0]);
    login.extend(place.database.as_bytes());
    login.push(0);
    login.extend(b"mysql_native_password\0");
    packet(socket, 1, &login)?;
    let read = until_quiet(socket, &mut buffer)?;
    if buffer.get(4) != Some(&0) {
        bail!("login refused: {}", String::from_utf8_lossy(&buffer[..read]));
    }
    packet(socket, 0, &[b"\x16", SQL_MYSQL.as_bytes()].concat())?;
    until_quiet(socket, &mut buffer)?;
    let id = buffer.get(5..9).context("no statement")?.to_vec();
    let mut run = vec![0x17];
    run.extend(id);
    run.push(0);
    run.extend(1_u32.to_le_bytes());
    // No NULLs; the type follows, which a server may be told each time.
    run.extend([0, 1, 8, 0]);
    run.extend([0; 8]);
    let mut bytes = (run.len() as u32).to_le_bytes().to_vec();
    bytes.extend(run);
    Ok(Request { key: bytes.len() - 8, bytes, big_endian: false })
}

fn packet(socket: &mut UnixStream, sequence: u8, payload: &[u8]) -> Result<()> {
    let mut bytes = (payload.len() as u32).to_le_bytes();
    bytes[3] = sequence;
    socket.write_all(&[&bytes, payload].concat())?;
    Ok(())
}

/// Logs in where the server trusts, prepares, and gives the request that runs the statement.
fn postgres(socket: &mut UnixStream, place: &Place) -> Result<Request> {
    let mut buffer = vec![0; 32 << 10];
    let words = ["user", &place.user, "database", &place.database].join("\0");
    let mut start = 196_608_u32.to_be_bytes().to_vec();
    start.extend(words.as_bytes());
    start.extend([0, 0]);
    let mut bytes = (start.len() as u32 + 4).to_be_bytes().to_vec();
    bytes.extend(start);
    socket.write_all(&bytes)?;
    let read = until_quiet(socket, &mut buffer)?;
    if buffer.get(..9) != Some(b"R\0\0\0\x08\0\0\0\0".as_slice()) {
        bail!("login refused: {}", String::from_utf8_lossy(&buffer[..read]));
    }
    let mut parse = b"s\0".to_vec();
    parse.extend(SQL_POSTGRES.as_bytes());
    // One parameter, a bigint.
    parse.extend(b"\0\0\x01\0\0\0\x14");
    socket.write_all(&[message(b'P', &parse), message(b'S', b"")].concat())?;
    until_quiet(socket, &mut buffer)?;
    // Portal, statement, one binary parameter of eight bytes, results in binary.
    let mut bind = b"\0s\0\0\x01\0\x01\0\x01\0\0\0\x08".to_vec();
    bind.extend([0; 8]);
    bind.extend(b"\0\x01\0\x01");
    let bind = message(b'B', &bind);
    let key = bind.len() - 12;
    let run = [bind, message(b'E', b"\0\0\0\0\0"), message(b'S', b"")].concat();
    Ok(Request { bytes: run, key, big_endian: true })
}

fn message(kind: u8, body: &[u8]) -> Vec<u8> {
    let mut bytes = vec![kind];
    bytes.extend((body.len() as u32 + 4).to_be_bytes());
    bytes.extend(body);
    bytes
}
