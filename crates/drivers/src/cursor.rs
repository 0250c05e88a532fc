//! Reads the fields of one message of either protocol, front to back, never beyond its end.

/// The unread rest of a message. Every method returns `None` when the message is too short for it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor<'a> {
    rest: &'a [u8],
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(message: &'a [u8]) -> Self {
        Self { rest: message }
    }

    pub(crate) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    #[inline]
    pub(crate) fn next_is(&self, byte: u8) -> bool {
        self.rest.first() == Some(&byte)
    }

    #[inline]
    pub(crate) fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(count)?;
        self.rest = rest;
        Some(taken)
    }

    #[inline]
    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.rest.split_first_chunk::<N>()?;
        self.rest = rest;
        Some(*taken)
    }

    #[inline]
    pub(crate) fn u8(&mut self) -> Option<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    #[inline]
    pub(crate) fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    #[inline]
    pub(crate) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    #[inline]
    pub(crate) fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    pub(crate) fn u16_be(&mut self) -> Option<u16> {
        self.array().map(u16::from_be_bytes)
    }

    pub(crate) fn u32_be(&mut self) -> Option<u32> {
        self.array().map(u32::from_be_bytes)
    }

    /// A length-encoded integer of MySQL: one byte below 251, or a marker and 2, 3 or 8 bytes.
    #[inline]
    pub(crate) fn lenenc(&mut self) -> Option<u64> {
        match self.u8()? {
            small @ 0..=0xfa => Some(u64::from(small)),
            0xfc => self.u16().map(u64::from),
            0xfd => {
                let [a, b, c] = self.array()?;
                Some(u64::from(u32::from_le_bytes([a, b, c, 0])))
            }
            0xfe => self.u64(),
            // NULL in a text row, and the header of an error packet: no numbers.
            0xfb | 0xff => None,
        }
    }

    #[inline]
    pub(crate) fn lenenc_bytes(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.lenenc()?).ok()?;
        self.bytes(length)
    }

    /// The bytes before the next NUL, which must be there and is passed over.
    pub(crate) fn string(&mut self) -> Option<&'a [u8]> {
        self.rest.contains(&0).then(|| self.until_nul())
    }

    /// The bytes before the next NUL, which is passed over, or before the end of the message:
    /// MySQL 5.5.7 to 5.5.9 forget the NUL of the greeting's last field.
    pub(crate) fn until_nul(&mut self) -> &'a [u8] {
        let mut halves = self.rest.splitn(2, |&byte| byte == 0);
        let text = halves.next().unwrap_or_default();
        self.rest = halves.next().unwrap_or_default();
        text
    }
}

#[inline]
pub(crate) fn put_lenenc(out: &mut Vec<u8>, value: usize) {
    let bytes = (value as u64).to_le_bytes();
    let [a, b, c, ..] = bytes;
    match value {
        0..=0xfa => out.push(a),
        0xfb..=0xffff => out.extend_from_slice(&[0xfc, a, b]),
        0x1_0000..=0xff_ffff => out.extend_from_slice(&[0xfd, a, b, c]),
        _ => {
            out.push(0xfe);
            out.extend_from_slice(&bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn length_encoded_integers_have_four_widths() {
        let read = |bytes: &[u8]| Cursor::new(bytes).lenenc();
        assert_eq!(read(&[0xfa]), Some(250));
        assert_eq!(read(&[0xfc, 0xfb, 0x00]), Some(251));
        assert_eq!(read(&[0xfd, 1, 2, 3]), Some(0x03_0201));
        assert_eq!(read(&[0xfe, 1, 0, 0, 0, 0, 0, 0, 1]), Some((1 << 56) + 1));
        assert_eq!(read(&[0xfb]), None);
        assert_eq!(read(&[0xff]), None);
        assert_eq!(read(&[0xfd, 1, 2]), None);
        assert_eq!(read(&[]), None);
    }

    #[test]
    fn a_length_beyond_the_packet_reads_nothing() {
        assert_eq!(Cursor::new(&[3, b'a', b'b']).lenenc_bytes(), None);
        let huge = [0xfe, 255, 255, 255, 255, 255, 255, 255, 255, b'a'];
        assert_eq!(Cursor::new(&huge).lenenc_bytes(), None);
    }

    #[test]
    fn nul_or_the_end_of_the_packet_ends_a_string() {
        let mut cursor = Cursor::new(b"one\0two");
        assert_eq!(cursor.until_nul(), b"one");
        assert_eq!(cursor.until_nul(), b"two");
        assert_eq!(cursor.until_nul(), b"");
    }

    #[test]
    fn fields_end_where_the_message_ends() {
        let mut cursor = Cursor::new(b"\x01\0\x02\0\0\0\x03name\0xy");
        assert_eq!(cursor.u8(), Some(1));
        assert_eq!(cursor.u16_be(), Some(2));
        assert_eq!(cursor.u32_be(), Some(3));
        assert_eq!(cursor.string(), Some(&b"name"[..]));
        assert_eq!(cursor.string(), None);
        assert_eq!(cursor.u32_be(), None);
        assert_eq!(cursor.bytes(3), None);
        assert_eq!(cursor.bytes(2), Some(&b"xy"[..]));
        assert_eq!(cursor.u8(), None);
    }

    proptest! {
        #[test]
        fn what_is_put_is_read(value in prop_oneof![0usize..600, any::<usize>()]) {
            let mut out = Vec::new();
            put_lenenc(&mut out, value);
            prop_assert_eq!(Cursor::new(&out).lenenc(), Some(value as u64));
        }
    }
}
