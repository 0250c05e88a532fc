//! Gzip: all members of a file, without the zeros that old packers filled it up with.

use std::io::{self, BufRead, Read};

use flate2::bufread::GzDecoder;

pub(super) struct Members<R>(Option<GzDecoder<R>>);

impl<R: BufRead> Members<R> {
    pub(super) fn new(input: R) -> Self {
        Self(Some(GzDecoder::new(input)))
    }
}

impl<R: BufRead> Read for Members<R> {
    /// The checksum of a member is verified where it ends.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(member) = &mut self.0 {
            let count = member.read(buffer)?;
            if count > 0 || buffer.is_empty() {
                return Ok(count);
            }
            let next = member.get_mut().fill_buf()?.first().copied();
            let is_more = next.is_some_and(|byte| byte != 0);
            self.0 =
                self.0.take().filter(|_| is_more).map(|ended| GzDecoder::new(ended.into_inner()));
        }
        Ok(0)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::{Compression, write::GzEncoder};

    use super::*;

    fn packed(text: &str) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    }

    fn read(bytes: &[u8]) -> io::Result<String> {
        let mut text = String::new();
        Members::new(bytes).read_to_string(&mut text).map(|_| text)
    }

    #[test]
    fn members_follow_each_other_and_zeros_end_them() {
        assert_eq!(read(&[packed("one"), packed("two")].concat()).unwrap(), "onetwo");
        assert_eq!(read(&[packed("one"), vec![0; 1000]].concat()).unwrap(), "one");
        assert!(read(&[packed("one"), b"garbage".to_vec()].concat()).is_err());
        let mut damaged = packed("one");
        let crc = damaged.len() - 8;
        damaged[crc] ^= 1;
        assert!(read(&damaged).is_err());
    }
}
