//! The greeting, the login and what was agreed by it.

use super::auth::{Method, Nonce};
use super::cursor::{Cursor, put_lenenc};
use super::malformed;
use super::packets::Packets;
use super::reply::{END, ERROR, OK, code_and_message};
use crate::stream::MAX_MESSAGE;
use crate::{Address, Login, SessionError, SessionInfo};

/// `CLIENT_*` flags of the protocol.
mod flag {
    pub(super) const LONG_PASSWORD: u32 = 1;
    pub(super) const LONG_FLAG: u32 = 1 << 2;
    pub(super) const CONNECT_WITH_DB: u32 = 1 << 3;
    pub(super) const PROTOCOL_41: u32 = 1 << 9;
    pub(super) const TRANSACTIONS: u32 = 1 << 13;
    pub(super) const SECURE_CONNECTION: u32 = 1 << 15;
    /// Procedures may return rows. Not the same as several statements in one text.
    pub(super) const MULTI_RESULTS: u32 = 1 << 17;
    pub(super) const PS_MULTI_RESULTS: u32 = 1 << 18;
    pub(super) const PLUGIN_AUTH: u32 = 1 << 19;
    /// What is asked for, where the server has it.
    pub(super) const WANTED: u32 = LONG_PASSWORD
        | LONG_FLAG
        | PROTOCOL_41
        | TRANSACTIONS
        | SECURE_CONNECTION
        | MULTI_RESULTS
        | PS_MULTI_RESULTS
        | PLUGIN_AUTH;
    /// What every server has since 4.1, and without which nothing here works.
    pub(super) const NEEDED: u32 = PROTOCOL_41 | SECURE_CONNECTION;
}

/// `utf8mb4_general_ci`, known to servers since 5.5.3.
const UTF8MB4: u8 = 45;
/// `utf8_general_ci`.
const UTF8: u8 = 33;

/// First byte of a packet that goes on with an authentication method.
const MORE: u8 = 0x01;
/// `caching_sha2_password`: the server knew the proof; an OK packet follows.
const FAST_DONE: u8 = 3;
/// `caching_sha2_password`: the server wants the password itself.
const FULL_WANTED: u8 = 4;

/// More packets than any login takes; beyond it the server is leading the client in circles.
const MOST_PACKETS: usize = 8;

/// What the server says first.
#[derive(Debug, PartialEq, Eq)]
struct Greeting {
    version: String,
    connection: u32,
    flags: u32,
    nonce: Nonce,
    /// `None` when the server names a method that this client does not speak, or none at all.
    method: Option<Method>,
}

/// Logs in on a fresh connection.
pub(super) fn log_in(
    packets: &mut Packets,
    address: &Address,
    login: &Login,
) -> Result<SessionInfo, SessionError> {
    shake_hands(packets, address, login).map_err(|error| error.about("login"))
}

fn shake_hands(
    packets: &mut Packets,
    address: &Address,
    login: &Login,
) -> Result<SessionInfo, SessionError> {
    let refused = |message| SessionError::Login {
        address: address.to_string(),
        user: login.user.clone(),
        message,
    };
    let first = packets.receive()?;
    if first.first() == Some(&ERROR) {
        return Err(refused(refusal(first)));
    }
    let greeting = Greeting::parse(first)?;
    if greeting.flags & flag::NEEDED != flag::NEEDED {
        return Err(refused(format!(
            "server version {} is too old: logins since MySQL 4.1 are needed",
            greeting.version
        )));
    }
    if login.user.contains('\0') || login.database.contains('\0') {
        return Err(refused(
            "the user or database name contains a NUL character".to_owned(),
        ));
    }
    let method = greeting.method.unwrap_or(Method::NativePassword);
    greeting.put_response(packets.answer(), login, method);
    packets.send()?;
    let conversation = Conversation {
        password: &login.password,
        cleartext_is_safe: matches!(address, Address::Socket(_)),
    };
    let method = conversation
        .finish(packets, method)
        .map_err(|stop| match stop {
            Stop::Refused(message) => refused(message),
            Stop::Session(error) => error,
        })?;
    Ok(SessionInfo {
        server_version: greeting.version,
        backend: Some(greeting.connection),
        authentication: method.name().to_owned(),
        tls: None,
    })
}

impl Greeting {
    fn parse(packet: &[u8]) -> Result<Self, SessionError> {
        if packet.first() != Some(&10) {
            return Err(SessionError::Protocol {
                what: "the greeting is not that of a MySQL server (protocol version 10)".to_owned(),
            });
        }
        Self::parse_fields(packet).ok_or_else(|| malformed("greeting"))
    }

