use model::{Draw, SqlTexts};

use super::*;
use crate::sql::tests::fixture::{ROWS, any_id, draw, operation, run, spec, texts};

const DIALECTS: [Dialect; 3] = [Dialect::Mysql, Dialect::Postgres, Dialect::Sqlite];

/// A statement of one operation with these draws.
fn one(text: SqlTexts, verb: Verb, draws: Vec<model::SqlDraw>) -> SqlRun {
    let mut operation = operation("o", false, 1, &["s"]);
    let block = &mut operation.blocks[0];
    block.draws = draws;
    block.statements[0].text = text;
    block.statements[0].verb = verb;
    run(vec![operation])
}

fn compiled(run: &SqlRun, dialect: Dialect) -> Result<Program, StepError> {
    compile(&spec(Vec::new()), run, &Kinds::of(run), dialect)
}

fn refusal(run: &SqlRun, dialect: Dialect) -> String {
    compiled(run, dialect).unwrap_err().to_string()
}

/// The texts that one operation sends, values in them, and the same with placeholders.
fn sent(program: &Program, operation: usize, seed: u64) -> Vec<(String, String)> {
    let counts = RowCounts::new(&spec(Vec::new()));
    let (mut values, mut copies) = (Values::default(), Vec::new());
    let operation = &program.operations[operation];
    operation.draw(&mut values, &mut copies, &mut Rng::new(seed), &counts, 1);
    let texts = operation.sends.iter().map(|sending| {
        let sent = program.sent(sending, &copies);
        let Sent { statement, copy, .. } = sent;
        let mut text = String::new();
        sent.write(program.dialect, &values, &mut text);
        let (prepared, types) = statement.to_prepare(program.dialect, copy);
        assert_eq!(types.len(), statement.params.count());
        let mut params = Vec::new();
        statement.params.gather(&values, sending.base, &mut params);
        assert_eq!(params.len(), types.len());
        for (param, kind) in params.iter().zip(&types) {
            assert_eq!(matches!(param, Param::Int(_)), *kind == ParamType::Int);
        }
        (text, prepared)
    });
    texts.collect()
}

#[test]
fn lists_are_expanded_and_placeholders_are_those_of_the_dialect() {
    let run = one(
        texts("SELECT c FROM {} WHERE id IN (:0) AND c <> :1"),
        Verb::Select,
        vec![draw("ids", 3, Draw::From(7)), draw("c", 1, Draw::Fixed("it's".to_owned()))],
    );
    for dialect in DIALECTS {
        let program = compiled(&run, dialect).unwrap();
        let (text, prepared) = sent(&program, 0, 1).remove(0);
        assert_eq!(text, "SELECT c FROM t WHERE id IN (7,8,9) AND c <> 'it''s'");
        let expected = match dialect {
            Dialect::Postgres => "SELECT c FROM t WHERE id IN ($1,$2,$3) AND c <> $4",
            Dialect::Mysql | Dialect::Sqlite => "SELECT c FROM t WHERE id IN (?,?,?) AND c <> ?",
        };
        assert_eq!(prepared, expected);
    }
}

#[test]
fn a_range_ends_so_much_above_its_beginning() {
    let draws = vec![draw("a", 1, any_id()), draw("b", 1, Draw::Plus { of: 0, add: 99 })];
    let run = one(texts(":0 :1"), Verb::Select, draws);
    let program = compiled(&run, Dialect::Mysql).unwrap();
    let mut seen = std::collections::BTreeSet::new();
    for seed in 0..50 {
        let (text, _) = sent(&program, 0, seed).remove(0);
        let (a, b) = text.split_once(' ').unwrap();
        let (a, b): (i64, i64) = (a.parse().unwrap(), b.parse().unwrap());
        assert_eq!(b, a + 99);
        assert!((1..=ROWS as i64).contains(&a));
        seen.insert(a);
    }
    assert!(seen.len() > 30);
}

