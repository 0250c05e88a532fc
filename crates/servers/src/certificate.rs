//! A certificate for a server that is to encrypt.

use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

/// The program that makes it. A library would bring a cryptography of its own along, for something that
/// few plans ask for.
const PROGRAM: &str = "openssl";

/// RSA of 2048 bits: MySQL's own choice, accepted by every version.
const KEY: &str = "rsa:2048";

/// Days that it is valid; an instance lives for hours.
const DAYS: &str = "3650";

#[derive(Debug, thiserror::Error)]
pub enum CertificateError {
    #[error(
        "the program `{PROGRAM}` cannot be run: {0}; install it (package {PROGRAM}), or leave `tls` out of the plan"
    )]
    Program(io::Error),
    #[error("`{PROGRAM}` made none: {0}")]
    Failed(String),
    #[error("its key cannot be closed to others: {0}")]
    Mode(io::Error),
}

/// Makes a self-signed certificate and its key, which only its owner can read. Every server gets one of
/// the same kind, whatever its version would make for itself: encryption then costs all of them the same.
pub(crate) fn make(certificate: &Path, key: &Path) -> Result<(), CertificateError> {
    let output = Command::new(PROGRAM)
        .args(["req", "-x509", "-nodes", "-newkey", KEY, "-days", DAYS])
        .args(["-subj", "/CN=localhost"])
        .args([OsStr::new("-keyout"), key.as_os_str()])
        .args([OsStr::new("-out"), certificate.as_os_str()])
        .stdin(Stdio::null())
        .output()
        .map_err(CertificateError::Program)?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let lines: Vec<&str> = said.lines().map(str::trim).collect();
        return Err(CertificateError::Failed(lines.join("; ")));
    }
    fs::set_permissions(key, Permissions::from_mode(0o600)).map_err(CertificateError::Mode)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_only_its_owner_reads() {
        let directory = tempfile::tempdir().unwrap();
        let (certificate, key) =
            (directory.path().join("a b.crt"), directory.path().join("a b.key"));
        if let Err(error) = make(&certificate, &key) {
            assert!(matches!(error, CertificateError::Program(_)), "{error}");
            eprintln!("skipped: no {PROGRAM}");
            return;
        }
        let text = |path: &Path| fs::read_to_string(path).unwrap();
        assert!(text(&certificate).starts_with("-----BEGIN CERTIFICATE-----"));
        assert!(text(&key).contains("PRIVATE KEY-----"));
        let mode = fs::metadata(&key).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let nowhere = directory.path().join("none/x");
        let error = make(&nowhere, &key).unwrap_err();
        assert!(matches!(error, CertificateError::Failed(_)), "{error}");
    }
}
