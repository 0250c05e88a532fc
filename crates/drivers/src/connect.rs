//! From an endpoint to the client that speaks its protocol.

use crate::{Connector, Endpoint, MysqlSession, PostgresSession, Result, Session, SqliteSession};

pub fn connector(endpoint: &Endpoint) -> Box<dyn Connector> {
    Box::new(endpoint.clone())
}

impl Connector for Endpoint {
    fn connect(&self) -> Result<Box<dyn Session>> {
        Ok(match self {
            Self::Mysql(server) => Box::new(MysqlSession::open(server)?),
            Self::Postgres(server) => Box::new(PostgresSession::open(server)?),
            Self::Sqlite { library, path, pragmas, timeout } => {
                Box::new(SqliteSession::open(library.as_deref(), path, pragmas, *timeout)?)
            }
        })
    }

    fn database(&self) -> &str {
        match self {
            Self::Mysql(server) | Self::Postgres(server) => &server.login.database,
            Self::Sqlite { .. } => "main",
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::net::{Shutdown, TcpListener};
    use std::time::Duration;

    use super::*;
    use crate::{Address, Login, ServerEndpoint};

    const TIMEOUT: Duration = Duration::from_secs(5);

    /// What a client says before the server has said anything.
    fn first_words(endpoint: fn(Address, Login) -> Endpoint) -> Vec<u8> {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let server = std::thread::spawn(move || {
            let (mut peer, _) = listener.accept().unwrap();
            peer.shutdown(Shutdown::Write).unwrap();
            let mut said = Vec::new();
            // A reset after the last byte is as good as an end.
            let _ = peer.read_to_end(&mut said);
            said
        });
        let address = Address::Tcp { host: "127.0.0.1".to_owned(), port };
        let login =
            Login { user: "somebody".to_owned(), password: String::new(), database: String::new() };
        let error = connector(&endpoint(address, login)).connect().err();
        assert_eq!(error.unwrap().code(), "lost");
        server.join().unwrap()
    }

    #[test]
    fn each_endpoint_gets_its_own_protocol() {
        let mysql = first_words(|address, login| {
            Endpoint::Mysql(ServerEndpoint::plain(address, login, TIMEOUT))
        });
        assert_eq!(mysql, b"", "the server greets first");
        let postgres = first_words(|address, login| {
            Endpoint::Postgres(ServerEndpoint::plain(address, login, TIMEOUT))
        });
        assert_eq!(postgres.get(4..8), Some([0, 3, 0, 0].as_slice()));
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.sqlite");
        let sqlite = connector(&Endpoint::Sqlite {
            library: None,
            path: path.clone(),
            pragmas: Vec::new(),
            timeout: TIMEOUT,
        });
        sqlite.connect().unwrap().execute("select 1").unwrap();
        assert!(path.exists());
    }
}
