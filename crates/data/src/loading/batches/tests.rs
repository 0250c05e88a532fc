//! Batches whose statements a server answers as a test wants.

use std::collections::VecDeque;
use std::iter;
use std::sync::{Arc, Mutex};

use drivers::{Connector, Done, Param, ParamType, Row, SessionInfo, StatementId, Value};
use model::{ErrorCount, ErrorRules, KindSpec, StepRecord};

use super::*;
use load::Client;
use load::engine::{Blind, End, Role, Stop, run};

/// Rows of the batch.
const ROWS: u64 = 5;

/// How a server answers.
#[derive(Clone, Copy, Debug)]
enum Answer {
    /// With this number: of rows added, or found.
    Rows(u64),
    /// With this error; the client does not hear the answer where the code is `lost`.
    Error(&'static str),
}

use Answer::{Error, Rows};

const LOST: Answer = Error("lost");
const DEADLOCK: Answer = Error("1213");
const DUPLICATE_KEY: Answer = Error("1062");

/// What it is sent, and what it answers.
type Talk = VecDeque<(&'static str, Answer)>;

/// A server that is sent exactly what a test expects. Connecting is part of it.
#[derive(Clone)]
struct Server(Arc<Mutex<Talk>>);

impl Server {
    fn answer(&self, sent: &str) -> Result<u64, SessionError> {
        let next = self.0.lock().unwrap().pop_front();
        let (expected, answer) = next.unwrap_or(("nothing", Rows(0)));
        assert_eq!(sent, expected);
        match answer {
            Rows(rows) => Ok(rows),
            Error("lost") => Err(SessionError::Lost { cause: "test".to_owned() }),
            Error(code) => Err(SessionError::Server {
                code: code.to_owned(),
                state: Box::default(),
                message: "test".to_owned(),
                statement: sent.to_owned(),
            }),
        }
    }
}

impl Connector for Server {
    fn connect(&self) -> Result<Box<dyn Session>, SessionError> {
        self.answer("connect")?;
        Ok(Box::new(Answering { server: self.clone(), info: SessionInfo::default() }))
    }
}

struct Answering {
    server: Server,
    info: SessionInfo,
}

/// A row of one number.
struct Number(u64);

impl Row for Number {
    fn len(&self) -> usize {
        1
    }

    fn value(&self, _: usize) -> Value<'_> {
        Value::Int(self.0 as i64)
    }
}

impl Session for Answering {
    fn query(&mut self, sql: &str, each: &mut dyn FnMut(&dyn Row)) -> Result<Done, SessionError> {
        let affected = self.server.answer(sql)?;
        each(&Number(affected));
        Ok(Done { rows: 1, affected, columns: 1 })
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
        &self.info
    }
}

/// Sends a batch as one INSERT and its COMMIT.
struct Inserting;

impl SendBatch for Inserting {
    type Batch = u64;

    fn rows(&self, batch: &u64) -> u64 {
        *batch
    }

    fn named(&self, batch: &u64) -> String {
        format!("rows 1 to {batch} of t")
    }

    fn count(&self, _: &u64) -> Result<String, StepError> {
        Ok("count".to_owned())
    }

    fn send(&mut self, _: &u64, to: &mut Sending<'_>) -> Result<(), SessionError> {
        to.add(|session| Ok(session.execute("insert")?.affected))?;
        to.session.execute("COMMIT")?;
        Ok(())
    }

