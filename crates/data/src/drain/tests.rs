use std::sync::{Arc, Mutex};

use drivers::{Done, Param, ParamType, Row, SessionError, SessionInfo, StatementId, Value};
use model::KindSpec;

use super::*;
use load::clients::bounded;
use load::engine::{Blind, End, Stop, run};
use load::{Client, StepError};

type Answer = Result<Vec<Vec<String>>, SessionError>;
type Script = dyn FnMut(&str, usize) -> Answer + Send;

/// A session whose answers are made up: told the statement and how often it was sent before.
struct Scripted {
    answer: Box<Script>,
    sent: Vec<String>,
    info: SessionInfo,
}

impl Scripted {
    fn new(answer: impl FnMut(&str, usize) -> Answer + Send + 'static) -> Self {
        Self { answer: Box::new(answer), sent: Vec::new(), info: SessionInfo::default() }
    }
}

struct Shown(Vec<String>);

impl Row for Shown {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn value(&self, column: usize) -> Value<'_> {
        self.0.get(column).map_or(Value::Null, |text| Value::Bytes(text.as_bytes()))
    }
}

fn unused() -> SessionError {
    SessionError::Protocol { what: "nothing is prepared here".to_owned() }
}

impl Session for Scripted {
    fn query(&mut self, sql: &str, each: &mut dyn FnMut(&dyn Row)) -> Result<Done, SessionError> {
        let before = self.sent.iter().filter(|sent| *sent == sql).count();
        self.sent.push(sql.to_owned());
        for row in (self.answer)(sql, before)? {
            each(&Shown(row));
        }
        Ok(Done::default())
    }

    fn prepare(&mut self, _: &str, _: &[ParamType]) -> Result<StatementId, SessionError> {
        Err(unused())
    }

