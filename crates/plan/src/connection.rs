//! How clients talk to a server: `connection = { transport = "tcp", tls = true }`.

use model::{Build, BuildSource, Connection, Dbms, Transport};

use crate::fields::{Fields, Item};
use crate::{Place, PlanError};

/// Reads the table. `connect` says that it is for a server that is not ours, whose address says over what
/// it is reached.
pub(crate) fn connection(item: &Item<'_>, connect: bool) -> Result<Connection, PlanError> {
    let keys = ["transport", "tls", "compression", "pipeline"];
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
    Ok(Connection {
        transport,
        tls: switch("tls")?,
        compression: switch("compression")?,
        pipeline: switch("pipeline")?,
    })
}

/// Can clients talk to this build like that? `place` is where the plan says so.
pub(crate) fn check(connection: Connection, build: &Build, place: &Place) -> Result<(), PlanError> {
    let is_ours = !matches!(build.source, BuildSource::Connect(_));
    let over_socket = is_ours && connection.transport == Transport::Socket;
    let message = match build.dbms {
        Dbms::Sqlite if connection != Connection::default() => {
            "`connection` and SQLite: it is part of the client, there is no connection; give `connection` \
             to the other systems only"
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
