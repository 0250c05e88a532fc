//! Text of others made safe, for errors and spreadsheets; words as the variants that are stored as them.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::value::StrDeserializer;

/// How text begins that a spreadsheet takes for a formula. Tabs and returns are passed over before it looks.
const OBEYED: [char; 6] = ['=', '+', '-', '@', '\t', '\r'];

/// Keeps text from being a formula; spreadsheets do not show it.
const GUARD: char = '\'';

/// The text as a cell has it: behind a `'` where it would be a formula. Numbers need none: they are not text.
pub fn guarded(text: &str) -> Cow<'_, str> {
    if is_formula(text) { Cow::Owned(format!("{GUARD}{text}")) } else { Cow::Borrowed(text) }
}

pub fn unguarded(cell: &str) -> &str {
    let text = cell.strip_prefix(GUARD);
    text.filter(|text| is_formula(text)).unwrap_or(cell)
}

/// Text that begins with guards itself counts, so that one can be told from ours.
fn is_formula(text: &str) -> bool {
    text.trim_start_matches(GUARD).starts_with(OBEYED)
}

/// Is it a character that nobody sees: of control, of format such as U+200B and U+202E, or the end of a line?
pub fn is_unseen(c: char) -> bool {
    let is_format = matches!(
        c,
        '\u{ad}'
            | '\u{61c}'
            | '\u{180e}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}'
    );
    c.is_control() || is_format
}

/// Lower-case hexadecimal digits, two a byte.
pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

/// Bytes of a text that are kept: more than any message of a server has.
const KEPT: usize = 4096;

/// Output of a server or another program, cut if long, because it ends in the store and on terminals.
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

pub type Words = &'static [&'static str];

/// The variant that is stored as `word`; otherwise the words of all variants.
pub fn from_word<'w, T: Deserialize<'w>>(word: &'w str) -> Result<T, Words> {
    T::deserialize(StrDeserializer::<NoWord>::new(word)).map_err(|NoWord(words)| words)
}

/// The words of all variants, in the order in which they are declared.
pub(crate) fn words<T: Deserialize<'static>>() -> Words {
    from_word::<T>("").err().unwrap_or_default()
}

pub fn set_word<'w, T: Deserialize<'w>>(target: &mut T, word: &'w str) -> Result<(), Words> {
    *target = from_word(word)?;
    Ok(())
}

#[derive(Debug, thiserror::Error)]
#[error("none of {0:?}")]
struct NoWord(Words);

impl serde::de::Error for NoWord {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self(&[])
    }

    fn unknown_variant(_: &str, expected: Words) -> Self {
        Self(expected)
    }
}

#[cfg(test)]
mod tests {
    use super::{said, *};

    #[test]
    fn no_text_is_a_formula_and_all_of_it_reads_back() {
        for (text, cell) in [
            ("=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"),
            ("+1", "'+1"),
            ("-2+3", "'-2+3"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("\t=1", "'\t=1"),
            ("\r=1", "'\r=1"),
            ("'=1", "''=1"),
            ("'plain'", "'plain'"),
            ("mysql-8.0.31/a=b", "mysql-8.0.31/a=b"),
            ("", ""),
            ("'", "'"),
        ] {
            assert_eq!(guarded(text), cell);
            assert_eq!(unguarded(cell), text);
        }
    }

    #[test]
    fn variants_have_the_names_that_they_are_stored_as() {
        for engine in [&crate::Engine::ALL[..], &[crate::Engine::Other]].concat() {
            assert_eq!(from_word(engine.name()), Ok(engine));
        }
        for transaction in crate::TpccTransaction::ALL {
            assert_eq!(from_word(transaction.name()), Ok(transaction));
        }
    }

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