    fn execute_prepared(
        &mut self,
        _: StatementId,
        _: &[Param<'_>],
        _: &mut dyn FnMut(&dyn Row),
    ) -> Result<Done, SessionError> {
        Err(unused())
    }

    fn info(&self) -> &SessionInfo {
        &self.info
    }
}

fn rows(rows: &[&[&str]]) -> Vec<Vec<String>> {
    let texts = |row: &&[&str]| row.iter().map(|text| (*text).to_owned()).collect();
    rows.iter().map(texts).collect()
}

fn status(purge: &str, history: u64) -> String {
    format!(
        "------------\nTRANSACTIONS\n------------\nTrx id counter 4940\n\
         Purge done for trx's n:o < 4893 undo n:o < 0{purge}\nHistory list length {history}\n\
         LIST OF TRANSACTIONS FOR EACH SESSION:\n--------\nFILE I/O\n--------\n\
         I/O thread 0 state: running (insert buffer thread)\n"
    )
}

/// InnoDB with 1,000 pages, so many of them dirty, and its status.
fn innodb_with(sql: &str, status: &str, dirty: u64) -> Answer {
    match sql {
        INNODB => Ok(rows(&[&["InnoDB", "", status]])),
        PAGES => {
            let dirty = dirty.to_string();
            Ok(rows(&[
                &["Innodb_buffer_pool_pages_data", "900"],
                &["Innodb_buffer_pool_pages_dirty", dirty.as_str()],
                &["Innodb_buffer_pool_pages_total", "1000"],
            ]))
        }
        _ => Err(unused()),
    }
}

const fn backlog(dialect: Dialect, engine: Engine) -> Backlog {
    Backlog { dialect, engine, ours: true }
}

const MYSQL: Backlog = backlog(Dialect::Mysql, Engine::Innodb);

/// Waits for what is left.
struct Waits {
    backlog: Backlog,
    session: Scripted,
    longest: Nanos,
    told: Arc<Mutex<Option<(NoteKind, String)>>>,
}

impl Client for Waits {
    fn run(&mut self, context: &mut ClientContext<'_>) -> Result<(), StepError> {
        let told = self.backlog.drain(&mut self.session, context, Nanos(0), self.longest);
        *self.told.lock().unwrap() = told;
        Ok(())
    }
}

/// What is noted of the wait.
fn drained(
    backlog: Backlog,
    longest: Nanos,
    answer: impl FnMut(&str, usize) -> Answer + Send + 'static,
) -> Option<(NoteKind, String)> {
    let told = Arc::new(Mutex::new(None));
    let client =
        Waits { backlog, session: Scripted::new(answer), longest, told: Arc::clone(&told) };
    let kinds = [KindSpec { name: "settle".to_owned(), scheduled: false }];
    let clients = &mut [bounded("settle".to_owned(), client)];
    run(&kinds, clients, End::AllDone { limit: None }, &Stop::default(), &mut Blind).unwrap();
    let told = told.lock().unwrap();
    told.clone()
}

/// The name of the note, and its text without the time that it took.
fn noted(told: Option<(NoteKind, String)>) -> (NoteKind, String) {
    let (name, text) = told.unwrap();
    let (text, _) = text.split_once(" after ").unwrap();
    (name, text.to_owned())
}

#[test]
fn it_is_waited_until_purge_is_idle_and_pages_are_written_back() {
    // Purge ends at the second look, the last pages are written back at the third.
    let told = drained(MYSQL, LONGEST, |sql, before| {
        let purge = [" state: running", " state: running but idle"][before.min(1)];
        let dirty = [900, 500, 20][before.min(2)];
        innodb_with(sql, &status(purge, 123_456), dirty)
    });
    assert_eq!(noted(told), (NoteKind::LeftOver, "history 123,456, dirty pages 20".to_owned()));
}

#[test]
fn a_pause_between_two_pieces_of_work_is_not_the_end() {
    let told = drained(MYSQL, LONGEST, |sql, before| {
        let dirty = [0, 500, 7, 8][before.min(3)];
        innodb_with(sql, &status(" state: running but idle", 0), dirty)
    });
    assert_eq!(noted(told), (NoteKind::LeftOver, "history 0, dirty pages 8".to_owned()));
}

#[test]
fn it_is_not_waited_for_ever() {
    let longest = Nanos::from_millis(300);
    let told =
        drained(MYSQL, longest, |sql, _| innodb_with(sql, &status(" state: running", 5_000), 21));
    assert_eq!(noted(told), (NoteKind::NotDrained, "history 5,000, dirty pages 21".to_owned()));
}

#[test]
fn a_server_that_does_not_tell_is_noted() {
    let (name, text) = drained(MYSQL, LONGEST, |sql, _| {
        Err(SessionError::Server {
            code: "1227".to_owned(),
            state: Box::default(),
            message: "you need the PROCESS privilege".to_owned(),
            statement: sql.to_owned(),
        })
    })
    .unwrap();
    assert_eq!(name, NoteKind::Settle);
    assert!(text.starts_with("the pending work is unknown: error 1227"), "{text}");
}

#[test]
fn the_dirty_pages_of_a_server_that_is_not_ours_are_told_only() {
    let foreign = Backlog { ours: false, ..MYSQL };
    let told = drained(foreign, LONGEST, |sql, _| {
        innodb_with(sql, &status(" state: running but idle", 3), 900)
    });
    assert_eq!(noted(told), (NoteKind::LeftOver, "history 3, dirty pages 900".to_owned()));
}

#[test]
fn history_is_waited_for_while_purge_is_at_work() {
    let at_most = |purge: &str| history(&status(purge, 7)).unwrap().at_most;
    assert_eq!(at_most(" state: running"), Some(HISTORY));
    assert_eq!(at_most(" state: running but idle"), None);
    assert_eq!(at_most(" state: disabled"), None);
    // MySQL 5.5 does not say.
    assert_eq!(at_most(""), Some(HISTORY));
    assert_eq!(history("no transactions here"), None);
}

#[test]
fn vacuums_and_their_workers_are_waited_for() {
    let postgres = backlog(Dialect::Postgres, Engine::Heap);
    let told = drained(postgres, LONGEST, |sql, before| {
        assert_eq!(sql, VACUUMS);
        let counts = [&["1", "2"], &["0", "1"], &["0", "0"]][before.min(2)];
        Ok(rows(&[counts]))
    });
    assert_eq!(noted(told), (NoteKind::LeftOver, "vacuums 0, autovacuum workers 0".to_owned()));
}

#[test]
fn compactions_and_memtables_are_waited_for() {
    let myrocks = backlog(Dialect::Mysql, Engine::Myrocks);
    let told = drained(myrocks, LONGEST, |_, before| {
        let pending = ["1", "0"][before.min(1)];
        Ok(rows(&[&["COMPACTION_PENDING", pending], &["NUM_IMMUTABLE_MEM_TABLE", "0"]]))
    });
    assert_eq!(noted(told), (NoteKind::LeftOver, "compactions 0, memtables 0".to_owned()));
}

#[test]
fn frames_of_the_log_are_written_back() {
    let sqlite = backlog(Dialect::Sqlite, Engine::Btree);
    let told = drained(sqlite, LONGEST, |_, before| {
        let frames = [&["0", "10", "4"], &["0", "10", "10"]][before.min(1)];
        Ok(rows(&[frames]))
    });
    assert_eq!(noted(told), (NoteKind::LeftOver, "WAL frames 0".to_owned()));
    // A database without such a log says -1.
    let told = drained(sqlite, LONGEST, |_, _| Ok(rows(&[&["0", "-1", "-1"]])));
    assert_eq!(noted(told), (NoteKind::LeftOver, "WAL frames 0".to_owned()));
}

#[test]
fn where_nothing_is_known_nothing_is_noted() {
    let tokudb = backlog(Dialect::Mysql, Engine::Tokudb);
    assert_eq!(drained(tokudb, LONGEST, |_, _| Err(unused())), None);
}
