//! Several executions ahead.

use drivers::{Param, ParamType, Session, StatementId};

/// Runs `statement` once for each number, ahead; the first values of all rows with the index of their
/// statement, and how many rows each answer had.
fn run(
    session: &mut dyn Session,
    statement: StatementId,
    numbers: &[i64],
) -> (Vec<(usize, i64)>, Vec<u64>) {
    let params: Vec<[Param<'_>; 1]> = numbers.iter().map(|n| [Param::Int(*n)]).collect();
    let batch: Vec<_> = params.iter().map(|p| (statement, p.as_slice())).collect();
    let (mut values, mut answers) = (Vec::new(), Vec::new());
    session
        .execute_pipelined(
            &batch,
            &mut |index, row| values.push((index, row.value(0).as_int().unwrap())),
            &mut |index, done| {
                assert_eq!(index, answers.len());
                answers.push(done.rows);
            },
        )
        .unwrap();
    (values, answers)
}

pub(crate) fn many_ahead(session: &mut dyn Session) {
    let point = session.prepare("select id from t where id = ?", &[ParamType::Int]).unwrap();
    // 40 and 41 are there, 5 is not; 3,000 are more than fit into the buffers on the way.
    let numbers: Vec<i64> = (0..3000).map(|i| [40, 5, 41][i % 3]).collect();
    let (values, answers) = run(session, point, &numbers);
    let expected: Vec<u64> = (0..3000).map(|i| [1, 0, 1][i % 3]).collect();
    assert_eq!(answers, expected);
    for (index, value) in values {
        assert_eq!(value, numbers[index]);
    }
}

pub(crate) fn an_error_in_the_middle(session: &mut dyn Session) {
    session.execute("create table a (id int primary key) engine=innodb").unwrap();
    let insert = session.prepare("insert into a values (?)", &[ParamType::Int]).unwrap();
    let count = session.prepare("select count(*) from a", &[]).unwrap();
    for (ids, told) in [([1, 2, 2, 3], 2), ([4, 5, 1, 6], 2)] {
        let params = ids.map(|id| [Param::Int(id)]);
        let none: &[Param<'_>] = &[];
        let [one, two, three, four] = [0, 1, 2, 3].map(|i| (insert, params[i].as_slice()));
        let mut answers = Vec::new();
        let error = session
            .execute_pipelined(
                &[one, two, three, (count, none), four],
                &mut |_, _| panic!("a row after the error"),
                &mut |index, done| answers.push((index, done.affected)),
            )
            .unwrap_err();
        assert_eq!(error.code(), "1062");
        assert!(error.to_string().contains("insert into a"), "{error}");
        assert_eq!(answers.len(), told);
    }
    // Statements after the error were executed all the same.
    let mut rows = 0;
    session
        .execute_prepared(count, &[], &mut |row| {
            rows = row.value(0).as_int().unwrap();
        })
        .unwrap();
    assert_eq!(rows, 6);
}

/// Answers that are longer than all buffers together must not stop server and client for each other.
pub(crate) fn long_answers(session: &mut dyn Session) {
    let long = session.prepare("select ?, repeat('x', 200000)", &[ParamType::Int]).unwrap();
    let numbers: Vec<i64> = (0..500).collect();
    let (values, answers) = run(session, long, &numbers);
    assert_eq!(answers, [1; 500]);
    let expected: Vec<(usize, i64)> = (0..500).map(|i| (i as usize, i)).collect();
    assert_eq!(values, expected);
}
