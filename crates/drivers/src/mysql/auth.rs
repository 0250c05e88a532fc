//! How a password is proved to the server without sending it.

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

#[cfg(test)]
mod tests {
    use super::*;

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
