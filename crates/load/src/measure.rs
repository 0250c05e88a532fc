//! Windows in which clients run operations: warmed up, then measured, in a closed or an open loop.

use model::{
    Arrivals, Check, KindSpec, KindTotals, Nanos, Note, NoteKind, OpenLoop, SqlPace, StepRecord,
    grouped,
};

use super::warm::{Rates, WINDOW, WarmUp};
use crate::arrivals::Queue;
use crate::crew::unseen;
use crate::engine::{End, Observer, Stop};
use crate::ramp::{Attempt, Limit, RampSpec, Ramped, percentile, ramp};
use crate::{Crew, Result, Window};

/// The windows of a step, which its crew runs one after the other.
pub struct Windows<'a> {
    pub warmup: WarmUp,
    pub end: End,
    /// How operations arrive; `None` in a closed loop.
    pub stream: Option<&'a Stream>,
    pub counted: &'a [usize],
}

/// How operations arrive: each second of all clients together, how they are spread, and how many may wait.
#[derive(Clone, Debug)]
pub struct Stream {
    pub per_second: u64,
    pub arrivals: Arrivals,
    pub queue: u32,
    /// Where they arrive at the highest rate that keeps the limits; at the first where none does.
    pub ramp: Option<RampSpec>,
}

impl Stream {
    /// That of operations of this kind; `None` in a closed loop.
    pub fn of(pace: &SqlPace, kind: usize) -> Option<Self> {
        match *pace {
            SqlPace::Unlimited => None,
            SqlPace::Rate { per_second, arrivals, queue } => {
                Some(Self { per_second, arrivals, queue, ramp: None })
            }
            SqlPace::Ramp { from, arrivals, queue, permille, limit_micros, attempt_seconds } => {
                let limits = vec![Limit { kind, at_most: Nanos(limit_micros * 1_000) }];
                let attempt = Nanos::from_secs(attempt_seconds.into());
                let ramp = Some(RampSpec { from, permille, limits, attempt });
                Some(Self { per_second: from, arrivals, queue, ramp })
            }
        }
    }

    pub fn queue(&self, seed: u64) -> Queue {
        Queue::new(self.per_second, self.arrivals, self.queue, seed)
    }
}

impl Windows<'_> {
    /// Runs the windows one after the other; the observer sees the measured one. Errors as of [`crate::run`].
    pub fn measure(
        &self,
        crew: &mut dyn Crew,
        stop: &Stop,
        observer: &mut dyn Observer,
    ) -> Result<StepRecord> {
        let mut per_second = self.stream.map(|stream| stream.per_second);
        let mut notes = self.warm_up(crew, per_second, stop)?;
        let ramped = match self.stream.and_then(|stream| stream.ramp.as_ref()) {
            Some(spec) => Some((spec, ramp(crew, spec, stop)?)),
            None => None,
        };
        if let Some((spec, ramped)) = &ramped {
            notes.extend(ramp_notes(ramped, spec, crew.kinds()));
            per_second = Some(ramped.highest.unwrap_or(spec.from));
        }
        let window = Window { end: self.end, per_second, measured: true };
        let mut measured = crew.window(window, stop, observer)?;
        if let Some((spec, Ramped { highest: Some(rate), .. })) = &ramped {
            notes.extend(limits_not_kept(&measured, *rate, spec));
        }
        if let Some(open_loop) = &measured.open_loop {
            notes.extend(not_sustained(open_loop, &measured, self.counted));
        }
        if let (Some(open_loop), Some((_, ramped))) = (&mut measured.open_loop, &ramped) {
            open_loop.highest_rate = Some(ramped.highest.unwrap_or(0));
        }
        notes.append(&mut measured.notes);
        Ok(StepRecord { notes, ..measured })
    }

    /// Lets the clients run before what is measured; what came of it, where that was open.
    fn warm_up(
        &self,
        crew: &mut dyn Crew,
        per_second: Option<u64>,
        stop: &Stop,
    ) -> Result<Vec<Note>> {
        if let Some(quota) = stop.quota() {
            // A number of operations, whatever their rate.
            unseen(crew, per_second, Nanos::SECOND, &stop.with_quota(Some(quota.before())))?;
            return Ok(Vec::new());
        }
        match self.warmup {
            WarmUp::None => Ok(Vec::new()),
            WarmUp::Fixed(length) => {
                unseen(crew, per_second, length, stop)?;
                Ok(Vec::new())
            }
            WarmUp::Steady { at_most } => {
                let told = self.until_steady(crew, per_second, at_most, stop)?;
                Ok(vec![told])
            }
        }
    }

    /// Lets the clients run in windows until their rate is steady, or for so long.
    fn until_steady(
        &self,
        crew: &mut dyn Crew,
        per_second: Option<u64>,
        at_most: Nanos,
        stop: &Stop,
    ) -> Result<Note> {
        let clock = stop.clock();
        let (mut rates, mut operations) = (Rates::default(), 0);
        loop {
            let began = clock.now();
            let seen = unseen(crew, per_second, WINDOW, stop)?;
            let now = clock.now();
            // What is under way when a window closes is awaited; with slow operations it may be all there is.
            let done = done(&seen, self.counted, |kind| kind.sums.ops + kind.late);
            operations += done;
            let seconds = now.saturating_sub(began).as_secs_f64().max(1e-9);
            if rates.add(done as f64 / seconds) || now >= at_most {
                return Ok(rates.told(now, operations));
            }
        }
    }
}

