//! Builds on this machine.

use std::fs::{self, File};
use std::io::{Read, Seek};
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;
use std::{env, io, path};

use elf::Format;
use model::{Build, BuildSource, Dbms, Version};
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::io::Errno;

use crate::dbms::{servers, version_in};
use crate::error::{Result, ServerError};
use crate::installation::{Installation, base_of, find_program};
use crate::process::Launch;

/// Where distributions and vendors install server programs, besides those of `PATH`;
/// `*` stands for any text within a name.
const PLACES: [&str; 12] = [
    "/usr/sbin",
    "/usr/libexec",
    "/usr/local/sbin",
    "/usr/local/bin",
    "/usr/local/mysql/bin",
    "/usr/local/mariadb/bin",
    "/usr/local/pgsql/bin",
    "/usr/lib/postgresql/*/bin",
    "/usr/pgsql-*/bin",
    "/opt/*/bin",
    "/opt/*/sbin",
    "/opt/*/*/bin",
];

/// How long a program may take to tell its version, or to judge a configuration file.
const VERSION_LIMIT: Duration = Duration::from_secs(10);

/// Bytes of an answer that are read: help on all options takes a fifth of a mebibyte.
const ANSWER_LIMIT: u64 = 4 << 20;

/// How the loader begins to say that it does not find a library, or an old version of it.
const LOADER: &str = "error while loading shared libraries: ";

/// Characters of an unexpected answer that an error shows.
const ANSWER_SHOWN: usize = 300;

/// The builds in the places where servers are installed, each once: by family, then the newest first.
/// A program that does not run or tells no version is left out; [`inspect`] says why.
pub fn discover() -> Vec<Build> {
    let path = env::var_os("PATH").unwrap_or_default();
    let mut directories: Vec<PathBuf> =
        env::split_paths(&path).filter(|d| d.is_absolute()).collect();
    directories.extend(PLACES.iter().flat_map(|pattern| expand(pattern)));
    discover_in(&directories)
}

fn discover_in(directories: &[PathBuf]) -> Vec<Build> {
    let mut seen = Vec::new();
    let mut builds = Vec::new();
    for directory in directories {
        for name in servers().into_iter().flat_map(|dbms| &dbms.product().program.names) {
            let program = directory.join(name);
            // `/sbin` is `/usr/sbin` and `mysqld` is `mariadbd` on many a system.
            let Ok(real) = program.canonicalize() else {
                continue;
            };
            if seen.contains(&real) {
                continue;
            }
            seen.push(real);
            builds.extend(inspect(&program));
        }
    }
    builds.sort_by(|a, b| a.dbms.cmp(&b.dbms).then_with(|| b.version.cmp(&a.version)));
    builds
}

/// The build at a path: a directory that holds the server in its `bin`, `sbin` or `usr/sbin`, or the
/// server program itself.
pub fn inspect(path: &Path) -> Result<Build> {
    let path = path::absolute(path).map_err(ServerError::io("find", path))?;
    let program = find_program(&path, &servers())?;
    let (dbms, version, version_line) = ask_version(&program)?;
    let source = BuildSource::Path(source_of(&program, dbms)?);
    Ok(Build { version_line, ..Build::new(dbms, version, source) })
}

/// The base directory where that alone leads back to the program, otherwise the program's own path.
fn source_of(program: &Path, dbms: Dbms) -> Result<String> {
    let base = base_of(program);
    let leads_back = find_program(&base, &[dbms]).is_ok_and(|found| found == program);
    plain_text(if leads_back { &base } else { program }).map(str::to_owned)
}

/// A path as text that a configuration file can hold.
pub(crate) fn plain_text(path: &Path) -> Result<&str> {
    path.to_str()
        .filter(|text| !text.chars().any(char::is_control))
        .ok_or_else(|| ServerError::PathText { path: path.to_owned() })
}

/// Asks a program in the way of each family that uses its name, or of all where none does.
fn ask_version(program: &Path) -> Result<(Dbms, Version, String)> {
    let named = |dbms: &Dbms| {
        let mut names = dbms.product().program.names.iter();
        program.file_name().is_some_and(|file| names.any(|name| file == name.as_str()))
    };
    let mut products: Vec<Dbms> = servers().into_iter().filter(named).collect();
    if products.is_empty() {
        products = servers();
    }
    let mut asked: Vec<(&[String], String)> = Vec::new();
    for dbms in products {
        let arguments = dbms.product().program.version_arguments.as_slice();
        if !asked.iter().any(|(earlier, _)| *earlier == arguments) {
            asked.push((arguments, answer(program, dbms)?));
        }
        let answers = asked.iter().filter(|(earlier, _)| *earlier == arguments);
        for line in answers.flat_map(|(_, text)| text.lines()) {
            if let Some(version) = version_in(dbms, line) {
                return Ok((dbms, version, line.to_owned()));
            }
        }
    }
    let last = asked.pop().map_or_else(String::new, |(_, text)| text);
    Err(ServerError::NoVersion {
        program: program.to_owned(),
        answer: telling_part(&last).chars().take(ANSWER_SHOWN).collect(),
    })
}

