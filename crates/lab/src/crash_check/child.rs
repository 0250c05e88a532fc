//! The terminals of a database without a server: a process of their own, which is killed.

use std::io::{Read, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use load::Stop;
use model::{Nanos, System, TpccSpec};
use rustix::process::{Pid, Signal, getppid, set_parent_process_death_signal};
use serde::{Deserialize, Serialize};
use workloads::LoggedRun;

use super::victim::{Missed, Victim, wait};
use crate::embedded::Embedded;
use crate::site::{Result, Site, SiteError};

/// What the process is to do, as JSON on its standard input.
#[derive(Debug, Serialize, Deserialize)]
struct Request {
    /// Who asks; the process ends with it.
    parent: u32,
    system: System,
    directory: PathBuf,
    log: PathBuf,
    workload: TpccSpec,
    number: u32,
    seed: u64,
    rows_seed: u64,
}

/// Runs the terminals that `request` describes until this process is killed.
///
/// # Errors
/// The request cannot be read, or the terminals ended otherwise.
pub fn run_terminals(request: impl Read) -> Result<()> {
    let request: Request = serde_json::from_reader(request)
        .map_err(|error| SiteError::new(format!("no request of a crash check: {error}")))?;
    end_with(request.parent)?;
    let Request { system, directory, log, workload, number, seed, rows_seed, .. } = request;
    let timeout = workload.statement_timeout();
    let file = Embedded::opened(&system, &directory, timeout, None)?;
    let run = LoggedRun { spec: &workload, number, seed, rows_seed, log: &log };
    Ok(workloads::run_logged(&run, &file.target(), &Stop::default())?)
}

/// Lets the kernel kill this process when its parent ends.
fn end_with(parent: u32) -> Result<()> {
    let parent = i32::try_from(parent).ok().and_then(Pid::from_raw);
    let is_child = || parent.is_some() && getppid() == parent;
    if is_child() {
        set_parent_process_death_signal(Some(Signal::KILL))
            .map_err(|error| SiteError::new(format!("cannot be ended with the parent: {error}")))?;
    }
    // If it ended in between, no signal comes any more.
    if is_child() {
        Ok(())
    } else {
        Err(SiteError::new("this is part of `backslide crash-check`, which starts it itself"))
    }
}

/// A process that is killed when this is dropped, if not before.
struct Terminals(Child);

impl Terminals {
    fn start(mut command: Command, request: &Request) -> Result<Self> {
        let child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            // A terminal's ^C is for us alone.
            .process_group(0)
            .spawn()
            .map_err(|error| failed(&format!("cannot be started: {error}")))?;
        let mut terminals = Self(child);
        let text = serde_json::to_vec(request).map_err(|error| failed(&error.to_string()))?;
        let input = terminals.0.stdin.take();
        let told = input.ok_or_else(|| failed("no input"))?.write_all(&text);
        match told {
            Ok(()) => Ok(terminals),
            Err(error) => Err(terminals.end(&format!("cannot receive its work: {error}"))),
        }
    }

    fn kill(&mut self) {
        // Both fail only where the process has ended and was waited for.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }

    /// Kills the process. Returns what it wrote to standard error, or `silent` if it wrote nothing.
    fn end(&mut self, silent: &str) -> SiteError {
        self.kill();
        let mut text = String::new();
        if let Some(mut errors) = self.0.stderr.take() {
            let _ = errors.read_to_string(&mut text);
        }
        let said = text.trim();
        failed(if said.is_empty() { silent } else { said })
    }
}

fn failed(reason: &str) -> SiteError {
    SiteError::new(format!("the process of the terminals: {reason}"))
}

impl Drop for Terminals {
    fn drop(&mut self) {
        self.kill();
    }
}

impl Victim for Embedded {
    /// The process of the terminals has the file open, and is killed.
    fn kill(
        &mut self,
        terminals: &dyn Fn() -> Command,
        run: &LoggedRun<'_>,
        after: Duration,
        stop: &Stop,
    ) -> Result<Nanos> {
        let request = Request {
            parent: std::process::id(),
            system: self.system.clone(),
            directory: self.directory.clone(),
            log: run.log.to_owned(),
            workload: run.spec.clone(),
            number: run.number,
            seed: run.seed,
            rows_seed: run.rows_seed,
        };
        let mut terminals = Terminals::start(terminals(), &request)?;
        // What cannot be waited for has ended.
        let mut has_ended = || !matches!(terminals.0.try_wait(), Ok(None));
        let waited = wait(run.log, after, stop, &mut has_ended);
        terminals.kill();
        // Nothing is acknowledged any more.
        let at = load::monotonic();
        match waited {
            Ok(()) => Ok(at),
            Err(missed @ Missed::Stopped) => Err(SiteError::new(missed.to_string())),
            Err(missed @ Missed::Idle) => Err(failed(&missed.to_string())),
            Err(Missed::Ended) => Err(terminals.end("it ended before it was killed")),
        }
    }

    fn recover(&mut self, timeout: Duration) -> Result<Nanos> {
        let begin = Instant::now();
        *self = Self::opened(&self.system, &self.directory, timeout, None)?;
        Ok(begin.elapsed().into())
    }
}

#[cfg(test)]
mod tests {
    use model::Dbms;

    use super::*;
    use crate::crash_check::crash_workload;
    use crate::fixture::system;

    const MINUTE: Duration = Duration::from_mins(1);

    /// How killing the process of this script ended; `LOG` in it is the log.
    fn killed(script: &str, after: Duration) -> Result<Nanos, String> {
        let directory = tempfile::tempdir().unwrap();
        let log = directory.path().join("log");
        let workload = crash_workload(1, 1, MINUTE, model::TpccCardinality::STANDARD);
        let run = LoggedRun { spec: &workload, number: 1, seed: 1, rows_seed: 1, log: &log };
        let command = || {
            let mut command = Command::new("/bin/sh");
            command.args(["-c", &script.replace("LOG", &log.display().to_string())]);
            command
        };
        let mut system = system(Dbms::Sqlite);
        system.build.source = model::BuildSource::Embedded;
        let mut file = Embedded::opened(&system, directory.path(), MINUTE, None).unwrap();
        file.kill(&command, &run, after, &Stop::default()).map_err(|error| error.reason)
    }

    #[test]
    fn a_process_that_writes_its_log_is_killed_in_time() {
        let before = load::monotonic();
        let at = killed(
            "cat > /dev/null; echo 1 0 order 1 1 1 > LOG; exec sleep 60",
            Duration::from_millis(50),
        )
        .unwrap();
        assert!(at > before && load::monotonic() - at < Nanos::from(MINUTE));
    }

    #[test]
    fn a_process_that_ends_by_itself_says_why() {
        let error = killed("cat > /dev/null; echo disk full >&2; exit 1", MINUTE).unwrap_err();
        assert_eq!(error, "the process of the terminals: disk full");
        let error = killed("cat > /dev/null; echo 1 > LOG", MINUTE).unwrap_err();
        assert_eq!(error, "the process of the terminals: it ended before it was killed");
    }

    #[test]
    fn nobody_else_is_obeyed() {
        let error = run_terminals(&b"{}"[..]).unwrap_err();
        assert!(error.reason.starts_with("no request of a crash check: "));
        let error = end_with(u32::MAX).unwrap_err();
        assert!(error.reason.contains("`backslide crash-check`"));
    }
}
