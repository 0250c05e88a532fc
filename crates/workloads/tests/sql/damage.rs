//! Somebody changes a table behind the workload's back: the trial says so, where and since when.

use model::{
    ColumnKind, Distribution, Draw, Expect, SqlColumn, SqlRun, SqlSpec, SqlStep, SqlTable, SqlWork,
    Verb,
};
use testkit::databases::Database;

use crate::spec::{change, draw, errand, int, operation, run, select, single, spec, step};
use crate::trial::Trial;

/// Rows of each of the two tables: more than are sampled after a step.
const ROWS: i64 = 5_000;
const C: &str = "###########-###########-###########";
const PAD: &str = "####-####-####-####-####-####";

/// The field's table, shorter.
fn sbtest(steps: Vec<SqlStep>) -> SqlSpec {
    let mut spec = spec(steps);
    let table: &mut SqlTable = &mut spec.tables[0];
    table.rows = ROWS as u64;
    table.columns[1].value = Draw::Int { low: 1, high: ROWS, by: Distribution::Uniform };
    table.columns[2].kind = ColumnKind::Char(35);
    table.columns[2].value = Draw::Template(C.to_owned());
    table.columns.push(SqlColumn {
        name: "pad".to_owned(),
        kind: ColumnKind::Char(29),
        auto: false,
        value: Draw::Template(PAD.to_owned()),
    });
    spec
}

fn any(name: &str) -> model::SqlDraw {
    draw(name, 1, int(1, ROWS))
}

fn text(name: &str, template: &str) -> model::SqlDraw {
    draw(name, 1, Draw::Template(template.to_owned()))
}

/// Few operations: a step that takes no time worth speaking of.
fn short(run: SqlRun) -> SqlRun {
    SqlRun { seconds: 1, ..run }
}

fn reads() -> SqlRun {
    let point = select("point", "SELECT c FROM {} WHERE id = :0", Expect::Rows(1, 1));
    SqlRun { writes: false, whole: false, ..short(run(vec![single(point, vec![any("id")])])) }
}

fn point() -> SqlStep {
    step("point", 1, reads())
}

fn update_index() -> SqlStep {
    let sql = "UPDATE {} SET k = k + 1 WHERE id = :0";
    let add = change(Verb::Update, "add", sql, Expect::Rows(1, 1));
    step("update-index", 2, short(run(vec![single(add, vec![any("id")])])))
}

fn update_nonindex() -> SqlStep {
    let sql = "UPDATE {} SET c = :0 WHERE id = :1";
    let set = change(Verb::Update, "set", sql, Expect::Rows(1, 1));
    let draws = vec![text("c", C), any("id")];
    step("update-nonindex", 2, short(run(vec![single(set, draws)])))
}

/// A row is removed and put back with other values.
fn write_only() -> SqlStep {
    let delete = change(Verb::Delete, "delete", "DELETE FROM {} WHERE id = :0", Expect::Rows(0, 1));
    let insert = change(
        Verb::Insert,
        "insert",
        "INSERT INTO {} (id, k, c, pad) VALUES (:0, :1, :2, :3)",
        Expect::Rows(1, 1),
    );
    let draws = vec![any("id"), any("k"), text("c", C), text("pad", PAD)];
    let both = operation("write-only", true, draws, vec![delete, insert]);
    step("write-only", 2, short(run(vec![both])))
}

fn insert() -> SqlStep {
    let sql = "INSERT INTO {} (k, c, pad) VALUES (:0, :1, :2)";
    let insert = change(Verb::Insert, "insert", sql, Expect::Rows(1, 1));
    let draws = vec![any("k"), text("c", C), text("pad", PAD)];
    step("insert", 1, short(run(vec![single(insert, draws)])))
}

fn delete() -> SqlStep {
    delete_from(1)
}

/// Removes rows from this one on.
fn delete_from(lowest: i64) -> SqlStep {
    let sql = "DELETE FROM {} WHERE id = :0";
    let delete = change(Verb::Delete, "delete", sql, Expect::Rows(0, 1));
    step("delete", 1, short(run(vec![single(delete, vec![draw("id", 1, int(lowest, ROWS))])])))
}

