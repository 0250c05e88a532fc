use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use model::{KindInterval, KindSpec, Readings};

use super::*;
use crate::engine::Role;
use crate::{Client, ClientContext};

/// What a client did, over all windows.
#[derive(Clone, Default)]
struct Diary {
    windows: Arc<AtomicU64>,
    operations: Arc<AtomicU64>,
}

impl Diary {
    fn counts(&self) -> (u64, u64) {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        (count(&self.windows), count(&self.operations))
    }
}

/// Does operations, a millisecond apart, at least one in each window.
struct Busy {
    diary: Diary,
    /// The window, from zero, in which it fails.
    fails_in: Option<u64>,
}

impl Client for Busy {
    fn run(&mut self, context: &mut ClientContext<'_>) -> Result<(), StepError> {
        let window = self.diary.windows.fetch_add(1, Ordering::Relaxed);
        if self.fails_in == Some(window) {
            return Err(StepError::Unsupported("on purpose".to_owned()));
        }
        loop {
            let started = context.recorder.begin();
            let end = context.recorder.done(0, started, None, 1);
            self.diary.operations.fetch_add(1, Ordering::Relaxed);
            context.wait_until(end + Nanos::from_millis(1));
            if context.is_over_at(context.recorder.clock().now()) {
                return Ok(());
            }
        }
    }
}

fn slices(fails_in: Option<u64>) -> (Slices, Diary) {
    let diary = Diary::default();
    let role = Role {
        name: "client 1".to_owned(),
        bounded: false,
    };
    let client = Busy {
        diary: diary.clone(),
        fails_in,
    };
    let crew = Crew {
        kinds: vec![KindSpec {
            name: "query".to_owned(),
            scheduled: false,
        }],
        clients: vec![(role, Box::new(client))],
    };
    (Slices::new(crew), diary)
}

#[derive(Default)]
struct Seen {
    edges: Vec<Edge>,
    /// Index, start and length.
    intervals: Vec<(u32, Nanos, Nanos)>,
    operations: u64,
}

impl Observer for Seen {
    fn edge(&mut self, edge: Edge) {
        self.edges.push(edge);
    }

    fn interval(&mut self, interval: Interval) -> ControlFlow<()> {
        let Interval {
            index,
            start,
            length,
            kinds,
            ..
        } = interval;
        self.intervals.push((index, start, length));
        self.operations += kinds[0].ops;
        ControlFlow::Continue(())
    }
}

#[test]
fn slices_are_one_window_without_what_is_between_them() {
    let (mut slices, diary) = slices(None);
    let mut seen = Seen::default();
    let mut operations = 0;
    for millis in [60, 60, 30] {
        let length = Nanos::from_millis(millis);
        let slice = slices.slice(length, &Stop::default(), &mut seen).unwrap();
        assert_eq!(slice.length, length);
        operations += slice.kinds[0].sums.ops;
    }
    let (window, note) = slices.finish().unwrap();
    assert_eq!(window.length, Nanos::from_millis(150));
    let totals = &window.kinds[0];
    assert!(totals.sums.ops > 0 && totals.late <= 3);
    assert_eq!((totals.sums.ops, seen.operations), (operations, operations));
    // The same client in all windows: each slice has one before it that is in no number.
    let (windows, all) = diary.counts();
    assert_eq!(windows, 6);
    assert!(
        all >= operations + totals.late + 3,
        "{all} with {operations}"
    );
    assert_eq!(seen.edges, [Edge::Open, Edge::Close].repeat(3));
    let at = Nanos::from_millis;
    let expected = [
        (0, at(0), at(60)),
        (1, at(60), at(60)),
        (2, at(120), at(30)),
    ];
    assert_eq!(seen.intervals, expected);
    assert_eq!(note, ("slices".to_owned(), "3 of 50.0ms".to_owned()));
}

#[test]
fn short_slices_have_short_lead_ins() {
    let millis = |of| lead_in(Nanos::from_millis(of));
    assert_eq!(millis(100), Nanos::from_millis(20));
    assert_eq!(millis(250), Nanos::from_millis(50));
    assert_eq!(millis(2_000), Nanos::from_millis(50));
}

#[test]
fn the_seconds_of_a_long_slice_go_on_where_the_slice_before_ended() {
    let mut seen = Seen::default();
    let mut continued = Continued {
        observer: &mut seen,
        intervals: 3,
        before: Nanos::from_millis(2_500),
    };
    for index in 0..2 {
        let interval = Interval {
            index,
            start: Nanos::from_secs(u64::from(index)),
            length: Nanos::SECOND,
            kinds: vec![KindInterval::default()],
            stalled: Nanos(0),
            readings: Readings::default(),
        };
        assert!(continued.interval(interval).is_continue());
    }
    assert_eq!(continued.intervals, 5);
    let starts = [2_500, 3_500].map(Nanos::from_millis);
    let expected = [(3, starts[0], Nanos::SECOND), (4, starts[1], Nanos::SECOND)];
    assert_eq!(seen.intervals, expected);
}

#[test]
fn a_client_that_fails_fails_the_slice_whatever_was_measured_before() {
    // The second slice: its moment before, and itself.
    for fails_in in [2, 3] {
        let (mut slices, _) = slices(Some(fails_in));
        let mut seen = Seen::default();
        let mut slice = || slices.slice(Nanos::from_millis(20), &Stop::default(), &mut seen);
        slice().unwrap();
        assert_eq!(slice().unwrap_err().to_string(), "on purpose");
    }
}

#[test]
fn a_stop_ends_a_slice_at_once() {
    let begun = Instant::now();
    let (mut slices, _) = slices(None);
    let stop = Stop::default();
    let asked = stop.clone();
    std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(100));
        asked.ask();
    });
    let error = slices
        .slice(Nanos::from_secs(60), &stop, &mut Seen::default())
        .unwrap_err();
    assert!(matches!(error, StepError::Interrupted));
    assert!(begun.elapsed() < Duration::from_secs(30));
}

#[test]
fn a_window_without_a_slice_is_none() {
    assert!(slices(None).0.finish().is_err());
}
