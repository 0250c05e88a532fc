//! Parameters of every type against columns of every type that a workload has.

use drivers::{Param, ParamType, PostgresSession, Session};

use crate::column;

pub(crate) fn check(session: &mut PostgresSession) {
    session.execute("DROP TABLE IF EXISTS typed").unwrap();
    session
        .execute(
            "CREATE TABLE typed (id int PRIMARY KEY, small smallint, big bigint, fixed char(12),
             name varchar(40), long text, price numeric(10,2), ratio float8, at timestamp,
             zoned timestamptz, day date)",
        )
        .unwrap();
    for index in ["small", "big", "fixed", "name", "long", "price", "at", "zoned", "day"] {
        session.execute(&format!("CREATE INDEX ON typed ({index})")).unwrap();
    }
    inserts(session);
    session.execute("ANALYZE typed").unwrap();
    // The table is so small that only this makes a plan with an index where one can serve.
    session.execute("SET enable_seqscan = off").unwrap();
    comparisons(session);
    session.execute("RESET enable_seqscan").unwrap();
    arithmetic(session);
    refusals(session);
}

fn inserts(session: &mut PostgresSession) {
    use ParamType::{DateTime, Decimal, Int, Text};
    let insert = session
        .prepare(
            "INSERT INTO typed VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
            &[Int, Int, Int, Text, Text, Text, Decimal, Decimal, DateTime, DateTime, DateTime],
        )
        .unwrap();
    for id in 1..=20 {
        let name = format!("name {id:02}");
        let price = format!("-{id}.50");
        let at = format!("2026-11-21 10:00:{id:02}");
        let params = [
            Param::Int(id),
            Param::Int(id),
            Param::Int(id << 40),
            Param::Text(&name),
            Param::Text(&name),
            Param::Text(&name),
            Param::Text(&price),
            Param::Text("0.25"),
            Param::Text(&at),
            Param::Text(&at),
            Param::Text(&at),
        ];
        let done = session.execute_prepared(insert, &params, &mut |_| ()).unwrap();
        assert_eq!(done.affected, 1);
    }
    assert_eq!(
        column(
            session,
            "SELECT concat_ws(',', small, big, fixed, name, long, price, ratio, at, day)
             FROM typed WHERE id = 3"
        ),
        [Some(
            "3,3298534883328,name 03     ,name 03,name 03,-3.50,0.25,2026-11-21 10:00:03,2026-11-21"
                .to_owned()
        )]
    );
}

/// Each finds the one row, and by the index: a parameter of another type must not turn the column
/// into something that the index does not hold.
fn comparisons(session: &mut PostgresSession) {
    let (int, name, price) = (Param::Int(7), Param::Text("name 07"), Param::Text("-7.50"));
    let at = Param::Text("2026-11-21 10:00:07");
    for (condition, declared, param) in [
        ("id = $1", ParamType::Int, int),
        ("small = $1", ParamType::Int, int),
        ("big = $1", ParamType::Int, Param::Int(7 << 40)),
        ("id IN ($1, $1 + 100)", ParamType::Int, int),
        ("id BETWEEN $1 AND $1", ParamType::Int, int),
        ("id = $1", ParamType::Text, Param::Text("7")),
        ("fixed = $1", ParamType::Text, name),
        ("fixed = $1", ParamType::Text, Param::Text("name 07   ")),
        ("name = $1", ParamType::Text, name),
        ("long = $1", ParamType::Text, name),
        ("long BETWEEN $1 AND $1 || 'x'", ParamType::Text, name),
        ("price = $1", ParamType::Decimal, price),
        ("at = $1", ParamType::DateTime, at),
        ("at = $1", ParamType::Text, at),
        ("zoned = $1", ParamType::DateTime, at),
    ] {
        let sql = format!("SELECT id FROM typed WHERE {condition}");
        let found = ids(session, &sql, declared, param);
        assert_eq!(found, ["7"], "{condition}, {declared:?}");
        let plan = ids(session, &format!("EXPLAIN {sql}"), declared, param).concat();
        assert!(plan.contains("Index Cond"), "{condition}, {declared:?}: {plan}");
    }
    // Every row is of the same day.
    let sql = "SELECT count(*) FROM typed WHERE day = $1";
    let midnight = Param::Text("2026-11-21 00:00:00");
    assert_eq!(ids(session, sql, ParamType::DateTime, midnight), ["20"]);
}

/// The first column returned by a statement with one parameter.
fn ids(
    session: &mut PostgresSession,
    sql: &str,
    declared: ParamType,
    param: Param<'_>,
) -> Vec<String> {
    let id = session.prepare(sql, &[declared]).unwrap();
    let mut values = Vec::new();
    session
        .execute_prepared(id, &[param], &mut |row| {
            values.extend(row.value(0).to_text());
        })
        .unwrap();
    values
}

fn arithmetic(session: &mut PostgresSession) {
    let types = [ParamType::Int, ParamType::Decimal, ParamType::Int];
    let update = session
        .prepare("UPDATE typed SET small = small + $1, price = price + $2 WHERE id = $3", &types)
        .unwrap();
    let params = [Param::Int(1), Param::Text("0.25"), Param::Int(7)];
    let done = session.execute_prepared(update, &params, &mut |_| ()).unwrap();
    assert_eq!(done.affected, 1);
    assert_eq!(
        column(session, "SELECT small || ' ' || price FROM typed WHERE id = 7"),
        [Some("8 -7.25".to_owned())]
    );
    let limit = "SELECT id FROM typed ORDER BY id LIMIT $1";
    assert_eq!(ids(session, limit, ParamType::Int, Param::Int(2)), ["1", "2"]);
}

fn refusals(session: &mut PostgresSession) {
    let types = [ParamType::Int, ParamType::Decimal];
    let update = session.prepare("UPDATE typed SET price = $2 WHERE id = $1", &types).unwrap();
    for (id, price, code) in [(7, "123456789.00", "22003"), (7, "many", "22P02"), (7, "", "22P02")]
    {
        let params = [Param::Int(id), Param::Text(price)];
        let error = session.execute_prepared(update, &params, &mut |_| ()).unwrap_err();
        assert_eq!(error.code(), code, "{error}");
    }
    let insert = session.prepare("INSERT INTO typed (id) VALUES ($1)", &[ParamType::Int]).unwrap();
    let too_big = session.execute_prepared(insert, &[Param::Int(1 << 40)], &mut |_| ());
    assert_eq!(too_big.unwrap_err().code(), "22003");
    let long =
        session.prepare("UPDATE typed SET fixed = $1 WHERE id = 1", &[ParamType::Text]).unwrap();
    let too_long = session.execute_prepared(long, &[Param::Text("more than twelve")], &mut |_| ());
    assert_eq!(too_long.unwrap_err().code(), "22001");
}
