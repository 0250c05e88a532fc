//! A library that is loaded before all others, such as another allocator.

use std::env::consts::ARCH;
use std::fs;
use std::path::{Path, PathBuf};

use crate::installation::Installation;
use crate::refusal::PreloadError;

/// Directories of a build that may hold libraries, relative to its base.
const IN_BUILD: [&str; 4] = ["lib", "lib/private", "syslib", "lib64"];

/// The library that `name` means: an absolute path, a file's name (`libjemalloc.so.2`) or a bare one
/// (`jemalloc`), which are looked for in the build and then where the host has libraries; `None` for an
/// empty one.
pub(crate) fn find(
    name: &str,
    installation: &Installation,
) -> Result<Option<PathBuf>, PreloadError> {
    find_in(name, &places(installation))
}

fn find_in(name: &str, places: &[PathBuf]) -> Result<Option<PathBuf>, PreloadError> {
    if name.is_empty() {
        return Ok(None);
    }
    let found = if name.starts_with('/') {
        let path = PathBuf::from(name);
        let parent = path.parent().unwrap_or(&path).to_owned();
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        let exists = path.is_file().then(|| path.clone());
        exists.ok_or_else(|| not_found(name, &[file.into_owned()], &[parent]))
    } else if name.contains('/') {
        Err(PreloadError::Relative { name: name.to_owned() })
    } else {
        let stems = stems(name);
        let mut all = places.iter().flat_map(|place| stems.iter().map(move |stem| (place, stem)));
        all.find_map(|(place, stem)| newest(place, stem))
            .ok_or_else(|| not_found(name, &patterns(name, &stems), places))
    }?;
    if found.to_string_lossy().contains([' ', '\t', ':', ';']) {
        return Err(PreloadError::Separator { path: found });
    }
    Ok(Some(found))
}

fn not_found(name: &str, files: &[String], places: &[PathBuf]) -> PreloadError {
    let places: Vec<String> = places.iter().map(|p| p.display().to_string()).collect();
    PreloadError::NotFound {
        name: name.to_owned(),
        files: files.join(" or "),
        places: places.join(" "),
    }
}

/// The names of files that are looked for, for people.
fn patterns(name: &str, stems: &[String]) -> Vec<String> {
    let versioned = |stem: &String| {
        if stem == name { stem.clone() } else { format!("{stem}*") }
    };
    stems.iter().map(versioned).collect()
}

/// How the files' names begin that a name may mean.
fn stems(name: &str) -> Vec<String> {
    if name.contains(".so") {
        return vec![name.to_owned()];
    }
    let bare = name.strip_prefix("lib").unwrap_or(name);
    let mut stems = vec![format!("lib{bare}.so")];
    if bare == "tcmalloc" {
        // Without its profiler it has a name of its own.
        stems.push("libtcmalloc_minimal.so".to_owned());
    }
    stems
}

/// The file with this name, otherwise the one with the highest version after it.
fn newest(place: &Path, stem: &str) -> Option<PathBuf> {
    let exact = place.join(stem);
    if exact.is_file() {
        return Some(exact);
    }
    let versioned = format!("{stem}.");
    let entries = fs::read_dir(place).into_iter().flatten().flatten();
    let mut found: Vec<(Vec<u32>, PathBuf)> = entries
        .filter_map(|entry| {
            let name = entry.file_name();
            let version = name.to_str()?.strip_prefix(&versioned)?;
            let parts: Result<_, _> = version.split('.').map(str::parse).collect();
            Some((parts.ok()?, entry.path()))
        })
        .filter(|(_, path)| path.is_file())
        .collect();
    found.sort();
    found.pop().map(|(_, path)| path)
}

