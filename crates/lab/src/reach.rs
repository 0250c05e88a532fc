//! How the sessions of a workload reach its server; addresses of servers that are not ours, as plans give them.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::Duration;

use drivers::{Address, Connector, Endpoint, Login, ServerEndpoint};
use model::{BuildSource, Connection, Dialect, Fact, System, Transport};

use crate::error::{PASSWORD, SystemError};

/// The endpoint of sessions that talk to a server as `connection` says; of SQLite it is never opened.
pub(crate) fn endpoint(
    dialect: Dialect,
    address: Address,
    login: Login,
    timeout: Duration,
    connection: Connection,
) -> Endpoint {
    let server = ServerEndpoint {
        tls: connection.tls,
        compression: connection.compression,
        describe: connection.describe,
        ..ServerEndpoint::plain(address, login, timeout)
    };
    match dialect {
        Dialect::Mysql => Endpoint::Mysql(server),
        Dialect::Postgres | Dialect::Sqlite => Endpoint::Postgres(server),
    }
}

pub(crate) fn is_negotiated(connection: Connection) -> bool {
    connection.transport == Transport::Tcp || connection.tls || connection.compression
}

/// Can the sessions of a system be what its `connection` says? The error says what to change.
pub(crate) fn check(system: &System) -> Result<(), SystemError> {
    let connection = system.connection;
    let dbms = system.build.dbms;
    if dbms.is_embedded() {
        if connection == Connection::default() {
            return Ok(());
        }
        return Err(SystemError::NoConnections(dbms));
    }
    let socket = is_socket(system)?;
    if connection.transport == Transport::Tcp && socket {
        return Err(SystemError::SocketOnly);
    }
    let can = &dbms.product().connection;
    if connection.describe && !can.describes {
        return Err(SystemError::NoPortals);
    }
    if connection.compression && !can.compresses {
        return Err(SystemError::NoCompression);
    }
    if connection.tls && socket && !can.tls_over_socket {
        return Err(SystemError::NoTlsOverSocket);
    }
    Ok(())
}

fn is_socket(system: &System) -> Result<bool, SystemError> {
    let BuildSource::Connect(address) = &system.build.source else {
        return Ok(system.connection.transport == Transport::Socket);
    };
    let address = ForeignAddress::parse(address)?.address(system.build.dbms.dialect())?;
    Ok(matches!(address, Address::Socket(_)))
}

pub(crate) fn provenance(
    connection: Connection,
    address: &Address,
) -> impl Iterator<Item = (Fact, String)> + use<> {
    let transport = match address {
        Address::Socket(_) => "Unix socket".to_owned(),
        // The port of a server of ours is another one in each trial, and says nothing.
        Address::Tcp { host, .. } => format!("TCP to {host}"),
    };
    let on = |is_on: bool| is_on.then(|| "on".to_owned());
    let said = [
        (Fact::Transport, Some(transport)),
        ("compression".into(), on(connection.compression)),
        ("pipelined statements".into(), on(connection.pipeline)),
        ("described portals".into(), on(connection.describe)),
    ];
    said.into_iter().filter_map(|(name, value)| Some((name, value?)))
}

/// Passwords by the address without password. They are in no plan that is stored and in no report.
#[derive(Clone, Default)]
pub struct Secrets(BTreeMap<String, String>);

impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

static GIVEN: OnceLock<String> = OnceLock::new();

/// Takes the password out of the environment, so that no program that is started gets it, and an empty `TMPDIR`, which
/// would mean the current directory. To be called first of all, before there is another thread.
#[expect(unsafe_code, reason = "the environment can only be changed while there is one thread")]
pub fn clean_environment() {
    if std::env::var_os("TMPDIR").is_some_and(|directory| directory.is_empty()) {
        // SAFETY: the caller is the only thread, so nobody reads the environment meanwhile.
        unsafe { std::env::remove_var("TMPDIR") };
    }
    if let Some(password) = std::env::var_os(PASSWORD) {
        // A server cannot receive a password that is not UTF-8.
        if let Ok(password) = password.into_string() {
            let _first = GIVEN.set(password);
        }
        // SAFETY: as above.
        unsafe { std::env::remove_var(PASSWORD) };
    }
}

