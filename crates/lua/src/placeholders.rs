//! Placeholders of prepared statements: scripts write `?`, PostgreSQL wants `$1`.

pub(crate) fn numbered(sql: &str) -> String {
    let (mut text, mut quote, mut number) = (String::with_capacity(sql.len() + 8), None, 0);
    for c in sql.chars() {
        match (c, quote) {
            ('?', None) => {
                number += 1;
                text.push('$');
                text.push_str(&number.to_string());
                continue;
            }
            ('\'' | '"', None) => quote = Some(c),
            (c, Some(open)) if c == open => quote = None,
            _ => {}
        }
        text.push(c);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_placeholders_are_numbered() {
        for (given, expected) in [
            ("BEGIN", "BEGIN"),
            (
                "SELECT c FROM t WHERE id BETWEEN ? AND ?",
                "SELECT c FROM t WHERE id BETWEEN $1 AND $2",
            ),
            (
                "UPDATE t SET c = 'a?''?' WHERE \"k?\" = ?",
                "UPDATE t SET c = 'a?''?' WHERE \"k?\" = $1",
            ),
        ] {
            assert_eq!(numbered(given), expected);
        }
    }
}
