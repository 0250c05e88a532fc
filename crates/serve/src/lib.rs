//! Pages over HTTP, for reading only: GET and HEAD, no files, nothing that changes anything.
//!
//! The pages come from a [`Pages`]; this crate knows HTTP, and `answer.rs` who may ask. One thread makes all pages,
//! one after the other (`maker.rs`): whoever measures beside it loses at most a part of one CPU. There is no TLS.

mod answer;
mod maker;

use std::net::SocketAddr;
use std::sync::Arc;

pub use answer::Guard;
use answer::Server;
use axum::Router;
use tokio::net::TcpListener;

/// An address of a page: `/runs/r1?base=a` has the path `runs`, `r1`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Address {
    pub path: Vec<String>,
    pub query: Vec<(String, String)>,
}

impl Address {
    /// The first value of a key of the query, unless it is empty.
    pub fn asked(&self, key: &str) -> Option<&str> {
        let mut all = self.query.iter();
        all.find(|(name, value)| name == key && !value.is_empty()).map(|(_, value)| value.as_str())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Html,
    OpenMetrics,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    pub kind: Kind,
    pub text: String,
}

/// Why there is no page.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// Nothing is at this address; the text says what there is.
    #[error("{0}")]
    Missing(String),
    #[error("{0}")]
    Failed(String),
}

/// Who makes the pages. All methods are called from one thread.
pub trait Pages: Send + 'static {
    /// What the page depends on: while this stays the same, so does the page. Cheap to find out. `None`: the page is
    /// made anew each time.
    fn state(&mut self, address: &Address) -> Result<Option<String>, Refusal>;

    fn page(&mut self, address: &Address) -> Result<Page, Refusal>;

    /// The part of the page of a run that changes while it is measured, as HTML, and whether it still changes.
    fn live(&mut self, run: &str) -> Result<(String, bool), Refusal>;
}

#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    #[error("cannot listen on {address}: {cause}; another port: --port")]
    Listen { address: SocketAddr, cause: std::io::Error },
    #[error("cannot serve pages: {0}")]
    Stopped(#[from] std::io::Error),
}

/// Serves until the process ends. `ready` gets the address once connections are accepted: port 0 stands for any.
pub fn serve(
    address: SocketAddr,
    guard: impl FnOnce(SocketAddr) -> Guard,
    pages: impl Pages,
    ready: impl FnOnce(SocketAddr, &Guard),
) -> Result<(), ServeError> {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build()?;
    let maker = maker::start(pages)?;
    runtime.block_on(async {
        let listening = TcpListener::bind(address).await;
        let listener = listening.map_err(|cause| ServeError::Listen { address, cause })?;
        let address = listener.local_addr()?;
        let guard = guard(address);
        ready(address, &guard);
        let server = Arc::new(Server::new(guard, maker));
        let router = Router::new().fallback(answer::answer).with_state(server);
        Ok(axum::serve(listener, router).await?)
    })
}
