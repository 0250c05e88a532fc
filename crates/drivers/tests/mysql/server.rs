//! Servers of a test: where they are, and how one is started.

use std::path::PathBuf;
use std::time::Duration;

use drivers::{Address, Connector, Endpoint, Login, ServerEndpoint, Session};
use model::{Build, Config, Connection, Dbms, Setting, System, Transport};
use servers::{Instance, InstanceSpec, StopFlag, discover};

pub(crate) const TIMEOUT: Duration = Duration::from_secs(30);

/// Names the socket of a server that is not ours (user root, no password).
const FOREIGN: &str = "BACKSLIDE_TEST_MYSQL_SOCKET";

/// A running server; killed when dropped, unless it is not ours.
pub(crate) struct Server {
    socket: PathBuf,
    port: Option<u16>,
    /// Does it speak TLS of our time? Not known of a server that is not ours.
    pub(crate) tls: Option<bool>,
    // Dropped before its directory.
    _own: Option<(Instance, tempfile::TempDir)>,
}

impl Server {
    /// The MariaDB of this machine, or the server that the environment names; `None` when there is
    /// neither.
    pub(crate) fn of_this_machine() -> Option<Self> {
        if let Some(socket) = std::env::var_os(FOREIGN) {
            return Some(Self { socket: socket.into(), port: None, tls: None, _own: None });
        }
        let found = discover();
        let build = found.iter().find(|build| build.dbms == Dbms::Mariadb)?;
        Some(Self::start(build))
    }

    /// Starts a server of this build.
    pub(crate) fn start(build: &Build) -> Self {
        let root = tempfile::tempdir().unwrap();
        let settings = [
            ("innodb_buffer_pool_size", "64M"),
            ("max_allowed_packet", "64M"),
            ("innodb_flush_log_at_trx_commit", "0"),
        ];
        let settings = settings
            .map(|(name, value)| Setting { name: name.to_owned(), value: Some(value.to_owned()) });
        let connection =
            Connection { transport: Transport::Tcp, tls: true, ..Connection::default() };
        let config =
            Config { name: "test".to_owned(), settings: settings.into(), ..Config::default() };
        let spec = InstanceSpec {
            system: System { config, connection, ..System::new("a", build.clone()) },
            directory: root.path().join("instance"),
        };
        let mut instance = Instance::create(spec, StopFlag::default()).unwrap();
        let socket = instance.endpoint_socket();
        let connector = Endpoint::Mysql(plain(Address::Socket(socket.clone()), "root", ""));
        let mut ready = || Ok(connector.connect().map(drop)?);
        instance.start(&mut ready, Duration::from_mins(2)).unwrap();
        Self {
            socket,
            port: instance.port(),
            tls: Some(!is_of_yassl(build)),
            _own: Some((instance, root)),
        }
    }

    /// Over the socket.
    pub(crate) fn endpoint(&self, user: &str, password: &str, database: &str) -> ServerEndpoint {
        let mut server = plain(Address::Socket(self.socket.clone()), user, password);
        database.clone_into(&mut server.login.database);
        server
    }

    /// Over TCP, where it listens there.
    pub(crate) fn tcp(&self, user: &str, password: &str) -> Option<ServerEndpoint> {
        let host = "127.0.0.1".to_owned();
        let address = Address::Tcp { host, port: self.port? };
        Some(plain(address, user, password))
    }

    pub(crate) fn connector(
        &self,
        user: &str,
        password: &str,
        database: &str,
        timeout: Duration,
    ) -> Endpoint {
        Endpoint::Mysql(ServerEndpoint { timeout, ..self.endpoint(user, password, database) })
    }

    /// As root, over the socket.
    pub(crate) fn session(&self, database: &str) -> Box<dyn Session> {
        self.connector("root", "", database, TIMEOUT).connect().unwrap()
    }
}

fn plain(address: Address, user: &str, password: &str) -> ServerEndpoint {
    let login =
        Login { user: user.to_owned(), password: password.to_owned(), database: String::new() };
    ServerEndpoint::plain(address, login, TIMEOUT)
}

/// Builds with yaSSL speak TLS 1.1 at most.
fn is_of_yassl(build: &Build) -> bool {
    let version = build.version.to_string();
    match build.dbms {
        Dbms::Mysql => ["5.5.", "5.6.", "5.7."].iter().any(|old| version.starts_with(old)),
        _ => ["10.1.", "10.2."].iter().any(|old| version.starts_with(old)),
    }
}

/// The builds of MySQL and MariaDB that backslide has installed for this user.
pub(crate) fn installed() -> Vec<Build> {
    let Some(depot) = testkit::depot().map(|depot| depot.join("builds")) else {
        return Vec::new();
    };
    let mut builds: Vec<Build> = std::fs::read_dir(depot)
        .into_iter()
        .flatten()
        .filter_map(|entry| {
            let text = std::fs::read_to_string(entry.ok()?.path()).ok()?;
            let mut entry: serde_json::Value = serde_json::from_str(&text).ok()?;
            serde_json::from_value(entry["build"].take()).ok()
        })
        .filter(|build: &Build| matches!(build.dbms, Dbms::Mysql | Dbms::Mariadb))
        .collect();
    builds.sort_by_key(Build::id);
    builds
}
