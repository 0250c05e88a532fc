//! What every page has: links to the others, and by what and when it was made.

use model::RunId;
use report::{Filter, List, ListPage};

pub(super) use crate::cmd::history::generated;

/// The pages that stand in every page's header.
const SITE: [(&str, &str); 6] = [
    ("/", "Runs"),
    ("/compare", "Compare"),
    ("/changes", "Regressions"),
    ("/controls", "False alarms"),
    ("/builds", "Builds"),
    ("/metrics", "OpenMetrics"),
];

pub(super) fn list(
    title: &str,
    facts: String,
    filters: Vec<Filter<'_>>,
    list: impl Into<Option<List>>,
) -> String {
    let lists = list.into().into_iter().collect();
    let (links, generated) = (site(), &generated());
    ListPage { title, facts, links, filters, lists, live: None, generated }.html()
}

pub(super) fn site() -> Vec<(String, String)> {
    SITE.map(|(address, name)| (address.to_owned(), name.to_owned())).into()
}

pub(super) fn address_of(run: &RunId) -> String {
    format!("/runs/{run}")
}

/// A name as the value of a parameter of an address.
pub(super) fn encoded(name: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let one = |byte: u8| {
        if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }
    };
    name.bytes().map(one).collect()
}