impl Secrets {
    pub(crate) fn keep(&mut self, address: &ForeignAddress) {
        if !address.password.is_empty() {
            self.0.insert(address.to_string(), address.password.clone());
        }
    }

    /// The password of an address: from the plan file, else from the environment, else none.
    pub(crate) fn password(&self, address: &str) -> String {
        let known = self.0.get(address).cloned();
        known.or_else(|| GIVEN.get().cloned()).unwrap_or_default()
    }
}

/// `user[:password]@host[:port]` or `user[:password]@/path/of/socket`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ForeignAddress {
    user: String,
    password: String,
    address: String,
}

impl ForeignAddress {
    pub(crate) fn parse(text: &str) -> Result<Self, SystemError> {
        let (login, address) = text.rsplit_once('@').ok_or_else(|| {
            // Text after a colon may be a password.
            let shown = text.split(':').next().unwrap_or_default();
            SystemError::Address(format!("{shown}…"))
        })?;
        let (user, password) = login.split_once(':').unwrap_or((login, ""));
        if user.is_empty() || address.is_empty() {
            return Err(SystemError::Address(format!("@{address}")));
        }
        Ok(Self {
            user: user.to_owned(),
            password: password.to_owned(),
            address: address.to_owned(),
        })
    }

    #[must_use]
    pub(crate) fn with_password(self, password: &str) -> Self {
        Self { password: password.to_owned(), ..self }
    }

    pub(crate) fn address(&self, dialect: Dialect) -> Result<Address, SystemError> {
        if self.address.starts_with('/') {
            let path = PathBuf::from(&self.address);
            if path.is_dir() {
                let socket = path.join(usual_socket(dialect));
                return Err(SystemError::NoSocket { directory: path, socket });
            }
            return Ok(Address::Socket(path));
        }
        let usual = match dialect {
            Dialect::Mysql => 3306,
            Dialect::Postgres => 5432,
            Dialect::Sqlite => return Err(SystemError::NoAddress),
        };
        let (host, port) = match self.address.rsplit_once(':') {
            None => (self.address.as_str(), usual),
            Some((host, port)) => {
                let port = port.parse().map_err(|_| SystemError::Port(port.to_owned()))?;
                (host, port)
            }
        };
        Ok(Address::Tcp { host: host.trim_matches(['[', ']']).to_owned(), port })
    }

    pub(crate) fn connector(
        &self,
        dialect: Dialect,
        database: &str,
        secrets: &Secrets,
        timeout: Duration,
        connection: Connection,
    ) -> Result<Box<dyn Connector>, SystemError> {
        let address = self.address(dialect)?;
        let login = Login {
            user: self.user.clone(),
            password: secrets.password(&self.to_string()),
            database: database.to_owned(),
        };
        Ok(drivers::connector(&endpoint(dialect, address, login, timeout, connection)))
    }
}

const fn usual_socket(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Mysql | Dialect::Sqlite => "mysqld.sock",
        Dialect::Postgres => ".s.PGSQL.5432",
    }
}

impl std::fmt::Display for ForeignAddress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}@{}", self.user, self.address)
    }
}

#[cfg(test)]
mod tests {
    use model::Dbms;

    use super::*;
    use crate::fixture::system;

    fn told(dbms: Dbms, source: BuildSource, connection: Connection) -> String {
        let mut system = system(dbms);
        system.build.source = source;
        system.connection = connection;
        match check(&system) {
            Ok(()) => "fine".to_owned(),
            Err(cause) => cause.to_string(),
        }
    }

