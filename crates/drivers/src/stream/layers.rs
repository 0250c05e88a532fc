//! What lies between a protocol's bytes and the socket's: compression, and TLS below it.

use super::compressed::Compressed;
use super::socket::Socket;
use super::tls::Tls;
use crate::Result;

/// Bytes that are encoded and sent at a time: the memory of a layer does not follow the statement's.
const PART: usize = 256 << 10;

/// Bytes that are read at a time.
const READ: usize = 32 << 10;

/// The layers of one connection, with their buffers. An absent layer passes on what it is given.
#[derive(Debug, Default)]
pub(super) struct Layers {
    codec: Option<Compressed>,
    pub(super) tls: Option<Tls>,
    /// Encoded and not yet encrypted.
    coded: Vec<u8>,
    /// Encrypted and not yet sent.
    wire: Vec<u8>,
    arrived: Vec<u8>,
    /// Arrived, and decrypted, before there was a codec to decode it.
    early: Vec<u8>,
    /// Decrypted and not yet decoded.
    decrypted: Vec<u8>,
}

impl Layers {
    /// Compresses from here on; what is `unread` is compressed too.
    pub(super) fn compress(&mut self, unread: Vec<u8>) {
        self.codec = Some(Compressed::new());
        self.early = unread;
    }

    /// Encodes, encrypts and sends; with `begins`, the bytes begin a request.
    pub(super) fn send(&mut self, socket: &mut Socket, bytes: &[u8], begins: bool) -> Result {
        let mut begins = begins;
        for part in bytes.chunks(PART) {
            let sent = self.encode([(part, begins)].into_iter()).and_then(|()| self.encrypt());
            sent.inspect_err(|_| socket.abandon())?;
            socket.write_all(&self.wire)?;
            begins = false;
        }
        Ok(())
    }

    /// Encodes each of several short requests by itself, and sends them together.
    pub(super) fn send_requests<'a>(
        &mut self,
        socket: &mut Socket,
        requests: impl Iterator<Item = &'a [u8]>,
    ) -> Result {
        self.encode(requests.map(|request| (request, true)))
            .and_then(|()| self.encrypt())
            .inspect_err(|_| socket.abandon())?;
        socket.write_all(&self.wire)
    }

    fn encode<'a>(&mut self, parts: impl Iterator<Item = (&'a [u8], bool)>) -> Result {
        self.coded.clear();
        for (part, begins) in parts {
            match &mut self.codec {
                Some(codec) => codec.encode(part, begins, &mut self.coded)?,
                None => self.coded.extend_from_slice(part),
            }
        }
        Ok(())
    }

    fn encrypt(&mut self) -> Result {
        self.wire.clear();
        if let Some(tls) = &mut self.tls {
            return tls.encrypt(&self.coded, &mut self.wire);
        }
        std::mem::swap(&mut self.coded, &mut self.wire);
        Ok(())
    }

    /// Waits for bytes and appends to `out` what they carry, which may be nothing yet.
    pub(super) fn receive(&mut self, socket: &mut Socket, out: &mut Vec<u8>) -> Result {
        if let (false, Some(codec)) = (self.early.is_empty(), &mut self.codec) {
            let early = std::mem::take(&mut self.early);
            let decoded = codec.decode(&early, out);
            return decoded.inspect_err(|_| socket.abandon());
        }
        self.arrived.clear();
        self.arrived.reserve(READ);
        socket.read(&mut self.arrived)?;
        // What a layer cannot take has no meaning, and neither has what follows.
        self.unpack(out).inspect_err(|_| socket.abandon())
    }

    fn unpack(&mut self, out: &mut Vec<u8>) -> Result {
        match (&mut self.tls, &mut self.codec) {
            (Some(tls), Some(codec)) => {
                self.decrypted.clear();
                tls.decrypt(&self.arrived, &mut self.decrypted)?;
                codec.decode(&self.decrypted, out)
            }
            (Some(tls), None) => tls.decrypt(&self.arrived, out),
            (None, Some(codec)) => codec.decode(&self.arrived, out),
            (None, None) => {
                out.extend_from_slice(&self.arrived);
                Ok(())
            }
        }
    }
}
