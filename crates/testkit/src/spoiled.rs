//! The embedded SQLite, with faults: it runs every statement, and answers wrong where a test wants it.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use drivers::{
    Connector, Done, Param, ParamType, Row, Session, SessionError, SessionInfo, StatementId,
};
use lab::{Provider, Providers, Site, SiteError, SystemError, Template};
use load::Target;
use model::{Capture, Provenance, Sizes, System};

use crate::fault::{Fault, Faults, Trouble};

/// Makes real systems whose sessions are faulty where a test wants it. Only faults of statements have an
/// effect; a prepared statement counts each time it is run.
#[derive(Debug, Default)]
pub struct SpoiledProvider {
    inner: Providers,
    faults: Vec<(String, Fault)>,
    sent: Arc<Sent>,
}

/// Statements in order: the system, and the first word, `SELECT` or `BEGIN`.
#[derive(Debug, Default)]
struct Sent(Mutex<Vec<(String, String)>>);

impl Sent {
    fn add(&self, system: &str, sql: &str) {
        let word = sql.split_ascii_whitespace().next().unwrap_or_default();
        self.statements().push((system.to_owned(), word.to_owned()));
    }

    fn statements(&self) -> MutexGuard<'_, Vec<(String, String)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SpoiledProvider {
    /// The same, with something wrong with the system of this name.
    #[must_use]
    pub fn with(mut self, system: &str, fault: Fault) -> Self {
        self.faults.push((system.to_owned(), fault));
        self
    }

    /// Statements that all systems were sent so far, by their first word.
    pub fn sent(&self) -> BTreeMap<String, u64> {
        let mut counts = BTreeMap::new();
        for (_, word) in self.sent.statements().iter() {
            *counts.entry(word.clone()).or_default() += 1;
        }
        counts
    }

    /// The same in order, each with its system.
    pub fn in_order(&self) -> Vec<(String, String)> {
        self.sent.statements().clone()
    }

    fn spoil(&self, system: &System, timeout: Duration, site: Box<dyn Site>) -> Box<dyn Site> {
        let of_system = self.faults.iter().filter(|(name, _)| *name == system.name);
        let faults: Vec<Fault> = of_system.map(|(_, fault)| *fault).collect();
        let server = Arc::new(Server {
            system: system.name.clone(),
            faults: Faults::new(&faults),
            dead: AtomicBool::new(false),
            timeout,
            sent: Arc::clone(&self.sent),
        });
        Box::new(SpoiledSite { inner: site, server })
    }
}

impl Provider for SpoiledProvider {
    fn check(&self, system: &System) -> Result<(), SystemError> {
        self.inner.check(system)
    }

    fn open(
        &self,
        system: &System,
        timeout: Duration,
        directory: &Path,
        template: Option<&Template>,
    ) -> Result<Box<dyn Site>, SiteError> {
        let site = self.inner.open(system, timeout, directory, template)?;
        Ok(self.spoil(system, timeout, site))
    }
}

/// A layer between sessions and the real database.
#[derive(Debug)]
struct Server {
    system: String,
    faults: Faults,
    dead: AtomicBool,
    timeout: Duration,
    sent: Arc<Sent>,
}

impl Server {
    fn is_dead(&self) -> bool {
        self.dead.load(Ordering::Relaxed)
    }

    /// Lets a statement through to `run`, or does to it what was ordered.
    fn pass(
        &self,
        sql: &str,
        run: impl FnOnce() -> Result<Done, SessionError>,
    ) -> Result<Done, SessionError> {
        let statement = || sql.chars().take(24).collect::<String>();
        if self.is_dead() {
            return Err(lost());
        }
        self.sent.add(&self.system, sql);
        let Some(trouble) = self.faults.of(sql) else {
            return run();
        };
        match trouble {
            Trouble::Dies => {
                self.dead.store(true, Ordering::Relaxed);
                Err(lost())
            }
            Trouble::Hangs => {
                std::thread::sleep(self.timeout);
                Err(SessionError::Timeout { limit: self.timeout, statement: statement() })
            }
            Trouble::Refuses { code, message } => Err(SessionError::Server {
                code: code.to_owned(),
                state: Box::default(),
                message: message.to_owned(),
                statement: statement(),
            }),
            // It was never run, and says that it was.
            Trouble::LosesRow => Ok(Done { affected: 1, ..Done::default() }),
            Trouble::Miscounts | Trouble::Unordered => run().map(|done| Done {
                rows: done.rows.saturating_sub(1),
                affected: done.affected.saturating_sub(1),
                ..done
            }),
            Trouble::Slow(longer) => {
                std::thread::sleep(longer);
                run()
            }
        }
    }
}

