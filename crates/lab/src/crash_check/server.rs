//! Kills a server under the terminals of this process.

use std::process::Command;
use std::thread;
use std::time::Duration;

use load::{StepError, Stop};
use model::Nanos;
use workloads::LoggedRun;

use super::victim::{BEGIN_LIMIT, Missed, Victim, wait};
use crate::own::Own;
use crate::site::{Site, SiteError};

/// How long a server may take to bring its data in order and to answer.
const RECOVERY_LIMIT: Duration = Duration::from_mins(15);

impl Victim for Own {
    fn kill(
        &mut self,
        _: &dyn Fn() -> Command,
        run: &LoggedRun<'_>,
        after: Duration,
        stop: &Stop,
    ) -> Result<Nanos, SiteError> {
        let target = self.target();
        let terminals_stop = Stop::default();
        // The server is killed by the thread that started it, which waits here.
        thread::scope(|scope| {
            let terminals = scope.spawn(|| workloads::run_logged(run, &target, &terminals_stop));
            let waited = wait(run.log, after, stop, &mut || terminals.is_finished());
            match waited {
                Ok(()) => self.crash(),
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
                .map_err(|reason| SiteError::with_log(reason, self.log_tail()))
        })
    }

    fn recover(&mut self, _: Duration) -> Result<Nanos, SiteError> {
        self.start_again(RECOVERY_LIMIT)
    }
}

/// Did the terminals end because the server was killed? Else why.
fn judge(waited: Result<(), Missed>, ended: Result<(), StepError>) -> Result<(), String> {
    match (waited, ended) {
        // The connection was lost, which is what the first terminal to notice fails with.
        (Ok(()), Err(StepError::Session { .. }) | Ok(())) => Ok(()),
        (Err(Missed::Stopped), _) => Err(StepError::Interrupted.to_string()),
        (Err(Missed::Idle), _) => {
            Err(format!("no transaction was committed in {} seconds", BEGIN_LIMIT.as_secs()))
        }
        (Err(Missed::Ended), Ok(())) => Err("the terminals ended before the kill".to_owned()),
        (Ok(()) | Err(Missed::Ended), Err(error)) => Err(format!("the terminals ended: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use drivers::SessionError;

    use super::*;

    fn lost() -> StepError {
        StepError::Session {
            client: "terminal 3".to_owned(),
            source: SessionError::Lost { cause: "end of stream".to_owned() },
        }
    }

    #[test]
    fn only_a_lost_session_after_the_kill_is_as_it_should_be() {
        let wrong = || StepError::Load("two rows for one key".to_owned());
        assert_eq!(judge(Ok(()), Err(lost())), Ok(()));
        let error = judge(Ok(()), Err(wrong())).unwrap_err();
        assert_eq!(error, "the terminals ended: two rows for one key");
        let error = judge(Err(Missed::Ended), Err(lost())).unwrap_err();
        assert!(error.starts_with("the terminals ended: terminal 3: "));
        let error = judge(Err(Missed::Ended), Ok(())).unwrap_err();
        assert_eq!(error, "the terminals ended before the kill");
        let error = judge(Err(Missed::Idle), Err(StepError::Interrupted)).unwrap_err();
        assert_eq!(error, "no transaction was committed in 120 seconds");
        let error = judge(Err(Missed::Stopped), Err(lost())).unwrap_err();
        assert_eq!(error, "interrupted");
    }
}
