//! What clients do about errors: `errors = { ignore = ["1062"], reconnect_seconds = 60 }`.

use model::ErrorRules;

use crate::PlanError;
use crate::fields::{Fields, Item};

const LISTS: [&str; 3] = ["ignore", "retry", "fatal"];
/// Codes are short in every Dbms: `1213`, `40P01`, `SQLITE_BUSY_SNAPSHOT`.
const MAX_CODE: usize = 40;

/// Takes over what the table says.
pub(crate) fn read(item: Item<'_>, rules: &mut ErrorRules) -> Result<(), PlanError> {
    let keys = LISTS.into_iter().chain(["tries", "reconnect_seconds"]);
    let fields = Fields::new(item.node, "errors", &keys.collect::<Vec<_>>())?;
    let mut seen: Vec<&str> = Vec::new();
    for key in LISTS {
        let Some(list) = fields.get(key) else {
            continue;
        };
        let mut codes = Vec::new();
        for item in list.list()? {
            let code = code(&item)?;
            if seen.contains(&code) {
                return Err(item.conflict(format!("`errors` has the code `{code}` twice")));
            }
            seen.push(code);
            codes.push(code.to_owned());
        }
        match key {
            "ignore" => rules.ignore = codes,
            "retry" => rules.retry = codes,
            _ => rules.fatal = codes,
        }
    }
    if let Some(tries) = fields.get("tries") {
        rules.tries = tries.small(1..=1_000_000)?;
    }
    if let Some(seconds) = fields.get("reconnect_seconds") {
        rules.reconnect_seconds = seconds.small(0..=86_400)?;
    }
    Ok(())
}

fn code<'a>(item: &Item<'a>) -> Result<&'a str, PlanError> {
    let expected = "a list of codes in quotes such as \"1213\", \"40P01\" or \"08*\"";
    let text = item.text().map_err(|_| item.wrong(expected))?;
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    // A star at the end stands for any rest.
    let begin = text.strip_suffix('*').unwrap_or(text);
    if text.len() > MAX_CODE || !begin.chars().all(is_part) {
        return Err(item.wrong(expected));
    }
    Ok(text)
}
