//! Load hosts: on each, an agent runs a share of the clients of a step. An agent is this program, started over `ssh`.
//!
//! This process loads, checks, reads the probes and decides; it also says when a window opens, by each agent's own
//! clock. Agents send their intervals as they are cut, and here they are added.

mod agent;
mod clock;
mod crew;
mod link;
mod merge;
mod protocol;
mod sending;
mod server_host;
mod words;

use std::sync::Mutex;
use std::time::Duration;

use load::{Crew, LoadHosts, Result, Share, Stop, lock};
use model::{KindSpec, System};

pub use self::agent::run_agent;
use self::crew::HostsCrew;
use self::link::{Links, PATIENCE};
use self::protocol::{Answer, Request, Server};
pub(crate) use self::server_host::{ServerHost, ServerHostProbe};
use crate::marker::Owner;
use crate::reach::{ForeignAddress, Secrets};

/// What each session may take to connect, besides the patience for any answer.
const CONNECTS: Duration = Duration::from_millis(100);

/// The agents of a system in one trial. They end when this is dropped.
pub(crate) struct Agents {
    links: Mutex<Links>,
    /// The longest wait for clients that are at work.
    patience: Duration,
}

impl Agents {
    /// Starts an agent on each load host of the system, whose server each must be able to reach.
    pub(crate) fn start(
        system: &System,
        address: &ForeignAddress,
        secrets: &Secrets,
        timeout: Duration,
        stop: &Stop,
    ) -> Result<Self> {
        let mut links = Links::start(&system.load_hosts, stop)?;
        let server = |_| {
            Request::Reach(Box::new(Server {
                system: system.clone(),
                address: address.to_string(),
                password: secrets.password(&address.to_string()),
                timeout_seconds: timeout.as_secs(),
            }))
        };
        let places: Vec<usize> = links.places().collect();
        let patience = timeout + PATIENCE;
        links.ask_all(&places, server, patience, |answer| matches!(answer, Answer::Reached))?;
        Ok(Self { links: Mutex::new(links), patience })
    }

    /// Fails if an agent's server does not have the marker of `owner`: the address may lead it to another server.
    pub(crate) fn recognize(&self, owner: &Owner) -> Result<()> {
        let mut links = lock(&self.links);
        let places: Vec<usize> = links.places().collect();
        let request = |_| Request::Recognize(owner.clone());
        let is_right = |answer: &Answer| matches!(answer, Answer::Recognized);
        links.ask_all(&places, request, self.patience, is_right).map(drop)
    }

    pub(crate) fn described(&self) -> String {
        lock(&self.links).described()
    }
}

impl LoadHosts for Agents {
    fn crew(
        &self,
        assignment: String,
        kinds: Vec<KindSpec>,
        clients: u32,
        sessions: u32,
    ) -> Result<Box<dyn Crew + '_>> {
        let mut links = lock(&self.links);
        let shares = Share::divide(clients, links.places().len() as u32);
        let places: Vec<usize> = links.places().take(shares.len()).collect();
        let connect = |place: usize| {
            let (assignment, share) = (assignment.clone(), shares[place].clone());
            let all_sessions = sessions.saturating_mul(share.clients.len() as u32);
            Request::Connect { assignment, share, all_sessions }
        };
        let are_connected = |answer: &Answer| matches!(answer, Answer::Connected);
        let patience = self.patience + CONNECTS * clients.saturating_mul(sessions);
        links.ask_all(&places, connect, patience, are_connected)?;
        Ok(Box::new(HostsCrew { links, places, kinds, patience: self.patience }))
    }
}
