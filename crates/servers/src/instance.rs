//! A server of ours: its directory, its process, its end.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek, Write};
use std::path::{self, Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use model::{Build, BuildSource, Config, Engine, Nanos};
use rustix::process::Signal;
use rustix::thread::CpuSet;

use crate::account::RunAs;
use crate::cpus::cpu_set;
use crate::dbms::{CaptureQuery, Files, Init, InitCommand, Input, Layout, Product, product};
use crate::discover::plain_text;
use crate::error::ServerError;
use crate::identity::Identity;
use crate::installation::{Installation, find_program};
use crate::process::{Launch, Running};
use crate::record::{Record, claim};
use crate::socket::{self, SocketDirectory};
use crate::tail::Tail;

/// How long an initialisation may take.
const INIT_LIMIT: Duration = Duration::from_mins(5);

/// Lines of the log that an error carries.
const LOG_LINES: usize = 40;

/// How often a starting server is looked at.
const POLL: Duration = Duration::from_millis(10);

/// An instance to make.
#[derive(Clone, Debug)]
pub struct InstanceSpec {
    /// What runs; a build that was found on this machine.
    pub build: Build,
    /// The engine of the benchmark's tables.
    pub engine: Engine,
    /// Its settings.
    pub config: Config,
    /// Where it lives: a directory that does not exist, is empty, or was made by backslide before and is
    /// emptied then.
    pub directory: PathBuf,
    /// The CPUs of the server, as `0-3,8`; empty for those that the starting thread may use.
    pub server_cpus: String,
}

/// A server of ours. Dropping it kills the server and waits for its end; its directory stays.
#[derive(Debug)]
pub struct Instance {
    spec: InstanceSpec,
    product: &'static dyn Product,
    layout: Layout,
    run_as: RunAs,
    cpus: Option<CpuSet>,
    config_text: String,
    temporary: PathBuf,
    // Before the socket's directory, because fields are dropped in this order.
    running: Option<Running>,
    socket: SocketDirectory,
}

impl Instance {
    /// Makes the directory and initialises it. Nothing is started yet.
    ///
    /// Errors: a build or setting that cannot be used and a directory that is in use or not ours are
    /// found before anything is touched; a failed initialisation leaves its log in the directory.
    pub fn create(spec: InstanceSpec) -> Result<Self, ServerError> {
        Self::create_where(spec, works_in_namespace)
    }

    fn create_where(
        spec: InstanceSpec,
        namespace_works: impl FnOnce(&dyn Product, &Installation) -> bool,
    ) -> Result<Self, ServerError> {
        let (product, installation) = startable(&spec.build)?;
        check_engine(product, spec.engine)?;
        let cpus = cpu_set(&spec.server_cpus)?;
        let directory =
            path::absolute(&spec.directory).map_err(ServerError::io("find", &spec.directory))?;
        plain_text(&directory)?;
        let traits = product.traits();
        let run_as = RunAs::choose(
            traits.refuses_root,
            || namespace_works(product, &installation),
            &spec.build.id(),
        )?;
        run_as.check_reach(&directory)?;
        let socket = SocketDirectory::create(&directory, traits.socket, &socket::places(&run_as))?;
        plain_text(socket.path())?;
        let layout = Layout {
            installation,
            directory,
            socket: socket.path().join(traits.socket),
            as_root: run_as == RunAs::Ourselves && rustix::process::geteuid().is_root(),
        };
        let config_text = product
            .config(&spec.build, spec.engine, &spec.config.settings, &layout)
            .map_err(|cause| ServerError::Setting {
                config: spec.config.name.clone(),
                cause,
            })?;
        let init = product
            .init(&spec.build, &layout)
            .map_err(|cause| ServerError::Incomplete {
                build: spec.build.id(),
                cause,
            })?;
        let instance = Self {
            temporary: layout.temporary(),
            spec,
            product,
            layout,
            run_as,
            cpus,
            config_text,
            running: None,
            socket,
        };
        instance.prepare()?;
        instance.initialise(&init)?;
        Ok(instance)
    }

    /// Starts the server and waits until `ready` succeeds; returns how long that took.
    ///
    /// `ready` is called once the socket exists, again and again until it returns `Ok`: it logs in and
    /// asks something (a mere connection proves nothing: servers accept them before they serve, and MariaDB
    /// can then miss a request to stop). It bounds its own time. Errors (the server died, or is not ready within `limit`)
    /// carry the end of its log and the last error of `ready`; the server is killed then.
    ///
    /// The kernel kills the server when the calling *thread* ends, so that it cannot outlive a
    /// backslide that was killed: call this from a thread that lives as long as the server shall.
    pub fn start(
        &mut self,
        ready: &mut dyn FnMut() -> Result<(), String>,
        limit: Duration,
    ) -> Result<Nanos, ServerError> {
        let begin = Instant::now();
        self.launch()?;
        let outcome = self.wait_until_ready(ready, begin, limit);
        if outcome.is_err() {
            self.kill();
        }
        outcome.map(|()| begin.elapsed().into())
    }

    /// Asks the server to stop cleanly and waits for it; returns how long that took, zero if it did not
    /// run. A server that does not stop within `limit` is killed, and that is an error, as is one
    /// that had died before or that reports a failure as it stops.
    pub fn stop(&mut self, limit: Duration) -> Result<Nanos, ServerError> {
        let Some(mut running) = self.running.take() else {
            return Ok(Nanos::default());
        };
        let begin = Instant::now();
        let died_before = running.ended();
        let status = died_before.or_else(|| {
            running.signal(self.product.traits().stop);
            running.wait(limit)
        });
        let took = begin.elapsed();
        if status.is_none() {
            running.kill();
        }
        self.forget_server()?;
        let (build, directory) = (self.spec.build.id(), self.layout.directory.clone());
        let tail = Tail::read(&self.layout.log(), LOG_LINES);
        match status {
            Some(status) if died_before.is_some() => Err(ServerError::Died {
                build,
                directory,
                status: status.to_string(),
                tail,
            }),
            Some(status) if status.success() => Ok(took.into()),
            Some(status) => Err(ServerError::UncleanStop {
                build,
                directory,
                status: status.to_string(),
                tail,
            }),
            None => Err(ServerError::StopTimeout {
                build,
                directory,
                limit,
                tail,
            }),
        }
    }

    /// Ends the server and all its processes at once, as a crash would.
    pub fn kill(&mut self) {
        if let Some(mut running) = self.running.take() {
            running.kill();
            // The process is gone; what the record still says of it is harmless, because it is only ever
            // believed together with the start time.
            let _ = self.forget_server();
        }
    }

    /// Kills the server if it runs and removes the directory.
    pub fn remove(mut self) -> Result<(), ServerError> {
        self.kill();
        let directory = &self.layout.directory;
        fs::remove_dir_all(directory).map_err(ServerError::io("remove", directory))
    }

    /// The socket to connect to.
    pub fn endpoint_socket(&self) -> PathBuf {
        self.layout.socket.clone()
    }

    /// The user with all rights and no password.
    pub fn superuser(&self) -> &'static str {
        self.product.traits().superuser
    }

    /// A database that exists in every instance of this family.
    pub fn first_database(&self) -> &'static str {
        self.product.traits().first_database
    }

    /// Does the server's process run?
    pub fn is_alive(&self) -> bool {
        self.running
            .as_ref()
            .is_some_and(|running| running.identity().is_alive())
    }

    /// The server's process, from its start until it is stopped or killed.
    pub fn pid(&self) -> Option<u32> {
        Some(self.running.as_ref()?.identity().pid)
    }

    /// The last lines of the server's log, oldest first.
    pub fn log_tail(&self, lines: usize) -> Vec<String> {
        Tail::read(&self.layout.log(), lines).0
    }

    /// Where everything lies.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The configuration file that the server reads.
    pub fn config_text(&self) -> &str {
        &self.config_text
    }

    /// Which files hold tables, and which hold logs; relative to [`Layout::data`].
    pub fn files(&self) -> Files {
        self.product.files(self.spec.engine)
    }

    /// What to capture of its state before and after each step.
    pub fn captures(&self) -> Vec<CaptureQuery> {
        self.product
            .captures(&self.spec.build.version, self.spec.engine)
    }

    /// Takes the directory and puts the configuration file into it.
    fn prepare(&self) -> Result<(), ServerError> {
        let layout = &self.layout;
        claim(&layout.directory)?;
        self.write_record(None)?;
        fs::create_dir(&self.temporary).map_err(ServerError::io("create", &self.temporary))?;
        let config = layout.config();
        fs::write(&config, &self.config_text).map_err(ServerError::io("write", &config))?;
        [&layout.directory, &self.temporary, &config]
            .iter()
            .try_for_each(|path| self.run_as.give(path))
    }

    fn initialise(&self, init: &Init) -> Result<(), ServerError> {
        for directory in &init.directories {
            fs::create_dir_all(directory).map_err(ServerError::io("create", directory))?;
            self.run_as.give(directory)?;
        }
        init.commands
            .iter()
            .try_for_each(|command| self.initialise_by(command))
    }

    fn initialise_by(&self, command: &InitCommand) -> Result<(), ServerError> {
        let log = self.layout.init_log();
        let input = self.input_file(&command.input)?;
        let launch = self.launch_of(&command.program, &command.arguments, Signal::KILL);
        let mut running = launch
            .spawn(input, append(&log)?)
            .map_err(cannot_execute(&command.program))?;
        let status = running.wait(INIT_LIMIT);
        drop(running);
        let (build, directory) = (self.spec.build.id(), self.layout.directory.clone());
        match status {
            Some(status) if status.success() => Ok(()),
            Some(status) => Err(ServerError::InitFailed {
                build,
                directory,
                status: status.to_string(),
                tail: Tail::read(&log, LOG_LINES),
            }),
            None => Err(ServerError::InitTimeout {
                build,
                directory,
                limit: INIT_LIMIT,
                tail: Tail::read(&log, LOG_LINES),
            }),
        }
    }

    /// The pieces in one file that has no name any more when it is read: it is gone with its reader, and
    /// no one needs to write into a pipe that may block.
    fn input_file(&self, pieces: &[Input]) -> Result<Stdio, ServerError> {
        if pieces.is_empty() {
            return Ok(Stdio::null());
        }
        let path = self.layout.directory.join("init.sql");
        let write = || -> io::Result<File> {
            let mut file = File::options()
                .read(true)
                .write(true)
                .create_new(true)
                .open(&path)?;
            fs::remove_file(&path)?;
            for piece in pieces {
                match piece {
                    Input::Text(text) => file.write_all(text.as_bytes())?,
                    Input::File(source) => {
                        io::copy(&mut File::open(source)?, &mut file)?;
                    }
                }
            }
            file.rewind()?;
            Ok(file)
        };
        write()
            .map(Stdio::from)
            .map_err(ServerError::io("write", &path))
    }

    fn launch(&mut self) -> Result<(), ServerError> {
        if let Some(running) = &mut self.running
            && running.ended().is_none()
        {
            return Err(ServerError::AlreadyRunning {
                build: self.spec.build.id(),
                directory: self.layout.directory.clone(),
                pid: running.identity().pid,
            });
        }
        self.socket.renew()?;
        self.run_as.give(self.socket.path())?;
        let log = append(&self.layout.log())?;
        let arguments = self.product.start(&self.layout);
        let program = &self.layout.installation.program;
        let mut launch = self.launch_of(program, &arguments, self.product.traits().death);
        launch.cpus = self.cpus;
        let running = launch
            .spawn(Stdio::null(), log)
            .map_err(cannot_execute(program))?;
        self.write_record(Some(running.identity().clone()))?;
        self.running = Some(running);
        Ok(())
    }

    fn wait_until_ready(
        &mut self,
        ready: &mut dyn FnMut() -> Result<(), String>,
        begin: Instant,
        limit: Duration,
    ) -> Result<(), ServerError> {
        let mut last = "it has not opened its socket".to_owned();
        loop {
            if let Some(status) = self.running.as_mut().and_then(Running::ended) {
                return Err(self.died(status));
            }
            if self.layout.socket.exists() {
                match ready() {
                    Ok(()) => return Ok(()),
                    Err(error) => last = error,
                }
            }
            if begin.elapsed() >= limit {
                return Err(ServerError::NotReady {
                    build: self.spec.build.id(),
                    directory: self.layout.directory.clone(),
                    limit,
                    last,
                    tail: Tail::read(&self.layout.log(), LOG_LINES),
                });
            }
            thread::sleep(POLL);
        }
    }

    fn died(&self, status: ExitStatus) -> ServerError {
        ServerError::Died {
            build: self.spec.build.id(),
            directory: self.layout.directory.clone(),
            status: status.to_string(),
            tail: Tail::read(&self.layout.log(), LOG_LINES),
        }
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
            libraries: self.layout.installation.libraries.as_deref(),
            run_as: &self.run_as,
            cpus: None,
            death,
        }
    }

    /// The server is gone: so is its socket, and the record says so.
    fn forget_server(&self) -> Result<(), ServerError> {
        self.socket.remove();
        self.write_record(None)
    }

    fn write_record(&self, server: Option<Identity>) -> Result<(), ServerError> {
        let owner = Identity::of(std::process::id())
            .map_err(ServerError::io("read", Path::new("/proc/self/stat")))?;
        Record {
            dbms: self.spec.build.dbms,
            program: self.layout.installation.program.clone(),
            socket_directory: self.socket.path().to_owned(),
            owner,
            server,
        }
        .write(&self.layout.directory)
    }
}