    fn parse_fields(packet: &[u8]) -> Option<Self> {
        let mut cursor = Cursor::new(packet);
        cursor.u8()?;
        let version = String::from_utf8_lossy(cursor.until_nul()).into_owned();
        let connection = cursor.u32()?;
        let nonce_start = cursor.bytes(8)?;
        cursor.u8()?;
        let flags_low = cursor.u16()?;
        // Character set and status.
        cursor.bytes(3)?;
        let flags_high = cursor.u16()?;
        // Length of the nonce, which is 20 in both methods, and ten unused bytes.
        cursor.bytes(11)?;
        let nonce_end = cursor.bytes(12)?;
        // The nonce's own NUL.
        cursor.until_nul();
        let mut nonce = Nonce::default();
        for (place, byte) in nonce.iter_mut().zip(nonce_start.iter().chain(nonce_end)) {
            *place = *byte;
        }
        Some(Self {
            version: plain_version(&version).to_owned(),
            connection,
            flags: u32::from(flags_low) | u32::from(flags_high) << 16,
            nonce,
            method: Method::from_name(cursor.until_nul()),
        })
    }

    /// Appends the `HandshakeResponse41`.
    fn put_response(&self, out: &mut Vec<u8>, login: &Login, method: Method) {
        let mut wanted = flag::WANTED;
        if !login.database.is_empty() {
            wanted |= flag::CONNECT_WITH_DB;
        }
        let flags = wanted & self.flags;
        let proof = method.prove(&login.password, &self.nonce);
        out.extend_from_slice(&flags.to_le_bytes());
        out.extend_from_slice(&(MAX_MESSAGE as u32).to_le_bytes());
        out.push(character_set(&self.version));
        out.extend_from_slice(&[0; 23]);
        out.extend_from_slice(login.user.as_bytes());
        out.push(0);
        // Both methods' proofs are shorter than 251 bytes, where this is one byte of length.
        put_lenenc(out, proof.len());
        out.extend_from_slice(&proof);
        if flags & flag::CONNECT_WITH_DB != 0 {
            out.extend_from_slice(login.database.as_bytes());
            out.push(0);
        }
        if flags & flag::PLUGIN_AUTH != 0 {
            out.extend_from_slice(method.name().as_bytes());
            out.push(0);
        }
    }
}

/// Why a login ended without a session.
enum Stop {
    /// By the server, or because of what it asks for.
    Refused(String),
    /// By the connection.
    Session(SessionError),
}

impl From<SessionError> for Stop {
    fn from(error: SessionError) -> Self {
        Self::Session(error)
    }
}

/// What the authentication needs to know after the response was sent.
struct Conversation<'a> {
    password: &'a str,
    cleartext_is_safe: bool,
}

impl Conversation<'_> {
    /// Follows the server to its OK packet; returns the method that it was content with.
    fn finish(&self, packets: &mut Packets, mut method: Method) -> Result<Method, Stop> {
        for _ in 0..MOST_PACKETS {
            let packet = packets.receive()?;
            match packet.split_first() {
                Some((&OK, _)) => return Ok(method),
                Some((&ERROR, _)) => return Err(Stop::Refused(refusal(packet))),
                Some((&END, request)) => {
                    let nonce;
                    (method, nonce) = switch(request)?;
                    let proof = method.prove(self.password, &nonce);
                    packets.answer().extend_from_slice(&proof);
                    packets.send()?;
                }
                Some((&MORE, [FAST_DONE])) if method == Method::CachingSha2Password => {}
                Some((&MORE, [FULL_WANTED])) if method == Method::CachingSha2Password => {
                    self.send_password(packets)?;
                }
                _ => return Err(malformed("reply to the login").into()),
            }
        }
        Err(malformed("login (too many packets)").into())
    }

    /// The full authentication of `caching_sha2_password`.
    fn send_password(&self, packets: &mut Packets) -> Result<(), Stop> {
        if !self.cleartext_is_safe {
            return Err(Stop::Refused(
                "the server asks for the password itself (full authentication of \
                 caching_sha2_password), which is not sent over TCP without TLS; connect over the \
                 Unix socket, or log in once with another client so that the server remembers the \
                 password, or identify the user with mysql_native_password"
                    .to_owned(),
            ));
        }
        let answer = packets.answer();
        answer.extend_from_slice(self.password.as_bytes());
        answer.push(0);
        packets.send()?;
        Ok(())
    }
}

/// Method and nonce of a request to change the authentication method.
fn switch(request: &[u8]) -> Result<(Method, Nonce), Stop> {
    let mut cursor = Cursor::new(request);
    let name = cursor.until_nul();
    let Some(method) = Method::from_name(name) else {
        let name = match String::from_utf8_lossy(name).into_owned() {
            // A bare request stands for the method of servers before 4.1.
            name if name.is_empty() => "mysql_old_password".to_owned(),
            name => name,
        };
        return Err(Stop::Refused(format!(
            "the server asks for the authentication method `{name}`, which is not supported; \
             identify the user with mysql_native_password or caching_sha2_password"
        )));
    };
    let nonce = cursor.rest().first_chunk::<{ size_of::<Nonce>() }>();
    match nonce {
        Some(nonce) => Ok((method, *nonce)),
        None => Err(malformed("request to change the authentication method").into()),
    }
}

