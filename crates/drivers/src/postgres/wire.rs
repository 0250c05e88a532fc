//! Replies, one message at a time, read where they lie in the stream's buffer.

use super::fault::{self, Fault};
use crate::SessionError;
use crate::stream::{MAX_MESSAGE, Stream};

/// First bytes of the messages that a server sends.
pub(super) mod kind {
    pub(crate) const AUTHENTICATION: u8 = b'R';
    pub(crate) const BACKEND_KEY_DATA: u8 = b'K';
    pub(crate) const BIND_COMPLETE: u8 = b'2';
    pub(crate) const COMMAND_COMPLETE: u8 = b'C';
    pub(crate) const COPY_DATA: u8 = b'd';
    pub(crate) const COPY_DONE: u8 = b'c';
    pub(crate) const COPY_IN: u8 = b'G';
    pub(crate) const COPY_OUT: u8 = b'H';
    pub(crate) const DATA_ROW: u8 = b'D';
    pub(crate) const EMPTY_QUERY: u8 = b'I';
    pub(crate) const ERROR: u8 = b'E';
    pub(crate) const NO_DATA: u8 = b'n';
    pub(crate) const NOTICE: u8 = b'N';
    pub(crate) const NOTIFICATION: u8 = b'A';
    pub(crate) const PARAMETER_DESCRIPTION: u8 = b't';
    pub(crate) const PARAMETER_STATUS: u8 = b'S';
    pub(crate) const PARSE_COMPLETE: u8 = b'1';
    pub(crate) const READY: u8 = b'Z';
    pub(crate) const ROW_DESCRIPTION: u8 = b'T';
}

/// A message's kind and its length field.
const HEADER: usize = 5;

/// The bytes of the length field, which counts itself.
const LENGTH_FIELD: usize = 4;

/// A connection that is read message by message.
#[derive(Debug)]
pub(super) struct Wire {
    stream: Stream,
    /// Bytes of the message that was read last, header included; they are let go at the next read.
    current: usize,
}

impl Wire {
    /// Stands on an open stream.
    pub(super) fn over(stream: Stream) -> Self {
        Self { stream, current: 0 }
    }

    /// Sends a whole request.
    pub(super) fn send(&mut self, request: &[u8]) -> Result<(), SessionError> {
        if request.len() > MAX_MESSAGE {
            return Err(fault::too_long(request.len(), MAX_MESSAGE));
        }
        self.stream
            .send(request)
            .map_err(|error| self.explain(error))
    }

    /// Says more of a connection that was lost: what the server had said before it hung up.
    #[cold]
    fn explain(&mut self, error: SessionError) -> SessionError {
        let SessionError::Lost { cause } = error else {
            return error;
        };
        self.stream.consume(std::mem::take(&mut self.current));
        self.stream.last_words();
        let words = self
            .arrived()
            .filter(|(kind, _)| matches!(*kind, kind::ERROR | kind::NOTICE))
            .filter_map(|(_, body)| Fault::read(body).ok())
            .last();
        let cause = match words {
            Some(fault) => format!("{cause}; the server had said: {}", fault.text()),
            None => cause,
        };
        SessionError::Lost { cause }
    }

    /// Waits until a message has arrived whole; lets go of the one that was read last.
    #[inline]
    pub(super) fn wait(&mut self) -> Result<(), SessionError> {
        self.stream.consume(std::mem::take(&mut self.current));
        // Most answers arrive in one piece.
        if self.arrived().next().is_none() {
            self.wait_for_message()?;
        }
        Ok(())
    }

    /// Another protocol is told from the header alone, without a wait for a body that never comes.
    #[cold]
    #[inline(never)]
    fn wait_for_message(&mut self) -> Result<(), SessionError> {
        let Some(header) = self.stream.ensure(HEADER)?.first_chunk() else {
            return Err(malformed("header", "shorter than five bytes"));
        };
        let (kind, length) = split(*header);
        if !kind.is_ascii_alphanumeric() || !(LENGTH_FIELD..=MAX_MESSAGE).contains(&length) {
            let what = format!("kind {}, length {length}", printable(kind));
            return Err(malformed("header", &what));
        }
        self.stream.ensure(1 + length)?;
        Ok(())
    }

