//! Packets: three bytes of length, one of sequence, then the payload.

use super::reply::{ERROR, code_and_message, is_end, malformed, server_error};
use crate::pipeline::MOST_AHEAD;
use crate::stream::{MAX_MESSAGE, Stream};
use crate::{Result, SessionError};

pub(super) const HEADER: usize = 4;
/// A payload of this length says that the message goes on in the next packet.
pub(super) const FULL: usize = 0xff_ffff;
/// The smallest default of `max_allowed_packet`: that of MySQL 5.5.
const SMALLEST_LIMIT: usize = 1 << 20;
/// Longest packet of a file's content, well below the smallest limit.
const FILE_PART: usize = 512 << 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Take {
    More,
    Last,
    No,
}

/// Sends and receives packets over one stream. One buffer for what goes out, and the stream's own
/// for what comes in: nothing is allocated per message unless it is longer than 16 MiB.
#[derive(Debug)]
pub(super) struct Packets {
    pub(super) stream: Stream,
    sequence: u8,
    /// Bytes of the packet that was shown last; consumed when the next one is asked for.
    shown: usize,
    /// The outgoing packet; its first [`HEADER`] bytes are always there and patched when it is sent.
    outgoing: Vec<u8>,
    ends: Vec<usize>,
    joined: Vec<u8>,
    /// Compressed packets are numbered after their frames, whose order is checked instead.
    compressed: bool,
}

impl Packets {
    pub(super) fn new(stream: Stream) -> Self {
        Self {
            stream,
            sequence: 0,
            shown: 0,
            outgoing: vec![0; HEADER],
            ends: Vec::new(),
            joined: Vec::new(),
            compressed: false,
        }
    }

    pub(super) fn encrypt(&mut self, host: &str) -> Result<String> {
        self.let_go();
        self.stream.encrypt(host)
    }

    pub(super) fn compress(&mut self) {
        self.let_go();
        self.compressed = true;
        self.stream.compress();
    }

    /// Starts a command's first packet. The caller appends the payload, then calls [`Packets::send`].
    #[inline]
    pub(super) fn command(&mut self) -> &mut Vec<u8> {
        self.sequence = 0;
        self.answer()
    }

    /// Starts a packet that goes on with the exchange.
    #[inline]
    pub(super) fn answer(&mut self) -> &mut Vec<u8> {
        self.outgoing.resize(HEADER, 0);
        &mut self.outgoing
    }

    /// Sends the payload that was appended, in as many packets as it needs.
    #[inline]
    pub(super) fn send(&mut self) -> Result {
        self.send_payload().map_err(|error| self.explain(error, self.outgoing.len()))
    }

    #[inline]
    pub(super) fn send_whole(&mut self, packet: &[u8]) -> Result {
        self.sequence = 1;
        self.stream.send(packet).map_err(|error| self.explain(error, packet.len()))
    }

    #[inline]
    fn send_payload(&mut self) -> Result {
        if self.outgoing.len() >= HEADER + FULL {
            return self.send_split();
        }
        seal(&mut self.outgoing, self.sequence);
        self.sequence = self.sequence.wrapping_add(1);
        self.stream.send(&self.outgoing)
    }

    /// A message that ends exactly with a full packet is followed by an empty one.
    #[cold]
    fn send_split(&mut self) -> Result {
        let mut rest = self.outgoing.get(HEADER..).unwrap_or_default();
        if rest.len() > MAX_MESSAGE {
            return Err(SessionError::protocol(format!(
                "a statement of {} bytes, more than the {MAX_MESSAGE} that are sent; use fewer rows \
                 per statement",
                rest.len()
            )));
        }
        self.stream.send(&header(FULL, self.sequence))?;
        loop {
            let (payload, next) = rest.split_at(rest.len().min(FULL));
            self.stream.send_more(payload)?;
            self.sequence = self.sequence.wrapping_add(1);
            if payload.len() < FULL {
                return Ok(());
            }
            rest = next;
            let header = header(rest.len().min(FULL), self.sequence);
            self.stream.send_more(&header)?;
        }
    }

