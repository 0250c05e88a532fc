//! A brief report is made to be passed on: it tells nothing of where things lie on the machine.

/// What local paths have in them, each followed by a segment that belongs to this machine.
const MARKS: [&str; 3] = ["/trees/", "/instances/", "/bs-"];

/// The page with each local path cut down to what is below the directory of a build, an instance or a
/// socket.
pub(super) fn without_local_paths(page: &str) -> String {
    MARKS.iter().fold(page.to_owned(), |text, mark| cut(&text, mark))
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
    fn what_is_below_a_build_an_instance_or_a_socket_stays() {
        let page = "<dd>/home/a/.cache/x/trees/0f1e/bin/mysqld</dd> '/lab/instances/r1-1-4/data' \
                    /tmp/bs-80f7b797/s.sock and a/trees/b, /usr/lib/libc.so.6";
        assert_eq!(
            without_local_paths(page),
            "<dd>…/bin/mysqld</dd> '…/data' …/s.sock and a/trees/b, /usr/lib/libc.so.6"
        );
    }
}
