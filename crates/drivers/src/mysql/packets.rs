//! Packets: three bytes of length, one of sequence, then the payload.

use super::malformed;
use crate::SessionError;
use crate::stream::{MAX_MESSAGE, Stream};

/// Bytes before a payload.
const HEADER: usize = 4;
/// A payload of this length says that the message goes on in the next packet.
const FULL: usize = 0xff_ffff;
/// The smallest default of `max_allowed_packet`: that of MySQL 5.5.
const SMALLEST_LIMIT: usize = 1 << 20;

/// Sends and receives packets over one stream. One buffer for what goes out, and the stream's own
/// for what comes in: nothing is allocated per message unless it is longer than 16 MiB.
#[derive(Debug)]
pub(super) struct Packets {
    stream: Stream,
    /// Of the next packet, in either direction.
    sequence: u8,
    /// Bytes of the packet that was shown last; consumed when the next one is asked for.
    shown: usize,
    /// The outgoing packet; its first [`HEADER`] bytes are always there and patched when it is sent.
    outgoing: Vec<u8>,
    /// An incoming message of more than one packet.
    joined: Vec<u8>,
}

impl Packets {
    pub(super) fn new(stream: Stream) -> Self {
        Self {
            stream,
            sequence: 0,
            shown: 0,
            outgoing: vec![0; HEADER],
            joined: Vec::new(),
        }
    }

    /// Starts the first packet of a command. The caller appends the payload, then calls
    /// [`Packets::send`].
    #[inline]
    pub(super) fn command(&mut self) -> &mut Vec<u8> {
        self.sequence = 0;
        self.answer()
    }

    /// Starts a packet that goes on with the exchange.
    #[inline]
    pub(super) fn answer(&mut self) -> &mut Vec<u8> {
        self.outgoing.truncate(HEADER);
        &mut self.outgoing
    }

    /// Sends the payload that was appended, in as many packets as it needs.
    #[inline]
    pub(super) fn send(&mut self) -> Result<(), SessionError> {
        self.send_payload().map_err(|error| self.with_size(error))
    }

    fn send_payload(&mut self) -> Result<(), SessionError> {
        let length = self.outgoing.len().saturating_sub(HEADER);
        if length >= FULL {
            return self.send_split();
        }
        let header = header(length, self.sequence);
        if let Some(place) = self.outgoing.first_chunk_mut() {
            *place = header;
        }
        self.sequence = self.sequence.wrapping_add(1);
        self.stream.send(&self.outgoing)
    }

    /// A message that ends exactly with a full packet is followed by an empty one.
    fn send_split(&mut self) -> Result<(), SessionError> {
        let mut rest = self.outgoing.get(HEADER..).unwrap_or_default();
        if rest.len() > MAX_MESSAGE {
            return Err(SessionError::Protocol {
                what: format!(
                    "a statement of {} bytes, more than the {MAX_MESSAGE} that are sent; \
                     use fewer rows per statement",
                    rest.len()
                ),
            });
        }
        loop {
            let (payload, next) = rest.split_at(rest.len().min(FULL));
            self.stream.send(&header(payload.len(), self.sequence))?;
            self.stream.send(payload)?;
            self.sequence = self.sequence.wrapping_add(1);
            if payload.len() < FULL {
                return Ok(());
            }
            rest = next;
        }
    }

    /// A server that is sent more than it takes hangs up without reading the rest.
    #[cold]
    fn with_size(&self, error: SessionError) -> SessionError {
        let length = self.outgoing.len();
        match error {
            SessionError::Lost { cause } if length > SMALLEST_LIMIT => SessionError::Lost {
                cause: format!(
                    "{cause} while {length} bytes were sent; is the server's max_allowed_packet \
                     as large?"
                ),
            },
            other => other,
        }
    }

    /// The payload of the next message, in place until the next call.
    #[inline]
    pub(super) fn receive(&mut self) -> Result<&[u8], SessionError> {
        self.stream.consume(self.shown);
        self.shown = 0;
        let Some(length) = self.arrived() else {
            return self.receive_unusual();
        };
        self.sequence = self.sequence.wrapping_add(1);
        self.shown = HEADER + length;
        let packet = self.stream.unread();
        Ok(packet.get(HEADER..HEADER + length).unwrap_or_default())
    }

    /// Payload length of the next packet when it has arrived whole and is nothing unusual. Most
    /// packets are so, because a server sends many at a time.
    #[inline]
    fn arrived(&self) -> Option<usize> {
        let (&[a, b, c, sequence], rest) = self.stream.unread().split_first_chunk()?;
        let length = u32::from_le_bytes([a, b, c, 0]) as usize;
        let usual = length <= rest.len() && length < FULL && sequence == self.sequence;
        usual.then_some(length)
    }

    /// The payload of the next message, which has not arrived, or is long, or is out of order.
    #[cold]
    #[inline(never)]
    fn receive_unusual(&mut self) -> Result<&[u8], SessionError> {
        let (length, in_order) = self.header()?;
        if length == FULL {
            return self.join(in_order);
        }
        self.shown = HEADER + length;
        let packet = self.stream.ensure(HEADER + length)?;
        let payload = packet.get(HEADER..HEADER + length).unwrap_or_default();
        // A server that ends a connection on its own account numbers its last words as it likes.
        if !in_order && payload.first() != Some(&0xff) {
            return Err(malformed("packet sequence"));
        }
        Ok(payload)
    }

