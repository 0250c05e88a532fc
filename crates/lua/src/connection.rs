//! A script's connection: statements through a session.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use drivers::{Connector, Done, Param, ParamType, Session, SessionError, StatementId};
use mlua::{BorrowedStr, Lua, UserData, UserDataMethods, Value, Variadic};
use model::Dialect;

use crate::ledger::{Ledger, SentKind};
use crate::placeholders::numbered;
use crate::rows::Rows;

/// MySQL: this statement cannot be prepared.
const NOT_PREPARED: &str = "1295";

/// What the connections of a client share.
#[derive(Clone)]
pub(crate) struct Wire {
    pub(crate) dialect: Dialect,
    pub(crate) connector: Arc<dyn Connector>,
    pub(crate) ledger: Ledger,
    /// Has the user asked for the end?
    pub(crate) stop: Arc<AtomicBool>,
    /// Codes of errors after which an event begins anew; `all` stands for every code.
    pub(crate) ignored: Vec<String>,
}

pub(crate) struct Channel {
    wire: Wire,
    /// `None` when the script has disconnected.
    session: Option<Box<dyn Session>>,
    statements: Vec<Prepared>,
    /// The places of the statements, by text and types: one that a script prepares for every event is prepared once.
    places: HashMap<String, usize>,
    rows: Rows,
}

struct Prepared {
    id: StatementId,
    types: Vec<ParamType>,
    reads: bool,
}

/// What Lua gets: the number of fields where there are rows, and the rows; or `false` and the error's code, its text
/// and whether the event begins anew.
type Answer = (Value, Value, Value, Value);

/// A channel as Lua's data, which must not be tied to a thread. Nobody ever waits for it.
pub(crate) struct Connection(Mutex<Channel>);

impl Connection {
    pub(crate) fn open(wire: Wire) -> Result<Self, SessionError> {
        let session = Some(wire.connector.connect()?);
        let (statements, places, rows) = Default::default();
        Ok(Self(Mutex::new(Channel { wire, session, statements, places, rows })))
    }

