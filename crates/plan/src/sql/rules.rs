//! What clients do about errors: `errors = { ignore = ["1062"], reconnect_seconds = 60 }`.

use model::ErrorRules;

use super::scan::is_word;

use crate::Result;
use crate::fields::Item;
use crate::keys::Takes::{Other, Small};
use crate::keys::{self, Key};

/// Codes are short in every Dbms: `1213`, `40P01`, `SQLITE_BUSY_SNAPSHOT`.
const MAX_CODE: usize = 40;

pub(crate) static KEYS: &[Key<ErrorRules>] = &[
    Key("ignore", Other(|r, v| v.each(code).map(|it| r.ignore = it))),
    Key("retry", Other(|r, v| v.each(code).map(|it| r.retry = it))),
    Key("fatal", Other(|r, v| v.each(code).map(|it| r.fatal = it))),
    Key("tries", Small(1..=1_000_000, |r, n| r.tries = n)),
    Key("reconnect_seconds", Small(0..=86_400, |r, n| r.reconnect_seconds = n)),
];

pub(crate) fn read(item: Item<'_>, rules: &mut ErrorRules) -> Result<()> {
    let fields = keys::read(KEYS, item.node, "errors", rules)?;
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
    // A star at the end stands for any rest.
    let begin = text.strip_suffix('*').unwrap_or(text);
    if text.len() > MAX_CODE || !begin.chars().all(is_word) {
        return Err(item.wrong(expected));
    }
    Ok(text.to_owned())
}