/// Where the build and the host have libraries; those that exist, the build's first.
fn places(installation: &Installation) -> Vec<PathBuf> {
    let triplet = format!("{ARCH}-linux-gnu");
    let own = IN_BUILD.iter().map(|name| installation.base.join(name));
    let host = ["/usr/local/lib", "/usr/lib", "/lib"]
        .iter()
        .flat_map(|place| [Path::new(place).join(&triplet), PathBuf::from(place)]);
    let wide = ["/usr/local/lib64", "/usr/lib64", "/lib64"].map(PathBuf::from);
    let mut seen: Vec<PathBuf> = Vec::new();
    let mut places: Vec<PathBuf> = Vec::new();
    for place in installation
        .libraries
        .iter()
        .cloned()
        .chain(own)
        .chain(host)
        .chain(wide)
        .chain(configured("/etc/ld.so.conf.d"))
    {
        // `/lib` is `/usr/lib` on many a system.
        let real = place.canonicalize().ok().filter(|real| real.is_dir());
        if let Some(real) = real
            && !seen.contains(&real)
        {
            seen.push(real);
            places.push(place);
        }
    }
    places
}

/// Directories in the configuration of the host's loader.
fn configured(directory: &str) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    files.sort();
    let texts = files.iter().map(fs::read_to_string);
    texts
        .flatten()
        .flat_map(|text| {
            let lines = text.lines().map(str::trim).filter(|l| l.starts_with('/'));
            lines.map(PathBuf::from).collect::<Vec<_>>()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn touch(path: &Path) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
    }

    #[test]
    fn a_name_is_looked_for_in_each_place_in_turn() {
        let root = tempfile::tempdir().unwrap();
        let places = [root.path().join("own"), root.path().join("host")];
        for file in [
            "host/libjemalloc.so.1",
            "host/libjemalloc.so.2",
            "host/libjemalloc.so.10",
            "host/libjemalloc.so.old",
            "host/libtcmalloc_minimal.so.4",
            "own/libmimalloc.so.2.1",
            "host/libmimalloc.so",
        ] {
            touch(&root.path().join(file));
        }
        let find = |name: &str| {
            let found = find_in(name, &places).unwrap().unwrap();
            found.strip_prefix(root.path()).unwrap().display().to_string()
        };
        assert_eq!(find("jemalloc"), "host/libjemalloc.so.10");
        assert_eq!(find("libjemalloc"), "host/libjemalloc.so.10");
        assert_eq!(find("libjemalloc.so.1"), "host/libjemalloc.so.1");
        assert_eq!(find("tcmalloc"), "host/libtcmalloc_minimal.so.4");
        assert_eq!(find("mimalloc"), "own/libmimalloc.so.2.1");
        let whole = places[1].join("libjemalloc.so.2").display().to_string();
        assert_eq!(find(&whole), "host/libjemalloc.so.2");
        assert_eq!(find_in("", &places), Ok(None));
    }

    #[test]
    fn errors_say_what_was_looked_for() {
        let root = tempfile::tempdir().unwrap();
        let places = [root.path().to_owned()];
        let message = |name: &str| {
            let text = find_in(name, &places).unwrap_err().to_string();
            text.replace(&root.path().display().to_string(), "DIR")
        };
        insta::assert_snapshot!(message("jemalloc"), @"the library to preload, `jemalloc`, is not there: looked for libjemalloc.so* in DIR; install it, or give its whole path");
        insta::assert_snapshot!(message("libx.so.3"), @"the library to preload, `libx.so.3`, is not there: looked for libx.so.3 in DIR; install it, or give its whole path");
        insta::assert_snapshot!(message("/none/libx.so"), @"the library to preload, `/none/libx.so`, is not there: looked for libx.so in /none; install it, or give its whole path");
        insta::assert_snapshot!(message("lib/libx.so"), @"the library to preload, `lib/libx.so`, is neither a name nor a whole path: write `jemalloc` or `/…/libjemalloc.so.2`");
        let blank = root.path().join("a b/libx.so");
        touch(&blank);
        insta::assert_snapshot!(message(&blank.display().to_string()), @"the library to preload, DIR/a b/libx.so, has a blank or a colon in its path, where the loader sees the end of it: link it to another place");
    }

    #[test]
    fn the_build_comes_before_the_host() {
        let root = tempfile::tempdir().unwrap();
        touch(&root.path().join("lib/libc.so.6"));
        let program = root.path().join("bin/mysqld");
        let product = model::Dbms::Mysql.product();
        let installation = Installation::around(&program, product);
        let found = find("libc.so.6", &installation).unwrap().unwrap();
        assert_eq!(found, root.path().join("lib/libc.so.6"));
    }
}
