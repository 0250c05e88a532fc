//! Servers of a test: where they are, and how one is started.

use std::ffi::OsStr;
use std::fs::{File, Permissions};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use drivers::{Address, Login, PostgresSession, ServerEndpoint};

use crate::PATIENT;

/// The programs of a server.
#[derive(Clone, Debug)]
pub(crate) struct Installation {
    bin: PathBuf,
    version: String,
}

/// The distribution's own installation, and the oldest and newest that backslide has installed for
/// this user; fewer where they are the same version, or not there.
pub(crate) fn installations() -> Vec<Installation> {
    let depot = testkit::depot().map(|depot| depot.join("trees"));
    let mut found = installations_in(Path::new("/usr/lib/postgresql"));
    let mut installed = depot.map_or_else(Vec::new, |depot| installations_in(&depot));
    found.drain(..found.len().saturating_sub(1));
    if installed.len() > 2 {
        installed.drain(1..installed.len() - 1);
    }
    found.extend(installed);
    found.sort_by_key(Installation::order);
    found.dedup_by_key(|installation| installation.version.clone());
    found
}

/// Those in the directories of `place`, from old to new.
fn installations_in(place: &Path) -> Vec<Installation> {
    let mut found: Vec<Installation> = std::fs::read_dir(place)
        .into_iter()
        .flatten()
        .filter_map(|entry| installation(entry.ok()?.path().join("bin")))
        .collect();
    found.sort_by_key(Installation::order);
    found
}

impl Installation {
    fn order(&self) -> (u32, String) {
        (major(&self.version), self.version.clone())
    }
}

fn installation(bin: PathBuf) -> Option<Installation> {
    bin.join("initdb").exists().then_some(())?;
    let output = Command::new(bin.join("postgres")).arg("--version").output().ok()?;
    // `postgres (PostgreSQL) 15.20 (Debian 15.20-0+deb12u1)`
    let said = String::from_utf8(output.stdout).ok()?;
    let version = said.split_whitespace().nth(2)?.to_owned();
    Some(Installation { bin, version })
}

/// A server in a directory of its own, on a Unix socket and on TCP; stopped when dropped.
pub(crate) struct Server {
    pub(crate) version: String,
    /// Has it a certificate, and so TLS?
    pub(crate) has_tls: bool,
    dir: tempfile::TempDir,
    port: u16,
    process: Child,
}

impl Server {
    /// Starts a server; `None` when this machine does not let it. Its certificate is of one kind for
    /// an even index and of another for an odd one.
    pub(crate) fn start(installation: &Installation, index: usize) -> Option<Self> {
        if !unprivileged("true").output().is_ok_and(|run| run.status.success()) {
            testkit::skipped("no server (it refuses root, and no user namespace can be had)");
            return None;
        }
        let dir = tempfile::tempdir().unwrap();
        let data = dir.path().join("data");
        let log = || File::create(dir.path().join("log")).unwrap();
        let initialised = unprivileged(installation.bin.join("initdb"))
            .args(["-U", "postgres", "-A", "trust", "-E", "UTF8"])
            .args(["--locale=C", "-N", "-D"])
            .arg(&data)
            .stdout(Stdio::null())
            .stderr(log())
            .status()
            .unwrap();
        assert!(initialised.success(), "{}", read_log(dir.path()));
        std::fs::write(data.join("pg_hba.conf"), who_may_log_in(&installation.version)).unwrap();
        let has_tls = make_certificate(&data, index);
        let port = free_port();
        let process = unprivileged(installation.bin.join("postgres"))
            .args(["-c", "listen_addresses=127.0.0.1", "-c", "fsync=off"])
            .arg("-p")
            .arg(port.to_string())
            .arg("-k")
            .arg(dir.path())
            .arg("-D")
            .arg(&data)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log())
            .spawn()
            .unwrap();
        let server = Self { version: installation.version.clone(), has_tls, dir, port, process };
        server.wait_until_ready();
        Some(server)
    }

    fn wait_until_ready(&self) {
        let start = Instant::now();
        while let Err(error) = PostgresSession::open(&self.connector("postgres", "", PATIENT)) {
            assert_eq!(error.code(), "connect", "{error}");
            assert!(start.elapsed() < PATIENT, "{}", read_log(self.dir.path()));
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// On the Unix socket.
    pub(crate) fn connector(
        &self,
        user: &str,
        password: &str,
        timeout: Duration,
    ) -> ServerEndpoint {
        let socket = self.dir.path().join(format!(".s.PGSQL.{}", self.port));
        ServerEndpoint::plain(Address::Socket(socket), login(user, password), timeout)
    }

    /// On TCP, encrypted or not.
    pub(crate) fn tcp(&self, user: &str, password: &str, tls: bool) -> ServerEndpoint {
        let address = Address::Tcp { host: "127.0.0.1".to_owned(), port: self.port };
        ServerEndpoint { tls, ..ServerEndpoint::plain(address, login(user, password), PATIENT) }
    }

    pub(crate) fn session(&self) -> PostgresSession {
        PostgresSession::open(&self.connector("postgres", "", PATIENT)).unwrap()
    }

    /// A session that describes each portal.
    pub(crate) fn describing(&self) -> PostgresSession {
        let socket = self.dir.path().join(format!(".s.PGSQL.{}", self.port));
        let server = ServerEndpoint::plain(Address::Socket(socket), login("postgres", ""), PATIENT);
        let describe = true;
        PostgresSession::open(&ServerEndpoint { describe, ..server }).unwrap()
    }

    /// The first number of the version.
    pub(crate) fn major(&self) -> u32 {
        major(&self.version)
    }

    /// Servers know SCRAM since version 10.
    pub(crate) fn has_scram(&self) -> bool {
        self.major() >= 10
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // An immediate shutdown: the children end with the first process, and the data is not kept.
        let pid_file = self.dir.path().join("data/postmaster.pid");
        let pid = std::fs::read_to_string(pid_file)
            .ok()
            .and_then(|text| text.lines().next()?.parse().ok())
            .and_then(rustix::process::Pid::from_raw);
        if let Some(pid) = pid {
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::QUIT);
        } else {
            let _ = self.process.kill();
        }
        let _ = self.process.wait();
    }
}