fn done(measured: &StepRecord, counted: &[usize], number: impl Fn(&KindTotals) -> u64) -> u64 {
    let kinds = counted.iter().filter_map(|kind| measured.kinds.get(*kind));
    kinds.map(number).sum()
}

pub fn ended(measured: &StepRecord, kind: &str) -> Check {
    let (ops, actual) = measured.kind(kind).map_or((0, "none".to_owned()), |totals| {
        let sums = &totals.sums;
        let actual = match sums.ops {
            0 => format!("none; {} failed, {} late", sums.errors, totals.late),
            ops => ops.to_string(),
        };
        (sums.ops, actual)
    });
    Check {
        what: format!("`{kind}` that ended within the window"),
        expected: "at least 1".to_owned(),
        actual,
        holds: ops > 0,
    }
}

fn not_sustained(open_loop: &OpenLoop, measured: &StepRecord, counted: &[usize]) -> Option<Note> {
    if open_loop.is_sustained() {
        return None;
    }
    let done = done(measured, counted, |kind| kind.sums.ops);
    let per_second = done as f64 / measured.window.as_secs_f64().max(1e-9);
    let text = format!(
        "{}/s asked, {}/s done, {} shed, {} waiting",
        grouped(open_loop.per_second),
        grouped(per_second.round() as u64),
        grouped(open_loop.shed),
        grouped(open_loop.waiting)
    );
    Some(Note::new(NoteKind::RateNotSustained, text))
}

fn ramp_notes(ramped: &Ramped, spec: &RampSpec, kinds: &[KindSpec]) -> Vec<Note> {
    let attempts = ramped.attempts.iter().map(|attempt| {
        let rate = grouped(attempt.per_second);
        let text = format!("{rate}/s: {}", judged(attempt, spec, kinds));
        Note::new(NoteKind::Ramp, text)
    });
    attempts.collect()
}

/// What was measured of one rate and what came of it. The kinds are named where several have limits.
fn judged(attempt: &Attempt, spec: &RampSpec, kinds: &[KindSpec]) -> String {
    let percentile = f64::from(spec.permille) / 10.0;
    let (mut found, mut over) = (Vec::new(), Vec::new());
    for (limit, at) in spec.limits.iter().zip(&attempt.at) {
        let name = match kinds.get(limit.kind) {
            Some(kind) if spec.limits.len() > 1 => format!("{} ", kind.name),
            Some(_) | None => String::new(),
        };
        let told = at.map_or("unknown".to_owned(), |at| at.to_string());
        found.push(format!("{name}p{percentile} {told}"));
        if at.is_some_and(|at| at > limit.at_most) {
            over.push(format!("{name}over {}", limit.at_most));
        }
    }
    let verdict = if attempt.kept {
        "kept".to_owned()
    } else if attempt.at.iter().all(Option::is_none) {
        "nothing ended".to_owned()
    } else if over.is_empty() {
        NoteKind::RateNotSustained.to_string()
    } else {
        over.join(", ")
    };
    format!("{}, {verdict}", found.join(", "))
}

