//! Names shortened to what tells them apart.

/// Where a name may be cut.
const BETWEEN: [char; 3] = ['/', '-', ' '];

/// Without the words that all begin or end with: `5.6.24` and `9.7.4` of `mysql-5.6.24/innodb/z12a` and
/// `mysql-9.7.4/innodb/z12a`. A single name stays whole.
pub fn short_names(names: &[&str]) -> Vec<String> {
    let whole = || names.iter().map(|name| (*name).to_owned()).collect();
    let Some((first, others)) = names.split_first().filter(|(_, others)| !others.is_empty()) else {
        return whole();
    };
    let begin = |end: &usize| others.iter().all(|name| name.get(..*end) == first.get(..*end));
    let cuts = first.match_indices(BETWEEN).map(|(at, mark)| at + mark.len());
    let start = cuts.filter(begin).max().unwrap_or(0);
    let rests: Vec<&str> = names.iter().map(|name| name.get(start..).unwrap_or(name)).collect();
    let tails = rests[0].match_indices(BETWEEN).map(|(at, _)| &rests[0][at..]);
    let is_shared =
        |tail: &&str| rests.iter().all(|rest| rest.len() > tail.len() && rest.ends_with(*tail));
    let tail = tails.filter(is_shared).max_by_key(|tail| tail.len()).unwrap_or_default();
    let short = rests.iter().map(|rest| rest.strip_suffix(tail).unwrap_or(rest).to_owned());
    let short: Vec<String> = short.collect();
    if short.iter().any(String::is_empty) { whole() } else { short }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn short(names: &[&str], expected: &[&str]) {
        assert_eq!(short_names(names), expected);
    }

    #[test]
    fn what_all_share_is_left_out_at_whole_words() {
        short(&["mysql-5.6.24/innodb/z12a", "mysql-9.7.4/innodb/z12a"], &["5.6.24", "9.7.4"]);
        short(&["mysql-8.0.33/innodb/z12a", "mysql-8.0.33/innodb/z12b"], &["z12a", "z12b"]);
        short(&["sqlite/wal", "sqlite/rollback"], &["wal", "rollback"]);
        short(
            &["mysql-8.0.33/innodb", "mysql-8.0.36/innodb", "mariadb-11/innodb"],
            &["mysql-8.0.33", "mysql-8.0.36", "mariadb-11"],
        );
    }

    #[test]
    fn no_name_gets_lost() {
        short(&["a/b"], &["a/b"]);
        short(&[], &[]);
        short(&["a", "a"], &["a", "a"]);
        short(&["a/x", "a/x"], &["x", "x"]);
        short(&["a/", "a/b"], &["a/", "a/b"]);
        short(&["é/1", "è/1"], &["é", "è"]);
    }
}
