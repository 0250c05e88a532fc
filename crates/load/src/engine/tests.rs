use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use model::{Interval, Nanos};

use super::*;
use crate::Quota;

/// Does so many operations, two milliseconds apart.
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

/// Does operations of kind 1 until the step is over.
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

/// Sleeps towards a time that never comes.
struct Sleeper;

impl Client for Sleeper {
    fn run(&mut self, context: &mut ClientContext<'_>) -> Result<(), StepError> {
        assert!(!context.wait_until(Nanos(u64::MAX)));
        Ok(())
    }
}

struct Panics;

impl Client for Panics {
    fn run(&mut self, _: &mut ClientContext<'_>) -> Result<(), StepError> {
        panic!("on purpose")
    }
}

/// Does one operation and has one error in each window; the kind is the number of the window.
#[derive(Clone, Default)]
struct Twice {
    windows: Arc<Mutex<Vec<usize>>>,
    fails_in: Option<usize>,
}

impl Client for Twice {
    fn run(&mut self, context: &mut ClientContext<'_>) -> Result<(), StepError> {
        let mut windows = self.windows.lock().unwrap();
        let window = windows.len();
        windows.push(window);
        drop(windows);
        let started = context.recorder.begin();
        context.recorder.failed(window, "1213", true);
        context.recorder.done(window, started, None, 7);
        if self.fails_in == Some(window) {
            return Err(StepError::Unsupported("on purpose".to_owned()));
        }
        context.wait_until(Nanos(u64::MAX));
        Ok(())
    }
}

/// Waits with a time that it has read itself.
struct Punctual;

impl Client for Punctual {
    fn run(&mut self, context: &mut ClientContext<'_>) -> Result<(), StepError> {
        let now = context.recorder.clock().now();
        assert_eq!(context.wait_from(now, now), Some(now), "as it was told");
        let due = now + Nanos::from_millis(20);
        let late = context.wait_from(now, due);
        assert!(late.is_some_and(|at| due <= at && at <= context.recorder.clock().now()));
        assert_eq!(context.wait_from(now, Nanos(u64::MAX)), None);
        assert_eq!(context.wait_from(now, now), None, "over");
        Ok(())
    }
}

/// Asks whether the step is over at times of its own, long before.
struct Farsighted(Nanos);

impl Client for Farsighted {
    fn run(&mut self, context: &mut ClientContext<'_>) -> Result<(), StepError> {
        let Self(end) = *self;
        assert!(!context.is_over_at(end.saturating_sub(Nanos(1))));
        assert!(context.is_over_at(end));
        Ok(())
    }
}

#[derive(Default)]
struct Seen {
    edges: Vec<Edge>,
    ops: [u64; 2],
    lengths: Vec<Nanos>,
    stalls: Vec<Nanos>,
    break_at: Option<usize>,
    panic_at: Option<Edge>,
}

impl Observer for Seen {
    fn edge(&mut self, edge: Edge) {
        self.edges.push(edge);
        assert_ne!(self.panic_at, Some(edge), "on purpose");
    }

