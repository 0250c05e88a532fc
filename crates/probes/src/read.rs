//! Reading the kernel's text files.

use std::fs;
use std::io;
use std::path::Path;
use std::str::FromStr;

use crate::error::{ProbeError, Result};

/// The text of a file. Bytes that are not UTF-8 are replaced: a process may call itself anything.
pub(crate) fn text(path: impl AsRef<Path>) -> Result<String> {
    let path = path.as_ref();
    let bytes =
        fs::read(path).map_err(|cause| ProbeError::Read { path: path.to_owned(), cause })?;
    Ok(match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
    })
}

/// A parser's finding in a file, or the error that `what` is missing.
pub(crate) fn found<T>(value: Option<T>, path: impl AsRef<Path>, what: &'static str) -> Result<T> {
    value.ok_or_else(|| ProbeError::Format { path: path.as_ref().to_owned(), what })
}

/// Did the read fail because the process has ended? A file that was opened before the end fails with
/// ESRCH, one that is opened after it is not there.
fn is_vanished(error: &ProbeError) -> bool {
    match error {
        ProbeError::Read { cause, .. } | ProbeError::System { cause, .. } => {
            cause.kind() == io::ErrorKind::NotFound
                || cause.raw_os_error() == Some(rustix::io::Errno::SRCH.raw_os_error())
        }
        ProbeError::Gone { .. } => true,
        ProbeError::Format { .. }
        | ProbeError::NoDevice { .. }
        | ProbeError::Affinity { .. }
        | ProbeError::Elsewhere { .. } => false,
    }
}

/// What was read; `None` where the process has ended meanwhile.
pub(crate) fn unless_vanished<T>(read: Result<T>) -> Result<Option<T>> {
    match read {
        Err(error) if is_vanished(&error) => Ok(None),
        read => read.map(Some),
    }
}

/// The value of a `Key: value …` line, as in `/proc/meminfo` and `/proc/PID/status`.
pub(crate) fn field<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        (name.trim_end() == key).then(|| value.trim())
    })
}

/// The number at the start of such a value; a unit that follows it is left to the caller.
pub(crate) fn number<T: FromStr>(text: &str, key: &str) -> Option<T> {
    field(text, key)?.split_whitespace().next()?.parse().ok()
}

/// The number of a `name number` line, as in `/proc/vmstat` and `cpu.stat`.
pub(crate) fn count(text: &str, name: &str) -> Option<u64> {
    let mut lines = text.lines().filter_map(|line| line.split_once(' '));
    let (_, number) = lines.find(|(key, _)| *key == name)?;
    number.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_by_their_whole_name() {
        let text =
            "MemTotal:       24684084 kB\nMem:  1 kB\nmodel name\t: Some CPU @ 2.0GHz: fast\n";
        assert_eq!(number::<u64>(text, "MemTotal"), Some(24_684_084));
        assert_eq!(number::<u64>(text, "Mem"), Some(1));
        assert_eq!(field(text, "model name"), Some("Some CPU @ 2.0GHz: fast"));
        assert_eq!(field(text, "model"), None);
        assert_eq!(number::<u64>(text, "model name"), None);
    }

    #[test]
    fn a_missing_file_is_named() {
        let error = text("/proc/no-such-file").unwrap_err();
        assert!(is_vanished(&error));
        assert!(error.to_string().starts_with("cannot read /proc/no-such-file: "));
    }
}
