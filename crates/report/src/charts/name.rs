//! Names of files, from words that may be anything.

use std::collections::HashSet;

/// Characters of a name at most. Filesystems allow 255 bytes, with an ending and a temporary one.
const LONGEST: usize = 120;

/// What stands between words, and neither begins nor ends a name.
const MARKS: [char; 2] = ['-', '.'];

/// A safe name for each: two that would be the same get a number. The words begin with a letter.
pub(super) fn names<'a>(words: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut taken = HashSet::new();
    words.map(|words| free(&mut taken, &safe(words))).collect()
}

/// The name, or the first of `name-2`, `name-3` … that is free, which is taken then.
fn free(taken: &mut HashSet<String>, name: &str) -> String {
    let mut free = name.to_owned();
    let mut number = 1;
    while !taken.insert(free.clone()) {
        number += 1;
        free = format!("{name}-{number}");
    }
    free
}

/// Lower-case ASCII without anything that a filesystem, a shell or a link takes for something else.
fn safe(words: &str) -> String {
    let kept = words.chars().map(|c| match c {
        'a'..='z' | '0'..='9' | '.' | '_' => c,
        'A'..='Z' => c.to_ascii_lowercase(),
        _ => '-',
    });
    let mut name = String::new();
    for c in kept.take(LONGEST) {
        // No `..`, and of two marks beside each other the first.
        if !(MARKS.contains(&c) && name.ends_with(MARKS)) {
            name.push(c);
        }
    }
    name.trim_matches(MARKS).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection;
    use proptest::prelude::*;

    fn all(words: &[&str]) -> Vec<String> {
        names(words.iter().copied())
    }

    #[test]
    fn names_of_steps_stay_readable() {
        let words = ["ratio-l.i0", "time-read-only_range=100", "sweep-Point Query ×8"];
        assert_eq!(all(&words), ["ratio-l.i0", "time-read-only_range-100", "sweep-point-query-8"]);
    }

    #[test]
    fn bad_names_are_safe() {
        let words = ["ratio-../../etc/x", "ratio-.hidden", "ratio-<b>\0\n", "ratio-"];
        assert_eq!(all(&words), ["ratio-etc-x", "ratio-hidden", "ratio-b", "ratio"]);
    }

    #[test]
    fn equal_names_get_numbers() {
        assert_eq!(all(&["a-x", "a-X", "a-x-2", "a-x"]), ["a-x", "a-x-2", "a-x-2-2", "a-x-3"]);
    }

    proptest! {
        #[test]
        fn whatever_the_words(words in collection::vec(collection::vec(any::<char>(), 0..200), 0..8)) {
            let words = words.into_iter().map(|word| word.into_iter().collect::<String>());
            let words: Vec<String> = words.map(|word| format!("time-{word}")).collect();
            let names = names(words.iter().map(String::as_str));
            let distinct: HashSet<&String> = names.iter().collect();
            prop_assert_eq!(distinct.len(), names.len());
            for name in &names {
                prop_assert!(name.len() < 140 && name.starts_with("time"), "{}", name);
                let is_safe = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "._-".contains(c);
                prop_assert!(name.chars().all(is_safe) && !name.contains(".."), "{}", name);
            }
        }
    }
}
