//! Runs the clients of one step: a thread each, one window, intervals of a second.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use model::{Edge, ErrorCount, Interval, KindSpec, KindTotals, Nanos};

use crate::recorder::Recorder;
use crate::{ClientRecorder, StepClock, StepError};

/// Stack of a client's thread: its own frames are shallow, and only touched pages cost memory.
const STACK: usize = 256 << 10;

/// How long the collector waits after an interval's end before it collects, so that a client that
/// read its clock just before the end has stored its sample.
const GRACE: Duration = Duration::from_millis(5);

/// The longest a client sleeps without looking at its stop flag.
pub(crate) const NAP: Duration = Duration::from_millis(50);

/// The user's wish to stop, shared with the signal handler.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Asks everybody to stop.
    pub fn ask(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Was stopping asked for?
    pub fn is_asked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// One client: owns its sessions and generators, runs on its own thread.
pub trait Client: Send {
    /// Does its work: a bounded client until it is done, others until [`ClientContext::is_over`].
    /// Both return early when that is so. Every operation is recorded.
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
    shared: &'a Shared,
    stop: &'a Stop,
}

impl ClientContext<'_> {
    /// Is the window closed, or is the step to be given up?
    pub fn is_over(&self) -> bool {
        self.shared.over.load(Ordering::Relaxed) || self.stop.is_asked()
    }

    /// Sleeps until `due` or until the step is over; tells whether `due` was reached.
    pub fn wait_until(&self, due: Nanos) -> bool {
        loop {
            if self.is_over() {
                return false;
            }
            if self.recorder.clock().sleep_towards(due, NAP) {
                return true;
            }
        }
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
    /// When to give up waiting for the bounded clients; what they did until then counts.
    pub limit: Option<Nanos>,
}

/// What a step's window held.
#[derive(Clone, Debug)]
pub struct Window {
    /// Its length.
    pub length: Nanos,
    /// Totals of each operation kind.
    pub kinds: Vec<KindTotals>,
    /// Errors by code.
    pub errors: Vec<ErrorCount>,
    /// Seconds on target and seconds in all, where there was a pace.
    pub on_target: Option<(u32, u32)>,
    /// Was the window closed by the limit?
    pub cut_short: bool,
}

/// Is told what happens in a step. Called on the thread that runs the step, never by clients.
pub trait Observer {
    /// The window opens after this returns, or has just closed: the moment to read the probes.
    fn edge(&mut self, edge: Edge);

    /// A second is over. `Break` gives the step up.
    fn interval(&mut self, interval: Interval) -> ControlFlow<()>;
}

/// Runs all clients of a step and returns when every one has ended.
pub fn run(
    setup: StepSetup,
    stop: &Stop,
    observer: &mut dyn Observer,
) -> Result<Window, StepError> {
    let StepSetup {
        kinds,
        clients,
        pace,
        limit,
    } = setup;
    let recorder = Recorder::new(kinds, clients.len());
    let bounded = clients.iter().filter(|(role, _)| role.bounded).count();
    let shared = Shared::new(bounded);
    let of = clients.len();
    thread::scope(|scope| {
        // An observer that panics must not leave clients waiting at the gate.
        let _clients_never_wait_for_ever = GiveUpOnDrop(&shared);
        for (index, (role, client)) in clients.into_iter().enumerate() {
            let thread = ClientThread {
                index,
                role,
                recorder: &recorder,
                shared: &shared,
                stop,
            };
            let spawned = thread::Builder::new()
                .stack_size(STACK)
                .name(thread.role.name.clone())
                .spawn_scoped(scope, move || thread.run(client));
            if let Err(cause) = spawned {
                shared.give_up();
                return Err(StepError::Thread {
                    client: index + 1,
                    of,
                    cause,
                });
            }
        }
        shared.wait_for_ready(of);
        observer.edge(Edge::Open);
        let clock = shared.open();
        let collector = Collector {
            recorder: &recorder,
            shared: &shared,
            stop,
            clock,
            pace,
        };
        Ok(collector.run(limit, observer))
    })
    .and_then(|cut| {
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
            cut_short,
        })
    })
}

/// What clients and collector share.
#[derive(Debug)]
struct Shared {
    over: AtomicBool,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    ready: usize,
    clock: Option<StepClock>,
    bounded_left: usize,
    running: usize,
    given_up: bool,
    failure: Option<StepError>,
}

impl Shared {
    fn new(bounded: usize) -> Self {
        let state = State {
            ready: 0,
            clock: None,
            bounded_left: bounded,
            running: 0,
            given_up: false,
            failure: None,
        };
        Self {
            over: AtomicBool::new(false),
            state: Mutex::new(state),
            changed: Condvar::new(),
        }
    }

