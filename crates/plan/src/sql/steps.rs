//! The steps of a workload in their order: loading first, then what the file lists and the plan asks for.

use model::{SqlOperation, SqlPace, SqlRun, SqlStep, SqlWork, StepId, Verb, WarmUpEnd};

use super::draft::{Draft, INDEX, LOAD, Phase, RESET, SETTLE};
use super::operation::{self, Parts};
use super::options::MAX_SECONDS;
use super::scope::Scope;
use super::select::Selection;
use crate::Result;
use crate::fields::{Fields, Item};

const MAX_WEIGHT: u32 = 1_000_000;

pub(crate) fn steps(
    drafts: &[Draft<'_>],
    selection: &Selection<'_>,
    scope: &Scope,
    parts: &Parts<'_>,
) -> Result<Vec<SqlStep>> {
    let mut sequence = Sequence::new(parts);
    if !drafts.iter().any(|draft| draft.phase == Some(Phase::Settle)) {
        sequence.settle();
    }
    for draft in drafts {
        match (draft.phase, &draft.name) {
            (Some(Phase::Settle), _) => sequence.settle(),
            (Some(Phase::Reset), _) => sequence.reset(),
            (None, Some(name)) if selection.has(draft) => {
                let counts = match draft.clients(scope)? {
                    Some(own) => vec![own],
                    None if draft.measured => parts.options.clients.clone(),
                    // Once is enough to warm a cache.
                    None => vec![parts.options.most_clients()],
                };
                for &clients in &counts {
                    let mut run = run(draft, name, clients, scope, parts)?;
                    run.seconds =
                        selection.seconds.get(name.as_str()).copied().unwrap_or(run.seconds);
                    let id = match counts.len() {
                        1 => name.clone(),
                        _ => format!("{name}@{clients}"),
                    };
                    sequence.run(id, draft, name, clients, run);
                }
            }
            (None, _) => {}
        }
    }
    // What follows the last test of the file is there for its own sake.
    let last = drafts.iter().rfind(|draft| draft.measured);
    if last.is_some_and(|draft| !selection.has(draft)) {
        sequence.end_with_a_result();
    }
    Ok(sequence.steps)
}

struct Sequence<'a> {
    parts: &'a Parts<'a>,
    steps: Vec<SqlStep>,
    /// Has the data changed since it was settled?
    unsettled: bool,
    /// Has a test written since the data was loaded?
    written: bool,
}

impl<'a> Sequence<'a> {
    /// Begins with the load, and the index builds where there is something to build.
    fn new(parts: &'a Parts<'a>) -> Self {
        let mut sequence = Self { parts, steps: Vec::new(), unsettled: true, written: false };
        sequence.phase(LOAD, SqlWork::Load);
        let has_indexes = parts.tables.iter().any(|table| !table.indexes.is_empty());
        if has_indexes && !parts.options.spec.load.indexes_first {
            sequence.phase(INDEX, SqlWork::Index);
        }
        sequence
    }

    /// Adds a step without operations; the second of its kind is called `settle.2`.
    fn phase(&mut self, word: &str, work: SqlWork) {
        let is_of_kind = |step: &&SqlStep| step.test.split('.').next() == Some(word);
        let id = match self.steps.iter().filter(is_of_kind).count() {
            0 => word.to_owned(),
            before => format!("{word}.{}", before + 1),
        };
        self.steps.push(SqlStep {
            test: id.clone(),
            id: StepId(id),
            group: String::new(),
            clients: self.parts.options.spec.load.clients,
            work,
        });
    }

    /// Data that did not change has nothing to settle.
    fn settle(&mut self) {
        if self.unsettled {
            self.phase(SETTLE, SqlWork::Settle(self.parts.options.settle));
            self.unsettled = false;
        }
    }

    /// Data that no test changed is as it was loaded.
    fn reset(&mut self) {
        if self.written {
            self.phase(RESET, SqlWork::Reset);
            self.unsettled = true;
            self.written = false;
            self.settle();
        }
    }

    /// Where nobody chose the last tests of the file: without what prepares for them.
    fn end_with_a_result(&mut self) {
        let is_result = |step: &SqlStep| step.work.run().is_some_and(|run| run.measured);
        if let Some(last) = self.steps.iter().rposition(is_result) {
            self.steps.truncate(last + 1);
        }
    }

    fn run(&mut self, id: String, draft: &Draft<'_>, test: &str, clients: u32, run: SqlRun) {
        if run.writes && self.parts.options.fresh {
            self.reset();
        }
        self.unsettled |= run.writes;
        self.written |= run.writes;
        self.steps.push(SqlStep {
            id: StepId(id),
            test: test.to_owned(),
            group: draft.group.clone(),
            clients,
            work: SqlWork::Run(run),
        });
    }
}

fn run(
    draft: &Draft<'_>,
    name: &str,
    clients: u32,
    scope: &Scope,
    parts: &Parts<'_>,
) -> Result<SqlRun> {
    let fields = &draft.fields;
    let mut scope = scope.of(format!("step `{name}`"));
    scope.set("clients", i64::from(clients));
    for item in fields.maybe("vars", Fields::named)?.iter().flat_map(Fields::all) {
        scope.declare(item, item)?;
    }
    let operations = operations(fields, &scope, parts)?;
    let blocks = operations.iter().flat_map(|operation| &operation.blocks);
    let mut statements = blocks.flat_map(|block| &block.statements);
    let writes = statements.any(|statement| statement.verb != Verb::Select);
    let whole = fields.switch("whole")?;
    let options = parts.options;
    let seconds = match fields.get("seconds") {
        Some(item) => scope.small(item, 1..=MAX_SECONDS)?,
        None if writes => options.write_seconds,
        None => options.read_seconds,
    };
    let (warmup_end, warmup_seconds) = if draft.measured {
        options.warm_up(writes)
    } else {
        // What warms a cache needs no time to get warm itself.
        (WarmUpEnd::Fixed, 0)
    };
    Ok(SqlRun {
        measured: draft.measured,
        seconds,
        warmup_seconds,
        warmup_end,
        writes,
        whole,
        pace: if draft.measured && !whole { options.pace() } else { SqlPace::Unlimited },
        operations,
    })
}

/// `operation = "transfer"`, or `operations = { transfer = 3, balance = 1 }` with weights.
fn operations(fields: &Fields<'_>, scope: &Scope, parts: &Parts<'_>) -> Result<Vec<SqlOperation>> {
    let find = |item: Item<'_>, name| parts.operations.find(item, "operation", name);
    match (fields.get("operation"), fields.get("operations")) {
        (Some(_), Some(item)) => Err(item.conflict(
            "`operation` and `operations`: a step has one, or several with their weights",
        )),
        (None, Some(weights)) => {
            let each = Fields::named(weights)?.all().map(|item| {
                let weight = scope.small(item, 1..=MAX_WEIGHT)?;
                operation::read(find(item, item.key)?, weight, scope, parts)
            });
            let operations: Vec<SqlOperation> = each.collect::<Result<_>>()?;
            match operations.as_slice() {
                [] => Err(weights.wrong("a table with at least one operation")),
                _ => Ok(operations),
            }
        }
        (_, None) => {
            let item = fields.need("operation")?;
            let found = find(item, item.text()?)?;
            Ok(vec![operation::read(found, 1, scope, parts)?])
        }
    }
}
