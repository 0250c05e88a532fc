//! Is a file a program that the dynamic loader starts?

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// The first bytes of a program of 64 bits in little-endian order.
const MAGIC: [u8; 6] = [0x7f, b'E', b'L', b'F', 2, 1];

/// The size of such a file's header.
const HEADER: usize = 64;

/// The kind of segment that names the loader.
const INTERPRETER: [u8; 4] = 3u32.to_le_bytes();

/// Segments that are looked at: programs have a dozen.
const MOST_SEGMENTS: u16 = 1024;

/// Does it name a loader, and so libraries? Scripts, libraries and static programs do not.
pub(super) fn is_dynamic_program(path: &Path) -> io::Result<bool> {
    let file = File::open(path)?;
    let mut header = [0; HEADER];
    match file.read_exact_at(&mut header, 0) {
        Err(cause) if cause.kind() == io::ErrorKind::UnexpectedEof => return Ok(false),
        result => result?,
    }
    if !header.starts_with(&MAGIC) {
        return Ok(false);
    }
    let short = |at: usize| u16::from_le_bytes([header[at], header[at + 1]]);
    // Where the segments are described, the size of a description, and how many there are.
    let mut start = [0; 8];
    start.copy_from_slice(&header[32..40]);
    let (start, size, count) = (u64::from_le_bytes(start), short(54), short(56));
    for index in 0..u64::from(count.min(MOST_SEGMENTS)) {
        let mut kind = [0; 4];
        let at = start.saturating_add(index * u64::from(size));
        match file.read_exact_at(&mut kind, at) {
            Err(cause) if cause.kind() == io::ErrorKind::UnexpectedEof => return Ok(false),
            Err(cause) if cause.kind() == io::ErrorKind::InvalidInput => return Ok(false),
            result => result?,
        }
        if kind == INTERPRETER {
            return Ok(true);
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn says(bytes: &[u8]) -> bool {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        fs::write(&path, bytes).unwrap();
        is_dynamic_program(&path).unwrap()
    }

    /// A header and one segment of this kind.
    fn program(kind: u8, segments_at: u64) -> Vec<u8> {
        let mut bytes = vec![0; HEADER + 56];
        bytes[..6].copy_from_slice(&MAGIC);
        bytes[32..40].copy_from_slice(&segments_at.to_le_bytes());
        bytes[54] = 56;
        bytes[56] = 1;
        bytes[HEADER] = kind;
        bytes
    }

    #[test]
    fn programs_with_a_loader_are_told_from_all_else() {
        assert!(says(&program(3, HEADER as u64)));
        assert!(!says(&program(1, HEADER as u64)));
        assert!(!says(b"#!/bin/sh\n"));
        assert!(!says(b""));
        assert!(!says(&program(3, HEADER as u64)[..70][..63]));
        // A header that lies about where its segments are.
        assert!(!says(&program(3, u64::MAX)));
        assert!(!says(&program(3, 1 << 40)));
    }

    #[test]
    fn this_program_has_a_loader() {
        assert!(is_dynamic_program(Path::new("/proc/self/exe")).unwrap());
    }
}
