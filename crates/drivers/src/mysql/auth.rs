//! How a password is proved to the server without sending it, or sealed with the server's public key: RSAES-OAEP
//! with SHA-1 (RFC 8017, 7.1.1), for the full authentication of `caching_sha2_password` without TLS. That key is
//! not checked. Like TLS here, it keeps out eavesdroppers, not impostors.

use getrandom::SysRng;
use rsa::pkcs8::DecodePublicKey;
use rsa::{Oaep, PublicKey};
use rustls::pki_types::SubjectPublicKeyInfoDer;
use rustls::pki_types::pem::{self, PemObject};
use sha1::{Digest, Sha1};
use sha2::Sha256;

pub(super) type Nonce = [u8; 20];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    /// The only one of servers before MySQL 8.0, and MariaDB's.
    NativePassword,
    /// The default of MySQL 8.0 and later.
    CachingSha2Password,
}

impl Method {
    pub(super) fn from_name(name: &[u8]) -> Option<Self> {
        match name {
            b"mysql_native_password" => Some(Self::NativePassword),
            b"caching_sha2_password" => Some(Self::CachingSha2Password),
            _ => None,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::NativePassword => "mysql_native_password",
            Self::CachingSha2Password => "caching_sha2_password",
        }
    }

    /// The proof that the client knows `password`; empty for an empty password.
    pub(super) fn prove(self, password: &str, nonce: &Nonce) -> Vec<u8> {
        if password.is_empty() {
            return Vec::new();
        }
        match self {
            Self::NativePassword => native(password.as_bytes(), nonce).to_vec(),
            Self::CachingSha2Password => sha2(password.as_bytes(), nonce).to_vec(),
        }
    }
}

/// `SHA1(password) XOR SHA1(nonce + SHA1(SHA1(password)))`.
fn native(password: &[u8], nonce: &Nonce) -> [u8; 20] {
    let once: [u8; 20] = Sha1::digest(password).into();
    let twice = Sha1::digest(once);
    let mask: [u8; 20] = Sha1::new().chain_update(nonce).chain_update(twice).finalize().into();
    xor(once, mask)
}

/// `SHA256(password) XOR SHA256(SHA256(SHA256(password)) + nonce)`.
fn sha2(password: &[u8], nonce: &Nonce) -> [u8; 32] {
    let once: [u8; 32] = Sha256::digest(password).into();
    let twice = Sha256::digest(once);
    let mask: [u8; 32] = Sha256::new().chain_update(twice).chain_update(nonce).finalize().into();
    xor(once, mask)
}

fn xor<const N: usize>(mut left: [u8; N], right: [u8; N]) -> [u8; N] {
    for (byte, mask) in left.iter_mut().zip(right) {
        *byte ^= mask;
    }
    left
}

#[derive(Debug, thiserror::Error)]
pub(super) enum SealError {
    #[error("the server's public key is not in PEM: {0}")]
    NotPem(pem::Error),
    #[error("the server's public key is not one of RSA with 1024 to 8192 bits")]
    NotRsa,
    #[error("the password is too long for the server's public key")]
    TooLong,
    #[error("the password cannot be encrypted: {0}")]
    Failed(rsa::Error),
}

