//! Zstandard: any number of frames, with their checksums.

use std::io::{self, BufRead, Read};

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

const FRAME: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Does this begin with a frame, or with one that is to be skipped?
pub(super) fn starts(head: &[u8]) -> bool {
    head.starts_with(&FRAME) || matches!(head, [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..])
}

/// Reads the content. The frame decoder refuses windows of more than 128 MiB by itself.
pub(super) struct Decoder<R> {
    input: R,
    frame: FrameDecoder,
    within: bool,
}

impl<R: BufRead> Decoder<R> {
    pub(super) fn new(input: R) -> Self {
        Self { input, frame: FrameDecoder::new(), within: false }
    }

    /// Begins a frame, or skips one that holds nothing for us.
    fn begin(&mut self) -> io::Result<()> {
        match self.frame.init(&mut self.input) {
            Ok(()) => self.within = true,
            Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                length,
                ..
            })) => {
                let mut skipped = (&mut self.input).take(u64::from(length));
                if io::copy(&mut skipped, &mut io::sink())? < u64::from(length) {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
            }
            Err(cause) => return Err(io::Error::other(cause)),
        }
        Ok(())
    }

    /// Ends a frame that was read to its end.
    fn end(&mut self) -> io::Result<()> {
        self.within = false;
        let said = self.frame.get_checksum_from_data();
        if said.is_some() && said != self.frame.get_calculated_checksum() {
            return Err(io::Error::other("the checksum of a zstd frame is wrong"));
        }
        Ok(())
    }
}

impl<R: BufRead> Read for Decoder<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            if !self.within {
                if self.input.fill_buf()?.is_empty() {
                    return Ok(0);
                }
                self.begin()?;
                continue;
            }
            while self.frame.can_collect() == 0 && !self.frame.is_finished() {
                self.frame
                    .decode_blocks(&mut self.input, BlockDecodingStrategy::UptoBlocks(1))
                    .map_err(io::Error::other)?;
            }
            let count = self.frame.read(buffer)?;
            if count > 0 {
                return Ok(count);
            }
            self.end()?;
        }
    }
}
