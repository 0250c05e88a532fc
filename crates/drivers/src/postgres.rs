//! PostgreSQL: protocol 3.0 over a Unix socket or TCP without TLS; servers 9.6 to 19.

mod answer;
mod encode;
mod fault;
mod login;
mod row;
mod statement;
mod wire;

use std::time::Duration;

use self::answer::Columns;
use self::row::{Cell, Format};
use self::statement::Prepared;
use self::wire::Wire;
use crate::stream::Stream;
use crate::{
    Address, Connector, Done, Login, Param, ParamType, Row, Session, SessionError, SessionInfo,
    StatementId,
};

/// Opens sessions to one database of one server.
#[derive(Clone, Debug)]
pub struct PostgresConnector {
    address: Address,
    login: Login,
    timeout: Duration,
}

impl PostgresConnector {
    /// For the server at `address`, whose Unix socket is `<directory>/.s.PGSQL.<port>`. `timeout` is
    /// the longest wait for the connection and for each answer.
    pub fn new(address: Address, login: Login, timeout: Duration) -> Self {
        Self {
            address,
            login,
            timeout,
        }
    }

    /// Opens a session. Fails with [`SessionError::Connect`] when the server is not there or not
    /// ready yet, with [`SessionError::Login`] when it refuses.
    pub fn session(&self) -> Result<PostgresSession, SessionError> {
        let stream = Stream::connect(&self.address, self.timeout)?;
        let mut wire = Wire::over(stream);
        match login::log_in(&mut wire, &self.address, &self.login) {
            Ok(info) => Ok(PostgresSession {
                wire,
                info,
                statements: Vec::new(),
                names: 0,
                request: Vec::new(),
                described: Vec::new(),
                cells: Vec::new(),
            }),
            Err(error) => {
                // There is no session yet that a goodbye could end.
                wire.abandon();
                Err(error)
            }
        }
    }
}

impl Connector for PostgresConnector {
    fn connect(&self) -> Result<Box<dyn Session>, SessionError> {
        Ok(Box::new(self.session()?))
    }
}

/// One connection to a server. Text statements go by the simple protocol and bring text back,
/// prepared ones by the extended protocol with binary numbers both ways.
#[derive(Debug)]
pub struct PostgresSession {
    wire: Wire,
    info: SessionInfo,
    /// By [`StatementId`].
    statements: Vec<Prepared>,
    /// Names used up on the server: also a statement that was refused here may exist there.
    names: u32,
    /// The request that is being sent; reused.
    request: Vec<u8>,
    /// Columns of the last text query; reused.
    described: Vec<Format>,
    /// Values of the current row; reused.
    cells: Vec<Cell>,
}

impl Session for PostgresSession {
    fn query(&mut self, sql: &str, each: &mut dyn FnMut(&dyn Row)) -> Result<Done, SessionError> {
        self.request.clear();
        encode::message(&mut self.request, b'Q', |body| encode::string(body, sql));
        self.described.clear();
        let columns = Columns::Described(&mut self.described);
        let answer = exchange(
            &mut self.wire,
            &self.request,
            columns,
            &mut self.cells,
            each,
        );
        answer.map_err(|error| settle(&mut self.wire, error, sql))
    }

    fn prepare(&mut self, sql: &str, types: &[ParamType]) -> Result<StatementId, SessionError> {
        let id = StatementId(self.statements.len() as u32);
        let name = format!("s{}", self.names);
        self.names += 1;
        let prepared = Prepared::new(&mut self.wire, &name, sql, types)
            .map_err(|error| settle(&mut self.wire, error, sql))?;
        self.statements.push(prepared);
        Ok(id)
    }

    fn execute_prepared(
        &mut self,
        statement: StatementId,
        params: &[Param<'_>],
        each: &mut dyn FnMut(&dyn Row),
    ) -> Result<Done, SessionError> {
        let Some(prepared) = self.statements.get(statement.0 as usize) else {
            return Err(fault::unknown_statement(statement));
        };
        prepared
            .encode(params, &mut self.request)
            .map_err(|error| error.about(&prepared.sql))?;
        let columns = Columns::Prepared(&prepared.formats);
        let answer = exchange(
            &mut self.wire,
            &self.request,
            columns,
            &mut self.cells,
            each,
        );
        answer.map_err(|error| settle(&mut self.wire, error, &prepared.sql))
    }

    fn info(&self) -> &SessionInfo {
        &self.info
    }
}

/// Sends a request and reads the whole answer.
fn exchange(
    wire: &mut Wire,
    request: &[u8],
    columns: Columns<'_>,
    cells: &mut Vec<Cell>,
    each: &mut dyn FnMut(&dyn Row),
) -> Result<Done, SessionError> {
    wire.send(request)?;
    answer::read(wire, columns, cells, each)
}

/// Adds the statement to an error. After a broken protocol nothing that comes has a meaning, so the
/// session ends.
fn settle(wire: &mut Wire, error: SessionError, sql: &str) -> SessionError {
    if matches!(error, SessionError::Protocol { .. }) {
        wire.abandon();
    }
    error.about(sql)
}

#[cfg(test)]
mod tests;
