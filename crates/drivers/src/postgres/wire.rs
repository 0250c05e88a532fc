//! Replies, one message at a time, read where they lie in the stream's buffer.

use super::fault::{Fault, TOO_LONG, malformed, printable};
use crate::stream::{MAX_MESSAGE, Stream};
use crate::{Result, SessionError};

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

const HEADER: usize = 5;

/// The bytes of the length field, which counts itself.
const LENGTH_FIELD: usize = 4;

#[derive(Debug)]
pub(super) struct Wire {
    pub(super) stream: Stream,
    /// Bytes of the message that was read last, header included; they are let go at the next read.
    current: usize,
}

impl Wire {
    pub(super) fn over(stream: Stream) -> Self {
        Self { stream, current: 0 }
    }

    pub(super) fn send(&mut self, request: &[u8]) -> Result {
        if request.len() > MAX_MESSAGE {
            // Nothing of it was sent.
            let message = format!(
                "a request of {} bytes, more than the {MAX_MESSAGE} that are sent; make it shorter",
                request.len()
            );
            return Err(SessionError::server(TOO_LONG, message));
        }
        self.stream.send(request).map_err(|error| self.explain(error))
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
    pub(super) fn wait(&mut self) -> Result {
        self.stream.consume(std::mem::take(&mut self.current));
        // Most answers arrive in one piece.
        if self.arrived().next().is_none() {
            self.wait_for_message()?;
        }
        Ok(())
    }

    /// Another protocol is recognised by the header alone, without a wait for a body that never comes.
    #[cold]
    #[inline(never)]
    fn wait_for_message(&mut self) -> Result {
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
        Arrived { rest: unread.get(self.current..).unwrap_or_default() }
    }

    /// Counts as read what [`Wire::arrived`] showed, up to the last `rest` bytes of it.
    #[inline]
    pub(super) fn keep(&mut self, rest: usize) {
        self.current = self.stream.unread().len().saturating_sub(rest);
    }

    /// Waits for the next message and returns its kind; [`Wire::body`] shows the rest of it.
    pub(super) fn next(&mut self) -> Result<u8> {
        self.wait()?;
        let Some((kind, body)) = self.arrived().next() else {
            return Err(malformed("header", "no message after the wait for one"));
        };
        self.current = HEADER + body.len();
        Ok(kind)
    }

    /// The next message that answers a request: what a server may say at any time is skipped.
    pub(super) fn next_answer(&mut self) -> Result<u8> {
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
    pub(super) fn peek(&mut self) -> Result<u8> {
        self.stream.consume(std::mem::take(&mut self.current));
        match self.stream.ensure(1)?.first() {
            Some(byte) => Ok(*byte),
            None => Err(malformed("answer", "empty")),
        }
    }

    /// Encrypts the connection after the server has agreed with one byte; what was agreed.
    pub(super) fn encrypt(&mut self, host: &str) -> Result<String> {
        self.stream.consume(1);
        self.stream.encrypt(host)
    }

    /// Has the server said something that was not read yet? Does not wait.
    pub(super) fn has_arrived(&mut self) -> Result<bool> {
        Ok(self.stream.unread().len() > self.current || self.stream.has_arrived()?)
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
