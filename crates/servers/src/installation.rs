//! Where the files of a build lie.

use std::env::consts::ARCH;
use std::fs;
use std::path::{Path, PathBuf};

use model::{Dbms, Product};

use crate::error::{PreloadError, Result, ServerError};

/// Directories of a build that hold the server program, relative to the path that was given.
const PROGRAM_DIRECTORIES: [&str; 7] =
    ["bin", "sbin", "libexec", "usr/sbin", "usr/bin", "usr/libexec", ""];

/// Bases that are the system's own: their libraries are found without help.
const SYSTEM_BASES: [&str; 3] = ["/", "/usr", "/usr/local"];

/// Where the files of a build lie. All paths are absolute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Installation {
    pub program: PathBuf,
    /// The directory that the others are relative to: `/usr` for `/usr/sbin/mariadbd`.
    pub base: PathBuf,
    pub share: Option<PathBuf>,
    /// SQL of the system tables, in execution order.
    pub scripts: Vec<PathBuf>,
    pub plugins: Option<PathBuf>,
    /// Shared libraries that the build brings along and that its program does not find by itself.
    pub libraries: Option<PathBuf>,
    pub tools: Vec<PathBuf>,
    pub engine_plugins: Vec<PathBuf>,
    /// A data directory that the build brings along, ready to be copied.
    pub seed: Option<PathBuf>,
}

impl Installation {
    pub(crate) fn around(program: &Path, product: &Product) -> Self {
        let tree = &product.program.tree;
        let base = base_of(program);
        let below_base = |names: &[String], is_it: &dyn Fn(&Path) -> bool| {
            names.iter().map(|name| base.join(name)).find(|path| is_it(path))
        };
        let share = below_base(&tree.share, &|path| path.join(&tree.share_marker).is_file());
        let scripts = share.iter().flat_map(|share| {
            tree.scripts.iter().map(|name| share.join(name)).filter(|path| path.is_file())
        });
        let is_system = SYSTEM_BASES.iter().any(|system| Path::new(system) == base);
        let libraries = below_base(&tree.libraries, &|path| !is_system && has_libraries(path));
        let beside = program.parent().unwrap_or(&base);
        let tools = tree.tools.iter().map(|name| beside.join(name));
        let plugins = below_base(&tree.plugins, &|path| path.is_dir());
        let engine_plugins = plugins.iter().flat_map(|directory| {
            let names = product.engine.values().filter_map(|facts| facts.plugin.as_ref());
            let files = names.map(|name| directory.join(name));
            files.filter(|path| path.is_file())
        });
        let is_seed = |path: &Path| !is_system && path.join(&tree.seed_marker).is_dir();
        Self {
            program: program.to_owned(),
            scripts: scripts.collect(),
            engine_plugins: engine_plugins.collect(),
            plugins,
            seed: below_base(&tree.seeds, &is_seed),
            libraries,
            tools: tools.filter(|path| path.is_file()).collect(),
            share,
            base: base.clone(),
        }
    }

    pub(crate) fn tool(&self, name: &str) -> Option<&Path> {
        self.tools
            .iter()
            .find(|path| path.file_name().is_some_and(|file| file == name))
            .map(PathBuf::as_path)
    }
}

/// The server program that a path stands for: the path itself if it is a file, otherwise what lies in the
/// usual directories below it. The path is absolute.
pub(crate) fn find_program(path: &Path, products: &[Dbms]) -> Result<PathBuf> {
    if !path.exists() {
        return Err(ServerError::DoesNotExist { path: path.to_owned() });
    }
    if path.is_file() {
        return Ok(path.to_owned());
    }
    let mut names: Vec<&str> = Vec::new();
    for name in products.iter().flat_map(|dbms| &dbms.product().program.names) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    let candidates = PROGRAM_DIRECTORIES.iter().flat_map(|directory| {
        // Joining an empty name would leave a slash at the end.
        let directory = if directory.is_empty() { path.to_owned() } else { path.join(directory) };
        names.iter().map(move |name| directory.join(name)).collect::<Vec<_>>()
    });
    candidates.into_iter().find(|candidate| candidate.is_file()).ok_or_else(|| {
        ServerError::NoServer {
            path: path.to_owned(),
            looked_for: format!(
                "{} in it and in its {}",
                names.join(", "),
                PROGRAM_DIRECTORIES.join(" ").trim_end()
            ),
        }
    })
}

/// The directory above `bin`, `sbin` or `libexec`; the program's own where it lies elsewhere.
pub(crate) fn base_of(program: &Path) -> PathBuf {
    let directory = program.parent().unwrap_or(Path::new("/"));
    let is_program_directory = directory
        .file_name()
        .is_some_and(|name| ["bin", "sbin", "libexec"].iter().any(|known| name == *known));
    let base = if is_program_directory { directory.parent() } else { None };
    base.unwrap_or(directory).to_owned()
}

/// A directory with shared libraries right in it. Where `syslib` lies beside it, the programs were
/// patched to find everything there, and a library path would only mix two sets.
fn has_libraries(directory: &Path) -> bool {
    let patched = directory.parent().is_some_and(|base| base.join("syslib").is_dir());
    let is_library = |name: &str| name.starts_with("lib") && name.contains(".so");
    !patched
        && fs::read_dir(directory).is_ok_and(|entries| {
            entries.flatten().any(|entry| entry.file_name().to_str().is_some_and(is_library))
        })
}