/// What the loader says of a library that is missing, without the path of the program before it; otherwise all.
fn telling_part(answer: &str) -> &str {
    let line = answer.lines().find_map(|line| {
        let start = line.find(LOADER)?;
        line.get(start..)
    });
    line.unwrap_or(answer).trim()
}

/// What a program prints when asked for its version; how it ended where it prints nothing.
fn answer(program: &Path, dbms: Dbms) -> Result<String> {
    let product = dbms.product();
    let installation = Installation::around(program, product);
    let launch = Launch::question(&installation, product);
    check_format(program)?;
    let (status, text) = printed(&launch).map_err(ServerError::cannot_execute(program))?;
    Ok(match status {
        _ if !text.trim().is_empty() => text,
        Some(status) => status.to_string(),
        None => format!("nothing within {VERSION_LIMIT:?}"),
    })
}

/// Refuses what the kernel would: neither a script nor a program for this machine. Otherwise the C library
/// would hand it to a shell, which takes it for a script.
fn check_format(program: &Path) -> Result<()> {
    let format = |path| Format::of(path).map_err(ServerError::cannot_execute(program));
    let ours = match format(Path::new("/proc/self/exe"))? {
        Format::Elf(own) => Some(own.target),
        Format::Script | Format::Foreign(_) | Format::Unknown => None,
    };
    let theirs = match format(program)? {
        Format::Script => return Ok(()),
        Format::Elf(elf) if Some(elf.target) == ours => return Ok(()),
        Format::Elf(elf) => elf.target.to_string(),
        Format::Foreign(system) => system.to_owned(),
        Format::Unknown => return Err(ServerError::cannot_execute(program)(Errno::NOEXEC.into())),
    };
    let ours = ours.map_or_else(|| env::consts::ARCH.to_owned(), |target| target.to_string());
    Err(ServerError::Architecture { program: program.to_owned(), theirs, ours })
}

/// What a program prints that is asked something and ends, and how it ended; `None` for one that took too
/// long and was killed.
pub(crate) fn printed(launch: &Launch<'_>) -> io::Result<(Option<ExitStatus>, String)> {
    // Unlike a pipe, a file in memory never blocks the writer, however much it prints.
    let mut output = File::from(memfd_create(c"version", MemfdFlags::CLOEXEC)?);
    let mut running = launch.spawn(Stdio::null(), output.try_clone()?)?;
    let status = running.wait(VERSION_LIMIT);
    drop(running);
    let mut bytes = Vec::new();
    output.rewind()?;
    output.take(ANSWER_LIMIT).read_to_end(&mut bytes)?;
    Ok((status, String::from_utf8_lossy(&bytes).into_owned()))
}

fn expand(pattern: &str) -> Vec<PathBuf> {
    let mut found = vec![PathBuf::from("/")];
    for part in pattern.split('/').filter(|part| !part.is_empty()) {
        found = match part.split_once('*') {
            None => found.into_iter().map(|directory| directory.join(part)).collect(),
            Some(ends) => found.iter().flat_map(|directory| matching(directory, ends)).collect(),
        };
    }
    found.retain(|directory| directory.is_dir());
    found
}

fn matching(directory: &Path, (start, end): (&str, &str)) -> Vec<PathBuf> {
    let mut names: Vec<PathBuf> = fs::read_dir(directory)
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| {
            let name = entry.file_name();
            name.to_str()
                .and_then(|name| name.strip_prefix(start))
                .is_some_and(|rest| rest.ends_with(end))
        })
        .map(|entry| entry.path())
        .collect();
    names.sort();
    names
}