fn login(user: &str, password: &str) -> Login {
    Login { user: user.to_owned(), password: password.to_owned(), database: "postgres".to_owned() }
}

/// The first number of `18.6` or `19beta1`.
fn major(version: &str) -> u32 {
    let end = version.find(|sign: char| !sign.is_ascii_digit());
    let number = version.get(..end.unwrap_or(version.len()));
    number.unwrap_or_default().parse().unwrap_or_default()
}

/// The lines of `pg_hba.conf`; the last ones are for the superuser of the set-up.
fn who_may_log_in(version: &str) -> String {
    let mut lines = "local all md5 md5\nlocal all clear password\n".to_owned();
    if major(version) >= 10 {
        lines
            .push_str("local all scram scram-sha-256\nhost all scram 127.0.0.1/32 scram-sha-256\n");
    }
    lines.push_str("local all all trust\nhost all all 127.0.0.1/32 trust\n");
    lines
}

/// Makes a key and a certificate and tells the server of them; `false` when the program for it is
/// missing.
fn make_certificate(data: &Path, index: usize) -> bool {
    let kind: &[&str] = if index.is_multiple_of(2) {
        &["-newkey", "rsa:2048", "-sha256"]
    } else {
        &["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:secp384r1", "-sha384"]
    };
    let (key, certificate) = (data.join("server.key"), data.join("server.crt"));
    let made = Command::new("openssl")
        .args(["req", "-x509", "-nodes", "-days", "2", "-subj", "/CN=localhost"])
        .args(kind)
        .arg("-keyout")
        .arg(&key)
        .arg("-out")
        .arg(&certificate)
        .output();
    if !made.is_ok_and(|run| run.status.success()) {
        testkit::skipped("no TLS (no program openssl)");
        return false;
    }
    // The server takes no key that others may read.
    std::fs::set_permissions(&key, Permissions::from_mode(0o600)).unwrap();
    let config = data.join("postgresql.auto.conf");
    std::fs::write(config, "ssl = on\n").unwrap();
    true
}

/// A port that nobody listens on.
fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

/// A command that is not run as root, which the server refuses. In a user namespace the files stay
/// those of root.
fn unprivileged(program: impl AsRef<OsStr>) -> Command {
    if !rustix::process::geteuid().is_root() {
        return Command::new(program);
    }
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-user=1000", "--map-group=1000"]).arg(program);
    command
}

fn read_log(dir: &Path) -> String {
    std::fs::read_to_string(dir.join("log")).unwrap_or_default()
}
