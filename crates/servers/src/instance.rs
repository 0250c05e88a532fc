//! A server of ours: its directory, its process, its end.

mod examine;
mod initialise;
mod run;

use std::fs::{self, File, OpenOptions, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{self, Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use model::{Build, BuildSource, Cause, Engine, Nanos, System};
use rustix::process::Signal;
use rustix::thread::CpuSet;

use crate::account::RunAs;
use crate::certificate;
use crate::clone::Cloned;
use crate::cpus::cpu_set;
use crate::crash;
use crate::dbms::{
    DATA, Family, Files, INIT_LOG, Layout, check_settings, engine_lines, family, files, uses_tcp,
};
use crate::discover::plain_text;
use crate::error::{Fault, Result, ServerError};
use crate::freeze::FreezeError;
use crate::identity::Identity;
use crate::installation::{Installation, find_preload, find_program};
use crate::maps::Mapped;
use crate::process::ServerProcess;
use crate::process::{Launch, Running};
use crate::record::{Record, claim};
use crate::socket::{SocketDirectory, any_port, is_taken, places};
use crate::tail::{Leading, Tail, last_lines};

const LOG_LINES: usize = 40;

/// Set by another thread to give up the waits of an instance: for its initialisation, its start, its stop.
pub type StopFlag = Arc<AtomicBool>;

/// TCP ports that a server is given to try, each because another process has taken the one before.
const PORTS: u32 = 4;

/// Asks the server for something; the error says why it does not answer yet.
pub type Ready<'a> = dyn FnMut() -> Result<(), Cause> + 'a;

#[derive(Clone, Debug)]
pub struct InstanceSpec {
    /// What runs, and how: a build that was found on this machine.
    pub system: System,
    /// Where it lives: a directory that does not exist, is empty, or was made by backslide before and is
    /// emptied then.
    pub directory: PathBuf,
}

/// A server of ours. Dropping it kills the server and waits for its end; its directory stays.
#[derive(Debug)]
pub struct Instance {
    system: System,
    family: &'static dyn Family,
    layout: Layout,
    run_as: RunAs,
    cpus: Option<CpuSet>,
    stop: StopFlag,
    config_text: String,
    temporary: PathBuf,
    preload: Option<PathBuf>,
    /// Bytes of the log that earlier starts left.
    log_start: u64,
    /// What [`crash::oom_kills`] said before its last start.
    oom_kills: Option<u64>,
    /// Has the server listened on its TCP port, so that others know it?
    port_is_known: bool,
    // Before the socket's directory, because fields are dropped in this order.
    running: Option<Running>,
    socket: SocketDirectory,
}

impl Instance {
    /// Makes the directory and initialises it. Nothing is started yet.
    ///
    /// Errors: a build or setting that cannot be used and a directory that is in use or not ours are
    /// found before anything is touched; an initialisation that failed or took too long leaves its log in
    /// the directory, and any other error leaves nothing. If `stop` is set, this, and every later wait for
    /// the server, ends with [`Fault::Interrupted`], and the server is killed.
    pub fn create(spec: InstanceSpec, stop: StopFlag) -> Result<Self> {
        Self::create_where(spec, stop, works_in_namespace)
    }

    /// The configuration file and the arguments that an instance would have; nothing stays of it. Its
    /// socket has a directory of its own at each start, and its TCP port is any that is free.
    pub fn preview(spec: InstanceSpec) -> Result<(String, Vec<String>)> {
        let instance = Self::lay_out(spec, StopFlag::default(), works_in_namespace)?;
        let arguments = instance.family.start(&instance.layout);
        Ok((instance.config_text.clone(), arguments))
    }

    /// Makes the directory with a clone of `data`, which was the data directory of a server of this build
    /// that stopped cleanly. Nothing is initialised, nothing is started yet; what the server writes of
    /// itself into its data directory, such as its UUID, is cloned too.
    ///
    /// Errors are those of [`Instance::create`]; a clone that fails leaves nothing.
    pub fn create_from(spec: InstanceSpec, data: &Path, stop: StopFlag) -> Result<(Self, Cloned)> {
        let instance = Self::lay_out(spec, stop, works_in_namespace)?;
        instance.prepare()?;
        let cloned = instance.adopt(data);
        if cloned.is_err() {
            instance.clear();
        }
        cloned.map(|cloned| (instance, cloned))
    }

    fn create_where(
        spec: InstanceSpec,
        stop: StopFlag,
        namespace_works: impl FnOnce(&Build, &Installation) -> bool,
    ) -> Result<Self> {
        let instance = Self::lay_out(spec, stop, namespace_works)?;
        let init = instance
            .family
            .init(&instance.system, &instance.layout)
            .map_err(|cause| ServerError::Incomplete { build: instance.build(), cause })?;
        instance.prepare()?;
        instance.initialise(&init).inspect_err(|error| {
            if !error.is_of_initialisation() {
                instance.clear();
            }
        })?;
        Ok(instance)
    }

    /// Finds out everything about the instance; all that it makes is the directory of its socket.
    fn lay_out(
        spec: InstanceSpec,
        stop: StopFlag,
        namespace_works: impl FnOnce(&Build, &Installation) -> bool,
    ) -> Result<Self> {
        let InstanceSpec { system, directory } = spec;
        let (family, installation) = startable(&system.build)?;
        check_engine(&system.build, system.engine, &installation)?;
        let preload = find_preload(&system.preload, &installation)?;
        let cpus = cpu_set(&system.cpus.server)?;
        let directory = path::absolute(&directory).map_err(ServerError::io("find", &directory))?;
        plain_text(&directory)?;
        let traits = family.traits();
        let run_as = RunAs::choose(
            traits.refuses_root,
            || namespace_works(&system.build, &installation),
            &system.build.id(),
        )?;
        run_as.check_reach(&directory)?;
        run_as.check_program(&installation.program)?;
        let socket = SocketDirectory::create(&directory, traits.socket, &places(&run_as))?;
        plain_text(&socket.path)?;
        let layout = Layout {
            installation,
            directory,
            socket: socket.path.join(traits.socket),
            port: uses_tcp(&system).then(|| free_port(&system.build)).transpose()?,
            as_root: run_as == RunAs::Ourselves && rustix::process::geteuid().is_root(),
        };
        check_settings(&system)
            .map_err(|cause| ServerError::Setting { config: system.config.name.clone(), cause })?;
        let config_text = family.config(&system, &layout);
        Ok(Self {
            temporary: layout.temporary(),
            system,
            family,
            layout,
            run_as,
            cpus,
            stop,
            config_text,
            preload,
            log_start: 0,
            oom_kills: crash::oom_kills(),
            port_is_known: false,
            running: None,
            socket,
        })
    }

    /// Starts the server and waits until `ready` succeeds; returns how long that took.
    ///
    /// `ready` is called once the socket exists, again and again until it returns `Ok`: it logs in and
    /// asks something (a mere connection proves nothing: servers accept them before they serve). It
    /// bounds its own time. Errors carry the end of the server's log, and it is killed then: it died, it is
    /// not ready within `limit` (with the last error of `ready`), or it runs without the library to
    /// preload or without the huge pages that were asked for. A TCP port that another process has taken
    /// in the meantime is exchanged for another one at the first start.
    ///
    /// The kernel kills the server when the calling *thread* ends, so that it cannot outlive a
    /// backslide that was killed: call this from a thread that lives as long as the server shall.
    pub fn start(&mut self, ready: &mut Ready<'_>, limit: Duration) -> Result<Nanos> {
        let mut outcome = self.attempt(ready, limit);
        for _ in 1..PORTS {
            if outcome.is_ok() || self.stop.load(Ordering::Relaxed) || !self.has_lost_its_port() {
                break;
            }
            self.layout.port = Some(free_port(&self.system.build)?);
            outcome = self.attempt(ready, limit);
        }
        self.port_is_known |= outcome.is_ok();
        outcome
    }

    fn attempt(&mut self, ready: &mut Ready<'_>, limit: Duration) -> Result<Nanos> {
        let begin = Instant::now();
        self.launch()?;
        let outcome = self
            .wait_until_ready(ready, begin, limit)
            .map(|()| begin.elapsed())
            .and_then(|took| self.check_made_of().map(|()| took));
        if outcome.is_err() {
            self.kill();
        }
        outcome.map(Nanos::from)
    }

    /// Did another process take the port before the server, which is gone, could? Once others know the
    /// port, the server gets no other one.
    fn has_lost_its_port(&self) -> bool {
        !self.port_is_known && self.layout.port.is_some_and(is_taken)
    }

    /// Asks the server to stop cleanly and waits for it; returns how long that took, zero if it did not
    /// run. A server that does not stop within `limit` is killed, and that is an error, as is one
    /// that had died before or that reports a failure as it stops.
    pub fn stop(&mut self, limit: Duration) -> Result<Nanos> {
        let Some(mut running) = self.running.take() else {
            return Ok(Nanos::default());
        };
        let begin = Instant::now();
        // A large server that dies takes its time until it can be reaped.
        let died_before = !running.identity.is_alive();
        if !died_before {
            running.signal(self.family.traits().stop);
        }
        let status = self.wait_for_end(&mut running, limit);
        let took = begin.elapsed();
        if status.is_none() {
            running.kill();
        }
        self.forget_server()?;
        if status.is_none() && self.stop.load(Ordering::Relaxed) {
            return Err(self.faulty(Fault::Interrupted, Tail::default()));
        }
        let tail = self.tail(Leading::Latest);
        let fault = match status {
            Some(status) if died_before || crash::is_crash(status, tail.lines()) => {
                Fault::Died(self.how_ended(status, &tail))
            }
            Some(status) if status.success() => return Ok(took.into()),
            Some(status) => Fault::UncleanStop(status),
            None => Fault::StopTimeout(limit),
        };
        Err(self.faulty(fault, tail))
    }

    /// Ends the server and all its processes without waiting for what it still has to write. A family that
    /// has a signal for that gets it first, so that it ends its own processes.
    pub fn kill(&mut self) {
        self.end_with(Running::kill);
    }

    /// Ends the server and all its processes with SIGKILL, all at once, as a crash would: none of them gets
    /// to do anything more. What they had given to the kernel stays.
    pub fn crash(&mut self) {
        self.end_with(Running::crash);
    }

    /// Holds the server still, with all processes that it started: it does nothing and costs nothing until
    /// [`Instance::thaw`]. Stopping, killing and dropping it thaw it. `told` is called when the kernel has been told:
    /// then only those processes go on that wait in the kernel, usually for a disk.
    pub fn freeze(&mut self, told: impl FnOnce()) -> Result<(), FreezeError> {
        match &mut self.running {
            Some(running) => running.freeze(told),
            None => Err(FreezeError::NotStarted),
        }
    }

    pub fn thaw(&mut self) -> Result<(), FreezeError> {
        self.running.as_mut().map_or(Ok(()), Running::thaw)
    }

    fn end_with(&mut self, end: impl FnOnce(&mut Running)) {
        if let Some(mut running) = self.running.take() {
            end(&mut running);
            // The process is gone; what the record still says of it is harmless, because it is only ever
            // believed together with the start time.
            let _ = self.forget_server();
        }
    }

    /// Kills the server if it runs and removes the directory.
    pub fn remove(mut self) -> Result<()> {
        self.kill();
        self.remove_directory()
    }

    pub fn endpoint_socket(&self) -> PathBuf {
        self.layout.socket.clone()
    }

    /// The TCP port of 127.0.0.1 on which the server listens besides its socket, the same after each start;
    /// `None` where it listens on its socket alone.
    ///
    /// Nobody can log in there until the caller gives the product's `tcp_user` a password, over the socket:
    /// PostgreSQL's has to get one, MySQL's and MariaDB's has to be made. The server starts with no other account for TCP.
    pub fn port(&self) -> Option<u16> {
        self.layout.port
    }

    /// The user with all rights and no password, for the socket.
    pub fn superuser(&self) -> &'static str {
        &self.system.build.dbms.product().server.superuser
    }

    /// A database that exists in every instance of this family.
    pub fn first_database(&self) -> &'static str {
        &self.system.build.dbms.product().server.first_database
    }

    pub fn is_alive(&self) -> bool {
        self.running.as_ref().is_some_and(|running| running.identity.is_alive())
    }

    /// The server's process, from its start until it is stopped or killed.
    pub fn pid(&self) -> Option<u32> {
        Some(self.running.as_ref()?.identity.pid)
    }

    /// The server's process, to ask whether it still runs; `None` where none was started.
    pub fn process(&self) -> Option<ServerProcess> {
        Some(ServerProcess {
            identity: self.running.as_ref()?.identity.clone(),
            death: self.family.traits().death,
        })
    }

    /// The last lines of the server's log, oldest first.
    pub fn log_tail(&self, lines: usize) -> Vec<String> {
        last_lines(&self.layout.log(), lines)
    }

    /// What explains a crash and goes with the directory: cores, and the server's whole log.
    pub fn crash_files(&self) -> Vec<PathBuf> {
        crash::files(&self.core_places(), self.layout.log())
    }

    /// What the running server is made of: its program, the libraries that it maps, its allocator. Of
    /// PostgreSQL the postmaster's, which its other processes inherit.
    pub fn mapped(&self) -> Result<Mapped> {
        let pid = self.pid().ok_or_else(|| self.faulty(Fault::NotRunning, Tail::default()))?;
        Mapped::of(pid, self.preload.as_deref())
            .map_err(ServerError::io("read", Path::new(&format!("/proc/{pid}"))))
    }

    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    pub fn config_text(&self) -> &str {
        &self.config_text
    }

    /// Which files hold tables, and which hold logs; relative to [`Layout::data`].
    pub fn files(&self) -> Files {
        files(&self.system.build, self.system.engine)
    }

    fn build(&self) -> String {
        self.system.build.id()
    }

    /// Takes the directory and puts the configuration file into it.
    fn prepare(&self) -> Result<()> {
        claim(&self.layout.directory)?;
        self.furnish().inspect_err(|_| self.clear())
    }

    /// Removes what there is of an instance that cannot be made: the error tells why, and the rest would
    /// only take up the disk.
    fn clear(&self) {
        let _leftover = fs::remove_dir_all(&self.layout.directory);
    }

    /// Puts what the server needs into the directory, which is ours.
    fn furnish(&self) -> Result<()> {
        let layout = &self.layout;
        self.write_record(None)?;
        fs::create_dir(&self.temporary).map_err(ServerError::io("create", &self.temporary))?;
        self.write(&layout.config(), &self.config_text)?;
        self.run_as.give(&layout.directory)?;
        self.run_as.give(&self.temporary)?;
        // Its owner's alone, however open the directories around it are.
        fs::set_permissions(&layout.directory, Permissions::from_mode(0o700))
            .map_err(ServerError::io("change the mode of", &layout.directory))?;
        if layout.port.is_some() {
            let (path, text) = self.family.access(&self.system.build, layout);
            self.write(&path, &text)?;
        }
        self.prepare_tls()
    }

    /// Writes a file of the server's own.
    fn write(&self, path: &Path, text: &str) -> Result<()> {
        fs::write(path, text).map_err(ServerError::io("write", path))?;
        self.run_as.give(path)
    }

    /// The certificate and its key, where sessions may be encrypted.
    fn prepare_tls(&self) -> Result<()> {
        if !self.system.connection.tls {
            return Ok(());
        }
        let (certificate, key) = (self.layout.certificate(), self.layout.key());
        certificate::make(&certificate, &key)
            .map_err(|cause| ServerError::Certificate { build: self.build(), cause })?;
        self.run_as.give(&certificate)?;
        self.run_as.give(&key)
    }

    fn launch_of<'a>(
        &'a self,
        program: &'a Path,
        arguments: &'a [String],
        death: Signal,
    ) -> Launch<'a> {
        Launch {
            program,
            arguments,
            directory: &self.layout.directory,
            temporary: Some(&self.temporary),
            run_as: &self.run_as,
            death,
            ..Launch::question(&self.layout.installation, self.system.build.dbms.product())
        }
    }

    /// The server is gone: so is its socket, and the record says so.
    fn forget_server(&self) -> Result<()> {
        self.socket.remove();
        self.write_record(None)
    }

    fn write_record(&self, server: Option<Identity>) -> Result<()> {
        let owner = Identity::of(std::process::id())
            .map_err(ServerError::io("read", Path::new("/proc/self/stat")))?;
        Record {
            dbms: self.system.build.dbms,
            program: self.layout.installation.program.clone(),
            socket_directory: self.socket.path.clone(),
            owner,
            server,
        }
        .write(&self.layout.directory)
    }
}

