//! PostgreSQL: protocol 3.0 over a Unix socket or TCP, with TLS where asked for; servers 9.6 to 19.

mod answer;
mod copy;
mod encode;
mod fault;
mod login;
mod row;
mod statement;
mod wire;

use self::answer::Columns;
use self::fault::UNKNOWN_STATEMENT;
use self::row::Format;
use self::statement::Prepared;
use self::wire::Wire;
use crate::pipeline::{Counted, Each, MOST_AHEAD, Pipelined, Visit, find};
use crate::stream::Stream;
use crate::{
    Done, Execution, Param, ParamType, Result, Row, ServerEndpoint, Session, SessionInfo,
    StatementId,
};

/// One connection to a server. Text statements go by the simple protocol and bring text back,
/// prepared ones by the extended protocol with binary numbers both ways.
#[derive(Debug)]
pub struct PostgresSession {
    wire: Wire,
    info: SessionInfo,
    /// Are columns described at each run of a prepared statement?
    describe: bool,
    statements: Vec<Prepared>,
    /// Names used up on the server: also a statement that was refused here may exist there.
    names: u32,
    /// What is being sent, where it is not the request of one statement; reused.
    request: Vec<u8>,
    /// Columns of the last text query; reused.
    described: Vec<Format>,
}

impl PostgresSession {
    /// To a server whose Unix socket is `<directory>/.s.PGSQL.<port>`. Its timeout is the longest wait for
    /// the connection and for each answer. Fails with [`crate::SessionError::Connect`] when the server is not there
    /// or not ready yet, with [`crate::SessionError::Login`] when it refuses or cannot do what is asked for.
    pub fn open(server: &ServerEndpoint) -> Result<Self> {
        login::check(server)?;
        Self::log_in(Stream::connect(&server.address, server.timeout)?, server)
    }

    pub(crate) fn log_in(stream: Stream, server: &ServerEndpoint) -> Result<Self> {
        let mut wire = Wire::over(stream);
        // Without a session there is nothing that a goodbye could end.
        let info = login::log_in(&mut wire, server).inspect_err(|_| wire.stream.abandon())?;
        Ok(Self {
            wire,
            info,
            describe: server.describe,
            statements: Vec::new(),
            names: 0,
            request: Vec::new(),
            described: Vec::new(),
        })
    }

    #[inline]
    fn run(
        &mut self,
        statement: StatementId,
        params: &[Param<'_>],
        visit: impl Visit,
    ) -> Result<Done> {
        let prepared = find(&mut self.statements, statement, UNKNOWN_STATEMENT)?;
        prepared.encode(params).map_err(|error| error.about(&prepared.sql))?;
        let (request, columns) = (&prepared.request, prepared.columns());
        let answer = exchange(&mut self.wire, request, columns, visit);
        answer.map_err(|error| self.wire.stream.settle(error, &prepared.sql))
    }
}

/// Each statement ends with a Sync of its own, so that it succeeds or fails by itself, as it would one
/// after the other; BEGIN and COMMIT among them bracket the rest.
impl Pipelined for PostgresSession {
    fn send_ahead(&mut self, batch: &[Execution<'_>]) -> Result<usize> {
        self.request.clear();
        let mut sent = 0;
        for (id, params) in batch {
            let prepared = match find(&mut self.statements, *id, UNKNOWN_STATEMENT) {
                Err(error) if sent == 0 => return Err(error),
                Err(_) => break,
                Ok(prepared) => prepared,
            };
            match prepared.encode(params) {
                Err(error) if sent == 0 => return Err(error.about(&prepared.sql)),
                Err(_) => break,
                Ok(()) => {}
            }
            let request = &prepared.request;
            if sent > 0 && self.request.len() + request.len() > MOST_AHEAD {
                break;
            }
            self.request.extend_from_slice(request);
            sent += 1;
        }
        self.wire.send(&self.request).map_err(|error| {
            let first = batch.first().and_then(|(id, _)| self.statements.get(id.0 as usize));
            error.about(first.map_or("", |prepared| prepared.sql.as_str()))
        })?;
        Ok(sent)
    }

    fn begin_answer(&mut self) -> Result {
        self.wire.stream.begin_answer()
    }

    fn read_answer(&mut self, statement: StatementId, visit: impl Visit) -> Result<Done> {
        let prepared = find(&mut self.statements, statement, UNKNOWN_STATEMENT)?;
        let answer = answer::read(&mut self.wire, prepared.columns(), visit);
        answer.map_err(|error| self.wire.stream.settle(error, &prepared.sql))
    }
}

impl Session for PostgresSession {
    fn query(&mut self, sql: &str, each: &mut dyn FnMut(&dyn Row)) -> Result<Done> {
        self.query_bytes(sql.as_bytes(), each)
    }

    fn query_bytes(&mut self, sql: &[u8], each: &mut dyn FnMut(&dyn Row)) -> Result<Done> {
        self.request.clear();
        encode::message(&mut self.request, b'Q', |body| encode::string(body, sql));
        self.described.clear();
        let columns = Columns::Described(&mut self.described);
        let answer = exchange(&mut self.wire, &self.request, columns, Each(each));
        answer.map_err(|error| self.wire.stream.settle(error, &String::from_utf8_lossy(sql)))
    }

    fn prepare(&mut self, sql: &str, types: &[ParamType]) -> Result<StatementId> {
        let id = StatementId(self.statements.len() as u32);
        let name = format!("s{}", self.names);
        self.names += 1;
        let prepared = Prepared::new(&mut self.wire, &name, sql, types, self.describe)
            .map_err(|error| self.wire.stream.settle(error, sql))?;
        self.statements.push(prepared);
        Ok(id)
    }

    fn execute_prepared(
        &mut self,
        statement: StatementId,
        params: &[Param<'_>],
        each: &mut dyn FnMut(&dyn Row),
    ) -> Result<Done> {
        self.run(statement, params, Each(each))
    }

    fn count_prepared(&mut self, statement: StatementId, params: &[Param<'_>]) -> Result<Done> {
        self.run(statement, params, Counted)
    }

    fn execute_pipelined(
        &mut self,
        batch: &[Execution<'_>],
        each: &mut dyn FnMut(usize, &dyn Row),
        done: &mut dyn FnMut(usize, Done),
    ) -> Result {
        self.run_ahead(batch, each, done)
    }

    fn can_load_rows(&self) -> bool {
        true
    }

    /// By `COPY`. `table` and `columns` stand in the statement as they are given. An error leaves the
    /// table as it was and the session usable.
    fn load_rows(
        &mut self,
        table: &str,
        columns: &[&str],
        next: &mut dyn FnMut(&mut Vec<u8>) -> bool,
    ) -> Result<u64> {
        let sql = copy::statement(table, columns);
        let copied = copy::run(&mut self.wire, &mut self.request, &sql, next);
        copied.map_err(|error| self.wire.stream.settle(error, &sql))
    }

    fn info(&self) -> &SessionInfo {
        &self.info
    }
}

#[inline]
fn exchange(
    wire: &mut Wire,
    request: &[u8],
    columns: Columns<'_>,
    visit: impl Visit,
) -> Result<Done> {
    wire.send(request)?;
    answer::read(wire, columns, visit)
}

#[cfg(test)]
mod tests;
