//! Who may ask, and how answers look on the wire.

use std::collections::HashSet;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Query, Request, State};
use axum::http::header::{
    ALLOW, AUTHORIZATION, CACHE_CONTROL, CONTENT_TYPE, COOKIE, HOST, LOCATION, REFERRER_POLICY,
    SET_COOKIE, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};

use crate::maker::Job;
use crate::pages::{Address, Kind, Refusal};

/// Browsers that may watch runs at the same time.
const MOST_WATCHERS: usize = 64;

/// Between two looks at a run that is watched.
const LOOK: Duration = Duration::from_secs(1);

const COOKIE_NAME: &str = "backslide_token";

#[derive(Clone, Debug)]
pub struct Guard {
    /// What a request may call this server: a page of another site whose name points here cannot choose one of these.
    pub hosts: Vec<String>,
    /// What each request must know; `None`: nothing.
    pub token: Option<String>,
}

impl Guard {
    /// For an address: its own name, those of this machine where it is local, and `others`.
    pub fn of(address: SocketAddr, others: &[String], token: Option<String>) -> Self {
        let ip = address.ip();
        let mut hosts = vec![if ip.is_ipv6() { format!("[{ip}]") } else { ip.to_string() }];
        if ip.is_loopback() || ip.is_unspecified() {
            hosts.extend(["localhost", "127.0.0.1", "[::1]"].map(str::to_owned));
        }
        hosts.extend(others.iter().map(|name| name.to_lowercase()));
        let mut seen = HashSet::new();
        hosts.retain(|name| seen.insert(name.clone()));
        Self { hosts, token }
    }

    fn knows_host(&self, headers: &HeaderMap) -> bool {
        let Some(host) = headers.get(HOST).and_then(|host| host.to_str().ok()) else {
            return false;
        };
        let name = match host.rsplit_once(':') {
            Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
            _ => host,
        };
        self.hosts.iter().any(|known| *known == name.to_lowercase())
    }

    fn admits(&self, headers: &HeaderMap) -> bool {
        let Some(token) = &self.token else { return true };
        let text = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
        let bearer = text(AUTHORIZATION).and_then(|value| value.strip_prefix("Bearer "));
        let cookies = text(COOKIE).unwrap_or_default().split("; ");
        let mut cookies = cookies.filter_map(|cookie| cookie.split_once('='));
        let cookie = cookies.find(|(name, _)| *name == COOKIE_NAME).map(|(_, value)| value);
        bearer.or(cookie).is_some_and(|given| is_same(given, token))
    }
}

/// Compares in a time that does not depend on the first difference.
fn is_same(given: &str, token: &str) -> bool {
    let differing = given.bytes().zip(token.bytes()).fold(0, |all, (a, b)| all | (a ^ b));
    given.len() == token.len() && differing == 0
}

pub(crate) struct Server {
    guard: Guard,
    maker: mpsc::Sender<Job>,
    watchers: Arc<Semaphore>,
}

impl Server {
    pub(crate) fn new(guard: Guard, maker: mpsc::Sender<Job>) -> Self {
        Self { guard, maker, watchers: Arc::new(Semaphore::new(MOST_WATCHERS)) }
    }

    /// Has the maker do a job; `None` when too many wait.
    async fn made<T>(&self, job: impl FnOnce(oneshot::Sender<T>) -> Job) -> Option<T> {
        let (reply, made) = oneshot::channel();
        self.maker.try_send(job(reply)).ok()?;
        made.await.ok()
    }
}

pub(crate) async fn answer(State(server): State<Arc<Server>>, request: Request) -> Response {
    let headers = request.headers();
    if !server.guard.knows_host(headers) {
        let names = server.guard.hosts.join(", ");
        let text = format!("this server is called {names}; --host adds a name");
        return plain(StatusCode::FORBIDDEN, text);
    }
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        let refused = plain(StatusCode::METHOD_NOT_ALLOWED, "these pages can only be read");
        return ([(ALLOW, "GET, HEAD")], refused).into_response();
    }
    let Some(mut address) = address(request.uri()) else {
        return plain(StatusCode::BAD_REQUEST, "this address cannot be read");
    };
    if let Some(token) = server.guard.token.as_deref()
        && let Some(place) = address.query.iter().position(|(key, _)| key == "token")
    {
        let (_, given) = address.query.remove(place);
        if is_same(&given, token) {
            return with_cookie(request.uri(), token);
        }
    }
    if !server.guard.admits(headers) {
        return plain(StatusCode::UNAUTHORIZED, "add ?token=… as `backslide serve` printed it");
    }
    match address.path.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["runs", run, "events"] => events(&server, (*run).to_owned()).await,
        _ => page(&server, address).await,
    }
}

