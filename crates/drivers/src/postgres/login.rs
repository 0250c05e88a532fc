//! From an open connection to a session: TLS, startup message, authentication, what the server is.
//! Flow: <https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-START-UP>.

mod scram;

use postgres_protocol::authentication::md5_hash;

use model::said;

use super::encode;
use super::fault::{Fault, malformed, unexpected};
use super::wire::{Wire, kind};
use crate::cursor::Cursor;
use crate::{Address, Login, Result, ServerEndpoint, SessionError, SessionInfo};

/// Protocol 3.0, which servers since 7.4 speak.
const PROTOCOL_VERSION: u32 = 3 << 16;

/// What asks for TLS in place of a protocol version.
const SSL_REQUEST: u32 = 80_877_103;

/// SQLSTATE of a server that is starting up or shutting down.
const CANNOT_CONNECT_NOW: &str = "57P03";

/// The requests of `AuthenticationXXX` messages.
mod request {
    pub(super) const OK: u32 = 0;
    pub(super) const CLEARTEXT: u32 = 3;
    pub(super) const MD5: u32 = 5;
    pub(super) const SASL: u32 = 10;
    pub(super) const SASL_CONTINUE: u32 = 11;
    pub(super) const SASL_FINAL: u32 = 12;
}

/// Refuses what no server of this protocol can do, before one is asked.
pub(super) fn check(server: &ServerEndpoint) -> Result {
    let cannot = if server.compression {
        "the PostgreSQL protocol has no compression; do not ask for it"
    } else if server.tls && matches!(server.address, Address::Socket(_)) {
        "PostgreSQL has no TLS on Unix sockets; connect by TCP, or do not ask for TLS"
    } else {
        return Ok(());
    };
    Err(server.refused(cannot))
}

pub(super) fn log_in(wire: &mut Wire, server: &ServerEndpoint) -> Result<SessionInfo> {
    let mut entry = Entry { wire, server };
    entry.run().map_err(|error| error.about("login"))
}

struct Entry<'a> {
    wire: &'a mut Wire,
    server: &'a ServerEndpoint,
}

