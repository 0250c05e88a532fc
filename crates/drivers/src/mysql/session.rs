//! One connection.

use super::column::Encoding;
use super::cursor::Cursor;
use super::packets::Packets;
use super::reply::{ERROR, LOCAL_FILE, OK, OkReply, end_has_more_results, is_end, server_error};
use super::rows::Cells;
use super::statement::{Prepared, Statement};
use super::{handshake, malformed};
use crate::stream::Stream;
use crate::{
    Address, Done, Login, Param, ParamType, Row, Session, SessionError, SessionInfo, StatementId,
};

const COM_QUIT: u8 = 0x01;
const COM_QUERY: u8 = 0x03;
const COM_STMT_PREPARE: u8 = 0x16;
const COM_STMT_CLOSE: u8 = 0x19;

/// More columns than any server returns; a larger count is a broken reply.
const MOST_COLUMNS: u64 = 1 << 16;

/// A session of the MySQL protocol. Ends politely when dropped.
#[derive(Debug)]
pub struct MysqlSession {
    packets: Packets,
    info: SessionInfo,
    /// Indexed by [`StatementId`].
    statements: Vec<Statement>,
    results: Results,
}

/// How rows are encoded.
#[derive(Clone, Copy, Debug)]
enum RowFormat {
    Text,
    Binary,
}

/// Memory that is kept from result to result.
#[derive(Debug, Default)]
struct Results {
    columns: Vec<Encoding>,
    cells: Cells,
}

impl MysqlSession {
    /// Logs in on a fresh connection.
    pub(super) fn log_in(
        stream: Stream,
        address: &Address,
        login: &Login,
    ) -> Result<Self, SessionError> {
        let mut packets = Packets::new(stream);
        let info = handshake::log_in(&mut packets, address, login)?;
        Ok(Self::over(packets, info))
    }

    /// Stands on a connection that is logged in.
    pub(super) fn over(packets: Packets, info: SessionInfo) -> Self {
        Self {
            packets,
            info,
            statements: Vec::new(),
            results: Results::default(),
        }
    }

    /// Sends a command whose payload is `code` and `body`.
    fn command(&mut self, code: u8, body: &[u8]) -> Result<(), SessionError> {
        let payload = self.packets.command();
        payload.push(code);
        payload.extend_from_slice(body);
        self.packets.send()
    }

    /// Reads every result of the statement that was sent.
    fn read_results(
        &mut self,
        format: RowFormat,
        each: &mut dyn FnMut(&dyn Row),
    ) -> Result<Done, SessionError> {
        self.results
            .read(&mut self.packets, format, each)
            .map_err(|error| self.unless_usable(error))
    }

    /// After a reply that the protocol does not allow, what follows has no meaning either.
    #[cold]
    fn unless_usable(&mut self, error: SessionError) -> SessionError {
        if matches!(error, SessionError::Protocol { .. }) {
            self.packets.abandon();
        }
        error
    }

    fn read_prepared(&mut self) -> Result<Prepared, SessionError> {
        let packet = self.packets.receive()?;
        if packet.first() == Some(&ERROR) {
            return Err(server_error(packet));
        }
        let prepared = Prepared::parse(packet).ok_or_else(|| malformed("reply to a prepare"))?;
        for definitions in [prepared.params, prepared.columns] {
            if definitions > 0 {
                for _ in 0..definitions {
                    self.packets.receive()?;
                }
                read_end(&mut self.packets)?;
            }
        }
        Ok(prepared)
    }
}

impl Session for MysqlSession {
    fn query(&mut self, sql: &str, each: &mut dyn FnMut(&dyn Row)) -> Result<Done, SessionError> {
        self.command(COM_QUERY, sql.as_bytes())
            .and_then(|()| self.read_results(RowFormat::Text, each))
            .map_err(|error| error.about(sql))
    }

