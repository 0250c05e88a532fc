//! Runs the clients of one step: a thread each, one window, intervals of a second.

mod collector;
mod threads;
mod window;

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use model::{Edge, Interval, KindSpec, Nanos};

use self::collector::{Collector, Cut};
use self::threads::{ClientThread, Crew, Shared, sleep};
pub use self::window::Window;
use crate::recorder::{MOST_KINDS, Recorder};
use crate::{ClientRecorder, StepClock, StepError};

/// Stack of a client's thread: its own frames are shallow, and only touched pages cost memory.
pub const CLIENT_STACK: usize = 256 << 10;

/// How often those look for the end of the step, and for the user's wish to stop, whom nobody wakes.
pub(crate) const NAP: Duration = Duration::from_millis(50);

/// The user's wish to stop, shared with the signal handler.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Asks everybody to stop.
    pub fn ask(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// What is set once somebody asked, for those who do not know this type.
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0)
    }

    /// Was stopping asked for?
    pub fn is_asked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// One client: owns its sessions and generators, runs on its own thread.
pub trait Client: Send {
    /// Does its work: a bounded client until it is done, others until [`ClientContext::is_over`].
    /// Both return early when that is so. Every operation is recorded. An error fails the step.
    ///
    /// Called once in each window: twice where the step has a warm-up, more often where it looks for a
    /// rate or is measured in slices. Times of [`ClientContext`] count from the opening of that window.
    fn run(&mut self, context: &mut ClientContext<'_>) -> Result<(), StepError>;
}

/// What a client is to its step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Role {
    /// For messages: `insert 3`.
    pub name: String,
    /// Has it a fixed amount of work? The window closes when the last bounded client is done.
    pub bounded: bool,
}

/// What a client has while it runs.
#[derive(Debug)]
pub struct ClientContext<'a> {
    /// Its end of the recorder.
    pub recorder: ClientRecorder,
    /// Does the window close when this client and others are done?
    closes: bool,
    /// When it closes at the latest.
    until: Nanos,
    shared: &'a Shared,
    stop: &'a Stop,
}

impl ClientContext<'_> {
    /// Is the window closed, or is the step to be given up?
    pub fn is_over(&self) -> bool {
        self.shared.is_over() || self.stop.is_asked()
    }

    /// As [`ClientContext::is_over`], for a client that has just read the clock, `now`: it need not be told
    /// that the time of the window is over, and so does nothing more in the moment until somebody is awake
    /// to tell it. What it did then would be in no rate, but in what the probes say.
    pub fn is_over_at(&self, now: Nanos) -> bool {
        now >= self.until || self.is_over()
    }

    /// Does the window wait for this client's end? Else it closes at its own time, whoever is done.
    pub fn is_awaited(&self) -> bool {
        self.closes
    }

    /// Sleeps until `due` or until the step is over; tells whether `due` was reached. Costs nothing while
    /// it lasts. The kernel wakes a thread some microseconds after it asked for, more on a busy machine.
    pub fn wait_until(&self, due: Nanos) -> bool {
        self.wait_from(self.recorder.clock().now(), due).is_some()
    }

    /// As [`ClientContext::wait_until`], for a client that has just read the clock, `now`. Tells what it
    /// says when `due` is reached, so that it need not be read again.
    pub fn wait_from(&self, mut now: Nanos, due: Nanos) -> Option<Nanos> {
        while !self.is_over() {
            if now >= due {
                return Some(now);
            }
            sleep(Duration::from(due - now));
            now = self.recorder.clock().now();
        }
        None
    }
}

/// The pace that a step's writers must keep, for the share of seconds on target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// Index of the operation kind that is paced.
    pub kind: usize,
    /// Rows per second of all clients together.
    pub rows_per_second: u64,
    /// Rows that may be under way at the end of a second without being late: a statement a client.
    pub slack: u64,
    /// Share of a second's rows that may be missing, in per cent.
    pub tolerance_percent: u64,
    /// Do writers make up for lost time? Then a second is on target when they are not behind at its
    /// end; else when its own rows are enough.
    pub catches_up: bool,
}

/// Everything that a step needs to run.
pub struct StepSetup {
    /// Operation kinds, in the order in which clients number them.
    pub kinds: Vec<KindSpec>,
    /// All clients, connected.
    pub clients: Vec<(Role, Box<dyn Client>)>,
    /// The pace, where there is one.
    pub pace: Option<Pace>,
    /// When the window closes.
    pub end: End,
    /// All clients run for so long before the window opens; zero for no warm-up. It is a window of its
    /// own: what they record is in no number, the observer sees none of it, and what is under way at its
    /// end is awaited. An error in it fails the step. Only for clients that can run twice.
    pub warmup: Nanos,
}

