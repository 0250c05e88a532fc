//! Addresses of servers that are not ours, as plans give them.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::Duration;

use drivers::{Address, Endpoint, Login};
use model::{Connection, Dialect};

use crate::reach;

/// Passwords by the address without password. They are in no plan that is stored and in no report.
#[derive(Clone, Default)]
pub struct Secrets(BTreeMap<String, String>);

impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

/// The environment variable with the password of a server that is not ours.
pub(crate) const PASSWORD: &str = "BACKSLIDE_PASSWORD";

/// The value of [`PASSWORD`].
static GIVEN: OnceLock<String> = OnceLock::new();

/// Takes the password out of the environment, so that no program that is started gets it: `curl` and `openssl` have no
/// use for it. To be called first of all, before there is another thread.
#[expect(unsafe_code, reason = "the environment can only be changed while there is one thread")]
pub fn take_password() {
    if let Some(password) = std::env::var_os(PASSWORD) {
        // A server cannot receive a password that is not UTF-8.
        if let Ok(password) = password.into_string() {
            let _first = GIVEN.set(password);
        }
        // SAFETY: the caller is the only thread, so nobody reads the environment meanwhile.
        unsafe { std::env::remove_var(PASSWORD) };
    }
}

impl Secrets {
    /// Remembers the password of an address.
    pub fn keep(&mut self, address: &ForeignAddress) {
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
pub struct ForeignAddress {
    user: String,
    password: String,
    address: String,
}

impl ForeignAddress {
    /// Reads an address.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (login, address) = text.rsplit_once('@').ok_or_else(|| {
            // Text after a colon may be a password.
            let shown = text.split(':').next().unwrap_or_default();
            format!("`{shown}…` is not an address: expected user@host:port or user@/path/of/socket")
        })?;
        let (user, password) = login.split_once(':').unwrap_or((login, ""));
        if user.is_empty() || address.is_empty() {
            return Err(format!(
                "`@{address}` is not an address: expected user@host:port or user@/path/of/socket"
            ));
        }
        Ok(Self {
            user: user.to_owned(),
            password: password.to_owned(),
            address: address.to_owned(),
        })
    }

    /// Where the server listens.
    pub(crate) fn address(&self, dialect: Dialect) -> Result<Address, String> {
        if self.address.starts_with('/') {
            let path = PathBuf::from(&self.address);
            if path.is_dir() {
                return Err(format!(
                    "{} is a directory: give the path of the socket in it, such as {}",
                    path.display(),
                    path.join(usual_socket(dialect)).display()
                ));
            }
            return Ok(Address::Socket(path));
        }
        let usual = match dialect {
            Dialect::Mysql => 3306,
            Dialect::Postgres => 5432,
            Dialect::Sqlite => return Err("SQLite has no address".to_owned()),
        };
        let (host, port) = match self.address.rsplit_once(':') {
            None => (self.address.as_str(), usual),
            Some((host, port)) => {
                let port = port.parse().map_err(|_| format!("`{port}` is not a port"))?;
                (host, port)
            }
        };
        Ok(Address::Tcp { host: host.trim_matches(['[', ']']).to_owned(), port })
    }

    /// How to reach `database` there, by sessions as `connection` says.
    pub(crate) fn endpoint(
        &self,
        dialect: Dialect,
        database: &str,
        secrets: &Secrets,
        timeout: Duration,
        connection: Connection,
    ) -> Result<Endpoint, String> {
        let address = self.address(dialect)?;
        let login = Login {
            user: self.user.clone(),
            password: secrets.password(&self.to_string()),
            database: database.to_owned(),
        };
        Ok(reach::endpoint(dialect, address, login, timeout, connection))
    }
}

/// The default name of servers' sockets.
const fn usual_socket(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Mysql | Dialect::Sqlite => "mysqld.sock",
        Dialect::Postgres => ".s.PGSQL.5432",
    }
}

impl std::fmt::Display for ForeignAddress {
    /// Without the password.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}@{}", self.user, self.address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_and_never_show_the_password() {
        let address = ForeignAddress::parse("bench:p@ss:1@db.example:3307").unwrap();
        assert_eq!(address.to_string(), "bench@db.example:3307");
        assert_eq!(address.password, "p@ss:1");
        let expected = Address::Tcp { host: "db.example".to_owned(), port: 3307 };
        assert_eq!(address.address(Dialect::Mysql), Ok(expected));
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
            address.address(dialect).unwrap_err().replace(&path, "DIR")
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
