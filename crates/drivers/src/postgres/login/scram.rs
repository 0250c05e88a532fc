//! SCRAM-SHA-256 (RFC 7677): proves both sides to each other, and over TLS binds the login to it.

use postgres_protocol::authentication::sasl::{
    ChannelBinding, SCRAM_SHA_256, SCRAM_SHA_256_PLUS, ScramSha256,
};

use rsa::pkcs8::AlgorithmIdentifierRef;
use rsa::pkcs8::der::{AnyRef, Reader, SliceReader};
use sha2::{Digest, Sha256, Sha384, Sha512};

use model::said;

use super::{Entry, request};
use crate::Result;
use crate::cursor::Cursor;
use crate::postgres::encode;

impl Entry<'_> {
    /// Answers a SASL request that was read last. Returns the method that was used: that of
    /// `pg_hba.conf`, with `-plus` when it is bound to the server's certificate.
    pub(super) fn scram(&mut self) -> Result<&'static str> {
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
    fn choose(&self) -> Result<(&'static str, &'static str, ChannelBinding)> {
        let offered = self.authentication_data();
        let hash = self.wire.stream.peer_certificate().and_then(hash);
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

/// The certificate's hash for channel binding (`tls-server-end-point`, RFC 5929 section 4.1), by the hash function of its own signature; SHA-256 in place of MD5 and
/// SHA-1. `None` for a signature that has no such function, or one that this client does not know:
/// the login is then not bound.
fn hash(certificate: &[u8]) -> Option<Vec<u8>> {
    const RSA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01];
    const ECDSA: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04];
    let algorithm = signature_algorithm(certificate)?;
    let identifier = algorithm.oid.as_bytes();
    match (identifier.strip_prefix(RSA), identifier.strip_prefix(ECDSA)) {
        // PKCS #1 (RFC 8017): md5, sha1, sha256. ECDSA (RFC 5758): sha1, sha256.
        (Some([4 | 5 | 11]), _) | (_, Some([1] | [3, 2])) => {
            Some(Sha256::digest(certificate).to_vec())
        }
        (Some([12]), _) | (_, Some([3, 3])) => Some(Sha384::digest(certificate).to_vec()),
        (Some([13]), _) | (_, Some([3, 4])) => Some(Sha512::digest(certificate).to_vec()),
        _ => None,
    }
}

/// A certificate is a sequence of the signed part, the algorithm, and the signature (RFC 5280, section 4.1).
fn signature_algorithm(certificate: &[u8]) -> Option<AlgorithmIdentifierRef<'_>> {
    let mut reader = SliceReader::new(certificate).ok()?;
    reader
        .sequence(|parts: &mut SliceReader<'_>| {
            let _signed: AnyRef<'_> = parts.decode()?;
            let algorithm = parts.decode()?;
            let _signature: AnyRef<'_> = parts.decode()?;
            Ok::<_, rsa::pkcs8::der::Error>(algorithm)
        })
        .ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Tags of DER: a sequence and an object identifier.
    const SEQUENCE: u8 = 0x30;
    const OBJECT_IDENTIFIER: u8 = 0x06;

    fn der(tag: u8, content: &[u8]) -> Vec<u8> {
        let mut bytes = vec![tag];
        match content.len() {
            short @ 0..0x80 => bytes.push(short as u8),
            long => {
                bytes.push(0x82);
                bytes.extend((long as u16).to_be_bytes());
            }
        }
        bytes.extend(content);
        bytes
    }

    /// The outline of a certificate with this signature algorithm.
    fn certificate(identifier: &[u8]) -> Vec<u8> {
        let signed = der(SEQUENCE, &[7; 300]);
        let algorithm = der(SEQUENCE, &[der(OBJECT_IDENTIFIER, identifier), der(5, b"")].concat());
        der(SEQUENCE, &[signed, algorithm, der(3, &[9; 64])].concat())
    }

    #[test]
    fn the_function_is_that_of_the_signature() {
        let rsa = |which| vec![0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, which];
        let ecdsa = |which| vec![0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3, which];
        for (identifier, bytes) in [
            (rsa(4), 32),
            (rsa(5), 32),
            (rsa(11), 32),
            (rsa(12), 48),
            (rsa(13), 64),
            (vec![0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 1], 32),
            (ecdsa(2), 32),
            (ecdsa(3), 48),
            (ecdsa(4), 64),
        ] {
            let certificate = certificate(&identifier);
            let hash = hash(&certificate).unwrap();
            assert_eq!(hash.len(), bytes, "{identifier:?}");
            if bytes == 32 {
                assert_eq!(hash, Sha256::digest(&certificate).to_vec());
            }
        }
        // RSA-PSS and Ed25519.
        for identifier in [rsa(10), vec![0x2b, 0x65, 0x70]] {
            assert_eq!(hash(&certificate(&identifier)), None);
        }
    }

    #[test]
    fn what_is_cut_is_no_certificate() {
        let whole = certificate(&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 11]);
        for cut in 0..whole.len() {
            assert_eq!(hash(&whole[..cut]), None, "cut at {cut}");
        }
    }

    proptest! {
        #[test]
        fn random_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
            let _ = hash(&bytes);
        }
    }
}
