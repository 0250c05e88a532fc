//! Where the files of a build lie.

use std::fs;
use std::path::{Path, PathBuf};

use model::{Dbms, Product};

use crate::error::ServerError;

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
    /// Messages and character sets.
    pub share: Option<PathBuf>,
    /// SQL of the system tables, in execution order.
    pub scripts: Vec<PathBuf>,
    pub plugins: Option<PathBuf>,
    /// Shared libraries that the build brings along and that its program does not find by itself.
    pub libraries: Option<PathBuf>,
    /// Programs that initialisation needs.
    pub tools: Vec<PathBuf>,
    pub engine_plugins: Vec<PathBuf>,
    /// A data directory that the build brings along, ready to be copied.
    pub seed: Option<PathBuf>,
}

impl Installation {
    /// The files around a server program.
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
pub(crate) fn find_program(path: &Path, products: &[Dbms]) -> Result<PathBuf, ServerError> {
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
}
