//! A server that is not there: tables in memory, and whatever is wrong with it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use drivers::{Connector, Session, SessionError};

use crate::diary::Diary;
use crate::fault::{Fault, Faults, Trouble};
use crate::saved;
use crate::session::FakeSession;
use crate::tables::{Answer, Tables};

/// An in-memory database that speaks what the Insert Benchmark says to SQLite. Copies are the same
/// database.
#[derive(Clone, Debug)]
pub struct FakeDbms(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    tables: Mutex<Tables>,
    faults: Faults,
    /// Longest wait for an answer.
    timeout: Duration,
    dead: AtomicBool,
    log: Diary,
}

impl FakeDbms {
    /// An empty database with these faults; a statement that hangs does so for `timeout`.
    pub fn new(faults: &[Fault], timeout: Duration) -> Self {
        Self::with(Tables::default(), faults, timeout)
    }

    /// The same with the data that [`FakeDbms::save`] returned; `None` for any other text.
    pub fn restore(saved: &str, faults: &[Fault], timeout: Duration) -> Option<Self> {
        let mut tables = saved::read(saved)?;
        if faults.contains(&Fault::ClonesBadly) {
            tables.lose_a_row("INSERT INTO pi1 ");
        }
        Some(Self::with(tables, faults, timeout))
    }

    /// All its data.
    pub fn save(&self) -> String {
        saved::write(&self.tables())
    }

    fn with(tables: Tables, faults: &[Fault], timeout: Duration) -> Self {
        let log = Diary::default();
        log.note("fake: ready for connections");
        Self(Arc::new(Inner {
            tables: Mutex::new(tables),
            faults: Faults::new(faults),
            timeout,
            dead: AtomicBool::new(false),
            log,
        }))
    }

    /// The server's log.
    pub fn log(&self) -> Vec<String> {
        self.0.log.lines()
    }

    /// A sum over all rows that are there, without their keys.
    pub fn checksum(&self) -> u64 {
        self.tables().checksum()
    }

    /// Rows of all tables.
    pub fn rows(&self) -> usize {
        self.tables().rows()
    }

    pub(crate) fn execute(&self, sql: &str) -> Result<Answer, SessionError> {
        if self.is_dead() {
            return Err(lost());
        }
        match self.0.faults.of(sql) {
            None => self.obey(sql),
            Some(trouble) => self.misbehave(sql, trouble),
        }
    }

    fn tables(&self) -> MutexGuard<'_, Tables> {
        self.0.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn obey(&self, sql: &str) -> Result<Answer, SessionError> {
        let answer = self.tables().execute(sql);
        answer.map_err(|message| refused("fake", &message, sql))
    }

    fn misbehave(&self, sql: &str, trouble: Trouble) -> Result<Answer, SessionError> {
        match trouble {
            Trouble::Dies => {
                self.0.dead.store(true, Ordering::Relaxed);
                self.0.log.note("fake: got signal 11");
                Err(lost())
            }
            Trouble::Hangs => {
                std::thread::sleep(self.0.timeout);
                Err(SessionError::Timeout { limit: self.0.timeout, statement: excerpt(sql) })
            }
            Trouble::Refuses { code, message } => Err(refused(code, message, sql)),
            Trouble::LosesRow => {
                let answer = self.obey(sql)?;
                self.tables().lose_a_row(sql);
                Ok(answer)
            }
            Trouble::Miscounts => {
                let mut answer = self.obey(sql)?;
                answer.affected = answer.affected.saturating_sub(1);
                Ok(answer)
            }
            Trouble::Unordered => {
                let mut answer = self.obey(sql)?;
                answer.rows.reverse();
                Ok(answer)
            }
            Trouble::Slow(longer) => {
                std::thread::sleep(longer);
                self.obey(sql)
            }
        }
    }

    /// Has it died?
    pub(crate) fn is_dead(&self) -> bool {
        self.0.dead.load(Ordering::Relaxed)
    }
}

impl Connector for FakeDbms {
    fn connect(&self) -> Result<Box<dyn Session>, SessionError> {
        if self.is_dead() {
            return Err(SessionError::Connect {
                address: "fake".to_owned(),
                cause: "connection refused".to_owned(),
            });
        }
        if self.0.faults.has(Fault::RefusesLogin) {
            return Err(SessionError::Login {
                address: "fake".to_owned(),
                user: "root".to_owned(),
                message: "access denied".to_owned(),
            });
        }
        Ok(Box::new(FakeSession::new(self.clone())))
    }

    fn is_hopeless(&self) -> bool {
        self.is_dead()
    }
}

fn lost() -> SessionError {
    SessionError::Lost { cause: "the server closed the connection".to_owned() }
}

fn refused(code: &str, message: &str, sql: &str) -> SessionError {
    SessionError::Server {
        code: code.to_owned(),
        state: Box::default(),
        message: message.to_owned(),
        statement: excerpt(sql),
    }
}

/// The first words of a statement; short, so that a snapshot is.
fn excerpt(sql: &str) -> String {
    sql.chars().take(24).collect()
}

#[cfg(test)]
mod tests {
    use drivers::{Param, ParamType};

    use super::*;

    const INSERT: &str =
        "INSERT INTO pi1 (dateandtime,cashregisterid,customerid,productid,price,data) VALUES ";
    const ROWS: &str = "('2026-01-01 00:00:00',1,2,30,4.00,'aa+'),('2026-01-01 00:00:00',1,2,20,4.00,'ab/'),\
                        ('2026-01-01 00:00:00',1,2,10,4.00,'ac0')";

