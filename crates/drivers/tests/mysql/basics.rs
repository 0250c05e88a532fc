//! Statements in text and prepared, values of every type, errors, long messages.

use std::thread::sleep;
use std::time::Duration;

use drivers::{Connector, Param, ParamType, Session, SessionError, StatementId, Value};

use crate::server::Server;

pub(crate) fn says_who_it_is(session: &mut dyn Session) {
    let mut seen = Vec::new();
    session
        .query("select version(), connection_id()", &mut |row| {
            seen = vec![row.value(0).to_text(), row.value(1).to_text()];
        })
        .unwrap();
    let info = session.info();
    assert_eq!(seen[0].as_deref(), Some(info.server_version.as_str()));
    assert_eq!(seen[1], info.backend.map(|id| id.to_string()));
    assert_eq!(info.tls, None);
}

pub(crate) fn text_insert_and_range(session: &mut dyn Session) {
    session
        .execute("create table t (id int primary key, k int not null, c varchar(40)) engine=innodb")
        .unwrap();
    for batch in 0..4 {
        let rows: Vec<String> = (batch * 50..(batch + 1) * 50)
            .map(|id| format!("({id},{},'row {id}')", id * 2))
            .collect();
        let sql = format!("insert into t values {}", rows.join(","));
        assert_eq!(session.execute(&sql).unwrap().affected, 50);
    }
    let sql = "select id, c from t where id between ? and ? order by id";
    let range = session.prepare(sql, &[ParamType::Int, ParamType::Int]).unwrap();
    for _ in 0..3 {
        let mut ids = Vec::new();
        let done = session
            .execute_prepared(range, &[Param::Int(50), Param::Int(149)], &mut |row| {
                let Value::Int(id) = row.value(0) else {
                    panic!("{:?}", row.value(0));
                };
                assert_eq!(row.value(1).to_text(), Some(format!("row {id}")));
                ids.push(id);
            })
            .unwrap();
        assert_eq!((done.rows, done.affected), (100, 0));
        assert_eq!(ids, (50..150).collect::<Vec<_>>());
        let counted = session.count_prepared(range, &[Param::Int(50), Param::Int(149)]);
        assert_eq!(counted.unwrap(), done);
    }
    let deleted = session.execute("delete from t where id < 30").unwrap();
    assert_eq!((deleted.rows, deleted.affected), (0, 30));
    let updated = session.execute("update t set k = k + 1 where id < 40").unwrap();
    assert_eq!(updated.affected, 10);
    let counted = session.execute("select * from t").unwrap();
    assert_eq!(counted.rows, 170);
}

pub(crate) fn prepared_insert(session: &mut dyn Session) {
    session
        .execute(
            "create table p (id bigint auto_increment primary key, d datetime not null, \
             price decimal(8,2), name varchar(400))",
        )
        .unwrap();
    let insert = session
        .prepare(
            "insert into p (d, price, name) values (?, ?, ?), (?, ?, ?)",
            &[
                ParamType::DateTime,
                ParamType::Decimal,
                ParamType::Text,
                ParamType::DateTime,
                ParamType::Decimal,
                ParamType::Text,
            ],
        )
        .unwrap();
    let long = "n".repeat(300);
    for _ in 0..5 {
        let params = [
            Param::Text("2026-11-21 10:00:00"),
            Param::Text("12.50"),
            Param::Text(&long),
            Param::Text("1999-12-31 23:59:59"),
            Param::Text("-0.07"),
            Param::Text(""),
        ];
        let done = session
            .execute_prepared(insert, &params, &mut |_| panic!("an insert returned a row"))
            .unwrap();
        assert_eq!((done.rows, done.affected), (0, 2));
    }
    let select = session
        .prepare("select d, price, name, id from p where id = ?", &[ParamType::Int])
        .unwrap();
    assert_eq!(
        row_texts(session, select, 1),
        [Some("2026-11-21 10:00:00"), Some("12.50"), Some(&long), Some("1")].map(owned)
    );
    assert_eq!(
        row_texts(session, select, 2),
        [Some("1999-12-31 23:59:59"), Some("-0.07"), Some(""), Some("2")].map(owned)
    );
    // The server prepares again by itself when the table has changed; the types are still known.
    session.execute("alter table p add column extra int, modify name varbinary(400)").unwrap();
    assert_eq!(row_texts(session, select, 2)[2].as_deref(), Some(""));
}

pub(crate) fn owned(text: Option<&str>) -> Option<String> {
    text.map(str::to_owned)
}

