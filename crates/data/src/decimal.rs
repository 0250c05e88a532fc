//! Decimal numbers as integers in units of their last digit: exact, without floating point.

/// A decimal number in units of its last digit; `None` for other text and for more than `decimals` decimals.
pub fn parse(text: &[u8], decimals: usize) -> Option<i64> {
    let (is_negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    let point = digits.iter().position(|byte| *byte == b'.');
    let (whole, fraction) = digits.split_at(point.unwrap_or(digits.len()));
    let fraction = fraction.strip_prefix(b".").unwrap_or(fraction);
    let (fraction, beyond) = fraction.split_at(fraction.len().min(decimals));
    if whole.is_empty() || beyond.iter().any(|byte| *byte != b'0') {
        return None;
    }
    let mut units = 0_i64;
    let zeros = std::iter::repeat_n(&b'0', decimals - fraction.len());
    for byte in whole.iter().chain(fraction).chain(zeros) {
        let digit = byte.checked_sub(b'0').filter(|digit| *digit < 10)?;
        units = units.checked_mul(10)?.checked_add(i64::from(digit))?;
    }
    Some(if is_negative { -units } else { units })
}

/// The most characters of a number: sign, point and twenty digits.
const LENGTH: usize = 22;

/// A decimal number as text: `-12.50`. Making it allocates nothing.
#[derive(Clone, Copy, Debug)]
pub struct Digits {
    bytes: [u8; LENGTH],
    /// Where it begins; it ends at the end.
    start: usize,
}

impl Digits {
    #[inline]
    pub fn as_str(&self) -> &str {
        // Digits, point and sign are ASCII.
        std::str::from_utf8(&self.bytes[self.start..]).unwrap_or_default()
    }

    /// Of a number in units of its last digit, with `decimals` digits behind the point.
    #[inline]
    pub fn of(units: i64, decimals: usize) -> Self {
        let mut bytes = [0; LENGTH];
        let mut start = LENGTH;
        let mut put = |byte: u8| {
            start -= 1;
            bytes[start] = byte;
        };
        let mut left = units.unsigned_abs();
        let mut place = 0;
        while left > 0 || place <= decimals {
            if place == decimals {
                put(b'.');
            }
            put(b'0' + (left % 10) as u8);
            left /= 10;
            place += 1;
        }
        if units < 0 {
            put(b'-');
        }
        Self { bytes, start }
    }
}
