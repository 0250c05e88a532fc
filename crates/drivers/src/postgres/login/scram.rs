//! SCRAM-SHA-256 (RFC 7677): proves the password to the server and the server to the client, and
//! over TLS ties the login to the connection.

use postgres_protocol::authentication::sasl::{
    ChannelBinding, SCRAM_SHA_256, SCRAM_SHA_256_PLUS, ScramSha256,
};

use model::said;

use super::{Entry, binding, request};
use crate::SessionError;
use crate::cursor::Cursor;
use crate::postgres::encode;

impl Entry<'_> {
    /// Answers a SASL request that was read last. Returns the method that was used: that of
    /// `pg_hba.conf`, with `-plus` when it is bound to the server's certificate.
    pub(super) fn scram(&mut self) -> Result<&'static str, SessionError> {
        let (mechanism, method, binding) = self.choose()?;
        let mut exchange = ScramSha256::new(self.password()?.as_bytes(), binding);
        let mut message = Vec::new();
        encode::message(&mut message, b'p', |body| {
            encode::string(body, mechanism);
            encode::value(body, exchange.message());
        });
        self.wire.send(&message)?;

        // An early OK would skip the server's proof.
        self.expect(request::SASL_CONTINUE)?;
        exchange
            .update(self.authentication_data())
            .map_err(|error| self.server.refused(error.to_string()))?;
        message.clear();
        encode::message(&mut message, b'p', |body| {
            body.extend_from_slice(exchange.message());
        });
        self.wire.send(&message)?;

        self.expect(request::SASL_FINAL)?;
        exchange.finish(self.authentication_data()).map_err(|error| {
            self.server.refused(format!("the server did not prove itself: {error}"))
        })?;
        Ok(method)
    }

    /// The mechanism among those that are offered, the method's name, and how it is bound. A client
    /// that could have bound the login says so: if the server has offered it, somebody between the two
    /// has struck the offer out, and the server ends the login (RFC 5802, section 6).
    fn choose(&self) -> Result<(&'static str, &'static str, ChannelBinding), SessionError> {
        let offered = self.authentication_data();
        let hash = self.wire.stream.peer_certificate().and_then(binding::hash);
        match hash {
            Some(hash) if offers(offered, SCRAM_SHA_256_PLUS) => {
                let binding = ChannelBinding::tls_server_end_point(hash);
                Ok((SCRAM_SHA_256_PLUS, "scram-sha-256-plus", binding))
            }
            could_bind if offers(offered, SCRAM_SHA_256) => {
                let binding = match could_bind {
                    Some(_) => ChannelBinding::unrequested(),
                    None => ChannelBinding::unsupported(),
                };
                Ok((SCRAM_SHA_256, "scram-sha-256", binding))
            }
            _ => Err(self.server.refused(format!(
                "the server offers only SASL mechanisms that are not supported here: {}; allow \
                 scram-sha-256, md5 or password in pg_hba.conf",
                names(offered)
            ))),
        }
    }
}

fn offers(mechanisms: &[u8], wanted: &str) -> bool {
    each(mechanisms).any(|mechanism| mechanism == wanted.as_bytes())
}

fn names(mechanisms: &[u8]) -> String {
    let names: Vec<_> = each(mechanisms).map(String::from_utf8_lossy).collect();
    said(names.join(", ").as_bytes())
}

/// The mechanisms are a list of strings that an empty one ends.
fn each(mechanisms: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut parts = Cursor::new(mechanisms);
    std::iter::from_fn(move || parts.string().filter(|mechanism| !mechanism.is_empty()))
}
