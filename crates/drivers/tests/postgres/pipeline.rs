//! Batches of prepared statements.

use drivers::{Param, ParamType, PostgresSession, Session, SessionError, StatementId};

use crate::column;

struct Statements {
    begin: StatementId,
    commit: StatementId,
    insert: StatementId,
    range: StatementId,
}

pub(crate) fn check(session: &mut PostgresSession) {
    session.execute("DROP TABLE IF EXISTS batch").unwrap();
    session.execute("CREATE TABLE batch (id int PRIMARY KEY, name text)").unwrap();
    let types = [ParamType::Int, ParamType::Text];
    let statements = Statements {
        begin: session.prepare("BEGIN", &[]).unwrap(),
        commit: session.prepare("COMMIT", &[]).unwrap(),
        insert: session.prepare("INSERT INTO batch VALUES ($1, $2)", &types).unwrap(),
        range: session
            .prepare(
                "SELECT id, name FROM batch WHERE id BETWEEN $1 AND $2 ORDER BY id",
                &[ParamType::Int, ParamType::Int],
            )
            .unwrap(),
    };
    a_transaction(session, &statements);
    an_error_in_the_middle(session, &statements);
    an_error_outside_of_a_transaction(session, &statements);
    many_statements(session, &statements);
}

fn count(session: &mut PostgresSession) -> Option<String> {
    column(session, "SELECT count(*) FROM batch").remove(0)
}

fn a_transaction(session: &mut PostgresSession, statements: &Statements) {
    let one = [Param::Int(1), Param::Text("one")];
    let two = [Param::Int(2), Param::Text("two")];
    let range = [Param::Int(0), Param::Int(9)];
    let batch: [(StatementId, &[Param<'_>]); 5] = [
        (statements.begin, &[]),
        (statements.insert, &one),
        (statements.insert, &two),
        (statements.range, &range),
        (statements.commit, &[]),
    ];
    let (mut rows, mut ends) = (Vec::new(), Vec::new());
    session
        .execute_pipelined(
            &batch,
            &mut |index, row| rows.push((index, row.value(0).as_int(), row.value(1).to_text())),
            &mut |index, done| ends.push((index, done.rows, done.affected)),
        )
        .unwrap();
    assert_eq!(rows, [(3, Some(1), Some("one".to_owned())), (3, Some(2), Some("two".to_owned()))]);
    assert_eq!(ends, [(0, 0, 0), (1, 0, 1), (2, 0, 1), (3, 2, 0), (4, 0, 0)]);
    assert_eq!(count(session).as_deref(), Some("2"));
}

/// Runs a batch; how many statements of it ended well, and the error.
fn fails(
    session: &mut PostgresSession,
    batch: &[(StatementId, &[Param<'_>])],
) -> (usize, SessionError) {
    let mut ended = 0;
    let outcome = session.execute_pipelined(batch, &mut |_, _| (), &mut |_, _| ended += 1);
    (ended, outcome.unwrap_err())
}

/// The transaction is rolled back by its own COMMIT, which is sent already when the error comes.
fn an_error_in_the_middle(session: &mut PostgresSession, statements: &Statements) {
    let three = [Param::Int(3), Param::Text("three")];
    let again = [Param::Int(1), Param::Text("again")];
    let range = [Param::Int(0), Param::Int(9)];
    let batch: [(StatementId, &[Param<'_>]); 5] = [
        (statements.begin, &[]),
        (statements.insert, &three),
        (statements.insert, &again),
        (statements.range, &range),
        (statements.commit, &[]),
    ];
    let (ended, error) = fails(session, &batch);
    assert_eq!((ended, error.code()), (2, "23505"));
    assert!(error.to_string().contains("(in `INSERT INTO batch"), "{error}");
    assert_eq!(count(session).as_deref(), Some("2"));
    session.execute("BEGIN").unwrap();
    session.execute("ROLLBACK").unwrap();
}

/// What was sent behind the statement that fails is run: each has a Sync of its own.
fn an_error_outside_of_a_transaction(session: &mut PostgresSession, statements: &Statements) {
    let again = [Param::Int(1), Param::Text("again")];
    let four = [Param::Int(4), Param::Text("four")];
    let batch: [(StatementId, &[Param<'_>]); 2] =
        [(statements.insert, &again), (statements.insert, &four)];
    let (ended, error) = fails(session, &batch);
    assert_eq!((ended, error.code()), (0, "23505"));
    assert_eq!(count(session).as_deref(), Some("3"));
}

/// More than all buffers between client and server hold, both ways.
fn many_statements(session: &mut PostgresSession, statements: &Statements) {
    const ROWS: i64 = 3_000;
    let text = "x".repeat(100);
    let params: Vec<[Param<'_>; 2]> =
        (0..ROWS).map(|id| [Param::Int(100 + id), Param::Text(&text)]).collect();
    let mut batch: Vec<(StatementId, &[Param<'_>])> =
        params.iter().map(|params| (statements.insert, params.as_slice())).collect();
    let range = [Param::Int(100), Param::Int(199)];
    batch.extend(std::iter::repeat_n((statements.range, range.as_slice()), 2_000));
    let (mut rows, mut ended) = (0, 0);
    session
        .execute_pipelined(&batch, &mut |_, _| rows += 1, &mut |index, _| {
            assert_eq!(index, ended);
            ended += 1;
        })
        .unwrap();
    assert_eq!((rows, ended), (2_000 * 100, batch.len()));
}
