//! A step whose clients run operations: set up, warmed up, measured, checked.

use std::sync::Arc;

use model::{
    Check, Nanos, Note, NoteKind, Rng, SqlKinds as Kinds, SqlPace, SqlRun, StepRecord, Verb, mix,
};

use super::answers::Answers;
use super::client::{Common, SqlClient, name};
use super::compile::compile;
use super::contents::{Contents, Edge};
use super::misses;
use super::sampled::Sampled;
use super::statements::Facts;
use load::measure::{Crew, Stream, Windows, ended};
use load::ramp::{Limit, RampSpec};
use load::warm::WarmUp;
use load::{Clients, End, Observer, Recovery, Result, Role, StepError, Stop};

/// A step that runs operations, about to be run.
pub(super) struct RunStep<'a> {
    /// The seed of the trial.
    pub(super) seed: u64,
    pub(super) edge: Edge<'a>,
    pub(super) clients: u32,
    pub(super) run: &'a SqlRun,
}

impl RunStep<'_> {
    pub(super) fn run(
        &self,
        contents: &mut Contents,
        stop: &Stop,
        observer: &mut dyn Observer,
    ) -> Result<StepRecord> {
        let clock = stop.clock();
        let kinds = Kinds::of(self.run);
        let stream = self.stream(kinds.of_all());
        let common = self.common(&kinds, stream.as_ref())?;
        let Edge { spec, target, counts, .. } = self.edge;
        contents.begin(spec, self.run, target.dialect);
        let (all, subject) = (kinds.of_all(), &kinds.subject.kind);
        let crew = Crew { kinds: kinds.specs, clients: self.clients(&common, stop)? };
        let windows = Windows {
            warmup: WarmUp::of(self.run.warmup_end, self.run.warmup_seconds),
            end: if self.run.whole {
                End::AllDone { limit: None }
            } else {
                End::After(seconds(self.run.seconds))
            },
            stream: common.queue.as_ref().zip(stream.as_ref()),
            counted: &[all],
            opens: &|| (),
        };
        let mut measured = windows.measure(crew, stop, observer)?;
        let elapsed = clock.now();
        let mut notes = std::mem::take(&mut measured.notes);
        let mut checks = self.answers(&common, contents);
        if self.run.measured {
            checks.push(ended(&measured, subject));
        }
        if self.changes_row_counts() || contents.is_due(self.edge.next) {
            if !counts.is_known() {
                let text = "an answer was lost, or a statement ran that cannot be accounted for";
                notes.push(Note::new(NoteKind::RowsNotCounted, text));
            }
            checks.extend(counts.check(spec, target)?);
        }
        checks.extend(contents.check(&self.edge, stop)?);
        let told = common.answers.told().into_iter();
        notes.extend(told.map(|text| Note::new(NoteKind::WrongAnswer, text)));
        let lost = common.recovery.outages.told();
        notes.extend(lost.map(|text| Note::new(NoteKind::ConnectionsLost, text)));
        notes.extend(common.facts.notes());
        notes.extend(misses::notes(self.run, &measured));
        Ok(StepRecord { elapsed, checks, notes, ..measured })
    }

    /// Had all answers as many rows as they must have, and those that were kept the right contents?
    fn answers(&self, common: &Common, contents: &Contents) -> Vec<Check> {
        let (program, judges) = (&common.program, contents.judges(self.edge.spec));
        let sampled = &common.sampled;
        let sampled = sampled.check(program, &judges, |text| common.answers.tell(|| text));
        let mut checks = vec![common.answers.check()];
        checks.extend(sampled);
        for check in checks.iter_mut().filter(|check| !check.holds) {
            check.expected = format!("{} (tables {})", check.expected, contents.last_right());
        }
        checks
    }

    fn common(&self, kinds: &Kinds, stream: Option<&Stream>) -> Result<Arc<Common>> {
        let Edge { spec, target, counts, .. } = self.edge;
        let whole_after = seconds(self.run.seconds);
        Ok(Arc::new(Common {
            program: compile(spec, self.run, kinds, target.dialect)?,
            counts: Arc::clone(counts),
            recovery: Recovery::new(&spec.errors, target.dialect, &target.connector),
            answers: Arc::new(Answers::default()),
            facts: Facts::default(),
            queue: stream.map(|stream| stream.queue(self.seed_of(u32::MAX))),
            whole_after: self.run.whole.then_some(whole_after),
            every: kinds.every,
            pipeline: target.connection.pipeline,
            sampled: Sampled::new(self.clients),
        }))
    }

    fn clients(&self, common: &Arc<Common>, stop: &Stop) -> Result<Clients> {
        let mut clients = Clients::new();
        for number in 0..self.clients {
            if stop.is_asked() {
                return Err(StepError::Interrupted);
            }
            let role = Role { name: name(number), bounded: self.run.whole };
            let client = SqlClient::connect(common, number, Rng::new(self.seed_of(number)))?;
            clients.push((role, Box::new(client)));
        }
        Ok(clients)
    }

    /// A seed for `number`, other than in any other step.
    fn seed_of(&self, number: u32) -> u64 {
        let mut salt: Vec<u64> = self.edge.step.0.bytes().map(u64::from).collect();
        salt.push(u64::from(number));
        mix(self.seed, &salt)
    }

    /// How operations arrive, whose kind is `kind`; `None` in a closed loop.
    fn stream(&self, kind: usize) -> Option<Stream> {
        match self.run.pace {
            SqlPace::Unlimited => None,
            SqlPace::Rate { per_second, arrivals, queue } => {
                Some(Stream { per_second, arrivals, queue, ramp: None })
            }
            SqlPace::Ramp { from, arrivals, queue, permille, limit_micros, attempt_seconds } => {
                let limits = vec![Limit { kind, at_most: Nanos(limit_micros * 1_000) }];
                let attempt = seconds(attempt_seconds);
                let ramp = Some(RampSpec { from, permille, limits, attempt });
                Some(Stream { per_second: from, arrivals, queue, ramp })
            }
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
