//! Dates and times of binary rows, shown as the server's text protocol shows them.

use super::cursor::Cursor;

/// Appends a date as `2026-11-21`. `None` when the bytes are not a date.
pub(super) fn put_date(out: &mut Vec<u8>, bytes: &[u8]) -> Option<()> {
    let mut cursor = Cursor::new(bytes);
    match bytes.len() {
        0 => out.extend_from_slice(b"0000-00-00"),
        4 | 7 | 11 => put_day(out, &mut cursor)?,
        _ => return None,
    }
    Some(())
}

/// Appends a date and time as `2026-11-21 10:00:00`, with `digits` of the second's fraction.
/// `None` when the bytes are not a date and time.
pub(super) fn put_date_time(out: &mut Vec<u8>, bytes: &[u8], digits: u8) -> Option<()> {
    let mut cursor = Cursor::new(bytes);
    match bytes.len() {
        0 => out.extend_from_slice(b"0000-00-00"),
        4 | 7 | 11 => put_day(out, &mut cursor)?,
        _ => return None,
    }
    out.push(b' ');
    if cursor.is_empty() {
        put_clock(out, 0, 0, 0)?;
    } else {
        let (hour, minute, second) = (cursor.u8()?, cursor.u8()?, cursor.u8()?);
        put_clock(out, u64::from(hour), minute, second)?;
    }
    put_fraction(out, &mut cursor, digits)
}

/// Appends a span of time as `-838:59:59`, with `digits` of the second's fraction. `None` when the
/// bytes are not one.
pub(super) fn put_time(out: &mut Vec<u8>, bytes: &[u8], digits: u8) -> Option<()> {
    let mut cursor = Cursor::new(bytes);
    match bytes.len() {
        0 => put_clock(out, 0, 0, 0)?,
        8 | 12 => {
            if cursor.u8()? != 0 {
                out.push(b'-');
            }
            let days = u64::from(cursor.u32()?);
            let (hour, minute, second) = (cursor.u8()?, cursor.u8()?, cursor.u8()?);
            put_clock(out, days * 24 + u64::from(hour), minute, second)?;
        }
        _ => return None,
    }
    put_fraction(out, &mut cursor, digits)
}

fn put_day(out: &mut Vec<u8>, cursor: &mut Cursor<'_>) -> Option<()> {
    let (year, month, day) = (cursor.u16()?, cursor.u8()?, cursor.u8()?);
    if year > 9999 || month > 12 || day > 31 {
        return None;
    }
    put_two(out, (year / 100) as u8);
    put_two(out, (year % 100) as u8);
    out.push(b'-');
    put_two(out, month);
    out.push(b'-');
    put_two(out, day);
    Some(())
}

fn put_clock(out: &mut Vec<u8>, hours: u64, minute: u8, second: u8) -> Option<()> {
    if minute > 59 || second > 59 {
        return None;
    }
    if hours < 100 {
        put_two(out, hours as u8);
    } else {
        put_number(out, hours);
    }
    out.push(b':');
    put_two(out, minute);
    out.push(b':');
    put_two(out, second);
    Some(())
}

/// The microseconds, which the server leaves out when there are none.
fn put_fraction(out: &mut Vec<u8>, cursor: &mut Cursor<'_>, digits: u8) -> Option<()> {
    let micros = if cursor.is_empty() { 0 } else { cursor.u32()? };
    if micros > 999_999 {
        return None;
    }
    let shown = match digits {
        0 if micros == 0 => return Some(()),
        0 => 6,
        digits => usize::from(digits),
    };
    let mut text = [b'0'; 6];
    let mut rest = micros;
    for digit in text.iter_mut().rev() {
        *digit = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    out.push(b'.');
    out.extend_from_slice(text.get(..shown)?);
    Some(())
}

fn put_two(out: &mut Vec<u8>, value: u8) {
    out.extend_from_slice(&[b'0' + value / 10 % 10, b'0' + value % 10]);
}

/// Appends a number in decimal.
pub(super) fn put_number(out: &mut Vec<u8>, value: u64) {
    let start = out.len();
    let mut rest = value;
    loop {
        out.push(b'0' + (rest % 10) as u8);
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if let Some(digits) = out.get_mut(start..) {
        digits.reverse();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn date(bytes: &[u8]) -> Option<String> {
        let mut out = Vec::new();
        put_date(&mut out, bytes)?;
        String::from_utf8(out).ok()
    }

    fn date_time(bytes: &[u8], digits: u8) -> Option<String> {
        let mut out = Vec::new();
        put_date_time(&mut out, bytes, digits)?;
        String::from_utf8(out).ok()
    }

    fn time(bytes: &[u8], digits: u8) -> Option<String> {
        let mut out = Vec::new();
        put_time(&mut out, bytes, digits)?;
        String::from_utf8(out).ok()
    }

    #[test]
    fn dates() {
        assert_eq!(date(&[0xea, 7, 11, 21]).unwrap(), "2026-11-21");
        assert_eq!(date(&[]).unwrap(), "0000-00-00");
        assert_eq!(date(&[0xea, 7, 13, 21]), None);
        assert_eq!(date(&[0xea, 7, 11]), None);
    }

    #[test]
    fn dates_with_time() {
        let noon = [0xea, 7, 1, 2, 12, 3, 4];
        assert_eq!(date_time(&noon, 0).unwrap(), "2026-01-02 12:03:04");
        assert_eq!(date_time(&noon, 3).unwrap(), "2026-01-02 12:03:04.000");
        assert_eq!(
            date_time(&[0xea, 7, 1, 2], 0).unwrap(),
            "2026-01-02 00:00:00"
        );
        assert_eq!(date_time(&[], 0).unwrap(), "0000-00-00 00:00:00");
        let with_micros = [0xea, 7, 1, 2, 12, 3, 4, 0x40, 0xe2, 1, 0];
        assert_eq!(
            date_time(&with_micros, 6).unwrap(),
            "2026-01-02 12:03:04.123456"
        );
        assert_eq!(
            date_time(&with_micros, 2).unwrap(),
            "2026-01-02 12:03:04.12"
        );
        assert_eq!(
            date_time(&with_micros, 0).unwrap(),
            "2026-01-02 12:03:04.123456"
        );
        assert_eq!(date_time(&[0xea, 7, 1, 2, 12, 60, 4], 0), None);
    }

    #[test]
    fn spans_of_time() {
        assert_eq!(time(&[], 0).unwrap(), "00:00:00");
        assert_eq!(time(&[0, 0, 0, 0, 0, 9, 8, 7], 0).unwrap(), "09:08:07");
        assert_eq!(
            time(&[1, 34, 0, 0, 0, 22, 59, 59], 0).unwrap(),
            "-838:59:59"
        );
        assert_eq!(
            time(&[0, 0, 0, 0, 0, 1, 2, 3, 1, 0, 0, 0], 6).unwrap(),
            "01:02:03.000001"
        );
        assert_eq!(time(&[0, 0, 0], 0), None);
    }

    #[test]
    fn numbers() {
        let text = |value| {
            let mut out = Vec::new();
            put_number(&mut out, value);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(text(0), "0");
        assert_eq!(text(907), "907");
        assert_eq!(text(u64::MAX), u64::MAX.to_string());
    }
}