#[cfg(test)]
mod tests {
    #[test]
    fn programs_and_scripts_of_this_machine_pass_and_others_do_not() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("mysqld");
        let check = |content: &[u8]| {
            fs::write(&path, content).unwrap();
            let refused = check_format(&path).err()?.to_string();
            Some(refused.replace(&directory.path().display().to_string(), "DIR"))
        };
        assert!(check_format(Path::new("/proc/self/exe")).is_ok());
        assert_eq!(check(b"#!/bin/sh\n"), None);
        let mut elf = fs::read("/proc/self/exe").unwrap();
        elf.truncate(64);
        elf[18..20].copy_from_slice(&[243, 0]);
        let ours = env::consts::ARCH;
        assert_eq!(
            check(&elf).unwrap(),
            format!(
                "DIR/mysqld is a program for riscv64, and this machine is {ours}: get the build for {ours}"
            )
        );
        let text = check(b"echo 'mysqld  Ver 8.0.33'").unwrap();
        assert!(text.contains("Exec format error"), "{text}");
        assert!(check(b"").unwrap().contains("Exec format error"));
    }

    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn program(path: &Path, script: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, script).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn says(path: &Path, line: &str) {
        program(path, &format!("#!/bin/sh\necho '{line}'\n"));
    }

    #[test]
    fn a_build_by_directory_and_by_program_in_a_path_with_a_space() {
        let root = tempfile::tempdir().unwrap();
        let base = root.path().join("my builds/eight");
        let mysqld = base.join("bin/mysqld");
        says(&mysqld, "x/mysqld  Ver 8.0.33-25 for Linux on x86_64 (Percona Server (GPL))");
        let by_directory = inspect(&base).unwrap();
        assert_eq!(by_directory.id(), "mysql-8.0.33");
        assert_eq!(by_directory.source, BuildSource::Path(base.display().to_string()));
        assert!(by_directory.version_line.contains("Percona"));
        assert_eq!(inspect(&mysqld).unwrap(), by_directory);
    }

    #[test]
    fn the_version_line_decides_between_families_that_share_a_program_name() {
        let root = tempfile::tempdir().unwrap();
        says(&root.path().join("bin/mysqld"), "mysqld  Ver 10.1.8-MariaDB for Linux on x86_64");
        assert_eq!(inspect(root.path()).unwrap().id(), "mariadb-10.1.8");
        let debug = root.path().join("mysqld-debug");
        says(&debug, "mysqld  Ver 9.7.4 for Linux on x86_64");
        let build = inspect(&debug).unwrap();
        assert_eq!(build.id(), "mysql-9.7.4");
        assert_eq!(build.source, BuildSource::Path(debug.display().to_string()));
    }

    #[test]
    fn discovery_lists_each_program_once_and_the_newest_first() {
        let root = tempfile::tempdir().unwrap();
        let directory = |name: &str| root.path().join(name).join("bin");
        for (name, version) in [("a", "9.6.24"), ("b", "19rc1"), ("c", "15.19")] {
            says(&directory(name).join("postgres"), &format!("postgres (PostgreSQL) {version}"));
        }
        says(&directory("a").join("mysqld"), "mysqld  Ver 8.0.33 for Linux");
        program(&directory("b").join("mysqld"), "#!/bin/sh\nexit 3\n");
        symlink(directory("c"), root.path().join("again")).unwrap();
        let builds = discover_in(&[
            directory("a"),
            directory("b"),
            directory("c"),
            root.path().join("again"),
        ]);
        let ids: Vec<String> = builds.iter().map(Build::id).collect();
        assert_eq!(ids, ["mysql-8.0.33", "postgres-19rc1", "postgres-15.19", "postgres-9.6.24"]);
        assert!(builds.iter().all(|build| build.dbms != Dbms::Mariadb));
    }

    #[test]
    fn errors_say_what_is_wrong_with_the_path() {
        let root = tempfile::tempdir().unwrap();
        let message = |path: &Path| {
            let text = inspect(path).unwrap_err().to_string();
            text.replace(&root.path().display().to_string(), "DIR")
        };
        insta::assert_snapshot!(message(&root.path().join("none")), @"DIR/none does not exist: give the directory that holds bin/, or the server program");
        let odd = root.path().join("bin/postgres");
        program(&odd, "echo 'postgres (PostgreSQL) 15.19'");
        assert!(message(&odd).contains("Exec format error"), "a text without #! was run");
        program(&odd, "#!/bin/sh\n");
        fs::set_permissions(&odd, fs::Permissions::from_mode(0o644)).unwrap();
        insta::assert_snapshot!(message(&odd), @"cannot execute DIR/bin/postgres: Permission denied (os error 13) (make it executable, and see that its filesystem is not mounted noexec)");
        let far = "x".repeat(400);
        program(
            &odd,
            &format!(
                "#!/bin/sh\necho '/{far}/postgres: error while loading shared libraries: libssl.so.1.1: cannot open shared object file: No such file or directory' >&2; exit 127\n"
            ),
        );
        insta::assert_snapshot!(message(&odd), @"DIR/bin/postgres does not say which server it is: `--version` answered `error while loading shared libraries: libssl.so.1.1: cannot open shared object file: No such file or directory`");
        program(&odd, "#!/none/sh\n");
        insta::assert_snapshot!(message(&odd), @"cannot execute DIR/bin/postgres: No such file or directory (os error 2) (its loader is missing: the build was moved after it was patched, or is for another C library)");
        program(&odd, "#!/bin/sh\nexit 3\n");
        insta::assert_snapshot!(message(&odd), @"DIR/bin/postgres does not say which server it is: `--version` answered `exit status: 3`");
    }

    #[test]
    fn patterns_expand_to_directories_that_exist() {
        let root = tempfile::tempdir().unwrap();
        for name in ["pgsql-12/bin", "pgsql-9/bin", "pgsql-x", "other/bin"] {
            fs::create_dir_all(root.path().join(name)).unwrap();
        }
        let pattern = format!("{}/pgsql-*/bin", root.path().display());
        let found = expand(&pattern);
        assert_eq!(found, [root.path().join("pgsql-12/bin"), root.path().join("pgsql-9/bin")]);
        assert!(expand("/nonexistent/*/bin").is_empty());
    }
}
