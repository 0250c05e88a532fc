//! A connector in front of another one: writes down what passes and fails where a test wants it to.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use drivers::{
    Connector, Done, Param, ParamType, Row, Session, SessionError, SessionInfo, StatementId,
};

/// What passes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Call<'a> {
    /// A session is opened.
    Connect,
    /// A statement is prepared.
    Prepare(&'a str),
    /// A statement is executed; here with its values in it.
    Run(&'a str),
}

/// What becomes of it.
pub(crate) enum Outcome {
    /// What the server makes of it.
    Pass,
    /// This error, in place of it.
    Fail(SessionError),
    /// Another answer: nothing is sent.
    Lie(Done),
}

/// Decides what becomes of each call.
pub(crate) type Hook = Box<dyn FnMut(Call<'_>) -> Outcome + Send>;

/// The connector.
pub(crate) struct Faulty {
    inner: Arc<dyn Connector>,
    shared: Arc<Shared>,
}

struct Shared {
    hook: Mutex<Hook>,
    log: Mutex<Vec<(usize, String)>>,
    sessions: AtomicUsize,
    pipelined: AtomicUsize,
}

impl Faulty {
    pub(crate) fn new(inner: Arc<dyn Connector>, hook: Hook) -> Self {
        Self {
            inner,
            shared: Arc::new(Shared {
                hook: Mutex::new(hook),
                log: Mutex::default(),
                sessions: AtomicUsize::new(0),
                pipelined: AtomicUsize::new(0),
            }),
        }
    }

    /// Writes down, and lets everything pass.
    pub(crate) fn recording(inner: Arc<dyn Connector>) -> Self {
        Self::new(inner, Box::new(|_| Outcome::Pass))
    }

    /// What a session executed, by its number from zero, values in it.
    pub(crate) fn log_of(&self, session: usize) -> Vec<String> {
        let log = self.shared.log.lock().unwrap();
        let log = log.iter().filter(|(of, _)| *of == session);
        log.map(|(_, text)| text.clone()).collect()
    }

    /// What all sessions executed.
    pub(crate) fn log(&self) -> Vec<String> {
        let log = self.shared.log.lock().unwrap();
        log.iter().map(|(_, text)| text.clone()).collect()
    }

    /// How many batches were pipelined.
    pub(crate) fn pipelined(&self) -> usize {
        self.shared.pipelined.load(Ordering::Relaxed)
    }

    /// How many sessions were opened.
    pub(crate) fn sessions(&self) -> usize {
        self.shared.sessions.load(Ordering::Relaxed)
    }
}

impl Shared {
    fn ask(&self, call: Call<'_>) -> Outcome {
        (self.hook.lock().unwrap())(call)
    }
}

impl Connector for Faulty {
    fn connect(&self) -> Result<Box<dyn Session>, SessionError> {
        if let Outcome::Fail(error) = self.shared.ask(Call::Connect) {
            return Err(error);
        }
        Ok(Box::new(FaultySession {
            inner: self.inner.connect()?,
            shared: Arc::clone(&self.shared),
            number: self.shared.sessions.fetch_add(1, Ordering::Relaxed),
            texts: Vec::new(),
            is_lost: false,
        }))
    }
}

struct FaultySession {
    inner: Box<dyn Session>,
    shared: Arc<Shared>,
    number: usize,
    /// Texts of the prepared statements.
    texts: Vec<String>,
    is_lost: bool,
}

impl FaultySession {
    fn run(
        &mut self,
        text: &str,
        go: impl FnOnce(&mut dyn Session) -> Result<Done, SessionError>,
    ) -> Result<Done, SessionError> {
        if self.is_lost {
            return Err(lost());
        }
        let outcome = self.shared.ask(Call::Run(text));
        let mut log = self.shared.log.lock().unwrap();
        log.push((self.number, text.to_owned()));
        drop(log);
        match outcome {
            Outcome::Pass => go(&mut *self.inner),
            Outcome::Lie(done) => Ok(done),
            Outcome::Fail(error) => {
                self.is_lost = matches!(error, SessionError::Lost { .. });
                if self.is_lost {
                    // As a server does; where no transaction is open that is an error.
                    let _ = self.inner.execute("ROLLBACK");
                }
                Err(error)
            }
        }
    }
}

impl Session for FaultySession {
    fn query(&mut self, sql: &str, each: &mut dyn FnMut(&dyn Row)) -> Result<Done, SessionError> {
        self.run(sql, |inner| inner.query(sql, each))
    }

    fn prepare(&mut self, sql: &str, types: &[ParamType]) -> Result<StatementId, SessionError> {
        if let Outcome::Fail(error) = self.shared.ask(Call::Prepare(sql)) {
            return Err(error);
        }
        self.texts.push(sql.to_owned());
        self.inner.prepare(sql, types)
    }

    fn execute_prepared(
        &mut self,
        statement: StatementId,
        params: &[Param<'_>],
        each: &mut dyn FnMut(&dyn Row),
    ) -> Result<Done, SessionError> {
        let text = with_values(&self.texts[statement.0 as usize], params);
        self.run(&text, |inner| inner.execute_prepared(statement, params, each))
    }

    fn execute_pipelined(
        &mut self,
        batch: &[(StatementId, &[Param<'_>])],
        each: &mut dyn FnMut(usize, &dyn Row),
        done: &mut dyn FnMut(usize, Done),
    ) -> Result<(), SessionError> {
        self.shared.pipelined.fetch_add(1, Ordering::Relaxed);
        for (index, (statement, params)) in batch.iter().enumerate() {
            let answer = self.execute_prepared(*statement, params, &mut |row| each(index, row))?;
            done(index, answer);
        }
        Ok(())
    }

    fn info(&self) -> &SessionInfo {
        self.inner.info()
    }
}

/// A prepared statement's text with values in place of its placeholders.
fn with_values(sql: &str, params: &[Param<'_>]) -> String {
    let mut text = String::new();
    let mut params = params.iter();
    for part in sql.split_inclusive('?') {
        let Some(part) = part.strip_suffix('?') else {
            text.push_str(part);
            continue;
        };
        text.push_str(part);
        match params.next() {
            Some(Param::Int(value)) => text.push_str(&value.to_string()),
            Some(Param::Text(value)) => text.extend(["'", value, "'"]),
            Some(Param::Bytes(value)) => text.extend(["'", &String::from_utf8_lossy(value), "'"]),
            None => text.push('?'),
        }
    }
    text
}

/// The connection is gone.
pub(crate) fn lost() -> SessionError {
    SessionError::Lost { cause: "the test cut it".to_owned() }
}

/// The server answers with this code.
pub(crate) fn server(code: &str, message: &str) -> SessionError {
    SessionError::Server {
        code: code.to_owned(),
        state: Box::default(),
        message: message.to_owned(),
        statement: "…".to_owned(),
    }
}
