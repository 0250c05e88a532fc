//! Text and JSON as they may be printed, and without local paths.

use std::fmt::Write as _;

use serde::Serialize;

use crate::format;

/// The text with its line ends, and with a replacement for every other control character.
pub fn printable(text: &str) -> String {
    format::joined(text.split('\n').map(line), "\n")
}

/// A value as JSON that may be printed: indented, with a newline at its end.
///
/// # Panics
/// Where a key of a map is no text: ours all are.
pub fn pretty_json(value: &impl Serialize) -> String {
    let json = serde_json::to_string_pretty(value);
    let json = json.unwrap_or_else(|_| unreachable!("strings and numbers always serialise"));
    format!("{}\n", printable_json(&json))
}

/// The text with other text in the place of some of its characters.
pub(crate) fn replaced(text: &str, by: impl Fn(char) -> Option<&'static str>) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match by(c) {
            Some(other) => safe.push_str(other),
            None => safe.push(c),
        }
    }
    safe
}

/// Escapes the control characters that JSON strings may hold as they are, U+007F to U+009F: U+009B commands a terminal.
fn printable_json(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            '\u{7f}'..='\u{9f}' => {
                let _infallible = write!(text, "\\u{:04x}", u32::from(c));
            }
            _ => text.push(c),
        }
    }
    text
}

/// A [`printable`] text on one line.
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

/// An object of JSON: these fields in this order, each with any value that serialises.
#[macro_export]
macro_rules! object {
    ($($field:ident: $value:expr),+ $(,)?) => {{
        #[expect(non_camel_case_types, reason = "the type of each field has the field's name")]
        let object = {
            #[derive(::serde::Serialize)]
            struct Object<$($field),+> {
                $($field: $field),+
            }
            Object { $($field: $value),+ }
        };
        object
    }};
}

/// What local paths have in them, each followed by a segment that belongs to this machine.
const LOCAL_MARKS: [&str; 3] = ["/trees/", "/instances/", "/bs-"];

/// Cuts each local path down to what is below the directory of a build, an instance or a socket.
pub(super) fn without_local_paths(page: &str) -> String {
    LOCAL_MARKS.iter().fold(page.to_owned(), |text, mark| cut(&text, mark))
}

fn cut(page: &str, mark: &str) -> String {
    let is_of_path = |c: char| c.is_alphanumeric() || "/._-".contains(c);
    let mut text = String::with_capacity(page.len());
    let mut rest = page;
    while let Some((before, after)) = rest.split_once(mark) {
        let begin = before
            .rfind(|c| !is_of_path(c))
            .map_or(0, |at| at + before[at..].chars().next().map_or(1, char::len_utf8));
        let segment = after.find(|c| c == '/' || !is_of_path(c)).unwrap_or(after.len());
        // A path begins at the root; anything else is text that happens to have such a word.
        if before[begin..].starts_with('/') && segment > 0 {
            text.push_str(&before[..begin]);
            text.push('…');
        } else {
            text.push_str(before);
            text.push_str(mark);
            text.push_str(&after[..segment]);
        }
        rest = &after[segment..];
    }
    text.push_str(rest);
    text
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

    #[test]
    fn json_keeps_what_it_says_without_what_a_terminal_obeys() {
        let hostile = "a\u{1b}[31m\u{7f}b\u{80}\u{9b}2J\u{9f}\u{a0}ä";
        let json = serde_json::to_string(hostile).unwrap();
        assert!(json.chars().any(char::is_control), "{json}");
        let safe = printable_json(&json);
        assert!(!safe.chars().any(char::is_control), "{safe}");
        assert!(safe.contains("b\\u0080\\u009b2J\\u009f\u{a0}ä"), "{safe}");
        assert_eq!(serde_json::from_str::<String>(&safe).unwrap(), hostile);
    }
}

#[cfg(test)]
mod tests_of_shared {
    use super::*;

    #[test]
    fn what_is_below_a_build_an_instance_or_a_socket_stays() {
        let page = "<dd>/home/a/.cache/x/trees/0f1e/bin/mysqld</dd> '/lab/instances/r1-1-4/data' \
                    /tmp/bs-80f7b797/s.sock and a/trees/b, /usr/lib/libc.so.6";
        assert_eq!(
            without_local_paths(page),
            "<dd>…/bin/mysqld</dd> '…/data' …/s.sock and a/trees/b, /usr/lib/libc.so.6"
        );
    }
}
