//! From an endpoint to the client that speaks its protocol.

use crate::{Connector, Endpoint, MysqlConnector, PostgresConnector, SqliteConnector};

/// What opens sessions to `endpoint`. Nothing is opened yet.
pub fn connector(endpoint: &Endpoint) -> Box<dyn Connector> {
    match endpoint.clone() {
        Endpoint::Mysql {
            address,
            login,
            timeout,
        } => Box::new(MysqlConnector::new(address, login, timeout)),
        Endpoint::Postgres {
            address,
            login,
            timeout,
        } => Box::new(PostgresConnector::new(address, login, timeout)),
        Endpoint::Sqlite {
            path,
            pragmas,
            timeout,
        } => Box::new(SqliteConnector::new(path, pragmas, timeout)),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::net::TcpListener;
    use std::time::Duration;

    use super::*;
    use crate::{Address, Login};

    const TIMEOUT: Duration = Duration::from_secs(5);

    /// Each protocol is recognised by what its client makes of the greeting of another.
    #[test]
    fn each_endpoint_gets_its_own_protocol() {
        let greet = |make: fn(Address, Login) -> Endpoint| {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let port = listener.local_addr().unwrap().port();
            let server = std::thread::spawn(move || {
                let (mut peer, _) = listener.accept().unwrap();
                peer.write_all(b"\x04\0\0\0not a greeting").unwrap();
                std::io::copy(&mut peer, &mut std::io::sink()).unwrap_or_default()
            });
            let address = Address::Tcp {
                host: "127.0.0.1".to_owned(),
                port,
            };
            let login = Login {
                user: "u".to_owned(),
                password: String::new(),
                database: String::new(),
            };
            let error = connector(&make(address, login)).connect().err().unwrap();
            // Bytes that the client sent before it gave up: MySQL's waits for the greeting first.
            (error.code().to_owned(), server.join().unwrap() > 0)
        };
        let mysql = greet(|address, login| Endpoint::Mysql {
            address,
            login,
            timeout: TIMEOUT,
        });
        assert_eq!(mysql, ("protocol".to_owned(), false));
        let postgres = greet(|address, login| Endpoint::Postgres {
            address,
            login,
            timeout: TIMEOUT,
        });
        assert_eq!(postgres, ("protocol".to_owned(), true));
        let dir = tempfile::tempdir().unwrap();
        let sqlite = connector(&Endpoint::Sqlite {
            path: dir.path().join("x.sqlite"),
            pragmas: Vec::new(),
            timeout: TIMEOUT,
        });
        sqlite.connect().unwrap().execute("select 1").unwrap();
    }
}
