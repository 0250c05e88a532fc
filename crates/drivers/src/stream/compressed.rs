//! MySQL's compressed protocol: packets travel in frames, most of them deflated.
//!
//! A frame is three bytes of length, one of sequence, three of the length before compression (0: the
//! body is as it was), then the body. The bytes of all bodies together are the uncompressed protocol's;
//! a packet may begin and end anywhere in a frame. The sequence of frames is checked here instead of
//! that of packets, which servers number after the frames.

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};

use crate::{Result, SessionError};

const HEADER: usize = 7;

/// Shorter bodies are sent as they are; the bound of the servers and of their own clients.
const SHORTEST: usize = 50;

/// The level that servers use by default.
const LEVEL: u32 = 6;

/// Bytes by which the output grows while a body is inflated.
const STEP: usize = 16 << 10;

#[derive(Debug)]
pub(super) struct Compressed {
    deflate: Compress,
    inflate: Decompress,
    /// Of the next frame, in either direction.
    sequence: u8,
    /// Requests that were sent since the last answer arrived.
    requests: u32,
    /// Has anything arrived since the last request?
    answered: bool,
    pending: Vec<u8>,
}

impl Compressed {
    pub(super) fn new() -> Self {
        Self {
            deflate: Compress::new(Compression::new(LEVEL), true),
            inflate: Decompress::new(true),
            sequence: 0,
            requests: 0,
            answered: false,
            pending: Vec::new(),
        }
    }

    /// Appends to `wire` what is sent for `bytes`; with `begins`, they begin a request.
    pub(super) fn encode(&mut self, bytes: &[u8], begins: bool, wire: &mut Vec<u8>) -> Result {
        if begins {
            self.begin_request();
        }
        let start = wire.len();
        wire.extend_from_slice(&[0; HEADER]);
        let body = wire.len();
        let mut inflated = bytes.len();
        if bytes.len() < SHORTEST || !self.deflate(bytes, wire)? {
            wire.truncate(body);
            wire.extend_from_slice(bytes);
            inflated = 0;
        }
        let header = Header { body: wire.len() - body, inflated };
        if let Some(place) = wire.get_mut(start..).and_then(<[u8]>::first_chunk_mut) {
            *place = header.bytes(self.sequence);
        }
        self.sequence = self.sequence.wrapping_add(1);
        Ok(())
    }

    /// Takes bytes as they arrived and appends to `out` what is complete. Anything may arrive: memory
    /// follows what has arrived, never a length that was only announced.
    pub(super) fn decode(&mut self, arrived: &[u8], out: &mut Vec<u8>) -> Result {
        self.answered = true;
        let mut pending = std::mem::take(&mut self.pending);
        pending.extend_from_slice(arrived);
        let mut rest = pending.as_slice();
        while let Some((header, after)) = rest.split_first_chunk() {
            let (header, sequence) = Header::read(*header);
            let Some((body, next)) = after.split_at_checked(header.body) else {
                break;
            };
            self.take_sequence(sequence, header, body)?;
            if header.inflated == 0 {
                out.extend_from_slice(body);
            } else {
                self.inflate(body, header.inflated, out)?;
            }
            rest = next;
        }
        let taken = pending.len() - rest.len();
        pending.drain(..taken);
        self.pending = pending;
        Ok(())
    }

    /// Each request starts the sequence; so does each answer, with 1, to several requests sent at once.
    fn begin_request(&mut self) {
        if self.answered {
            self.answered = false;
            self.requests = 0;
        }
        self.requests += 1;
        self.sequence = 0;
    }

    /// Appends `bytes` deflated, if that makes them shorter.
    fn deflate(&mut self, bytes: &[u8], wire: &mut Vec<u8>) -> Result<bool> {
        let start = wire.len();
        wire.reserve(bytes.len());
        self.deflate.reset();
        let status = self
            .deflate
            .compress_vec(bytes, wire, FlushCompress::Finish)
            .map_err(|error| SessionError::protocol(format!("compression: {error}")))?;
        Ok(status == Status::StreamEnd && wire.len() - start < bytes.len())
    }

