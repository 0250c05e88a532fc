//! What opens sessions to a server of ours.

use std::fs::File;
use std::io::{self, Read};
use std::sync::Arc;
use std::time::Duration;

use drivers::{Address, Connector, Login, Session, SessionError, SessionInfo};
use model::{Build, Connection, Dialect, System};
use servers::{Instance, ServerProcess};

use crate::reach;
use crate::site::{LOG_LINES, PATIENCE, Result, SiteError};

/// The database of the workload in servers of ours.
pub(crate) const DATABASE: &str = "ib";

pub(crate) struct Sessions {
    /// Our own: the superuser's, over the socket.
    pub(crate) admin: Box<dyn Connector>,
    /// Those of the workload, as the plan says.
    pub(crate) workload: Arc<dyn Connector>,
    /// The same, with more time for each statement.
    pub(crate) patient: Arc<dyn Connector>,
    pub(crate) address: Address,
    pub(crate) info: SessionInfo,
}

impl Sessions {
    /// Those of a running server that has the database. One of the workload's kind is opened: it must work.
    pub(crate) fn of(instance: &Instance, system: &System, timeout: Duration) -> Result<Self> {
        let failed = |reason: String| SiteError::with_log(reason, instance.log_tail(LOG_LINES));
        let admin = admin(instance, system, DATABASE, timeout);
        let (address, user, password) = match instance.port() {
            None => {
                let user = instance.superuser().to_owned();
                (Address::Socket(instance.endpoint_socket()), user, String::new())
            }
            Some(port) => {
                let mut session = admin
                    .connect()
                    .map_err(|error| failed(format!("cannot use database {DATABASE}: {error}")))?;
                let user = &system.build.dbms.product().server.tcp_user;
                let password = make_account(&mut *session, &system.build, user)?;
                (Address::Tcp { host: HOST.to_owned(), port }, user.to_owned(), password)
            }
        };
        let login = Login { user, password, database: DATABASE.to_owned() };
        let (dialect, connection) = (system.build.dbms.dialect(), system.connection);
        let connector = |timeout| {
            let endpoint =
                reach::endpoint(dialect, address.clone(), login.clone(), timeout, connection);
            let inner = drivers::connector(&endpoint);
            Arc::new(WhileAlive { inner, process: instance.process() })
        };
        let workload = connector(timeout);
        let opened = workload
            .connect()
            .map_err(|error| failed(format!("cannot open a session for the workload: {error}")))?;
        Ok(Self {
            info: opened.info().clone(),
            patient: connector(timeout * PATIENCE),
            workload,
            address,
            admin,
        })
    }
}

/// Opens sessions of the superuser in `database`, over the socket.
pub(crate) fn admin(
    instance: &Instance,
    system: &System,
    database: &str,
    timeout: Duration,
) -> Box<dyn Connector> {
    let login = Login {
        user: instance.superuser().to_owned(),
        password: String::new(),
        database: database.to_owned(),
    };
    drivers::connector(&reach::endpoint(
        system.build.dbms.dialect(),
        Address::Socket(instance.endpoint_socket()),
        login,
        timeout,
        Connection::default(),
    ))
}

/// Opens sessions of a server of ours, which nobody starts again when it dies: then no attempt can succeed any more.
struct WhileAlive {
    inner: Box<dyn Connector>,
    process: Option<ServerProcess>,
}

impl Connector for WhileAlive {
    fn connect(&self) -> Result<Box<dyn Session>, SessionError> {
        self.inner.connect().map_err(|error| match error {
            SessionError::Connect { address, .. } if self.is_hopeless() => SessionError::Connect {
                address,
                cause: "the server's process has ended".to_owned(),
            },
            other => other,
        })
    }

    fn database(&self) -> &str {
        self.inner.database()
    }

    fn is_hopeless(&self) -> bool {
        self.process.as_ref().is_some_and(|process| !process.is_alive())
    }
}

/// Where the server listens, and from where clients log in.
const HOST: &str = "127.0.0.1";
const BYTES: usize = 16;

/// Gives `user` all rights and a new password, which is returned; `admin` is a session of the superuser.
///
/// Everybody on this host can reach a port of the loopback interface. So nobody gets in there without a
/// password, which is another one at each start and is written down nowhere.
fn make_account(admin: &mut dyn Session, build: &Build, user: &str) -> Result<String> {
    let failed = |cause: String| SiteError::new(format!("cannot make an account for TCP: {cause}"));
    let password = password().map_err(|error| failed(error.to_string()))?;
    let made = match build.dbms.dialect() {
        Dialect::Mysql => of_mysql(admin, user, &password),
        Dialect::Postgres | Dialect::Sqlite => of_postgres(admin, build, user, &password),
    };
    made.map_err(|error| failed(error.to_string()))?;
    Ok(password)
}

/// A new account. Any other that can be reached from outside the socket, of an earlier start or a template, is dropped.
fn of_mysql(admin: &mut dyn Session, user: &str, password: &str) -> Result<(), SessionError> {
    let mut others = Vec::new();
    // Roles have no host.
    let sql = "SELECT User, Host FROM mysql.user WHERE Host NOT IN ('localhost', '')";
    admin.query(sql, &mut |row| {
        let text = |column| row.value(column).to_text().unwrap_or_default();
        others.push(account_name(&text(0), &text(1)));
    })?;
    for other in others {
        admin.execute(&format!("DROP USER {other}"))?;
    }
    let own = account_name(user, HOST);
    admin.execute(&format!("CREATE USER {own} IDENTIFIED BY '{password}'"))?;
    admin.execute(&format!("GRANT ALL PRIVILEGES ON *.* TO {own}"))?;
    Ok(())
}

fn account_name(user: &str, host: &str) -> String {
    let quoted = |text: &str| format!("'{}'", text.replace('\'', "''"));
    format!("{}@{}", quoted(user), quoted(host))
}

/// The superuser gets a password, which the socket does not ask for.
fn of_postgres(
    admin: &mut dyn Session,
    build: &Build,
    user: &str,
    password: &str,
) -> Result<(), SessionError> {
    // What the port asks for, see `Family::access`. Before there is one kind only.
    if build.dbms.product().server.scram.holds(&build.version) {
        admin.execute("SET password_encryption = 'scram-sha-256'")?;
    }
    admin.execute(&format!("ALTER ROLE {user} PASSWORD '{password}'"))?;
    Ok(())
}

fn password() -> io::Result<String> {
    let mut bytes = [0u8; BYTES];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(format!("{:032x}", u128::from_be_bytes(bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_long_and_never_the_same() {
        let (one, two) = (password().unwrap(), password().unwrap());
        assert_eq!((one.len(), two.len()), (2 * BYTES, 2 * BYTES));
        assert_ne!(one, two);
    }

    #[test]
    fn names_are_quoted() {
        assert_eq!(account_name("", "it's"), "''@'it''s'");
    }
}
