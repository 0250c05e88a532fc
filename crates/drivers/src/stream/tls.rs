//! TLS 1.2 and 1.3 of the client's side.
//!
//! The server's certificate is not checked: what is measured is the cost of encryption, not who the
//! peer is, and the servers of a lab have certificates that nobody signed. Sessions are not resumed
//! either, so that every connection costs the same.

use std::fmt::Display;
use std::io::{Read, Write};
use std::sync::Arc;

use rustls::client::Resumption;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    ClientConfig, ClientConnection, DigitallySignedStruct, Error, ProtocolVersion, SignatureScheme,
};

use super::socket::Socket;
use crate::{Result, SessionError};

/// Bytes that are read at a time during the handshake: more than a chain of certificates has.
const READ: usize = 16 << 10;

const NAMELESS: &str = "localhost";

#[derive(Debug)]
pub(super) struct Tls {
    connection: ClientConnection,
}

impl Tls {
    /// Shakes hands with `host` over `socket`, all within one timeout. What the server sends beyond
    /// the handshake is appended to `out`. Returns what was agreed: `TLSv1.3 TLS_AES_256_GCM_SHA384`.
    /// Errors: a peer that is silent, hangs up, or does not speak TLS 1.2 or 1.3.
    pub(super) fn shake_hands(
        socket: &mut Socket,
        host: &str,
        out: &mut Vec<u8>,
    ) -> Result<(Self, String)> {
        let mut tls = Self::new(host).map_err(|error| failed(socket, broken(error)))?;
        let (mut wire, mut arrived) = (Vec::new(), Vec::with_capacity(READ));
        loop {
            wire.clear();
            tls.flush(&mut wire).map_err(|cause| failed(socket, cause))?;
            if !wire.is_empty() {
                socket.write_all(&wire).map_err(during_handshake)?;
            }
            if !tls.connection.is_handshaking() {
                let agreed = tls.agreed();
                return Ok((tls, agreed));
            }
            arrived.clear();
            socket.read(&mut arrived).map_err(during_handshake)?;
            if let Err(cause) = tls.decrypt(&arrived, out) {
                tls.say_why(socket);
                return Err(failed(socket, cause));
            }
        }
    }

    fn new(host: &str) -> Result<Self, Error> {
        let provider = Arc::new(ring::default_provider());
        let verifier = Arc::new(AnyCertificate(Arc::clone(&provider)));
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .dangerous()
            .with_custom_certificate_verifier(verifier)
            .with_no_client_auth();
        config.resumption = Resumption::disabled();
        let name = ServerName::try_from(host.to_owned())
            .or_else(|_| ServerName::try_from(NAMELESS))
            .map_err(|error| Error::General(error.to_string()))?;
        let mut connection = ClientConnection::new(Arc::new(config), name)?;
        // What is encrypted is sent at once; the caller bounds how much that is.
        connection.set_buffer_limit(None);
        Ok(Self { connection })
    }

    /// Appends to `wire` the records that carry `bytes`.
    pub(super) fn encrypt(&mut self, bytes: &[u8], wire: &mut Vec<u8>) -> Result {
        self.connection.writer().write_all(bytes).map_err(broken)?;
        self.flush(wire)
    }

    /// Appends to `wire` what TLS itself has to say.
    fn flush(&mut self, wire: &mut Vec<u8>) -> Result {
        while self.connection.wants_write() {
            self.connection.write_tls(wire).map_err(broken)?;
        }
        Ok(())
    }

    /// Takes bytes as they arrived and appends their content to `out`; refuses any after the peer's goodbye.
    pub(super) fn decrypt(&mut self, arrived: &[u8], out: &mut Vec<u8>) -> Result {
        let mut rest = arrived;
        while !rest.is_empty() {
            let taken = self.connection.read_tls(&mut rest);
            if taken.map_err(broken)? == 0 {
                return Err(broken("the server sent data after it had closed TLS"));
            }
            let state = self.connection.process_new_packets().map_err(broken)?;
            let start = out.len();
            out.resize(start + state.plaintext_bytes_to_read(), 0);
            let room = out.get_mut(start..).unwrap_or_default();
            self.connection.reader().read_exact(room).map_err(broken)?;
        }
        Ok(())
    }

