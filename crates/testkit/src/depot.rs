//! Where backslide keeps the builds that it has installed.

use std::env;
use std::path::PathBuf;

/// The directory that `BACKSLIDE_CACHE` names, otherwise `backslide` in the XDG cache directory: the rule
/// of `obtain`, without depending on it. `None` without a home.
pub fn depot() -> Option<PathBuf> {
    let variable = |name: &str| env::var_os(name).map(PathBuf::from);
    let cache = || variable("XDG_CACHE_HOME").map(|cache| cache.join("backslide"));
    let home = || variable("HOME").map(|home| home.join(".cache/backslide"));
    variable("BACKSLIDE_CACHE").or_else(cache).or_else(home)
}
