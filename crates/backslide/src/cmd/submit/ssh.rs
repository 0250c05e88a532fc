//! Parts of a campaign on hosts that `ssh` reaches, without a scheduler: each host takes the next part that nobody has.

use std::collections::VecDeque;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::process::Stdio;
use std::sync::{Mutex, PoisonError};
use std::thread;

use anyhow::{Context, Result, ensure};
use lab::Lab;

use super::place::Place;
use crate::printer::Printer;

/// Measures the parts that are not done. A host that fails gets no further ones; the others take its part too.
pub(super) fn measure(
    hosts: &[String],
    place: &Place,
    parts: u32,
    script: &str,
    printer: Printer,
) -> Result<()> {
    let open = (1..=parts).filter(|part| !place.part(*part).join("lab.sqlite").is_file());
    let left = Mutex::new(open.collect::<VecDeque<u32>>());
    let take = || left.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
    let give_back = |part| left.lock().unwrap_or_else(PoisonError::into_inner).push_front(part);
    thread::scope(|scope| {
        for host in hosts {
            let (take, give_back) = (&take, &give_back);
            scope.spawn(move || {
                while let Some(part) = take() {
                    printer.note(&format!("part {part}/{parts} begins on {host}"));
                    if let Err(error) = measure_part(host, place, part, script) {
                        give_back(part);
                        printer.note(&format!("{host} gets no further parts: {error:#}"));
                        break;
                    }
                }
            });
        }
    });
    let left = left.lock().unwrap_or_else(PoisonError::into_inner).len();
    ensure!(
        left < parts as usize,
        "no host measured a part; their logs are in {}",
        place.directory.display()
    );
    Ok(())
}

fn measure_part(host: &str, place: &Place, part: u32, script: &str) -> Result<()> {
    let log = place.log(part);
    let to_log = OpenOptions::new().create(true).append(true).open(&log);
    let to_log = to_log.with_context(|| format!("cannot write {}", log.display()))?;
    let parts = place.directory.join("parts");
    let failed = || format!("cannot keep part {part} in {}", parts.display());
    fs::create_dir_all(&parts).with_context(failed)?;
    // Each attempt has its own: an `ssh` that outlives its attempt may still write.
    let new = tempfile::tempdir_in(&parts).with_context(failed)?;
    let file = File::create(new.path().join("lab.sqlite")).with_context(failed)?;
    let mut child = lab::ssh(host)
        .args(["sh", "-s", &part.to_string()])
        .stdin(Stdio::piped())
        .stdout(file)
        .stderr(to_log)
        .spawn()
        .context("cannot start `ssh`")?;
    let sent = child.stdin.take().map_or(Ok(()), |mut stdin| stdin.write_all(script.as_bytes()));
    let status = child.wait().context("cannot wait for `ssh`")?;
    ensure!(
        status.success() && sent.is_ok(),
        "part {part} failed ({status}): see {}; `ssh {host} backslide --version` must work without a password",
        log.display()
    );
    Lab::open_to_read(new.path()).with_context(|| {
        format!("{host} sent no lab for part {part}; does its shell print something at login?")
    })?;
    let lab = place.part(part);
    fs::rename(new.keep(), &lab).with_context(|| format!("cannot keep {}", lab.display()))
}