impl Entry<'_> {
    fn run(&mut self) -> Result<SessionInfo> {
        let tls = self.server.tls.then(|| self.encrypt()).transpose()?;
        let startup = self.startup()?;
        self.wire.send(&startup)?;
        let mut info = SessionInfo {
            authentication: self.authenticate()?.to_owned(),
            tls,
            ..SessionInfo::default()
        };
        loop {
            match self.wire.next()? {
                kind::PARAMETER_STATUS => note_parameter(self.wire.body(), &mut info)?,
                kind::BACKEND_KEY_DATA => info.backend = Cursor::new(self.wire.body()).u32_be(),
                kind::NOTICE | kind::NOTIFICATION => {}
                kind::READY => return Ok(info),
                kind::ERROR => return Err(self.server_refused()),
                other => return Err(unexpected(other, "the login")),
            }
        }
    }

    /// Agrees with the server on TLS, which it answers with one byte; what was agreed.
    fn encrypt(&mut self) -> Result<String> {
        let mut request = Vec::new();
        encode::measured(&mut request, |body| encode::int32(body, SSL_REQUEST));
        self.wire.send(&request)?;
        match self.wire.peek()? {
            b'S' => self.wire.encrypt(self.server.host()),
            b'N' => Err(self.server.refused(
                "the server has no TLS; set ssl = on, ssl_cert_file and ssl_key_file in its \
                 config, or do not ask for TLS",
            )),
            kind::ERROR => {
                self.wire.next()?;
                Err(self.server_refused())
            }
            other => Err(unexpected(other, "the request for TLS")),
        }
    }

    fn startup(&self) -> Result<Vec<u8>> {
        let Login { user, database, .. } = &self.server.login;
        if user.contains('\0') || database.contains('\0') {
            return Err(self.server.refused("a name with a zero byte cannot be sent"));
        }
        let mut request = Vec::new();
        encode::measured(&mut request, |body| {
            encode::int32(body, PROTOCOL_VERSION);
            let parameters = [
                ("user", user.as_str()),
                ("database", database),
                ("application_name", "backslide"),
                ("client_encoding", "UTF8"),
            ];
            for (name, value) in parameters {
                // Without a database the server takes the one named like the user.
                if !value.is_empty() {
                    encode::string(body, name);
                    encode::string(body, value);
                }
            }
            body.push(0);
        });
        Ok(request)
    }

    /// Answers what the server asks, which is one thing: whoever has had one proof and asks for
    /// another, or for the password itself, gets nothing. Returns the method in the words of
    /// `pg_hba.conf`; `trust` stands for all that ask the client nothing (also `peer` and `ident`).
    fn authenticate(&mut self) -> Result<&'static str> {
        let method = match self.authentication_request()? {
            request::OK => return Ok("trust"),
            request::CLEARTEXT if !self.server.is_private() => {
                return Err(self.server.refused(
                    "the server asks for the password in clear text, and anyone on the way could \
                     read it; connect with TLS or over the Unix socket, or allow scram-sha-256 in \
                     pg_hba.conf",
                ));
            }
            request::CLEARTEXT => {
                let password = self.password()?.to_owned();
                self.send_password(&password)?;
                "password"
            }
            request::MD5 => {
                self.answer_md5()?;
                "md5"
            }
            request::SASL => self.scram()?,
            other => {
                return Err(self.server.refused(format!(
                    "the server asks for authentication method {other}, which is not offered; \
                     allow trust, scram-sha-256, md5 or password in pg_hba.conf"
                )));
            }
        };
        self.expect(request::OK)?;
        Ok(method)
    }

    fn expect(&mut self, wanted: u32) -> Result {
        let got = self.authentication_request()?;
        if got != wanted {
            let what = format!("request {got} where {wanted} must come");
            return Err(malformed("Authentication", &what));
        }
        Ok(())
    }

    /// Waits for an authentication message and returns its request.
    fn authentication_request(&mut self) -> Result<u32> {
        loop {
            match self.wire.next()? {
                kind::AUTHENTICATION => {
                    return Cursor::new(self.wire.body())
                        .u32_be()
                        .ok_or_else(|| malformed("Authentication", "no request"));
                }
                kind::NOTICE => {}
                kind::ERROR => return Err(self.server_refused()),
                other => return Err(unexpected(other, "the startup message")),
            }
        }
    }

    /// What follows the request in the authentication message that was read last.
    fn authentication_data(&self) -> &[u8] {
        self.wire.body().get(4..).unwrap_or_default()
    }

    fn answer_md5(&mut self) -> Result {
        let salt = <[u8; 4]>::try_from(self.authentication_data())
            .map_err(|_| malformed("AuthenticationMD5Password", "a salt not of four bytes"))?;
        let user = self.server.login.user.as_bytes();
        let hash = md5_hash(user, self.password()?.as_bytes(), salt);
        self.send_password(&hash)
    }

    fn password(&self) -> Result<&str> {
        if self.server.login.password.is_empty() {
            return Err(self.server.refused("the server asks for a password and none is given"));
        }
        Ok(&self.server.login.password)
    }

    fn send_password(&mut self, password: &str) -> Result {
        let mut message = Vec::new();
        encode::message(&mut message, b'p', |body| encode::string(body, password));
        self.wire.send(&message)
    }

    fn server_refused(&self) -> SessionError {
        match Fault::read(self.wire.body()) {
            Ok(fault) if fault.code == CANNOT_CONNECT_NOW => self.server.not_ready(fault.text()),
            Ok(fault) => self.server.refused(fault.text()),
            Err(error) => error,
        }
    }
}

fn note_parameter(body: &[u8], info: &mut SessionInfo) -> Result {
    let mut parts = Cursor::new(body);
    let (Some(name), Some(value)) = (parts.string(), parts.string()) else {
        return Err(malformed("ParameterStatus", "a string without end"));
    };
    if name == b"server_version" {
        info.server_version = said(value);
    }
    Ok(())
}
