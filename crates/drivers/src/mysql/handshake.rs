//! The greeting, the login and what was agreed by it.

use model::said;

use super::auth::{self, Method, Nonce};
use super::packets::Packets;
use super::reply::{END, ERROR, OK, code_and_message, malformed};
use crate::cursor::{Cursor, put_lenenc};
use crate::stream::MAX_MESSAGE;
use crate::{Login, Result, ServerEndpoint, SessionError, SessionInfo};

/// `CLIENT_*` flags of the protocol.
mod flag {
    pub(super) const LONG_PASSWORD: u32 = 1;
    /// An UPDATE tells the rows that it found, as other products do, not those that it changed.
    pub(super) const FOUND_ROWS: u32 = 1 << 1;
    pub(super) const LONG_FLAG: u32 = 1 << 2;
    pub(super) const CONNECT_WITH_DB: u32 = 1 << 3;
    pub(super) const COMPRESS: u32 = 1 << 5;
    /// `LOAD DATA LOCAL`. Always asked for, because it cannot be later; unexpected requests are refused.
    pub(super) const LOCAL_FILES: u32 = 1 << 7;
    pub(super) const PROTOCOL_41: u32 = 1 << 9;
    pub(super) const SSL: u32 = 1 << 11;
    pub(super) const TRANSACTIONS: u32 = 1 << 13;
    pub(super) const SECURE_CONNECTION: u32 = 1 << 15;
    /// Procedures may return rows. Not the same as several statements in one text.
    pub(super) const MULTI_RESULTS: u32 = 1 << 17;
    pub(super) const PS_MULTI_RESULTS: u32 = 1 << 18;
    pub(super) const PLUGIN_AUTH: u32 = 1 << 19;
    /// What is asked for, where the server has it.
    pub(super) const WANTED: u32 = LONG_PASSWORD
        | FOUND_ROWS
        | LONG_FLAG
        | LOCAL_FILES
        | PROTOCOL_41
        | TRANSACTIONS
        | SECURE_CONNECTION
        | MULTI_RESULTS
        | PS_MULTI_RESULTS
        | PLUGIN_AUTH;
    /// What every server has since 4.1, and without which nothing here works.
    pub(super) const NEEDED: u32 = PROTOCOL_41 | SECURE_CONNECTION;
    /// The flags that MariaDB has beyond those of MySQL; it says by the lack of `LONG_PASSWORD` that it
    /// has any. `MARIADB_CLIENT_CACHE_METADATA`, since 10.6: an execution describes its columns only where
    /// they are not those that the client was told before.
    pub(super) const KNOWN_COLUMNS: u32 = 1 << 4;
}