/// What explains a failed initialisation in `directory`, and goes with it: cores, and what it printed.
pub fn left_by_init(directory: &Path) -> Vec<PathBuf> {
    crash::files(&[directory.to_owned(), directory.join(DATA)], directory.join(INIT_LOG))
}

fn free_port(build: &Build) -> Result<u16> {
    any_port().map_err(|cause| ServerError::NoPort { build: build.id(), cause })
}

/// The product of a build and its files, where it is one that can be started here.
fn startable(build: &Build) -> Result<(&'static dyn Family, Installation)> {
    if let Some(family) = family(build.dbms)
        && let BuildSource::Path(source) | BuildSource::Installed { directory: source, .. } =
            &build.source
    {
        let program = find_program(Path::new(source), &[build.dbms])?;
        return Ok((family, Installation::around(&program, build.dbms.product())));
    }
    Err(ServerError::NotStartable { build: build.id() })
}

fn check_engine(build: &Build, engine: Engine, installation: &Installation) -> Result<()> {
    if engine.fits(build.dbms) {
        return Ok(engine_lines(build, engine, installation).map(drop)?);
    }
    let engines = build.dbms.product().engines.iter();
    let offered: Vec<&str> = engines.map(|engine| engine.name()).collect();
    Err(ServerError::Engine {
        dbms: build.dbms,
        engine,
        offered: match offered.split_last() {
            Some((last, others)) if !others.is_empty() => {
                format!("{} or {last}", others.join(", "))
            }
            _ => offered.concat(),
        },
    })
}

