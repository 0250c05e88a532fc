//! Seals a password with the server's public key: RSAES-OAEP with SHA-1 (RFC 8017, 7.1.1), as the
//! full authentication of `caching_sha2_password` wants it where the connection is not encrypted.
//!
//! The key comes from the server and is not checked: like TLS here, it keeps out who listens, not
//! who pretends to be the server.

use num_bigint::BigUint;
use rustls::crypto::ring;
use rustls::pki_types::SubjectPublicKeyInfoDer;
use rustls::pki_types::pem::PemObject;
use sha1::{Digest, Sha1};

use super::auth::Nonce;

/// Bytes of a SHA-1.
const HASH: usize = 20;

/// Bytes of a modulus that is taken: 1024 to 16,384 bits. MySQL's keys have 2048.
const MODULUS: std::ops::RangeInclusive<usize> = 128..=2048;

/// Most bytes of an exponent. MySQL's is 65,537.
const EXPONENT: usize = 8;

/// What `HASH` bytes of a mask are made with; random, so that no two messages look alike.
type Seed = [u8; HASH];

/// What is sent for `password`: it and a NUL, mixed with the nonce, sealed with the key `pem`
/// (`BEGIN PUBLIC KEY`). The error says what is wrong with the key, or that the password is too long.
pub(super) fn seal(password: &str, nonce: &Nonce, pem: &[u8]) -> Result<Vec<u8>, String> {
    let key = PublicKey::from_pem(pem)?;
    let mut seed = Seed::default();
    ring::default_provider()
        .secure_random
        .fill(&mut seed)
        .map_err(|_| "the system has no random numbers".to_owned())?;
    let message: Vec<u8> = password
        .bytes()
        .chain([0])
        .zip(nonce.iter().cycle())
        .map(|(byte, mask)| byte ^ mask)
        .collect();
    key.encrypt(&message, seed)
}

/// An RSA public key.
#[derive(Debug, PartialEq, Eq)]
struct PublicKey {
    modulus: BigUint,
    exponent: BigUint,
    /// Bytes of the modulus, and of all that is encrypted with it.
    length: usize,
}

impl PublicKey {
    fn from_pem(pem: &[u8]) -> Result<Self, String> {
        let der = SubjectPublicKeyInfoDer::from_pem_slice(pem)
            .map_err(|error| format!("the server's public key is not in PEM: {error}"))?;
        let (modulus, exponent) =
            numbers(&der).ok_or_else(|| "the server's public key is not one of RSA".to_owned())?;
        if !MODULUS.contains(&modulus.len()) || exponent.len() > EXPONENT {
            return Err(format!(
                "the server's public key has {} bits, where 1024 to 16384 are taken",
                modulus.len() * 8
            ));
        }
        Ok(Self {
            modulus: BigUint::from_bytes_be(modulus),
            exponent: BigUint::from_bytes_be(exponent),
            length: modulus.len(),
        })
    }

    fn encrypt(&self, message: &[u8], seed: Seed) -> Result<Vec<u8>, String> {
        let padded = self.pad(message, seed)?;
        let sealed = BigUint::from_bytes_be(&padded).modpow(&self.exponent, &self.modulus);
        let digits = sealed.to_bytes_be();
        let mut out = vec![0; self.length.saturating_sub(digits.len())];
        out.extend_from_slice(&digits);
        Ok(out)
    }

    /// `00 | seed ^ MGF(block) | block ^ MGF(seed)`, where the block is
    /// `SHA1("") | 00 … 00 01 | message`.
    fn pad(&self, message: &[u8], seed: Seed) -> Result<Vec<u8>, String> {
        let block_length = self.length.saturating_sub(1 + HASH);
        let zeros = block_length
            .checked_sub(HASH + 1 + message.len())
            .ok_or_else(|| "the password is too long for the server's public key".to_owned())?;
        let mut block = Sha1::digest(b"").to_vec();
        block.resize(HASH + zeros, 0);
        block.push(1);
        block.extend_from_slice(message);
        mask(&mut block, &seed);
        let mut masked_seed = seed;
        mask(&mut masked_seed, &block);
        let mut padded = vec![0];
        padded.extend_from_slice(&masked_seed);
        padded.extend_from_slice(&block);
        Ok(padded)
    }
}

/// XORs `bytes` with MGF1 of `seed`: `SHA1(seed | 0) SHA1(seed | 1) …` (RFC 8017, B.2.1).
fn mask(bytes: &mut [u8], seed: &[u8]) {
    for (part, counter) in bytes.chunks_mut(HASH).zip(0_u32..) {
        let hash = Sha1::new()
            .chain_update(seed)
            .chain_update(counter.to_be_bytes())
            .finalize();
        for (byte, mask) in part.iter_mut().zip(hash) {
            *byte ^= mask;
        }
    }
}

