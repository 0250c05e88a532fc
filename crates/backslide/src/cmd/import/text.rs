//! The text of a file that is imported: unpacked where it is packed, and refused where it is no UTF-8.

use std::io::{ErrorKind, Read};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use ::import::File;
use anyhow::{Context, Result, anyhow, bail};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags, open};

const LARGEST_FILE: u64 = 256 << 20;
/// How long a named pipe may have nobody who writes to it.
const LONGEST_WITHOUT_WRITER: Duration = Duration::from_secs(5);
/// How long somebody who holds a pipe open for writing may write nothing: as long as a benchmark runs.
const LONGEST_SILENCE: Duration = Duration::from_hours(24);
/// How often a pipe is looked at meanwhile.
const LOOK: Duration = Duration::from_millis(50);

pub(super) fn read(path: &Path) -> Result<File> {
    let what = || format!("cannot read {}", path.display());
    let is_pipe = std::fs::metadata(path).with_context(what)?.file_type().is_fifo();
    let bytes = if is_pipe {
        read_pipe(path)?
    } else {
        let file = std::fs::File::open(path).with_context(what)?;
        limited(path, file)?
    };
    let bytes = if bytes.starts_with(&[0x1f, 0x8b]) {
        limited(path, flate2::read::MultiGzDecoder::new(bytes.as_slice()))?
    } else {
        bytes
    };
    Ok(File {
        origin: path.display().to_string(),
        text: decode(bytes).map_err(|what| anyhow!("{}: {what}", path.display()))?,
    })
}

/// All of it. Not as many bytes as its length: a device has no end, and what is packed says nothing.
fn limited(path: &Path, from: impl Read) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(LARGEST_FILE + 1)
        .read_to_end(&mut bytes)
        .with_context(|| format!("cannot read {}", path.display()))?;
    check_size(path, &bytes)?;
    Ok(bytes)
}

fn check_size(path: &Path, bytes: &[u8]) -> Result<()> {
    if bytes.len() as u64 > LARGEST_FILE {
        let path = path.display();
        bail!(
            "{path}: more than {LARGEST_FILE} bytes; results are smaller, so this is something else"
        );
    }
    Ok(())
}

/// What is written to a named pipe, until nobody has it open for writing any more. Opening such a pipe would otherwise
/// wait for a writer for ever.
fn read_pipe(path: &Path) -> Result<Vec<u8>> {
    let what = || format!("cannot read {}", path.display());
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let mut pipe = std::fs::File::from(open(path, flags, Mode::empty()).with_context(what)?);
    let (mut bytes, mut piece) = (Vec::new(), vec![0_u8; 1 << 16]);
    let mut has_writer = false;
    let mut since = Instant::now();
    loop {
        match pipe.read(&mut piece) {
            Ok(0) if has_writer => return Ok(bytes),
            Ok(0) => {
                if since.elapsed() > LONGEST_WITHOUT_WRITER {
                    let (path, seconds) = (path.display(), LONGEST_WITHOUT_WRITER.as_secs());
                    bail!("{path}: a named pipe, and nothing wrote to it within {seconds} s");
                }
                sleep(LOOK);
            }
            Ok(read) => {
                bytes.extend_from_slice(piece.get(..read).unwrap_or_default());
                check_size(path, &bytes)?;
                (has_writer, since) = (true, Instant::now());
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                has_writer = true;
                if since.elapsed() > LONGEST_SILENCE {
                    bail!("{}: a pipe that stays open and says nothing", path.display());
                }
                let wait = Timespec { tv_sec: 0, tv_nsec: LOOK.as_nanos() as _ };
                // An interrupted wait ends in the next look.
                let _looked = poll(&mut [PollFd::new(&pipe, PollFlags::IN)], Some(&wait));
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error).with_context(what),
        }
    }
}

/// UTF-8, without a byte order mark; the words of an error name the encoding.
fn decode(bytes: Vec<u8>) -> Result<String, String> {
    const MARK: char = '\u{feff}';
    let utf16 = |order: &str, name: &str| {
        Err(format!(
            "this is UTF-16 ({order}), and backslide reads only UTF-8: convert it with iconv -f {name} -t UTF-8"
        ))
    };
    match *bytes.as_slice() {
        [0xff, 0xfe, ..] => return utf16("little-endian", "UTF-16"),
        [0xfe, 0xff, ..] => return utf16("big-endian", "UTF-16"),
        [a, 0, b, 0, ..] if a > 0 && b > 0 => return utf16("little-endian", "UTF-16LE"),
        [0, a, 0, b, ..] if a > 0 && b > 0 => return utf16("big-endian", "UTF-16BE"),
        _ => {}
    }
    let error = match String::from_utf8(bytes) {
        Ok(text) => {
            let bare = text.strip_prefix(MARK).map(str::to_owned);
            return Ok(bare.unwrap_or(text));
        }
        Err(error) => error,
    };
    let at = error.utf8_error().valid_up_to();
    let bytes = error.as_bytes();
    let line = 1 + bytes.iter().take(at).filter(|byte| **byte == b'\n').count();
    let byte = bytes.get(at).copied().unwrap_or_default();
    let is_control = |byte: &u8| *byte < b'\t' || (14..27).contains(byte);
    if bytes.iter().any(is_control) {
        return Err(format!("line {line} has the byte 0x{byte:02x}: this is not text"));
    }
    // Latin-1 has no characters there, what Windows calls so has.
    let (name, option) = if bytes.iter().any(|byte| (0x80..0xa0).contains(byte)) {
        ("Windows-1252", "WINDOWS-1252")
    } else {
        ("Latin-1", "ISO-8859-1")
    };
    Err(format!(
        "line {line} has the byte 0x{byte:02x}, which is not UTF-8; this looks like {name}: iconv -f {option} -t UTF-8 makes it so"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_that_is_not_utf_8_is_refused_by_the_name_of_its_encoding() {
        let utf16 = |units: Vec<u16>, is_little: bool| -> Vec<u8> {
            let bytes = units
                .into_iter()
                .map(|unit| if is_little { unit.to_le_bytes() } else { unit.to_be_bytes() });
            bytes.flatten().collect()
        };
        let marked: Vec<u16> = "\u{feff}system".encode_utf16().collect();
        let bare: Vec<u16> = "system".encode_utf16().collect();
        for (bytes, named) in [
            (b"a\nt\xe9st".to_vec(), "line 2 has the byte 0xe9"),
            (b"a\nt\xe9st".to_vec(), "looks like Latin-1: iconv -f ISO-8859-1"),
            (b"\x93t\xe9st\x94".to_vec(), "looks like Windows-1252"),
            (utf16(marked.clone(), true), "UTF-16 (little-endian)"),
            (utf16(marked, false), "UTF-16 (big-endian)"),
            (utf16(bare.clone(), true), "iconv -f UTF-16LE"),
            (utf16(bare, false), "iconv -f UTF-16BE"),
            (b"\x00\x01\x02\xff".to_vec(), "this is not text"),
        ] {
            let error = decode(bytes).unwrap_err();
            assert!(error.contains(named), "{error}");
        }
        for (bytes, text) in
            [("t\u{e9}st".as_bytes(), "t\u{e9}st"), ("\u{feff}a,b".as_bytes(), "a,b"), (b"", "")]
        {
            assert_eq!(decode(bytes.to_vec()).as_deref(), Ok(text));
        }
    }
}
