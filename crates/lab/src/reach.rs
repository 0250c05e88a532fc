//! How the sessions of a workload reach its server: over what, encrypted, compressed.

use std::time::Duration;

use drivers::{Address, Endpoint, Login, ServerEndpoint};
use model::{BuildSource, Connection, Dialect, Fact, System, Transport};

use crate::address::ForeignAddress;

/// The endpoint of sessions that talk to a server as `connection` says. SQLite has none; what is given
/// for it is never opened.
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

/// Is it something that a server has to agree to?
pub(crate) fn is_negotiated(connection: Connection) -> bool {
    connection.transport == Transport::Tcp || connection.tls || connection.compression
}

/// Can the sessions of a system be what its `connection` says? The error says what to change.
pub(crate) fn check(system: &System) -> Result<(), String> {
    let connection = system.connection;
    let dbms = system.build.dbms;
    if dbms.is_embedded() {
        if connection == Connection::default() {
            return Ok(());
        }
        return Err(format!(
            "{dbms} is part of this process, which no session leads to: leave `connection` out"
        ));
    }
    let socket = is_socket(system)?;
    if connection.transport == Transport::Tcp && socket {
        return Err(
            "`connect` is the path of a socket and `connection` asks for TCP: give host:port in \
             `connect`, or leave `transport` out"
                .to_owned(),
        );
    }
    let can = &dbms.product().connection;
    if connection.describe && !can.describes {
        return Err(
            "the MySQL protocol has no portals to describe: leave `describe` out".to_owned()
        );
    }
    if connection.compression && !can.compresses {
        return Err("PostgreSQL's protocol has no compression: leave `compression` out".to_owned());
    }
    if connection.tls && socket && !can.tls_over_socket {
        return Err(
            "PostgreSQL encrypts TCP only: add `transport = \"tcp\"` to `connection`, or leave \
             `tls` out"
                .to_owned(),
        );
    }
    Ok(())
}

/// Do the sessions of a system go over a Unix socket?
fn is_socket(system: &System) -> Result<bool, String> {
    match &system.build.source {
        BuildSource::Connect(address) => {
            let address = ForeignAddress::parse(address)?;
            let address = address.address(system.build.dbms.dialect())?;
            Ok(matches!(address, Address::Socket(_)))
        }
        BuildSource::Embedded
        | BuildSource::Path(_)
        | BuildSource::Installed { .. }
        | BuildSource::Obtainable { .. }
        | BuildSource::Imported(_) => Ok(system.connection.transport == Transport::Socket),
    }
}

/// What the provenance of a trial says of it: names and values.
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
            Err(cause) => cause,
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
        insta::assert_snapshot!(told(Dbms::Sqlite, BuildSource::Embedded, tls), @"sqlite is part of this process, which no session leads to: leave `connection` out");
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
}