    /// The messages that have arrived whole and were not read yet.
    #[inline]
    pub(super) fn arrived(&self) -> Arrived<'_> {
        let unread = self.stream.unread();
        Arrived {
            rest: unread.get(self.current..).unwrap_or_default(),
        }
    }

    /// Counts as read what [`Wire::arrived`] showed, up to the last `rest` bytes of it.
    #[inline]
    pub(super) fn keep(&mut self, rest: usize) {
        self.current = self.stream.unread().len().saturating_sub(rest);
    }

    /// Waits for the next message and returns its kind; [`Wire::body`] shows the rest of it.
    pub(super) fn next(&mut self) -> Result<u8, SessionError> {
        self.wait()?;
        let Some((kind, body)) = self.arrived().next() else {
            return Err(malformed("header", "no message after the wait for one"));
        };
        self.current = HEADER + body.len();
        Ok(kind)
    }

    /// The next message that answers a request: what a server may say at any time is skipped.
    pub(super) fn next_answer(&mut self) -> Result<u8, SessionError> {
        loop {
            match self.next()? {
                kind::NOTICE | kind::NOTIFICATION | kind::PARAMETER_STATUS => {}
                answer => return Ok(answer),
            }
        }
    }

    /// The message that was read last, without its header.
    pub(super) fn body(&self) -> &[u8] {
        let message = self.stream.unread();
        message.get(HEADER..self.current).unwrap_or_default()
    }

    /// Waits for a single byte that answers a request outside of the messages, and leaves it there.
    pub(super) fn peek(&mut self) -> Result<u8, SessionError> {
        self.stream.consume(std::mem::take(&mut self.current));
        match self.stream.ensure(1)?.first() {
            Some(byte) => Ok(*byte),
            None => Err(malformed("answer", "empty")),
        }
    }

    /// Encrypts the connection after the server has agreed with one byte; what was agreed.
    pub(super) fn encrypt(&mut self, host: &str) -> Result<String, SessionError> {
        self.stream.consume(1);
        self.stream.encrypt(host)
    }

    /// The server's certificate (DER); `None` without encryption.
    pub(super) fn certificate(&self) -> Option<&[u8]> {
        self.stream.peer_certificate()
    }

    /// Has the server said something that was not read yet? Does not wait.
    pub(super) fn has_arrived(&mut self) -> Result<bool, SessionError> {
        Ok(self.stream.unread().len() > self.current || self.stream.has_arrived()?)
    }

    /// Begins the wait for the next of several answers, which has the whole timeout again.
    pub(super) fn begin_answer(&mut self) -> Result<(), SessionError> {
        self.stream.begin_answer()
    }

    /// Ends the connection: what comes next has no meaning.
    pub(super) fn abandon(&mut self) {
        self.stream.abandon();
    }
}

impl Drop for Wire {
    /// Says goodbye, so that the server does not log a lost connection.
    fn drop(&mut self) {
        if !self.stream.is_broken() {
            // A server that is gone needs no goodbye.
            let _ = self.stream.send(b"X\0\0\0\x04");
        }
    }
}

/// A message that the protocol does not allow at this point.
pub(super) fn unexpected(kind: u8, during: &str) -> SessionError {
    SessionError::Protocol {
        what: format!(
            "unexpected message {} in answer to {during}",
            printable(kind)
        ),
    }
}

/// A header's kind and the length that it announces.
#[inline]
fn split(header: [u8; HEADER]) -> (u8, usize) {
    let [kind, length @ ..] = header;
    (kind, u32::from_be_bytes(length) as usize)
}

/// Messages that have arrived whole: their kinds and bodies.
#[derive(Debug)]
pub(super) struct Arrived<'a> {
    rest: &'a [u8],
}

impl Arrived<'_> {
    /// Bytes that were not shown yet.
    #[inline]
    pub(super) fn rest(&self) -> usize {
        self.rest.len()
    }
}

impl<'a> Iterator for Arrived<'a> {
    type Item = (u8, &'a [u8]);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let (header, after) = self.rest.split_first_chunk()?;
        let (kind, length) = split(*header);
        let (body, rest) = after.split_at_checked(length.checked_sub(LENGTH_FIELD)?)?;
        self.rest = rest;
        Some((kind, body))
    }
}

/// A message whose content is not what its kind promises.
pub(super) fn malformed(message: &str, what: &str) -> SessionError {
    SessionError::Protocol {
        what: format!("malformed {message}: {what}"),
    }
}

fn printable(kind: u8) -> String {
    format!("'{}'", kind.escape_ascii())
}

/// Takes the parts of a message one after the other; `None` when it is too short.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parts<'a> {
    rest: &'a [u8],
}

impl<'a> Parts<'a> {
    /// From a message's body.
    pub(super) fn of(body: &'a [u8]) -> Self {
        Self { rest: body }
    }

    /// What was not taken yet.
    pub(super) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// One byte.
    pub(super) fn byte(&mut self) -> Option<u8> {
        let (&byte, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(byte)
    }

    /// A 16-bit number.
    pub(super) fn int16(&mut self) -> Option<u16> {
        let (bytes, rest) = self.rest.split_first_chunk()?;
        self.rest = rest;
        Some(u16::from_be_bytes(*bytes))
    }

    /// A 32-bit number.
    pub(super) fn int32(&mut self) -> Option<u32> {
        let (bytes, rest) = self.rest.split_first_chunk()?;
        self.rest = rest;
        Some(u32::from_be_bytes(*bytes))
    }

    /// `count` bytes.
    pub(super) fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (bytes, rest) = self.rest.split_at_checked(count)?;
        self.rest = rest;
        Some(bytes)
    }

    /// Text up to the zero byte that ends it.
    pub(super) fn string(&mut self) -> Option<&'a [u8]> {
        let end = self.rest.iter().position(|&byte| byte == 0)?;
        let text = self.bytes(end)?;
        self.byte()?;
        Some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_end_where_the_message_ends() {
        let mut parts = Parts::of(b"\x01\0\x02\0\0\0\x03name\0xy");
        assert_eq!(parts.byte(), Some(1));
        assert_eq!(parts.int16(), Some(2));
        assert_eq!(parts.int32(), Some(3));
        assert_eq!(parts.string(), Some(&b"name"[..]));
        assert_eq!(parts.string(), None);
        assert_eq!(parts.int32(), None);
        assert_eq!(parts.bytes(3), None);
        assert_eq!(parts.bytes(2), Some(&b"xy"[..]));
        assert_eq!(parts.byte(), None);
    }
}