/// The id of a character set's default collation, and its name.
type CharacterSet = (u8, &'static str);

/// `utf8mb4_general_ci`, known to servers since 5.5.3.
const UTF8MB4: CharacterSet = (45, "utf8mb4");
const UTF8: CharacterSet = (33, "utf8");

/// First byte of a packet that goes on with an authentication method.
const MORE: u8 = 0x01;
/// `caching_sha2_password`: the server knew the proof; an OK packet follows.
const FAST_DONE: u8 = 3;
/// `caching_sha2_password`: the server wants the password itself.
const FULL_WANTED: u8 = 4;
/// `caching_sha2_password`: the client wants the server's public key.
const KEY_WANTED: u8 = 2;

/// What to do about a server that cannot encrypt. Only its log says that it cannot read its certificate.
const NO_TLS: &str = "the server offers no TLS; give it a certificate that it can read (ssl_cert and \
     ssl_key; its log says if it cannot) and do not switch TLS off (skip_ssl), or connect without TLS. \
     Builds with yaSSL, as most of MySQL 5.5 to 5.7 are, speak no more than TLS 1.1, which this client \
     does not";
const OLD_TLS: &str = "this client speaks TLS 1.2 and 1.3, and builds with yaSSL, as most of MySQL 5.5 \
     to 5.7 are, speak no more than TLS 1.1: take a build with OpenSSL, or connect without TLS";
const NO_DATABASE: &str =
    "the server takes no database at the login; name none, and choose one with USE";
const NO_COMPRESSION: &str = "the server does not offer compression with zlib; MySQL 8.0.18 and later \
     can be told by protocol_compression_algorithms; or connect without compression";

/// Codes of a server that starts up or ends, and may be there later.
const NOT_READY: [u16; 2] = [1053, 3168];

/// More packets than any login takes; beyond it the server is leading the client in circles.
const MOST_PACKETS: usize = 8;

#[derive(Debug, PartialEq, Eq)]
struct Greeting {
    version: String,
    connection: u32,
    flags: u32,
    /// Those of MariaDB alone.
    more_flags: u32,
    nonce: Nonce,
    /// `None` when the server names a method that this client does not speak, or none at all.
    method: Option<Method>,
}

#[derive(Debug, Default)]
pub(super) struct Agreed {
    pub(super) info: SessionInfo,
    /// Is `LOAD DATA LOCAL` possible, as far as the login tells?
    pub(super) local_files: bool,
    /// The connection's character set, by its name in SQL.
    pub(super) character_set: &'static str,
    /// Are columns that the client knows not described again?
    pub(super) known_columns: bool,
}

pub(super) fn log_in(packets: &mut Packets, server: &ServerEndpoint) -> Result<Agreed> {
    shake_hands(packets, server).map_err(|error| error.about("login"))
}

fn shake_hands(packets: &mut Packets, server: &ServerEndpoint) -> Result<Agreed> {
    let first = packets.receive()?;
    if first.first() == Some(&ERROR) {
        return Err(refusal(server, first));
    }
    let greeting = Greeting::parse(first)?;
    let flags = greeting.agree(server)?;
    let tls = if server.tls {
        greeting.put_head(packets.answer(), flags);
        packets.send()?;
        Some(encrypt(packets, server)?)
    } else {
        None
    };
    let method = greeting.method.unwrap_or(Method::NativePassword);
    greeting.put_response(packets.answer(), flags, &server.login, method);
    packets.send()?;
    let method = authenticate(packets, server, method, greeting.nonce)?;
    if server.compression {
        packets.compress();
    }
    Ok(Agreed {
        local_files: flags & flag::LOCAL_FILES != 0,
        character_set: character_set(&greeting.version).1,
        known_columns: greeting.more_flags & flag::KNOWN_COLUMNS != 0,
        info: SessionInfo {
            server_version: greeting.version,
            backend: Some(greeting.connection),
            authentication: method.name().to_owned(),
            tls,
        },
    })
}

fn encrypt(packets: &mut Packets, server: &ServerEndpoint) -> Result<String> {
    packets.encrypt(server.host()).map_err(|error| match error {
        SessionError::Protocol { what } => server.refused(format!("{what}; {OLD_TLS}")),
        SessionError::Lost { cause } => SessionError::lost(format!("{cause}; {OLD_TLS}")),
        other => other,
    })
}

impl Greeting {
    fn parse(packet: &[u8]) -> Result<Self> {
        if packet.first() != Some(&10) {
            let what = "the greeting is not that of a MySQL server (protocol version 10)";
            return Err(SessionError::protocol(what));
        }
        Self::parse_fields(packet).ok_or_else(|| malformed("greeting"))
    }

    fn parse_fields(packet: &[u8]) -> Option<Self> {
        let mut cursor = Cursor::new(packet);
        cursor.u8()?;
        let version = said(cursor.until_nul());
        let connection = cursor.u32()?;
        let nonce_start = cursor.bytes(8)?;
        cursor.u8()?;
        let flags_low = cursor.u16()?;
        // Character set and status.
        cursor.bytes(3)?;
        let flags_high = cursor.u16()?;
        let flags = u32::from(flags_low) | u32::from(flags_high) << 16;
        // Length of the nonce, which is 20 in both methods, and six unused bytes; four more in MySQL.
        cursor.bytes(7)?;
        let more_flags = cursor.u32()?;
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
            flags,
            more_flags: match flags & flag::LONG_PASSWORD {
                0 => more_flags,
                _ => 0,
            },
            nonce,
            method: Method::from_name(cursor.until_nul()),
        })
    }

    /// The flags of this connection. The error says what the server lacks and what to do.
    fn agree(&self, server: &ServerEndpoint) -> Result<u32> {
        let login = &server.login;
        if self.flags & flag::NEEDED != flag::NEEDED {
            return Err(server.refused(format!(
                "server version {} is too old: logins since MySQL 4.1 are needed",
                self.version
            )));
        }
        if login.user.contains('\0') || login.database.contains('\0') {
            return Err(server.refused("the user or database name contains a NUL character"));
        }
        if server.describe {
            let cannot = "the MySQL protocol has no portals to describe; do not ask for it";
            return Err(server.refused(cannot));
        }
        let mut wanted = flag::WANTED;
        for (asked, flag, without) in [
            (!login.database.is_empty(), flag::CONNECT_WITH_DB, NO_DATABASE),
            (server.tls, flag::SSL, NO_TLS),
            (server.compression, flag::COMPRESS, NO_COMPRESSION),
        ] {
            if asked {
                if self.flags & flag == 0 {
                    return Err(server.refused(without));
                }
                wanted |= flag;
            }
        }
        Ok(wanted & self.flags)
    }

    /// Appends what a `HandshakeResponse41` begins with, and an `SSLRequest` is.
    fn put_head(&self, out: &mut Vec<u8>, flags: u32) {
        out.extend_from_slice(&flags.to_le_bytes());
        out.extend_from_slice(&(MAX_MESSAGE as u32).to_le_bytes());
        out.push(character_set(&self.version).0);
        out.extend_from_slice(&[0; 19]);
        let more_flags = self.more_flags & flag::KNOWN_COLUMNS;
        out.extend_from_slice(&more_flags.to_le_bytes());
    }

    fn put_response(&self, out: &mut Vec<u8>, flags: u32, login: &Login, method: Method) {
        let proof = method.prove(&login.password, &self.nonce);
        self.put_head(out, flags);
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

/// Follows the server to its OK packet; returns the method that it was content with.
fn authenticate(
    packets: &mut Packets,
    server: &ServerEndpoint,
    mut method: Method,
    mut nonce: Nonce,
) -> Result<Method> {
    let password = &server.login.password;
    for _ in 0..MOST_PACKETS {
        let packet = packets.receive()?;
        match packet.split_first() {
            Some((&OK, _)) => return Ok(method),
            Some((&ERROR, _)) => return Err(refusal(server, packet)),
            Some((&END, request)) => {
                (method, nonce) = switch(server, request)?;
                let proof = method.prove(password, &nonce);
                packets.answer().extend_from_slice(&proof);
                packets.send()?;
            }
            Some((&MORE, [FAST_DONE])) if method == Method::CachingSha2Password => {}
            Some((&MORE, [FULL_WANTED])) if method == Method::CachingSha2Password => {
                send_password(packets, server, &nonce)?;
            }
            _ => return Err(malformed("reply to the login")),
        }
    }
    Err(malformed("login (too many packets)"))
}

/// Full authentication: the password itself where nobody can listen, otherwise sealed with the server's key.
fn send_password(packets: &mut Packets, server: &ServerEndpoint, nonce: &Nonce) -> Result {
    if server.is_private() {
        let answer = packets.answer();
        answer.extend_from_slice(server.login.password.as_bytes());
        answer.push(0);
        return packets.send();
    }
    packets.answer().push(KEY_WANTED);
    packets.send()?;
    let packet = packets.receive()?;
    let key = match packet.split_first() {
        Some((&MORE, key)) => key,
        Some((&ERROR, _)) => return Err(refusal(server, packet)),
        _ => return Err(malformed("public key")),
    };
    let sealed = auth::seal(&server.login.password, nonce, key).map_err(|cause| {
        server.refused(format!(
            "{cause}; connect over the Unix socket or with TLS, or identify the user with \
             mysql_native_password"
        ))
    })?;
    packets.answer().extend_from_slice(&sealed);
    packets.send()
}

fn switch(server: &ServerEndpoint, request: &[u8]) -> Result<(Method, Nonce)> {
    let mut cursor = Cursor::new(request);
    let name = cursor.until_nul();
    let Some(method) = Method::from_name(name) else {
        let name = match said(name) {
            // A bare request stands for the method of servers before 4.1.
            name if name.is_empty() => "mysql_old_password".to_owned(),
            name => name,
        };
        return Err(server.refused(format!(
            "the server asks for the authentication method `{name}`, which is not supported; \
             identify the user with mysql_native_password or caching_sha2_password"
        )));
    };
    let nonce = cursor.rest().first_chunk::<{ size_of::<Nonce>() }>();
    match nonce {
        Some(nonce) => Ok((method, *nonce)),
        None => Err(malformed("request to change the authentication method")),
    }
}

fn refusal(server: &ServerEndpoint, packet: &[u8]) -> SessionError {
    let (code, message) = code_and_message(packet);
    let text = format!("{message} (error {code})");
    if NOT_READY.contains(&code) { server.not_ready(text) } else { server.refused(text) }
}

/// MariaDB before 11 puts `5.5.5-` before its version, for old replicas' sake.
fn plain_version(version: &str) -> &str {
    match version.strip_prefix("5.5.5-") {
        Some(plain) if plain.contains("MariaDB") => plain,
        _ => version,
    }
}

fn character_set(version: &str) -> CharacterSet {
    let mut numbers = version
        .split(|c: char| !c.is_ascii_digit())
        .map(|number| number.parse::<u32>().unwrap_or(0));
    let mut next = || numbers.next().unwrap_or(0);
    if (next(), next(), next()) < (5, 5, 3) { UTF8 } else { UTF8MB4 }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::Address;

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
                more_flags: 0,
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
    fn what_mariadb_has_besides_is_asked_for() {
        let mut packet = greeting("10.11.18-MariaDB", "mysql_native_password");
        let more = packet.len() - b"89abcdefghij\0mysql_native_password\0".len() - 4;
        packet[more] = 0x1f;
        let more_flags = |packet: &[u8]| {
            let greeting = Greeting::parse(packet).unwrap();
            let mut head = Vec::new();
            greeting.put_head(&mut head, 0);
            (greeting.more_flags, head[28..].to_vec())
        };
        // With LONG_PASSWORD it is MySQL, where these bytes mean nothing.
        assert_eq!(more_flags(&packet), (0, vec![0; 4]));
        let low = more - 6 - 8;
        assert_eq!(packet[low], 0xff);
        packet[low] = 0xfe;
        assert_eq!(more_flags(&packet), (0x1f, vec![0x10, 0, 0, 0]));
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
        assert_eq!(plain_version("5.5.5-10.11.18-MariaDB-0+deb12u1"), "10.11.18-MariaDB-0+deb12u1");
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

    fn endpoint(tls: bool, compression: bool) -> ServerEndpoint {
        let login =
            Login { user: "root".to_owned(), password: String::new(), database: "ib".to_owned() };
        let address = Address::Socket("s.sock".into());
        ServerEndpoint {
            tls,
            compression,
            ..ServerEndpoint::plain(address, login, std::time::Duration::from_secs(1))
        }
    }

    #[test]
    fn the_response_asks_for_nothing_that_the_server_lacks() {
        let mut read = Greeting::parse(&greeting("5.5.34", "mysql_native_password")).unwrap();
        read.flags &= !(flag::PLUGIN_AUTH | flag::LOCAL_FILES);
        let server = endpoint(false, false);
        let flags = read.agree(&server).unwrap();
        let mut out = Vec::new();
        read.put_response(&mut out, flags, &server.login, Method::NativePassword);
        assert_eq!(flags, u32::from_le_bytes(*out.first_chunk().unwrap()));
        assert_eq!(flags & (flag::PLUGIN_AUTH | flag::LOCAL_FILES), 0);
        assert_eq!(flags & flag::CONNECT_WITH_DB, flag::CONNECT_WITH_DB);
        assert!(out.ends_with(b"root\0\0ib\0"));
    }

    #[test]
    fn what_is_asked_for_and_not_there_is_missed() {
        let mut read = Greeting::parse(&greeting("8.0.33", "caching_sha2_password")).unwrap();
        let both = flag::SSL | flag::COMPRESS;
        assert_eq!(read.agree(&endpoint(false, false)).unwrap() & both, 0);
        assert_eq!(read.agree(&endpoint(true, true)).unwrap() & both, both);
        read.flags &= !both;
        let error = read.agree(&endpoint(true, false)).unwrap_err().to_string();
        assert!(error.contains("ssl_cert") && error.contains("without TLS"), "{error}");
        let error = read.agree(&endpoint(false, true)).unwrap_err().to_string();
        assert!(error.contains("protocol_compression_algorithms"), "{error}");
        let described = ServerEndpoint { describe: true, ..endpoint(false, false) };
        let error = read.agree(&described).unwrap_err().to_string();
        assert!(error.contains("no portals"), "{error}");
        read.flags &= !flag::CONNECT_WITH_DB;
        let error = read.agree(&endpoint(false, false)).unwrap_err().to_string();
        assert!(error.contains("no database"), "{error}");
    }
}
