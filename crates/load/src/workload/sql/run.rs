//! A step whose clients run operations: set up, warmed up, measured, checked.

use std::sync::Arc;
use std::time::Duration;

use model::{Arrivals, Check, Nanos, OpenLoop, Rng, SqlPace, SqlRun, SqlSpec, StepId, Verb, mix};

use super::answers::Answers;
use super::client::{Common, SqlClient, name};
use super::compile::compile;
use super::kinds::Kinds;
use super::ledger::Ledger;
use super::statements::Facts;
use super::trouble::Outages;
use crate::arrivals::Queue;
use crate::engine::{Blind, End, Observer, Role, StepSetup, Stop, pass, run};
use crate::errors::Rules;
use crate::ramp::{RampSpec, Ramped, percentile, ramp};
use crate::{Client, StepClock, StepError, StepResult, Target, Window};

/// A step that runs operations, about to be run.
pub(super) struct RunStep<'a> {
    pub(super) spec: &'a SqlSpec,
    pub(super) id: &'a StepId,
    pub(super) clients: u32,
    pub(super) run: &'a SqlRun,
    /// The trial's seed.
    pub(super) seed: u64,
    pub(super) target: &'a Target,
    pub(super) ledger: &'a Arc<Ledger>,
}

/// Its clients, connected, and what they share.
struct Crew {
    kinds: Kinds,
    common: Arc<Common>,
    clients: Vec<(Role, Box<dyn Client>)>,
}

/// A window that was measured, and what was found out before it.
struct Measured {
    window: Window,
    open_loop: Option<OpenLoop>,
    notes: Vec<(String, String)>,
}

