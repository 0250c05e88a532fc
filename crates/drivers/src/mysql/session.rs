//! One connection.

use super::column::Columns;
use super::handshake::{self, Agreed};
use super::packets::Packets;
use super::pipeline::Pipeline;
use super::results::{Results, read_end, receive_part};
use super::rows::RowFormat;
use super::statement::{Prepared, Statement};
use super::{load, malformed};
use crate::error::excerpt;
use crate::stream::Stream;
use crate::visit::{Counted, Each, Visit};
use crate::{
    Done, Param, ParamType, Row, ServerEndpoint, Session, SessionError, SessionInfo, StatementId,
};

const COM_QUIT: u8 = 0x01;
pub(super) const COM_QUERY: u8 = 0x03;
const COM_STMT_PREPARE: u8 = 0x16;
const COM_STMT_CLOSE: u8 = 0x19;

/// A session of the MySQL protocol. Ends politely when dropped.
#[derive(Debug)]
pub struct MysqlSession {
    pub(super) packets: Packets,
    pub(super) agreed: Agreed,
    /// Indexed by [`StatementId`].
    statements: Vec<Statement>,
    results: Results,
    /// Of the last text statement.
    columns: Columns,
}

impl MysqlSession {
    /// Logs in on a fresh connection.
    pub(super) fn log_in(stream: Stream, server: &ServerEndpoint) -> Result<Self, SessionError> {
        let mut packets = Packets::new(stream);
        let agreed = handshake::log_in(&mut packets, server)?;
        Ok(Self::over(packets, agreed))
    }

    /// Stands on a connection that is logged in.
    pub(super) fn over(packets: Packets, agreed: Agreed) -> Self {
        Self {
            packets,
            statements: Vec::new(),
            results: Results::new(agreed.known_columns),
            agreed,
            columns: Columns::default(),
        }
    }

    /// Sends a command whose payload is `code` and `body`.
    pub(super) fn command(&mut self, code: u8, body: &[u8]) -> Result<(), SessionError> {
        let payload = self.packets.command();
        payload.push(code);
        payload.extend_from_slice(body);
        self.packets.send()
    }

    /// Reads the reply to a prepare, and the columns that results will have.
    fn read_prepared(&mut self) -> Result<(Prepared, Columns), SessionError> {
        let packets = &mut self.packets;
        let packet = receive_part(packets)?;
        let prepared = Prepared::parse(packet).ok_or_else(|| malformed("reply to a prepare"))?;
        if prepared.params > 0 {
            for _ in 0..prepared.params {
                receive_part(packets)?;
            }
            read_end(packets)?;
        }
        let mut columns = Columns::default();
        if prepared.columns > 0 {
            columns.foresee(packets, prepared.columns.into())?;
            read_end(packets)?;
        }
        Ok((prepared, columns))
    }
}

impl MysqlSession {
    #[inline]
    fn run(
        &mut self,
        statement: StatementId,
        params: &[Param<'_>],
        visit: impl Visit,
    ) -> Result<Done, SessionError> {
        let Some(prepared) = self.statements.get_mut(statement.0 as usize) else {
            return Err(unknown_statement(statement));
        };
        let sent = if let Some(packet) = prepared.whole_packet(params) {
            self.packets.send_whole(packet)
        } else {
            prepared.put(self.packets.command(), params)?;
            self.packets.send()
        };
        if let Err(error) = sent {
            return Err(error.about(&prepared.sql));
        }
        read_answer(&mut self.packets, &mut self.results, prepared, visit)
    }
}

impl Session for MysqlSession {
    fn query(&mut self, sql: &str, each: &mut dyn FnMut(&dyn Row)) -> Result<Done, SessionError> {
        self.command(COM_QUERY, sql.as_bytes())
            .map_err(|error| error.about(sql))?;
        let columns = &mut self.columns;
        self.results
            .read(&mut self.packets, RowFormat::Text, columns, Each(each))
            .map_err(|error| settle(&mut self.packets, error, sql))
    }

    fn prepare(&mut self, sql: &str, types: &[ParamType]) -> Result<StatementId, SessionError> {
        self.command(COM_STMT_PREPARE, sql.as_bytes())
            .map_err(|error| error.about(sql))?;
        let (prepared, columns) = self
            .read_prepared()
            .map_err(|error| settle(&mut self.packets, error, sql))?;
        if usize::from(prepared.params) != types.len() {
            // The server answers nothing to this.
            self.command(COM_STMT_CLOSE, &prepared.id.to_le_bytes())?;
            return Err(SessionError::Protocol {
                what: format!(
                    "{} parameter types were given for {} placeholders (in `{}`)",
                    types.len(),
                    prepared.params,
                    excerpt(sql)
                ),
            });
        }
        let id = StatementId(self.statements.len() as u32);
        self.statements
            .push(Statement::new(prepared.id, sql, types, columns));
        Ok(id)
    }

    fn execute_prepared(
        &mut self,
        statement: StatementId,
        params: &[Param<'_>],
        each: &mut dyn FnMut(&dyn Row),
    ) -> Result<Done, SessionError> {
        self.run(statement, params, Each(each))
    }

    fn count_prepared(
        &mut self,
        statement: StatementId,
        params: &[Param<'_>],
    ) -> Result<Done, SessionError> {
        self.run(statement, params, Counted)
    }

    fn execute_pipelined(
        &mut self,
        batch: &[(StatementId, &[Param<'_>])],
        each: &mut dyn FnMut(usize, &dyn Row),
        done: &mut dyn FnMut(usize, Done),
    ) -> Result<(), SessionError> {
        let mut line = Pipeline {
            packets: &mut self.packets,
            results: &mut self.results,
            statements: &mut self.statements,
        };
        line.execute(batch, each, done)
    }

    fn can_load_rows(&self) -> bool {
        self.agreed.local_files
    }

    fn load_rows(
        &mut self,
        table: &str,
        columns: &[&str],
        next: &mut dyn FnMut(&mut Vec<u8>) -> bool,
    ) -> Result<u64, SessionError> {
        load::load_rows(self, table, columns, next)
    }

    fn info(&self) -> &SessionInfo {
        &self.agreed.info
    }
}

impl Drop for MysqlSession {
    /// Says goodbye, so that the server does not count an aborted connection.
    fn drop(&mut self) {
        if !self.packets.is_broken() {
            // A server that is gone needs no goodbye.
            let _ = self.command(COM_QUIT, &[]);
        }
    }
}

/// Reads the answer to an execution.
#[inline]
pub(super) fn read_answer(
    packets: &mut Packets,
    results: &mut Results,
    prepared: &mut Statement,
    visit: impl Visit,
) -> Result<Done, SessionError> {
    match results.read(packets, RowFormat::Binary, &mut prepared.columns, visit) {
        Ok(done) => {
            prepared.types_known = true;
            Ok(done)
        }
        Err(error) => Err(settle(packets, error, &prepared.sql)),
    }
}

#[cold]
pub(super) fn unknown_statement(id: StatementId) -> SessionError {
    SessionError::Protocol {
        what: format!("statement {} was not prepared in this session", id.0),
    }
}

/// Completes the error of an answer with its statement. After an answer that the protocol does not
/// allow, what follows has no meaning either.
#[cold]
pub(super) fn settle(packets: &mut Packets, error: SessionError, sql: &str) -> SessionError {
    if matches!(error, SessionError::Protocol { .. }) {
        packets.abandon();
    }
    error.about(sql)
}