/// What an error packet says, for a login.
fn refusal(packet: &[u8]) -> String {
    let (code, message) = code_and_message(packet);
    format!("{message} (error {code})")
}

/// MariaDB before 11 puts `5.5.5-` before its version, for old replicas' sake.
fn plain_version(version: &str) -> &str {
    match version.strip_prefix("5.5.5-") {
        Some(plain) if plain.contains("MariaDB") => plain,
        _ => version,
    }
}

fn character_set(version: &str) -> u8 {
    let mut numbers = version
        .split(|c: char| !c.is_ascii_digit())
        .map(|number| number.parse::<u32>().unwrap_or(0));
    let mut next = || numbers.next().unwrap_or(0);
    if (next(), next(), next()) < (5, 5, 3) {
        UTF8
    } else {
        UTF8MB4
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// The greeting of a MySQL 8.0 server, with the nonce `0123456789abcdefghij`.
    pub(in crate::mysql) fn greeting(version: &str, plugin: &str) -> Vec<u8> {
        let mut packet = vec![10];
        packet.extend_from_slice(version.as_bytes());
        packet.extend_from_slice(b"\0\x2a\0\0\x0001234567\0\xff\xff\x2d\x02\0\xff\xdf\x15");
        packet.extend_from_slice(&[0; 10]);
        packet.extend_from_slice(b"89abcdefghij\0");
        packet.extend_from_slice(plugin.as_bytes());
        packet.push(0);
        packet
    }

    #[test]
    fn a_greeting_is_read() {
        let packet = greeting("8.0.33", "caching_sha2_password");
        let read = Greeting::parse(&packet).unwrap();
        assert_eq!(
            read,
            Greeting {
                version: "8.0.33".to_owned(),
                connection: 42,
                flags: 0xdfff_ffff,
                nonce: *b"0123456789abcdefghij",
                method: Some(Method::CachingSha2Password),
            }
        );
    }

    #[test]
    fn a_greeting_may_forget_its_last_nul_and_name_no_known_method() {
        let packet = greeting("5.5.9", "mysql_native_password");
        let read = Greeting::parse(packet.strip_suffix(b"\0").unwrap()).unwrap();
        assert_eq!(read.method, Some(Method::NativePassword));
        let read = Greeting::parse(&greeting("9.7.4", "sha256_password")).unwrap();
        assert_eq!(read.method, None);
    }

    #[test]
    fn truncated_greetings_are_refused() {
        let whole = greeting("8.0.33", "caching_sha2_password");
        let fixed = whole.len() - "caching_sha2_password\0".len() - 1;
        for length in 0..fixed {
            assert!(Greeting::parse(&whole[..length]).is_err(), "{length}");
        }
        let error = Greeting::parse(b"\x09old").unwrap_err().to_string();
        assert!(error.contains("protocol version 10"), "{error}");
    }

    #[test]
    fn mariadb_versions_are_shown_plainly() {
        assert_eq!(
            plain_version("5.5.5-10.11.18-MariaDB-0+deb12u1"),
            "10.11.18-MariaDB-0+deb12u1"
        );
        assert_eq!(plain_version("5.5.5-m3"), "5.5.5-m3");
        assert_eq!(plain_version("8.0.33"), "8.0.33");
    }

    #[test]
    fn the_character_set_is_one_that_the_server_knows() {
        assert_eq!(character_set("5.1.73-log"), UTF8);
        assert_eq!(character_set("5.5.2"), UTF8);
        assert_eq!(character_set("5.5.3-m3"), UTF8MB4);
        assert_eq!(character_set("10.11.18-MariaDB"), UTF8MB4);
    }

    #[test]
    fn the_response_asks_for_nothing_that_the_server_lacks() {
        let mut read = Greeting::parse(&greeting("5.5.34", "mysql_native_password")).unwrap();
        read.flags &= !flag::PLUGIN_AUTH;
        let login = Login {
            user: "root".to_owned(),
            password: String::new(),
            database: "ib".to_owned(),
        };
        let mut out = Vec::new();
        read.put_response(&mut out, &login, Method::NativePassword);
        let flags = u32::from_le_bytes(*out.first_chunk().unwrap());
        assert_eq!(flags & flag::PLUGIN_AUTH, 0);
        assert_eq!(flags & flag::CONNECT_WITH_DB, flag::CONNECT_WITH_DB);
        assert!(out.ends_with(b"root\0\0ib\0"));
    }
}
