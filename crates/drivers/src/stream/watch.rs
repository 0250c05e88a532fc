//! Ends waits that last too long, without a timer for each of them.
//!
//! A `poll` with a timeout arms a timer and takes it back, for a tenth of what the kernel needs for the whole
//! round trip. So the first wait of an exchange has none: one thread of the process looks at all connections
//! a few times within the shortest of their timeouts, and shuts down those that waited too long.

use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use rustix::net::Shutdown;

/// A look comes after a quarter of the shortest timeout, but no oftener and no more seldom than this.
const BETWEEN_LOOKS: (Duration, Duration) = (Duration::from_millis(2), Duration::from_secs(1));

/// The thread's stack: its frames are shallow.
const STACK: usize = 64 << 10;

/// A socket whose waits may be watched.
#[derive(Debug)]
pub(super) struct Watched {
    pub(super) fd: OwnedFd,
    timeout: Duration,
    /// Another number for each wait, odd while it lasts.
    wait: AtomicU64,
    /// Was it shut down because a wait lasted too long?
    expired: AtomicBool,
    /// Does somebody look? Where nobody is to, or the system has no thread to give, waits need a timeout of
    /// their own.
    pub(super) guarded: bool,
}

impl Watched {
    /// A socket whose waits end after `timeout`, or up to two looks later, where somebody is to look.
    pub(super) fn new(fd: OwnedFd, timeout: Duration, is_looked_at: bool) -> Arc<Self> {
        let watched = Arc::new(Self {
            fd,
            timeout,
            wait: AtomicU64::new(0),
            expired: AtomicBool::new(false),
            guarded: is_looked_at && WATCHMAN.is_at_work(),
        });
        if watched.guarded {
            WATCHMAN.take_on(&watched);
        }
        watched
    }

    /// A wait begins, or ends. Only the socket's thread calls this: nothing changes between load and store.
    #[inline]
    pub(super) fn step(&self) {
        let wait = self.wait.load(Ordering::Relaxed);
        self.wait.store(wait.wrapping_add(1), Ordering::Relaxed);
    }

    pub(super) fn has_expired(&self) -> bool {
        self.expired.load(Ordering::Relaxed)
    }
}

struct Watchman {
    rounds: Mutex<Rounds>,
    /// A socket came that must be looked at sooner than the others.
    called: Condvar,
}

struct Rounds {
    entries: Vec<Entry>,
    /// Until the next look; `None` while there is nothing to look at.
    pause: Option<Duration>,
}

/// A socket, and what was seen of it last.
struct Entry {
    socket: Weak<Watched>,
    wait: u64,
    since: Instant,
}

static WATCHMAN: Watchman = Watchman {
    rounds: Mutex::new(Rounds { entries: Vec::new(), pause: None }),
    called: Condvar::new(),
};

impl Watchman {
    /// Starts the thread when it is first needed; could it be started?
    fn is_at_work(&'static self) -> bool {
        static AT_WORK: OnceLock<bool> = OnceLock::new();
        *AT_WORK.get_or_init(|| {
            let thread = thread::Builder::new().name("watch".to_owned());
            thread.stack_size(STACK).spawn(|| self.work()).is_ok()
        })
    }

    fn take_on(&self, socket: &Arc<Watched>) {
        let mut rounds = self.rounds();
        rounds.entries.push(Entry {
            socket: Arc::downgrade(socket),
            wait: 0,
            since: Instant::now(),
        });
        let pause = pause(socket.timeout);
        if rounds.pause.is_none_or(|now| pause < now) {
            rounds.pause = Some(pause);
            self.called.notify_one();
        }
    }

    fn work(&self) {
        let mut rounds = self.rounds();
        loop {
            rounds = match rounds.pause {
                None => self.called.wait(rounds).unwrap_or_else(PoisonError::into_inner),
                Some(pause) => {
                    let waited = self.called.wait_timeout(rounds, pause);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
            };
            rounds.look();
        }
    }

    fn rounds(&self) -> MutexGuard<'_, Rounds> {
        self.rounds.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Rounds {
    fn look(&mut self) {
        let now = Instant::now();
        let mut shortest: Option<Duration> = None;
        self.entries.retain_mut(|entry| {
            let Some(socket) = entry.socket.upgrade() else {
                return false;
            };
            entry.look(&socket, now);
            shortest = Some(shortest.map_or(socket.timeout, |least| least.min(socket.timeout)));
            true
        });
        self.pause = shortest.map(pause);
    }
}

impl Entry {
    fn look(&mut self, socket: &Watched, now: Instant) {
        let wait = socket.wait.load(Ordering::Relaxed);
        if wait != self.wait || wait.is_multiple_of(2) {
            self.wait = wait;
            self.since = now;
        } else if now.duration_since(self.since) >= socket.timeout && !socket.has_expired() {
            socket.expired.store(true, Ordering::Relaxed);
            // The peer may be gone already, which is as good.
            let _ = rustix::net::shutdown(&socket.fd, Shutdown::Both);
        }
    }
}

fn pause(timeout: Duration) -> Duration {
    (timeout / 4).clamp(BETWEEN_LOOKS.0, BETWEEN_LOOKS.1)
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::os::unix::net::UnixStream;

    use super::*;

    const TIMEOUT: Duration = Duration::from_millis(60);

    fn pair() -> (Arc<Watched>, UnixStream) {
        let (ours, theirs) = UnixStream::pair().unwrap();
        theirs.set_read_timeout(Some(TIMEOUT * 5)).unwrap();
        (Watched::new(ours.into(), TIMEOUT, true), theirs)
    }

    /// Was the other end hung up within some time?
    fn is_hung_up(theirs: &mut UnixStream) -> bool {
        matches!(theirs.read(&mut [0; 8]), Ok(0))
    }

    #[test]
    fn a_wait_that_lasts_too_long_is_ended() {
        let (watched, mut theirs) = pair();
        let begun = Instant::now();
        watched.step();
        assert!(is_hung_up(&mut theirs));
        assert!(watched.has_expired());
        assert!(begun.elapsed() >= TIMEOUT);
    }

    #[test]
    fn who_does_not_wait_is_left_alone() {
        let (watched, mut theirs) = pair();
        watched.step();
        watched.step();
        assert!(!is_hung_up(&mut theirs));
        assert!(!watched.has_expired());
    }

    #[test]
    fn each_wait_has_its_own_time() {
        let (watched, _theirs) = pair();
        let begun = Instant::now();
        while begun.elapsed() < TIMEOUT * 3 {
            watched.step();
            thread::sleep(TIMEOUT / 20);
            watched.step();
        }
        assert!(!watched.has_expired());
    }

    #[test]
    fn a_socket_that_is_gone_is_forgotten() {
        let (watched, theirs) = pair();
        let weak = Arc::downgrade(&watched);
        drop((watched, theirs));
        thread::sleep(TIMEOUT);
        let rounds = WATCHMAN.rounds();
        assert!(!rounds.entries.iter().any(|entry| entry.socket.ptr_eq(&weak)));
    }
}
