use std::ops::ControlFlow;
use std::thread;
use std::time::Instant;

use model::{Edge, Interval, KindSpec, StepRecord};

use super::*;
use crate::engine::{End, Observer, Role, Stop, run};
use crate::{Client, ClientContext, StepError};

const TURN: Nanos = Nanos::from_millis(100);
const PAUSE: Duration = Duration::from_millis(150);

/// Does operations that take this long, until so many are done or the window is over.
struct Busy {
    each: Duration,
    most: Option<u32>,
}

impl Client for Busy {
    fn run(&mut self, context: &mut ClientContext<'_>) -> Result<(), StepError> {
        let mut left = self.most;
        while !context.is_over() && left != Some(0) {
            let started = context.recorder.begin();
            thread::sleep(self.each);
            let end = context.recorder.done(0, started, None, 1);
            left = left.map(|left| left - 1);
            context.wait_until(end + Nanos::from_millis(1));
        }
        Ok(())
    }
}

/// Ends a turn with each interval.
struct Watching<'a> {
    turns: &'a Turns,
    opened: Nanos,
    lengths: Vec<Nanos>,
    /// How long after its end each interval came.
    late: Vec<Nanos>,
}

impl Observer for Watching<'_> {
    fn edge(&mut self, edge: Edge) {
        if edge == Edge::Open {
            self.turns.hand_over();
            self.turns.have_read();
            self.turns.await_turn();
            self.opened = self.turns.active();
        }
    }

    fn interval(&mut self, interval: Interval) -> ControlFlow<()> {
        let end = self.opened + interval.start + interval.length;
        self.late.push(self.turns.active().saturating_sub(end));
        self.turns.hand_over();
        self.lengths.push(interval.length);
        self.turns.have_read();
        ControlFlow::Continue(())
    }
}

/// A step in turns that are a pause apart; its window, the lengths of its intervals, and the turns it had.
fn in_turns(gated: bool, client: Busy, end: End) -> (StepRecord, Vec<Nanos>, u32) {
    let most = Duration::from(TURN) * 5 / 4;
    let (record, watching, count) = played(Turns::new(TURN, gated), (most, PAUSE), client, end);
    (record, watching.0, count)
}

/// The same in turns that last `most` unless the step ends them; the lengths of its intervals, and how late they came.
fn played(
    turns: Turns,
    (most, pause): (Duration, Duration),
    client: Busy,
    end: End,
) -> (StepRecord, (Vec<Nanos>, Vec<Nanos>), u32) {
    let stop = Stop::in_turns(turns);
    let role = Role { name: "client".to_owned(), bounded: true };
    let kinds = [KindSpec::unscheduled("query")];
    let mut clients: Vec<(Role, Box<dyn Client>)> = vec![(role, Box::new(client))];
    thread::scope(|scope| {
        let of_step = stop.clone();
        let step = scope.spawn(move || {
            let turns = of_step.turns();
            let _working = turns.work();
            turns.await_turn();
            let (lengths, late) = (Vec::new(), Vec::new());
            let mut observer = Watching { turns, opened: Nanos(0), lengths, late };
            let record = run(&kinds, &mut clients, end, &of_step, &mut observer);
            turns.leave();
            (record.unwrap(), (observer.lengths, observer.late))
        });
        let (turns, mut count) = (stop.turns(), 0);
        while !step.is_finished() {
            turns.begin();
            turns.wait_over(most);
            while !turns.end(Duration::from_secs(1)) {}
            turns.wait_read(Duration::from_secs(1));
            count += 1;
            if !step.is_finished() {
                thread::sleep(pause);
            }
        }
        let (record, watched) = step.join().unwrap();
        (record, watched, count)
    })
}

#[test]
fn the_time_between_turns_is_in_no_number() {
    for gated in [false, true] {
        let began = Instant::now();
        let client = Busy { each: Duration::from_millis(2), most: None };
        let window = Nanos(TURN.0 * 5);
        let (record, lengths, turns) = in_turns(gated, client, End::After(window));
        assert!(began.elapsed() >= 5 * PAUSE);
        assert_eq!((record.window, lengths), (Nanos(TURN.0 * 5), vec![TURN; 5]));
        assert!(turns >= 6, "{turns}");
        let query = &record.kinds[0];
        assert!(query.sums.ops >= 20, "{}", query.sums.ops);
        let longest = query.sums.service.max();
        assert!(longest < Nanos::from(PAUSE), "{longest}");
    }
}

/// A collector that slept when the turn began, instead of waiting for it, would come 14 ms late each time.
#[test]
fn an_interval_ends_in_its_turn_where_turns_are_shorter_than_a_nap() {
    let turn = Nanos::from_millis(20);
    let (most, pause) = (Duration::from_secs(1), Duration::from_millis(65));
    let client = Busy { each: Duration::from_micros(300), most: None };
    let end = End::After(Nanos(turn.0 * 15));
    let (_, (lengths, mut late), _) = played(Turns::new(turn, true), (most, pause), client, end);
    assert_eq!(lengths, vec![turn; 15]);
    // The last ones end with the window. Some may be late on a busy host.
    late.truncate(14);
    late.sort_unstable();
    assert!(late[7] < Nanos::from_millis(10), "{late:?}");
}

#[test]
fn fixed_work_takes_as_many_turns_as_it_needs() {
    let client = Busy { each: Duration::from_millis(9), most: Some(25) };
    let (record, lengths, _) = in_turns(false, client, End::AllDone { limit: None });
    assert_eq!(record.kinds[0].sums.ops, 25);
    assert!(lengths.len() >= 2, "{lengths:?}");
    assert_eq!(lengths.iter().map(|length| length.0).sum::<u64>(), record.window.0);
    assert!(record.window < Nanos::from_millis(1_500), "{}", record.window);
}

#[test]
fn where_nothing_is_frozen_a_turn_is_as_long_as_its_longest_operation() {
    let client = Busy { each: Duration::from_millis(350), most: Some(2) };
    let (record, _, _) = in_turns(true, client, End::AllDone { limit: None });
    let longest = record.kinds[0].sums.service.max();
    assert!(longest >= Nanos::from_millis(349), "{longest}");
}

#[test]
fn a_turn_goes_on_where_somebody_does_not_come_to_an_edge() {
    let turns = Turns::new(TURN, true);
    turns.begin();
    let working = turns.work();
    assert!(!turns.end(Duration::from_millis(20)));
    assert!(!turns.is_shut());
    drop(working);
    assert!(turns.end(Duration::from_millis(20)));
    let then = turns.now();
    thread::sleep(Duration::from_millis(5));
    assert_eq!(turns.now(), then);
}

#[test]
fn who_waits_for_a_turn_works_on_when_there_are_none_any_more() {
    let turns = Turns::new(TURN, false);
    thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            turns.await_turn();
            turns.hand_over();
        });
        thread::sleep(Duration::from_millis(5));
        turns.release();
        waiting.join().unwrap();
    });
    assert!(turns.active() < TURN);
}
