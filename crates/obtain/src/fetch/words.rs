//! A client's error messages.

/// Lines that an error shows of a client without marks.
const LINES: usize = 3;

const CHARACTERS: usize = 600;

/// How clients begin a line that says what was wrong, and how many of those lines say it; those after them
/// are advice on how to ask the client for more.
const MARKS: [(&str, usize); 7] = [
    ("[ERROR] ", 1),
    ("ERROR: ", 2),
    ("npm error ", 3),
    ("npm ERR! ", 3),
    ("E: ", 2),
    ("curl: ", 2),
    ("wget: ", 2),
];

/// The lines in which a client says what was wrong, otherwise the last that it printed; `None` where there
/// is none at all.
pub(super) fn last_words(complained: &str, printed: &str) -> Option<String> {
    let complained = plain(complained);
    let printed = plain(printed);
    let lines = MARKS
        .iter()
        .map(|(mark, count)| marked(complained.iter().chain(&printed), mark, *count))
        .find(|lines| !lines.is_empty())
        .unwrap_or_else(|| last(if complained.is_empty() { printed } else { complained }));
    let text: String = lines.join("; ").chars().take(CHARACTERS).collect();
    (!text.is_empty()).then_some(text)
}

/// What lines have in them that say why a compilation failed.
const ERRORS: [&str; 3] = ["error: ", "CMake Error", "fatal: "];

/// The first lines of a log of a compilation that say what was wrong; `None` where none does.
pub(super) fn errors(log: &str) -> Option<String> {
    let lines = plain(log).into_iter();
    let wrong = lines.filter(|line| ERRORS.iter().any(|error| line.contains(error)));
    let text: String = wrong.take(LINES).collect::<Vec<_>>().join("; ");
    (!text.is_empty()).then(|| text.chars().take(CHARACTERS).collect())
}

/// The first lines with a mark, without it, each once.
fn marked<'a>(lines: impl Iterator<Item = &'a String>, mark: &str, count: usize) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for line in lines.filter_map(|line| line.strip_prefix(mark)) {
        let line = line.trim();
        if found.len() < count && !line.is_empty() && !found.iter().any(|other| other == line) {
            found.push(line.to_owned());
        }
    }
    found
}

fn last(lines: Vec<String>) -> Vec<String> {
    let skipped = lines.len().saturating_sub(LINES);
    lines.into_iter().skip(skipped).collect()
}

/// The non-empty lines, without control characters.
fn plain(text: &str) -> Vec<String> {
    text.lines()
        // Of a line that is written over and over, as progress is, the last counts.
        .map(|line| line.trim_end().rsplit('\r').next().unwrap_or_default())
        .map(|line| without_orders(line).trim().to_owned())
        .filter(|line| !line.is_empty())
        .collect()
}

/// Drops control characters, and the escape sequences that colour text.
fn without_orders(line: &str) -> String {
    let mut kept = String::new();
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        if character == '\u{1b}' {
            let _ = characters.by_ref().skip(1).find(char::is_ascii_alphabetic);
        } else if !character.is_control() {
            kept.push(character);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_that_say_what_is_wrong() {
        let maven = "[\u{1b}[1;31mERROR\u{1b}[m] Failed to execute goal x: Could not find artifact a:b:jar:1\n\
                     [ERROR] \n[ERROR] To see the full stack trace, use -e\n[ERROR] Re-run it\n[ERROR] Help\n";
        insta::assert_snapshot!(last_words("", maven).unwrap(), @"Failed to execute goal x: Could not find artifact a:b:jar:1");
        let npm =
            "npm warn old lockfile\nnpm error code E404\nnpm error 404 Not Found\nnpm error 404\n";
        insta::assert_snapshot!(last_words(npm, "").unwrap(), @"code E404; 404 Not Found; 404");
        let apt = "W: odd\nE: Unable to locate package x\nE: Unable to locate package x\n";
        insta::assert_snapshot!(last_words(apt, "Reading lists\n").unwrap(), @"Unable to locate package x");
    }

    #[test]
    fn without_such_lines_the_last_ones() {
        assert_eq!(last_words("", "one\ntwo\n\n 10%\r 99%\nfour\n").unwrap(), "two; 99%; four");
        assert_eq!(last_words("err\n", "out\n").unwrap(), "err");
        assert_eq!(last_words(" \n\u{7}\n", ""), None);
        assert_eq!(last_words(&"x".repeat(9000), "").unwrap().len(), CHARACTERS);
    }
}
