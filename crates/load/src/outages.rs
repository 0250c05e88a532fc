//! Sessions that are made ready for a client: what they could not prepare, and another one in place of one
//! that was lost, because the server was restarted or is gone.

use std::sync::Mutex;
use std::time::Duration;

use drivers::{Connector, Session, SessionError};
use model::{Nanos, Note, NoteKind};

use crate::{ClientContext, Result, StepError, lock};

/// The first pause between two attempts; each is twice as long as the one before.
const FIRST_PAUSE: Nanos = Nanos::from_millis(10);

const LONGEST_PAUSE: Nanos = Nanos::SECOND;

#[derive(Debug)]
pub struct Refused {
    pub statement: String,
    pub source: SessionError,
}

impl Refused {
    pub fn of(self, client: &str) -> StepError {
        StepError::Session {
            client: format!("{client}, preparing `{}`", self.statement),
            source: self.source,
        }
    }
}

/// How many sessions were lost, and for how long the longest was away.
#[derive(Debug, Default)]
pub struct Outages(Mutex<(u64, Nanos)>);

impl Outages {
    /// How many, and the longest.
    pub fn counted(&self) -> (u64, Nanos) {
        *lock(&self.0)
    }

    pub fn add(&self, (lost, longest): (u64, Nanos)) {
        let mut outage = lock(&self.0);
        *outage = (outage.0 + lost, outage.1.max(longest));
    }

    pub fn note(&self) -> Option<Note> {
        let (lost, longest) = self.counted();
        let text = format!("{lost}; the longest was away for {longest}");
        (lost > 0).then(|| Note::new(NoteKind::ConnectionsLost, text))
    }
}

/// Opens another session, trying again with growing pauses (10 ms to 1 s) while the server is away or
/// starts up. `None` when the step was over before one was open.
///
/// # Errors
/// The last error when none was open after `limit` (at least one attempt is made); at once when the server
/// refuses the login, breaks the protocol or will not come back.
pub fn reconnect(
    connector: &dyn Connector,
    limit: Duration,
    context: &ClientContext<'_>,
) -> Result<Option<Box<dyn Session>>, SessionError> {
    let clock = context.recorder.clock();
    let began = clock.now();
    let mut pause = FIRST_PAUSE;
    while !context.is_over() {
        let error = match connector.connect() {
            Ok(session) => return Ok(Some(session)),
            Err(error) => error,
        };
        let gone = clock.now().saturating_sub(began).into();
        if is_final(&error) || connector.is_hopeless() || gone >= limit {
            return Err(error);
        }
        let now = clock.now();
        // Clients that were lost together do not come back together.
        let spread = Nanos(now.0 % (pause.0 / 2));
        let left = Nanos::from(limit.saturating_sub(gone));
        context.wait_until(now + (pause + spread).min(left));
        pause = Nanos(pause.0 * 2).min(LONGEST_PAUSE);
    }
    Ok(None)
}

