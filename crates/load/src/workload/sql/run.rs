//! A step whose clients run operations: set up, warmed up, measured in one piece or in slices, checked.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use model::{Check, Nanos, Rng, SqlPace, SqlRun, SqlSpec, StepId, StepNote, Verb, mix};

use super::answers::Answers;
use super::client::{Common, SqlClient, name};
use super::compile::compile;
use super::contents::{Contents, Edge, Next};
use super::kinds::Kinds;
use super::ledger::Ledger;
use super::misses;
use super::sampled::Sampled;
use super::statements::Facts;
use crate::arrivals::Queue;
use crate::engine::{End, Observer, Role, Stop};
use crate::errors::Rules;
use crate::ramp::{Limit, RampSpec};
use crate::workload::measure::{Crew, Drive, Measured, Stream, Windows, ended};
use crate::workload::session::Outages;
use crate::workload::settle::Clients;
use crate::workload::slices::{SlicedStep, Slices};
use crate::workload::warm::WarmUp;
use crate::{StepClock, StepError, StepResult, Target, Window};

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
    pub(super) contents: &'a Mutex<Contents>,
    /// The step after it.
    pub(super) next: Next<'a>,
}

/// Clients that are connected, and what is known of them.
struct Connected {
    common: Arc<Common>,
    crew: Crew,
    /// The kinds that count all operations together.
    counted: [usize; 1],
    /// Name of the kind that the step is about.
    subject: String,
}

impl<'a> RunStep<'a> {
    /// Connects the clients, runs them and checks what they left.
    pub(super) fn run(
        &self,
        stop: &Stop,
        observer: &mut dyn Observer,
    ) -> Result<StepResult, StepError> {
        let clock = StepClock::start();
        let Connected {
            common,
            crew,
            counted,
            subject,
        } = self.connect(stop)?;
        let windows = self.windows(&common, &counted);
        let measured = windows.measure(crew, stop, observer)?;
        self.result(&common, measured, &subject, clock.now(), stop)
    }