    /// Sends independent commands: at least one, and as many of `count`
    /// as fit into the buffers on the way; returns how many. `put` appends the payload of the command
    /// with the given index; only the error of the first one is returned. When several were sent, each
    /// answer is read after [`Packets::begin_answer`].
    pub(super) fn send_ahead(
        &mut self,
        count: usize,
        mut put: impl FnMut(usize, &mut Vec<u8>) -> Result,
    ) -> Result<usize> {
        put(0, self.command())?;
        self.ends.clear();
        self.ends.push(self.outgoing.len());
        while self.ends.len() < count {
            let start = self.outgoing.len();
            self.outgoing.extend_from_slice(&[0; HEADER]);
            let put = put(self.ends.len(), &mut self.outgoing);
            if put.is_err() || self.outgoing.len() > MOST_AHEAD {
                self.outgoing.truncate(start);
                break;
            }
            self.ends.push(self.outgoing.len());
        }
        if self.ends.len() == 1 {
            self.send()?;
        } else {
            self.send_commands()?;
        }
        Ok(self.ends.len())
    }

    fn send_commands(&mut self) -> Result {
        let mut start = 0;
        for &end in &self.ends {
            seal(self.outgoing.get_mut(start..end).unwrap_or_default(), 0);
            start = end;
        }
        self.stream
            .send_requests(&self.outgoing, &self.ends)
            .map_err(|error| self.explain(error, self.outgoing.len()))
    }

    pub(super) fn begin_answer(&mut self) -> Result {
        self.sequence = 1;
        self.stream.begin_answer()
    }

    /// Sends the content of a file that the server has asked for: what `next` appends, as long as it
    /// says that there is something, in packets that every server takes, then an empty one. Returns
    /// how many lines were sent.
    pub(super) fn send_file(&mut self, next: &mut dyn FnMut(&mut Vec<u8>) -> bool) -> Result<u64> {
        let mut lines = 0;
        loop {
            let more = next(self.answer());
            let content = self.outgoing.get(HEADER..).unwrap_or_default();
            lines += content.iter().map(|&byte| u64::from(byte == b'\n')).sum::<u64>();
            self.send_file_parts()?;
            if !more {
                break;
            }
        }
        self.answer();
        self.send_file_part()?;
        Ok(lines)
    }

    fn send_file_parts(&mut self) -> Result {
        let content = self.outgoing.get(HEADER..).unwrap_or_default();
        if content.is_empty() {
            // An empty packet would end the file.
            return Ok(());
        }
        if content.len() <= FILE_PART {
            return self.send_file_part();
        }
        for part in content.chunks(FILE_PART) {
            self.stream.send_more(&header(part.len(), self.sequence))?;
            self.stream.send_more(part)?;
            self.sequence = self.sequence.wrapping_add(1);
        }
        Ok(())
    }

    fn send_file_part(&mut self) -> Result {
        seal(&mut self.outgoing, self.sequence);
        self.sequence = self.sequence.wrapping_add(1);
        self.stream.send_more(&self.outgoing)
    }

    /// Says more of a connection that was lost while so many bytes were sent: what the server had said
    /// before it hung up; otherwise that they may have been too many, of which it does not read the rest.
    #[cold]
    fn explain(&mut self, error: SessionError, length: usize) -> SessionError {
        let SessionError::Lost { cause } = error else {
            return error;
        };
        self.let_go();
        let last_words = first_payload(self.stream.last_words());
        let cause = if let Some(words @ &[ERROR, ..]) = last_words {
            let (code, message) = code_and_message(words);
            format!("{cause}; the server had said: {message} (error {code})")
        } else if length > SMALLEST_LIMIT {
            format!(
                "{cause} while {length} bytes were sent; is the server's max_allowed_packet \
                 as large?"
            )
        } else {
            cause
        };
        SessionError::Lost { cause }
    }

    /// The payload of the next message, in place until the next call.
    #[inline]
    pub(super) fn receive(&mut self) -> Result<&[u8]> {
        self.let_go();
        let Some(length) = self.arrived() else {
            return self.receive_unusual();
        };
        self.sequence = self.sequence.wrapping_add(1);
        self.shown = HEADER + length;
        let packet = self.stream.unread();
        Ok(packet.get(HEADER..HEADER + length).unwrap_or_default())
    }

