//! What a client of an open loop does when it is free: it takes the next arrival, and waits for it.

use model::Nanos;

use crate::ClientContext;
use crate::arrivals::Queue;

/// An operation that arrived, and that a client starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// When it arrived: response time counts from there.
    pub due: Nanos,
    pub started: Nanos,
}

impl Arrival {
    /// The next one for a client that is free at `now`: one that waits, or one that is waited for. `None`
    /// when the step was over before it came; then it goes back.
    #[inline]
    pub fn next(queue: &Queue, mut now: Nanos, context: &mut ClientContext<'_>) -> Option<Self> {
        let due = queue.take(now);
        if due > now {
            let woken = context.wait_from(now, due);
            let Some(woken) = woken.filter(|woken| !queue.is_closed(*woken)) else {
                queue.give_back(due);
                return None;
            };
            now = woken;
        }
        let started = context.recorder.begin_after(now);
        Some(Self { due, started })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use model::Arrivals;

    use super::*;
    use crate::engine::{Blind, End, Role, StepSetup, Stop, run};
    use crate::{Client, StepError};

    /// A client that is free at once, whatever arrives.
    struct Idle {
        queue: Arc<Queue>,
        arrivals: Arc<Mutex<Vec<Arrival>>>,
    }

    impl Client for Idle {
        fn run(&mut self, context: &mut ClientContext<'_>) -> Result<(), StepError> {
            let mut now = context.recorder.clock().now();
            while let Some(arrival) = Arrival::next(&self.queue, now, context) {
                self.arrivals.lock().unwrap().push(arrival);
                now = arrival.started;
            }
            context.recorder.abandoned();
            Ok(())
        }
    }

    /// The arrivals that a client starts in a window of 200 ms, when they come until `closes`.
    fn started(queue: &Arc<Queue>, closes: Nanos) -> Vec<Arrival> {
        queue.close_at(closes);
        let arrivals = Arc::new(Mutex::new(Vec::new()));
        let client = Idle { queue: Arc::clone(queue), arrivals: Arc::clone(&arrivals) };
        let role = Role { name: "client 1".to_owned(), bounded: false };
        let setup = StepSetup {
            kinds: Vec::new(),
            clients: vec![(role, Box::new(client))],
            pace: None,
            end: End::After(Nanos::from_millis(200)),
            warmup: Nanos(0),
        };
        run(setup, &Stop::default(), &mut Blind).unwrap();
        let arrivals = arrivals.lock().unwrap();
        arrivals.clone()
    }

    #[test]
    fn no_arrival_is_started_before_it_comes() {
        let queue = Arc::new(Queue::new(20, Arrivals::Even, 10, 1));
        let closes = Nanos::from_millis(200);
        let started = started(&queue, closes);
        // A thread may be late, so that the window closes before it wakes up.
        let outcome = queue.outcome(closes);
        assert!(!started.is_empty());
        assert_eq!(started.len() as u64 + outcome.waiting, 4);
        for (arrival, millis) in started.iter().zip([25, 75, 125, 175]) {
            assert_eq!(arrival.due, Nanos::from_millis(millis));
            assert!(arrival.started >= arrival.due, "{arrival:?}");
        }
    }

    #[test]
    fn an_arrival_that_comes_after_the_end_of_the_step_goes_back() {
        let queue = Arc::new(Queue::new(1, Arrivals::Even, 10, 1));
        assert_eq!(started(&queue, Nanos::SECOND), Vec::new());
        // It would have come at 500 ms.
        let outcome = queue.outcome(Nanos::from_millis(200));
        assert_eq!((outcome.arrived, outcome.waiting), (1, 1));
    }
}