    /// Appends what a deflated body stands for, which the server says is `length` bytes.
    fn inflate(&mut self, body: &[u8], length: usize, out: &mut Vec<u8>) -> Result {
        let end = out.len() + length;
        let mut rest = body;
        self.inflate.reset(true);
        loop {
            let (before, read_before) = (out.len(), self.inflate.total_in());
            // One byte beyond what is announced shows that more follows.
            out.reserve(STEP.min(end - before + 1));
            let status = self
                .inflate
                .decompress_vec(rest, out, FlushDecompress::None)
                .map_err(|error| malformed(&format!("is damaged: {error}")))?;
            let read = (self.inflate.total_in() - read_before) as usize;
            rest = rest.get(read..).unwrap_or_default();
            if out.len() > end {
                return Err(malformed("is longer than it says"));
            }
            if status == Status::StreamEnd {
                break;
            }
            if read == 0 && out.len() == before {
                return Err(malformed("ends too early"));
            }
        }
        if out.len() < end || !rest.is_empty() {
            return Err(malformed("is shorter than it says"));
        }
        Ok(())
    }

    /// May a frame with this number come now? A server's last words may have any number.
    fn take_sequence(&mut self, sequence: u8, header: Header, body: &[u8]) -> Result {
        if sequence != self.sequence {
            let begins_answer = sequence == 1 && self.requests > 1;
            let last_words = header.inflated == 0 && body.get(4) == Some(&0xff);
            if begins_answer {
                self.requests -= 1;
            } else if !last_words {
                return Err(malformed("is out of order"));
            }
        }
        self.sequence = sequence.wrapping_add(1);
        Ok(())
    }
}

#[derive(Clone, Copy, Debug)]
struct Header {
    body: usize,
    /// Of the body before compression; 0 when it is as it was.
    inflated: usize,
}

impl Header {
    fn bytes(self, sequence: u8) -> [u8; HEADER] {
        let [[b1, b2, b3, _], [i1, i2, i3, _]] =
            [self.body, self.inflated].map(|length| (length as u32).to_le_bytes());
        [b1, b2, b3, sequence, i1, i2, i3]
    }

    fn read([b1, b2, b3, sequence, i1, i2, i3]: [u8; HEADER]) -> (Self, u8) {
        let [body, inflated] =
            [[b1, b2, b3, 0], [i1, i2, i3, 0]].map(|bytes| u32::from_le_bytes(bytes) as usize);
        (Self { body, inflated }, sequence)
    }
}

#[cold]
fn malformed(how: &str) -> SessionError {
    SessionError::protocol(format!("a compressed frame from the server {how}"))
}