/// Whether the kernel, its limits and a container around us let a server run in a user namespace cannot
/// be known without trying: the server is asked for its version there.
fn works_in_namespace(build: &Build, installation: &Installation) -> bool {
    let mut launch = Launch::question(installation, build.dbms.product());
    launch.run_as = &RunAs::Namespace;
    OpenOptions::new()
        .write(true)
        .open("/dev/null")
        .and_then(|output| launch.spawn(Stdio::null(), output))
        .ok()
        .and_then(|mut running| running.wait(Duration::from_secs(10)))
        .is_some_and(|status| status.success())
}

fn append(path: &Path) -> Result<File> {
    File::options().create(true).append(true).open(path).map_err(ServerError::io("write", path))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;

    use model::Dbms;

    use super::*;

    #[test]
    fn where_namespaces_are_forbidden_root_runs_postgres_as_another_account() {
        let postgres = crate::discover().into_iter().find(|build| build.dbms == Dbms::Postgres);
        let Some(build) = postgres else { return testkit::skipped("no server") };
        if !rustix::process::geteuid().is_root() {
            eprintln!("skipped: not root");
            return;
        }
        let root = tempfile::tempdir_in("/tmp").unwrap();
        let spec = || InstanceSpec {
            system: System::new("c", build.clone()),
            directory: root.path().join("x"),
        };
        let create = || Instance::create_where(spec(), StopFlag::default(), |_, _| false);
        fs::set_permissions(root.path(), Permissions::from_mode(0o700)).unwrap();
        let error = create().unwrap_err();
        assert!(matches!(error, ServerError::NotTraversable { .. }), "{error}");

        fs::set_permissions(root.path(), Permissions::from_mode(0o755)).unwrap();
        let mut server = create().unwrap();
        let log = server.layout().log();
        let mut ready = || match fs::read_to_string(&log) {
            Ok(text) if text.contains("ready to accept connections") => Ok(()),
            other => Err(format!("{other:?}").into()),
        };
        server.start(&mut ready, Duration::from_mins(1)).unwrap();
        let process = format!("/proc/{}", server.pid().unwrap());
        assert_ne!(fs::metadata(process).unwrap().uid(), 0);
        assert!(server.endpoint_socket().exists());
        server.stop(Duration::from_mins(1)).unwrap();

        // A clone is that account's own as well.
        let template = root.path().join("template");
        fs::rename(server.layout().data(), &template).unwrap();
        server.remove().unwrap();
        let clone = Instance::lay_out(spec(), StopFlag::default(), |_, _| false).unwrap();
        clone.prepare().unwrap();
        clone.adopt(&template).unwrap();
        let version = clone.layout().data().join("PG_VERSION");
        assert_ne!(fs::metadata(version).unwrap().uid(), 0);
        clone.remove().unwrap();
    }
}