fn address(uri: &Uri) -> Option<Address> {
    let Query(query) = Query::<Vec<(String, String)>>::try_from_uri(uri).ok()?;
    let path = uri.path().split('/').filter(|part| !part.is_empty());
    let path = path.map(str::to_owned).collect();
    Some(Address { path, query })
}

/// Keeps the token in the browser, and takes it out of the address.
fn with_cookie(uri: &Uri, token: &str) -> Response {
    let cookie = format!("{COOKIE_NAME}={token}; HttpOnly; SameSite=Strict; Path=/");
    let headers = [(SET_COOKIE, cookie), (LOCATION, uri.path().to_owned())];
    (StatusCode::SEE_OTHER, headers).into_response()
}

async fn page(server: &Server, address: Address) -> Response {
    match server.made(|reply| Job::Page(address, reply)).await {
        None => busy(),
        Some(Err(refusal)) => refused(&refusal),
        Some(Ok(page)) => {
            let kind = match page.kind {
                Kind::Html => "text/html; charset=utf-8",
                Kind::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
            };
            (StatusCode::OK, headers(kind), page.text.clone()).into_response()
        }
    }
}

/// A stream of the changing part of a run's page, as often as it changes, until the run ends.
async fn events(server: &Arc<Server>, run: String) -> Response {
    let Ok(permit) = Arc::clone(&server.watchers).try_acquire_owned() else {
        return busy();
    };
    match server.made(|reply| Job::Live(run.clone(), reply)).await {
        None => return busy(),
        Some(Err(refusal)) => return refused(&refusal),
        Some(Ok(_)) => {}
    }
    let watch =
        Watch { server: Arc::clone(server), run, last: None, is_over: false, _permit: permit };
    let events = Sse::new(stream::unfold(watch, Watch::next)).keep_alive(KeepAlive::default());
    ([(CACHE_CONTROL, "no-store")], events).into_response()
}

/// What one browser has seen of a run.
struct Watch {
    server: Arc<Server>,
    run: String,
    last: Option<Arc<str>>,
    is_over: bool,
    _permit: OwnedSemaphorePermit,
}

impl Watch {
    async fn next(mut self) -> Option<(Result<Event, Infallible>, Self)> {
        if self.is_over {
            return None;
        }
        loop {
            if self.last.is_some() {
                tokio::time::sleep(LOOK).await;
            }
            let run = self.run.clone();
            let live = self.server.made(|reply| Job::Live(run, reply)).await?.ok()?;
            self.is_over = !live.goes_on;
            if self.is_over || self.last.as_ref() != Some(&live.html) {
                let event = Event::default().event(if self.is_over { "over" } else { "live" });
                let event = event.data(&*live.html);
                self.last = Some(live.html);
                return Some((Ok(event), self));
            }
        }
    }
}

fn busy() -> Response {
    plain(StatusCode::SERVICE_UNAVAILABLE, "too many requests wait; try again in a moment")
}

fn refused(refusal: &Refusal) -> Response {
    let status = match refusal {
        Refusal::Missing(_) => StatusCode::NOT_FOUND,
        Refusal::Wrong(_) => StatusCode::BAD_REQUEST,
        Refusal::Failed(_) => StatusCode::INTERNAL_SERVER_ERROR,
    };
    plain(status, refusal.to_string())
}

fn plain(status: StatusCode, text: impl Into<String>) -> Response {
    let text = text.into() + "\n";
    (status, headers("text/plain; charset=utf-8"), Body::from(text)).into_response()
}

fn headers(kind: &'static str) -> [(HeaderName, &'static str); 5] {
    [
        (CONTENT_TYPE, kind),
        (CACHE_CONTROL, "no-cache"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (X_FRAME_OPTIONS, "DENY"),
        (REFERRER_POLICY, "no-referrer"),
    ]
}