/// A note for each limit that the rate kept in the search and breaks in the longer measured window.
fn limits_not_kept(measured: &StepRecord, rate: u64, spec: &RampSpec) -> Vec<Note> {
    let broken = spec.limits.iter().filter_map(|limit| {
        let kind = measured.kinds.get(limit.kind)?;
        let at = percentile(kind, spec.permille).filter(|at| *at > limit.at_most)?;
        let name = match spec.limits.len() {
            1 => String::new(),
            _ => format!("{} ", kind.spec.name),
        };
        let text = format!(
            "{name}p{} {at} at {}/s, the limit is {}",
            f64::from(spec.permille) / 10.0,
            grouped(rate),
            limit.at_most
        );
        Some(Note::new(NoteKind::LimitNotKept, text))
    });
    broken.collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    use model::{KindInterval, Latency};

    use super::*;
    use crate::{Blind, Client, ClientContext, OwnCrew, Quota, Role};

    /// A window of a hundred operations that took so long from their arrival, whose service was quick.
    fn window(response: Nanos) -> StepRecord {
        let latency = |nanos| {
            let mut latency = Latency::new();
            (0..100).for_each(|_| latency.record(nanos));
            latency
        };
        let sums = KindInterval {
            ops: 100,
            service: latency(Nanos(1_000)),
            response: Some(latency(response)),
            ..KindInterval::default()
        };
        let totals = |name: &str| KindTotals {
            spec: KindSpec { name: name.to_owned(), scheduled: true },
            sums: sums.clone(),
            late: 0,
        };
        StepRecord {
            window: Nanos::SECOND,
            kinds: ["order", "payment"].map(totals).to_vec(),
            ..StepRecord::default()
        }
    }

    /// Says how many operations it did.
    struct Counting(Arc<AtomicU64>);

    impl Client for Counting {
        fn run(&mut self, context: &mut ClientContext<'_>) -> Result {
            while !context.is_over() {
                let started = context.recorder.begin();
                context.recorder.done(0, started, None, 1);
                self.0.fetch_add(1, Ordering::Relaxed);
            }
            Ok(())
        }
    }

    #[test]
    fn clients_with_a_quota_have_another_one_before() {
        let done = Arc::new(AtomicU64::new(0));
        let client: Box<dyn Client> = Box::new(Counting(Arc::clone(&done)));
        let role = Role { name: "client 1".to_owned(), bounded: false };
        let kinds = vec![KindSpec { name: "order".to_owned(), scheduled: false }];
        let windows = Windows {
            warmup: WarmUp::None,
            end: End::After(Nanos::from_secs(60)),
            stream: None,
            counted: &[0],
        };
        let quota = Quota { operations: 5, warm_up: 50, at_most: Nanos::from_secs(60) };
        let stop = Stop::default().with_quota(Some(quota));
        let clients = vec![(role, client)];
        let mut crew = OwnCrew { kinds, clients, shared: None };
        let measured = windows.measure(&mut crew, &stop, &mut Blind).unwrap();
        assert_eq!((measured.kinds[0].sums.ops, done.load(Ordering::Relaxed)), (5, 55));
    }

    #[test]
    fn a_limit_that_the_measured_window_does_not_keep_is_noted() {
        let limit = |(kind, millis)| Limit { kind, at_most: Nanos::from_millis(millis) };
        let noted = |millis, limits: &[(usize, u64)]| {
            let spec = RampSpec {
                from: 100,
                permille: 990,
                limits: limits.iter().copied().map(limit).collect(),
                attempt: Nanos::SECOND,
            };
            limits_not_kept(&window(Nanos::from_millis(millis)), 1_200, &spec)
        };
        let [Note { what, text }] = &noted(18, &[(0, 5)])[..] else { panic!("one note") };
        assert_eq!(*what, NoteKind::LimitNotKept);
        assert!(text.starts_with("p99 18"), "{text}");
        assert!(text.ends_with("ms at 1,200/s, the limit is 5.00ms"), "{text}");
        assert_eq!(noted(4, &[(0, 5)]), []);
        let [Note { text, .. }] = &noted(18, &[(0, 20), (1, 5)])[..] else { panic!("one note") };
        assert!(text.starts_with("payment p99 18"), "{text}");
    }

    fn told(limits: &[u64], at: &[Option<u64>], kept: bool) -> String {
        let kinds =
            ["order", "payment"].map(|name| KindSpec { name: name.to_owned(), scheduled: true });
        let limits = limits.iter().enumerate();
        let spec = RampSpec {
            from: 1,
            permille: 990,
            limits: limits
                .map(|(kind, millis)| Limit { kind, at_most: Nanos::from_millis(*millis) })
                .collect(),
            attempt: Nanos::SECOND,
        };
        let ramped = Ramped {
            highest: None,
            attempts: vec![Attempt {
                per_second: 1_500,
                at: at.iter().map(|at| at.map(Nanos::from_millis)).collect(),
                kept,
            }],
        };
        ramp_notes(&ramped, &spec, &kinds)[0].text.clone()
    }

    #[test]
    fn each_rate_is_told_with_what_came_of_it() {
        assert_eq!(told(&[20], &[Some(12)], true), "1,500/s: p99 12.0ms, kept");
        assert_eq!(told(&[20], &[Some(12)], false), "1,500/s: p99 12.0ms, rate not sustained");
        assert_eq!(told(&[20], &[Some(32)], false), "1,500/s: p99 32.0ms, over 20.0ms");
        assert_eq!(told(&[20], &[None], false), "1,500/s: p99 unknown, nothing ended");
        assert_eq!(
            told(&[20, 80], &[Some(12), Some(50)], true),
            "1,500/s: order p99 12.0ms, payment p99 50.0ms, kept"
        );
        assert_eq!(
            told(&[20, 80], &[Some(12), Some(90)], false),
            "1,500/s: order p99 12.0ms, payment p99 90.0ms, payment over 80.0ms"
        );
    }
}