/// What a trial of these steps says of a table that `damage` changed before step `before` of them, counted
/// from zero: the step that said it and the checks that failed.
fn told(steps: Vec<SqlStep>, before: usize, damage: &[&str]) -> (String, String) {
    let spec = sbtest(steps);
    let database = Database::default();
    let mut trial = Trial::loaded(&spec, &database);
    for (place, step) in spec.steps.iter().skip(1).enumerate() {
        if place == before {
            let mut session = database.connector.connect().unwrap();
            for sql in damage {
                session.execute(sql).unwrap();
            }
        }
        let done = trial.attempt(&database.target()).unwrap();
        let failed = done.failed();
        if !failed.is_empty() {
            assert!(place >= before, "{failed:?}");
            let said = failed
                .iter()
                .map(|c| format!("{}: expected {}, found {}\n", c.what, c.expected, c.actual));
            return (step.id.0.clone(), said.collect());
        }
    }
    (String::new(), String::new())
}

/// Ways to damage the second table, and what a trial that reads must say of each.
const DAMAGES: [(&str, &str); 7] = [
    ("UPDATE sbtest2 SET c = 'x'", "c is `x`, expected `"),
    ("UPDATE sbtest2 SET pad = '1' || pad", "pad is `1"),
    ("UPDATE sbtest2 SET k = k + 1000", "k is `"),
    (
        "INSERT INTO sbtest2 (k, c, pad) SELECT k, c, pad FROM sbtest1 LIMIT 500",
        "row 5001: neither loaded nor inserted by a client",
    ),
    ("DELETE FROM sbtest2 WHERE id % 2 = 1", "of rows 1 to 5000 2500 are missing"),
    // One row that no sample has.
    ("DELETE FROM sbtest2 WHERE id = 700", "of rows 1 to 5000 1 are missing"),
    // Two rows change places.
    (
        "UPDATE sbtest2 SET id = CASE id WHEN 700 THEN -1 ELSE 700 END WHERE id IN (700, 701); \
         UPDATE sbtest2 SET id = 701 WHERE id = -1",
        "row 700: k is `",
    ),
];

#[test]
fn damage_to_a_table_that_is_only_read_fails_the_trial() {
    for (damage, expected) in DAMAGES {
        let steps: Vec<&str> = damage.split("; ").collect();
        let (_, said) = told(vec![point()], 0, &steps);
        assert!(said.contains("contents of sbtest2: expected rows"), "{said}");
        assert!(said.contains("last found right after `load`"), "{said}");
        assert!(said.contains(expected), "{damage}: {said}");
        assert!(!said.contains("sbtest1"), "{said}");
        let rows = match expected {
            _ if damage == DAMAGES[3].0 => Some(5500),
            _ if damage == DAMAGES[4].0 => Some(2500),
            _ if damage == DAMAGES[5].0 => Some(4999),
            _ => None,
        };
        let counted = "rows in sbtest2: expected 5000, found ";
        let expected = rows.map(|rows| format!("{counted}{rows}"));
        assert_eq!(said.contains(counted), expected.is_some(), "{said}");
        assert!(said.contains(&expected.unwrap_or_default()), "{said}");
    }
}

#[test]
fn the_first_step_after_the_damage_says_after_which_step_all_was_well() {
    let steps = || vec![update_index(), point(), point()];
    for (damage, _) in &DAMAGES[..5] {
        let (step, said) = told(steps(), 1, &[damage]);
        assert_eq!(step, "point", "{damage}: {said}");
        assert!(said.contains("sampled rows of sbtest2: "), "{said}");
        let last = "last found right after `update-index`";
        assert!(said.contains(last), "{said}");
    }
}

#[test]
fn a_column_that_the_step_does_not_write_must_stay_as_it_was() {
    // What k was is known from the sample alone: it was written before.
    let (step, said) = told(vec![update_index(), update_nonindex(), point()], 1, &[DAMAGES[2].0]);
    assert_eq!(step, "update-nonindex");
    assert!(
        said.contains("values differ that no statement of the step writes: row 1: k has changed"),
        "{said}"
    );
}

#[test]
fn rows_that_get_numbers_of_removed_ones_are_right() {
    // The highest rows go as if the step had deleted them, which it might have: it draws each of them many times.
    let gone = ["DELETE FROM sbtest1 WHERE id > 4900", "DELETE FROM sbtest2 WHERE id > 4900"];
    let said = told(vec![delete_from(4901), insert(), insert()], 1, &gone);
    assert_eq!(said, (String::new(), String::new()));
}

