//! The victim: a server of ours, or the process that has an SQLite file open; and the moment of its kill.

use std::fs::{self, File};
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use load::{StepError, Stop};
use model::{BuildSource, Nanos, System};
use workloads::LoggedRun;

use crate::embedded::Embedded;
use crate::error::MEASURED_ELSEWHERE;
use crate::own::Own;
use crate::site::{Result, Site, SiteError};

pub(super) trait Victim: Site {
    /// Runs terminals and kills it so long `after` the first commit; when its last process had ended.
    fn kill(
        &mut self,
        terminals: &dyn Fn() -> Command,
        run: &LoggedRun<'_>,
        after: Duration,
        stop: &Stop,
    ) -> Result<Nanos>;

    /// Starts it again on the data that the kill left; how long it took until it answered.
    fn recover(&mut self, timeout: Duration) -> Result<Nanos>;
}

pub(super) fn open(
    system: &System,
    directory: &Path,
    timeout: Duration,
    stop: &Stop,
) -> Result<Box<dyn Victim>> {
    match &system.build.source {
        BuildSource::Embedded
        | BuildSource::Path(_)
        | BuildSource::Installed { .. }
        | BuildSource::Obtainable { .. } => Ok(if system.build.dbms.is_embedded() {
            Box::new(Embedded::open(system, directory, timeout, None)?)
        } else {
            Box::new(Own::open(system, directory, timeout, stop, None)?)
        }),
        BuildSource::Connect(_) => {
            Err(SiteError::new("backslide does not kill a foreign server: name a build"))
        }
        BuildSource::Imported(_) => Err(SiteError::new(MEASURED_ELSEWHERE)),
    }
}

/// How long terminals may take until the first commit is acknowledged.
pub(super) const BEGIN_LIMIT: Duration = Duration::from_mins(2);
/// How often the terminals, the log and the user's wish to stop are looked at.
const NAP: Duration = Duration::from_millis(20);
/// How often the log is brought to the disk: all lines that were written since, at once.
const GROUP: Duration = Duration::from_millis(200);

/// Why there was no moment to kill at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Missed {
    #[error("the terminals ended before the kill")]
    Ended,
    #[error("{}", StepError::Interrupted)]
    Stopped,
    #[error("no transaction was committed in {} seconds", BEGIN_LIMIT.as_secs())]
    Idle,
}

/// Returns so long `after` the first commit was logged. `ended` tells whether the terminals have.
pub(super) fn wait(
    log: &Path,
    after: Duration,
    stop: &Stop,
    ended: &mut dyn FnMut() -> bool,
) -> Result<(), Missed> {
    let begin = Instant::now();
    let mut first = None;
    let mut synced = begin;
    let has_lines = || fs::metadata(log).is_ok_and(|metadata| metadata.len() > 0);
    loop {
        if ended() {
            return Err(Missed::Ended);
        }
        if stop.is_asked() {
            return Err(Missed::Stopped);
        }
        let now = Instant::now();
        if first.is_none() && has_lines() {
            first = Some(now);
        }
        let left = match first {
            Some(first) => after.saturating_sub(now - first),
            None if now - begin > BEGIN_LIMIT => return Err(Missed::Idle),
            None => NAP,
        };
        if left.is_zero() {
            return Ok(());
        }
        if first.is_some() && now - synced >= GROUP {
            sync(log);
            synced = now;
        }
        thread::sleep(left.min(NAP));
    }
}

/// For the end of the machine, after which nobody goes on with the check: whether it succeeds decides nothing.
fn sync(log: &Path) {
    let _ = File::open(log).and_then(|file| file.sync_data());
}

/// How long a server may take to bring its data in order and to answer.
const RECOVERY_LIMIT: Duration = Duration::from_mins(15);

