//! The thread that makes pages, and keeps those that are likely to be asked for again.

use std::collections::HashMap;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use tokio::sync::{mpsc, oneshot};

use crate::pages::{Address, Page, Pages, Refusal};

/// Requests that may wait for their page.
const WAITING: usize = 256;

const KEPT_BYTES: usize = 32 << 20;

/// How long the live part of a page counts as the present one.
const LIVE: Duration = Duration::from_millis(900);

/// A page, and whoever waits for it.
pub(crate) enum Job {
    Page(Address, oneshot::Sender<Result<Arc<Page>, Refusal>>),
    Live(String, oneshot::Sender<Result<Live, Refusal>>),
}

/// The changing part of a run's page, and whether it still changes.
#[derive(Clone)]
pub(crate) struct Live {
    pub(crate) html: Arc<str>,
    pub(crate) goes_on: bool,
}

pub(crate) fn start(pages: impl Pages) -> std::io::Result<mpsc::Sender<Job>> {
    let (sender, mut jobs) = mpsc::channel(WAITING);
    thread::Builder::new().name("pages".to_owned()).spawn(move || {
        // Below whatever measures on this machine; without the right to, as everybody else.
        let _unchanged = rustix::process::nice(10);
        let mut maker = Maker { pages, kept: HashMap::new(), bytes: 0, live: HashMap::new() };
        while let Some(job) = jobs.blocking_recv() {
            // Who does not wait any more needs no answer.
            match job {
                Job::Page(address, reply) if !reply.is_closed() => {
                    let _gone = reply.send(maker.page(address));
                }
                Job::Live(run, reply) if !reply.is_closed() => {
                    let _gone = reply.send(maker.live(run));
                }
                Job::Page(..) | Job::Live(..) => {}
            }
        }
    })?;
    Ok(sender)
}

struct Maker<P> {
    pages: P,
    /// Pages with the state that they were made of.
    kept: HashMap<Address, (String, Arc<Page>)>,
    bytes: usize,
    live: HashMap<String, (Instant, Live)>,
}

impl<P: Pages> Maker<P> {
    fn page(&mut self, address: Address) -> Result<Arc<Page>, Refusal> {
        let Some(state) = self.pages.state(&address)? else {
            return Ok(Arc::new(self.pages.page(&address)?));
        };
        if let Some((of, page)) = self.kept.get(&address)
            && *of == state
        {
            return Ok(Arc::clone(page));
        }
        let page = Arc::new(self.pages.page(&address)?);
        self.keep(address, state, &page);
        Ok(page)
    }

    fn keep(&mut self, address: Address, state: String, page: &Arc<Page>) {
        if self.bytes + page.text.len() > KEPT_BYTES {
            self.kept.clear();
            self.bytes = 0;
        }
        self.bytes += page.text.len();
        if let Some((_, old)) = self.kept.insert(address, (state, Arc::clone(page))) {
            self.bytes -= old.text.len();
        }
    }

    fn live(&mut self, run: String) -> Result<Live, Refusal> {
        self.live.retain(|_, (made, _)| made.elapsed() < LIVE);
        if let Some((_, live)) = self.live.get(&run) {
            return Ok(live.clone());
        }
        let (html, goes_on) = self.pages.live(&run)?;
        // An event's data has no such line ends.
        let live = Live { html: html.replace('\r', "").into(), goes_on };
        self.live.insert(run, (Instant::now(), live.clone()));
        Ok(live)
    }
}