    fn session(faults: &[Fault]) -> (FakeDbms, Box<dyn Session>) {
        let dbms = FakeDbms::new(faults, Duration::from_millis(1));
        let mut session = dbms.connect().unwrap();
        session.execute("CREATE TABLE pi1 (transactionid INTEGER PRIMARY KEY)").unwrap();
        (dbms, session)
    }

    fn numbers(session: &mut dyn Session, sql: &str) -> Vec<i64> {
        let mut numbers = Vec::new();
        session
            .query(sql, &mut |row| {
                numbers.push(row.value(0).as_int().unwrap_or(-1));
            })
            .unwrap();
        numbers
    }

    #[test]
    fn rows_are_kept_ordered_and_deleted() {
        let (dbms, mut session) = session(&[]);
        assert_eq!(numbers(&mut *session, "SELECT MAX(transactionid) FROM pi1"), [-1]);
        assert_eq!(session.execute(&format!("{INSERT}{ROWS}")).unwrap().affected, 3);
        let range = "SELECT productid, price FROM pi1 INDEXED BY i WHERE productid >= 11 \
                     ORDER BY productid, price LIMIT 2";
        assert_eq!(numbers(&mut *session, range), [20, 30]);
        let point = "SELECT transactionid, data FROM pi1 WHERE transactionid IN (3,9,1)";
        assert_eq!(numbers(&mut *session, point), [1, 3]);
        let delete = "DELETE FROM pi1 WHERE transactionid IN (SELECT transactionid FROM pi1 \
                      WHERE transactionid >= 0 ORDER BY transactionid ASC LIMIT 2)";
        assert_eq!(session.execute(delete).unwrap().affected, 2);
        assert_eq!(numbers(&mut *session, "SELECT MIN(transactionid) FROM pi1"), [3]);
        assert_eq!((numbers(&mut *session, "SELECT COUNT(*) FROM pi1"), dbms.rows()), (vec![1], 1));
    }

    #[test]
    fn prepared_rows_are_the_same_as_text() {
        let (text, mut session_a) = session(&[]);
        session_a.execute(&format!("{INSERT}('2026',1,2,3,4.00,'aaX')")).unwrap();
        let (prepared, mut session_b) = session(&[]);
        let types = [ParamType::Int; 6];
        let id = session_b.prepare(&format!("{INSERT}(?,?,?,?,?,?)"), &types).unwrap();
        let params = |data| {
            [
                Param::Text("2026"),
                Param::Int(1),
                Param::Int(2),
                Param::Int(3),
                Param::Int(4),
                Param::Text(data),
            ]
        };
        session_b.execute_prepared(id, &params("aaX"), &mut |_| ()).unwrap();
        assert_eq!(text.checksum(), prepared.checksum());
        session_b.execute_prepared(id, &params("aaY"), &mut |_| ()).unwrap();
        assert_ne!(text.checksum(), prepared.checksum());
        assert!(session_b.execute_prepared(id, &params("aaY")[1..], &mut |_| ()).is_err());
    }

    #[test]
    fn what_is_saved_is_restored() {
        let (dbms, mut session) = session(&[]);
        session.execute(&format!("{INSERT}{ROWS}")).unwrap();
        session.execute("DELETE FROM pi1 WHERE transactionid >= 3 LIMIT 1").unwrap();
        let timeout = Duration::from_millis(1);
        let restored = FakeDbms::restore(&dbms.save(), &[], timeout).unwrap();
        assert_eq!((restored.rows(), restored.checksum()), (2, dbms.checksum()));
        let mut session = restored.connect().unwrap();
        session.execute(&format!("{INSERT}{ROWS}")).unwrap();
        let highest = "SELECT MAX(transactionid) FROM pi1";
        assert_eq!(numbers(&mut *session, highest), [6]);
        let count = "SELECT COUNT(price) FROM pi1 WHERE price >= 0";
        assert_eq!(numbers(&mut *session, count), [5]);
        assert!(FakeDbms::restore("row\tx", &[], timeout).is_none());
    }

    #[test]
    fn what_is_not_understood_is_an_error() {
        let (_, mut session) = session(&[]);
        assert!(session.execute("DROP TABLE pi1").is_err());
        assert!(session.execute("SELECT MIN(transactionid) FROM pi2").is_err());
    }

    #[test]
    fn trouble_comes_when_it_was_ordered() {
        let deadlock = Trouble::Refuses { code: "1213", message: "deadlock" };
        let twice =
            Fault::Statements { prefix: "SELECT COUNT", from: 2, times: 2, trouble: deadlock };
        let (_, mut session) = session(&[twice]);
        let mut count =
            || session.execute("SELECT COUNT(*) FROM pi1").map_err(|e| e.is_retryable());
        let classes: Vec<Option<bool>> = (0..4).map(|_| count().err()).collect();
        let retry = Some(true);
        assert_eq!(classes, [None, retry, retry, None]);
    }

    #[test]
    fn a_death_is_the_end_of_all_sessions() {
        let (dbms, mut session) = session(&[Fault::from("BEGIN", 1, Trouble::Dies)]);
        let mut other = dbms.connect().unwrap();
        assert!(session.execute("BEGIN").is_err() && other.execute("COMMIT").is_err());
        assert!(matches!(dbms.connect().err(), Some(SessionError::Connect { .. })));
        assert_eq!(dbms.log().len(), 2);
    }
}