#[test]
fn integers_in_a_row_are_sent_from_where_they_are() {
    let draws = || {
        vec![
            draw("a", 1, any_id()),
            draw("ids", 5, any_id()),
            draw("c", 1, Draw::Template("##".to_owned())),
        ]
    };
    let params = |text: &str| {
        let program = compiled(&one(texts(text), Verb::Select, draws()), Dialect::Mysql);
        program.unwrap().statements.remove(0).params
    };
    assert_eq!(params(":0 :1"), Params::InPlace { first: 0, count: 6 });
    assert_eq!(params(":1"), Params::InPlace { first: 1, count: 5 });
    assert_eq!(params(""), Params::InPlace { first: 0, count: 0 });
    for gathered in [":1 :0", ":0 :0", ":2", ":0 :2"] {
        assert!(matches!(params(gathered), Params::Gathered(_)), "{gathered}");
    }
}

#[test]
fn values_are_drawn_anew_for_each_repetition_and_the_table_is_not() {
    let mut spec = spec(Vec::new());
    spec.tables[0].copies = 50;
    let run = run(vec![operation("o", true, 10, &["s"])]);
    let program = compile(&spec, &run, &Kinds::of(&run), Dialect::Sqlite).unwrap();
    let texts: Vec<String> = sent(&program, 0, 3).into_iter().map(|(text, _)| text).collect();
    assert_eq!((texts[0].as_str(), texts[11].as_str()), ("BEGIN", "COMMIT"));
    let parts = |text: &String| {
        let (table, id) = text.split_once(" WHERE id = ").unwrap();
        (table.to_owned(), id.to_owned())
    };
    let (tables, ids): (std::collections::BTreeSet<_>, std::collections::BTreeSet<_>) =
        texts[1..11].iter().map(parts).unzip();
    assert_eq!(tables.len(), 1, "{tables:?}");
    assert!(ids.len() > 5, "{ids:?}");
}

#[test]
fn a_client_may_keep_to_its_own_copy() {
    let mut spec = spec(Vec::new());
    spec.tables[0].copies = 4;
    let mut run = run(vec![operation("o", false, 1, &["s"])]);
    run.operations[0].blocks[0].choice = TableChoice::ByClient;
    let program = compile(&spec, &run, &Kinds::of(&run), Dialect::Sqlite).unwrap();
    for seed in 0..9 {
        assert!(sent(&program, 0, seed)[0].0.starts_with("SELECT c FROM t2 WHERE"));
    }
    let statement = &program.statements[0];
    assert_eq!(statement.copies(6), 2..3);
    assert_eq!((program.places, program.prepared()), (4, 1));
    assert_eq!(statement.place(2), 2);
}

#[test]
fn what_does_not_name_the_table_is_prepared_once() {
    let mut spec = spec(Vec::new());
    spec.tables[0].copies = 4;
    let run = one(texts("SELECT :0"), Verb::Select, vec![draw("a", 1, any_id())]);
    let program = compile(&spec, &run, &Kinds::of(&run), Dialect::Sqlite).unwrap();
    assert_eq!((program.places, program.prepared()), (1, 1));
    assert_eq!(program.statements[0].place(3), 0);
}

#[test]
fn what_is_prepared_depends_on_plan_dialect_and_statement() {
    use Statements::{Prepared, Text, Usual};
    for (statements, dialect, verb, expected) in [
        (Prepared, Dialect::Mysql, Verb::Update, true),
        (Text, Dialect::Postgres, Verb::Select, false),
        (Usual, Dialect::Mysql, Verb::Select, false),
        (Usual, Dialect::Postgres, Verb::Select, true),
        (Usual, Dialect::Sqlite, Verb::Insert, false),
    ] {
        let mut spec = spec(Vec::new());
        spec.statements = statements;
        let mut run = one(texts("x"), verb, Vec::new());
        let prepared = |run: &SqlRun| {
            let program = compile(&spec, run, &Kinds::of(run), dialect);
            program.unwrap().prepared() > 0
        };
        assert_eq!(prepared(&run), expected, "{statements:?} {dialect:?} {verb:?}");
        run.operations[0].blocks[0].statements[0].always_text = true;
        assert!(!prepared(&run));
    }
}