/// The product of a build and its files, where it is one that can be started here.
fn startable(build: &Build) -> Result<(&'static dyn Product, Installation), ServerError> {
    let not_startable = || ServerError::NotStartable { build: build.id() };
    let product = product(build.dbms).ok_or_else(not_startable)?;
    match &build.source {
        BuildSource::Path(source)
        | BuildSource::Installed {
            directory: source, ..
        } => {
            let program = find_program(Path::new(source), &[product])?;
            Ok((
                product,
                Installation::around(&program, &product.traits().tree),
            ))
        }
        BuildSource::Embedded | BuildSource::Connect(_) => Err(not_startable()),
    }
}

fn check_engine(product: &dyn Product, engine: Engine) -> Result<(), ServerError> {
    let traits = product.traits();
    if traits.engines.contains(&engine) {
        return Ok(());
    }
    let offered: Vec<&str> = traits.engines.iter().map(|engine| engine.name()).collect();
    Err(ServerError::Engine {
        dbms: traits.dbms,
        engine,
        offered: offered.join(" or "),
    })
}

/// Whether the kernel, its limits and a container around us let a server run in a user namespace cannot
/// be known without trying: the server is asked for its version there.
fn works_in_namespace(product: &dyn Product, installation: &Installation) -> bool {
    let version = product.traits().version_arguments;
    let arguments: Vec<String> = version.iter().map(ToString::to_string).collect();
    let launch = Launch {
        program: &installation.program,
        arguments: &arguments,
        directory: Path::new("/"),
        temporary: None,
        libraries: installation.libraries.as_deref(),
        run_as: &RunAs::Namespace,
        cpus: None,
        death: Signal::KILL,
    };
    OpenOptions::new()
        .write(true)
        .open("/dev/null")
        .and_then(|output| launch.spawn(Stdio::null(), output))
        .ok()
        .and_then(|mut running| running.wait(Duration::from_secs(10)))
        .is_some_and(|status| status.success())
}

