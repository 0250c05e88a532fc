//! Fake systems for the lab.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use lab::{Provider, Site, SiteError, SystemError, Template};
use load::Target;
use model::{
    Bytes, Capture, Counter, Dialect, Engine, Fact, Nanos, Provenance, Readings, Sizes, System,
    Version,
};
use probes::{Detail, Probe, ProbeError};

use crate::dbms::FakeDbms;
use crate::diary::Diary;
use crate::fault::Fault;

/// The file with a fake database's data, where it is kept.
const FILE: &str = "fake.tables";

/// The content of a fake database when it was closed or kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// Name of the instance's directory: run, round and position.
    pub instance: String,
    /// Name of the system.
    pub system: String,
    /// Rows of all tables.
    pub rows: usize,
    /// [`FakeDbms::checksum`].
    pub checksum: u64,
}

/// Makes fake systems, faulty where a test wants it.
#[derive(Debug, Default)]
pub struct FakeProvider {
    faults: Vec<(String, Fault)>,
    diary: Diary,
    held: Arc<Mutex<Vec<Held>>>,
    /// How often [`Provider::check`] was asked, of any system.
    checks: AtomicU64,
}

impl FakeProvider {
    /// The same, with something wrong with the system of this name.
    #[must_use]
    pub fn with(mut self, system: &str, fault: Fault) -> Self {
        self.faults.push((system.to_owned(), fault));
        self
    }

    /// The operations on its sites, in order.
    pub fn diary(&self) -> Diary {
        self.diary.clone()
    }

    /// The content of each database when it was closed or kept, in that order.
    pub fn held(&self) -> Vec<Held> {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.clone()
    }
}

impl Provider for FakeProvider {
    fn check(&self, system: &System) -> Result<(), SystemError> {
        let number = self.checks.fetch_add(1, Ordering::Relaxed) + 1;
        let changed = self.faults.iter().any(|(name, fault)| {
            *name == system.name && matches!(fault, Fault::Changed { from } if number >= *from)
        });
        if changed {
            let [was, now] = ["fake 1.0", "fake 2.0"].map(str::to_owned);
            return Err(SystemError::Changed { was, now });
        }
        Ok(())
    }

    fn open(
        &self,
        system: &System,
        timeout: Duration,
        directory: &Path,
        template: Option<&Template>,
    ) -> Result<Box<dyn Site>, SiteError> {
        let failed = |error: io::Error| SiteError::new(error.to_string());
        let faults = self.faults_of(system, directory)?;
        let (dbms, how) = match template {
            None => {
                fs::create_dir_all(directory).map_err(failed)?;
                (FakeDbms::new(&faults, timeout), "opened")
            }
            Some(template) => {
                servers::clone_tree(template.data(), directory)?;
                template.verify(directory)?;
                let saved = fs::read_to_string(directory.join(FILE)).map_err(failed)?;
                let dbms = FakeDbms::restore(&saved, &faults, timeout);
                (dbms.ok_or_else(|| SiteError::new("fake: corrupt tables"))?, "cloned")
            }
        };
        self.diary.note(format!("site of {} {how}", system.name));
        Ok(self.site(system, dbms, &faults, directory))
    }
}

impl FakeProvider {
    /// The fault of a starting system.
    fn faults_of(&self, system: &System, directory: &Path) -> Result<Vec<Fault>, SiteError> {
        let of_system = self.faults.iter().filter(|(name, _)| *name == system.name);
        let faults: Vec<Fault> = of_system.map(|(_, fault)| *fault).collect();
        if faults.contains(&Fault::NeverReady) {
            let log = vec!["fake: cannot allocate the buffer pool".to_owned()];
            let error = SiteError::with_log("fake did not answer within 2s", log);
            return Err(if faults.contains(&Fault::LeavesCore) {
                left_in(directory, error)
            } else {
                error
            });
        }
        Ok(faults)
    }

    /// Steal time of a system; `None` reads the host's own.
    fn thief(&self, faults: &[Fault], directory: &Path) -> Option<Thief> {
        let orders = |fault: &Fault| matches!(fault, Fault::Disturbed { .. });
        if !self.faults.iter().any(|(_, fault)| orders(fault)) {
            return None;
        }
        let round = round_of(directory);
        let is_robbed = |fault: &Fault| {
            let of_round = |rounds: &[u32]| round.is_some_and(|round| rounds.contains(&round));
            matches!(fault, Fault::Disturbed { rounds } if of_round(rounds))
        };
        // An hour is more than any host has in the time of a test.
        let hours = u64::from(faults.iter().any(is_robbed));
        Some(Thief { takes: Nanos::from_secs(hours * 3600).0, taken: 0 })
    }

    fn site(
        &self,
        system: &System,
        dbms: FakeDbms,
        faults: &[Fault],
        directory: &Path,
    ) -> Box<dyn Site> {
        Box::new(FakeSite {
            thief: self.thief(faults, directory),
            dbms,
            system: system.name.clone(),
            version: system.build.version.clone(),
            close_fails: faults.contains(&Fault::CloseFails),
            leaves_core: faults.contains(&Fault::LeavesCore),
            stopped: false,
            ends: "closed",
            directory: directory.to_owned(),
            diary: self.diary.clone(),
            held: Arc::clone(&self.held),
        })
    }
}

