//! What opens sessions to a server of ours.

use std::sync::Arc;
use std::time::Duration;

use drivers::{Address, Connector, Login, SessionInfo};
use model::{Connection, System};
use servers::Instance;

use crate::account;
use crate::alive::WhileAlive;
use crate::reach;
use crate::site::{LOG_LINES, PATIENCE, SiteError};

/// The database of the workload in servers of ours.
pub(crate) const DATABASE: &str = "ib";

/// What opens sessions in the database of the workload.
pub(crate) struct Sessions {
    /// Our own: the superuser's, over the socket.
    pub(crate) admin: Box<dyn Connector>,
    /// Those of the workload, as the plan says.
    pub(crate) workload: Arc<dyn Connector>,
    /// The same, with more time for each statement.
    pub(crate) patient: Arc<dyn Connector>,
    /// Where those of the workload connect.
    pub(crate) address: Address,
    /// As agreed with the first of those.
    pub(crate) info: SessionInfo,
}

/// Where, as whom and how the workload logs in.
struct Way<'a> {
    instance: &'a Instance,
    system: &'a System,
    address: Address,
    user: String,
    password: String,
}

impl Sessions {
    /// Those of a running server that has the database. One of the workload's kind is opened: what cannot be
    /// had is told here.
    pub(crate) fn of(
        instance: &Instance,
        system: &System,
        timeout: Duration,
    ) -> Result<Self, SiteError> {
        let admin = admin(instance, system, DATABASE, timeout);
        let way = Way::of(instance, system, &*admin)?;
        let workload = way.connector(timeout);
        let opened = workload.connect().map_err(|error| {
            let reason = format!("cannot open a session for the workload: {error}");
            SiteError::with_log(reason, instance.log_tail(LOG_LINES))
        });
        Ok(Self {
            info: opened?.info().clone(),
            patient: way.connector(timeout * PATIENCE),
            address: way.address,
            workload,
            admin,
        })
    }
}

impl<'a> Way<'a> {
    /// Over the socket as the superuser, or over TCP with an account that is made for it.
    fn of(
        instance: &'a Instance,
        system: &'a System,
        admin: &dyn Connector,
    ) -> Result<Self, SiteError> {
        let Some(port) = instance.port() else {
            return Ok(Self {
                instance,
                system,
                address: Address::Socket(instance.endpoint_socket()),
                user: instance.superuser().to_owned(),
                password: String::new(),
            });
        };
        let mut session = admin.connect().map_err(|error| {
            let reason = format!("cannot use database {DATABASE}: {error}");
            SiteError::with_log(reason, instance.log_tail(LOG_LINES))
        })?;
        let user = instance.tcp_user();
        let password = account::make(&mut *session, &system.build, user)?;
        let host = account::HOST.to_owned();
        Ok(Self {
            instance,
            system,
            address: Address::Tcp { host, port },
            user: user.to_owned(),
            password,
        })
    }

    fn connector(&self, timeout: Duration) -> Arc<dyn Connector> {
        let login = Login {
            user: self.user.clone(),
            password: self.password.clone(),
            database: DATABASE.to_owned(),
        };
        let endpoint = reach::endpoint(
            self.system.build.dbms.dialect(),
            self.address.clone(),
            login,
            timeout,
            self.system.connection,
        );
        let inner = drivers::connector(&endpoint);
        Arc::new(WhileAlive::new(inner, self.instance.process()))
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
