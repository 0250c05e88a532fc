//! How clients talk to a server: `connection = { transport = "tcp", tls = true }`.

use model::{Build, Connection, Transport, set_word};

use crate::fields::Item;
use crate::keys::Takes::{Switch, Word};
use crate::keys::{self, Key};
use crate::{Place, Result};

pub(crate) static KEYS: &[Key<Connection>] = &[
    Key("transport", Word("transport", |c, w| set_word(&mut c.transport, w))),
    Key("tls", Switch(|c, on| c.tls = on)),
    Key("compression", Switch(|c, on| c.compression = on)),
    Key("pipeline", Switch(|c, on| c.pipeline = on)),
    Key("describe", Switch(|c, on| c.describe = on)),
];

/// The profiles that a plan may name in place of keys; each product says what they are.
const PROFILES: [(&str, &str); 1] = [("sysbench", "sysbench")];

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Asked {
    Keys(Connection),
    Profile(&'static str),
}

/// Reads the table, or the name of a profile. The address of a foreign server (`connect`) sets the transport.
pub(crate) fn connection(item: Item<'_>, connect: bool) -> Result<Asked> {
    if item.text().is_ok() {
        return Ok(Asked::Profile(item.word("profile of connections", &PROFILES)?));
    }
    let mut connection = Connection::default();
    let fields = keys::read(KEYS, item.node, "connection", &mut connection)?;
    match fields.get("transport") {
        Some(item) if connect => Err(item.conflict(
            "`transport` and `connect`: the address of a foreign server sets the transport; \
             leave `transport` out",
        )),
        _ => Ok(Asked::Keys(connection)),
    }
}

/// The connection of a system of this build, if its clients can talk like that; `place` asks for it.
pub(crate) fn resolve(asked: Asked, build: &Build, place: &Place) -> Result<Connection> {
    let connection = match asked {
        Asked::Keys(connection) => connection,
        Asked::Profile(name) => {
            let Some(connection) = build.dbms.product().connection.profiles.get(name) else {
                return Err(place.conflict(format!(
                    "`connection = \"{name}\"` and {}: {name} has no client for it; give \
                         `connection` to the other systems only",
                    build.dbms
                )));
            };
            *connection
        }
    };
    check(connection, build, place)?;
    Ok(connection)
}

fn check(connection: Connection, build: &Build, place: &Place) -> Result<()> {
    let over_socket = !build.is_foreign() && connection.transport == Transport::Socket;
    let dbms = build.dbms;
    let (title, can) = (&dbms.product().title, &dbms.product().connection);
    let message = if dbms.is_embedded() && connection != Connection::default() {
        format!(
            "`connection` and {title}: it is part of the client, there is no connection; give \
             `connection` to the other systems only"
        )
    } else if connection.describe && !can.describes {
        "`describe` is for PostgreSQL: the MySQL protocol has no portals; leave it out".to_owned()
    } else if connection.compression && !can.compresses {
        format!("`compression` and {title}: its protocol has none; leave it out")
    } else if connection.tls && over_socket && !can.tls_over_socket {
        format!(
            "`tls` and {title} over a socket: it encrypts over TCP only; add `transport = \"tcp\"`"
        )
    } else {
        return Ok(());
    };
    Err(place.conflict(message))
}
