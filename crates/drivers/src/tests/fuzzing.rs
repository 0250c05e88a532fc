//! Sessions against a server that may say anything: what the fuzzers in `/fuzz` and the property
//! test stand on. Not for other use.

mod canned;

use std::hint::black_box;
use std::io::Write;
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use crate::stream::Stream;
use crate::{
    Address, Login, MysqlSession, Param, ParamType, PostgresSession, Row, ServerEndpoint, Session,
    SessionError, StatementId,
};

/// An option: the server lets the client in and prepares statement 0, as a good one does; only then
/// begin the bytes.
pub const LET_IN: u8 = 0x80;
/// An option: the client asks for TLS. Not together with [`LET_IN`].
pub const TLS: u8 = 0x40;
/// An option together with [`LET_IN`]: a server of MySQL's protocol need not describe columns again.
pub const KNOWN_COLUMNS: u8 = TLS;
/// An option: the client asks for compression.
pub const COMPRESSION: u8 = 0x20;

/// Calls of [`exercise`]; the remaining bits of the options choose the first.
const CALLS: u8 = 6;

/// All that a server says is in the socket's buffer before the client begins, so it must fit.
const LONGEST: usize = 48 << 10;

/// No wait is this long: after its bytes the server hangs up.
const TIMEOUT: Duration = Duration::from_secs(2);

const TYPES: [ParamType; 2] = [ParamType::Int, ParamType::Text];
const PARAMS: [Param<'_>; 2] = [Param::Int(7), Param::Text("seven")];

/// Plays a PostgreSQL server that says these bytes and hangs up, whatever it is asked.
pub fn postgres(options: u8, said: &[u8]) {
    let script = if is_let_in(options) { canned::postgres() } else { Vec::new() };
    play(options, &[&script, said], |stream, server| {
        let mut session = PostgresSession::log_in(stream, &server)?;
        exercise(&mut session, options)
    });
}

/// Plays a MySQL server that says these bytes and hangs up, whatever it is asked.
pub fn mysql(options: u8, said: &[u8]) {
    let script = if is_let_in(options) {
        canned::mysql(options & COMPRESSION != 0, options & KNOWN_COLUMNS != 0)
    } else {
        Vec::new()
    };
    play(options, &[&script, said], |stream, server| {
        let mut session = MysqlSession::log_in(stream, &server)?;
        exercise(&mut session, options)
    });
}

fn is_let_in(options: u8) -> bool {
    options & LET_IN != 0
}

/// Gives `client` a connection whose server has said all of `script` already.
fn play(
    options: u8,
    script: &[&[u8]],
    client: impl FnOnce(Stream, ServerEndpoint) -> Result<(), SessionError>,
) {
    let Ok((stream, _server)) = connection(&script.concat()) else {
        return;
    };
    let login = Login {
        user: "somebody".to_owned(),
        password: "secret".to_owned(),
        database: "bench".to_owned(),
    };
    let address = Address::Tcp { host: "localhost".to_owned(), port: 1 };
    let server = ServerEndpoint {
        tls: options & TLS != 0 && !is_let_in(options),
        compression: options & COMPRESSION != 0,
        ..ServerEndpoint::plain(address, login, TIMEOUT)
    };
    // Any error is a good end; a panic, or no end, is not.
    let _ = client(stream, server);
}

/// The client's side and the server's, which must live as long: what it is sent stays unread.
fn connection(said: &[u8]) -> std::io::Result<(Stream, UnixStream)> {
    let (ours, mut theirs) = UnixStream::pair()?;
    theirs.write_all(said.get(..LONGEST).unwrap_or(said))?;
    theirs.shutdown(Shutdown::Write)?;
    ours.set_write_timeout(Some(TIMEOUT))?;
    Ok((Stream::over(ours.into(), true, TIMEOUT), theirs))
}

/// Makes every kind of call in turn, from the one that the options choose, as long as the session
/// lasts.
fn exercise(session: &mut dyn Session, options: u8) -> Result<(), SessionError> {
    if is_let_in(options) {
        session.prepare("SELECT $1, $2", &TYPES)?;
    }
    let first = options & !(LET_IN | TLS | COMPRESSION);
    for call in 0..CALLS {
        match make((first + call) % CALLS, session) {
            Ok(()) | Err(SessionError::Server { .. }) => {}
            Err(end) => return Err(end),
        }
    }
    Ok(())
}

fn make(call: u8, session: &mut dyn Session) -> Result<(), SessionError> {
    let id = StatementId(0);
    match call {
        0 => session.execute_prepared(id, &PARAMS, &mut look).map(drop),
        1 => session.query("SELECT 1", &mut look).map(drop),
        2 => session.execute_pipelined(
            &[(id, PARAMS.as_slice()); 3],
            &mut |_, row| look(row),
            &mut |_, _| (),
        ),
        3 => load(session),
        4 => session.prepare("SELECT $1, $2", &TYPES).map(drop),
        _ => session.execute("SELECT 1").map(drop),
    }
}

/// Looks at each value of a row, and at one that it has not.
fn look(row: &dyn Row) {
    for column in 0..=row.len() {
        let value = row.value(column);
        black_box(value.as_int());
        black_box(value.to_text());
    }
    black_box(row.value(0));
}

fn load(session: &mut dyn Session) -> Result<(), SessionError> {
    let mut parts = 3;
    session
        .load_rows("t", &["id", "name"], &mut |rows| {
            rows.extend_from_slice(b"1\tone\n2\ttwo\n");
            parts -= 1;
            parts > 0
        })
        .map(drop)
}

#[cfg(test)]
mod tests;
