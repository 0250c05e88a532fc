//! Names in workload files: what they may be made of, and that none is there twice.

use super::scan::is_word;
use crate::fields::Item;
use crate::{Place, Result};

/// Longer names do not fit into tables.
const MAX_NAME: usize = 60;

/// A name of a step, operation or statement: it stands in tables and file names.
pub(crate) fn label(item: Item<'_>) -> Result<String> {
    checked(item, item.text()?, "-_.=", "letters, digits and - _ . =")
}

/// A name of a table, column, index, draw or variable: it stands in SQL or expressions.
pub(crate) fn identifier(item: Item<'_>) -> Result<String> {
    let text = checked(item, item.text()?, "_", "letters, digits and _")?;
    if text.starts_with(|c: char| c.is_ascii_digit()) {
        return Err(item.wrong("a name that begins with a letter or _"));
    }
    Ok(text)
}

pub(crate) fn identifier_key(key: &str, place: &Place) -> Result<String> {
    let begins_well = key.starts_with(|c: char| is_word(c) && !c.is_ascii_digit());
    if begins_well && key.len() <= MAX_NAME && key.chars().all(is_word) {
        return Ok(key.to_owned());
    }
    Err(place.conflict(format!(
        "`{key}` is not a name: it needs a letter or _ first, then letters, digits and _"
    )))
}

fn checked(item: Item<'_>, text: &str, signs: &str, parts: &str) -> Result<String> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || signs.contains(c);
    if text.len() <= MAX_NAME && text.chars().all(is_part) {
        return Ok(text.to_owned());
    }
    Err(item.wrong(&format!("a name of at most {MAX_NAME} {parts}")))
}

pub(crate) fn check_new<'a>(
    place: &Place,
    what: &str,
    name: &str,
    mut others: impl Iterator<Item = &'a str>,
) -> Result<()> {
    if others.any(|other| other == name) {
        return Err(
            place.conflict(format!("a second {what} `{name}`: give one of them another name"))
        );
    }
    Ok(())
}
