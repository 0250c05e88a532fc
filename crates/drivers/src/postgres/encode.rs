//! Requests: messages of protocol 3.0 written into one buffer.
//! Layouts: <https://www.postgresql.org/docs/current/protocol-message-formats.html>.

/// Appends a message: its kind, its length, and what `write` appends.
pub(super) fn message(buffer: &mut Vec<u8>, kind: u8, write: impl FnOnce(&mut Vec<u8>)) {
    buffer.push(kind);
    measured(buffer, write);
}

/// Appends a length that counts itself and what `write` appends; the startup message is only this.
pub(super) fn measured(buffer: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    let at = buffer.len();
    buffer.extend_from_slice(&[0; 4]);
    write(buffer);
    patch_length(buffer, at);
}

/// Writes the length of all that follows `at` into the four bytes at `at`. A buffer too long for
/// the field is also too long for [`super::wire::Wire::send`], which refuses it.
pub(super) fn patch_length(buffer: &mut [u8], at: usize) {
    let length = buffer.len().saturating_sub(at) as u32;
    if let Some(slot) = buffer.get_mut(at..at.saturating_add(4)) {
        slot.copy_from_slice(&length.to_be_bytes());
    }
}

pub(super) fn string(buffer: &mut Vec<u8>, text: impl AsRef<[u8]>) {
    buffer.extend_from_slice(text.as_ref());
    buffer.push(0);
}

/// Appends a value with its length in front.
pub(super) fn value(buffer: &mut Vec<u8>, bytes: &[u8]) {
    int32(buffer, bytes.len() as u32);
    buffer.extend_from_slice(bytes);
}

pub(super) fn int16(buffer: &mut Vec<u8>, number: u16) {
    buffer.extend_from_slice(&number.to_be_bytes());
}

pub(super) fn int32(buffer: &mut Vec<u8>, number: u32) {
    buffer.extend_from_slice(&number.to_be_bytes());
}

/// A `CopyFail`, which ends a COPY whose rows are not sent.
pub(super) fn copy_fail(reason: &str) -> Vec<u8> {
    let mut request = Vec::new();
    message(&mut request, b'f', |body| string(body, reason));
    request
}

/// Appends a Sync: the end of a series of extended messages.
pub(super) fn sync(buffer: &mut Vec<u8>) {
    message(buffer, b'S', |_| ());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_count_themselves_but_not_the_kind() {
        let mut buffer = Vec::new();
        message(&mut buffer, b'Q', |body| string(body, "SELECT 1"));
        sync(&mut buffer);
        assert_eq!(buffer, b"Q\0\0\0\x0dSELECT 1\0S\0\0\0\x04");
    }

    #[test]
    fn numbers_and_values_are_big_endian() {
        let mut buffer = Vec::new();
        measured(&mut buffer, |body| {
            int16(body, 258);
            value(body, b"ab");
        });
        assert_eq!(buffer, b"\0\0\0\x0c\x01\x02\0\0\0\x02ab");
    }
}
