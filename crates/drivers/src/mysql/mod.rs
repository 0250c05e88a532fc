//! The MySQL protocol: MySQL 5.5 to 9.7, MariaDB 10.1 to 11.8, and what speaks like them.
//!
//! Text statements (`COM_QUERY`), prepared ones (`COM_STMT_PREPARE`, `COM_STMT_EXECUTE` with binary
//! rows), one at a time or several ahead, and `LOAD DATA LOCAL`. TLS and compression where they are
//! asked for. Never negotiated: several statements in one text, and `CLIENT_DEPRECATE_EOF`: without
//! it every version frames its results in the same packets, so that versions differ by what they do
//! and not by what was agreed.

mod auth;
mod column;
mod exchange;
mod handshake;
mod load;
mod packets;
mod reply;
mod rows;
mod statement;
mod temporal;

use self::column::Columns;
use self::exchange::Exchange;
use self::handshake::Agreed;
use self::packets::Packets;
use self::reply::malformed;
use self::statement::{Prepared, Statement, WRONG_ARGUMENTS};
use crate::pipeline::{Counted, Each, Pipelined, Visit, find};
use crate::stream::Stream;
use crate::{
    Done, Execution, Param, ParamType, Result, Row, ServerEndpoint, Session, SessionError,
    SessionInfo, StatementId,
};

const COM_QUIT: u8 = 0x01;
const COM_STMT_PREPARE: u8 = 0x16;
const COM_STMT_CLOSE: u8 = 0x19;

/// `ER_UNKNOWN_STMT_HANDLER`.
const UNKNOWN_STATEMENT: &str = "1243";

/// A session of the MySQL protocol. Ends politely when dropped.
#[derive(Debug)]
pub struct MysqlSession {
    exchange: Exchange,
    agreed: Agreed,
    statements: Vec<Statement>,
}

impl MysqlSession {
    /// The endpoint's timeout bounds the connect and each wait for an answer.
    pub fn open(server: &ServerEndpoint) -> Result<Self> {
        Self::log_in(Stream::connect(&server.address, server.timeout)?, server)
    }

    pub(crate) fn log_in(stream: Stream, server: &ServerEndpoint) -> Result<Self> {
        let mut packets = Packets::new(stream);
        let agreed = handshake::log_in(&mut packets, server)?;
        Ok(Self::over(packets, agreed))
    }

    fn over(packets: Packets, agreed: Agreed) -> Self {
        let exchange = Exchange::new(packets, agreed.known_columns);
        Self { exchange, agreed, statements: Vec::new() }
    }

    fn read_prepared(&mut self) -> Result<(Prepared, Columns)> {
        let packets = &mut self.exchange.packets;
        let packet = packets.receive_part()?;
        let prepared = Prepared::parse(packet).ok_or_else(|| malformed("reply to a prepare"))?;
        if prepared.params > 0 {
            for _ in 0..prepared.params {
                packets.receive_part()?;
            }
            packets.receive_end()?;
        }
        let mut columns = Columns::default();
        if prepared.columns > 0 {
            columns.foresee(packets, prepared.columns.into())?;
            packets.receive_end()?;
        }
        Ok((prepared, columns))
    }

    #[inline]
    fn run(
        &mut self,
        statement: StatementId,
        params: &[Param<'_>],
        visit: impl Visit,
    ) -> Result<Done> {
        let prepared = find(&mut self.statements, statement, UNKNOWN_STATEMENT)?;
        self.exchange.execute(prepared, params, visit)
    }
}

impl Pipelined for MysqlSession {
    fn send_ahead(&mut self, batch: &[Execution<'_>]) -> Result<usize> {
        let sent = self.exchange.packets.send_ahead(batch.len(), |index, out| {
            let Some((id, params)) = batch.get(index) else { return Ok(()) };
            find(&mut self.statements, *id, UNKNOWN_STATEMENT)?.put(out, params)
        });
        sent.map_err(|error| {
            let first = batch.first().and_then(|(id, _)| self.statements.get(id.0 as usize));
            match first {
                Some(statement) => error.about(&statement.sql),
                None => error,
            }
        })
    }

    fn begin_answer(&mut self) -> Result {
        self.exchange.packets.begin_answer()
    }

    fn read_answer(&mut self, statement: StatementId, visit: impl Visit) -> Result<Done> {
        let prepared = find(&mut self.statements, statement, UNKNOWN_STATEMENT)?;
        self.exchange.answer(prepared, visit)
    }
}

impl Session for MysqlSession {
    fn query(&mut self, sql: &str, each: &mut dyn FnMut(&dyn Row)) -> Result<Done> {
        self.query_bytes(sql.as_bytes(), each)
    }

    fn query_bytes(&mut self, sql: &[u8], each: &mut dyn FnMut(&dyn Row)) -> Result<Done> {
        self.exchange.query(sql, Each(each))
    }

    fn prepare(&mut self, sql: &str, types: &[ParamType]) -> Result<StatementId> {
        let sent = self.exchange.command(COM_STMT_PREPARE, sql.as_bytes());
        sent.map_err(|error| error.about(sql))?;
        let (prepared, columns) = self
            .read_prepared()
            .map_err(|error| self.exchange.packets.stream.settle(error, sql))?;
        if usize::from(prepared.params) != types.len() {
            // The server answers nothing to this.
            self.exchange.command(COM_STMT_CLOSE, &prepared.id.to_le_bytes())?;
            let (wanted, given) = (prepared.params.into(), types.len());
            let error = SessionError::parameter_count(WRONG_ARGUMENTS, wanted, given);
            return Err(error.about(sql));
        }
        let id = StatementId(self.statements.len() as u32);
        self.statements.push(Statement::new(prepared.id, sql, types, columns));
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
        self.agreed.local_files
    }

    fn load_rows(
        &mut self,
        table: &str,
        columns: &[&str],
        next: &mut dyn FnMut(&mut Vec<u8>) -> bool,
    ) -> Result<u64> {
        load::load_rows(&mut self.exchange, &self.agreed, table, columns, next)
    }

    fn info(&self) -> &SessionInfo {
        &self.agreed.info
    }
}

impl Drop for MysqlSession {
    /// Says goodbye, so that the server does not count an aborted connection.
    fn drop(&mut self) {
        if !self.exchange.packets.stream.is_broken() {
            // A server that is gone needs no goodbye.
            let _ = self.exchange.command(COM_QUIT, &[]);
        }
    }
}

#[cfg(test)]
mod tests;