    pub(super) fn peer_certificate(&self) -> Option<&[u8]> {
        let certificates = self.connection.peer_certificates()?;
        certificates.first().map(AsRef::as_ref)
    }

    /// Tells the server why the handshake ends, if it still listens.
    fn say_why(&mut self, socket: &mut Socket) {
        let mut alert = Vec::new();
        if self.flush(&mut alert).is_ok() && !alert.is_empty() {
            let _ = socket.write_all(&alert);
        }
    }

    fn agreed(&self) -> String {
        let version = match self.connection.protocol_version() {
            Some(ProtocolVersion::TLSv1_2) => "TLSv1.2",
            Some(ProtocolVersion::TLSv1_3) => "TLSv1.3",
            _ => "TLS",
        };
        let cipher = self
            .connection
            .negotiated_cipher_suite()
            .and_then(|suite| suite.suite().as_str())
            .unwrap_or("unknown");
        // The library marks the suites of 1.3, which the standard does not.
        format!("{version} {}", cipher.replacen("TLS13_", "TLS_", 1))
    }
}

#[cold]
fn broken(cause: impl Display) -> SessionError {
    SessionError::protocol(format!("TLS: {cause}"))
}

#[cold]
fn failed(socket: &mut Socket, error: SessionError) -> SessionError {
    socket.abandon();
    match error {
        SessionError::Protocol { what } => {
            SessionError::protocol(format!("the TLS handshake failed: {what}"))
        }
        other => other,
    }
}

#[cold]
fn during_handshake(error: SessionError) -> SessionError {
    match error {
        SessionError::Lost { cause } => {
            SessionError::Lost { cause: format!("{cause} during the TLS handshake") }
        }
        other => other,
    }
}

