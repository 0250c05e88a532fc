//! How clients talk to a server: `connection = { transport = "tcp", tls = true }`.

use model::{Build, BuildSource, Connection, Dbms, Transport};

use crate::fields::{Fields, Item};
use crate::{Place, PlanError};

/// How a program's clients talk to each product that it measures.
type Profile = [(Dbms, Connection)];

/// The profiles that a plan may name in place of keys.
const PROFILES: [(&str, &Profile); 1] = [("sysbench", &SYSBENCH)];

/// libmariadb sends what our own client sends; libpq describes each portal.
const SYSBENCH: [(Dbms, Connection); 3] = [
    (Dbms::Mysql, Connection::PLAIN),
    (Dbms::Mariadb, Connection::PLAIN),
    (
        Dbms::Postgres,
        Connection {
            describe: true,
            ..Connection::PLAIN
        },
    ),
];

/// What a plan asks for a system, before its product is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Asked {
    /// Each key by itself.
    Keys(Connection),
    /// The profile of another program.
    Profile(&'static str, &'static Profile),
}

/// Reads the table, or the name of a profile. `connect` says that it is for a server that is not ours,
/// whose address says over what it is reached.
pub(crate) fn connection(item: &Item<'_>, connect: bool) -> Result<Asked, PlanError> {
    if item.text().is_ok() {
        let words = PROFILES.map(|profile| (profile.0, profile));
        let (name, profile) = item.word("profile of connections", &words)?;
        return Ok(Asked::Profile(name, profile));
    }
    let keys = ["transport", "tls", "compression", "pipeline", "describe"];
    let fields = Fields::new(item.node, "connection", &keys)?;
    let switch = |key| {
        fields
            .get(key)
            .map_or(Ok(false), |item: Item<'_>| item.switch())
    };
    let words = [("socket", Transport::Socket), ("tcp", Transport::Tcp)];
    let transport = match fields.get("transport") {
        Some(item) if connect => {
            return Err(item.conflict(
                "`transport` and `connect`: the address of a server that is not ours says over what it \
                 is reached; leave `transport` out",
            ));
        }
        Some(item) => item.word("transport", &words)?,
        None => Transport::default(),
    };
    Ok(Asked::Keys(Connection {
        transport,
        tls: switch("tls")?,
        compression: switch("compression")?,
        pipeline: switch("pipeline")?,
        describe: switch("describe")?,
    }))
}

/// The connection of a system of this build, if its clients can talk like that. `place` is where the plan
/// asks for it.
pub(crate) fn resolve(asked: Asked, build: &Build, place: &Place) -> Result<Connection, PlanError> {
    let connection = match asked {
        Asked::Keys(connection) => connection,
        Asked::Profile(name, profile) => {
            let of_product = profile.iter().find(|(dbms, _)| *dbms == build.dbms);
            let Some((_, connection)) = of_product else {
                return Err(PlanError::Conflict {
                    place: place.clone(),
                    message: format!(
                        "`connection = \"{name}\"` and {}: {name} has no client for it; give \
                         `connection` to the other systems only",
                        build.dbms
                    ),
                });
            };
            *connection
        }
    };
    check(connection, build, place)?;
    Ok(connection)
}

/// Can clients talk to this build like that?
fn check(connection: Connection, build: &Build, place: &Place) -> Result<(), PlanError> {
    let is_ours = !matches!(build.source, BuildSource::Connect(_));
    let over_socket = is_ours && connection.transport == Transport::Socket;
    let message = match build.dbms {
        Dbms::Sqlite if connection != Connection::default() => {
            "`connection` and SQLite: it is part of the client, there is no connection; give `connection` \
             to the other systems only"
        }
        Dbms::Mysql | Dbms::Mariadb if connection.describe => {
            "`describe` is for PostgreSQL: the MySQL protocol has no portals; leave it out"
        }
        Dbms::Postgres if connection.compression => {
            "`compression` and PostgreSQL: its protocol has none; leave it out"
        }
        Dbms::Postgres if connection.tls && over_socket => {
            "`tls` and PostgreSQL over a socket: it encrypts over TCP only; add `transport = \"tcp\"`"
        }
        Dbms::Mysql | Dbms::Mariadb | Dbms::Postgres | Dbms::Sqlite | Dbms::Other => return Ok(()),
    };
    Err(PlanError::Conflict {
        place: place.clone(),
        message: message.to_owned(),
    })
}