    fn channel(&mut self) -> &mut Channel {
        self.0.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Channel {
    fn reconnect(&mut self) -> Result<(), SessionError> {
        self.session = None;
        self.session = Some(self.wire.connector.connect()?);
        self.statements.clear();
        self.places.clear();
        Ok(())
    }

    fn session(&mut self) -> Result<&mut dyn Session, SessionError> {
        if self.wire.stop.load(Ordering::Relaxed) {
            return Err(SessionError::Lost { cause: "interrupted".to_owned() });
        }
        match &mut self.session {
            Some(session) => Ok(&mut **session),
            None => Err(SessionError::Lost { cause: "the script has disconnected".to_owned() }),
        }
    }

    fn query(&mut self, sql: &str) -> Result<Done, SessionError> {
        let mut rows = std::mem::take(&mut self.rows);
        rows.clear();
        let done = self.session().and_then(|it| it.query(sql, &mut |row| rows.add(row)));
        self.rows = rows;
        done
    }

    fn execute(&mut self, place: usize, params: &[Param<'_>]) -> Result<Done, SessionError> {
        let Some(id) = self.statements.get(place).map(|statement| statement.id) else {
            return Err(SessionError::Protocol { what: "the statement is closed".to_owned() });
        };
        let mut rows = std::mem::take(&mut self.rows);
        rows.clear();
        let done =
            self.session().and_then(|it| it.execute_prepared(id, params, &mut |row| rows.add(row)));
        self.rows = rows;
        done
    }

    /// The place of the prepared statement; `None` where it must be sent as text.
    fn prepare(&mut self, sql: &str, types: Vec<ParamType>) -> Result<Option<usize>, SessionError> {
        let text = match self.wire.dialect {
            Dialect::Postgres => numbered(sql),
            Dialect::Mysql | Dialect::Sqlite => sql.to_owned(),
        };
        let key = format!("{text} {types:?}");
        if let Some(place) = self.places.get(&key) {
            return Ok(Some(*place));
        }
        match self.session()?.prepare(&text, &types) {
            Ok(id) => {
                let place = self.statements.len();
                self.statements.push(Prepared { id, types, reads: reads(sql) });
                self.places.insert(key, place);
                Ok(Some(place))
            }
            Err(error) if error.code() == NOT_PREPARED => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn answer(
        &mut self,
        lua: &Lua,
        started: Instant,
        reads: bool,
        done: Result<Done, SessionError>,
    ) -> mlua::Result<Answer> {
        match done {
            Ok(Done { rows, .. }) if reads || rows > 0 => {
                self.wire.ledger.add(SentKind::Read, started, rows);
                let fields = Value::Integer(self.rows.fields() as i64);
                Ok((fields, Value::Integer(rows as i64), Value::Nil, Value::Nil))
            }
            Ok(Done { affected, .. }) => {
                let kind = if affected > 0 { SentKind::Write } else { SentKind::Other };
                self.wire.ledger.add(kind, started, affected);
                Ok((Value::Nil, Value::Integer(affected as i64), Value::Nil, Value::Nil))
            }
            Err(error) => self.failed(lua, &error),
        }
    }

    #[cold]
    fn failed(&mut self, lua: &Lua, error: &SessionError) -> mlua::Result<Answer> {
        let is_of_server = matches!(error, SessionError::Server { .. });
        let ignored = &self.wire.ignored;
        let ignored =
            is_of_server && ignored.iter().any(|code| code == error.code() || code == "all");
        // As sysbench does: MySQL's transactions end with the statement that begins the next one.
        if ignored && self.wire.dialect != Dialect::Mysql {
            // It fails where no transaction is open.
            let _ = self.session().and_then(|session| session.execute("ROLLBACK"));
        }
        let text = |text: &str| lua.create_string(text).map(Value::String);
        let (code, message) = (text(error.code())?, text(&error.to_string())?);
        Ok((Value::Boolean(false), code, message, Value::Boolean(ignored)))
    }
}

impl UserData for Connection {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_method_mut("query", |lua, this, sql: BorrowedStr| {
            let (this, started) = (this.channel(), Instant::now());
            let done = this.query(&sql);
            this.answer(lua, started, reads(&sql), done)
        });
        methods.add_method_mut("execute", |lua, this, call: (usize, Variadic<Value>)| {
            let ((place, values), this) = (call, this.channel());
            let texts = texts(lua, &values)?;
            let (is_read, params) = match this.statements.get(place) {
                Some(prepared) => (prepared.reads, params(&prepared.types, &values, &texts)?),
                None => (false, Vec::new()),
            };
            let started = Instant::now();
            let done = this.execute(place, &params);
            this.answer(lua, started, is_read, done)
        });
        methods.add_method_mut("prepare", |lua, this, call: (String, Variadic<u32>)| {
            let ((sql, types), this) = (call, this.channel());
            let types = types.iter().map(|number| param_type(*number)).collect();
            match this.prepare(&sql, types) {
                Ok(Some(place)) => {
                    Ok((Value::Integer(place as i64), Value::Nil, Value::Nil, Value::Nil))
                }
                Ok(None) => Ok((Value::Nil, Value::Nil, Value::Nil, Value::Nil)),
                Err(error) => this.failed(lua, &error),
            }
        });
        methods.add_method_mut("fetch", |lua, this, ()| this.channel().rows.fetch(lua));
        methods.add_method_mut("disconnect", |_, this, ()| {
            this.channel().session = None;
            Ok(())
        });
        methods.add_method_mut("reconnect", |lua, this, ()| {
            let this = this.channel();
            match this.reconnect() {
                Ok(()) => Ok((Value::Nil, Value::Nil, Value::Nil, Value::Nil)),
                Err(error) => this.failed(lua, &error),
            }
        });
    }
}

/// The type of a number of `sysbench.sql.type`.
fn param_type(number: u32) -> ParamType {
    match number {
        1..=4 => ParamType::Int,
        5 | 6 => ParamType::Decimal,
        8..=10 => ParamType::DateTime,
        _ => ParamType::Text,
    }
}

/// The texts of values, which parameters borrow; empty for a number that is sent as one.
fn texts(lua: &Lua, values: &[Value]) -> mlua::Result<Vec<Option<BorrowedStr>>> {
    let text = |value: &Value| match value {
        Value::Integer(_) => Ok(None),
        other => lua.coerce_string(other.clone())?.map(|text| text.to_str()).transpose(),
    };
    values.iter().map(text).collect()
}

fn params<'a>(
    types: &[ParamType],
    values: &[Value],
    texts: &'a [Option<BorrowedStr>],
) -> mlua::Result<Vec<Param<'a>>> {
    let param = |((kind, value), text): ((&ParamType, &Value), &'a Option<BorrowedStr>)| match (
        kind, value, text,
    ) {
        (ParamType::Int, Value::Integer(int), _) => Ok(Param::Int(*int)),
        (ParamType::Int, Value::Number(number), _) => Ok(Param::Int(*number as i64)),
        (ParamType::Int, _, Some(text)) if text.parse::<i64>().is_ok() => {
            Ok(Param::Int(text.parse().unwrap_or_default()))
        }
        (ParamType::Text | ParamType::DateTime | ParamType::Decimal, _, Some(text)) => {
            Ok(Param::Text(text))
        }
        (_, value, _) => Err(mlua::Error::runtime(format!(
            "a parameter was declared as {kind:?} and set to a {}; NULL is not offered",
            value.type_name()
        ))),
    };
    types.iter().zip(values).zip(texts).map(param).collect()
}

/// Does the statement return rows, be it none?
fn reads(sql: &str) -> bool {
    const VERBS: [&str; 8] =
        ["SELECT", "SHOW", "WITH", "EXPLAIN", "VALUES", "TABLE", "DESCRIBE", "PRAGMA"];
    let begin = statement(sql);
    VERBS
        .iter()
        .any(|verb| begin.get(..verb.len()).is_some_and(|start| start.eq_ignore_ascii_case(verb)))
}

/// From its first word on.
fn statement(mut sql: &str) -> &str {
    loop {
        sql = sql.trim_start_matches(|c: char| c.is_whitespace() || c == '(');
        match sql.strip_prefix("/*").and_then(|rest| rest.split_once("*/")) {
            Some((_, rest)) => sql = rest,
            None => return sql,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_that_returns_rows_is_known_by_its_verb() {
        for sql in [
            "select 1",
            " (SELECT 1) UNION (SELECT 2)",
            "/* a */ /*b*/\nWITH x AS (SELECT 1) TABLE x",
        ] {
            assert!(reads(sql), "{sql}");
        }
        for sql in ["", "/* SELECT", "BEGIN", "UPDATE t SET c = 'SELECT'", "é"] {
            assert!(!reads(sql), "{sql}");
        }
    }
}
