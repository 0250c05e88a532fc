//! Text from elsewhere, before it is printed: names of systems, reasons, what servers said. A terminal obeys control
//! characters, so that none of them must get there.

/// The text with its line ends, and with a replacement for every other control character.
pub fn printable(text: &str) -> String {
    let lines: Vec<String> = text.split('\n').map(line).collect();
    lines.join("\n")
}

/// The same on one line.
pub(crate) fn line(text: &str) -> String {
    text.chars().map(in_line).collect()
}

/// A character as it may stand within a line.
pub(crate) fn in_line(c: char) -> char {
    match c {
        '\n' | '\r' | '\t' => ' ',
        _ if c.is_control() => char::REPLACEMENT_CHARACTER,
        _ => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_left_that_a_terminal_obeys() {
        let hostile = "a\u{1b}[31mb\u{9b}2J\u{7}\u{7f}\tc\r\nd Ä×µ";
        let told = "a\u{fffd}[31mb\u{fffd}2J\u{fffd}\u{fffd} c \nd Ä×µ";
        assert_eq!(printable(hostile), told);
        assert_eq!(line(hostile), told.replace('\n', " "));
    }
}