    /// The next packet of an answer, which may end with an error at any point.
    #[inline]
    pub(super) fn receive_part(&mut self) -> Result<&[u8]> {
        let packet = self.receive()?;
        if packet.first() == Some(&ERROR) {
            return Err(server_error(packet));
        }
        Ok(packet)
    }

    #[inline]
    pub(super) fn receive_end(&mut self) -> Result {
        if is_end(self.receive_part()?) { Ok(()) } else { Err(malformed("end of definitions")) }
    }

    #[inline]
    fn let_go(&mut self) {
        self.stream.consume(self.shown);
        self.shown = 0;
    }

    /// The packet that was shown last, with its header; empty when it was one of several of a message.
    pub(super) fn shown(&self) -> &[u8] {
        self.stream.unread().get(..self.shown).unwrap_or_default()
    }

    /// Waits until the next packet has begun to arrive, and lets go of the last one.
    #[inline]
    pub(super) fn wait(&mut self) -> Result {
        self.let_go();
        self.stream.ensure(HEADER).map(|_| ())
    }

    /// Shows `take` the payloads of the next packets, one after the other, as long as they have
    /// arrived whole and are nothing unusual, until it says that it is enough. A loop over
    /// [`Packets::receive`] does the same, at twice the cost for short packets.
    #[inline]
    pub(super) fn take_arrived(&mut self, mut take: impl FnMut(&[u8]) -> Take) {
        self.let_go();
        let unread = self.stream.unread();
        let (mut rest, mut expected) = (unread, self.sequence);
        while let Some((&[a, b, c, sequence], after)) = rest.split_first_chunk() {
            let length = u32::from_le_bytes([a, b, c, 0]) as usize;
            if sequence != expected || length == FULL {
                break;
            }
            let Some((payload, next)) = after.split_at_checked(length) else {
                break;
            };
            let taken = take(payload);
            if taken == Take::No {
                break;
            }
            expected = expected.wrapping_add(1);
            rest = next;
            if taken == Take::Last {
                break;
            }
        }
        let taken = unread.len() - rest.len();
        self.sequence = expected;
        self.stream.consume(taken);
    }