    fn begin_anew(&mut self, session: &mut dyn Session) {
        let _ = session.execute("begin anew");
    }
}

/// A client that loads one batch.
struct Loader {
    recovery: Recovery,
    batches: Batches<Inserting>,
}

impl Client for Loader {
    fn run(&mut self, context: &mut ClientContext<'_>) -> Result<(), StepError> {
        self.batches.load(&self.recovery, &ROWS, context)?;
        Ok(())
    }
}

/// Loads a batch, which is tried three times at most. After connecting, the server is sent exactly `talk`.
fn load(talk: &[(&'static str, Answer)]) -> Result<StepRecord, StepError> {
    let talk = iter::once(("connect", Rows(0))).chain(talk.iter().copied());
    let server = Server(Arc::new(Mutex::new(talk.collect())));
    let connector: Arc<dyn Connector> = Arc::new(server.clone());
    let errors = ErrorRules { tries: 3, reconnect_seconds: 60, ..ErrorRules::usual() };
    let recovery = Recovery::new(&errors, Dialect::Mysql, &connector);
    let name = "load 1".to_owned();
    let role = Role { name: name.clone(), bounded: true };
    let worker = Worker::connect(&*connector, name)?;
    let batches = Batches { worker, sender: Inserting, sent: Vec::new() };
    let kinds = [KindSpec { name: "insert".to_owned(), scheduled: false }];
    let clients: &mut [(Role, Box<dyn Client>)] =
        &mut [(role, Box::new(Loader { recovery, batches }))];
    let window = run(&kinds, clients, End::AllDone { limit: None }, &Stop::default(), &mut Blind);
    let left = server.0.lock().unwrap();
    assert!(left.is_empty(), "not sent: {left:?}");
    drop(left);
    window
}

/// The message of a batch that could not be loaded.
fn message(talk: &[(&'static str, Answer)]) -> String {
    load(talk).unwrap_err().to_string()
}

/// Fails unless all rows were recorded, once, as those of one statement, and these errors as repeated.
fn assert_loaded(window: &StepRecord, errors: &[&str]) {
    let sums = &window.kinds[0].sums;
    assert_eq!((sums.ops, sums.rows, sums.errors), (1, ROWS, 0));
    assert_eq!(sums.retries, errors.len() as u64);
    let mut codes: Vec<&str> = window.errors.iter().map(|e| e.code.as_str()).collect();
    codes.sort_unstable();
    assert_eq!(codes, errors);
    let is_retried = |error: &ErrorCount| error.retried;
    assert!(window.errors.iter().all(is_retried), "{:?}", window.errors);
}

#[test]
fn what_was_rolled_back_is_sent_again_and_in_no_number() {
    let window = load(&[
        ("insert", Rows(ROWS)),
        ("COMMIT", DEADLOCK),
        ("ROLLBACK", Rows(0)),
        ("insert", Rows(ROWS)),
        ("COMMIT", Rows(0)),
    ]);
    assert_loaded(&window.unwrap(), &["1213"]);
}

#[test]
fn after_a_lost_connection_a_batch_is_sent_only_where_it_is_not_there() {
    let lost =
        [("insert", Rows(ROWS)), ("COMMIT", LOST), ("connect", Rows(0)), ("begin anew", Rows(0))];
    let there = [("count", Rows(ROWS))];
    let window = load(&[&lost[..], &there[..]].concat());
    assert_loaded(&window.unwrap(), &["lost"]);
    let not_there = [("count", Rows(0)), ("insert", Rows(ROWS)), ("COMMIT", Rows(0))];
    let window = load(&[&lost[..], &not_there[..]].concat());
    assert_loaded(&window.unwrap(), &["lost"]);
}

/// The server commits what came before the connection was lost only when the client has looked for it.
#[test]
fn a_row_that_is_there_after_all_sends_the_client_to_look_again() {
    let lost = [
        ("insert", LOST),
        ("connect", Rows(0)),
        ("begin anew", Rows(0)),
        ("count", Rows(0)),
        ("insert", DUPLICATE_KEY),
        ("ROLLBACK", Rows(0)),
    ];
    let there = [("count", Rows(ROWS))];
    let window = load(&[&lost[..], &there[..]].concat());
    assert_loaded(&window.unwrap(), &["1062", "lost"]);
    // Somebody else's row: the third try is the last.
    let never_there = [("count", Rows(0)), ("insert", DUPLICATE_KEY)];
    let told = message(&[&lost[..], &never_there[..]].concat());
    assert!(told.starts_with("load 1: given up after 3 tries; last "), "{told}");
    assert!(told.contains("1062"), "{told}");
}

#[test]
fn an_error_that_others_may_ignore_ends_a_load_whose_connection_was_never_lost() {
    let error = load(&[("insert", DUPLICATE_KEY)]).unwrap_err();
    assert!(
        matches!(&error, StepError::Session { source, .. } if source.code() == "1062"),
        "{error}"
    );
}

#[test]
fn a_part_of_a_batch_is_an_error() {
    let lost = [("insert", LOST), ("connect", Rows(0)), ("begin anew", Rows(0))];
    let partly = [("count", Rows(2))];
    assert_eq!(
        message(&[&lost[..], &partly[..]].concat()),
        "rows 1 to 5 of t, one transaction: 2 of 5 exist after the connection was lost; check that the \
         engine has transactions and that nothing else writes"
    );
    assert_eq!(
        message(&[("insert", Rows(4)), ("COMMIT", Rows(0))]),
        "rows 1 to 5 of t: 4 were added where 5 were sent"
    );
}

#[test]
fn who_may_not_send_files_is_told_what_to_do() {
    let told = message(&[("insert", Error("3948"))]);
    assert!(told.starts_with("the server accepts no local files: set local_infile = ON"), "{told}");
}
