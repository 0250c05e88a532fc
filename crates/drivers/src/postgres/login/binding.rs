//! Channel binding: what ties a login to the certificate of the connection's server
//! (`tls-server-end-point`, RFC 5929 section 4.1).

use rsa::pkcs8::AlgorithmIdentifierRef;
use rsa::pkcs8::der::{AnyRef, Reader, SliceReader};
use sha2::{Digest, Sha256, Sha384, Sha512};

/// The certificate's hash, by the hash function of its own signature; SHA-256 in place of MD5 and
/// SHA-1. `None` for a signature that has no such function, or one that this client does not know:
/// the login is then not bound.
pub(super) fn hash(certificate: &[u8]) -> Option<Vec<u8>> {
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
