//! Channel binding: what ties a login to the certificate of the connection's server
//! (`tls-server-end-point`, RFC 5929 section 4.1).

use sha2::{Digest, Sha256, Sha384, Sha512};

/// DER of a sequence and of an object identifier.
const SEQUENCE: u8 = 0x30;
const OBJECT_IDENTIFIER: u8 = 0x06;

/// The certificate's hash, by the hash function of its own signature; SHA-256 in place of MD5 and
/// SHA-1. `None` for a signature that has no such function, or one that this client does not know:
/// the login is then not bound.
pub(super) fn hash(certificate: &[u8]) -> Option<Vec<u8>> {
    let function = match signature_algorithm(certificate)? {
        // rsaEncryption of PKCS #1 (RFC 8017): md5, sha1, sha256, sha384, sha512.
        [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, which] => match which {
            4 | 5 | 11 => Function::Sha256,
            12 => Function::Sha384,
            13 => Function::Sha512,
            _ => return None,
        },
        // ECDSA (RFC 5758): sha1; sha256, sha384, sha512.
        [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x01] => Function::Sha256,
        [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, which] => match which {
            2 => Function::Sha256,
            3 => Function::Sha384,
            4 => Function::Sha512,
            _ => return None,
        },
        _ => return None,
    };
    Some(match function {
        Function::Sha256 => Sha256::digest(certificate).to_vec(),
        Function::Sha384 => Sha384::digest(certificate).to_vec(),
        Function::Sha512 => Sha512::digest(certificate).to_vec(),
    })
}

enum Function {
    Sha256,
    Sha384,
    Sha512,
}

/// The object identifier of the signature: a certificate is a sequence of what is signed, the
/// algorithm (a sequence that begins with its identifier), and the signature (RFC 5280, section 4.1).
fn signature_algorithm(certificate: &[u8]) -> Option<&[u8]> {
    let (SEQUENCE, certificate, _) = element(certificate)? else {
        return None;
    };
    let (_, _, behind_signed) = element(certificate)?;
    let (SEQUENCE, algorithm, _) = element(behind_signed)? else {
        return None;
    };
    let (OBJECT_IDENTIFIER, identifier, _) = element(algorithm)? else {
        return None;
    };
    Some(identifier)
}

/// The first element of `der`: its tag, its content, and what follows it.
fn element(der: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let [tag, short, rest @ ..] = der else {
        return None;
    };
    let (length, rest) = match short {
        0..=0x7f => (usize::from(*short), rest),
        // The length itself is so many bytes; four are enough for any certificate.
        0x81..=0x84 => {
            let (bytes, rest) = rest.split_at_checked(usize::from(short & 0x7f))?;
            let length = bytes
                .iter()
                .fold(0_usize, |length, byte| (length << 8) | usize::from(*byte));
            (length, rest)
        }
        _ => return None,
    };
    let (content, rest) = rest.split_at_checked(length)?;
    Some((*tag, content, rest))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

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
        let algorithm = der(
            SEQUENCE,
            &[der(OBJECT_IDENTIFIER, identifier), der(5, b"")].concat(),
        );
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
