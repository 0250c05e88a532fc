//! Text in the width that there is: prose between words, cells of tables at the joints of names.

/// Wraps each line of a text between words; what follows a line stands under its first word.
pub(crate) fn prose(text: &str, width: usize) -> String {
    let lines: Vec<String> = text.split('\n').map(|line| wrapped(line, width)).collect();
    lines.join("\n")
}

fn wrapped(line: &str, width: usize) -> String {
    let words = line.trim_start();
    let (indent, _) = line.split_at(line.len() - words.len());
    let room = width.saturating_sub(length(indent)).max(1);
    let lines = lines(words.split_inclusive(' ').map(str::to_owned), room);
    let indented: Vec<String> = lines.iter().map(|one| format!("{indent}{one}")).collect();
    indented.join("\n")
}

/// A cell in lines of at most `width`, as far as its parts allow.
pub(crate) fn cell(text: &str, width: usize) -> String {
    if length(text) <= width {
        return text.to_owned();
    }
    let lines: Vec<String> =
        text.split('\n').flat_map(|line| lines(parts(line, width).into_iter(), width)).collect();
    lines.join("\n")
}

/// The least width that breaks no part of a cell.
pub(crate) fn least(text: &str) -> usize {
    let of_line = |line: &str| {
        let bare = line.trim_start();
        let parts = bare.split_inclusive([' ', '/', '_', '-']);
        let mut widths = parts.map(|part| length(part.trim_end()));
        // The indent stays with the first part.
        let first = widths.next().map_or(0, |first| length(line) - length(bare) + first);
        widths.fold(first, usize::max)
    };
    text.split('\n').map(of_line).max().unwrap_or(0)
}

/// Widths of columns that wish for `wished` and can do with `least`, so that all together take at most
/// `room` if that can be: the widest give way first.
pub(crate) fn columns(wished: &[usize], least: &[usize], room: usize) -> Vec<usize> {
    let at = |most: usize| -> Vec<usize> {
        wished.iter().zip(least).map(|(wished, least)| (*wished).min(most).max(*least)).collect()
    };
    let mut most = wished.iter().copied().max().unwrap_or(0);
    while most > 0 && at(most).iter().sum::<usize>() > room {
        most -= 1;
    }
    at(most)
}

/// Where a cell may be broken: after spaces, and after the slashes, underscores and hyphens of words that have no
/// room in one line. Its indent stays with its first part.
fn parts(line: &str, width: usize) -> Vec<String> {
    let text = line.trim_start();
    let (indent, _) = line.split_at(line.len() - text.len());
    let room = width.saturating_sub(length(indent));
    let mut parts: Vec<String> = Vec::new();
    for word in text.split_inclusive(' ') {
        if length(word.trim_end()) <= room {
            parts.push(word.to_owned());
        } else {
            parts.extend(word.split_inclusive(['/', '_', '-']).map(str::to_owned));
        }
    }
    if let Some(first) = parts.first_mut() {
        first.insert_str(0, indent);
    }
    parts
}

/// Puts as many parts into a line as fit.
fn lines(parts: impl Iterator<Item = String>, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for part in parts {
        match lines.last_mut() {
            Some(line) if length(line) + length(part.trim_end()) <= width => line.push_str(&part),
            _ => lines.push(part),
        }
    }
    for line in &mut lines {
        line.truncate(line.trim_end().len());
    }
    if lines.is_empty() {
        lines.push(String::new());
    }
    lines
}

/// Columns that a text takes; ours have no wide or combining characters.
pub(crate) fn length(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_breaks_between_words_and_keeps_its_indent() {
        insta::assert_snapshot!(
            prose("mysql-9.7.4/z12a is slower than mysql-5.6.24/z12a in 3 steps\n  and more of it\n", 30),
            @r"
        mysql-9.7.4/z12a is slower
        than mysql-5.6.24/z12a in 3
        steps
          and more of it
        "
        );
        assert_eq!(prose("", 10), "");
        assert_eq!(prose("averyverylongword b", 5), "averyverylongword\nb");
    }

    #[test]
    fn names_break_at_their_joints_only() {
        assert_eq!(
            cell("mysql-8.0.31/innodb/z12a_c8r32", 14),
            "mysql-8.0.31/\ninnodb/z12a_\nc8r32"
        );
        assert_eq!(cell("points-notcovered-si", 8), "points-\nnotcovered-\nsi");
        assert_eq!(cell("  read-only_range=10", 12), "  read-only_\nrange=10");
        let moved = "server.cpu/o ×1.30, cs/o ×1.02";
        assert_eq!(cell(moved, 23), "server.cpu/o ×1.30,\ncs/o ×1.02");
        assert_eq!(least("  mysql-8.0.31/innodb"), 8);
        assert_eq!(least("about 3 more rounds"), 6);
        assert_eq!(least(""), 0);
    }

    #[test]
    fn the_widest_columns_give_way_first() {
        assert_eq!(columns(&[10, 30, 5], &[4, 6, 5], 100), [10, 30, 5]);
        assert_eq!(columns(&[10, 30, 5], &[4, 6, 5], 25), [10, 10, 5]);
        assert_eq!(columns(&[10, 30, 5], &[4, 20, 5], 25), [4, 20, 5]);
        assert_eq!(columns(&[], &[], 5), [0_usize; 0]);
    }
}