/// Will the next attempt end no better?
fn is_final(error: &SessionError) -> bool {
    match error {
        // A server that starts up or ends refuses the connection or breaks it off; PostgreSQL tells that it
        // is not ready (57P03), which its client reports as one that cannot be reached.
        SessionError::Connect { .. } | SessionError::Lost { .. } | SessionError::Timeout { .. } => {
            false
        }
        // Of the statements that a connector sends: a file or server that is busy passes.
        SessionError::Server { .. } => !error.is_retryable(),
        SessionError::Library { .. }
        | SessionError::Login { .. }
        | SessionError::Protocol { .. } => true,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
    use std::time::Instant;

    use drivers::{Done, Param, ParamType, Row, SessionInfo, StatementId};

    use super::*;
    use crate::engine::Blind;
    use crate::{Client, End, Role, StepError, Stop, run};

    /// A session that does nothing.
    #[derive(Default)]
    struct Idle(SessionInfo);

    impl Session for Idle {
        fn query(&mut self, _: &str, _: &mut dyn FnMut(&dyn Row)) -> Result<Done, SessionError> {
            Ok(Done::default())
        }

        fn prepare(&mut self, _: &str, _: &[ParamType]) -> Result<StatementId, SessionError> {
            Ok(StatementId(0))
        }

        fn execute_prepared(
            &mut self,
            _: StatementId,
            _: &[Param<'_>],
            _: &mut dyn FnMut(&dyn Row),
        ) -> Result<Done, SessionError> {
            Ok(Done::default())
        }

        fn info(&self) -> &SessionInfo {
            &self.0
        }
    }

    /// A server that answers with each of these errors once, then lets everybody in.
    #[derive(Default)]
    struct Server {
        errors: Mutex<Vec<SessionError>>,
        attempts: AtomicUsize,
        hopeless: AtomicBool,
    }

    impl Connector for Server {
        fn connect(&self) -> Result<Box<dyn Session>, SessionError> {
            self.attempts.fetch_add(1, Ordering::Relaxed);
            match self.errors.lock().unwrap().pop() {
                Some(error) => Err(error),
                None => Ok(Box::<Idle>::default()),
            }
        }

        fn is_hopeless(&self) -> bool {
            self.hopeless.load(Ordering::Relaxed)
        }
    }

    impl Server {
        fn with(errors: Vec<SessionError>) -> Self {
            Self { errors: Mutex::new(errors), ..Self::default() }
        }

        fn attempts(&self) -> usize {
            self.attempts.load(Ordering::Relaxed)
        }
    }

    /// How connecting again ended: with a session, or with the step.
    type Ended = Result<bool, SessionError>;

    struct Returning<'a> {
        server: &'a Server,
        limit: Duration,
        ended: &'a Mutex<Option<Ended>>,
    }

    impl Client for Returning<'_> {
        fn run(&mut self, context: &mut ClientContext<'_>) -> Result<(), StepError> {
            let session = reconnect(self.server, self.limit, context);
            *self.ended.lock().unwrap() = Some(session.map(|session| session.is_some()));
            Ok(())
        }
    }

    /// Connects to `server` in a step that is over after a while.
    fn ended(server: &'static Server, limit: Duration, window: Nanos) -> Ended {
        let ended: &'static Mutex<Option<Ended>> = Box::leak(Box::default());
        let client = Returning { server, limit, ended };
        let role = Role { name: "client 1".to_owned(), bounded: true };
        let clients: &mut [(Role, Box<dyn Client>)] = &mut [(role, Box::new(client))];
        let end = End::AllDone { limit: Some(window) };
        run(&[], clients, end, &Stop::default(), &mut Blind).unwrap();
        ended.lock().unwrap().take().unwrap()
    }

    fn server(errors: Vec<SessionError>) -> &'static Server {
        Box::leak(Box::new(Server::with(errors)))
    }

    fn refused() -> SessionError {
        SessionError::Connect {
            address: "/run/db.sock".to_owned(),
            cause: "connection refused".to_owned(),
        }
    }

    fn not_let_in() -> SessionError {
        SessionError::Login {
            address: "/run/db.sock".to_owned(),
            user: "u".to_owned(),
            message: "access denied (error 1045)".to_owned(),
        }
    }

    const MINUTE: Duration = Duration::from_mins(1);

    #[test]
    fn a_server_that_starts_up_is_tried_until_it_is_there() {
        let broken_off = SessionError::Lost { cause: "end of stream".to_owned() };
        let server = server(vec![refused(), broken_off, refused()]);
        let began = Instant::now();
        assert!(ended(server, MINUTE, Nanos::from_secs(60)).unwrap());
        assert_eq!(server.attempts(), 4);
        assert!(began.elapsed() >= Duration::from_millis(70), "10, 20 and 40 ms");
    }

    #[test]
    fn a_refused_login_is_final() {
        let server = server(vec![not_let_in(), refused()]);
        let error = ended(server, MINUTE, Nanos::from_secs(60)).unwrap_err();
        assert_eq!(error.code(), "login");
        assert_eq!(server.attempts(), 2);
    }

    #[test]
    fn nobody_waits_for_a_server_that_will_not_come_back() {
        let server = server(vec![refused(), refused()]);
        server.hopeless.store(true, Ordering::Relaxed);
        let error = ended(server, MINUTE, Nanos::from_secs(60)).unwrap_err();
        assert_eq!((error.code(), server.attempts()), ("connect", 1));
    }

    #[test]
    fn after_the_limit_the_last_error_is_told() {
        let server = server((0..1000).map(|_| refused()).collect());
        let limit = Duration::from_millis(50);
        let error = ended(server, limit, Nanos::from_secs(60)).unwrap_err();
        assert_eq!(error.code(), "connect");
        assert!((2..8).contains(&server.attempts()), "{}", server.attempts());
    }

    #[test]
    fn the_end_of_the_step_ends_it() {
        let server = server((0..1000).map(|_| refused()).collect());
        assert!(!ended(server, MINUTE, Nanos::from_millis(200)).unwrap());
        assert!(server.attempts() < 10);
    }
}