    /// Connects the clients and warms up; they run when a slice is asked for.
    pub(super) fn open(self, stop: &Stop) -> Result<SlicedRun<'a>, StepError> {
        let clock = StepClock::start();
        let Connected {
            common,
            mut crew,
            counted,
            subject,
        } = self.connect(stop)?;
        let notes = self
            .windows(&common, &counted)
            .warm_up(&mut crew, None, stop)?;
        Ok(SlicedRun {
            worked: clock.now(),
            stop: stop.clone(),
            slices: Slices::new(crew),
            step: self,
            common,
            subject,
            notes,
        })
    }

    fn connect(&self, stop: &Stop) -> Result<Connected, StepError> {
        let kinds = Kinds::of(self.run);
        let common = self.common(&kinds)?;
        self.contents()
            .begin(self.spec, self.run, self.target.dialect);
        Ok(Connected {
            counted: [kinds.of_all()],
            subject: kinds.subject.kind.clone(),
            crew: Crew {
                kinds: kinds.specs,
                clients: self.clients(&common, stop)?,
            },
            common,
        })
    }

    fn windows<'w>(&self, common: &'w Common, counted: &'w [usize; 1]) -> Windows<'w> {
        Windows {
            warmup: WarmUp::of(self.run.warmup_end, self.run.warmup_seconds),
            end: self.end(),
            drive: self.drive(common.queue.as_ref(), counted[0]),
            counted,
            opens: &|| (),
        }
    }

    /// What was measured, with what the clients left.
    fn result(
        &self,
        common: &Common,
        measured: Measured,
        subject: &str,
        elapsed: Nanos,
        stop: &Stop,
    ) -> Result<StepResult, StepError> {
        let mut notes = measured.notes;
        let mut contents = self.contents();
        let mut checks = self.answers(common, &contents);
        if self.run.measured {
            checks.push(ended(&measured.window, subject));
        }
        if self.changes_row_counts() || contents.is_due(self.next) {
            if !self.ledger.is_known() {
                let text = "an answer was lost, or a statement ran that cannot be accounted for";
                notes.push((StepNote::ROWS_NOT_COUNTED.to_owned(), text.to_owned()));
            }
            checks.extend(self.ledger.check(self.spec, self.target)?);
        }
        checks.extend(contents.check(&self.edge(), stop)?);
        let told = common.answers.told().into_iter();
        notes.extend(told.map(|text| (StepNote::WRONG_ANSWER.to_owned(), text)));
        let lost = common.outages.told();
        notes.extend(lost.map(|text| (StepNote::CONNECTIONS_LOST.to_owned(), text)));
        notes.extend(common.facts.notes());
        notes.extend(misses::notes(self.run, &measured.window));
        Ok(StepResult {
            window: measured.window,
            elapsed,
            target_rate: None,
            requested_rows: 0,
            open_loop: measured.open_loop,
            tpcc: None,
            checks,
            notes,
        })
    }

    fn contents(&self) -> MutexGuard<'_, Contents> {
        self.contents.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn edge(&self) -> Edge<'_> {
        Edge {
            spec: self.spec,
            target: self.target,
            ledger: self.ledger,
            step: self.id,
            run: Some(self.run),
            next: self.next,
        }
    }

    /// Had all answers as many rows as they must have, and those that were kept the right contents?
    fn answers(&self, common: &Common, contents: &Contents) -> Vec<Check> {
        let (program, judges) = (&common.program, contents.judges(self.spec));
        let sampled = &common.sampled;
        let sampled = sampled.check(program, &judges, |text| common.answers.tell(text));
        let mut checks = vec![common.answers.check()];
        checks.extend(sampled);
        for check in checks.iter_mut().filter(|check| !check.holds) {
            check.expected = format!("{} (tables {})", check.expected, contents.last_right());
        }
        checks
    }

    fn common(&self, kinds: &Kinds) -> Result<Arc<Common>, StepError> {
        let (errors, dialect) = (&self.spec.errors, self.target.dialect);
        let whole_after = seconds(self.run.seconds);
        Ok(Arc::new(Common {
            program: compile(self.spec, self.run, kinds, dialect)?,
            ledger: Arc::clone(self.ledger),
            rules: Rules::new(errors, dialect),
            answers: Arc::new(Answers::default()),
            facts: Facts::default(),
            outages: Outages::default(),
            connector: Arc::clone(&self.target.connector),
            reconnect_for: Duration::from_secs(u64::from(errors.reconnect_seconds)),
            queue: self
                .stream()
                .map(|stream| stream.queue(self.seed_of(u32::MAX))),
            whole_after: self.run.whole.then_some(whole_after),
            every: kinds.every,
            pipeline: self.target.connection.pipeline,
            sampled: Sampled::new(self.clients),
        }))
    }

    fn clients(&self, common: &Arc<Common>, stop: &Stop) -> Result<Clients, StepError> {
        let mut clients = Clients::new();
        for number in 0..self.clients {
            if stop.is_asked() {
                return Err(StepError::Interrupted);
            }
            let role = Role {
                name: name(number),
                bounded: self.run.whole,
            };
            let client = SqlClient::connect(common, number, Rng::new(self.seed_of(number)))?;
            clients.push((role, Box::new(client)));
        }
        Ok(clients)
    }

    /// A seed for `number`, other than in any other step.
    fn seed_of(&self, number: u32) -> u64 {
        let mut salt: Vec<u64> = self.id.0.bytes().map(u64::from).collect();
        salt.push(u64::from(number));
        mix(self.seed, &salt)
    }

    fn stream(&self) -> Option<Stream> {
        match self.run.pace {
            SqlPace::Unlimited => None,
            SqlPace::Rate {
                per_second,
                arrivals,
                queue,
            }
            | SqlPace::Ramp {
                from: per_second,
                arrivals,
                queue,
                ..
            } => Some(Stream {
                per_second,
                arrivals,
                queue,
            }),
        }
    }

    /// When operations start; `kind` counts all of them.
    fn drive<'q>(&self, queue: Option<&'q Queue>, kind: usize) -> Drive<'q> {
        match (queue, &self.run.pace) {
            (Some(queue), SqlPace::Rate { per_second, .. }) => Drive::Rate {
                queue,
                per_second: *per_second,
            },
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
                let at_most = Nanos(limit_micros * 1_000);
                let spec = RampSpec {
                    from: *from,
                    permille: *permille,
                    limits: vec![Limit { kind, at_most }],
                    attempt: seconds(*attempt_seconds),
                };
                Drive::Ramp { queue, spec }
            }
            (None, _) | (Some(_), SqlPace::Unlimited) => Drive::Closed,
        }
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

/// A step that is measured in slices.
pub(super) struct SlicedRun<'a> {
    step: RunStep<'a>,
    common: Arc<Common>,
    slices: Slices,
    subject: String,
    /// How long it was at work so far, without what others did in between.
    worked: Nanos,
    stop: Stop,
    /// What came of its warm-up.
    notes: Vec<(String, String)>,
}

impl SlicedStep for SlicedRun<'_> {
    fn slice(
        &mut self,
        length: Nanos,
        stop: &Stop,
        observer: &mut dyn Observer,
    ) -> Result<Window, StepError> {
        let clock = StepClock::start();
        let slice = self.slices.slice(length, stop, observer)?;
        self.worked += clock.now();
        Ok(slice)
    }

    fn finish(self: Box<Self>) -> Result<StepResult, StepError> {
        let clock = StepClock::start();
        let Self {
            step,
            common,
            slices,
            subject,
            worked,
            stop,
            mut notes,
        } = *self;
        let (window, note) = slices.finish()?;
        notes.push(note);
        let measured = Measured {
            window,
            open_loop: None,
            notes,
        };
        step.result(&common, measured, &subject, worked + clock.now(), &stop)
    }
}

/// Length of the window of a step that can be measured in slices: its operations only read, in a closed loop
/// and for a time.
pub(super) fn sliceable(run: &SqlRun) -> Option<Nanos> {
    let blocks = run.operations.iter().flat_map(|o| &o.blocks);
    let mut statements = blocks.flat_map(|block| &block.statements);
    let only_reads = !run.writes && statements.all(|s| s.verb == Verb::Select);
    let for_a_time = run.pace == SqlPace::Unlimited && !run.whole;
    (run.measured && only_reads && for_a_time).then(|| seconds(run.seconds))
}

fn seconds(seconds: u32) -> Nanos {
    Nanos::from_secs(u64::from(seconds))
}