    /// Payload length of the next packet, and whether its sequence number is the expected one.
    fn header(&mut self) -> Result<(usize, bool), SessionError> {
        let expected = self.sequence;
        let Some(&[a, b, c, sequence]) = self.stream.ensure(HEADER)?.first_chunk() else {
            return Err(malformed("packet header"));
        };
        self.sequence = sequence.wrapping_add(1);
        let length = u32::from_le_bytes([a, b, c, 0]) as usize;
        Ok((length, sequence == expected))
    }

    /// Joins a message of several packets, the first of which has its header unread.
    #[cold]
    fn join(&mut self, first_in_order: bool) -> Result<&[u8], SessionError> {
        self.joined.clear();
        let (mut length, mut in_order) = (FULL, first_in_order);
        loop {
            if !in_order {
                return Err(malformed("packet sequence"));
            }
            if self.joined.len() + length > MAX_MESSAGE {
                return Err(SessionError::Protocol {
                    what: format!("a message longer than the {MAX_MESSAGE} bytes that are taken"),
                });
            }
            self.stream.consume(HEADER);
            self.take_joined(length)?;
            if length < FULL {
                return Ok(&self.joined);
            }
            (length, in_order) = self.header()?;
        }
    }

    /// Moves `length` bytes from the stream to the joined message, as they arrive.
    fn take_joined(&mut self, length: usize) -> Result<(), SessionError> {
        let mut missing = length;
        while missing > 0 {
            let arrived = self.stream.ensure(1)?;
            let part = arrived.get(..missing).unwrap_or(arrived);
            let taken = part.len();
            self.joined.extend_from_slice(part);
            self.stream.consume(taken);
            missing -= taken;
        }
        Ok(())
    }

    /// Ends the connection; see [`Stream::abandon`].
    pub(super) fn abandon(&mut self) {
        self.stream.abandon();
    }

    pub(super) fn is_broken(&self) -> bool {
        self.stream.is_broken()
    }
}

fn header(length: usize, sequence: u8) -> [u8; HEADER] {
    let [a, b, c, _] = (length as u32).to_le_bytes();
    [a, b, c, sequence]
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::os::unix::net::UnixStream;
    use std::thread;
    use std::time::Duration;

    use super::*;

    fn pair() -> (Packets, UnixStream) {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let stream = Stream::over(ours.into(), true, Duration::from_secs(10));
        (Packets::new(stream), theirs)
    }

    #[test]
    fn a_command_starts_the_sequence_and_the_reply_goes_on() {
        let (mut packets, mut server) = pair();
        packets.command().extend_from_slice(b"\x03do 1");
        packets.send().unwrap();
        let mut sent = [0; 9];
        server.read_exact(&mut sent).unwrap();
        assert_eq!(&sent, b"\x05\0\0\0\x03do 1");
        server
            .write_all(b"\x02\0\0\x01ab\x01\0\0\x02c\0\0\0\x03")
            .unwrap();
        assert_eq!(packets.receive().unwrap(), b"ab");
        assert_eq!(packets.receive().unwrap(), b"c");
        assert_eq!(packets.receive().unwrap(), b"");
    }

    #[test]
    fn packets_out_of_order_are_refused_but_last_words_are_heard() {
        let (mut packets, mut server) = pair();
        server.write_all(b"\x01\0\0\x05a").unwrap();
        assert_eq!(packets.receive().unwrap_err().code(), "protocol");
        let (mut packets, mut server) = pair();
        server.write_all(b"\x01\0\0\x05\xff").unwrap();
        assert_eq!(packets.receive().unwrap(), b"\xff");
    }

    #[test]
    fn long_messages_are_split_and_joined() {
        for length in [FULL - 1, FULL, FULL + 1, 2 * FULL] {
            let (mut packets, mut server) = pair();
            let message: Vec<u8> = (0..length).map(|i| (i % 253) as u8).collect();
            // The server echoes the bytes, whose sequence starts at 0 like a command's.
            let echo = thread::spawn(move || {
                let packets = length / FULL + 1;
                let mut bytes = vec![0; length + packets * HEADER];
                server.read_exact(&mut bytes).unwrap();
                server.write_all(&bytes).unwrap();
            });
            packets.command().extend_from_slice(&message);
            packets.send().unwrap();
            packets.sequence = 0;
            assert!(packets.receive().unwrap() == message, "{length}");
            echo.join().unwrap();
        }
    }

    #[test]
    fn a_message_without_end_is_refused() {
        let (mut packets, mut server) = pair();
        let flood = thread::spawn(move || {
            let chunk = vec![0; FULL];
            for sequence in 0.. {
                let sent = server
                    .write_all(&header(FULL, sequence))
                    .and_then(|()| server.write_all(&chunk));
                if sent.is_err() {
                    break;
                }
            }
        });
        assert_eq!(packets.receive().unwrap_err().code(), "protocol");
        assert!(packets.joined.len() <= MAX_MESSAGE);
        packets.abandon();
        flood.join().unwrap();
    }

    #[test]
    fn a_statement_beyond_the_bound_is_not_sent() {
        let (mut packets, _server) = pair();
        packets.command().resize(HEADER + MAX_MESSAGE + 1, b' ');
        let error = packets.send().unwrap_err().to_string();
        assert!(error.contains("fewer rows per statement"), "{error}");
        assert!(!packets.is_broken());
    }
}