/// Directories of a build that may hold libraries, relative to its base.
const IN_BUILD: [&str; 4] = ["lib", "lib/private", "syslib", "lib64"];

/// The library that `name` means: an absolute path, a file's name (`libjemalloc.so.2`) or a bare one
/// (`jemalloc`), which are looked for in the build and then where the host has libraries; `None` for an
/// empty one.
pub(crate) fn find_preload(
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
    use crate::dbms::servers;

    fn touch(path: &Path) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
    }

    #[test]
    fn an_archive_and_a_package_have_their_files_in_different_places() {
        let root = tempfile::tempdir().unwrap();
        let tree = Dbms::Mysql.product();
        let archive = root.path().join("my archive");
        for file in [
            "bin/mysqld",
            "lib/libjemalloc.so.1",
            "share/charsets/Index.xml",
            "share/mysql_system_tables.sql",
            "lib/plugin/x.so",
            "lib/plugin/ha_rocksdb.so",
            "seed/mysql/user.frm",
        ] {
            touch(&archive.join(file));
        }
        let found = Installation::around(&archive.join("bin/mysqld"), tree);
        assert_eq!(found.base, archive);
        assert_eq!(found.share, Some(archive.join("share")));
        assert_eq!(found.scripts, [archive.join("share/mysql_system_tables.sql")]);
        assert_eq!(found.plugins, Some(archive.join("lib/plugin")));
        assert_eq!(found.libraries, Some(archive.join("lib")));
        assert_eq!(found.engine_plugins, [archive.join("lib/plugin/ha_rocksdb.so")]);
        assert_eq!(found.seed, Some(archive.join("seed")));

        let package = root.path().join("usr");
        for file in
            ["sbin/mysqld", "share/mysql/charsets/Index.xml", "share/unrelated", "seed/unrelated"]
        {
            touch(&package.join(file));
        }
        let found = Installation::around(&package.join("sbin/mysqld"), tree);
        assert_eq!(found.share, Some(package.join("share/mysql")));
        assert_eq!((found.plugins, found.libraries), (None, None));
        assert!(found.engine_plugins.is_empty());
        assert_eq!(found.seed, None);
    }

    #[test]
    fn patched_programs_get_no_library_path() {
        let root = tempfile::tempdir().unwrap();
        touch(&root.path().join("lib/libssl.so.3"));
        assert!(has_libraries(&root.path().join("lib")));
        fs::create_dir(root.path().join("syslib")).unwrap();
        assert!(!has_libraries(&root.path().join("lib")));
    }

    #[test]
    fn a_program_is_found_below_a_directory_and_by_itself() {
        let root = tempfile::tempdir().unwrap();
        for place in ["a/bin/mysqld", "b/usr/sbin/mariadbd", "c/postgres"] {
            let program = root.path().join(place);
            touch(&program);
            let given = root.path().join(&place[..1]);
            assert_eq!(find_program(&given, &servers()).unwrap(), program);
            assert_eq!(find_program(&program, &servers()).unwrap(), program);
        }
    }

    #[test]
    fn a_directory_without_a_server_says_what_was_looked_for() {
        let root = tempfile::tempdir().unwrap();
        let message = find_program(root.path(), &servers()).unwrap_err().to_string();
        let message = message.replace(&root.path().display().to_string(), "DIR");
        insta::assert_snapshot!(message, @"no database server in DIR: looked for mariadbd, mysqld, postgres in it and in its bin sbin libexec usr/sbin usr/bin usr/libexec");
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
        insta::assert_snapshot!(message("jemalloc"), @"the library to preload, `jemalloc`, is missing: looked for libjemalloc.so* in DIR; install it, or give its whole path");
        insta::assert_snapshot!(message("libx.so.3"), @"the library to preload, `libx.so.3`, is missing: looked for libx.so.3 in DIR; install it, or give its whole path");
        insta::assert_snapshot!(message("/none/libx.so"), @"the library to preload, `/none/libx.so`, is missing: looked for libx.so in /none; install it, or give its whole path");
        insta::assert_snapshot!(message("lib/libx.so"), @"the library to preload, `lib/libx.so`, is neither a name nor a whole path: write `jemalloc` or `/…/libjemalloc.so.2`");
        let blank = root.path().join("a b/libx.so");
        touch(&blank);
        insta::assert_snapshot!(message(&blank.display().to_string()), @"the library to preload, DIR/a b/libx.so, has a space or a colon in its path, which ends it for the loader: link to it from another path");
    }

    #[test]
    fn the_build_comes_before_the_host() {
        let root = tempfile::tempdir().unwrap();
        touch(&root.path().join("lib/libc.so.6"));
        let program = root.path().join("bin/mysqld");
        let product = Dbms::Mysql.product();
        let installation = Installation::around(&program, product);
        let found = find_preload("libc.so.6", &installation).unwrap().unwrap();
        assert_eq!(found, root.path().join("lib/libc.so.6"));
    }
}
