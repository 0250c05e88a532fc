//! The server's end of an encrypted connection, for tests.

use std::os::unix::net::UnixStream;
use std::sync::Arc;

use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned, SupportedProtocolVersion};

/// A server; it shakes hands at its first read or write.
pub(crate) type TlsPeer = StreamOwned<ServerConnection, UnixStream>;

/// Made for these tests, like the certificate.
const KEY: &str = "-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEIHCWXSPGAa5fdgY84RvsU/yoJeHECwQr7kLDvqgLFg2o
-----END PRIVATE KEY-----
";

const CERTIFICATE: &str = "-----BEGIN CERTIFICATE-----
MIIBNDCB56ADAgECAhQ0HDsJAEbcYLdGN9p2eneGQL2ANzAFBgMrZXAwDzENMAsG
A1UEAwwEdGVzdDAgFw0yNjExMjExNjUyNDBaGA8yMTI2MTAyODE2NTI0MFowDzEN
MAsGA1UEAwwEdGVzdDAqMAUGAytlcAMhAE2edhREZqWtozcbGxL9V6iPDIIHuVY/
kC6FLHMtBZAjo1MwUTAdBgNVHQ4EFgQUsmZKmpycloC9uZXXaW5leeYkn5cwHwYD
VR0jBBgwFoAUsmZKmpycloC9uZXXaW5leeYkn5cwDwYDVR0TAQH/BAUwAwEB/zAF
BgMrZXADQQBYG+8PYxuVPmt17l+piTcGl9tzBxaHx2u5P4eBB46k9dx3+jJhZsG/
HSsX7ivS7HdrvbJUcvIz/oZRPpC9TuYN
-----END CERTIFICATE-----
";

/// A server on `socket` that speaks `version`, with a certificate that nobody has signed.
pub(crate) fn tls_peer(socket: UnixStream, version: &'static SupportedProtocolVersion) -> TlsPeer {
    let key = PrivateKeyDer::from_pem_slice(KEY.as_bytes()).unwrap();
    let certificate = CertificateDer::from_pem_slice(CERTIFICATE.as_bytes()).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_protocol_versions(&[version])
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    StreamOwned::new(ServerConnection::new(Arc::new(config)).unwrap(), socket)
}
