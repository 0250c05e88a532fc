//! Statements that were to change rows and mostly found none, which is quick and looks like speed.

use model::{Note, NoteKind, SqlKinds as Kinds, SqlRun, SqlStatement, StepRecord, Verb};

/// A note for each kind of which most statements changed no row within the window. A kind that also
/// reads is left out: what it returned cannot be told from what it changed.
pub(super) fn notes(run: &SqlRun, window: &StepRecord) -> Vec<Note> {
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
            ": the table is nearly empty; load more `rows`, or again before each test (`fresh`), or delete \
             for fewer `write_seconds`"
        }
        Verb::Insert | Verb::Update | Verb::Select | Verb::Other => {
            ": look at what it draws, and load more `rows` where they are used up"
        }
    };
    Some(format!(
        "of {ops} `{kind}` at most {percent:.1} % changed a row, and those that change none are \
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
            "of 85852 `delete` at most 3.0 % changed a row, and those that change none are quick: \
             the table is nearly empty; load more `rows`, or again before each test (`fresh`), or \
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
