//! Text in a file that a spreadsheet may open: a program that takes some of it for a formula, and obeys it.

use std::borrow::Cow;

/// How text begins that a spreadsheet takes for a formula. Tabs and returns are passed over before it looks.
const OBEYED: [char; 6] = ['=', '+', '-', '@', '\t', '\r'];

/// Keeps text from being a formula; spreadsheets do not show it.
const GUARD: char = '\'';

/// The text as a cell has it: behind a `'` where it would be a formula. Numbers need none: they are not text.
pub fn guarded(text: &str) -> Cow<'_, str> {
    if is_formula(text) { Cow::Owned(format!("{GUARD}{text}")) } else { Cow::Borrowed(text) }
}

/// The text that [`guarded`] made the cell from.
pub fn unguarded(cell: &str) -> &str {
    let text = cell.strip_prefix(GUARD);
    text.filter(|text| is_formula(text)).unwrap_or(cell)
}

/// Text that begins with guards itself counts, so that one can be told from ours.
fn is_formula(text: &str) -> bool {
    text.trim_start_matches(GUARD).starts_with(OBEYED)
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