pub(crate) fn row_texts(
    session: &mut dyn Session,
    statement: StatementId,
    id: i64,
) -> Vec<Option<String>> {
    let mut texts = Vec::new();
    let done = session
        .execute_prepared(statement, &[Param::Int(id)], &mut |row| {
            texts = (0..row.len()).map(|column| row.value(column).to_text()).collect();
        })
        .unwrap();
    assert_eq!(done.rows, 1);
    texts
}

/// The same row must read the same in text and in binary, but for the width of single floats.
pub(crate) fn every_kind_of_value(session: &mut dyn Session) {
    session
        .execute(
            "create table v (id int primary key, i1 tinyint, u1 tinyint unsigned, i2 smallint, \
             u2 smallint unsigned, i3 mediumint, u3 mediumint unsigned, i4 int, u4 int unsigned, \
             i8 bigint, u8 bigint unsigned, f4 float, f8 double, n decimal(20,5), \
             d date, dt datetime, ts timestamp null, t time, y year, \
             c char(5), vc varchar(50), b blob, tx text, e enum('a','b'), bt bit(9))",
        )
        .unwrap();
    session
        .execute(
            "insert into v values (1, -128, 255, -32768, 65535, -8388608, 16777215, -2147483648, \
             4294967295, -9223372036854775808, 18446744073709551615, 0.5, -1.25e100, -12345.67890, \
             '2026-11-21', '2026-11-21 01:02:03', '2026-11-21 04:05:06', '-838:59:59', 2026, \
             'abc', 'déjà', x'00ff', 'text', 'b', b'101010101')",
        )
        .unwrap();
    session.execute("insert into v (id) values (2)").unwrap();
    session
        .execute("insert into v (id, d, dt, t, u8) values (3, '1970-01-01', '1970-01-01', 0, 5)")
        .unwrap();
    let select = session.prepare("select * from v where id = ?", &[ParamType::Int]).unwrap();
    for id in 1..=3 {
        let binary = row_texts(session, select, id);
        let mut text = Vec::new();
        session
            .query(&format!("select * from v where id = {id}"), &mut |row| {
                text = (0..row.len()).map(|column| row.value(column).to_text()).collect();
            })
            .unwrap();
        let double = 12;
        for (column, (binary, text)) in binary.iter().zip(&text).enumerate() {
            if column == double {
                let parse =
                    |text: &Option<String>| text.as_ref().map(|t| t.parse::<f64>().unwrap());
                assert_eq!(parse(binary), parse(text));
            } else {
                assert_eq!(binary, text, "row {id} column {column}");
            }
        }
        assert_eq!(binary.len(), 25);
        let nulls = binary.iter().filter(|value| value.is_none()).count();
        assert_eq!(nulls, [0, 24, 20][id as usize - 1]);
    }
    fractions(session);
}

/// A decimal is compared as a number, not as text.
pub(crate) fn decimals(session: &mut dyn Session) {
    let by_price =
        session.prepare("select id from p where price = ?", &[ParamType::Decimal]).unwrap();
    for (price, rows) in [("-0.07", 5), ("-0.0700", 5), ("12.5", 5), ("0.07", 0)] {
        let done = session.execute_prepared(by_price, &[Param::Text(price)], &mut |_| ()).unwrap();
        assert_eq!(done.rows, rows, "{price}");
    }
}

/// The columns of a statement that was prepared once are described anew in every result, and may be
/// others than before.
pub(crate) fn columns_that_change(session: &mut dyn Session) {
    let all = session.prepare("select * from d where id = ?", &[ParamType::Int]).err();
    assert_eq!(all.unwrap().code(), "1146");
    session.execute("create table d (id int primary key, v int unsigned)").unwrap();
    session.execute("insert into d values (1, 4294967295)").unwrap();
    let all = session.prepare("select * from d where id = ?", &[ParamType::Int]).unwrap();
    for (change, expected) in [
        ("do 1", "4294967295"),
        ("alter table d modify v bigint", "4294967295"),
        ("alter table d modify v varchar(20)", "4294967295"),
        ("alter table d modify v decimal(20,2)", "4294967295.00"),
        ("alter table d add column w int", "4294967295.00"),
    ] {
        session.execute(change).unwrap();
        for _ in 0..3 {
            assert_eq!(row_texts(session, all, 1)[1].as_deref(), Some(expected));
        }
    }
}

