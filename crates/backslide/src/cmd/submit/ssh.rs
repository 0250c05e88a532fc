//! Parts of a campaign on hosts that `ssh` reaches, without a scheduler: each host takes the next part that nobody has.

use std::collections::VecDeque;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;

use anyhow::{Context, Result, ensure};
use lab::Lab;

use super::place::Place;
use crate::printer::Printer;

/// The parts that are not measured. A host that finds none waits for those that others are at: they may fail.
struct Queue {
    parts: Mutex<Parts>,
    changed: Condvar,
}

struct Parts {
    left: VecDeque<u32>,
    under_way: usize,
}

impl Queue {
    fn new(left: Vec<u32>) -> Self {
        Self {
            parts: Mutex::new(Parts { left: left.into(), under_way: 0 }),
            changed: Condvar::new(),
        }
    }

    /// The next part; `None` when every one is measured, or no host is left that could fail.
    fn take(&self) -> Option<u32> {
        let waits = |parts: &mut Parts| parts.left.is_empty() && parts.under_way > 0;
        let waited = self.changed.wait_while(load::lock(&self.parts), waits);
        let mut parts = waited.unwrap_or_else(PoisonError::into_inner);
        let part = parts.left.pop_front()?;
        parts.under_way += 1;
        Some(part)
    }

    fn end(&self, part: u32, is_measured: bool) {
        let mut parts = load::lock(&self.parts);
        parts.under_way -= 1;
        if !is_measured {
            parts.left.push_front(part);
        }
        drop(parts);
        self.changed.notify_all();
    }
}

/// Prefix of directories that hold a part while it arrives.
const ARRIVING: &str = ".arriving-";

/// Measures the parts that are not done. A host that fails gets no further ones; the others take its part too.
pub(super) fn measure(
    hosts: &[String],
    place: &Place,
    parts: u32,
    script: &str,
    printer: Printer,
) -> Result<()> {
    remove_arriving(&place.directory.join("parts"));
    let queue = Queue::new(place.missing(parts));
    thread::scope(|scope| {
        for host in hosts {
            let queue = &queue;
            scope.spawn(move || {
                while let Some(part) = queue.take() {
                    printer.note(&format!("part {part}/{parts} begins on {host}"));
                    let measured = measure_part(host, place, part, script);
                    queue.end(part, measured.is_ok());
                    if let Err(error) = measured {
                        printer.note(&format!("{host} gets no further parts: {error:#}"));
                        break;
                    }
                }
            });
        }
    });
    ensure!(
        place.missing(parts).len() < parts as usize,
        "no host measured a part; their logs are in {}",
        place.directory.display()
    );
    Ok(())
}

/// Removes the leftovers of a killed `submit`. No other `submit` of the campaign is running.
fn remove_arriving(parts: &Path) {
    for entry in fs::read_dir(parts).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(ARRIVING) {
            let _in_use = fs::remove_dir_all(entry.path());
        }
    }
}

fn measure_part(host: &str, place: &Place, part: u32, script: &str) -> Result<()> {
    let log = place.log(part);
    let to_log = OpenOptions::new().create(true).append(true).open(&log);
    let to_log = to_log.with_context(|| format!("cannot write {}", log.display()))?;
    let said_before = to_log.metadata().map_or(0, |log| log.len());
    let parts = place.directory.join("parts");
    let failed = || format!("cannot keep part {part} in {}", parts.display());
    fs::create_dir_all(&parts).with_context(failed)?;
    // Each attempt has its own: an `ssh` that outlives its attempt may still write.
    let new = tempfile::Builder::new().prefix(ARRIVING).tempdir_in(&parts).with_context(failed)?;
    let file = File::create(new.path().join("lab.sqlite")).with_context(failed)?;
    let status = run_script(host, part, script, file, to_log)?;
    ensure!(
        status.success(),
        "part {part} failed ({status}: {}); its log: {}{}",
        last_words(&log, said_before),
        log.display(),
        remedy(host, status)
    );
    Lab::open_to_read(new.path()).with_context(|| {
        format!(
            "the lab of part {part} did not arrive whole from `{host}`; is this disk full, or does a shell there \
             print something at login?"
        )
    })?;
    let lab = place.part(part);
    fs::rename(new.keep(), &lab).with_context(|| format!("cannot keep {}", lab.display()))
}

fn run_script(host: &str, part: u32, script: &str, output: File, log: File) -> Result<ExitStatus> {
    let mut child = lab::ssh(host)
        .args(["sh", "-s", &part.to_string()])
        .stdin(Stdio::piped())
        .stdout(output)
        .stderr(log)
        .spawn()
        .context("cannot start `ssh`")?;
    // It stays open until the part is measured: the host ends the round when it closes.
    let mut stdin = child.stdin.take();
    let sent = stdin.as_mut().map_or(Ok(()), |stdin| stdin.write_all(script.as_bytes()));
    let status = child.wait().context("cannot wait for `ssh`")?;
    // If `ssh` failed, its own message says more.
    if status.success() {
        sent.with_context(|| format!("cannot send the script to `{host}`"))?;
    }
    Ok(status)
}

/// The last line of a log after its first `behind` bytes.
fn last_words(log: &Path, behind: u64) -> String {
    let text = fs::read(log).unwrap_or_default();
    let new = text.get(behind as usize..).unwrap_or_default();
    let new = String::from_utf8_lossy(new);
    new.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or("no message").to_owned()
}

/// What to try if `ssh` itself failed or the shell there found no backslide.
fn remedy(host: &str, status: ExitStatus) -> String {
    match status.code() {
        Some(126 | 127 | 255) => {
            format!("; `ssh {host} backslide --version` must work without a password")
        }
        _ => String::new(),
    }
}