    fn with<T>(&self, act: impl FnOnce(&mut State) -> T) -> T {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let result = act(&mut state);
        drop(state);
        self.changed.notify_all();
        result
    }

    /// Blocks until `done`, at most until `until`.
    fn wait(&self, until: Option<Instant>, mut done: impl FnMut(&State) -> bool) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        while !done(&state) {
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) {
                return;
            }
            let left = left.unwrap_or(Duration::from_hours(1));
            state = self
                .changed
                .wait_timeout(state, left)
                .map_or_else(|poisoned| poisoned.into_inner().0, |(state, _)| state);
        }
    }

    fn wait_for_ready(&self, of: usize) {
        self.wait(None, |s| s.ready == of);
    }

    fn open(&self) -> StepClock {
        let clock = StepClock::start();
        self.with(|s| s.clock = Some(clock));
        clock
    }

    /// Blocks a client until the window opens; `None` when it never will.
    fn gate(&self) -> Option<StepClock> {
        self.with(|s| {
            s.ready += 1;
            s.running += 1;
        });
        self.wait(None, |s| s.clock.is_some() || s.given_up);
        self.with(|s| s.clock.filter(|_| !s.given_up))
    }

    fn give_up(&self) {
        self.over.store(true, Ordering::Relaxed);
        self.with(|s| s.given_up = true);
    }

    fn outcome(&self, stop: &Stop) -> Result<(), StepError> {
        if let Some(failure) = self.with(|s| s.failure.take()) {
            return Err(failure);
        }
        if stop.is_asked() || self.with(|s| s.given_up) {
            return Err(StepError::Interrupted);
        }
        Ok(())
    }
}

/// Gives the step up when the collecting thread leaves it, however it does.
struct GiveUpOnDrop<'a>(&'a Shared);

impl Drop for GiveUpOnDrop<'_> {
    fn drop(&mut self) {
        self.0.over.store(true, Ordering::Relaxed);
        self.0.with(|s| {
            if s.clock.is_none() || s.running > 0 {
                s.given_up = true;
            }
        });
    }
}

struct ClientThread<'a> {
    index: usize,
    role: Role,
    recorder: &'a Recorder,
    shared: &'a Shared,
    stop: &'a Stop,
}

impl ClientThread<'_> {
    fn run(self, client: Box<dyn Client>) {
        // No clock: given up before this client began, by one that was quicker to fail.
        if let Some(clock) = self.shared.gate() {
            self.perform(client, clock);
        }
        self.shared.with(|s| s.running -= 1);
    }

    fn perform(&self, mut client: Box<dyn Client>, clock: StepClock) {
        let recorder = self.recorder.client(self.index, clock);
        let mut context = ClientContext {
            recorder,
            shared: self.shared,
            stop: self.stop,
        };
        let run = std::panic::AssertUnwindSafe(|| client.run(&mut context));
        let result = std::panic::catch_unwind(run).unwrap_or_else(|payload| {
            Err(StepError::Bug {
                client: self.role.name.clone(),
                message: panic_text(&*payload),
            })
        });
        if let Err(failure) = result {
            // The cause first: others that end because the step is over must not come before it.
            self.shared.with(|s| {
                s.given_up = true;
                s.failure.get_or_insert(failure);
            });
            self.shared.over.store(true, Ordering::Relaxed);
        }
        let last = self.shared.with(|s| {
            s.bounded_left -= usize::from(self.role.bounded);
            self.role.bounded && s.bounded_left == 0
        });
        if last {
            // The last bounded client closes the window itself: the collector may be asleep.
            self.recorder.close(&clock);
            self.shared.over.store(true, Ordering::Relaxed);
        }
    }
}

fn panic_text(payload: &(dyn std::any::Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|t| (*t).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_default()
}

/// A window that was cut into intervals.
struct Cut {
    length: Nanos,
    on_target: Option<(u32, u32)>,
    short: bool,
}

/// Cuts the window into intervals while the clients run.
struct Collector<'a> {
    recorder: &'a Recorder,
    shared: &'a Shared,
    stop: &'a Stop,
    clock: StepClock,
    pace: Option<Pace>,
}