/// Modulus and exponent of a DER-encoded `SubjectPublicKeyInfo` (RFC 3279, 2.3.1), without leading
/// zeros.
fn numbers(der: &[u8]) -> Option<(&[u8], &[u8])> {
    /// `rsaEncryption`, 1.2.840.113549.1.1.1
    const RSA: &[u8] = b"\x2a\x86\x48\x86\xf7\x0d\x01\x01\x01";
    const INTEGER: u8 = 0x02;
    const BIT_STRING: u8 = 0x03;
    const OBJECT: u8 = 0x06;
    const SEQUENCE: u8 = 0x30;
    let (info, _) = element(der, SEQUENCE)?;
    let (algorithm, info) = element(info, SEQUENCE)?;
    if element(algorithm, OBJECT)?.0 != RSA {
        return None;
    }
    // The first byte of a bit string says how many bits of the last one do not count.
    let key = element(info, BIT_STRING)?.0.strip_prefix(&[0])?;
    let (numbers, _) = element(key, SEQUENCE)?;
    let (modulus, numbers) = element(numbers, INTEGER)?;
    let (exponent, _) = element(numbers, INTEGER)?;
    Some((significant(modulus), significant(exponent)))
}

/// The content of the element of type `tag` that `der` begins with, and what follows it.
fn element(der: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let (length, content) = match *der {
        [first, length @ 0..=0x7f, ref content @ ..] if first == tag => {
            (usize::from(length), content)
        }
        [first, 0x81, length, ref content @ ..] if first == tag => (usize::from(length), content),
        [first, 0x82, high, low, ref content @ ..] if first == tag => {
            (usize::from(u16::from_be_bytes([high, low])), content)
        }
        _ => return None,
    };
    content.split_at_checked(length)
}

/// A number without its leading zeros.
fn significant(number: &[u8]) -> &[u8] {
    let zeros = number.iter().take_while(|&&byte| byte == 0).count();
    number.get(zeros..).unwrap_or_default()
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;

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

    /// Opens what was sealed with the key; the reverse of what is tested, for the servers of tests.
    pub(in crate::mysql) fn open(sealed: &[u8]) -> Vec<u8> {
        let key = PublicKey::from_pem(PEM.as_bytes()).unwrap();
        let private = BigUint::parse_bytes(PRIVATE.as_bytes(), 16).unwrap();
        let digits = BigUint::from_bytes_be(sealed)
            .modpow(&private, &key.modulus)
            .to_bytes_be();
        // Leading zeros are no digits.
        let mut padded = vec![0; key.length - digits.len()];
        padded.extend_from_slice(&digits);
        let (seed, block) = padded[1..].split_at(HASH);
        let (mut seed, mut block) = (seed.to_vec(), block.to_vec());
        mask(&mut seed, &block);
        mask(&mut block, &seed);
        assert_eq!(block[..HASH], Sha1::digest(b"")[..]);
        let one = block[HASH..].iter().position(|&byte| byte == 1).unwrap();
        block.split_off(HASH + one + 1)
    }

    // The expected bytes were computed from RFC 8017 by another implementation, and opened by a third.
    #[test]
    fn encryption_matches_a_vector() {
        let key = PublicKey::from_pem(PEM.as_bytes()).unwrap();
        let mut seed = Seed::default();
        for (byte, value) in seed.iter_mut().zip(0..) {
            *byte = value;
        }
        let expected = "a942f63aa03dc180c5fe672bdd7d5f2626360e4f8738f2b6a32baf01c833392795bd725a\
             45520aa9318fd6369ef84c5eaeb8ecf46733cb79f4b1400aa48e3a59e355ed18de7e887622097fd38519\
             747ef56c7d12198f60956b4bcb11d43598e7397f526384a06934e623278e8397c8a1f2092d05f20d8e90\
             40eb6edc29f1179d";
        let sealed = key.encrypt(b"secret\0", seed).unwrap();
        assert_eq!(BigUint::from_bytes_be(&sealed).to_str_radix(16), expected);
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
        assert!(error.contains("too long"), "{error}");
        assert!(seal(&"x".repeat(85), nonce, PEM.as_bytes()).is_ok());
    }

    #[test]
    fn other_keys_are_refused() {
        let error = |pem: &str| PublicKey::from_pem(pem.as_bytes()).unwrap_err();
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
            let _ = numbers(&der);
        }
    }
}
