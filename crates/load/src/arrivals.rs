//! Operations that arrive by themselves, whether clients are free or not: an open loop.
//!
//! All clients serve one queue, first come, first served. No thread makes the arrivals: a client that is
//! free first lets in what has arrived since the last one was. That is exact, because the queue gets
//! shorter only when a client takes from it, so that its length at each arrival is known afterwards.
//! A client that finds nobody waiting is given the next arrival and sleeps towards it.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard};

use model::{Arrivals, Nanos, OpenLoop, Rng, mix};

use crate::{ClientContext, Share, lock};

/// In place of an arrival: there is none.
const NEVER: Nanos = Nanos(u64::MAX);

/// The queue of one step's arrivals. Times count from the opening of the window.
#[derive(Debug)]
pub struct Queue {
    arrivals: Arrivals,
    capacity: usize,
    seed: u64,
    share: Share,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    per_second: u64,
    /// How often the arrivals began anew.
    window: u64,
    rng: Rng,
    /// Number of the next arrival, from zero.
    number: u64,
    /// When it comes, in nanoseconds: Poisson's are not whole.
    at: f64,
    /// When it comes, if it does so before the close; else [`NEVER`].
    next: Nanos,
    closes: Nanos,
    waiting: VecDeque<Nanos>,
    taken: u64,
    shed: u64,
    given_back: u64,
}

impl Queue {
    /// A queue for `capacity` of `per_second` arrivals of all clients; `seed` decides Poisson times.
    pub fn new(per_second: u64, arrivals: Arrivals, capacity: u32, seed: u64) -> Self {
        let state = State::begin(per_second, 0, Rng::new(mix(seed, &[0])));
        let share = Share::whole(1);
        let queue =
            Self { arrivals, capacity: capacity as usize, seed, share, state: Mutex::new(state) };
        queue.plan_next(&mut queue.state());
        queue
    }

    /// The part of the queue that one of several processes has: its share of the places, and of the arrivals those
    /// that are its own, at the times that they have in the whole. For windows that are still to begin.
    #[must_use]
    pub fn of_share(self, share: Share) -> Self {
        let capacity = share.part_of(self.capacity as u32) as usize;
        Self { capacity, share, ..self }
    }

    /// Empties the queue; arrivals begin anew, at other random times, with the opening of a window that
    /// stays open until [`Queue::close_at`] says otherwise.
    pub fn restart(&self, per_second: u64) {
        let mut state = self.state();
        let window = state.window + 1;
        *state = State::begin(per_second, window, Rng::new(mix(self.seed, &[window])));
        self.plan_next(&mut state);
    }

    /// The window closes at `length`: nothing arrives after that. To be called before anything is taken.
    pub fn close_at(&self, length: Nanos) {
        let mut state = self.state();
        state.closes = length;
        if state.next > length {
            state.next = NEVER;
        }
    }

    /// The arrival that a client that is free at `now` has to serve: the one that has waited longest, or
    /// the next one, which may be in the future; `Nanos(u64::MAX)` when none comes before the close.
    /// Response time counts from there.
    pub fn take(&self, now: Nanos) -> Nanos {
        let mut state = self.state();
        if now > state.closes {
            return NEVER;
        }
        self.let_in(&mut state, now);
        if let Some(due) = state.waiting.pop_front() {
            state.taken += 1;
            return due;
        }
        let due = state.next;
        if due != NEVER {
            state.taken += 1;
            self.pass_on(&mut state);
        }
        due
    }

    pub fn waiting(&self, now: Nanos) -> usize {
        let mut state = self.state();
        self.let_in(&mut state, now);
        state.waiting.len()
    }

    pub fn is_closed(&self, now: Nanos) -> bool {
        now > self.state().closes
    }

    /// The arrival that was taken at `due` was not served: the step was over before the client woke up.
    pub fn give_back(&self, due: Nanos) {
        if due != NEVER {
            let mut state = self.state();
            state.taken -= 1;
            state.given_back += 1;
        }
    }

    /// What became of all arrivals of the window that closed at `closed`, as [`Queue::close_at`] was told.
    /// Those that were given back were due by then, and waited.
    pub fn outcome(&self, closed: Nanos) -> OpenLoop {
        let mut state = self.state();
        self.let_in(&mut state, closed);
        let waiting = state.waiting.len() as u64 + state.given_back;
        OpenLoop {
            per_second: state.per_second,
            arrived: state.taken + state.shed + waiting,
            shed: state.shed,
            waiting,
            highest_rate: None,
        }
    }