#[test]
fn damage_to_a_table_that_was_written_fails_the_trial() {
    let steps = || vec![update_index(), update_nonindex(), write_only(), delete(), insert()];
    let (step, said) = told(steps(), 9, &[]);
    assert_eq!((step.as_str(), said.as_str()), ("", ""));
    // Texts that no client wrote are known wherever clients write texts.
    for damage in [
        "UPDATE sbtest2 SET c = 'x'",
        "UPDATE sbtest2 SET pad = pad || '1'",
        "UPDATE sbtest2 SET c = (SELECT c FROM sbtest1 WHERE id = 77)",
    ] {
        // No deletes after the damage: they might remove every damaged row.
        let (_, said) = told(vec![write_only(), insert()], 1, &[damage]);
        assert!(said.contains(" of sbtest2: "), "{damage}: {said}");
        assert!(said.contains("last found right after `write-only`"), "{said}");
    }
}

#[test]
fn a_single_text_that_was_moved_to_another_row_is_found_at_the_end() {
    let moved = "UPDATE sbtest2 SET pad = (SELECT pad FROM sbtest2 WHERE id = 701) WHERE id = 700";
    let (step, said) = told(vec![update_index(), write_only(), insert()], 0, &[moved]);
    // Write-only may have removed the row.
    if !step.is_empty() {
        assert_eq!(step, "insert");
        assert!(said.contains("row 700: pad is `"), "{said}");
        assert!(said.contains("or a client's text"), "{said}");
    }
    let (step, said) = told(vec![update_index(), update_nonindex()], 0, &[moved]);
    assert_eq!(step, "update-nonindex");
    assert!(said.contains("row 700: pad is `"), "{said}");
}

#[test]
fn the_sum_of_a_column_that_statements_add_to_is_read_before_it_becomes_unknown() {
    let one = "UPDATE sbtest2 SET k = k + 1 WHERE id = 700";
    let (step, said) = told(vec![update_index(), update_nonindex(), write_only()], 0, &[one]);
    assert_eq!(step, "update-nonindex");
    assert!(said.starts_with("sum of k in sbtest2: expected "), "{said}");
    // And at the end, where nothing makes it unknown.
    let (step, said) = told(vec![point(), update_index()], 1, &[one]);
    assert_eq!(step, "update-index");
    assert!(said.starts_with("sum of k in sbtest2: expected "), "{said}");
}

#[test]
fn before_tables_are_made_anew_all_rows_are_read() {
    let steps = vec![point(), errand("reset", SqlWork::Reset), point()];
    let (step, said) = told(steps, 0, &[DAMAGES[5].0]);
    assert_eq!(step, "point");
    assert!(said.contains(DAMAGES[5].1), "{said}");
}

#[test]
fn answers_with_wrong_contents_fail_the_step() {
    let names = "SELECT id, c FROM {} WHERE id IN (:1)";
    let sum = "SELECT SUM(k) FROM {} WHERE id BETWEEN :0 AND :2";
    for pipelined in [false, true] {
        let queries = vec![
            select("names", names, Expect::Distinct(1)),
            select("sum", sum, Expect::Rows(1, 1)),
        ];
        let draws = vec![
            any("id"),
            draw("ids", 10, int(1, ROWS)),
            draw("end", 1, Draw::Plus { of: 0, add: 9 }),
        ];
        let reads =
            SqlRun { operations: vec![operation("query", true, draws, queries)], ..reads() };
        let spec = sbtest(vec![step("query", 2, reads)]);
        let database = Database::default();
        let mut trial = Trial::loaded(&spec, &database);
        let mut target = database.target();
        target.connection.pipeline = pipelined;
        let damage = "UPDATE sbtest1 SET c = 'x' || id, k = k + 1";
        let mut session = database.connector.connect().unwrap();
        session.execute(damage).unwrap();
        let done = trial.attempt(&target).unwrap();
        let mut failed = done.failed().into_iter();
        let check = failed.find(|c| c.what == "sampled answers with right contents");
        let check = check.unwrap_or_else(|| panic!("{:?}", done.result.checks));
        let last = "(tables last found right after `load`)";
        assert!(check.expected.ends_with(last), "{check:?}");
        let told = done.notes("wrong answer").join("\n");
        assert!(told.contains("`names` of sbtest1, asked for "), "{told}");
        assert!(told.contains("`sum` of sbtest1, asked for "), "{told}");
        assert!(told.contains(": c is `x"), "{told}");
        assert!(told.contains("the answer is `"), "{told}");
    }
}
