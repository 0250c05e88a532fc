//! The last lines of a log, and those that tell why a server gave up.

use std::fmt;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use model::said;

/// Logs are read from this many bytes before their end: enough for any message, whatever their size.
const READ_BYTES: u64 = 64 * 1024;

/// Lines that an error message shows; the rest is for the record.
const SHOWN: usize = 8;

/// How many of them may be there because they tell the cause.
const SHOWN_FIRST: usize = 4;

/// Parts of lines that state why a server, or the loader, gives up.
const TELLING: [&str; 18] = [
    "[ERROR]",
    "ERROR:",
    "FATAL:",
    "PANIC:",
    "HINT:",
    "InnoDB: Error",
    "Unknown suffix",
    "Unrecognized value",
    "unknown option",
    "unknown variable",
    "unrecognized configuration parameter",
    "invalid value for parameter",
    "is outside the valid range",
    "error while loading shared libraries",
    "from LD_PRELOAD cannot be preloaded",
    " got signal ",
    "was terminated by signal",
    "Assertion failure",
];

/// Parts of lines that only say that something was said before, or that our own question came early.
const EMPTY_WORDS: [&str; 3] =
    ["[ERROR] Aborting", "[Server] Aborting", "the database system is starting up"];

/// Which of the telling lines a message shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leading {
    /// The earliest, before all others: later errors are consequences of a refused setting.
    Earliest,
    /// The latest, in their place: a server that ran may have complained of other things before.
    Latest,
}

/// The end of a server's log: its last lines, and earlier ones with the cause.
///
/// Displays as eight lines, each on a line of its own and indented: those that tell the cause, and
/// the last ones. Displays as nothing when empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tail {
    lines: Box<[String]>,
    /// Which of them a message shows, in its order.
    shown: Box<[usize]>,
}

impl Tail {
    /// Reads up to `lines` lines from the end of a file, of what it holds from byte `from` on. A file
    /// that cannot be read has none: a tail explains another failure and must not hide it behind its own.
    pub(crate) fn read(path: &Path, from: u64, lines: usize, leading: Leading) -> Self {
        Self::of(&read_end(path, from).unwrap_or_default(), lines, leading)
    }

    fn of(all: &[String], lines: usize, leading: Leading) -> Self {
        let telling = |(i, line): (usize, &String)| is_telling(line).then_some(i);
        let mut telling: Vec<usize> = all.iter().enumerate().filter_map(telling).collect();
        match leading {
            Leading::Earliest => telling.truncate(SHOWN_FIRST),
            Leading::Latest => {
                telling.drain(..telling.len().saturating_sub(SHOWN_FIRST));
            }
        }
        let last = all.len().saturating_sub(lines);
        let kept = all.iter().enumerate();
        let kept = kept.filter(|(i, _)| *i >= last || telling.contains(i));
        let (numbers, lines): (Vec<usize>, Vec<String>) =
            kept.map(|(i, line)| (i, line.clone())).unzip();
        let (mut shown, others): (Vec<usize>, Vec<usize>) =
            (0..numbers.len()).partition(|&i| numbers.get(i).is_some_and(|n| telling.contains(n)));
        let room = SHOWN - shown.len();
        shown.extend(others.iter().skip(others.len().saturating_sub(room)));
        if leading == Leading::Latest {
            shown.sort_unstable();
        }
        Self { lines: lines.into(), shown: shown.into() }
    }

    pub fn lines(&self) -> &[String] {
        &self.lines
    }
}

impl fmt::Display for Tail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for line in self.shown.iter().filter_map(|&i| self.lines.get(i)) {
            write!(f, "\n  | {line}")?;
        }
        Ok(())
    }
}

fn is_telling(line: &str) -> bool {
    TELLING.iter().any(|part| line.contains(part))
        && !EMPTY_WORDS.iter().any(|part| line.contains(part))
}

/// The last lines of a file, oldest first.
pub(crate) fn last_lines(path: &Path, lines: usize) -> Vec<String> {
    let mut all = read_end(path, 0).unwrap_or_default();
    all.drain(..all.len().saturating_sub(lines));
    all
}

