//! How wide a text is where no browser tells, and where it is broken into lines.

/// About how wide a text of this size is, in pixels. Rather too wide: the font that a reader has is not
/// known, and what is cut cannot be read.
pub(crate) fn width(text: &str, size: f64) -> f64 {
    size * text.chars().map(em).sum::<f64>()
}

/// The lines of a text, none wider than `most` pixels. Words are broken only where one is wider than a line.
pub(crate) fn lines(text: &str, size: f64, most: f64) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    let mut taken = 0.0;
    for part in text.split_inclusive([' ', '/', '_', '-']) {
        let mut ends_before = taken + width(part.trim_end(), size) > most;
        for c in part.chars() {
            let wide = size * em(c);
            // A space may stand beyond the end of a line, where nobody sees it.
            if taken > 0.0 && (ends_before || (taken + wide > most && c != ' ')) {
                lines.push(std::mem::take(&mut line));
                taken = 0.0;
            }
            ends_before = false;
            line.push(c);
            taken += wide;
        }
    }
    lines.push(line);
    let trimmed = lines.iter().map(|line| line.trim().to_owned());
    trimmed.filter(|line| !line.is_empty()).collect()
}

/// The advance of a character in ems, as in the widest of the usual fonts without serifs.
fn em(c: char) -> f64 {
    match c {
        ' ' | '.' | ',' | ':' | ';' | '\'' | '|' | 'i' | 'j' | 'l' => 0.35,
        '(' | ')' | '[' | ']' | '{' | '}' | '!' | '"' | '/' | '-' | 'f' | 'r' | 't' | 'I' | 'J' => {
            0.46
        }
        'm' | 'M' | 'W' | '%' | '@' => 1.0,
        'a'..='v' | 'x'..='z' | '0'..='9' | '_' | '$' | '?' => 0.65,
        c if c.is_ascii() => 0.86,
        _ => 1.05,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_letters_count_more() {
        assert!(width("WWW", 10.0) > 2.0 * width("iii", 10.0));
        assert!((width("il", 10.0) - 7.0).abs() < 1e-9);
    }

    #[test]
    fn lines_end_after_words_and_after_the_parts_of_names() {
        let broken = lines("mysql-8.0.31/innodb/z12a against the base", 10.0, 130.0);
        assert_eq!(broken, ["mysql-8.0.31/innodb/", "z12a against the base"]);
        assert!(broken.iter().all(|line| width(line, 10.0) <= 130.0));
        assert_eq!(lines("  short ", 10.0, 100.0), ["short"]);
        assert!(lines("", 10.0, 100.0).is_empty());
    }

    #[test]
    fn a_word_that_is_wider_than_a_line_is_broken_anywhere() {
        let broken = lines(&"x".repeat(30), 10.0, 66.0);
        assert_eq!(broken, ["x".repeat(10), "x".repeat(10), "x".repeat(10)]);
        // Narrower than any letter: one a line, and no endless loop.
        assert_eq!(lines("ab", 10.0, 1.0), ["a", "b"]);
    }
}
