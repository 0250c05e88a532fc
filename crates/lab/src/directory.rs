//! The lab's directory: results, instances, logs.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;

use model::{Bytes, Host, Plan, RunId};
use obtain::now;
use servers::PathError;
use store::{Merged, Store};

use crate::error::{LabError, Result};
use crate::template::{self, Shelf};

/// Templates may take this fraction of the lab's filesystem: one part of four.
const SHARE_OF_TEMPLATES: u64 = 4;

/// One lab: a directory with `lab.sqlite`, `instances/`, `templates/` and `logs/`.
#[derive(Debug)]
pub struct Lab {
    root: PathBuf,
    pub store: Store,
    /// How much of the disk templates may take; `None` for a quarter of the lab's filesystem.
    pub template_budget: Option<Bytes>,
    /// The directory in which this process counts its own instructions, if it runs under Valgrind.
    pub counts_in: Option<PathBuf>,
}

impl Lab {
    /// Opens the lab in `root`, making it where there is none.
    pub fn open(root: &Path) -> Result<Self> {
        let (root, file) = made(root)?;
        Ok(Self { store: Store::open(&file)?, root, template_budget: None, counts_in: None })
    }

    /// Opens the lab in `root` only to read its results, also while a run writes them. Neither creates nor migrates.
    pub fn open_to_read(root: &Path) -> Result<Self> {
        refuse_emptied(root)?;
        let store = Store::open_to_read(&root.join("lab.sqlite"))?;
        Ok(Self { root: root.to_owned(), store, template_budget: None, counts_in: None })
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    pub fn instances(&self) -> PathBuf {
        self.root.join("instances")
    }

    /// The command that runs this program so that it counts its own instructions, and the directory where it does.
    pub fn under_valgrind(&self) -> Result<(Command, PathBuf)> {
        let _lock = self.lock()?;
        let directory = self.root.join("counts");
        crate::site::remove_all(&directory)
            .and_then(|()| fs::create_dir(&directory))
            .map_err(PathError::of("create", &directory))?;
        let command = profiles::itself_under_valgrind(&directory).map_err(LabError::Count)?;
        Ok((command, directory))
    }

    /// The directory of logs and cores of failures.
    pub(crate) fn logs(&self) -> PathBuf {
        self.root.join("logs")
    }

    /// Takes the lab for a use of its instances outside of runs: a tryout, a question, a crash check.
    pub fn claim_instances(&self) -> Result<Claim> {
        let lock = self.lock()?;
        let (instances, swept) = self.sweep_instances()?;
        Ok(Claim { instances, logs: self.logs(), swept, _lock: lock })
    }

    /// The directory for instances, without what a killed process left, and a word on that. The lab must be locked.
    pub(crate) fn sweep_instances(&self) -> Result<(PathBuf, Vec<String>)> {
        let instances = self.instances();
        make_private(&instances, true).map_err(PathError::of("create", &instances))?;
        let mut told = Vec::new();
        for swept in servers::sweep(&instances) {
            if swept.how == servers::HowEnded::StillThere {
                return Err(LabError::Orphan { pid: swept.pid, directory: swept.directory });
            }
            told.push(format!(
                "backslide stopped a server of an earlier run that was still running: {} (process {})",
                swept.program.display(),
                swept.pid
            ));
        }
        told.extend(remove_leftovers(&instances));
        Ok((instances, told))
    }

    /// This host, as seen from the lab's disk.
    pub fn host(&self) -> Result<Host> {
        Ok(probes::identify(&self.root)?)
    }

    /// Journals a new run of `plan`. Says before anything starts when the plan does not fit on the disk.
    pub fn begin(&mut self, plan: &Plan, version: &str) -> Result<RunId> {
        let _lock = self.lock()?;
        let host = self.host()?;
        let mut needs = plan::estimate(plan);
        needs.disk.0 = needs.disk.0.saturating_sub(self.kept(plan)?.0);
        needs.fits(host.disk.free, &self.root.display().to_string())?;
        Ok(self.store.create_run(plan, &host, version, &now())?)
    }

    /// The same for a part of a plan that several labs measure; [`Self::merge`] joins the parts of a campaign.
    pub fn begin_part(&mut self, plan: &Plan, version: &str, campaign: &str) -> Result<RunId> {
        let Some(part) = plan.course.part else { return self.begin(plan, version) };
        check_parts(plan, part.of)?;
        let run = self.begin(plan, version)?;
        if let Err(error) = self.store.name_campaign(&run, campaign) {
            self.store.discard_run(&run)?;
            return Err(error.into());
        }
        Ok(run)
    }

    /// Merges labs into the one in `root`, which is made where it is missing.
    pub fn merge(root: &Path, labs: &[PathBuf]) -> Result<(Vec<Merged>, Vec<String>)> {
        let (root, file) = made(root)?;
        let lock = lock(&root)?;
        let stores: Vec<PathBuf> = labs.iter().map(|lab| lab.join("lab.sqlite")).collect();
        let merged = store::merge(&file, &stores)?;
        let told = Self::open(&root)?.count_false_alarms();
        drop(lock);
        Ok((merged, told))
    }

    pub(crate) fn shelf(&self) -> Result<Shelf> {
        let budget = match self.template_budget {
            Some(budget) => budget,
            None => Bytes(self.host()?.disk.size.0 / SHARE_OF_TEMPLATES),
        };
        Shelf::open(self.root.join("templates"), budget)
    }

    fn kept(&self, plan: &Plan) -> Result<Bytes> {
        if !plan.template {
            return Ok(Bytes(0));
        }
        let shelf = self.shelf()?;
        let keys = template::keys(plan)?;
        let kept = keys.iter().filter_map(|key| shelf.disk(key));
        Ok(Bytes(kept.map(|disk| disk.0).sum()))
    }

    pub(crate) fn lock(&self) -> Result<RunLock> {
        lock(&self.root)
    }
}

/// The directory of a lab, made where it is missing, and its store, which may be missing.
fn made(root: &Path) -> Result<(PathBuf, PathBuf)> {
    let root = std::path::absolute(root).map_err(PathError::of("find", root))?;
    let file = root.join("lab.sqlite");
    refuse_emptied(&root)?;
    make_private(&root, file.exists()).map_err(PathError::of("create", &root))?;
    Ok((root, file))
}

/// Is the store empty of a lab that was used? A new lab has neither reports nor logs.
fn refuse_emptied(root: &Path) -> Result<()> {
    let path = root.join("lab.sqlite");
    let is_empty = fs::metadata(&path).is_ok_and(|file| file.is_file() && file.len() == 0);
    let left = ["reports", "logs"].into_iter().find(|name| is_empty && root.join(name).is_dir());
    left.map_or(Ok(()), |left| Err(LabError::EmptyStore { path, left }))
}

fn lock(root: &Path) -> Result<RunLock> {
    let path = root.join("run.lock");
    let mut options = OpenOptions::new();
    options.create(true).truncate(false).read(true).write(true);
    let mut file = options.open(&path).map_err(PathError::of("open", &path))?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let mut owner = String::new();
            // The holder's name is only a hint; the lock itself counts.
            let _read = file.read_to_string(&mut owner);
            let owner = owner.trim().to_owned();
            return Err(LabError::Busy { path: root.to_owned(), owner });
        }
        Err(TryLockError::Error(cause)) => {
            return Err(PathError::of("lock", &path)(cause).into());
        }
    }
    file.set_len(0)
        .and_then(|()| file.rewind())
        .and_then(|()| write!(file, "{}", std::process::id()))
        .map_err(PathError::of("write", &path))?;
    Ok(RunLock { file })
}