#[cfg(test)]
pub(crate) mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A frame with these numbers.
    pub(crate) fn frame(sequence: u8, inflated: usize, body: &[u8]) -> Vec<u8> {
        let mut bytes = (body.len() as u32).to_le_bytes();
        bytes[3] = sequence;
        let mut frame = bytes.to_vec();
        frame.extend_from_slice(&(inflated as u32).to_le_bytes()[..3]);
        frame.extend_from_slice(body);
        frame
    }

    pub(crate) fn deflated(bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(bytes.len() + 100);
        Compress::new(Compression::new(9), true)
            .compress_vec(bytes, &mut out, FlushCompress::Finish)
            .unwrap();
        out
    }

    /// What a client that has sent one short request makes of `wire`.
    fn decoded(wire: &[u8]) -> Result<Vec<u8>> {
        let (mut codec, mut sent, mut out) = (Compressed::new(), Vec::new(), Vec::new());
        codec.encode(b"request", true, &mut sent).unwrap();
        codec.decode(wire, &mut out).map(|()| out)
    }

    #[test]
    fn short_bodies_go_as_they_are_and_long_ones_shrink() {
        let (mut codec, mut wire) = (Compressed::new(), Vec::new());
        codec.encode(b"short", true, &mut wire).unwrap();
        assert_eq!(wire, b"\x05\0\0\0\0\0\0short");
        wire.clear();
        codec.encode(&[b'a'; 4000], false, &mut wire).unwrap();
        assert!(wire.len() < 100);
        assert_eq!(&wire[3..7], b"\x01\xa0\x0f\0");
        assert_eq!(decoded(&wire).unwrap(), [b'a'; 4000]);
        // What does not shrink is sent as it is.
        let noise: Vec<u8> = (0..60_u8).map(|i| i.wrapping_mul(197)).collect();
        wire.clear();
        codec.encode(&noise, true, &mut wire).unwrap();
        assert_eq!(wire, frame(0, 0, &noise));
    }

    #[test]
    fn frames_arrive_in_any_pieces() {
        let bytes = [frame(1, 0, b"abc"), frame(2, 300, &deflated(&[7; 300]))].concat();
        let mut codec = Compressed::new();
        codec.encode(b"request", true, &mut Vec::new()).unwrap();
        let mut out = Vec::new();
        for byte in &bytes {
            codec.decode(&[*byte], &mut out).unwrap();
        }
        assert_eq!(out, [b"abc".as_slice(), &[7; 300]].concat());
        assert!(codec.pending.is_empty());
    }

    #[test]
    fn frames_out_of_order_are_refused_but_last_words_are_heard() {
        let error = decoded(&frame(2, 0, b"abcde")).unwrap_err().to_string();
        assert!(error.contains("out of order"), "{error}");
        let last = b"\x03\0\0\0\xff\x10\x04";
        assert_eq!(decoded(&frame(0, 0, last)).unwrap(), last);
    }

    #[test]
    fn each_of_several_answers_starts_the_sequence() {
        let (mut codec, mut wire, mut out) = (Compressed::new(), Vec::new(), Vec::new());
        for request in [b"one", b"two"] {
            codec.encode(request, true, &mut wire).unwrap();
        }
        let answers = [frame(1, 0, b"a"), frame(2, 0, b"b"), frame(1, 0, b"c")].concat();
        codec.decode(&answers, &mut out).unwrap();
        assert_eq!(out, b"abc");
        // There is no third answer.
        assert!(codec.decode(&frame(1, 0, b"d"), &mut out).is_err());
    }

    #[test]
    fn false_lengths_are_refused() {
        let body = deflated(&[7; 300]);
        for (length, expected) in [(299, "longer"), (301, "shorter"), (1 << 23, "shorter")] {
            let error = decoded(&frame(1, length, &body)).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
        for cut in 2..body.len() {
            let error = decoded(&frame(1, 300, &body[..cut])).unwrap_err().to_string();
            assert!(error.contains("compressed frame"), "{error}");
        }
        let error = decoded(&frame(1, 300, b"this is not deflated")).unwrap_err().to_string();
        assert!(error.contains("compressed frame"), "{error}");
    }

    #[test]
    fn memory_follows_what_arrived() {
        // Sixteen megabytes are announced in both lengths, and little comes.
        let mut codec = Compressed::new();
        codec.encode(b"request", true, &mut Vec::new()).unwrap();
        let mut out = Vec::new();
        codec.decode(b"\xff\xff\xff\x01\xff\xff\xff\x78\x9c", &mut out).unwrap();
        assert!(out.capacity() == 0 && codec.pending.capacity() < 1000);
        let _ = decoded(&frame(1, 0xff_ffff, &deflated(b"x"))).unwrap_err();
        // A bomb is as long as it says, or refused.
        let bomb = deflated(&vec![0; 1 << 20]);
        let (mut codec, mut out) = (Compressed::new(), Vec::new());
        codec.encode(b"request", true, &mut Vec::new()).unwrap();
        assert!(codec.decode(&frame(1, 5, &bomb), &mut out).is_err());
        assert!(out.capacity() < 4 * STEP);
    }

    proptest! {
        #[test]
        fn what_is_encoded_is_decoded(
            parts in proptest::collection::vec(
                (any::<u8>(), 1_usize..3000, any::<bool>()), 1..8,
            ),
            piece in 1_usize..500,
        ) {
            let (mut ours, mut theirs) = (Compressed::new(), Compressed::new());
            let (mut wire, mut sent, mut out) = (Vec::new(), Vec::new(), Vec::new());
            for (index, (byte, length, flat)) in parts.into_iter().enumerate() {
                let bytes: Vec<u8> = (0..length)
                    .map(|i| if flat { byte } else { byte.wrapping_mul((i * i) as u8) })
                    .collect();
                ours.encode(&bytes, index == 0, &mut wire).unwrap();
                sent.extend_from_slice(&bytes);
            }
            for bytes in wire.chunks(piece) {
                theirs.decode(bytes, &mut out).unwrap();
            }
            prop_assert_eq!(out, sent);
        }

        #[test]
        fn any_bytes_are_frames_or_refused(
            wire in proptest::collection::vec(any::<u8>(), 0..200),
        ) {
            let _ = decoded(&wire);
        }
    }
}