    fn prepare(&mut self, sql: &str, types: &[ParamType]) -> Result<StatementId, SessionError> {
        let prepared = self
            .command(COM_STMT_PREPARE, sql.as_bytes())
            .and_then(|()| {
                self.read_prepared()
                    .map_err(|error| self.unless_usable(error))
            })
            .map_err(|error| error.about(sql))?;
        if usize::from(prepared.params) != types.len() {
            // The server answers nothing to this.
            self.command(COM_STMT_CLOSE, &prepared.id.to_le_bytes())?;
            return Err(SessionError::Protocol {
                what: format!(
                    "{} parameter types were given for {} placeholders (in `{sql}`)",
                    types.len(),
                    prepared.params
                ),
            });
        }
        let id = StatementId(self.statements.len() as u32);
        self.statements
            .push(Statement::new(prepared.id, sql, types));
        Ok(id)
    }

    fn execute_prepared(
        &mut self,
        statement: StatementId,
        params: &[Param<'_>],
        each: &mut dyn FnMut(&dyn Row),
    ) -> Result<Done, SessionError> {
        let index = statement.0 as usize;
        let Some(prepared) = self.statements.get(index) else {
            return Err(SessionError::Protocol {
                what: format!("statement {index} was not prepared in this session"),
            });
        };
        prepared.put(self.packets.command(), params)?;
        let done = self
            .packets
            .send()
            .and_then(|()| self.read_results(RowFormat::Binary, each));
        let Some(prepared) = self.statements.get_mut(index) else {
            return done;
        };
        prepared.types_known |= done.is_ok();
        done.map_err(|error| error.about(&prepared.sql))
    }

    fn info(&self) -> &SessionInfo {
        &self.info
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

impl Results {
    /// Reads results until the server says that no more follow: a procedure may return several.
    fn read(
        &mut self,
        packets: &mut Packets,
        format: RowFormat,
        each: &mut dyn FnMut(&dyn Row),
    ) -> Result<Done, SessionError> {
        let mut done = Done::default();
        loop {
            let packet = packets.receive()?;
            let more_results = match packet.first() {
                Some(&OK) => {
                    let ok = OkReply::parse(packet).ok_or_else(|| malformed("OK packet"))?;
                    done.affected = done.affected.saturating_add(ok.affected);
                    ok.more_results
                }
                Some(&ERROR) => return Err(server_error(packet)),
                Some(&LOCAL_FILE) => {
                    return Err(SessionError::Protocol {
                        what: "the server asks for a local file, which was not agreed to"
                            .to_owned(),
                    });
                }
                _ => {
                    let count = column_count(packet)?;
                    self.read_columns(packets, count)?;
                    self.read_rows(packets, format, &mut done.rows, each)?
                }
            };
            if !more_results {
                return Ok(done);
            }
        }
    }

    fn read_columns(&mut self, packets: &mut Packets, count: usize) -> Result<(), SessionError> {
        self.columns.clear();
        for _ in 0..count {
            let encoding = Encoding::parse(packets.receive()?)
                .ok_or_else(|| malformed("column definition"))?;
            self.columns.push(encoding);
        }
        read_end(packets)
    }

    /// Shows the rows of one result; returns whether another result follows.
    fn read_rows(
        &mut self,
        packets: &mut Packets,
        format: RowFormat,
        rows: &mut u64,
        each: &mut dyn FnMut(&dyn Row),
    ) -> Result<bool, SessionError> {
        loop {
            let packet = packets.receive()?;
            if is_end(packet) {
                return Ok(end_has_more_results(packet));
            }
            if packet.first() == Some(&ERROR) {
                return Err(server_error(packet));
            }
            let row = match format {
                RowFormat::Text => self.cells.decode_text(packet, self.columns.len()),
                RowFormat::Binary => self.cells.decode_binary(packet, &self.columns),
            };
            each(&row.ok_or_else(|| malformed("row"))?);
            *rows += 1;
        }
    }
}

/// Columns of the result that a packet announces.
#[inline]
fn column_count(packet: &[u8]) -> Result<usize, SessionError> {
    let mut cursor = Cursor::new(packet);
    match cursor.lenenc() {
        Some(count @ 1..=MOST_COLUMNS) if cursor.is_empty() => Ok(count as usize),
        _ => Err(malformed("column count")),
    }
}

/// Reads the packet that ends a list of definitions.
#[inline]
fn read_end(packets: &mut Packets) -> Result<(), SessionError> {
    if is_end(packets.receive()?) {
        Ok(())
    } else {
        Err(malformed("end of definitions"))
    }
}