impl RunStep<'_> {
    /// Connects the clients, runs them and checks what they left.
    pub(super) fn run(
        &self,
        stop: &Stop,
        observer: &mut dyn Observer,
    ) -> Result<StepResult, StepError> {
        let clock = StepClock::start();
        let crew = self.crew(stop)?;
        let common = Arc::clone(&crew.common);
        let subject = crew.kinds.subject.kind.clone();
        let measured = self.measure(crew, stop, observer)?;
        let elapsed = clock.now();
        let mut notes = measured.notes;
        let mut checks = vec![common.answers.check()];
        if self.run.measured {
            checks.push(ended(&measured.window, &subject));
        }
        if self.changes_row_counts() {
            if !self.ledger.is_known() {
                let text = "an answer was lost, or a statement ran that cannot be accounted for";
                notes.push(("rows not counted".to_owned(), text.to_owned()));
            }
            checks.extend(self.ledger.check(self.spec, self.target)?);
        }
        let told = common.answers.told().into_iter();
        notes.extend(told.map(|text| ("wrong answer".to_owned(), text)));
        let lost = common.outages.told();
        notes.extend(lost.map(|text| ("connections lost".to_owned(), text)));
        notes.extend(common.facts.notes());
        Ok(StepResult {
            window: measured.window,
            elapsed,
            target_rate: None,
            requested_rows: 0,
            open_loop: measured.open_loop,
            checks,
            notes,
        })
    }

    fn crew(&self, stop: &Stop) -> Result<Crew, StepError> {
        let kinds = Kinds::of(self.run);
        let (errors, dialect) = (&self.spec.errors, self.target.dialect);
        let whole_after = Nanos::from_secs(u64::from(self.run.seconds));
        let common = Arc::new(Common {
            program: compile(self.spec, self.run, &kinds, dialect)?,
            ledger: Arc::clone(self.ledger),
            rules: Rules::new(errors, dialect),
            answers: Arc::new(Answers::default()),
            facts: Facts::default(),
            outages: Outages::default(),
            connector: Arc::clone(&self.target.connector),
            reconnect_for: Duration::from_secs(u64::from(errors.reconnect_seconds)),
            queue: self.queue(),
            whole_after: self.run.whole.then_some(whole_after),
            every: kinds.every,
            pipeline: self.target.connection.pipeline,
        });
        let mut clients: Vec<(Role, Box<dyn Client>)> = Vec::new();
        for number in 0..self.clients {
            if stop.is_asked() {
                return Err(StepError::Interrupted);
            }
            let role = Role {
                name: name(number),
                bounded: self.run.whole,
            };
            let client = SqlClient::connect(&common, number, Rng::new(self.seed_of(number)))?;
            clients.push((role, Box::new(client)));
        }
        Ok(Crew {
            kinds,
            common,
            clients,
        })
    }

    /// A seed for `number`, other than in any other step.
    fn seed_of(&self, number: u32) -> u64 {
        let mut salt: Vec<u64> = self.id.0.bytes().map(u64::from).collect();
        salt.push(u64::from(number));
        mix(self.seed, &salt)
    }

    fn queue(&self) -> Option<Queue> {
        let of = |per_second: u64, arrivals: Arrivals, capacity: u32| {
            Some(Queue::new(
                per_second,
                arrivals,
                capacity,
                self.seed_of(u32::MAX),
            ))
        };
        match self.run.pace {
            SqlPace::Unlimited => None,
            SqlPace::Rate {
                per_second,
                arrivals,
                queue,
            } => of(per_second, arrivals, queue),
            SqlPace::Ramp {
                from,
                arrivals,
                queue,
                ..
            } => of(from, arrivals, queue),
        }
    }

    fn measure(
        &self,
        crew: Crew,
        stop: &Stop,
        observer: &mut dyn Observer,
    ) -> Result<Measured, StepError> {
        let common = Arc::clone(&crew.common);
        match (&common.queue, &self.run.pace) {
            (Some(queue), SqlPace::Rate { per_second, .. }) => {
                let rate = *per_second;
                self.measure_open_loop(crew, queue, rate, stop, observer)
            }
            (
                Some(queue),
                SqlPace::Ramp {
                    from,
                    permille,
                    limit_micros,
                    attempt_seconds,
                    ..
                },
            ) => {
                let spec = RampSpec {
                    from: *from,
                    permille: *permille,
                    limit: Nanos(limit_micros * 1_000),
                    attempt: seconds(*attempt_seconds),
                };
                self.measure_ramp(crew, queue, &spec, stop, observer)
            }
            (None, _) | (Some(_), SqlPace::Unlimited) => {
                let setup = StepSetup {
                    kinds: crew.kinds.specs,
                    clients: crew.clients,
                    pace: None,
                    end: self.end(),
                    warmup: seconds(self.run.warmup_seconds),
                };
                Ok(Measured {
                    window: run(setup, stop, observer)?,
                    open_loop: None,
                    notes: Vec::new(),
                })
            }
        }
    }

    /// Measures at a rate, after the warm-up at the same rate.
    fn measure_open_loop(
        &self,
        mut crew: Crew,
        queue: &Queue,
        rate: u64,
        stop: &Stop,
        observer: &mut dyn Observer,
    ) -> Result<Measured, StepError> {
        self.warm_up(&mut crew, queue, rate, stop)?;
        let kind = crew.kinds.of_all();
        let (window, open_loop) = self.at_rate(crew, queue, rate, stop, observer)?;
        Ok(Measured {
            notes: not_sustained(&open_loop, &window, kind),
            window,
            open_loop: Some(open_loop),
        })
    }

    /// Looks for the highest rate that keeps the limit and measures there; at the first rate where none
    /// does.
    fn measure_ramp(
        &self,
        mut crew: Crew,
        queue: &Queue,
        spec: &RampSpec,
        stop: &Stop,
        observer: &mut dyn Observer,
    ) -> Result<Measured, StepError> {
        self.warm_up(&mut crew, queue, spec.from, stop)?;
        let kind = crew.kinds.of_all();
        let ramped = ramp(
            &crew.kinds.specs,
            &mut crew.clients,
            queue,
            spec,
            kind,
            stop,
        )?;
        let rate = ramped.highest.unwrap_or(spec.from);
        let (window, open_loop) = self.at_rate(crew, queue, rate, stop, observer)?;
        let mut notes = ramp_notes(&ramped, spec);
        if ramped.highest.is_some() {
            notes.extend(limit_not_kept(&window, kind, rate, spec));
        }
        notes.extend(not_sustained(&open_loop, &window, kind));
        Ok(Measured {
            window,
            open_loop: Some(OpenLoop {
                highest_rate: Some(ramped.highest.unwrap_or(0)),
                ..open_loop
            }),
            notes,
        })
    }

    fn warm_up(
        &self,
        crew: &mut Crew,
        queue: &Queue,
        rate: u64,
        stop: &Stop,
    ) -> Result<(), StepError> {
        let length = seconds(self.run.warmup_seconds);
        if length.0 > 0 {
            queue.restart(rate);
            queue.close_at(length);
            let (kinds, clients) = (&crew.kinds.specs, &mut crew.clients);
            pass(kinds, clients, None, End::After(length), stop, &mut Blind)?;
        }
        Ok(())
    }

    fn at_rate(
        &self,
        crew: Crew,
        queue: &Queue,
        rate: u64,
        stop: &Stop,
        observer: &mut dyn Observer,
    ) -> Result<(Window, OpenLoop), StepError> {
        queue.restart(rate);
        queue.close_at(seconds(self.run.seconds));
        let setup = StepSetup {
            kinds: crew.kinds.specs,
            clients: crew.clients,
            pace: None,
            end: End::After(seconds(self.run.seconds)),
            warmup: Nanos(0),
        };
        let window = run(setup, stop, observer)?;
        let open_loop = queue.outcome(window.length);
        Ok((window, open_loop))
    }

    fn end(&self) -> End {
        if self.run.whole {
            End::AllDone { limit: None }
        } else {
            End::After(seconds(self.run.seconds))
        }
    }

    /// May there be another number of rows afterwards?
    fn changes_row_counts(&self) -> bool {
        let blocks = self.run.operations.iter().flat_map(|o| &o.blocks);
        let mut verbs = blocks.flat_map(|b| &b.statements).map(|s| s.verb);
        verbs.any(|verb| match verb {
            Verb::Select | Verb::Update => false,
            Verb::Insert | Verb::Delete | Verb::Other => true,
        })
    }
}