/// Can several labs measure so many parts of a plan?
pub fn check_parts(plan: &Plan, parts: u32) -> Result<()> {
    let most = plan.planned_cycles();
    if parts > most {
        return Err(LabError::TooManyParts { parts, most });
    }
    if plan.course.first_look.is_some() {
        return Err(LabError::LooksInParts);
    }
    Ok(())
}

/// The lab, taken for a use of its instances. It is free again when this is dropped.
#[derive(Debug)]
pub struct Claim {
    pub(crate) instances: PathBuf,
    pub(crate) logs: PathBuf,
    /// Messages about remains of killed processes: ended servers, files that stay.
    pub swept: Vec<String>,
    _lock: RunLock,
}

impl Claim {
    pub(crate) fn instance(&self, kind: &str, tag: &str) -> (String, PathBuf) {
        let name = format!("{kind}{}{tag}", std::process::id());
        let directory = self.instances.join(&name);
        (name, directory)
    }
}

pub(crate) const TRYOUT: &str = "try-";
/// How the instances of systems begin that are only asked.
pub(crate) const ASKED: &str = "explain-";
/// How the instances of systems begin that are to crash.
pub(crate) const CRASHED: &str = "crash-";

/// Removes the instances that a killed process left, whose servers are ended. Reports what cannot be removed.
fn remove_leftovers(instances: &Path) -> Vec<String> {
    let entries = fs::read_dir(instances).into_iter().flatten().flatten();
    let leftovers = entries.filter(|entry| is_instance_name(&entry.file_name().to_string_lossy()));
    let failures = leftovers.filter_map(|entry| {
        let path = entry.path();
        let error = fs::remove_dir_all(&path).err()?;
        let path = path.display();
        Some(format!(
            "cannot remove {path}, which an earlier process left: {error}; remove it by hand"
        ))
    });
    failures.collect()
}

