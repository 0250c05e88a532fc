//! A script's connection: statements through a session.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use drivers::{Connector, Done, ParamType, Session, SessionError, StatementId};
use mlua::{LightUserData, LuaString, UserData, UserDataMethods, Value, Variadic};
use model::{Dialect, Nanos};

use crate::calls::{How, Returned, address};
use crate::ledger::{Ledger, SentKind};
use crate::lock;
use crate::placeholders::numbered;
use crate::rows::Rows;
use crate::slot::Slot;

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
    /// Of the last statement, until the script asks for it.
    failure: Option<SessionError>,
}

struct Prepared {
    id: StatementId,
    types: Vec<ParamType>,
}

/// An error as Lua gets it: number, SQL state and message as sysbench has them, the text that says more, its code,
/// and whether the event begins anew.
type Failure = (u32, String, String, String, String, bool);

/// A channel as Lua's data, which must not be tied to a thread. Nobody ever waits for it.
pub(crate) struct Connection(Arc<Mutex<Channel>>);

impl Connection {
    pub(crate) fn open(wire: Wire) -> Result<Self, SessionError> {
        let session = Some(wire.connector.connect()?);
        let (statements, places, rows, failure) = Default::default();
        let channel = Channel { wire, session, statements, places, rows, failure };
        Ok(Self(Arc::new(Mutex::new(channel))))
    }

    /// Where the functions of `ffi` find the channel, as long as Lua has this.
    pub(crate) fn address(&self) -> LightUserData {
        address(&self.0)
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

    pub(crate) fn query(
        &mut self,
        sql: &[u8],
        returned: &mut Returned,
    ) -> Result<How, SessionError> {
        let started = self.wire.ledger.now();
        let done = self.send(|session, rows| session.query_bytes(sql, &mut |row| rows.add(row)))?;
        Ok(self.ended(started, done, returned))
    }

    pub(crate) fn execute(
        &mut self,
        place: usize,
        slots: &[&Slot],
        returned: &mut Returned,
    ) -> Result<How, SessionError> {
        let Some(Prepared { id, types }) = self.statements.get(place) else {
            return Err(SessionError::Protocol { what: "the statement is closed".to_owned() });
        };
        if slots.iter().any(|slot| slot.is_null()) {
            return Ok(How::AsText);
        }
        let id = *id;
        let params = slots.iter().zip(types).map(|(slot, kind)| slot.param(*kind));
        let params = params.collect::<Result<Vec<_>, _>>()?;
        let started = self.wire.ledger.now();
        let done = self.send(|session, rows| {
            session.execute_prepared(id, &params, &mut |row| rows.add(row))
        })?;
        Ok(self.ended(started, done, returned))
    }

    fn send(
        &mut self,
        act: impl FnOnce(&mut dyn Session, &mut Rows) -> Result<Done, SessionError>,
    ) -> Result<Done, SessionError> {
        let mut rows = std::mem::take(&mut self.rows);
        rows.clear();
        let done = self.session().and_then(|session| act(session, &mut rows));
        self.rows = rows;
        done
    }

    fn ended(
        &mut self,
        started: Nanos,
        Done { rows, affected, columns: fields }: Done,
        returned: &mut Returned,
    ) -> How {
        if fields > 0 {
            self.wire.ledger.add(SentKind::Read, started, rows);
            *returned = Returned { rows: rows as f64, fields };
            return How::Rows;
        }
        let kind = if affected > 0 { SentKind::Write } else { SentKind::Other };
        self.wire.ledger.add(kind, started, affected);
        How::NoRows
    }

    #[cold]
    pub(crate) fn fails(&mut self, error: SessionError) -> How {
        self.failure = Some(error);
        How::Failed
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
                self.statements.push(Prepared { id, types });
                self.places.insert(key, place);
                Ok(Some(place))
            }
            Err(error) if error.code() == NOT_PREPARED => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn failure(&mut self) -> Failure {
        let Some(error) = self.failure.take() else { return Failure::default() };
        let is_of_server = matches!(error, SessionError::Server { .. });
        let ignored = &self.wire.ignored;
        let ignored =
            is_of_server && ignored.iter().any(|code| code == error.code() || code == "all");
        // As sysbench does: MySQL's transactions end with the statement that begins the next one.
        if ignored && self.wire.dialect != Dialect::Mysql {
            // It fails where no transaction is open.
            let _ = self.session().and_then(|session| session.execute("ROLLBACK"));
        }
        let (text, code) = (error.to_string(), error.code().to_owned());
        let (state, message) = match error {
            SessionError::Server { state, message, .. } if !state.is_empty() => {
                (state.into(), message)
            }
            SessionError::Server { message, .. } => (code.clone(), message),
            _ => (code.clone(), text.clone()),
        };
        // The codes of PostgreSQL are states, though some look like numbers.
        let number = match self.wire.dialect {
            Dialect::Mysql => code.parse().unwrap_or(0),
            Dialect::Postgres | Dialect::Sqlite => 0,
        };
        (number, state, message, text, code, ignored)
    }
}

impl UserData for Connection {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        // The place; nil where the statement must be sent as text, and `false` where it fails.
        methods.add_method("prepare", |_, this, (sql, types): (LuaString, Variadic<u32>)| {
            let mut channel = lock(&this.0);
            let types = types.iter().map(|number| param_type(*number)).collect();
            let place = sql.to_str().map_or(Ok(None), |sql| channel.prepare(&sql, types));
            Ok(match place {
                Ok(Some(place)) => Value::Integer(place as i64),
                Ok(None) => Value::Nil,
                Err(error) => {
                    channel.fails(error);
                    Value::Boolean(false)
                }
            })
        });
        methods.add_method("failure", |_, this, ()| Ok(lock(&this.0).failure()));
        methods.add_method("fetch", |lua, this, ()| lock(&this.0).rows.fetch(lua));
        methods.add_method("disconnect", |_, this, ()| {
            lock(&this.0).session = None;
            Ok(())
        });
        methods.add_method("reconnect", |_, this, ()| {
            let mut channel = lock(&this.0);
            let done = channel.reconnect();
            Ok(done.map_err(|error| channel.fails(error)).is_ok())
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
