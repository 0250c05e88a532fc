//! Pages over HTTP, for reading only: GET and HEAD, no files, nothing that changes anything.
//!
//! The pages come from a [`Pages`]; this crate knows HTTP, and `answer.rs` who may ask. One thread makes all pages,
//! one after the other (`maker.rs`): whoever measures beside it loses at most a part of one CPU. There is no TLS.

mod answer;
mod maker;
mod pages;

use std::net::SocketAddr;
use std::sync::Arc;

pub use answer::Guard;
use answer::Server;
use axum::Router;
pub use pages::{Address, Kind, Page, Pages, Refusal};
use tokio::net::TcpListener;

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
