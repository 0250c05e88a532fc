//! A step whose clients run operations: set up, warmed up, measured, checked.

use std::sync::Arc;

use model::{
    Check, KindSpec, Nanos, Note, NoteKind, Rng, SqlKinds as Kinds, SqlRun, SqlStatement,
    StepRecord, Verb, mix,
};

use super::answers::Answers;
use super::client::{Common, SqlClient, name};
use super::compile::compile;
use super::contents::{Contents, Edge};
use super::report::take;
use super::sampled::Sampled;
use super::statements::Facts;
use crate::part::{Assignment, SqlAssignment, connected, crew};
use load::measure::{Stream, Windows, ended};
use load::warm::WarmUp;
use load::{End, Observer, OwnCrew, Recovery, Result, Role, Share, Stop};

pub(super) struct RunStep<'a> {
    pub(super) seed: u64,
    pub(super) edge: Edge<'a>,
    /// Those of this process, if no other one has clients.
    pub(super) share: Share,
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
        let stream = Stream::of(&self.run.pace, kinds.of_all());
        let common = self.common(&kinds, stream.as_ref())?;
        let before = common.counts.counted();
        let Edge { spec, target, counts, .. } = self.edge;
        contents.begin(spec, self.run, target.dialect);
        let (all, subject) = (kinds.of_all(), &kinds.subject.kind);
        let own = |kinds| self.own_crew(kinds, &common, stop);
        let mut crew = crew(target, &self.share, kinds.specs.clone(), || self.assignment(), own)?;
        let windows = Windows {
            warmup: WarmUp::of(self.run.warmup_end, self.run.warmup_seconds),
            end: if self.run.whole {
                End::AllDone { limit: None }
            } else {
                End::After(Nanos::from_secs(self.run.seconds.into()))
            },
            stream: stream.as_ref(),
            counted: &[all],
        };
        let mut measured = windows.measure(&mut *crew, stop, observer)?;
        for report in crew.end()? {
            take(&report, &common, &before)?;
        }
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
        notes.extend(common.recovery.outages.note());
        notes.extend(common.facts.notes());
        notes.extend(notes_of_misses(self.run, &measured));
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

    fn assignment(&self) -> Assignment {
        let Edge { spec, step, counts, .. } = self.edge;
        Assignment::Sql(SqlAssignment {
            spec: spec.clone(),
            step: step.clone(),
            run: self.run.clone(),
            seed: self.seed,
            counts: counts.counted(),
        })
    }

    pub(super) fn own_crew(
        &self,
        kinds: Vec<KindSpec>,
        common: &Arc<Common>,
        stop: &Stop,
    ) -> Result<OwnCrew> {
        let role = |number| Role { name: name(number), bounded: self.run.whole };
        let clients = connected(&self.share, stop, role, |number| {
            SqlClient::connect(common, number, Rng::new(self.seed_of(number)))
        })?;
        Ok(OwnCrew { kinds, clients, shared: Some(Arc::clone(common) as _) })
    }

    pub(super) fn common(&self, kinds: &Kinds, stream: Option<&Stream>) -> Result<Arc<Common>> {
        let Edge { spec, target, counts, .. } = self.edge;
        let whole_after = Nanos::from_secs(self.run.seconds.into());
        Ok(Arc::new(Common {
            program: compile(spec, self.run, kinds, target.dialect)?,
            counts: Arc::clone(counts),
            recovery: Recovery::new(&spec.errors, target.dialect, &target.connector),
            answers: Arc::new(Answers::default()),
            facts: Facts::default(),
            queue: stream
                .map(|stream| stream.queue(self.seed_of(u32::MAX)).of_share(self.share.clone())),
            whole_after: self.run.whole.then_some(whole_after),
            every: kinds.every,
            pipeline: target.connection.pipeline,
            sampled: Sampled::new(self.share.all_clients),
        }))
    }

    /// A seed for `number`, other than in any other step.
    fn seed_of(&self, number: u32) -> u64 {
        let mut salt: Vec<u64> = self.edge.step.0.bytes().map(u64::from).collect();
        salt.push(u64::from(number));
        mix(self.seed, &salt)
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

/// A note for each kind of which most statements changed no row within the window. A kind that also
/// reads is left out: what it returned cannot be told from what it changed.
fn notes_of_misses(run: &SqlRun, window: &StepRecord) -> Vec<Note> {
    if !run.measured {
        return Vec::new();
    }
    let kinds = Kinds::of(run);
    let of_kind = (0..).zip(&window.kinds);
    let noted = of_kind.filter_map(|(place, totals)| {
        let verb = verb(run, &kinds, place)?;
        let text = said(verb, &totals.spec.name, totals.sums.ops, totals.sums.rows)?;
        Some(Note::new(NoteKind::NoRowsFound, text))
    });
    noted.collect()
}

/// What all statements of the kind at `place` do; `None` where they read, do not all do the same, or the
/// kind is that of operations of several statements.
fn verb(run: &SqlRun, kinds: &Kinds, place: usize) -> Option<Verb> {
    let mut verbs = Vec::new();
    for (index, operation) in run.operations.iter().enumerate() {
        let statements = operation.blocks.iter().flat_map(|block| &block.statements);
        let has = |statement: &&SqlStatement| match operation.statements() {
            0 | 1 => kinds.operation(index) == place,
            _ => kinds.statement(run, operation, &statement.name) == Some(place),
        };
        verbs.extend(statements.filter(has).map(|statement| statement.verb));
    }
    let first = *verbs.first()?;
    let changes = matches!(first, Verb::Insert | Verb::Update | Verb::Delete);
    (changes && verbs.iter().all(|verb| *verb == first)).then_some(first)
}

/// The note, if fewer than half of `ops` can have changed a row.
fn said(verb: Verb, kind: &str, ops: u64, rows: u64) -> Option<String> {
    if ops == 0 || rows >= ops.div_ceil(2) {
        return None;
    }
    let percent = rows as f64 * 100.0 / ops as f64;
    let remedy = match verb {
        Verb::Delete => {
            ": the table is nearly empty; load more `rows`, load again before each test (`fresh`), or delete \
             for fewer `write_seconds`"
        }
        Verb::Insert | Verb::Update | Verb::Select | Verb::Other => {
            ": look at what it draws, and load more `rows` where they are used up"
        }
    };
    Some(format!(
        "at most {percent:.1} % of {ops} `{kind}` changed a row, and those that change none are \
         quick{remedy}"
    ))
}

#[cfg(test)]
mod tests {
    use model::SqlOperation;

    use super::*;
    use crate::sql::tests::fixture::{operation, run};

    fn verbs(mut operation: SqlOperation, verbs: &[Verb]) -> SqlOperation {
        let statements = &mut operation.blocks[0].statements;
        for (statement, verb) in statements.iter_mut().zip(verbs) {
            statement.verb = *verb;
        }
        operation
    }

    #[test]
    fn what_found_few_rows_is_said_with_the_share() {
        assert_eq!(
            said(Verb::Delete, "delete", 85_852, 2_576).unwrap(),
            "at most 3.0 % of 85852 `delete` changed a row, and those that change none are quick: \
             the table is nearly empty; load more `rows`, load again before each test (`fresh`), or \
             delete for fewer `write_seconds`"
        );
        let update = said(Verb::Update, "update", 3, 1).unwrap();
        assert!(update.contains("look at what it draws"), "{update}");
        assert_eq!(said(Verb::Delete, "delete", 0, 0), None);
        for (ops, rows) in [(1, 1), (2, 1), (3, 2), (4, 400)] {
            assert_eq!(said(Verb::Delete, "delete", ops, rows), None);
        }
    }

    #[test]
    fn only_kinds_that_change_rows_are_looked_at() {
        let single = |name, verb| verbs(operation(name, false, 1, &[name]), &[verb]);
        let pair = operation("pair", true, 1, &["find", "drop"]);
        let run = run(vec![
            single("point", Verb::Select),
            single("delete", Verb::Delete),
            verbs(pair, &[Verb::Select, Verb::Update]),
        ]);
        let kinds = Kinds::of(&run);
        let found: Vec<(&str, Option<Verb>)> = (0..)
            .zip(&kinds.specs)
            .map(|(place, kind)| (kind.name.as_str(), verb(&run, &kinds, place)))
            .collect();
        assert_eq!(
            found,
            [
                ("operation", None),
                ("point", None),
                ("delete", Some(Verb::Delete)),
                ("pair", None),
                ("begin", None),
                ("find", None),
                ("drop", Some(Verb::Update)),
                ("commit", None),
            ]
        );
    }

    #[test]
    fn statements_of_one_name_that_do_not_do_the_same_are_left_out() {
        let of = |name, verb| verbs(operation(name, true, 1, &["touch", "other"]), &[verb]);
        let kinds_of = |run: &SqlRun| {
            let kinds = Kinds::of(run);
            let place = kinds.statement(run, &run.operations[0], "touch").unwrap();
            verb(run, &kinds, place)
        };
        let mixed = run(vec![of("a", Verb::Update), of("b", Verb::Select)]);
        assert_eq!(kinds_of(&mixed), None);
        let same = run(vec![of("a", Verb::Update), of("b", Verb::Update)]);
        assert_eq!(kinds_of(&same), Some(Verb::Update));
    }
}