/// `r7-2-1` (run, round, position), `try-4711`, `explain-4711-a`, `crash-4711`.
fn is_instance_name(name: &str) -> bool {
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let of_process = [TRYOUT, ASKED, CRASHED].iter().any(|kind| {
        let process = name.strip_prefix(kind).and_then(|rest| rest.split('-').next());
        process.is_some_and(is_number)
    });
    let of_trial = name.strip_prefix('r').is_some_and(|numbers| {
        numbers.split('-').count() == 3 && numbers.split('-').all(is_number)
    });
    of_process || of_trial
}

/// Held while a run is under way; the kernel lets go of it when this process ends, however it ends.
#[derive(Debug)]
pub(crate) struct RunLock {
    file: File,
}

impl Drop for RunLock {
    /// A process that another thread is just starting has the file open, too, until its program is loaded.
    fn drop(&mut self) {
        // The end of this process repairs a failure here.
        let _unlocked = self.file.unlock();
    }
}

/// A directory that others may fill has it, such as `/tmp`; it is not ours to close.
const STICKY: u32 = 0o1000;

/// A lab of root may be entered, not listed: the account that runs `PostgreSQL` in its place has to reach its data.
fn open_to_others() -> u32 {
    if rustix::process::geteuid().is_root() { 0o011 } else { 0 }
}

/// Makes `directory`, and closes it to others if it is new or `is_lab`. Any other stays as open as it is.
fn make_private(directory: &Path, is_lab: bool) -> io::Result<()> {
    if let Some(parent) = directory.parent() {
        fs::create_dir_all(parent)?;
    }
    let made = DirBuilder::new().mode(0o700 | open_to_others()).create(directory);
    match made {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && directory.is_dir() => {
            if is_lab {
                close(directory);
            }
            Ok(())
        }
        made => made,
    }
}

fn close(directory: &Path) {
    let Ok(metadata) = fs::metadata(directory) else { return };
    let mode = metadata.mode() & 0o7777;
    let closed = mode & (0o700 | open_to_others());
    if mode & STICKY == 0 && mode != closed {
        // Another user's lab is for its owner to close.
        let _refused = fs::set_permissions(directory, Permissions::from_mode(closed));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_let_go_of_although_another_process_has_the_file_open() {
        let root = tempfile::tempdir().unwrap();
        let lab = Lab::open(root.path()).unwrap();
        let lock = lab.lock().unwrap();
        let inherited = lock.file.try_clone().unwrap();
        assert!(matches!(lab.lock(), Err(LabError::Busy { .. })));
        drop(lock);
        lab.lock().unwrap();
        drop(inherited);
    }

    #[test]
    fn an_empty_store_is_that_of_a_new_lab_only() {
        for (left, is_used) in [("instances", false), ("logs", true), ("reports", true)] {
            let root = tempfile::tempdir().unwrap();
            fs::create_dir(root.path().join(left)).unwrap();
            fs::write(root.path().join("lab.sqlite"), "").unwrap();
            assert_eq!(Lab::open(root.path()).is_err(), is_used, "{left}");
        }
    }

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().mode() & 0o7777
    }

    #[test]
    fn a_new_lab_and_one_that_is_there_are_closed_and_other_directories_are_not() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        let closed = 0o700 | open_to_others();
        make_private(&at("a/lab"), false).unwrap();
        assert_eq!(mode(&at("a/lab")), closed);
        for (name, is_lab, before, after) in [
            ("lab", true, 0o755, closed),
            ("closed", true, 0o700, 0o700),
            ("shared", true, 0o1777, 0o1777),
            ("other", false, 0o755, 0o755),
        ] {
            fs::create_dir(at(name)).unwrap();
            fs::set_permissions(at(name), Permissions::from_mode(before)).unwrap();
            make_private(&at(name), is_lab).unwrap();
            assert_eq!(mode(&at(name)), after, "{name}");
        }
        fs::write(at("file"), "").unwrap();
        assert!(make_private(&at("file"), true).is_err());
    }
}