fn append(path: &Path) -> Result<File, ServerError> {
    File::options()
        .create(true)
        .append(true)
        .open(path)
        .map_err(ServerError::io("write", path))
}

fn cannot_execute(program: &Path) -> impl FnOnce(io::Error) -> ServerError + use<> {
    let program = program.to_owned();
    move |cause| ServerError::CannotExecute { program, cause }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    use model::Dbms;

    use super::*;

    #[test]
    fn where_namespaces_are_forbidden_root_runs_postgres_as_another_account() {
        let postgres = crate::discover()
            .into_iter()
            .find(|build| build.dbms == Dbms::Postgres);
        let (Some(build), true) = (postgres, rustix::process::geteuid().is_root()) else {
            eprintln!("skipped: no server, or not root");
            return;
        };
        let root = tempfile::tempdir_in("/tmp").unwrap();
        let create = || {
            let spec = InstanceSpec {
                build: build.clone(),
                engine: Engine::Heap,
                config: Config {
                    left_out: Vec::new(),
                    name: "c".to_owned(),
                    summary: String::new(),
                    settings: Vec::new(),
                },
                directory: root.path().join("x"),
                server_cpus: String::new(),
            };
            Instance::create_where(spec, |_, _| false)
        };
        fs::set_permissions(root.path(), fs::Permissions::from_mode(0o700)).unwrap();
        let error = create().unwrap_err();
        assert!(
            matches!(error, ServerError::NotTraversable { .. }),
            "{error}"
        );

        fs::set_permissions(root.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let mut server = create().unwrap();
        let log = server.layout().log();
        let mut ready = || match fs::read_to_string(&log) {
            Ok(text) if text.contains("ready to accept connections") => Ok(()),
            other => Err(format!("{other:?}")),
        };
        server.start(&mut ready, Duration::from_mins(1)).unwrap();
        let process = format!("/proc/{}", server.pid().unwrap());
        assert_ne!(fs::metadata(process).unwrap().uid(), 0);
        assert!(server.endpoint_socket().exists());
        server.stop(Duration::from_mins(1)).unwrap();
        server.remove().unwrap();
    }
}