    /// Lets in all that arrive until `now`; those for whom there is no place are shed.
    fn let_in(&self, state: &mut State, now: Nanos) {
        while state.next <= now && state.next != NEVER {
            if state.waiting.len() < self.capacity {
                state.waiting.push_back(state.next);
            } else {
                state.shed += 1;
            }
            self.pass_on(state);
        }
    }

    /// Goes on to the arrival after the next one.
    fn pass_on(&self, state: &mut State) {
        state.number += 1;
        self.plan_next(state);
    }

    /// Finds out when the next arrival of this share comes, from arrival `number` on.
    fn plan_next(&self, state: &mut State) {
        state.plan(self.arrivals);
        while !self.share.has_arrival(state.number) && state.next != NEVER {
            state.number += 1;
            state.plan(self.arrivals);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

impl State {
    fn begin(per_second: u64, window: u64, rng: Rng) -> Self {
        Self {
            per_second,
            window,
            rng,
            number: 0,
            at: 0.0,
            next: NEVER,
            closes: NEVER,
            waiting: VecDeque::new(),
            taken: 0,
            shed: 0,
            given_back: 0,
        }
    }

    /// Finds out when arrival `number` comes.
    fn plan(&mut self, arrivals: Arrivals) {
        let next = match arrivals {
            _ if self.per_second == 0 => NEVER,
            Arrivals::Even => even(self.number, self.per_second),
            Arrivals::Poisson => {
                self.at += gap(&mut self.rng, self.per_second);
                Nanos(self.at as u64)
            }
        };
        self.next = if next <= self.closes { next } else { NEVER };
    }
}

/// When evenly spread arrival `number` comes: in the middle of its period, so that a window of whole
/// seconds holds `per_second` for each, and none on its edges.
fn even(number: u64, per_second: u64) -> Nanos {
    let halves = 2 * u128::from(number) + 1;
    let nanos = halves * u128::from(Nanos::SECOND.0) / (2 * u128::from(per_second));
    Nanos(u64::try_from(nanos).unwrap_or(NEVER.0))
}

/// A random distance between independent arrivals, in nanoseconds: exponential, by inversion.
fn gap(rng: &mut Rng, per_second: u64) -> f64 {
    -(1.0 - rng.unit()).ln() * 1e9 / per_second as f64
}

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
    use super::*;

    const MINUTE: Nanos = Nanos::from_secs(60);

    fn queue(per_second: u64, arrivals: Arrivals, capacity: u32, seconds: u64) -> Queue {
        let queue = Queue::new(per_second, arrivals, capacity, 42);
        queue.close_at(Nanos::from_secs(seconds));
        queue
    }

    /// All arrivals of a queue, as clients that are always free take them.
    fn all(queue: &Queue) -> Vec<Nanos> {
        std::iter::from_fn(|| Some(queue.take(Nanos(0))).filter(|due| *due != NEVER)).collect()
    }

    #[test]
    fn even_arrivals_have_exactly_their_rate_and_equal_distances() {
        for per_second in [1, 3, 7, 1000, 12_345] {
            let queue = queue(per_second, Arrivals::Even, 10, 60);
            let due = all(&queue);
            assert_eq!(due.len() as u64, 60 * per_second);
            let period = Nanos::SECOND.0 / per_second;
            let mut gaps = due.windows(2).map(|pair| pair[1].0 - pair[0].0);
            assert!(gaps.all(|gap| gap == period || gap == period + 1));
            assert!(due[0].0 > 0 && due.iter().all(|due| *due < MINUTE));
            let outcome = queue.outcome(MINUTE);
            assert_eq!((outcome.arrived, outcome.waiting), (60 * per_second, 0));
        }
    }

    #[test]
    fn poisson_arrivals_have_the_mean_and_variance_of_their_law() {
        let due = all(&queue(5_000, Arrivals::Poisson, 10, 60));
        let (n, mean) = (due.len() as f64, 60.0 * 5_000.0);
        // The number in a time has its mean as variance.
        assert!((n - mean).abs() < 4.0 * mean.sqrt(), "{n}");
        let gaps: Vec<f64> = due.windows(2).map(|p| (p[1].0 - p[0].0) as f64).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        assert!((mean / 200_000.0 - 1.0).abs() < 4.0 / n.sqrt(), "{mean}");
        // Of an exponential law, standard deviation and mean are equal; the error of a sample's variance
        // is sqrt(8 / n).
        let square = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>();
        let variance = square / gaps.len() as f64 / mean.powi(2);
        assert!((variance - 1.0).abs() < 4.0 * (8.0 / n).sqrt(), "{variance}");
        // Memoryless: a gap tells nothing of the next.
        let pairs = gaps.windows(2).map(|p| (p[0] - mean) * (p[1] - mean));
        let correlation = pairs.sum::<f64>() / square;
        assert!(correlation.abs() < 4.0 / n.sqrt(), "{correlation}");
    }

    #[test]
    fn each_window_has_its_own_random_times_and_the_seed_decides_them() {
        let times = || {
            let queue = queue(100, Arrivals::Poisson, 10, 1);
            let first = all(&queue);
            queue.restart(100);
            queue.close_at(Nanos::SECOND);
            [first, all(&queue)]
        };
        let [first, second] = times();
        assert_ne!(first, second);
        assert_eq!(times(), [first, second]);
    }

    #[test]
    fn shares_together_have_the_arrivals_of_the_whole() {
        for arrivals in [Arrivals::Even, Arrivals::Poisson] {
            let begun = |queue: Queue| {
                queue.restart(100);
                queue.close_at(Nanos::SECOND);
                all(&queue)
            };
            let whole = begun(Queue::new(1, arrivals, 10, 1));
            let shares = Share::divide(3, 2).into_iter();
            let shares: Vec<Vec<Nanos>> =
                shares.map(|share| begun(Queue::new(1, arrivals, 10, 1).of_share(share))).collect();
            assert!(shares[0].len() < shares[1].len(), "one client and two clients");
            let mut together = shares.concat();
            together.sort_unstable();
            assert_eq!(together, whole);
        }
    }

    #[test]
    fn the_oldest_is_taken_first_and_the_next_one_ahead_of_its_time() {
        let queue = queue(10, Arrivals::Even, 10, 60);
        let millis = |due: Nanos| due.0 / 1_000_000;
        let at = Nanos::from_millis(260);
        let taken = [(); 4].map(|()| millis(queue.take(at)));
        assert_eq!(taken, [50, 150, 250, 350]);
    }

    #[test]
    fn nothing_arrives_at_rate_zero_or_after_the_close() {
        assert_eq!(queue(0, Arrivals::Even, 1, 1).take(Nanos(5)), NEVER);
        let queue = queue(1, Arrivals::Even, 1, 1);
        assert_eq!(queue.take(Nanos(Nanos::SECOND.0 + 1)), NEVER);
        assert_eq!(queue.take(Nanos(0)), Nanos::from_millis(500));
        assert_eq!(queue.take(Nanos(0)), NEVER);
    }

    #[test]
    fn who_wakes_up_after_the_close_is_told() {
        let queue = queue(1, Arrivals::Even, 1, 1);
        assert!(!queue.is_closed(Nanos::SECOND));
        assert!(queue.is_closed(Nanos(Nanos::SECOND.0 + 1)));
    }

    #[test]
    fn what_is_given_back_was_waiting() {
        let queue = queue(10, Arrivals::Even, 10, 1);
        let due = queue.take(Nanos(0));
        queue.give_back(due);
        queue.give_back(NEVER);
        let outcome = queue.outcome(Nanos::SECOND);
        assert_eq!((outcome.arrived, outcome.waiting), (10, 10));
    }

    #[test]
    fn a_restart_forgets_the_window_before() {
        let queue = queue(10, Arrivals::Even, 2, 1);
        queue.take(Nanos::SECOND);
        queue.restart(20);
        queue.close_at(Nanos::SECOND);
        let outcome = queue.outcome(Nanos::SECOND);
        let expected =
            OpenLoop { per_second: 20, arrived: 20, shed: 18, waiting: 2, highest_rate: None };
        assert_eq!(outcome, expected);
        assert!(!outcome.is_sustained());
    }

    /// What became of the arrivals of one window.
    #[derive(Debug, Default, PartialEq, Eq)]
    struct Served {
        /// When each one arrived that was served, and when it started.
        started: Vec<(Nanos, Nanos)>,
        shed: u64,
        waiting: u64,
    }

    /// How long the arrival of a moment is served.
    fn service(due: Nanos, mean: u64) -> Nanos {
        Nanos(Rng::new(due.0).below(2 * mean) + 1)
    }

    /// Clients that take from the queue whenever they are free.
    fn served_from(queue: &Queue, clients: usize, mean: u64, closes: Nanos) -> Served {
        let mut free = vec![Nanos(0); clients];
        let mut served = Served::default();
        while let Some(client) = free.iter_mut().min().filter(|now| **now != NEVER) {
            let due = queue.take(*client);
            if due == NEVER {
                *client = NEVER;
                continue;
            }
            let start = due.max(*client);
            served.started.push((due, start));
            *client = start + service(due, mean);
        }
        let OpenLoop { arrived, shed, waiting, .. } = queue.outcome(closes);
        assert_eq!(arrived, served.started.len() as u64 + shed + waiting);
        Served { shed, waiting, ..served }
    }

    /// The same, event by event: what a queue in front of several clients is by definition.
    struct Naive {
        free: Vec<Nanos>,
        line: VecDeque<Nanos>,
        mean: u64,
        served: Served,
    }

    impl Naive {
        /// Clients that are free before `until` serve those who wait.
        fn serve(&mut self, until: Nanos) {
            while let Some(now) = self.free.iter_mut().min().filter(|now| **now < until) {
                let Some(due) = self.line.pop_front() else {
                    break;
                };
                let start = due.max(*now);
                self.served.started.push((due, start));
                *now = start + service(due, self.mean);
            }
        }

        fn run(mut self, arrivals: &[Nanos], capacity: usize, closes: Nanos) -> Served {
            for due in arrivals {
                self.serve(*due);
                let is_idle = self.line.is_empty() && self.free.iter().any(|now| now < due);
                if is_idle || self.line.len() < capacity {
                    self.line.push_back(*due);
                } else {
                    self.served.shed += 1;
                }
            }
            self.serve(closes + Nanos(1));
            self.served.waiting = self.line.len() as u64;
            self.served
        }
    }

    #[test]
    fn it_serves_sheds_and_leaves_waiting_as_a_naive_simulation_does() {
        let closes = Nanos::from_secs(1);
        let mut rng = Rng::new(7);
        let (mut shed, mut waiting) = (0, 0);
        for case in 0..300 {
            let arrivals = [Arrivals::Even, Arrivals::Poisson][rng.below(2) as usize];
            let per_second = rng.below(3_000) + 1;
            let capacity = rng.below(40) as u32;
            let clients = rng.below(9) as usize + 1;
            // From idle to hopelessly busy.
            let mean = clients as u64 * Nanos::SECOND.0 / per_second * (rng.below(250) + 1) / 100;
            let queue = || {
                let queue = Queue::new(per_second, arrivals, capacity, case);
                queue.close_at(closes);
                queue
            };
            let naive = Naive {
                free: vec![Nanos(0); clients],
                line: VecDeque::new(),
                mean,
                served: Served::default(),
            };
            let expected = naive.run(&all(&queue()), capacity as usize, closes);
            let served = served_from(&queue(), clients, mean, closes);
            assert_eq!(served, expected, "case {case}: {arrivals:?} {per_second}/s");
            shed += served.shed;
            waiting += served.waiting;
        }
        assert!(shed > 10_000 && waiting > 1_000, "{shed} shed, {waiting} waiting");
    }

    #[test]
    fn clients_at_the_same_time_share_the_arrivals() {
        let queue = queue(100_000, Arrivals::Poisson, 500, 1);
        let now = std::sync::atomic::AtomicU64::new(0);
        let taken: Vec<Nanos> = std::thread::scope(|scope| {
            let client = || {
                let now = || Nanos(now.fetch_add(12_000, std::sync::atomic::Ordering::Relaxed));
                let taken = || Some(queue.take(now())).filter(|due| *due != NEVER);
                std::iter::from_fn(taken).collect::<Vec<_>>()
            };
            let clients = [(); 4].map(|()| scope.spawn(client));
            clients.map(|c| c.join().unwrap()).concat()
        });
        let outcome = queue.outcome(Nanos::SECOND);
        let distinct = taken.iter().collect::<std::collections::BTreeSet<_>>();
        // Two Poisson arrivals may fall on one nanosecond, hardly more.
        assert!(taken.len() - distinct.len() < 20);
        let served = taken.len() as u64;
        assert_eq!(outcome.arrived, served + outcome.shed + outcome.waiting);
        assert!(served > 80_000 && outcome.shed > 1_000);
    }
}

#[cfg(test)]
mod waiting {
    use std::sync::{Arc, Mutex};

    use model::Arrivals;

    use super::*;
    use crate::engine::{Blind, End, Role, Stop, run};
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
        let clients: &mut [(Role, Box<dyn Client>)] = &mut [(role, Box::new(client))];
        let end = End::After(Nanos::from_millis(200));
        run(&[], clients, end, &Stop::default(), &mut Blind).unwrap();
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