    /// Passes over the next `count` packets if they are the bytes of `packets`, headers included, and
    /// the end of a list of definitions follows, and over that one too; returns whether it did.
    #[inline]
    pub(super) fn pass_over(&mut self, packets: &[u8], count: usize) -> bool {
        self.let_go();
        let Some(&[5, 0, 0, sequence, 0xfe, _, _, _, _, ..]) =
            self.stream.unread().strip_prefix(packets)
        else {
            return false;
        };
        let last = self.sequence.wrapping_add(count as u8);
        if sequence != last || packets.get(3) != Some(&self.sequence) {
            return false;
        }
        self.stream.consume(packets.len() + HEADER + 5);
        self.sequence = last.wrapping_add(1);
        true
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
    fn receive_unusual(&mut self) -> Result<&[u8]> {
        let (length, in_order) = self.header()?;
        if length == FULL {
            return self.join(in_order);
        }
        self.shown = HEADER + length;
        let packet = self.stream.ensure(HEADER + length)?;
        let payload = packet.get(HEADER..HEADER + length).unwrap_or_default();
        // A server that ends a connection on its own account numbers its last words as it likes.
        if !in_order && payload.first() != Some(&ERROR) {
            return Err(malformed("packet sequence"));
        }
        Ok(payload)
    }

    /// Payload length of the next packet, and whether its sequence number is the expected one.
    fn header(&mut self) -> Result<(usize, bool)> {
        let expected = self.sequence;
        let Some(&[a, b, c, sequence]) = self.stream.ensure(HEADER)?.first_chunk() else {
            return Err(malformed("packet header"));
        };
        self.sequence = sequence.wrapping_add(1);
        let length = u32::from_le_bytes([a, b, c, 0]) as usize;
        Ok((length, sequence == expected || self.compressed))
    }

    /// Joins a message of several packets; the header of the first is unread.
    #[cold]
    fn join(&mut self, first_in_order: bool) -> Result<&[u8]> {
        self.joined.clear();
        let (mut length, mut in_order) = (FULL, first_in_order);
        loop {
            if !in_order {
                return Err(malformed("packet sequence"));
            }
            if self.joined.len() + length > MAX_MESSAGE {
                return Err(SessionError::protocol(format!(
                    "a message longer than the {MAX_MESSAGE} bytes that are taken"
                )));
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
    fn take_joined(&mut self, length: usize) -> Result {
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
}

/// The payload of the packet that `bytes` begin with, if all of it is there.
fn first_payload(bytes: &[u8]) -> Option<&[u8]> {
    let (&[a, b, c, _], rest) = bytes.split_first_chunk()?;
    rest.get(..u32::from_le_bytes([a, b, c, 0]) as usize)
}

/// Writes the header of a packet, for which it has left room.
#[inline]
pub(super) fn seal(packet: &mut [u8], sequence: u8) {
    let length = packet.len().saturating_sub(HEADER);
    if let Some(place) = packet.first_chunk_mut() {
        *place = header(length, sequence);
    }
}

#[inline]
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
        server.write_all(b"\x02\0\0\x01ab\x01\0\0\x02c\0\0\0\x03").unwrap();
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
        packets.stream.abandon();
        flood.join().unwrap();
    }

    /// What the server gets in `count` bytes.
    fn read(server: &mut UnixStream, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        server.read_exact(&mut bytes).unwrap();
        bytes
    }

    #[test]
    fn commands_are_sent_ahead_as_far_as_the_buffers_go() {
        let (mut packets, mut server) = pair();
        let sent = packets
            .send_ahead(3, |index, out| {
                out.push(b'a' + index as u8);
                Ok(())
            })
            .unwrap();
        assert_eq!(sent, 3);
        assert_eq!(read(&mut server, 15), b"\x01\0\0\0a\x01\0\0\0b\x01\0\0\0c");
        server.write_all(b"\x01\0\0\x01A\x01\0\0\x01B\x01\0\0\x01C").unwrap();
        for expected in [b"A", b"B", b"C"] {
            packets.begin_answer().unwrap();
            assert_eq!(packets.receive().unwrap(), expected);
        }
        // A long one goes alone, and so do those that come after what fills the buffers.
        let mut left = vec![MOST_AHEAD + 1, 10, MOST_AHEAD - 17, 10];
        while !left.is_empty() {
            let sent = packets
                .send_ahead(left.len(), |index, out| {
                    out.resize(out.len() + left[index], b'x');
                    Ok(())
                })
                .unwrap();
            assert_eq!(sent, 1);
            let bytes: usize = left.drain(..sent).map(|length| length + HEADER).sum();
            read(&mut server, bytes);
        }
    }

    #[test]
    fn a_command_that_cannot_be_made_is_not_sent() {
        let (mut packets, mut server) = pair();
        let mut send = |failing| {
            packets.send_ahead(3, |index, out| {
                out.push(b'a');
                if index == failing { Err(malformed("test")) } else { Ok(()) }
            })
        };
        assert!(send(0).is_err());
        assert_eq!(send(1).unwrap(), 1);
        assert_eq!(read(&mut server, 5), b"\x01\0\0\0a");
        packets.command().extend_from_slice(b"ok");
        packets.send().unwrap();
        assert_eq!(read(&mut server, 6), b"\x02\0\0\0ok");
    }

    #[test]
    fn a_file_goes_in_packets_that_every_server_takes() {
        let (mut packets, mut server) = pair();
        packets.sequence = 254;
        let mut parts = [3, 0, 2 * FILE_PART + 5].into_iter();
        let reader = thread::spawn(move || {
            let mut lengths = Vec::new();
            loop {
                let header = read(&mut server, HEADER);
                let length = u32::from_le_bytes([header[0], header[1], header[2], 0]) as usize;
                read(&mut server, length);
                lengths.push((header[3], length));
                if length == 0 {
                    return lengths;
                }
            }
        });
        let lines = packets
            .send_file(&mut |out| {
                let part = parts.next();
                out.resize(out.len() + part.unwrap_or(0), b'\n');
                part.is_some()
            })
            .unwrap();
        assert_eq!(lines, 3 + 2 * FILE_PART as u64 + 5);
        assert_eq!(
            reader.join().unwrap(),
            [(254, 3), (255, FILE_PART), (0, FILE_PART), (1, 5), (2, 0)]
        );
    }

    #[test]
    fn packets_that_have_arrived_are_taken_until_one_is_not() {
        let (mut packets, mut server) = pair();
        packets.sequence = 1;
        server.write_all(b"\x01\0\0\x01a\x01\0\0\x02b\x01\0\0\x03c\x01\0\0\x09d").unwrap();
        assert_eq!(packets.receive().unwrap(), b"a");
        assert_eq!(packets.shown(), b"\x01\0\0\x01a");
        let mut taken = Vec::new();
        packets.take_arrived(|packet| {
            taken.push(packet[0]);
            if packet == b"c" { Take::No } else { Take::More }
        });
        assert_eq!(taken, b"bc");
        packets.take_arrived(|packet| {
            assert_eq!(packet, b"c");
            Take::Last
        });
        // The next one is out of order, which is for `receive` to judge.
        packets.take_arrived(|_| panic!("a packet out of order was shown"));
        assert_eq!(packets.receive().unwrap_err().code(), "protocol");
    }

    #[test]
    fn only_the_same_packets_and_their_end_are_passed_over() {
        let same = b"\x01\0\0\x01a\x01\0\0\x02b";
        let over = |arrived: &[u8], sequence, packets: &[u8]| {
            let (mut ours, mut server) = pair();
            ours.sequence = sequence;
            server.write_all(arrived).unwrap();
            ours.stream.ensure(arrived.len()).unwrap();
            let over = ours.pass_over(packets, 2);
            (over, ours.stream.unread().len())
        };
        let end = b"\x05\0\0\x03\xfe\0\0\x02\0";
        let all = [same.as_slice(), end, b"\x01\0\0\x04c"].concat();
        assert_eq!(over(&all, 1, same), (true, 5));
        let whole = (false, all.len());
        assert_eq!(over(&all, 2, same), whole, "another sequence");
        assert_eq!(over(&all, 1, b"\x01\0\0\x01b"), whole);
        assert_eq!(over(&all, 1, b""), whole);
        // Another packet where the end should be; an end that is cut, or out of order.
        assert_eq!(over(&all, 1, &same[..5]), whole);
        assert!(!over(&all[..same.len() + 8], 1, same).0);
        let mut other = all;
        other[same.len() + 3] = 4;
        assert_eq!(over(&other, 1, same), whole);
    }

    #[test]
    fn a_loss_tells_what_the_server_had_said() {
        let lost = |said: &[u8], length: usize| {
            let (mut packets, mut server) = pair();
            server.write_all(said).unwrap();
            drop(server);
            packets.command().resize(HEADER + length, b' ');
            let error = packets.send().unwrap_err();
            assert_eq!(error.code(), "lost");
            error.to_string()
        };
        let killed = b"\x18\0\0\0\xff\x87\x07#70100Connection gone";
        for length in [1, SMALLEST_LIMIT] {
            let error = lost(killed, length);
            assert!(
                error.ends_with("the server had said: Connection gone (error 1927)"),
                "{error}"
            );
        }
        for said in [b"".as_slice(), b"\x18\0", &killed[..9], b"\x01\0\0\0\0"] {
            let error = lost(said, 1);
            assert!(!error.contains("had said"), "{error}");
            let error = lost(said, SMALLEST_LIMIT);
            assert!(error.contains("max_allowed_packet"), "{error}");
        }
    }

    #[test]
    fn a_statement_beyond_the_bound_is_not_sent() {
        let (mut packets, _server) = pair();
        packets.command().resize(HEADER + MAX_MESSAGE + 1, b' ');
        let error = packets.send().unwrap_err().to_string();
        assert!(error.contains("fewer rows per statement"), "{error}");
        assert!(!packets.stream.is_broken());
    }
}