/// Takes every certificate and every signature; see the module's first lines.
#[derive(Debug)]
struct AnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _cert: &CertificateDer<'_>,
        _dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _message: &[u8],
        _cert: &CertificateDer<'_>,
        _dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;
    use std::thread::{self, JoinHandle};
    use std::time::{Duration, Instant};

    use proptest::prelude::*;
    use rustls::SupportedProtocolVersion;
    use rustls::version::{TLS12, TLS13};

    use super::*;
    use crate::stream::Stream;
    use crate::stream::socket::bound;
    use crate::tests::tls_peer::{TlsPeer, tls_peer};

    /// Long enough for a handshake on a busy machine.
    const SHORT: Duration = Duration::from_millis(500);

    fn pair(timeout: Duration) -> (Stream, UnixStream) {
        let (ours, theirs) = UnixStream::pair().unwrap();
        bound(&ours, timeout).unwrap();
        (Stream::over(ours.into(), true, timeout), theirs)
    }

    /// An encrypted stream, what was agreed, and a server that does as `script` says.
    fn encrypted(
        version: &'static SupportedProtocolVersion,
        script: impl FnOnce(TlsPeer) + Send + 'static,
    ) -> (Stream, String, JoinHandle<()>) {
        let (mut stream, theirs) = pair(Duration::from_secs(5));
        let server = thread::spawn(move || {
            let mut peer = tls_peer(theirs, version);
            peer.conn.complete_io(&mut peer.sock).unwrap();
            script(peer);
        });
        let agreed = stream.encrypt("db.example").unwrap();
        (stream, agreed, server)
    }

    #[test]
    fn bytes_go_both_ways_in_both_versions() {
        for (version, expected) in
            [(&TLS12, "TLSv1.2 TLS_ECDHE_ECDSA_WITH_AES_"), (&TLS13, "TLSv1.3 TLS_AES_")]
        {
            let (mut stream, agreed, server) = encrypted(version, |mut peer| {
                let mut request = vec![0; 700_000];
                peer.read_exact(&mut request).unwrap();
                peer.write_all(&request).unwrap();
                peer.conn.send_close_notify();
                peer.flush().unwrap();
            });
            assert!(agreed.starts_with(expected), "{agreed}");
            assert!(stream.peer_certificate().unwrap().starts_with(&[0x30, 0x82]));
            let request: Vec<u8> = (0..700_000_u32).map(|i| (i % 251) as u8).collect();
            stream.send(&request).unwrap();
            assert!(stream.ensure(request.len()).unwrap() == request);
            stream.consume(request.len());
            assert_eq!(stream.ensure(1).unwrap_err().code(), "lost");
            server.join().unwrap();
        }
    }

    #[test]
    fn waits_are_bounded_as_on_a_plain_stream() {
        let (mut stream, theirs) = pair(SHORT);
        let server = thread::spawn(move || {
            let mut peer = tls_peer(theirs, &TLS13);
            peer.conn.complete_io(&mut peer.sock).unwrap();
            // Until the client hangs up.
            while peer.write_all(b".").and_then(|()| peer.flush()).is_ok() {
                thread::sleep(SHORT / 40);
            }
        });
        stream.encrypt("localhost").unwrap();
        let before = Instant::now();
        stream.send(b"request").unwrap();
        assert_eq!(stream.ensure(10_000).unwrap_err().code(), "timeout");
        assert!(before.elapsed() < SHORT * 10);
        server.join().unwrap();
        let (mut stream, _silent) = pair(SHORT);
        assert_eq!(stream.encrypt("localhost").unwrap_err().code(), "timeout");
    }

    #[test]
    fn a_handshake_that_fails_says_why_and_ends_the_session() {
        let cases: [(&[u8], &str, &str); 4] = [
            (b"", "lost", "closed the connection during the TLS handshake"),
            (b"\x16\x03\x03\x00\x50\x02", "lost", "during the TLS handshake"),
            // The alert of a server that speaks older versions only.
            (b"\x15\x03\x01\x00\x02\x02\x46", "protocol", "handshake failed"),
            (b"HTTP/1.1 400 Bad Request\r\n\r\n", "protocol", "handshake failed"),
        ];
        for (said, code, expected) in cases {
            let (mut stream, mut theirs) = pair(Duration::from_secs(5));
            let said = said.to_vec();
            let server = thread::spawn(move || {
                let _hello = theirs.read(&mut [0; 4096]).unwrap();
                theirs.write_all(&said).unwrap();
            });
            let error = stream.encrypt("localhost").unwrap_err();
            assert_eq!(error.code(), code);
            assert!(error.to_string().contains(expected), "{error}");
            assert_eq!(stream.send(b"x").unwrap_err().code(), "lost");
            server.join().unwrap();
        }
    }

    #[test]
    fn plain_bytes_where_encrypted_ones_must_come_are_refused() {
        let (mut stream, mut theirs) = pair(Duration::from_secs(5));
        theirs.write_all(b"Sinjected").unwrap();
        stream.ensure(9).unwrap();
        stream.consume(1);
        let error = stream.encrypt("localhost").unwrap_err();
        assert!(error.to_string().contains("plain text"), "{error}");

        let (mut stream, _, server) = encrypted(&TLS13, |mut peer| {
            peer.sock.write_all(b"\x17\x03\x03\x00\x14not encrypted at all").unwrap();
        });
        let error = stream.ensure(1).unwrap_err();
        assert_eq!(error.code(), "protocol");
        assert_eq!(stream.ensure(1).unwrap_err().code(), "lost");
        server.join().unwrap();
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn any_bytes_end_a_handshake_with_an_error(
            bytes in proptest::collection::vec(any::<u8>(), 0..200),
            record in any::<bool>(),
        ) {
            let (mut stream, mut theirs) = pair(Duration::from_secs(5));
            if record {
                let [low, high] = (bytes.len() as u16).to_le_bytes();
                theirs.write_all(&[0x16, 3, 3, high, low]).unwrap();
            }
            theirs.write_all(&bytes).unwrap();
            theirs.shutdown(std::net::Shutdown::Write).unwrap();
            prop_assert!(stream.encrypt("localhost").is_err());
        }
    }
}