impl Collector<'_> {
    fn run(&self, limit: Option<Nanos>, observer: &mut dyn Observer) -> Cut {
        let opened = Instant::now();
        let mut on_target = OnTarget {
            pace: self.pace,
            rows: 0,
            met: 0,
            seconds: 0,
        };
        let mut index = 0u32;
        let short;
        let closed = loop {
            let tick = Nanos::from_secs(u64::from(index) + 1);
            let at = opened + Duration::from(tick) + GRACE;
            self.shared
                .wait(Some(at), |s| s.bounded_left == 0 || s.given_up);
            if self.stop.is_asked() {
                self.shared.give_up();
            }
            let at_limit = limit.is_some_and(|limit| self.clock.now() >= limit);
            let (done, given_up) = self.shared.with(|s| (s.bounded_left == 0, s.given_up));
            if done || given_up || at_limit {
                short = at_limit && !done;
                self.shared.over.store(true, Ordering::Relaxed);
                break self.recorder.close(&self.clock);
            }
            if self.clock.now() < tick {
                continue;
            }
            let interval = self
                .recorder
                .interval(index, Nanos::SECOND, self.clock.now());
            on_target.see(&interval);
            index += 1;
            if observer.interval(interval).is_break() {
                self.shared.give_up();
            }
        };
        observer.edge(Edge::Close);
        self.shared.wait(None, |s| s.running == 0);
        self.last_intervals(index, closed, &mut on_target, observer);
        Cut {
            length: closed,
            on_target: on_target.result(),
            short,
        }
    }

    /// The seconds between the last tick and the window's end; the last one may be short.
    fn last_intervals(
        &self,
        mut index: u32,
        closed: Nanos,
        on_target: &mut OnTarget,
        observer: &mut dyn Observer,
    ) {
        loop {
            let start = Nanos::from_secs(u64::from(index));
            let length = closed.saturating_sub(start).min(Nanos::SECOND);
            if length.0 == 0 && index > 0 {
                break;
            }
            let interval = self.recorder.interval(index, length, closed);
            if length == Nanos::SECOND {
                on_target.see(&interval);
            }
            index += 1;
            if observer.interval(interval).is_break() {
                self.shared.give_up();
                break;
            }
        }
    }
}

/// Counts the seconds at whose end the writers were not behind their schedule.
struct OnTarget {
    pace: Option<Pace>,
    rows: u64,
    met: u32,
    seconds: u32,
}

impl OnTarget {
    fn see(&mut self, interval: &Interval) {
        let Some(pace) = self.pace else { return };
        self.seconds += 1;
        let rows = interval.kinds[pace.kind].rows;
        let due = if pace.catches_up {
            self.rows += rows;
            pace.rows_per_second * u64::from(self.seconds)
        } else {
            self.rows = rows;
            pace.rows_per_second
        };
        let tolerance = pace.rows_per_second * pace.tolerance_percent / 100;
        self.met += u32::from(self.rows + pace.slack + tolerance >= due);
    }