fn lost() -> SessionError {
    SessionError::Lost { cause: "the server closed the connection".to_owned() }
}

struct SpoiledConnector {
    inner: Arc<dyn Connector>,
    server: Arc<Server>,
}

impl Connector for SpoiledConnector {
    fn connect(&self) -> Result<Box<dyn Session>, SessionError> {
        if self.server.is_dead() {
            return Err(SessionError::Connect {
                address: "spoiled".to_owned(),
                cause: "connection refused".to_owned(),
            });
        }
        Ok(Box::new(SpoiledSession {
            inner: self.inner.connect()?,
            server: Arc::clone(&self.server),
            prepared: HashMap::new(),
        }))
    }

    fn is_hopeless(&self) -> bool {
        self.server.is_dead()
    }
}

struct SpoiledSession {
    inner: Box<dyn Session>,
    server: Arc<Server>,
    prepared: HashMap<u32, String>,
}

impl Session for SpoiledSession {
    fn query(&mut self, sql: &str, each: &mut dyn FnMut(&dyn Row)) -> Result<Done, SessionError> {
        let inner = &mut self.inner;
        self.server.pass(sql, || inner.query(sql, each))
    }

    fn prepare(&mut self, sql: &str, types: &[ParamType]) -> Result<StatementId, SessionError> {
        if self.server.is_dead() {
            return Err(lost());
        }
        let id = self.inner.prepare(sql, types)?;
        self.prepared.insert(id.0, sql.to_owned());
        Ok(id)
    }

    fn execute_prepared(
        &mut self,
        statement: StatementId,
        params: &[Param<'_>],
        each: &mut dyn FnMut(&dyn Row),
    ) -> Result<Done, SessionError> {
        let inner = &mut self.inner;
        let sql = self.prepared.get(&statement.0).map_or("", String::as_str);
        self.server.pass(sql, || inner.execute_prepared(statement, params, each))
    }

    fn info(&self) -> &SessionInfo {
        self.inner.info()
    }
}

struct SpoiledSite {
    inner: Box<dyn Site>,
    server: Arc<Server>,
}

impl SpoiledSite {
    fn spoiled(&self, inner: Arc<dyn Connector>) -> Arc<dyn Connector> {
        Arc::new(SpoiledConnector { inner, server: Arc::clone(&self.server) })
    }
}

impl Site for SpoiledSite {
    fn target(&self) -> Target {
        let target = self.inner.target();
        Target {
            connector: self.spoiled(target.connector),
            patient: self.spoiled(target.patient),
            ..target
        }
    }

    fn provenance(&self) -> Provenance {
        self.inner.provenance()
    }

    fn pid(&self) -> Option<u32> {
        self.inner.pid()
    }

    fn idle(&self) -> lab::Idle {
        self.inner.idle()
    }

    fn freeze(&mut self, told: &mut dyn FnMut()) -> Result<(), SiteError> {
        self.inner.freeze(told)
    }

    fn thaw(&mut self) -> Result<(), SiteError> {
        self.inner.thaw()
    }

    fn has_died(&self) -> bool {
        self.server.is_dead() || self.inner.has_died()
    }

    fn captures(&mut self) -> (Vec<Capture>, Vec<String>) {
        self.inner.captures()
    }

    fn sizes(&self) -> Option<Sizes> {
        self.inner.sizes()
    }

    fn log_tail(&self) -> Vec<String> {
        if self.server.is_dead() {
            vec!["spoiled: got signal 11".to_owned()]
        } else {
            self.inner.log_tail()
        }
    }

    fn crash_files(&self) -> Vec<PathBuf> {
        self.inner.crash_files()
    }

    fn stop(&mut self) -> Result<(), SiteError> {
        self.inner.stop()
    }

    fn move_data(&mut self, to: &Path) -> Result<(), SiteError> {
        self.inner.move_data(to)
    }

    fn remove(self: Box<Self>) -> Result<(), SiteError> {
        self.inner.remove()
    }
}