/// The lines from byte `from` on, without blank ones; the last of them where they are many.
fn read_end(path: &Path, from: u64) -> io::Result<Vec<String>> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    let start = length.saturating_sub(READ_BYTES).max(from);
    file.seek(SeekFrom::Start(start))?;
    let mut bytes = Vec::new();
    file.take(READ_BYTES).read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    // The first line is cut off unless reading began where one begins.
    let cut_off = usize::from(start != from);
    let lines = text.lines().skip(cut_off).filter(|l| !l.trim().is_empty());
    Ok(lines.map(|line| said(line.as_bytes())).collect())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn tail(lines: &[&str], leading: Leading) -> String {
        let all: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
        Tail::of(&all, 40, leading).to_string()
    }

    #[test]
    fn the_last_lines_without_blank_ones() {
        let directory = tempfile::tempdir().unwrap();
        let log = directory.path().join("log");
        fs::write(&log, "one\ntwo\n\nthree\n").unwrap();
        assert_eq!(last_lines(&log, 2), ["two", "three"]);
        assert_eq!(last_lines(&log, 9), ["one", "two", "three"]);
        let read = |from| Tail::read(&log, from, 2, Leading::Latest).lines().to_vec();
        assert_eq!(read(0), ["two", "three"]);
        // Lines of an earlier start do not count.
        assert_eq!(read(9), ["three"]);
        assert!(read(99).is_empty());
    }

    #[test]
    fn a_huge_log_is_not_read_whole_and_starts_with_a_whole_line() {
        let directory = tempfile::tempdir().unwrap();
        let log = directory.path().join("log");
        let text: Vec<String> = (0..50_000).map(|i| format!("line {i}")).collect();
        fs::write(&log, text.join("\n")).unwrap();
        let lines = last_lines(&log, usize::MAX);
        assert!(lines.len() < 10_000);
        assert!(lines.iter().all(|line| line.starts_with("line ")));
        assert_eq!(lines.last().map(String::as_str), Some("line 49999"));
    }

    #[test]
    fn a_line_without_end_is_cut() {
        let directory = tempfile::tempdir().unwrap();
        let log = directory.path().join("log");
        fs::write(&log, format!("begin\n{}\n", "x".repeat(60_000))).unwrap();
        let lines = last_lines(&log, 2);
        assert!(lines.iter().all(|line| line.len() < 5000), "{lines:?}");
        assert!(lines.iter().any(|line| line.ends_with(" bytes more)")));
    }

    #[test]
    fn a_missing_log_has_no_lines() {
        let tail = Tail::read(Path::new("/nonexistent/log"), 0, 5, Leading::Latest);
        assert_eq!(tail, Tail::default());
        assert_eq!(tail.to_string(), "");
    }

    #[test]
    fn shows_the_last_eight() {
        let lines: Vec<String> = (1..=10).map(|i| i.to_string()).collect();
        insta::assert_snapshot!(Tail::of(&lines, 40, Leading::Latest).to_string().trim_start(), @r"
        | 3
          | 4
          | 5
          | 6
          | 7
          | 8
          | 9
          | 10
        ");
    }

    #[test]
    fn the_cause_leads_and_is_kept_however_much_follows_it() {
        let mut lines = vec!["[Note] starting", "[ERROR] unknown variable 'x=1'"];
        lines.extend(["[Note] Shutting down plugin"; 60]);
        lines.push("[Note] Shutdown complete");
        let all: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
        let tail = Tail::of(&all, 3, Leading::Earliest);
        insta::assert_snapshot!(tail.to_string().trim_start(), @r"
        | [ERROR] unknown variable 'x=1'
          | [Note] Shutting down plugin
          | [Note] Shutting down plugin
          | [Note] Shutdown complete
        ");
        assert_eq!(tail.lines().len(), 4);
    }

    #[test]
    fn what_servers_print_when_they_refuse_a_setting() {
        // Of MySQL 5.5, 8.0 and 9.7, and of PostgreSQL.
        insta::assert_snapshot!(tail(&[
            "261121 13:34:25 InnoDB: Using Linux native AIO",
            "261121 13:34:25 InnoDB: Unrecognized value nonsense for innodb_flush_method",
            "261121 13:34:25 [ERROR] Plugin 'InnoDB' init function returned error.",
            "261121 13:34:25 [ERROR] Plugin 'InnoDB' registration as a STORAGE ENGINE failed.",
            "261121 13:34:25 [ERROR] Unknown/unsupported storage engine: InnoDB",
            "261121 13:34:25 [ERROR] Aborting",
            "261121 13:34:25 [Note] mysqld: Shutdown complete",
        ], Leading::Earliest).trim_start(), @r"
        | 261121 13:34:25 InnoDB: Unrecognized value nonsense for innodb_flush_method
          | 261121 13:34:25 [ERROR] Plugin 'InnoDB' init function returned error.
          | 261121 13:34:25 [ERROR] Plugin 'InnoDB' registration as a STORAGE ENGINE failed.
          | 261121 13:34:25 [ERROR] Unknown/unsupported storage engine: InnoDB
          | 261121 13:34:25 InnoDB: Using Linux native AIO
          | 261121 13:34:25 [ERROR] Aborting
          | 261121 13:34:25 [Note] mysqld: Shutdown complete
        ");
        insta::assert_snapshot!(tail(&[
            "0 [System] [MY-010116] [Server] mysqld (mysqld 8.0.33) starting as process 20031",
            "0 [ERROR] [MY-000077] [Server] mysqld: Error while setting value 'bad' to 'binlog_format'.",
            "0 [ERROR] [MY-010119] [Server] Aborting",
            "0 [Note] [MY-010120] [Server] Binlog end",
        ], Leading::Earliest).trim_start(), @r"
        | 0 [ERROR] [MY-000077] [Server] mysqld: Error while setting value 'bad' to 'binlog_format'.
          | 0 [System] [MY-010116] [Server] mysqld (mysqld 8.0.33) starting as process 20031
          | 0 [ERROR] [MY-010119] [Server] Aborting
          | 0 [Note] [MY-010120] [Server] Binlog end
        ");
        insta::assert_snapshot!(tail(&[
            "[1] LOG:  starting PostgreSQL 12.22",
            "[1] FATAL:  could not map anonymous shared memory: Cannot allocate memory",
            "[1] HINT:  This error usually means that memory is short",
            "[1] LOG:  database system is shut down",
        ], Leading::Earliest).trim_start(), @r"
        | [1] FATAL:  could not map anonymous shared memory: Cannot allocate memory
          | [1] HINT:  This error usually means that memory is short
          | [1] LOG:  starting PostgreSQL 12.22
          | [1] LOG:  database system is shut down
        ");
    }

    #[test]
    fn of_a_server_that_ran_the_latest_complaints_are_shown() {
        let mut lines: Vec<String> = (1..=6).map(|i| format!("[ERROR] {i}")).collect();
        lines.extend((1..=9).map(|i| format!("frame {i}")));
        insta::assert_snapshot!(Tail::of(&lines, 40, Leading::Latest).to_string().trim_start(), @r"
        | [ERROR] 3
          | [ERROR] 4
          | [ERROR] 5
          | [ERROR] 6
          | frame 6
          | frame 7
          | frame 8
          | frame 9
        ");
    }
}
