//! Dates and times of binary rows, as in the text protocol. The server leaves out zeros at the end.

/// Appends a date as `2026-11-21`. `None` when the bytes are not a date.
pub(super) fn put_date(out: &mut Vec<u8>, bytes: &[u8]) -> Option<()> {
    let (day, _) = split_date(bytes)?;
    out.extend_from_slice(&date_text(day)?);
    Some(())
}

/// Appends `2026-11-21 10:00:00` with `digits` of the fraction. `None` when the bytes are not a moment.
pub(super) fn put_date_time(out: &mut Vec<u8>, bytes: &[u8], digits: u8) -> Option<()> {
    let (day, clock) = split_date(bytes)?;
    let clock = Clock::read(clock)?;
    if clock.hour > 23 {
        return None;
    }
    let [y1, y2, y3, y4, _, m1, m2, _, d1, d2] = date_text(day)?;
    let [h1, h2] = two(clock.hour);
    let [_, i1, i2, _, s1, s2] = clock.rest();
    out.extend_from_slice(&[
        y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2, b' ', h1, h2, b':', i1, i2, b':', s1, s2,
    ]);
    clock.put_fraction(out, digits)
}

/// Appends a time span as `-838:59:59`, with `digits` of the fraction. `None` when the bytes are none.
pub(super) fn put_time(out: &mut Vec<u8>, bytes: &[u8], digits: u8) -> Option<()> {
    let (negative, days, clock) = match bytes {
        [] => (false, 0, bytes),
        [sign, d1, d2, d3, d4, clock @ ..] if !clock.is_empty() => {
            (*sign != 0, u32::from_le_bytes([*d1, *d2, *d3, *d4]), clock)
        }
        _ => return None,
    };
    let clock = Clock::read(clock)?;
    if negative {
        out.push(b'-');
    }
    let hours = u64::from(days) * 24 + u64::from(clock.hour);
    if hours < 10 {
        out.push(b'0');
    }
    put_number(out, hours);
    out.extend_from_slice(&clock.rest());
    clock.put_fraction(out, digits)
}

/// Year, month and day.
type Day = (u16, u8, u8);

#[inline]
fn split_date(bytes: &[u8]) -> Option<(Day, &[u8])> {
    match bytes {
        [] => Some(((0, 0, 0), bytes)),
        [y1, y2, month, day, clock @ ..] => {
            Some(((u16::from_le_bytes([*y1, *y2]), *month, *day), clock))
        }
        _ => None,
    }
}

#[inline]
fn date_text((year, month, day): Day) -> Option<[u8; 10]> {
    if year > 9999 || month > 12 || day > 31 {
        return None;
    }
    let [y1, y2] = two((year / 100) as u8);
    let [y3, y4] = two((year % 100) as u8);
    let [m1, m2] = two(month);
    let [d1, d2] = two(day);
    Some([y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2])
}

struct Clock {
    hour: u8,
    minute: u8,
    second: u8,
    micros: u32,
}

impl Clock {
    #[inline]
    fn read(bytes: &[u8]) -> Option<Self> {
        let (hour, minute, second, micros) = match *bytes {
            [] => (0, 0, 0, 0),
            [h, m, s] => (h, m, s, 0),
            [h, m, s, f1, f2, f3, f4] => (h, m, s, u32::from_le_bytes([f1, f2, f3, f4])),
            _ => return None,
        };
        let is_possible = minute <= 59 && second <= 59;
        is_possible.then_some(Self { hour, minute, second, micros })
    }

    /// `:mm:ss`.
    #[inline]
    fn rest(&self) -> [u8; 6] {
        let [m1, m2] = two(self.minute);
        let [s1, s2] = two(self.second);
        [b':', m1, m2, b':', s1, s2]
    }

    #[inline]
    fn put_fraction(&self, out: &mut Vec<u8>, digits: u8) -> Option<()> {
        let shown = match digits {
            0 if self.micros == 0 => return Some(()),
            0 => 6,
            digits => usize::from(digits),
        };
        if self.micros > 999_999 {
            return None;
        }
        let mut text = [b'0'; 6];
        let mut rest = self.micros;
        for digit in text.iter_mut().rev() {
            *digit = b'0' + (rest % 10) as u8;
            rest /= 10;
        }
        out.push(b'.');
        out.extend_from_slice(text.get(..shown)?);
        Some(())
    }
}

/// Two digits of a number below 100.
#[inline]
fn two(value: u8) -> [u8; 2] {
    [b'0' + value / 10, b'0' + value % 10]
}

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

    fn shown(bytes: &[u8], digits: u8) -> Option<String> {
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
        assert_eq!(shown(&noon, 0).unwrap(), "2026-01-02 12:03:04");
        assert_eq!(shown(&noon, 3).unwrap(), "2026-01-02 12:03:04.000");
        assert_eq!(shown(&[0xea, 7, 1, 2], 0).unwrap(), "2026-01-02 00:00:00");
        assert_eq!(shown(&[], 0).unwrap(), "0000-00-00 00:00:00");
        let with_micros = [0xea, 7, 1, 2, 12, 3, 4, 0x40, 0xe2, 1, 0];
        assert_eq!(shown(&with_micros, 6).unwrap(), "2026-01-02 12:03:04.123456");
        assert_eq!(shown(&with_micros, 2).unwrap(), "2026-01-02 12:03:04.12");
        assert_eq!(shown(&with_micros, 0).unwrap(), "2026-01-02 12:03:04.123456");
        assert_eq!(shown(&[0xea, 7, 1, 2, 12, 60, 4], 0), None);
        assert_eq!(shown(&[0xea, 7, 1, 2, 24, 0, 0], 0), None);
    }

    #[test]
    fn spans_of_time() {
        assert_eq!(time(&[], 0).unwrap(), "00:00:00");
        assert_eq!(time(&[0, 0, 0, 0, 0, 9, 8, 7], 0).unwrap(), "09:08:07");
        assert_eq!(time(&[1, 34, 0, 0, 0, 22, 59, 59], 0).unwrap(), "-838:59:59");
        assert_eq!(time(&[0, 0, 0, 0, 0, 1, 2, 3, 1, 0, 0, 0], 6).unwrap(), "01:02:03.000001");
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
