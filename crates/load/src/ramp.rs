//! The highest rate at which arrivals are served within limits on their response times.
//!
//! Each attempt is a window of its own at one rate. The rate is doubled until it is not kept, then the
//! gap between the highest that was kept and the lowest that was not is halved until it is small.

use model::{KindTotals, Nanos};

use crate::crew::unseen;
use crate::engine::Stop;
use crate::{Crew, Result};

/// The result is at most so much below the lowest rate that was not kept, in per cent.
const CLOSE_ENOUGH: u64 = 5;

/// The first rate is halved so often before it is said that none is kept.
const HALVINGS: u32 = 10;

#[derive(Clone, Debug)]
pub struct RampSpec {
    pub from: u64,
    /// Percentile of response time that has a limit, per mille: 990 for p99.
    pub permille: u32,
    pub limits: Vec<Limit>,
    pub attempt: Nanos,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// Place of the kind of operations.
    pub kind: usize,
    pub at_most: Nanos,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    pub per_second: u64,
    /// The percentile that was measured for each limit; `None` when no such operation ended.
    pub at: Vec<Option<Nanos>>,
    pub kept: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ramped {
    /// The highest rate that was kept; `None` when none was.
    pub highest: Option<u64>,
    pub attempts: Vec<Attempt>,
}

impl RampSpec {
    /// Are all limits kept by these percentiles? A kind of which nothing ended counts only if it is alone.
    pub fn keeps(&self, at: &[Option<Nanos>]) -> bool {
        let mut limits = self.limits.iter().zip(at);
        at.iter().any(Option::is_some)
            && limits.all(|(limit, at)| at.is_none_or(|at| at <= limit.at_most))
    }
}

/// Looks for the highest rate that keeps the limits of `spec` without a growing queue. Errors as of [`crate::run`].
pub fn ramp(crew: &mut dyn Crew, spec: &RampSpec, stop: &Stop) -> Result<Ramped> {
    search(spec.from, |per_second| {
        let attempt = unseen(crew, Some(per_second), spec.attempt, stop)?;
        let is_sustained = attempt.open_loop.is_some_and(|it| it.is_sustained());
        let of = |limit: &Limit| percentile(attempt.kinds.get(limit.kind)?, spec.permille);
        let at: Vec<_> = spec.limits.iter().map(of).collect();
        Ok(Attempt { per_second, kept: is_sustained && spec.keeps(&at), at })
    })
}

/// The percentile of response time; of service time where the kind has no schedule.
pub fn percentile(kind: &KindTotals, permille: u32) -> Option<Nanos> {
    let latency = kind.sums.response.as_ref().unwrap_or(&kind.sums.service);
    latency.quantile(f64::from(permille) / 1000.0)
}

/// Looks for the highest rate that `attempt` says is kept, near enough, beginning at `from`.
fn search(from: u64, mut attempt: impl FnMut(u64) -> Result<Attempt>) -> Result<Ramped> {
    let (from, mut attempts) = (from.max(1), Vec::new());
    let mut keeps = |per_second| -> Result<bool> {
        let attempt = attempt(per_second)?;
        attempts.push(attempt);
        Ok(attempts.last().is_some_and(|attempt| attempt.kept))
    };
    let mut bracket =
        if keeps(from)? { Some(double(from, &mut keeps)?) } else { halve(from, &mut keeps)? };
    if let Some((kept, broken)) = &mut bracket {
        while *broken - *kept > (*kept * CLOSE_ENOUGH / 100).max(1) {
            let middle = *kept + (*broken - *kept) / 2;
            *if keeps(middle)? { &mut *kept } else { &mut *broken } = middle;
        }
    }
    Ok(Ramped { highest: bracket.map(|(kept, _)| kept), attempts })
}

/// Doubles a rate that is kept. One that is not gets a second chance, in case a disturbance broke it.
fn double(mut kept: u64, keeps: &mut dyn FnMut(u64) -> Result<bool>) -> Result<(u64, u64)> {
    loop {
        let next = kept.saturating_mul(2);
        if next == kept || !(keeps(next)? || keeps(next)?) {
            return Ok((kept, next));
        }
        kept = next;
    }
}

fn halve(
    mut broken: u64,
    keeps: &mut dyn FnMut(u64) -> Result<bool>,
) -> Result<Option<(u64, u64)>> {
    for _ in 0..HALVINGS {
        let next = broken / 2;
        if next == 0 {
            break;
        }
        if keeps(next)? {
            return Ok(Some((next, broken)));
        }
        broken = next;
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use model::{Arrivals, KindSpec, Latency, Rng};

    use super::*;
    use crate::arrivals::Queue;
    use crate::{Client, ClientContext, Clients, OwnCrew, Role, Shared, StepError};

    /// A server with `clients` places, in virtual time.
    struct Simulated {
        queue: Queue,
        clients: usize,
        service: fn(&mut Rng) -> Nanos,
        spec: RampSpec,
        rng: Rng,
    }

    impl Simulated {
        fn attempt(&mut self, per_second: u64) -> Attempt {
            let RampSpec { permille, attempt, .. } = self.spec;
            self.queue.restart(per_second);
            self.queue.close_at(attempt);
            let mut free = vec![Nanos(0); self.clients];
            let mut response = Latency::new();
            while let Some(client) = free.iter_mut().min().filter(|now| now.0 < u64::MAX) {
                let due = self.queue.take(*client);
                if due.0 == u64::MAX {
                    *client = due;
                    continue;
                }
                *client = due.max(*client) + (self.service)(&mut self.rng);
                if *client <= attempt {
                    response.record(*client - due);
                }
            }
            let at = vec![response.quantile(f64::from(permille) / 1000.0)];
            let is_sustained = self.queue.outcome(attempt).is_sustained();
            Attempt { per_second, kept: is_sustained && self.spec.keeps(&at), at }
        }
    }

    /// Of the only kind.
    fn one_limit(at_most: Nanos) -> Vec<Limit> {
        vec![Limit { kind: 0, at_most }]
    }

    fn simulate(
        clients: usize,
        arrivals: Arrivals,
        service: fn(&mut Rng) -> Nanos,
        from: u64,
        limit_millis: u64,
    ) -> Ramped {
        let spec = RampSpec {
            from,
            permille: 990,
            limits: one_limit(Nanos::from_millis(limit_millis)),
            attempt: Nanos::from_secs(60),
        };
        let mut server = Simulated {
            queue: Queue::new(from, arrivals, 100_000, 1),
            clients,
            service,
            spec,
            rng: Rng::new(2),
        };
        search(from, |per_second| Ok(server.attempt(per_second))).unwrap()
    }

    fn ten_millis(_: &mut Rng) -> Nanos {
        Nanos::from_millis(10)
    }

    /// Exponential with a mean of 10 ms.
    fn about_ten_millis(rng: &mut Rng) -> Nanos {
        Nanos((-(1.0 - rng.unit()).ln() * 1e7) as u64)
    }

    /// Share of the response times of M/M/c that are longer than `t`: `lambda` arrivals a second, each of
    /// `c` servers serves `mu` a second (Gross and Harris, Fundamentals of Queueing Theory, section 2.3).
    fn longer(c: u32, lambda: f64, mu: f64, t: f64) -> f64 {
        let a = lambda / mu;
        let terms =
            std::iter::successors(Some((1.0, 1.0)), |(n, term)| Some((n + 1.0, term * a / n)));
        let terms: Vec<f64> = terms.map(|(_, term)| term).take(c as usize + 1).collect();
        let last = terms[c as usize] * f64::from(c) / (f64::from(c) - a);
        let waits = last / (terms[..c as usize].iter().sum::<f64>() + last);
        let spare = f64::from(c) - 1.0 - a;
        (-mu * t).exp() * (1.0 + waits * (1.0 - (-mu * t * spare).exp()) / spare)
    }

    /// The rate at which a share of 1 % of the response times of M/M/c is longer than `t`.
    fn exact(c: u32, mu: f64, t: f64) -> f64 {
        // Not all of it: the formula has a gap at c - 1 busy servers, which halving would hit.
        let (mut low, mut high) = (0.0, f64::from(c) * mu * 0.9999);
        for _ in 0..60 {
            let middle = f64::midpoint(low, high);
            if longer(c, middle, mu, t) < 0.01 {
                low = middle;
            } else {
                high = middle;
            }
        }
        low
    }

    #[test]
    fn the_highest_rate_of_random_service_is_that_of_queueing_theory() {
        // One server: 1 - exp(-(mu - lambda) t).
        assert!((exact(1, 100.0, 0.1) - (100.0 - 100f64.ln() / 0.1)).abs() < 1e-6);
        for (clients, from, limit) in [(1, 10, 100), (1, 900, 200), (4, 10, 60), (16, 5000, 80)] {
            let service = about_ten_millis;
            let ramped = simulate(clients, Arrivals::Poisson, service, from, limit);
            let exact = exact(clients as u32, 100.0, limit as f64 / 1000.0);
            let found = ramped.highest.unwrap() as f64;
            assert!((found / exact - 1.0).abs() < 0.1, "{found} of {exact}: {ramped:?}");
        }
    }

    #[test]
    fn the_highest_rate_of_even_service_is_that_of_its_servers() {
        for (clients, from) in [(1, 10), (4, 1), (4, 10_000), (4, 400)] {
            let ramped = simulate(clients, Arrivals::Even, ten_millis, from, 20);
            let found = ramped.highest.unwrap() as f64 / (clients as f64 * 100.0);
            assert!((0.95..=1.001).contains(&found), "{found}: {ramped:?}");
        }
    }

    #[test]
    fn an_impossible_limit_is_kept_at_no_rate() {
        let ramped = simulate(4, Arrivals::Even, ten_millis, 100, 5);
        assert_eq!(ramped.highest, None);
        let tried: Vec<u64> = ramped.attempts.iter().map(|a| a.per_second).collect();
        assert_eq!(tried, [100, 50, 25, 12, 6, 3, 1]);
        assert!(ramped.attempts.iter().all(|a| !a.kept));
    }

    fn kept_below(rates: u64) -> impl FnMut(u64) -> Result<Attempt, StepError> {
        move |per_second| Ok(Attempt { per_second, at: Vec::new(), kept: per_second < rates })
    }

    #[test]
    fn any_highest_rate_is_found_to_a_twentieth() {
        for highest in (1..500).chain([10_000, 123_456_789]) {
            for from in [1, 100, 100_000] {
                let found = search(from, kept_below(highest + 1)).unwrap().highest;
                // Ten halvings do not reach everything.
                let Some(found) = found else {
                    assert!(from >> 10 > highest);
                    continue;
                };
                assert!(found <= highest && highest <= found + (found / 20).max(1));
            }
        }
    }

    #[test]
    fn one_disturbance_does_not_end_the_doubling() {
        let mut disturbed = false;
        let mut calm = kept_below(1001);
        let ramped = search(100, |per_second| {
            let attempt = calm(per_second)?;
            let kept =
                attempt.kept && (per_second != 400 || std::mem::replace(&mut disturbed, true));
            Ok(Attempt { kept, ..attempt })
        });
        let highest = ramped.unwrap().highest.unwrap();
        assert!((950..=1000).contains(&highest), "{highest}");
    }

    #[test]
    fn every_kind_has_its_own_limit() {
        let millis = |millis| Some(Nanos::from_millis(millis));
        let spec = RampSpec {
            from: 1,
            permille: 900,
            limits: vec![
                Limit { kind: 0, at_most: Nanos::from_millis(10) },
                Limit { kind: 3, at_most: Nanos::from_millis(500) },
            ],
            attempt: Nanos::SECOND,
        };
        assert!(spec.keeps(&[millis(10), millis(500)]));
        assert!(!spec.keeps(&[millis(11), millis(20)]));
        assert!(!spec.keeps(&[millis(1), millis(501)]));
        assert!(spec.keeps(&[millis(1), None]), "of the other nothing ended");
        assert!(!spec.keeps(&[None, None]), "nothing ended at all");
    }

    #[test]
    fn what_ends_an_attempt_ends_the_search() {
        let error = search(1, |_| Err(StepError::Interrupted)).unwrap_err();
        assert!(matches!(error, StepError::Interrupted));
    }

    impl Shared for Queue {
        fn queue(&self) -> Option<&Queue> {
            Some(self)
        }
    }

    /// Serves arrivals for a millisecond each, in real time.
    struct Sleepy(Arc<Queue>);

    impl Client for Sleepy {
        fn run(&mut self, context: &mut ClientContext<'_>) -> Result<(), StepError> {
            while !context.is_over() {
                let due = self.0.take(context.recorder.clock().now());
                if !context.wait_until(due) {
                    self.0.give_back(due);
                    break;
                }
                let started = context.recorder.begin();
                std::thread::sleep(Duration::from_millis(1));
                context.recorder.done(0, started, Some(due), 1);
            }
            Ok(())
        }
    }

    fn sleepy(from: u64, limit: Nanos) -> Ramped {
        let queue = Arc::new(Queue::new(from, Arrivals::Poisson, 1000, 1));
        let kind = KindSpec { name: "operation".to_owned(), scheduled: true };
        let mut clients = Clients::new();
        for number in 1..=2 {
            let role = Role { name: format!("client {number}"), bounded: false };
            clients.push((role, Box::new(Sleepy(Arc::clone(&queue)))));
        }
        let spec = RampSpec {
            from,
            permille: 900,
            limits: one_limit(limit),
            attempt: Nanos::from_millis(200),
        };
        let mut crew = OwnCrew { kinds: vec![kind], clients, shared: Some(queue) };
        ramp(&mut crew, &spec, &Stop::default()).unwrap()
    }

    #[test]
    fn clients_in_real_time_have_a_highest_rate_or_none() {
        // At most 2,000 a second; how much less depends on the machine.
        let ramped = sleepy(50, Nanos::from_millis(20));
        let highest = ramped.highest.unwrap();
        assert!((1..=2_500).contains(&highest), "{ramped:?}");
        assert_eq!(sleepy(20, Nanos(1000)).highest, None);
    }
}