/// What to send for `password`: it and a NUL, mixed with the nonce, sealed with `pem` (`BEGIN PUBLIC KEY`).
pub(super) fn seal(password: &str, nonce: &Nonce, pem: &[u8]) -> Result<Vec<u8>, SealError> {
    let der = SubjectPublicKeyInfoDer::from_pem_slice(pem).map_err(SealError::NotPem)?;
    let key = PublicKey::from_public_key_der(&der).map_err(|_| SealError::NotRsa)?;
    let message: Vec<u8> = password
        .bytes()
        .chain([0])
        .zip(nonce.iter().cycle())
        .map(|(byte, mask)| byte ^ mask)
        .collect();
    key.encrypt(&mut SysRng, Oaep::<Sha1>::new(), &message).map_err(|error| match error {
        rsa::Error::MessageTooLong => SealError::TooLong,
        other => SealError::Failed(other),
    })
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;
    use rsa::traits::PublicKeyParts;
    use rsa::{BoxedUint, PrivateKey};

    use super::*;

    /// A key of 1024 bits that was made for this test.
    pub(in crate::mysql) const PEM: &str = "-----BEGIN PUBLIC KEY-----
MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQDQkwCQ9XDhK0vrBhyfWdiBld4V
NOeEzutCqSJueog5xnCwJ+bhuBIBK9pYtGFLDj8i7VyWZ8MwWaJlQAhmHe+18D4B
q4tEozUYZdAHkg2I23pUmo1g+7iSEFIzqnpHLq4S1uFiZ0mjkwXzKkwIfFZ7QnbA
SvCLwfd4Ug+GHf6UNwIDAQAB
-----END PUBLIC KEY-----
";

    /// Its private exponent.
    const PRIVATE: &str = "21e753573cde5d6ba94a89d2cb40528635f344a535e10bb5883f6ffe5f6297699f55\
         b316bfa8291d11a0cb7c7eb83197a7b8c7ad172ece4433b69ba301de69e170fa24d015f03c96d8cafe038e66\
         1f62595b33d34e244df817dbe369bfdceeed0ab6f1b32ace0da83beba3d093ae10e1331e4eb995e072d0ced4\
         e7da98ecd8e1";

    /// Opens what was sealed with the key, for the servers of tests.
    pub(in crate::mysql) fn open(sealed: &[u8]) -> Vec<u8> {
        let der = SubjectPublicKeyInfoDer::from_pem_slice(PEM.as_bytes()).unwrap();
        let key = PublicKey::from_public_key_der(&der).unwrap();
        let exponent = BoxedUint::from_be_hex(PRIVATE, 1024).unwrap();
        let (modulus, public) = (key.n().clone().get(), key.e().clone());
        let private = PrivateKey::from_components(modulus, public, exponent, Vec::new()).unwrap();
        private.decrypt(Oaep::<Sha1>::new(), sealed).unwrap()
    }

    // The sealed bytes were computed from RFC 8017 by another implementation, and opened by a third.
    #[test]
    fn a_vector_is_opened() {
        const SEALED: &str = "a942f63aa03dc180c5fe672bdd7d5f2626360e4f8738f2b6a32baf01c833392795bd725a\
             45520aa9318fd6369ef84c5eaeb8ecf46733cb79f4b1400aa48e3a59e355ed18de7e887622097fd38519\
             747ef56c7d12198f60956b4bcb11d43598e7397f526384a06934e623278e8397c8a1f2092d05f20d8e90\
             40eb6edc29f1179d";
        let sealed = BoxedUint::from_be_hex(SEALED, 1024).unwrap();
        assert_eq!(open(&sealed.to_be_bytes()), b"secret\0");
    }

    #[test]
    fn the_password_is_mixed_with_the_nonce_and_a_nul() {
        let nonce = b"0123456789abcdefghij";
        let sealed = seal("sécret", nonce, PEM.as_bytes()).unwrap();
        let opened = open(&sealed);
        let password: Vec<u8> = opened.iter().zip(nonce).map(|(a, b)| a ^ b).collect();
        assert_eq!(password, "sécret\0".as_bytes());
        assert_ne!(seal("sécret", nonce, PEM.as_bytes()).unwrap(), sealed);
        // 1024 bits hold 86 bytes.
        let error = seal(&"x".repeat(86), nonce, PEM.as_bytes()).unwrap_err();
        assert!(matches!(error, SealError::TooLong), "{error}");
        assert!(seal(&"x".repeat(85), nonce, PEM.as_bytes()).is_ok());
    }

    #[test]
    fn other_keys_are_refused() {
        let error = |pem: &str| {
            seal("secret", b"0123456789abcdefghij", pem.as_bytes()).unwrap_err().to_string()
        };
        assert!(error("nonsense").contains("PEM"));
        let elliptic = "-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEATZ52FERmpa2jNxsbEv1XqI8Mgge5Vj+QLoUscy0FkCM=
-----END PUBLIC KEY-----
";
        assert!(error(elliptic).contains("not one of RSA"));
        let cut = PEM.replace("SvCLwfd4Ug+GHf6UNwIDAQAB\n", "");
        assert!(error(&cut).contains("not one of RSA"));
    }

    proptest! {
        #[test]
        fn damaged_keys_never_panic(
            damage in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        ) {
            let mut der = SubjectPublicKeyInfoDer::from_pem_slice(PEM.as_bytes())
                .unwrap()
                .to_vec();
            for (place, byte) in damage {
                let place = place.index(der.len());
                der[place] = byte;
            }
            let _ = PublicKey::from_public_key_der(&der);
        }
    }

    const NONCE: &Nonce = b"0123456789abcdefghij";

    fn hex(bytes: &[u8]) -> String {
        use std::fmt::Write;
        bytes.iter().fold(String::new(), |mut text, byte| {
            write!(text, "{byte:02x}").unwrap();
            text
        })
    }

    // The expected values were computed from the two formulas by an independent implementation.
    #[test]
    fn proofs_match_vectors() {
        assert_eq!(
            hex(&Method::NativePassword.prove("secret", NONCE)),
            "f5cac3f3b3df2133feb57db682c71e6ed433a988"
        );
        assert_eq!(
            hex(&Method::CachingSha2Password.prove("secret", NONCE)),
            "7e4adda2f2d5ef09b4147518becb0cee2939376203650a8c2bb2815959364bd0"
        );
    }

    #[test]
    fn an_empty_password_has_an_empty_proof() {
        assert!(Method::NativePassword.prove("", NONCE).is_empty());
        assert!(Method::CachingSha2Password.prove("", NONCE).is_empty());
    }

    #[test]
    fn names_go_both_ways() {
        for method in [Method::NativePassword, Method::CachingSha2Password] {
            assert_eq!(Method::from_name(method.name().as_bytes()), Some(method));
        }
        assert_eq!(Method::from_name(b"sha256_password"), None);
    }
}
