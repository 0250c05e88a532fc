//! A server that is not backslide's.
#![allow(dead_code, reason = "each test program uses some of it")]
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::fs;
use std::path::Path;
use std::time::Duration;

use drivers::{Address, Endpoint, Login, ServerEndpoint, Session, SessionError};
use model::{Build, Config, Dbms, Dialect, System};
use servers::{Instance, InstanceSpec, StopFlag};

pub(crate) const LIMIT: Duration = Duration::from_mins(1);

/// A server that the test itself starts, as a stranger to the binary.
pub(crate) struct Stranger {
    pub(crate) instance: Instance,
    dbms: Dbms,
    _directory: tempfile::TempDir,
}

impl Stranger {
    pub(crate) fn start(dbms: Dbms) -> Self {
        let directory = tempfile::Builder::new().prefix("bs-s").tempdir().unwrap();
        open_to_all(directory.path());
        let build: Build = servers::discover().into_iter().find(|b| b.dbms == dbms).unwrap();
        let config = Config { name: "stranger".to_owned(), ..Config::default() };
        let spec = InstanceSpec {
            system: System { config, ..System::new("a", build) },
            directory: directory.path().join("server"),
        };
        let mut stranger = Self {
            instance: Instance::create(spec, StopFlag::default()).unwrap(),
            dbms,
            _directory: directory,
        };
        stranger.start_again();
        stranger
    }

    /// Starts it, for the first time or after it was stopped, in the same place.
    pub(crate) fn start_again(&mut self) {
        let endpoint = self.endpoint();
        let mut ready = || Ok(drivers::connector(&endpoint).connect().map(drop)?);
        self.instance.start(&mut ready, LIMIT).unwrap();
    }

    pub(crate) fn endpoint(&self) -> Endpoint {
        self.endpoint_in(self.instance.first_database())
    }

    pub(crate) fn endpoint_in(&self, database: &str) -> Endpoint {
        let address = Address::Socket(self.instance.endpoint_socket());
        let login = Login {
            user: self.instance.superuser().to_owned(),
            password: String::new(),
            database: database.to_owned(),
        };
        let server = ServerEndpoint::plain(address, login, LIMIT);
        match self.dbms.dialect() {
            Dialect::Postgres => Endpoint::Postgres(server),
            Dialect::Mysql | Dialect::Sqlite => Endpoint::Mysql(server),
        }
    }

    pub(crate) fn session(&self) -> Box<dyn Session> {
        let connected: Result<_, SessionError> = drivers::connector(&self.endpoint()).connect();
        connected.unwrap()
    }

    pub(crate) fn session_in(&self, database: &str) -> Result<Box<dyn Session>, SessionError> {
        drivers::connector(&self.endpoint_in(database)).connect()
    }

    /// A `[[system]]` that reaches it as this user.
    pub(crate) fn system(&self, user: &str) -> String {
        let socket = self.instance.endpoint_socket();
        format!("build = \"{}\"\nconnect = \"{user}@{}\"", self.dbms, socket.display())
    }
}

fn open_to_all(directory: &Path) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(directory, fs::Permissions::from_mode(0o755)).unwrap();
}