impl Victim for Own {
    fn kill(
        &mut self,
        _: &dyn Fn() -> Command,
        run: &LoggedRun<'_>,
        after: Duration,
        stop: &Stop,
    ) -> Result<Nanos> {
        let target = self.target();
        let terminals_stop = Stop::default();
        // The server is killed by the thread that started it, which waits here.
        thread::scope(|scope| {
            let terminals = scope.spawn(|| workloads::run_logged(run, &target, &terminals_stop));
            let waited = wait(run.log, after, stop, &mut || terminals.is_finished());
            match waited {
                Ok(()) => self.instance.crash(),
                Err(_) => terminals_stop.ask(),
            }
            // Its processes do not end at once; nothing is acknowledged once they have.
            let at = load::monotonic();
            let ended = terminals.join().unwrap_or_else(|_| {
                Err(StepError::Bug {
                    client: "of the terminals".to_owned(),
                    message: "a panic".to_owned(),
                })
            });
            judge(waited, ended)
                .map(|()| at)
                .map_err(|error| SiteError { log_tail: self.log_tail(), ..error })
        })
    }

    fn recover(&mut self, _: Duration) -> Result<Nanos> {
        self.start_again(RECOVERY_LIMIT)
    }
}

/// Did the terminals end because the server was killed? Else why.
fn judge(waited: Result<(), Missed>, ended: Result<(), StepError>) -> Result<()> {
    match (waited, ended) {
        // The connection was lost, which is what the first terminal to notice fails with.
        (Ok(()), Err(StepError::Session { .. }) | Ok(())) => Ok(()),
        (Ok(()) | Err(Missed::Ended), Err(error)) => {
            Err(SiteError::new(format!("the terminals ended: {error}")))
        }
        (Err(missed), _) => Err(SiteError::new(missed.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use drivers::SessionError;

    use super::*;

    #[test]
    fn the_time_counts_from_the_first_line() {
        let directory = tempfile::tempdir().unwrap();
        let log = directory.path().join("log");
        let after = Duration::from_millis(60);
        let mut looks = 0;
        let mut written = None;
        let mut ended = || {
            looks += 1;
            match looks {
                2 => fs::write(&log, "").unwrap(),
                4 => {
                    fs::write(&log, "1 0 order 1 1 1\n").unwrap();
                    written = Some(Instant::now());
                }
                _ => {}
            }
            false
        };
        wait(&log, after, &Stop::default(), &mut ended).unwrap();
        assert!(written.unwrap().elapsed() >= after);
    }

    #[test]
    fn terminals_that_end_and_a_wish_to_stop_are_told() {
        let directory = tempfile::tempdir().unwrap();
        let log = directory.path().join("log");
        let minute = Duration::from_mins(1);
        let stop = Stop::default();
        let mut looks = 0;
        let mut third = || {
            looks += 1;
            looks == 3
        };
        assert_eq!(wait(&log, minute, &stop, &mut third), Err(Missed::Ended));
        stop.ask();
        let waited = wait(&log, minute, &stop, &mut || false);
        assert_eq!(waited, Err(Missed::Stopped));
    }

    fn lost() -> StepError {
        StepError::Session {
            client: "terminal 3".to_owned(),
            source: SessionError::Lost { cause: "end of stream".to_owned() },
        }
    }

    #[test]
    fn only_a_lost_session_after_the_kill_is_as_it_should_be() {
        let wrong = || StepError::Load("two rows for one key".to_owned());
        assert!(judge(Ok(()), Err(lost())).is_ok());
        let error = judge(Ok(()), Err(wrong())).unwrap_err().reason;
        assert_eq!(error, "the terminals ended: two rows for one key");
        let error = judge(Err(Missed::Ended), Err(lost())).unwrap_err().reason;
        assert!(error.starts_with("the terminals ended: terminal 3: "));
        let error = judge(Err(Missed::Ended), Ok(())).unwrap_err().reason;
        assert_eq!(error, "the terminals ended before the kill");
        let error = judge(Err(Missed::Idle), Err(StepError::Interrupted)).unwrap_err().reason;
        assert_eq!(error, "no transaction was committed in 120 seconds");
        let error = judge(Err(Missed::Stopped), Err(lost())).unwrap_err().reason;
        assert_eq!(error, "interrupted");
    }
}
