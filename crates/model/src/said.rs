//! Output of other programs, for errors.

/// Bytes of a text that are kept: more than any message of a server has.
const KEPT: usize = 4096;

/// Output of a server or another program, for errors and logs. A longer text is cut, because it ends in the
/// store and on terminals.
pub fn said(text: &[u8]) -> String {
    let (kept, rest) = text.split_at(text.len().min(KEPT));
    let kept = String::from_utf8_lossy(kept);
    match rest.len() {
        0 => kept.into_owned(),
        // A character that the cut went through is left out.
        more => {
            format!("{}… ({more} bytes more)", kept.trim_end_matches(char::REPLACEMENT_CHARACTER))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::said;

    #[test]
    fn a_long_text_is_cut_and_says_by_how_much() {
        assert_eq!(said(b"Deadlock found"), "Deadlock found");
        assert_eq!(said(&[b'x'; 4096]).len(), 4096);
        let long = said(&vec![b'x'; 900_000]);
        assert!(long.ends_with("x… (895904 bytes more)"), "{long}");
        assert!(long.len() < 4200);
        let in_two = said(format!("{}é", "x".repeat(4095)).as_bytes());
        assert!(in_two.ends_with("x… (1 bytes more)"), "{in_two}");
    }
}