/// Fractions of seconds came with MySQL 5.6.
fn fractions(session: &mut dyn Session) {
    if session.info().server_version.starts_with("5.5") {
        return;
    }
    let select = session
        .prepare(
            "select cast('2026-11-21 01:02:03.045' as datetime(3)), \
             cast('2026-11-21 01:02:03' as datetime(6)), cast('-01:02:03.5' as time(1)), ? + 0",
            &[ParamType::Int],
        )
        .unwrap();
    assert_eq!(
        row_texts(session, select, 7),
        [
            Some("2026-11-21 01:02:03.045"),
            Some("2026-11-21 01:02:03.000000"),
            Some("-01:02:03.5"),
            Some("7")
        ]
        .map(owned)
    );
}

pub(crate) fn errors_have_codes(server: &Server, session: &mut dyn Session) {
    let code = |result: Result<_, SessionError>| result.unwrap_err().code().to_owned();
    assert_eq!(code(session.execute("selec 1")), "1064");
    assert_eq!(code(session.execute("insert into t values (50, 1, '')")), "1062");
    assert_eq!(code(session.execute("select 1; select 2")), "1064");
    let prepared = session.prepare("select * from missing where id = ?", &[ParamType::Int]);
    assert_eq!(prepared.unwrap_err().code(), "1146");
    let insert = session.prepare("insert into t values (?, 1, '')", &[ParamType::Int]).unwrap();
    for (id, expected) in [(50, Some("1062")), (1000, None), (1000, Some("1062"))] {
        let done = session.execute_prepared(insert, &[Param::Int(id)], &mut |_| ());
        assert_eq!(done.err().map(|e| e.code().to_owned()).as_deref(), expected);
    }
    // An error after some rows were shown.
    let late = "select 1 union all select (select k from t where id in (50, 51) or id = 52)";
    assert_eq!(code(session.execute(late)), "1242");
    // A lock wait that is given up is an error that may be tried again.
    let mut other = server.session("backslide_test");
    session.execute("begin").unwrap();
    session.execute("update t set k = 0 where id = 60").unwrap();
    other.execute("set innodb_lock_wait_timeout = 1").unwrap();
    let error = other.execute("update t set k = 1 where id = 60").unwrap_err();
    assert_eq!(error.code(), "1205");
    assert!(error.is_retryable());
    session.execute("rollback").unwrap();
}

pub(crate) fn several_results(session: &mut dyn Session) {
    session
        .execute(
            "create procedure pr(n int) begin select 1; select id from t where id < n; \
             update t set k = -1 where id = 70; end",
        )
        .unwrap();
    let text = session.execute("call pr(40)").unwrap();
    assert_eq!((text.rows, text.affected), (11, 1));
    let call = session.prepare("call pr(?)", &[ParamType::Int]).unwrap();
    for _ in 0..2 {
        let binary = session
            .execute_prepared(call, &[Param::Int(40)], &mut |row| {
                assert!(row.value(0).as_int().is_some());
            })
            .unwrap();
        assert_eq!(binary.rows, 11);
    }
}

pub(crate) fn long_messages(session: &mut dyn Session) {
    const LENGTH: usize = 17_000_000;
    let sql = format!("select '{}'", "x".repeat(LENGTH));
    let mut received = 0;
    let sent = session.query(&sql, &mut |row| {
        if let Value::Bytes(bytes) = row.value(0) {
            assert!(bytes.iter().all(|&byte| byte == b'x'));
            received = bytes.len();
        }
    });
    match sent {
        Ok(_) => assert_eq!(received, LENGTH),
        // A server that is not ours may take less, and then says so or hangs up.
        Err(error) => assert!(error.to_string().contains("max_allowed_packet"), "{error}"),
    }
}

pub(crate) fn the_server_hangs_or_hangs_up(server: &Server) {
    let mut session = server.connector("root", "", "", Duration::from_secs(2)).connect().unwrap();
    let error = session.execute("select sleep(60)").unwrap_err();
    assert_eq!(error.code(), "timeout");
    assert_eq!(session.execute("select 1").unwrap_err().code(), "lost");

    let mut session = server.session("");
    let id = session.info().backend.unwrap();
    server.session("").execute(&format!("kill {id}")).unwrap();
    sleep(Duration::from_millis(200));
    let error = session.execute("select 1").unwrap_err();
    // MariaDB says its last words; MySQL just closes.
    assert!(["lost", "1927"].contains(&error.code()), "{error}");
    assert_eq!(session.execute("select 1").unwrap_err().code(), "lost");
}