    fn interval(&mut self, interval: Interval) -> ControlFlow<()> {
        assert_eq!(interval.index as usize, self.lengths.len());
        self.lengths.push(interval.length);
        self.stalls.push(interval.stalled);
        for (sum, kind) in self.ops.iter_mut().zip(&interval.kinds) {
            *sum += kind.ops;
        }
        if self.break_at == Some(self.lengths.len()) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}

struct StepSetup {
    kinds: Vec<KindSpec>,
    clients: Vec<(Role, Box<dyn Client>)>,
    end: End,
}

fn run(
    setup: StepSetup,
    stop: &Stop,
    observer: &mut dyn Observer,
) -> Result<StepRecord, StepError> {
    let StepSetup { kinds, mut clients, end } = setup;
    super::run(&kinds, &mut clients, end, stop, observer)
}

fn setup(clients: Vec<(Role, Box<dyn Client>)>) -> StepSetup {
    let kinds = ["insert", "query"].map(|k| KindSpec { name: k.to_owned(), scheduled: false });
    StepSetup { kinds: kinds.to_vec(), clients, end: End::AllDone { limit: None } }
}

/// Runs a window of this length that nobody sees, then that of the step, by the same clients.
fn run_warm(
    setup: StepSetup,
    length: Nanos,
    stop: &Stop,
    observer: &mut dyn Observer,
) -> Result<StepRecord, StepError> {
    let StepSetup { kinds, mut clients, end } = setup;
    super::run(&kinds, &mut clients, End::After(length), stop, &mut Blind)?;
    super::run(&kinds, &mut clients, end, stop, observer)
}

fn client(name: &str, bounded: bool, client: impl Client + 'static) -> (Role, Box<dyn Client>) {
    let role = Role { name: name.to_owned(), bounded };
    (role, Box::new(client))
}

/// Asks to stop in a while.
fn stop_after(millis: u64) -> Stop {
    let stop = Stop::default();
    let asked = stop.clone();
    thread::spawn(move || {
        thread::sleep(Duration::from_millis(millis));
        asked.ask();
    });
    stop
}

#[test]
fn the_window_closes_with_the_last_bounded_client() {
    let done = Arc::new(AtomicU64::new(0));
    let mut seen = Seen::default();
    let clients = vec![
        client("a", true, Bounded(10)),
        client("b", true, Bounded(600)),
        client("q", false, Endless(Arc::clone(&done))),
    ];
    let record = run(setup(clients), &Stop::default(), &mut seen).unwrap();
    assert_eq!(seen.edges, [Edge::Open, Edge::Close]);
    assert_eq!(record.kinds[0].sums.ops, 610);
    assert_eq!(seen.ops[0], 610);
    assert_eq!(seen.ops[1], record.kinds[1].sums.ops);
    let endless = &record.kinds[1];
    assert!(endless.late <= 1, "one client, one operation under way");
    assert!(endless.sums.ops + endless.late <= done.load(Ordering::Relaxed));
    assert!(record.window >= Nanos::from_millis(1198) && seen.lengths.len() == 2);
}

#[test]
fn a_window_of_a_time_is_as_long_whoever_is_done() {
    let done = Arc::new(AtomicU64::new(0));
    let mut seen = Seen::default();
    let clients =
        vec![client("a", true, Bounded(10)), client("q", false, Endless(Arc::clone(&done)))];
    let setup = StepSetup { end: End::After(Nanos::from_secs(2)), ..setup(clients) };
    let record = run(setup, &Stop::default(), &mut seen).unwrap();
    assert_eq!(record.window, Nanos::from_secs(2));
    assert_eq!(seen.lengths, [Nanos::SECOND; 2], "no sliver");
    assert!(!record.cut_short);
    assert_eq!(seen.ops, [10, record.kinds[1].sums.ops]);
    assert!(seen.ops[1] > 1000);
    assert!(record.kinds[1].late <= 1);
    assert!(seen.ops[1] + record.kinds[1].late <= done.load(Ordering::Relaxed));
}

#[test]
fn a_quota_is_a_number_of_operations_of_each_client_and_at_least_one() {
    let done = Arc::new(AtomicU64::new(0));
    let run_with = |quota: Quota, seconds| {
        let clients = (0..2).map(|_| client("q", false, Endless(Arc::clone(&done))));
        let setup =
            StepSetup { end: End::After(Nanos::from_secs(seconds)), ..setup(clients.collect()) };
        let stop = Stop::default().with_quota(Some(quota));
        run(setup, &stop, &mut Seen::default()).unwrap()
    };
    let record = run_with(Quota { operations: 500, warm_up: 0, at_most: Nanos::from_secs(60) }, 60);
    assert_eq!((record.kinds[1].sums.ops, record.kinds[1].late), (1_000, 0));
    assert!(record.window < Nanos::from_secs(60) && !record.cut_short && !record.timed);
    let record = run_with(Quota { operations: u64::MAX, warm_up: 0, at_most: Nanos(0) }, 60);
    assert_eq!(record.kinds[1].sums.ops, 2);
}

#[test]
fn a_window_of_half_a_second_has_an_interval_of_half_a_second() {
    let mut seen = Seen::default();
    let setup = StepSetup {
        end: End::After(Nanos::from_millis(500)),
        ..setup(vec![client("a", false, Sleeper)])
    };
    run(setup, &Stop::default(), &mut seen).unwrap();
    assert_eq!(seen.lengths, [Nanos::from_millis(500)]);
}

#[test]
fn a_warm_up_leaves_nothing() {
    let twice = Twice::default();
    let mut seen = Seen::default();
    let setup = StepSetup {
        end: End::After(Nanos::from_millis(100)),
        ..setup(vec![client("a", false, twice.clone())])
    };
    let length = Nanos::from_millis(100);
    let record = run_warm(setup, length, &Stop::default(), &mut seen).unwrap();
    assert_eq!(*twice.windows.lock().unwrap(), [0, 1]);
    assert_eq!(seen.edges, [Edge::Open, Edge::Close]);
    assert_eq!(seen.ops, [0, 1]);
    let [warmup, measured] = &record.kinds[..] else { panic!("two kinds") };
    assert_eq!(warmup.sums, model::KindInterval::default());
    assert_eq!((measured.sums.rows, measured.sums.retries), (7, 1));
    assert_eq!((record.errors.len(), record.errors[0].count), (1, 1));
    assert_eq!(record.window, Nanos::from_millis(100));
}

/// Tells in each window whether its end is awaited.
struct Awaited(Arc<Mutex<Vec<bool>>>);

impl Client for Awaited {
    fn run(&mut self, context: &mut ClientContext<'_>) -> Result<(), StepError> {
        self.0.lock().unwrap().push(context.is_awaited());
        Ok(())
    }
}

#[test]
fn a_warm_up_waits_for_no_client() {
    let told = Arc::new(Mutex::new(Vec::new()));
    let setup = setup(vec![client("a", true, Awaited(Arc::clone(&told)))]);
    let length = Nanos::from_millis(10);
    run_warm(setup, length, &Stop::default(), &mut Seen::default()).unwrap();
    assert_eq!(*told.lock().unwrap(), [false, true]);
}

/// Is under way with one operation all the time.
struct Stalled;

impl Client for Stalled {
    fn run(&mut self, context: &mut ClientContext<'_>) -> Result<(), StepError> {
        let started = context.recorder.begin();
        context.wait_until(Nanos(u64::MAX));
        context.recorder.done(0, started, None, 1);
        Ok(())
    }
}

#[test]
fn a_stall_shows_to_the_last_interval() {
    let mut seen = Seen::default();
    let setup = StepSetup {
        end: End::After(Nanos::from_millis(1500)),
        ..setup(vec![client("a", false, Stalled)])
    };
    let record = run(setup, &Stop::default(), &mut seen).unwrap();
    assert_eq!((record.kinds[0].sums.ops, record.kinds[0].late), (0, 1));
    let [first, last] = seen.stalls[..] else { panic!("two intervals") };
    // It began with the window, at the latest some moments later.
    assert!(first > Nanos::from_millis(500), "{first}");
    assert!(last > Nanos::SECOND && last <= Nanos::from_millis(1500), "{last}");
}

#[test]
fn an_error_in_the_warm_up_fails_the_step() {
    let twice = Twice { fails_in: Some(0), ..Twice::default() };
    let mut seen = Seen::default();
    let setup = setup(vec![client("a", false, twice.clone()), client("b", false, Sleeper)]);
    let length = Nanos::from_secs(60);
    let error = run_warm(setup, length, &Stop::default(), &mut seen).unwrap_err();
    assert_eq!(error.to_string(), "on purpose");
    assert!(seen.edges.is_empty() && seen.lengths.is_empty());
    assert_eq!(twice.windows.lock().unwrap().len(), 1, "no second window");
}

#[test]
fn stopping_in_the_warm_up_ends_the_step_at_once() {
    let began = Instant::now();
    let mut seen = Seen::default();
    let setup = setup(vec![client("a", false, Sleeper)]);
    let error = run_warm(setup, Nanos::from_secs(60), &stop_after(50), &mut seen).unwrap_err();
    assert!(matches!(error, StepError::Interrupted));
    assert!(seen.edges.is_empty());
    assert!(began.elapsed() < Duration::from_secs(30));
}

#[test]
fn waiting_tells_when_it_ended_unless_the_step_is_over() {
    let setup = StepSetup {
        end: End::After(Nanos::from_millis(300)),
        ..setup(vec![client("a", false, Punctual)])
    };
    run(setup, &Stop::default(), &mut Seen::default()).unwrap();
}

#[test]
fn a_client_that_reads_the_clock_need_not_be_told_that_the_time_is_over() {
    let limit = Nanos::from_secs(3_600);
    let setup = StepSetup {
        end: End::AllDone { limit: Some(limit) },
        ..setup(vec![client("a", true, Farsighted(limit))])
    };
    run(setup, &Stop::default(), &mut Seen::default()).unwrap();
}

#[test]
fn stopping_ends_every_client() {
    let clients =
        vec![client("insert 1", true, Bounded(1_000_000)), client("query 1", false, Sleeper)];
    let error = run(setup(clients), &stop_after(100), &mut Seen::default()).unwrap_err();
    assert!(matches!(error, StepError::Interrupted));
}

#[test]
fn a_panic_fails_the_step_and_names_the_client() {
    let clients = vec![
        client("insert 1", true, Panics),
        client("insert 2", true, Bounded(1_000_000)),
        client("query 1", false, Sleeper),
    ];
    let error = run(setup(clients), &Stop::default(), &mut Seen::default()).unwrap_err();
    assert_eq!(error.to_string(), "client insert 1 stopped by a bug in backslide: on purpose");
}

#[test]
fn clients_that_fail_before_others_begin_do_not_leave_them_counted_as_running() {
    for _ in 0..20 {
        let clients = (0..50).map(|n| client(&format!("insert {n}"), true, Panics));
        let result = run(setup(clients.collect()), &Stop::default(), &mut Seen::default());
        assert!(matches!(result, Err(StepError::Bug { .. })));
    }
}

#[test]
fn an_observer_that_panics_leaves_no_client_waiting() {
    for edge in [Edge::Open, Edge::Close] {
        let result = std::panic::catch_unwind(|| {
            let mut seen = Seen { panic_at: Some(edge), ..Seen::default() };
            let setup = StepSetup {
                end: End::After(Nanos::from_millis(50)),
                ..setup(vec![client("query 1", false, Sleeper)])
            };
            run(setup, &Stop::default(), &mut seen).map(|_| ())
        });
        assert!(result.is_err());
    }
}

#[test]
fn the_limit_cuts_a_step_short_and_keeps_what_was_done() {
    let mut seen = Seen::default();
    let setup = StepSetup {
        end: End::AllDone { limit: Some(Nanos::SECOND) },
        ..setup(vec![client("insert 1", true, Bounded(1_000_000))])
    };
    let record = run(setup, &Stop::default(), &mut seen).unwrap();
    assert!(record.cut_short);
    assert!(record.kinds[0].sums.ops > 10);
    assert_eq!(record.window, Nanos::SECOND);
    assert_eq!(seen.lengths, [Nanos::SECOND], "no sliver");
}

#[test]
fn an_observer_that_breaks_ends_the_step() {
    let mut seen = Seen { break_at: Some(1), ..Seen::default() };
    let clients = vec![client("insert 1", true, Bounded(1_000_000))];
    let error = run(setup(clients), &Stop::default(), &mut seen).unwrap_err();
    assert!(matches!(error, StepError::Interrupted));
}

#[test]
fn a_step_has_no_more_kinds_than_samples_can_name() {
    let kind = KindSpec { name: "query".to_owned(), scheduled: false };
    let setup = StepSetup { kinds: vec![kind; MOST_KINDS + 1], ..setup(Vec::new()) };
    let error = run(setup, &Stop::default(), &mut Seen::default()).unwrap_err();
    assert_eq!(error.to_string(), "a step with 256 kinds of operations; 255 are possible");
}

/// Begins an operation that outlives the window.
struct Stuck;

impl Client for Stuck {
    fn run(&mut self, context: &mut ClientContext<'_>) -> Result<(), StepError> {
        let started = context.recorder.begin();
        context.recorder.done(0, started, None, 1);
        context.recorder.begin();
        while !context.is_over() {
            context.nap();
        }
        context.recorder.cut_off(0);
        Ok(())
    }
}

#[test]
fn an_operation_that_the_window_cuts_off_is_told_where_none_was_as_long() {
    let told = |window: Nanos| {
        let clients: Vec<(Role, Box<dyn Client>)> =
            vec![(Role { name: "stuck".to_owned(), bounded: false }, Box::new(Stuck))];
        let kinds = vec![KindSpec::unscheduled("query")];
        let setup = StepSetup { kinds, clients, end: End::After(window) };
        run(setup, &Stop::default(), &mut Blind).unwrap().notes
    };
    assert_eq!(told(Nanos::from_millis(300)), []);
    let notes = told(Nanos::from_millis(1_200));
    assert_eq!((notes.len(), &notes[0].what), (1, &NoteKind::CutOff));
}