    #[test]
    fn what_a_server_cannot_do_is_told_with_what_to_change() {
        let ours = || BuildSource::Path("/usr".to_owned());
        let theirs = |address: &str| BuildSource::Connect(address.to_owned());
        let plain = Connection::default();
        let tls = Connection { tls: true, ..plain };
        let tcp = Connection { transport: Transport::Tcp, ..plain };
        let small = Connection { compression: true, ..plain };
        let all = Connection {
            transport: Transport::Tcp,
            tls: true,
            compression: true,
            pipeline: true,
            describe: false,
        };
        let described = Connection { describe: true, ..plain };
        assert_eq!(told(Dbms::Mysql, ours(), all), "fine");
        assert_eq!(told(Dbms::Mariadb, ours(), tls), "fine");
        assert_eq!(told(Dbms::Postgres, ours(), tcp), "fine");
        assert_eq!(told(Dbms::Postgres, ours(), described), "fine");
        insta::assert_snapshot!(told(Dbms::Mysql, ours(), described), @"the MySQL protocol has no portals to describe: leave `describe` out");
        assert_eq!(told(Dbms::Sqlite, BuildSource::Embedded, plain), "fine");
        let tcp_and_tls = Connection { tls: true, ..tcp };
        assert_eq!(told(Dbms::Postgres, ours(), tcp_and_tls), "fine");
        assert_eq!(told(Dbms::Postgres, theirs("a@host"), tls), "fine");
        insta::assert_snapshot!(told(Dbms::Sqlite, BuildSource::Embedded, tls), @"sqlite runs inside this process, without connections: leave `connection` out");
        insta::assert_snapshot!(told(Dbms::Postgres, ours(), tls), @r#"PostgreSQL encrypts TCP only: add `transport = "tcp"` to `connection`, or leave `tls` out"#);
        insta::assert_snapshot!(told(Dbms::Postgres, theirs("a@/run/.s.PGSQL.5432"), tls), @r#"PostgreSQL encrypts TCP only: add `transport = "tcp"` to `connection`, or leave `tls` out"#);
        insta::assert_snapshot!(told(Dbms::Postgres, ours(), small), @"PostgreSQL's protocol has no compression: leave `compression` out");
        insta::assert_snapshot!(told(Dbms::Mysql, theirs("a@/run/s.sock"), tcp), @"`connect` is the path of a socket and `connection` asks for TCP: give host:port in `connect`, or leave `transport` out");
    }

    #[test]
    fn an_endpoint_is_as_the_plan_says() {
        let address = Address::Tcp { host: "127.0.0.1".to_owned(), port: 20_001 };
        let login =
            Login { user: "u".to_owned(), password: String::new(), database: "d".to_owned() };
        let timeout = Duration::from_secs(1);
        let connection = Connection { tls: true, ..Connection::default() };
        let said: Vec<_> = provenance(connection, &address).collect();
        assert_eq!(said, [(Fact::Transport, "TCP to 127.0.0.1".to_owned())]);
        let made = endpoint(Dialect::Mysql, address, login, timeout, connection);
        let Endpoint::Mysql(server) = made else {
            panic!("{made:?}");
        };
        assert!(server.tls && !server.compression);
    }

    #[test]
    fn addresses_are_read_and_never_show_the_password() {
        let address = ForeignAddress::parse("bench:p@ss:1@db.example:3307").unwrap();
        assert_eq!(address.to_string(), "bench@db.example:3307");
        assert_eq!(address.password, "p@ss:1");
        let expected = Address::Tcp { host: "db.example".to_owned(), port: 3307 };
        assert_eq!(address.address(Dialect::Mysql).unwrap(), expected);
        let socket = ForeignAddress::parse("root@/run/mysqld/mysqld.sock").unwrap();
        assert!(matches!(socket.address(Dialect::Mysql), Ok(Address::Socket(_))));
        let mut secrets = Secrets::default();
        secrets.keep(&address);
        assert!(!format!("{secrets:?}").contains("p@ss"));
    }

    #[test]
    fn the_directory_of_a_socket_is_no_socket() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().display().to_string();
        let told = |dialect| {
            let address = ForeignAddress::parse(&format!("me@{path}")).unwrap();
            address.address(dialect).unwrap_err().to_string().replace(&path, "DIR")
        };
        insta::assert_snapshot!(told(Dialect::Postgres), @"DIR is a directory: give the path of the socket in it, such as DIR/.s.PGSQL.5432");
        insta::assert_snapshot!(told(Dialect::Mysql), @"DIR is a directory: give the path of the socket in it, such as DIR/mysqld.sock");
    }

    #[test]
    fn nonsense_is_told_what_is_expected() {
        for text in ["", "localhost", "@host", "user@", "user@host:port"] {
            let read = ForeignAddress::parse(text).and_then(|a| a.address(Dialect::Postgres));
            assert!(read.is_err(), "{text}");
        }
    }
}
