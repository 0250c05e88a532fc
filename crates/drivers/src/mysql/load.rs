//! `LOAD DATA LOCAL INFILE`, whose file is whatever the caller makes.
//!
//! The server names the file that it wants; no name is ever opened. It is answered with the rows of
//! the load that is under way, and refused at any other time.

use super::exchange::Exchange;
use super::handshake::Agreed;
use super::reply::{LOCAL_FILE, OK, OkReply, malformed};
use crate::pipeline::Each;
use crate::{Result, Row, SessionError};

/// Loads what `next` makes; see [`crate::Session::load_rows`]. Besides the errors of a statement: rows that
/// the server did not take as they were given, which with `LOCAL` it only warns of. Those that it did
/// take stay, as after any load, unless the transaction is rolled back.
pub(super) fn load_rows(
    exchange: &mut Exchange,
    agreed: &Agreed,
    table: &str,
    columns: &[&str],
    next: &mut dyn FnMut(&mut Vec<u8>) -> bool,
) -> Result<u64> {
    if !agreed.local_files {
        return Err(SessionError::protocol(format!(
            "rows cannot be loaded into {table}: the server did not offer LOAD DATA LOCAL at the \
             login; set its variable local_infile to ON, or insert them"
        )));
    }
    let sql = statement(table, columns, agreed.character_set);
    let (sent, loaded) =
        send(exchange, &sql, next).map_err(|error| exchange.packets.stream.settle(error, &sql))?;
    if loaded.warnings > 0 {
        return Err(changed(exchange, &sql, loaded));
    }
    // Servers before MySQL 5.7 leave out duplicates without a warning.
    if loaded.affected != sent {
        let message = format!(
            "{} of {sent} rows were added; the others were left out without a warning, as duplicates \
             are",
            loaded.affected
        );
        return Err(SessionError::server(DUPLICATE, message).about(&sql));
    }
    Ok(loaded.affected)
}

const DUPLICATE: &str = "1062";

/// The separators are written as numbers, because `sql_mode` decides what a backslash in a string is.
fn statement(table: &str, columns: &[&str], character_set: &str) -> String {
    let mut sql = format!(
        "LOAD DATA LOCAL INFILE 'rows' INTO TABLE {table} CHARACTER SET {character_set} \
         FIELDS TERMINATED BY 0x09 ESCAPED BY 0x5c LINES TERMINATED BY 0x0a"
    );
    if !columns.is_empty() {
        sql.push_str(" (");
        sql.push_str(&columns.join(", "));
        sql.push(')');
    }
    sql
}

/// Sends the rows; how many there were, and what the server says of them.
fn send(
    exchange: &mut Exchange,
    sql: &str,
    next: &mut dyn FnMut(&mut Vec<u8>) -> bool,
) -> Result<(u64, OkReply)> {
    exchange.send_query(sql.as_bytes())?;
    if exchange.packets.receive_part()?.first() != Some(&LOCAL_FILE) {
        return Err(malformed("reply to LOAD DATA LOCAL INFILE"));
    }
    let sent = exchange.packets.send_file(next)?;
    let packet = exchange.packets.receive_part()?;
    if packet.first() != Some(&OK) {
        return Err(malformed("end of LOAD DATA LOCAL INFILE"));
    }
    let loaded = OkReply::parse(packet).ok_or_else(|| malformed("OK packet"))?;
    Ok((sent, loaded))
}

/// The error of a load that cut values or left out rows. Its code is that of the first warning.
fn changed(exchange: &mut Exchange, sql: &str, loaded: OkReply) -> SessionError {
    let (mut code, mut message) = (String::new(), String::new());
    let mut note = |row: &dyn Row| {
        let text = |column| row.value(column).to_text().unwrap_or_default();
        (code, message) = (text(1), text(2));
    };
    if let Err(error) = exchange.query(b"SHOW WARNINGS LIMIT 1", Each(&mut note)) {
        return error;
    }
    let message = format!(
        "{} rows were added, but not all as they were given ({} warnings, the first: {message})",
        loaded.affected, loaded.warnings
    );
    SessionError::server(&code, message).about(sql)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_statement_says_how_the_rows_are_written() {
        assert_eq!(
            statement("t", &["a", "b"], "utf8mb4"),
            "LOAD DATA LOCAL INFILE 'rows' INTO TABLE t CHARACTER SET utf8mb4 FIELDS TERMINATED BY \
             0x09 ESCAPED BY 0x5c LINES TERMINATED BY 0x0a (a, b)"
        );
        assert!(statement("t", &[], "utf8").ends_with("TERMINATED BY 0x0a"));
    }
}