#[test]
fn sqlite_takes_the_write_lock_when_a_writing_transaction_begins() {
    let begin = |verb, dialect| {
        let mut run = one(texts("x"), verb, Vec::new());
        run.operations[0].transaction = true;
        sent(&compiled(&run, dialect).unwrap(), 0, 1).remove(0).0
    };
    assert_eq!(begin(Verb::Select, Dialect::Sqlite), "BEGIN");
    assert_eq!(begin(Verb::Update, Dialect::Sqlite), "BEGIN IMMEDIATE");
    assert_eq!(begin(Verb::Update, Dialect::Mysql), "BEGIN");
}

#[test]
fn operations_are_chosen_by_weight() {
    let mut run = run(vec![
        operation("rare", false, 1, &["s"]),
        operation("never", false, 1, &["s"]),
        operation("often", false, 1, &["s"]),
    ]);
    for (operation, weight) in run.operations.iter_mut().zip([10, 0, 90]) {
        operation.weight = weight;
    }
    let program = compiled(&run, Dialect::Sqlite).unwrap();
    let mut rng = Rng::new(5);
    let mut chosen = [0u32; 3];
    for _ in 0..10_000 {
        chosen[program.choose(&mut rng).index] += 1;
    }
    assert!((900..1_100).contains(&chosen[0]), "{chosen:?}");
    assert_eq!(chosen[1], 0);
}

#[test]
fn hostile_values_stay_values() {
    let hostile = "'; DROP TABLE t; -- \\' \\";
    let draws = || vec![draw("c", 1, Draw::Fixed(hostile.to_owned()))];
    let run = one(texts("UPDATE {} SET c = :0"), Verb::Update, draws());
    let text = |dialect| sent(&compiled(&run, dialect).unwrap(), 0, 1).remove(0).0;
    assert_eq!(text(Dialect::Sqlite), r"UPDATE t SET c = '''; DROP TABLE t; -- \'' \'");
    assert_eq!(text(Dialect::Postgres), r"UPDATE t SET c = E'''; DROP TABLE t; -- \\'' \\'");
    assert!(text(Dialect::Mysql).starts_with("UPDATE t SET c = _utf8mb4 X'273B2044"));
}

#[test]
fn what_makes_no_sense_is_refused_by_name() {
    let with = |kind| one(texts(":0"), Verb::Select, vec![draw("v", 1, kind)]);
    assert_eq!(
        refusal(&with(Draw::Fixed("a\0".to_owned())), Dialect::Postgres),
        "operation `o`: the value `v` has a NUL, which no text of this database can hold"
    );
    assert!(compiled(&with(Draw::Fixed("a\0".to_owned())), Dialect::Sqlite).is_ok());
    assert!(refusal(&with(Draw::Row), Dialect::Mysql).contains("only loading does"));
    assert!(refusal(&with(Draw::Plus { of: 0, add: 1 }), Dialect::Mysql).contains("`v` adds to"));
    let missing = one(texts(":1"), Verb::Select, vec![draw("v", 1, any_id())]);
    assert!(refusal(&missing, Dialect::Mysql).contains("does not draw"));
    let mut no_table = with(any_id());
    no_table.operations[0].blocks[0].table = 3;
    assert!(refusal(&no_table, Dialect::Mysql).contains("no table 3"));
    assert!(refusal(&run(Vec::new()), Dialect::Mysql).contains("no operations"));
    let mut text = one(texts("x"), Verb::Select, vec![draw("v", 2, Draw::Fixed(String::new()))]);
    text.operations[0].blocks[0].statements[0].expect = Expect::Distinct(0);
    assert!(refusal(&text, Dialect::Mysql).contains("not an integer"));
}

#[test]
fn a_pipeline_is_only_used_where_an_error_undoes_everything() {
    let of = |verb, transaction, dialect| {
        let mut run = one(texts("x"), verb, Vec::new());
        let operation = &mut run.operations[0];
        operation.transaction = transaction;
        operation.blocks[0].repeat = 2;
        let program = compiled(&run, dialect).unwrap();
        program.operations[0].may_be_pipelined(dialect)
    };
    for dialect in DIALECTS {
        assert!(of(Verb::Select, true, dialect) && of(Verb::Select, false, dialect));
        assert!(!of(Verb::Update, false, dialect));
        assert_eq!(of(Verb::Update, true, dialect), dialect != Dialect::Mysql);
    }
}