    fn result(&self) -> Option<(u32, u32)> {
        (self.seconds > 0 && self.pace.is_some()).then_some((self.met, self.seconds))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU64;

    struct Bounded(u64);
    impl Client for Bounded {
        fn run(&mut self, context: &mut ClientContext<'_>) -> Result<(), StepError> {
            for n in 0..self.0 {
                if !context.wait_until(Nanos::from_millis(n * 2)) {
                    break;
                }
                let started = context.recorder.begin();
                context.recorder.done(0, started, None, 1);
            }
            Ok(())
        }
    }

    struct Endless(Arc<AtomicU64>);
    impl Client for Endless {
        fn run(&mut self, context: &mut ClientContext<'_>) -> Result<(), StepError> {
            while !context.is_over() {
                let started = context.recorder.begin();
                context.recorder.done(1, started, None, 1);
                self.0.fetch_add(1, Ordering::Relaxed);
            }
            Ok(())
        }
    }

    struct Panics;
    impl Client for Panics {
        fn run(&mut self, _: &mut ClientContext<'_>) -> Result<(), StepError> {
            panic!("on purpose")
        }
    }

    #[derive(Default)]
    struct Seen {
        edges: Vec<Edge>,
        ops: [u64; 2],
        intervals: u32,
        break_at: Option<u32>,
    }

    impl Observer for Seen {
        fn edge(&mut self, edge: Edge) {
            self.edges.push(edge);
        }

        fn interval(&mut self, interval: Interval) -> ControlFlow<()> {
            assert_eq!(interval.index, self.intervals);
            self.intervals += 1;
            for (sum, kind) in self.ops.iter_mut().zip(&interval.kinds) {
                *sum += kind.ops;
            }
            if self.break_at == Some(self.intervals) {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        }
    }

    fn setup(clients: Vec<(Role, Box<dyn Client>)>) -> StepSetup {
        let kinds = ["insert", "query"].map(|k| KindSpec {
            name: k.to_owned(),
            scheduled: false,
        });
        StepSetup {
            kinds: kinds.to_vec(),
            clients,
            pace: None,
            limit: None,
        }
    }

    fn role(name: &str, bounded: bool) -> Role {
        Role {
            name: name.to_owned(),
            bounded,
        }
    }

    #[test]
    fn the_window_closes_with_the_last_bounded_client() {
        let done = Arc::new(AtomicU64::new(0));
        let mut seen = Seen::default();
        let clients: Vec<(Role, Box<dyn Client>)> = vec![
            (role("a", true), Box::new(Bounded(10))),
            (role("b", true), Box::new(Bounded(600))),
            (role("q", false), Box::new(Endless(Arc::clone(&done)))),
        ];
        let window = run(setup(clients), &Stop::default(), &mut seen).unwrap();
        assert_eq!(seen.edges, [Edge::Open, Edge::Close]);
        assert_eq!(window.kinds[0].sums.ops, 610);
        assert_eq!(seen.ops[0], 610);
        assert_eq!(seen.ops[1], window.kinds[1].sums.ops);
        let endless = &window.kinds[1];
        assert_eq!(
            endless.sums.ops + endless.late,
            done.load(Ordering::Relaxed)
        );
        assert!(window.length >= Nanos::from_millis(1198) && seen.intervals == 2);
    }

    #[test]
    fn a_panic_fails_the_step_and_names_the_client() {
        let clients: Vec<(Role, Box<dyn Client>)> = vec![
            (role("insert 1", true), Box::new(Panics)),
            (role("insert 2", true), Box::new(Bounded(1_000_000))),
        ];
        let error = run(setup(clients), &Stop::default(), &mut Seen::default()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "client insert 1 stopped by a bug in backslide: on purpose"
        );
    }

    #[test]
    fn clients_that_fail_before_others_begin_do_not_leave_them_counted_as_running() {
        for _ in 0..20 {
            let clients = (0..50).map(|n| {
                let client: Box<dyn Client> = Box::new(Panics);
                (role(&format!("insert {n}"), true), client)
            });
            let result = run(
                setup(clients.collect()),
                &Stop::default(),
                &mut Seen::default(),
            );
            assert!(matches!(result, Err(StepError::Bug { .. })));
        }
    }

    #[test]
    fn stopping_ends_every_client() {
        let stop = Stop::default();
        let asked = stop.clone();
        let asker = thread::spawn(move || {
            thread::sleep(Duration::from_millis(100));
            asked.ask();
        });
        let clients: Vec<(Role, Box<dyn Client>)> =
            vec![(role("insert 1", true), Box::new(Bounded(1_000_000)))];
        let error = run(setup(clients), &stop, &mut Seen::default()).unwrap_err();
        assert!(matches!(error, StepError::Interrupted));
        asker.join().unwrap();
    }

    #[test]
    fn the_limit_cuts_a_step_short_and_keeps_what_was_done() {
        let clients: Vec<(Role, Box<dyn Client>)> =
            vec![(role("insert 1", true), Box::new(Bounded(1_000_000)))];
        let setup = StepSetup {
            limit: Some(Nanos::SECOND),
            ..setup(clients)
        };
        let window = run(setup, &Stop::default(), &mut Seen::default()).unwrap();
        assert!(window.cut_short);
        assert!(window.kinds[0].sums.ops > 10);
    }

    #[test]
    fn an_observer_that_breaks_ends_the_step() {
        let clients: Vec<(Role, Box<dyn Client>)> =
            vec![(role("insert 1", true), Box::new(Bounded(1_000_000)))];
        let mut seen = Seen {
            break_at: Some(1),
            ..Seen::default()
        };
        let error = run(setup(clients), &Stop::default(), &mut seen).unwrap_err();
        assert!(matches!(error, StepError::Interrupted));
    }

    #[test]
    fn seconds_behind_schedule_are_counted_until_caught_up() {
        assert_eq!(on_target(true), Some((4, 6)));
    }

    #[test]
    fn writers_that_never_catch_up_are_judged_by_the_second() {
        assert_eq!(on_target(false), Some((4, 6)));
    }

    fn on_target(catches_up: bool) -> Option<(u32, u32)> {
        let pace = Pace {
            catches_up,
            kind: 0,
            rows_per_second: 100,
            slack: 50,
            tolerance_percent: 5,
        };
        let mut on_target = OnTarget {
            pace: Some(pace),
            rows: 0,
            met: 0,
            seconds: 0,
        };
        for rows in [100, 50, 0, 0, 350, 100] {
            let kind = model::KindInterval {
                rows,
                ..model::KindInterval::default()
            };
            on_target.see(&Interval {
                index: 0,
                start: Nanos(0),
                length: Nanos::SECOND,
                kinds: vec![kind],
                stalled: Nanos(0),
                readings: model::Readings::default(),
            });
        }
        on_target.result()
    }
}
