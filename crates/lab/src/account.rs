//! The account with which clients log in to a server of ours over TCP.
//!
//! Everybody on this host can reach a port of the loopback interface. So nobody gets in there without a
//! password, which is another one at each start and is written down nowhere.

use std::fs::File;
use std::io::{self, Read};

use drivers::{Session, SessionError};
use model::{Build, Dialect};

use crate::site::SiteError;

/// Where the server listens, and from where clients log in.
pub(crate) const HOST: &str = "127.0.0.1";
/// Bytes of chance in a password.
const BYTES: usize = 16;

/// Gives `user` all rights and a new password, which is returned; `admin` is a session of the superuser.
pub(crate) fn make(
    admin: &mut dyn Session,
    build: &Build,
    user: &str,
) -> Result<String, SiteError> {
    let failed = |cause: String| SiteError::new(format!("cannot make an account for TCP: {cause}"));
    let password = password().map_err(|error| failed(error.to_string()))?;
    let made = match build.dbms.dialect() {
        Dialect::Mysql => of_mysql(admin, user, &password),
        Dialect::Postgres | Dialect::Sqlite => of_postgres(admin, build, user, &password),
    };
    made.map_err(|error| failed(error.to_string()))?;
    Ok(password)
}

/// A new account. Any other that can be reached from outside the socket is dropped: that of an earlier
/// start, or of the template of a clone.
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

/// `'user'@'host'`.
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
