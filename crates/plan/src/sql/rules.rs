//! What clients do about errors: `errors = { ignore = ["1062"], reconnect_seconds = 60 }`.

use model::ErrorRules;

use crate::fields::Item;
use crate::{Result, keys};

/// Codes are short in every Dbms: `1213`, `40P01`, `SQLITE_BUSY_SNAPSHOT`.
const MAX_CODE: usize = 40;

type Key = keys::Key<ErrorRules>;

pub(crate) static KEYS: [Key; 5] = [
    Key::other("ignore", CODES, |r, v| v.each(code).map(|it| r.ignore = it)).says(
        "duplicate keys: 1022, 1062, 1586, 23505, and those of SQLite",
        "the operation counts as done",
    ),
    Key::other("retry", CODES, |r, v| v.each(code).map(|it| r.retry = it)).says(
        "1020, 1205, 1213, 1615, 3572, 40001, 40P01, 55P03, `SQLITE_BUSY`, `SQLITE_LOCKED`",
        "the operation runs again",
    ),
    Key::other("fatal", CODES, |r, v| v.each(code).map(|it| r.fatal = it))
        .says("others", "the trial fails"),
    Key::small("tries", 1..=1_000_000, |r, n| r.tries = n)
        .says("1_000", "how often an operation is tried"),
    Key::small("reconnect_seconds", 0..=86_400, |r, n| r.reconnect_seconds = n)
        .says("0", "how long clients try to connect again; 0: a lost connection fails the trial"),
];

const CODES: &str = "codes besides the default; `\"08*\"` for all with that prefix";
pub(crate) const ERRORS: &str = "a table with keys of [`errors`](workload-files.md#errors)";

pub(crate) fn read(item: Item<'_>, rules: &mut ErrorRules) -> Result<()> {
    let fields = keys::read(&KEYS, item.node, "errors", rules)?;
    let mut seen: Vec<String> = Vec::new();
    for list in ["ignore", "retry", "fatal"].iter().filter_map(|key| fields.get(key)) {
        for item in list.list()? {
            let code = code(item)?;
            if seen.contains(&code) {
                return Err(item.conflict(format!("`errors` has the code `{code}` twice")));
            }
            seen.push(code);
        }
    }
    Ok(())
}

fn code(item: Item<'_>) -> Result<String> {
    let expected = "a list of codes in quotes such as \"1213\", \"40P01\" or \"08*\"";
    let text = item.text().map_err(|_| item.wrong(expected))?;
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    // A star at the end stands for any rest.
    let begin = text.strip_suffix('*').unwrap_or(text);
    if text.len() > MAX_CODE || !begin.chars().all(is_part) {
        return Err(item.wrong(expected));
    }
    Ok(text.to_owned())
}
