//! The last lines of a log.

use std::fmt;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

/// Logs are read from this many bytes before their end: enough for any message, whatever their size.
const READ_BYTES: u64 = 64 * 1024;

/// Lines that an error message shows; the rest is for the record.
const SHOWN: usize = 8;

/// The last lines of a server's log, oldest first.
///
/// Displays as its last eight lines, each on a line of its own and indented; as nothing when empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tail(pub Vec<String>);

impl Tail {
    /// Reads up to `lines` lines from the end of a file. A file that cannot be read has none: a tail
    /// explains another failure and must not hide it behind its own.
    pub(crate) fn read(path: &Path, lines: usize) -> Self {
        Self(last_lines(path, lines).unwrap_or_default())
    }
}

impl fmt::Display for Tail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let skipped = self.0.len().saturating_sub(SHOWN);
        for line in self.0.iter().skip(skipped) {
            write!(f, "\n  | {line}")?;
        }
        Ok(())
    }
}

fn last_lines(path: &Path, lines: usize) -> std::io::Result<Vec<String>> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    let start = length.saturating_sub(READ_BYTES);
    file.seek(SeekFrom::Start(start))?;
    let mut bytes = Vec::new();
    file.take(READ_BYTES).read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    // The first line is cut off unless reading began at the file's start.
    let cut_off = usize::from(start != 0);
    let kept: Vec<&str> = text
        .lines()
        .skip(cut_off)
        .filter(|line| !line.trim().is_empty())
        .collect();
    let skipped = kept.len().saturating_sub(lines);
    Ok(kept
        .iter()
        .skip(skipped)
        .map(|line| (*line).to_owned())
        .collect())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_last_lines_without_blank_ones() {
        let directory = tempfile::tempdir().unwrap();
        let log = directory.path().join("log");
        fs::write(&log, "one\ntwo\n\nthree\n").unwrap();
        assert_eq!(Tail::read(&log, 2).0, ["two", "three"]);
        assert_eq!(Tail::read(&log, 9).0, ["one", "two", "three"]);
    }

    #[test]
    fn a_huge_log_is_not_read_whole_and_starts_with_a_whole_line() {
        let directory = tempfile::tempdir().unwrap();
        let log = directory.path().join("log");
        let text: Vec<String> = (0..50_000).map(|i| format!("line {i}")).collect();
        fs::write(&log, text.join("\n")).unwrap();
        let tail = Tail::read(&log, usize::MAX).0;
        assert!(tail.len() < 10_000);
        assert!(tail.iter().all(|line| line.starts_with("line ")));
        assert_eq!(tail.last().map(String::as_str), Some("line 49999"));
    }

    #[test]
    fn a_missing_log_has_no_lines() {
        assert_eq!(
            Tail::read(Path::new("/nonexistent/log"), 5),
            Tail::default()
        );
    }

    #[test]
    fn shows_the_last_eight() {
        let tail = Tail((1..=10).map(|i| i.to_string()).collect());
        insta::assert_snapshot!(tail.to_string().trim_start(), @r"
        | 3
          | 4
          | 5
          | 6
          | 7
          | 8
          | 9
          | 10
        ");
        assert_eq!(Tail::default().to_string(), "");
    }
}