/// The round that an instance is of: `r1-3-2` is of round 3.
fn round_of(directory: &Path) -> Option<u32> {
    let name = directory.file_name()?.to_str()?;
    name.split('-').nth(1)?.parse().ok()
}

/// Stolen CPU time as a test orders it, in place of the host's.
#[derive(Clone, Copy, Debug)]
struct Thief {
    /// Nanoseconds from one reading to the next.
    takes: u64,
    taken: u64,
}

impl Probe for Thief {
    fn name(&self) -> &'static str {
        "thief"
    }

    fn read(&mut self, _: Detail) -> Result<Readings, ProbeError> {
        self.taken += self.takes;
        let mut readings = Readings::default();
        readings.total(Counter::HOST_STEAL, self.taken);
        Ok(readings)
    }
}

/// The core that a fake leaves.
const CORE: &str = "core";

/// The error of a fake that dies at its start, with its core in `directory`.
fn left_in(directory: &Path, error: SiteError) -> SiteError {
    let core = directory.join(CORE);
    let written = fs::create_dir_all(directory).and_then(|()| fs::write(&core, "memory"));
    match written {
        Ok(()) => SiteError {
            reason: format!("{}: its core is {}", error.reason, core.display()),
            files: vec![core],
            directory: Some(directory.to_owned()),
            ..error
        },
        Err(failure) => SiteError::new(failure.to_string()),
    }
}

struct FakeSite {
    /// Takes CPU time away, or keeps others from that.
    thief: Option<Thief>,
    dbms: FakeDbms,
    system: String,
    version: Version,
    close_fails: bool,
    leaves_core: bool,
    stopped: bool,
    /// The diary's line about its end.
    ends: &'static str,
    directory: PathBuf,
    diary: Diary,
    held: Arc<Mutex<Vec<Held>>>,
}

impl Site for FakeSite {
    fn target(&self) -> Target {
        Target {
            dialect: Dialect::Sqlite,
            engine: Engine::Btree,
            version: self.version.clone(),
            ours: true,
            connection: model::Connection::default(),
            connector: Arc::new(self.dbms.clone()),
            patient: Arc::new(self.dbms.clone()),
            load_hosts: None,
        }
    }

    fn provenance(&self) -> Provenance {
        Provenance(vec![(Fact::ServerVersion, "fake 1.0".to_owned())])
    }

    fn pid(&self) -> Option<u32> {
        None
    }

    fn idle(&self) -> lab::Idle {
        lab::Idle::Rests
    }

    fn probes(&self) -> Vec<Box<dyn Probe>> {
        let thief = self.thief.map(|thief| Box::new(thief) as Box<dyn Probe>);
        thief.into_iter().collect()
    }

    fn has_died(&self) -> bool {
        self.dbms.is_dead()
    }

    fn captures(&mut self) -> (Vec<Capture>, Vec<String>) {
        self.diary.note("site asked for its variables");
        let capture = Capture {
            name: "variables".to_owned(),
            columns: Vec::new(),
            rows: vec![vec![Some("system".to_owned()), Some(self.system.clone())]],
        };
        (vec![capture], Vec::new())
    }

    fn sizes(&self) -> Option<Sizes> {
        let data = Bytes(self.dbms.rows() as u64 * 100);
        Some(Sizes { data, total: data, allocated: data, ..Sizes::default() })
    }

    fn log_tail(&self) -> Vec<String> {
        self.dbms.log()
    }

    fn crash_files(&self) -> Vec<PathBuf> {
        let core = self.directory.join(CORE);
        if core.exists() { vec![core] } else { Vec::new() }
    }

    fn stop(&mut self) -> Result<(), SiteError> {
        if std::mem::replace(&mut self.stopped, true) {
            return Ok(());
        }
        if self.leaves_core {
            fs::write(self.directory.join(CORE), "memory")
                .map_err(|error| SiteError::new(error.to_string()))?;
        }
        if self.close_fails {
            let reason = "fake did not stop within 1s and was killed";
            return Err(SiteError::with_log(reason, self.dbms.log()));
        }
        Ok(())
    }

    fn move_data(&mut self, to: &Path) -> Result<(), SiteError> {
        self.ends = "kept";
        fs::create_dir(to)
            .and_then(|()| fs::write(to.join(FILE), self.dbms.save()))
            .map_err(|error| SiteError::new(error.to_string()))
    }

    fn remove(self: Box<Self>) -> Result<(), SiteError> {
        self.diary.note(format!("site of {} {}", self.system, self.ends));
        let instance = self.directory.file_name().unwrap_or_default();
        let held = Held {
            instance: instance.to_string_lossy().into_owned(),
            system: self.system.clone(),
            rows: self.dbms.rows(),
            checksum: self.dbms.checksum(),
        };
        let mut all = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        all.push(held);
        drop(all);
        fs::remove_dir_all(&self.directory).map_err(|error| SiteError::new(error.to_string()))
    }
}
