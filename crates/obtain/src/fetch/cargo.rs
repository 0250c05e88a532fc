//! Packages of Rust by `cargo`: asked about a project that needs exactly one, it fetches that and says where it is.

use std::fs;
use std::path::{Path, PathBuf};

use super::client::Call;
use super::errand::{Errand, is_plain};
use crate::error::{FetchError, ObtainError, Result, Trouble};

/// The archive of `name@version`, a copy of the one that stays in cargo's own cache.
pub(super) fn fetch(package: &str, errand: &mut Errand<'_>) -> Result<PathBuf> {
    let parts = package.split_once('@');
    let (name, version) = parts
        .filter(|(name, version)| is_plain(name, "") && is_plain(version, ""))
        .ok_or_else(|| FetchError::coordinates("Cargo", package, "name@version"))?;
    let file = format!("{name}-{version}.crate");
    let archive = errand.into.join(&file);
    if archive.is_file() {
        return Ok(archive);
    }
    let program = errand.client(&["cargo"], "Cargo (Debian's package `cargo`, or rustup)")?;
    let workplace = errand.workplace()?;
    let directory = workplace.path().to_owned();
    // Of no workspace, wherever the depot is; without the package's features, so that little else comes with it.
    let manifest = format!(
        "[workspace]\n[package]\nname = \"fetch\"\nversion = \"0.0.0\"\n[lib]\npath = \"lib.rs\"\n\
         [dependencies]\n{name} = {{ version = \"={version}\", default-features = false }}\n"
    );
    for (name, text) in [("Cargo.toml", manifest.as_str()), ("lib.rs", "")] {
        let path = directory.join(name);
        fs::write(&path, text).map_err(ObtainError::io("write", &path))?;
    }
    let call = Call::new(&program, &directory).arguments(["metadata", "--format-version", "1"]);
    let finished = errand.run(&call)?;
    let Some(kept) = kept_archive(&finished.printed, name, &file) else {
        return Err(errand.failed(&call.name(), Trouble::NothingCame(file)));
    };
    let made = directory.join(&file);
    fs::copy(&kept, &made).map_err(ObtainError::io("copy", &kept))?;
    errand.keep(&call, &made, archive)
}

/// Where cargo keeps the archive of a package: `cache/INDEX/file` beside the unpacked `src/INDEX/name-version`.
fn kept_archive(metadata: &str, name: &str, file: &str) -> Option<PathBuf> {
    let metadata: serde_json::Value = serde_json::from_str(metadata).ok()?;
    let mut packages = metadata.get("packages")?.as_array()?.iter();
    let package = packages.find(|package| package["name"] == name)?;
    let mut above = Path::new(package.get("manifest_path")?.as_str()?).ancestors().skip(2);
    let index = above.next()?;
    let registry = above.nth(1)?;
    let kept = registry.join("cache").join(index.file_name()?).join(file);
    kept.is_file().then_some(kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_archive_is_beside_what_was_unpacked_of_it() {
        let home = tempfile::tempdir().unwrap();
        let index = "cache/index-0123";
        let file = "some-sys-1.2.0.crate";
        fs::create_dir_all(home.path().join(index)).unwrap();
        let source = home.path().join("src/index-0123/some-sys-1.2.0/Cargo.toml");
        let metadata = serde_json::json!({ "packages": [
            { "name": "other", "manifest_path": "/x/Cargo.toml" },
            { "name": "some-sys", "manifest_path": source },
        ] });
        let found = |name| kept_archive(&metadata.to_string(), name, file);
        assert_eq!(found("some-sys"), None, "a mirror may be a directory without archives");
        let archive = home.path().join(index).join(file);
        fs::write(&archive, "").unwrap();
        assert_eq!(found("some-sys"), Some(archive));
        assert_eq!(found("other"), None);
        assert_eq!(kept_archive("{", "some-sys", file), None);
    }
}