fn seconds(seconds: u32) -> Nanos {
    Nanos::from_secs(u64::from(seconds))
}

/// A step in which nothing ended has no rate.
fn ended(window: &Window, kind: &str) -> Check {
    let found = window.kinds.iter().find(|totals| totals.spec.name == kind);
    let (ops, actual) = found.map_or((0, "none".to_owned()), |totals| {
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

/// A note where the arrivals were more than was done.
fn not_sustained(open_loop: &OpenLoop, window: &Window, kind: usize) -> Vec<(String, String)> {
    if open_loop.is_sustained() {
        return Vec::new();
    }
    let done = window.kinds.get(kind).map_or(0, |kind| kind.sums.ops);
    let per_second = done as f64 / window.length.as_secs_f64().max(1e-9);
    let text = format!(
        "{}/s asked, {}/s done, {} shed, {} waiting",
        grouped(open_loop.per_second),
        grouped(per_second.round() as u64),
        grouped(open_loop.shed),
        grouped(open_loop.waiting)
    );
    vec![("rate not sustained".to_owned(), text)]
}

/// A note for each rate that was tried, in the order of the tries.
fn ramp_notes(ramped: &Ramped, spec: &RampSpec) -> Vec<(String, String)> {
    let percentile = f64::from(spec.permille) / 10.0;
    let attempts = ramped.attempts.iter().map(|attempt| {
        let at = attempt.at.map_or("unknown".to_owned(), |at| at.to_string());
        let judged = match (attempt.kept, attempt.at) {
            (true, _) => "kept".to_owned(),
            (false, None) => "nothing ended".to_owned(),
            (false, Some(at)) if at <= spec.limit => "rate not sustained".to_owned(),
            (false, Some(_)) => format!("over {}", spec.limit),
        };
        let text = format!(
            "{}/s: p{percentile} {at}, {judged}",
            grouped(attempt.per_second)
        );
        ("ramp".to_owned(), text)
    });
    attempts.collect()
}

/// A note where the rate that kept the limit while it was looked for does not keep it in the measured window,
/// which is longer.
fn limit_not_kept(
    window: &Window,
    kind: usize,
    rate: u64,
    spec: &RampSpec,
) -> Option<(String, String)> {
    let at = percentile(window.kinds.get(kind)?, spec.permille)?;
    (at > spec.limit).then(|| {
        let text = format!(
            "p{} {at} at {}/s, the limit is {}",
            f64::from(spec.permille) / 10.0,
            grouped(rate),
            spec.limit
        );
        ("limit not kept".to_owned(), text)
    })
}

/// A number with a comma between thousands.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use model::{KindInterval, KindSpec, KindTotals, Latency};

    use super::*;

    /// A window of a hundred operations that took so long from their arrival, whose service was quick.
    fn window(response: Nanos) -> Window {
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
        Window {
            length: Nanos::SECOND,
            kinds: vec![KindTotals {
                spec: KindSpec {
                    name: "point".to_owned(),
                    scheduled: true,
                },
                sums,
                late: 0,
            }],
            errors: Vec::new(),
            on_target: None,
            cut_short: false,
        }
    }

    #[test]
    fn a_limit_that_the_measured_window_does_not_keep_is_noted() {
        let spec = RampSpec {
            from: 100,
            permille: 990,
            limit: Nanos::from_millis(5),
            attempt: Nanos::SECOND,
        };
        let noted = |millis| limit_not_kept(&window(Nanos::from_millis(millis)), 0, 1_200, &spec);
        let (what, text) = noted(18).unwrap();
        assert_eq!(what, "limit not kept");
        assert!(text.starts_with("p99 18"), "{text}");
        assert!(
            text.ends_with("ms at 1,200/s, the limit is 5.00ms"),
            "{text}"
        );
        assert_eq!(noted(4), None);
    }

    #[test]
    fn thousands_are_grouped() {
        let of = [0, 999, 1_000, 12_345, 1_234_567].map(grouped);
        assert_eq!(of, ["0", "999", "1,000", "12,345", "1,234,567"]);
    }
}
