//! The lines of an order as one text.

use crate::tpcc::input::Line;

/// Digits of a warehouse and of an item: any 32-bit number.
const WIDE: usize = 10;
/// Digits of a quantity.
const NARROW: usize = 2;
/// Characters of a line.
pub(super) const LENGTH: usize = 2 * WIDE + NARROW;

/// Writes the lines of an order: supplying warehouse, item and quantity of each, with leading zeros.
pub(super) fn write(lines: &[Line], out: &mut String) {
    out.clear();
    for line in lines {
        push_padded(out, line.supply, WIDE);
        push_padded(out, line.item, WIDE);
        push_padded(out, line.quantity, NARROW);
    }
}

fn push_padded(out: &mut String, number: u32, width: usize) {
    const ZEROS: &str = "0000000000";
    let mut buffer = itoa::Buffer::new();
    let digits = buffer.format(number);
    out.push_str(&ZEROS[..width.saturating_sub(digits.len())]);
    out.push_str(digits);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_numbers_of_a_fixed_width() {
        let line = |supply, item, quantity| Line { item, supply, quantity };
        let mut text = "old".to_owned();
        write(&[line(1, 100_001, 10), line(u32::MAX, 7, 3)], &mut text);
        assert_eq!(text, "00000000010000100001104294967295000000000703");
        assert_eq!(text.len(), 2 * LENGTH);
    }
}
