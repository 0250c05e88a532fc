//! What a server says of a statement: done, refused, or the end of its rows.

use model::said;

use crate::SessionError;
use crate::cursor::Cursor;

pub(super) const OK: u8 = 0x00;
pub(super) const ERROR: u8 = 0xff;
/// First byte of an end-of-rows packet, and of a request to change the authentication method.
pub(super) const END: u8 = 0xfe;
/// First byte of a request for a local file.
pub(super) const LOCAL_FILE: u8 = 0xfb;

/// `SERVER_MORE_RESULTS_EXISTS`: a procedure's next result follows.
const MORE_RESULTS: u16 = 0x0008;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OkReply {
    pub(super) affected: u64,
    pub(super) more_results: bool,
    /// At most 65,535 are counted.
    pub(super) warnings: u16,
}

impl OkReply {
    /// Affected rows, last insert id, status flags, warnings; the message after them is not needed.
    pub(super) fn parse(payload: &[u8]) -> Option<Self> {
        let mut cursor = Cursor::new(payload);
        cursor.u8()?;
        let affected = cursor.lenenc()?;
        cursor.lenenc()?;
        let status = cursor.u16()?;
        Some(Self { affected, more_results: status & MORE_RESULTS != 0, warnings: cursor.u16()? })
    }
}

/// Is this the packet that ends the columns or the rows? A text row may begin with the same byte
/// when its first value is 16 MiB long, so the length decides.
#[inline]
pub(super) fn is_end(payload: &[u8]) -> bool {
    payload.len() == 5 && payload.first() == Some(&END)
}

pub(super) fn end_has_more_results(payload: &[u8]) -> bool {
    let mut cursor = Cursor::new(payload);
    let status = cursor.bytes(3).and_then(|_| cursor.u16());
    status.is_some_and(|status| status & MORE_RESULTS != 0)
}

/// The server sent bytes that the protocol does not allow here.
#[cold]
pub(super) fn malformed(what: &str) -> SessionError {
    SessionError::protocol(format!("malformed {what} from the server"))
}

#[cold]
pub(super) fn server_error(payload: &[u8]) -> SessionError {
    let (code, message) = code_and_message(payload);
    let state = match payload.get(3..9) {
        Some([b'#', state @ ..]) => said(state),
        _ => String::new(),
    };
    SessionError::Server {
        code: code.to_string(),
        state: state.into(),
        message,
        statement: String::new(),
    }
}

/// Code and message of an error packet. Errors before the login carry no `#` and SQL state.
pub(super) fn code_and_message(payload: &[u8]) -> (u16, String) {
    let mut cursor = Cursor::new(payload.get(1..).unwrap_or_default());
    let code = cursor.u16().unwrap_or(0);
    let text = cursor.rest();
    let message = match text.split_first_chunk::<6>() {
        Some(([b'#', ..], message)) => message,
        _ => text,
    };
    (code, said(message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ok_packet_tells_affected_rows() {
        let ok = OkReply::parse(b"\x00\xfc\x2c\x01\x05\x02\x00\x07\x01").unwrap();
        assert_eq!(ok, OkReply { affected: 300, more_results: false, warnings: 263 });
        assert!(OkReply::parse(b"\x00\x00\x00\x0a\x00\x00\x00").unwrap().more_results);
        assert_eq!(OkReply::parse(b"\x00\x01\x00\x02\x00\x00"), None);
    }

    #[test]
    fn only_a_short_packet_ends_the_rows() {
        assert!(is_end(b"\xfe\x00\x00\x02\x00"));
        assert!(!is_end(b"\xfe\x00\x00\x00\x01\x00\x00\x00\x00"));
        assert!(!is_end(b""));
        assert!(end_has_more_results(b"\xfe\x00\x00\x08\x00"));
        assert!(!end_has_more_results(b"\xfe\x00\x00"));
    }

    #[test]
    fn an_error_packet_is_read_with_and_without_its_state() {
        let error = server_error(b"\xff\xbd\x04#40001Deadlock found");
        assert_eq!(error.code(), "1213");
        assert_eq!(error.to_string(), "error 1213: Deadlock found (in ``)".to_owned());
        assert!(matches!(error, SessionError::Server { state, .. } if &*state == "40001"));
        assert_eq!(
            code_and_message(b"\xff\x10\x04Too many connections"),
            (1040, "Too many connections".to_owned())
        );
        assert_eq!(code_and_message(b"\xff"), (0, String::new()));
    }
}
