//! More than a server allows.

use std::sync::Arc;

use drivers::{
    Connector, Done, Param, ParamType, Row, Session, SessionError, SessionInfo, StatementId, Value,
};
use load::StepError;
use model::{Dialect, SqlSpec};
use testkit::databases::target;

use crate::spec::{key, point, run, single, spec, step};
use crate::trial::Trial;

/// A server that only tells its limits.
struct Small {
    connections: i64,
    statements: i64,
}

struct SmallSession {
    numbers: [i64; 2],
    info: SessionInfo,
}

struct Numbers([i64; 2]);

impl Row for Numbers {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn value(&self, column: usize) -> Value<'_> {
        self.0.get(column).map_or(Value::Null, |n| Value::Int(*n))
    }
}

impl Connector for Small {
    fn connect(&self) -> Result<Box<dyn Session>, SessionError> {
        Ok(Box::new(SmallSession {
            numbers: [self.connections, self.statements],
            info: SessionInfo::default(),
        }))
    }
}

impl Session for SmallSession {
    fn query(&mut self, sql: &str, each: &mut dyn FnMut(&dyn Row)) -> Result<Done, SessionError> {
        if !sql.contains("max_connections") {
            return Err(crate::faulty::server("1064", "only limits"));
        }
        each(&Numbers(self.numbers));
        Ok(Done { rows: 1, affected: 0, columns: 1 })
    }

    fn prepare(&mut self, _: &str, _: &[ParamType]) -> Result<StatementId, SessionError> {
        Ok(StatementId(0))
    }

    fn execute_prepared(
        &mut self,
        _: StatementId,
        _: &[Param<'_>],
        _: &mut dyn FnMut(&dyn Row),
    ) -> Result<Done, SessionError> {
        Ok(Done::default())
    }

    fn info(&self) -> &SessionInfo {
        &self.info
    }
}

fn said(spec: &SqlSpec, dialect: Dialect, connections: i64, statements: i64) -> String {
    let small = Small { connections, statements };
    let target = target(Arc::new(small), dialect);
    let error = Trial::new(spec, 1).attempt(&target).unwrap_err();
    assert!(
        matches!(error, StepError::Unsupported(_)) || error.to_string().contains("only limits")
    );
    error.to_string()
}

#[test]
fn too_many_clients_are_refused_before_anything_is_loaded() {
    let spec = spec(vec![
        step("few", 2, run(vec![single(point(), key())])),
        step("many", 200, run(vec![single(point(), key())])),
    ]);
    assert_eq!(
        said(&spec, Dialect::Mysql, 151, 16_382),
        "step `many` needs 201 connections and the server allows 151; \
         set max_connections to at least 201"
    );
    assert_eq!(
        said(&spec, Dialect::Postgres, 97, 0),
        "step `many` needs 201 connections and the server allows 97; \
         set max_connections to at least 211"
    );
    // A statement for each of two tables.
    assert_eq!(
        said(&spec, Dialect::Mysql, 1_000, 399),
        "step `many` needs 400 prepared statements and the server allows 399; \
         set max_prepared_stmt_count to at least 400, or use fewer tables or clients"
    );
    assert!(said(&spec, Dialect::Mysql, 201, 400).contains("only limits"));
}

#[test]
fn operations_that_make_no_sense_are_refused_with_their_step() {
    let draws = vec![crate::spec::draw("id", 1, model::Draw::Row)];
    let spec = spec(vec![step("odd", 1, run(vec![single(point(), draws)]))]);
    assert_eq!(
        said(&spec, Dialect::Sqlite, 0, 0),
        "step `odd`: operation `point`: the value `id` counts rows, which only loading does"
    );
}