/// When a step's window closes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// When the last bounded client is done; given up after the limit, what was done until then counts.
    /// The last interval is as long as is left.
    AllDone {
        /// The limit, where there is one.
        limit: Option<Nanos>,
    },
    /// After exactly this time, whoever is done, bounded or not. What ended by then counts; what is under
    /// way then is late. With whole seconds, all intervals are whole.
    After(Nanos),
}

impl End {
    /// When the window closes at the latest.
    const fn at_latest(self) -> Nanos {
        match self {
            Self::AllDone { limit: None } => Nanos(u64::MAX),
            Self::AllDone { limit: Some(at) } | Self::After(at) => at,
        }
    }

    /// Does it close before that when all bounded clients are done?
    const fn when_done(self) -> bool {
        matches!(self, Self::AllDone { .. })
    }
}

/// Is told what happens in a step: `Open`, each interval, `Close`, the last intervals. Called on the
/// thread that runs the step, never by clients.
pub trait Observer {
    /// The window opens after this returns, or has just closed: the moment to read the probes.
    fn edge(&mut self, edge: Edge);

    /// A second is over. `Break` gives the step up.
    fn interval(&mut self, interval: Interval) -> ControlFlow<()>;
}

/// Sees nothing: for windows that are no result.
pub(crate) struct Blind;

impl Observer for Blind {
    fn edge(&mut self, _: Edge) {}

    fn interval(&mut self, _: Interval) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// Runs all clients of a step and returns when every one has ended.
///
/// # Errors
/// What a client failed with first; [`StepError::Interrupted`] when the user or the observer ended the
/// step; [`StepError::Thread`] when there are too many clients for the system.
pub fn run(
    setup: StepSetup,
    stop: &Stop,
    observer: &mut dyn Observer,
) -> Result<Window, StepError> {
    let StepSetup {
        kinds,
        mut clients,
        pace,
        end,
        warmup,
    } = setup;
    if warmup.0 > 0 {
        let end = End::After(warmup);
        pass(&kinds, &mut clients, None, end, stop, &mut Blind)?;
    }
    pass(&kinds, &mut clients, pace, end, stop, observer)
}

/// Runs all clients once, from the opening of a window until every one has ended. Errors as of [`run`].
pub(crate) fn pass(
    kinds: &[KindSpec],
    clients: &mut [(Role, Box<dyn Client>)],
    pace: Option<Pace>,
    end: End,
    stop: &Stop,
    observer: &mut dyn Observer,
) -> Result<Window, StepError> {
    if kinds.len() > MOST_KINDS {
        let message = format!(
            "a step with {} kinds of operations; {MOST_KINDS} are possible",
            kinds.len()
        );
        return Err(StepError::Unsupported(message));
    }
    let recorder = Recorder::new(kinds.to_vec(), clients.len());
    recorder.close_at(end.at_latest());
    let closes = |role: &Role| role.bounded && end.when_done();
    let awaited = clients.iter().filter(|(role, _)| closes(role)).count();
    let shared = Shared::new(clients.len(), awaited);
    let cut = thread::scope(|scope| {
        // Both end the clients when they are dropped, so that nobody waits for ever, whatever happens here.
        let mut crew = Crew::new(&shared, clients.len());
        let mut gate = shared.shut_gate();
        let of = clients.len();
        for (index, (role, client)) in clients.iter_mut().enumerate() {
            let role: &Role = role;
            let thread = ClientThread {
                index,
                role,
                closes: closes(role),
                until: end.at_latest(),
                recorder: &recorder,
                shared: &shared,
                stop,
            };
            let spawned = thread::Builder::new()
                .stack_size(CLIENT_STACK)
                .name(role.name.clone())
                .spawn_scoped(scope, move || thread.run(&mut **client));
            match spawned {
                Ok(handle) => crew.add(handle.thread()),
                Err(cause) => {
                    let client = index + 1;
                    return Err(StepError::Thread { client, of, cause });
                }
            }
        }
        shared.wait(None, |s| s.not_ready == 0);
        observer.edge(Edge::Open);
        let clock = StepClock::start();
        *gate = Some(clock);
        drop(gate);
        let collector = Collector {
            recorder: &recorder,
            shared: &shared,
            crew: &crew,
            stop,
            clock,
            pace,
        };
        Ok(collector.run(end, observer))
    })?;
    shared.outcome(stop)?;
    let (kinds, errors) = recorder.totals();
    let Cut {
        length,
        on_target,
        short: cut_short,
    } = cut;
    Ok(Window {
        length,
        kinds,
        errors,
        on_target,
        timed: pace.is_some() || !end.when_done(),
        cut_short,
    })
}

#[cfg(test)]
mod tests;
