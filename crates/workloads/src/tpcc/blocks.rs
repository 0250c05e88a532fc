//! Files of SQL, compiled in, whose blocks have names.

use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::{Error, StrDeserializer};

/// The fields of a block's header, `-- a | b | c`, and the lines below it. Lines that begin with `---` are notes.
pub(super) fn blocks(text: &str) -> impl Iterator<Item = (Vec<&str>, Vec<&str>)> {
    let blocks = text.split("\n-- ").skip(1);
    blocks.map(|block| {
        let is_text = |line: &&str| !line.is_empty() && !line.starts_with("---");
        let mut lines = block.lines().filter(is_text);
        let header = lines.next().unwrap_or_default();
        (header.split('|').map(str::trim).collect(), lines.collect())
    })
}

/// The variant with this name; `None` where there is none.
pub(super) fn named<'a, T: Deserialize<'a>>(name: &'a str) -> Option<T> {
    let name: StrDeserializer<'a, Error> = name.into_deserializer();
    T::deserialize(name).ok()
}
