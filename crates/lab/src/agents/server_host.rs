//! The host of a server that is not ours: an agent there reads its counters, and those of the server's process.

use std::net::{IpAddr, ToSocketAddrs};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use drivers::Address;
use load::{Result, StepError, Stop, lock};
use model::{Dbms, Readings};
use probes::{Detail, Probe, ProbeError, Watch};

use super::link::{Links, PATIENCE};
use super::protocol::{Answer, Request};
use crate::reach::ForeignAddress;
use crate::serving::serving_process;

/// How long a reading may take. What comes later is not of the moment that was asked for.
const READS: Duration = Duration::from_secs(5);

/// An agent on the host of a server. It ends when this is dropped.
pub(crate) struct ServerHost {
    host: String,
    /// `None` once it has not answered.
    links: Mutex<Option<Links>>,
    process: Option<u32>,
}

impl ServerHost {
    /// Starts an agent on `host`, which looks for the server's process by the server's address.
    pub(crate) fn start(
        host: &str,
        address: &ForeignAddress,
        dbms: Dbms,
        stop: &Stop,
    ) -> Result<Self> {
        let mut links = Links::start(&[host.to_owned()], stop)?;
        // As we reach it: its own host may give its name an address of its own.
        let addresses = address.address(dbms.dialect()).ok().map(|it| addresses(&it));
        let addresses = addresses.unwrap_or_default();
        let request = Request::Watch { address: address.to_string(), addresses, dbms };
        let Answer::Watching(process) = links.ask(0, &request, PATIENCE)? else {
            return Err(links.nonsense(0));
        };
        Ok(Self { host: host.to_owned(), links: Mutex::new(Some(links)), process })
    }

    pub(crate) fn described(&self) -> String {
        let watched = match self.process {
            Some(pid) => format!("process {pid}"),
            None => "its process was not found, so there are only the host's counters".to_owned(),
        };
        format!("{}: {watched}", self.host)
    }

    fn read(&self, is_edge: bool) -> Result<Readings> {
        let mut all = lock(&self.links);
        let links = all.as_mut().ok_or_else(|| StepError::Host {
            host: self.host.clone(),
            message: "its agent has not answered before".to_owned(),
        })?;
        let answered = links.ask(0, &Request::Read { is_edge }, READS).and_then(|answer| {
            let Answer::Readings(readings) = answer else { return Err(links.nonsense(0)) };
            Ok(readings)
        });
        if answered.is_err() {
            *all = None;
        }
        answered
    }
}

pub(crate) struct ServerHostProbe(pub(crate) Arc<ServerHost>);

impl Probe for ServerHostProbe {
    fn name(&self) -> &'static str {
        "server-host"
    }

    fn read(&mut self, detail: Detail) -> Result<Readings, ProbeError> {
        let Self(host) = self;
        host.read(detail == Detail::Edge).map_err(|error| ProbeError::Elsewhere {
            host: host.host.clone(),
            cause: error.to_string(),
        })
    }
}

/// Those of the host's name; none for a socket, and for a name that leads nowhere.
fn addresses(address: &Address) -> Vec<IpAddr> {
    let Address::Tcp { host, port } = address else { return Vec::new() };
    let found = (host.as_str(), *port).to_socket_addrs();
    found.into_iter().flatten().map(|address| address.ip()).collect()
}

/// For the agent: the server's process, and what reads its counters and those of its host.
pub(super) fn watch(
    address: &str,
    addresses: &[IpAddr],
    dbms: Dbms,
) -> (Option<u32>, Vec<Box<dyn Probe>>) {
    let address = ForeignAddress::parse(address).and_then(|it| it.address(dbms.dialect()));
    let server = address.ok().and_then(|address| serving_process(&address, addresses, dbms));
    // Where a server works, its data are.
    let device = server.and_then(probes::device_of_process);
    (server, probes::all(&Watch { server, host: true, device, is_elsewhere: true }))
}
