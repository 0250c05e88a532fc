//! A depot from the outside: what it installs, keeps, repairs and forgets. The servers are shell scripts
//! in archives on this machine.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::cell::Cell;
use std::fmt::Write as _;
use std::fs;
use std::io::{ErrorKind, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use flate2::{Compression, write::GzEncoder};
use model::{
    Build, BuildFacts, BuildSource, Bytes, Cause, Compile, Dbms, Nanos, ObtainEvent, Origin,
    Parcel, Placing, Recipe, VersionMarks,
};
use obtain::{Added, Commit, CommitBuilds, Depot, Installed, ObtainError, Obtained, Repository};
use sha2::{Digest, Sha256};

/// A place for archives and a depot.
struct Bench {
    directory: tempfile::TempDir,
    depot: Depot,
}

impl Bench {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let depot = Depot::new(directory.path().join("depot"));
        Self { directory, depot }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn depot_path(&self, name: &str) -> PathBuf {
        self.depot.root().join(name)
    }

    /// An archive with these files; its path.
    fn archive(&self, name: &str, files: &[(&str, &str)]) -> String {
        let path = self.path(name);
        fs::write(&path, tar(files)).unwrap();
        path.display().to_string()
    }

    /// An error's text, without the places of this run.
    fn words(&self, error: &ObtainError) -> String {
        let text = error.to_string();
        text.replace(&self.directory.path().display().to_string(), "DIR")
    }

    fn names(&self, directory: &str) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.depot_path(directory)) else {
            return Vec::new();
        };
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }

    fn install(&self, recipe: &Recipe) -> Result<Installed, ObtainError> {
        let obtained = self.depot.install(recipe, &[], &ask, &mut |_| {});
        obtained.map(|obtained| obtained.build)
    }

    fn remove(&self, name: &str) -> Result<Bytes, ObtainError> {
        self.depot.remove(name, &mut |_| {})
    }

    fn add(&self, name: &str, archive: &str) -> Result<Installed, ObtainError> {
        let what = Added::Archive(archive.to_owned());
        self.depot.add(name, &what, &[], &ask, &mut |_| {})
    }
}

fn tar(files: &[(&str, &str)]) -> Vec<u8> {
    let mut tar = tar::Builder::new(Vec::new());
    for (name, content) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        tar.append_data(&mut header, name, content.as_bytes()).unwrap();
    }
    tar.into_inner().unwrap()
}

/// A server that says this version.
fn server(version: &str) -> String {
    format!("#!/bin/sh\necho 'mysqld  Ver {version} for Linux'\n")
}

/// The version line of the server in a directory.
fn ask(directory: &Path) -> Result<Build, Cause> {
    let tries = ["bin/mysqld", "usr/sbin/mysqld", ""];
    let programs = tries.iter().map(|place| match *place {
        "" => directory.to_owned(),
        place => directory.join(place),
    });
    let program = programs.into_iter().find(|path| path.is_file()).ok_or("there is no server")?;
    let output = loop {
        match Command::new(&program).output() {
            // A child of another test may still hold the file open for a moment.
            Err(cause) if cause.kind() == ErrorKind::ExecutableFileBusy => thread::yield_now(),
            done => break done.map_err(|cause| format!("cannot run it: {cause}"))?,
        }
    };
    let line = String::from_utf8(output.stdout).unwrap().trim().to_owned();
    let version = line.split_whitespace().nth(2).ok_or("it says nothing")?;
    let version = version.parse().map_err(|_| "no version")?;
    let source = BuildSource::Path(directory.display().to_string());
    Ok(Build { version_line: line, ..Build::new(Dbms::Mysql, version, source) })
}

fn recipe(name: &str, version: &str, archive: &str) -> Recipe {
    Recipe {
        name: name.to_owned(),
        dbms: Dbms::Mysql,
        version: version.parse().unwrap(),
        parcel: Parcel {
            origin: Origin::File(archive.to_owned()),
            sha256: None,
            place: vec![Placing { from: "top/".to_owned(), ..Placing::default() }],
        },
        download: Bytes(1 << 20),
        size: Bytes(1 << 20),
        compile: None,
        facts: BuildFacts { compiler: Some("sh".to_owned()), ..BuildFacts::default() },
    }
}

fn directory_of(installed: &Installed) -> PathBuf {
    match &installed.build.source {
        BuildSource::Installed { directory, .. } => PathBuf::from(directory),
        source => panic!("{source:?}"),
    }
}

#[test]
fn a_recipe_becomes_a_build_with_a_name() {
    let bench = Bench::new();
    let archive = bench.archive("a.tar", &[("top/bin/mysqld", &server("8.0.33")), ("x", "")]);
    let mut recipe = recipe("mysql-8.0.33", "8.0.33", &archive);
    let mut sha256 = String::new();
    for byte in Sha256::digest(fs::read(&archive).unwrap()) {
        write!(sha256, "{byte:02x}").unwrap();
    }
    recipe.parcel.sha256 = Some(sha256.clone());
    let mut events = Vec::new();
    let listen = &mut |event| events.push(event);
    let obtained = bench.depot.install(&recipe, &[], &ask, listen).unwrap();
    assert!(obtained.made);
    let build = obtained.build;
    assert_eq!(build.name, "mysql-8.0.33");
    assert_eq!(build.build.id(), "mysql-8.0.33");
    assert_eq!(build.build.facts, recipe.facts);
    assert_eq!(build.build.version_line, "mysqld  Ver 8.0.33 for Linux");
    assert_eq!(build.archive, Some(sha256));
    assert!(build.size.0 > 0);
    assert!(build.installed.ends_with('Z') && build.installed.len() == 20);
    let BuildSource::Installed { directory, origin, digest } = &build.build.source else {
        panic!("{:?}", build.build.source)
    };
    assert!(Path::new(directory).starts_with(bench.depot_path("trees")));
    assert_eq!((origin, digest.len()), (&archive, 64));
    assert!(matches!(&events[..], [ObtainEvent::Unpacking { .. }, ObtainEvent::Checking { .. }]));
    // Nothing but the tree and its name is left.
    assert_eq!(bench.names("builds"), ["mysql-8.0.33.json"]);
    assert_eq!(bench.names("trees").len(), 1);
    assert_eq!((bench.names("tmp"), bench.names("downloads")), (vec![], vec![]));
    let found = bench.depot.find("mysql-8.0.33").unwrap();
    assert_eq!(found.as_ref(), Some(&build));
    assert_eq!(bench.depot.installed().unwrap(), [build]);
}

#[test]
fn what_is_installed_is_only_asked_and_needs_no_archive() {
    let bench = Bench::new();
    let archive = bench.archive("a.tar", &[("top/bin/mysqld", &server("8.0.33"))]);
    let recipe = recipe("mysql-8.0.33", "8.0.33", &archive);
    let first = bench.install(&recipe).unwrap();
    fs::remove_file(&archive).unwrap();
    let asked = Cell::new(0);
    let counting = |directory: &Path| {
        asked.set(asked.get() + 1);
        ask(directory)
    };
    let again = bench.depot.install(&recipe, &[], &counting, &mut |_| {});
    let there = Obtained { build: first, made: false };
    assert_eq!((again.unwrap(), asked.get()), (there, 1));
    assert_eq!(bench.depot.installed().unwrap().len(), 1);
    assert_eq!(asked.get(), 1, "a look at the list asks no server");
}

#[test]
fn a_build_that_no_longer_answers_is_made_anew() {
    let bench = Bench::new();
    let archive = bench.archive("a.tar", &[("top/bin/mysqld", &server("8.0.33"))]);
    let recipe = recipe("mysql-8.0.33", "8.0.33", &archive);
    let first = bench.install(&recipe).unwrap();
    fs::write(directory_of(&first).join("bin/mysqld"), "").unwrap();
    let second = bench.depot.install(&recipe, &[], &ask, &mut |_| {});
    let Obtained { build: second, made } = second.unwrap();
    assert!(made);
    assert_eq!(first.build, second.build);
    assert!(ask(&directory_of(&second)).is_ok());
    fs::remove_dir_all(bench.depot_path("trees")).unwrap();
    let third = bench.install(&recipe).unwrap();
    assert_eq!(first.build, third.build);
    assert_eq!(bench.names("trees").len(), 1);
}

#[test]
fn another_server_than_the_recipe_says_is_refused() {
    let bench = Bench::new();
    let archive = bench.archive("a.tar", &[("top/bin/mysqld", &server("8.0.32"))]);
    let error = bench.install(&recipe("mysql-8.0.33", "8.0.33", &archive));
    insta::assert_snapshot!(bench.words(&error.unwrap_err()), @"mysql-8.0.33 is the wrong server: it reports `mysqld  Ver 8.0.32 for Linux`, expected mysql 8.0.33");
    let mut other = recipe("mariadb-8.0.32", "8.0.32", &archive);
    other.dbms = Dbms::Mariadb;
    assert!(bench.install(&other).is_err());
    let second = recipe("mysql-8.0.32second", "8.0.32", &archive);
    assert_eq!(bench.install(&second).unwrap().build.id(), "mysql-8.0.32second");
    let candidate = bench.archive("b.tar", &[("top/bin/mysqld", &server("19rc1"))]);
    assert!(bench.install(&recipe("mysql-19rc1", "19rc1", &candidate)).is_ok());
    assert!(bench.install(&recipe("mysql-19", "19", &candidate)).is_err());
    // Refused archives leave nothing.
    assert_eq!(bench.names("trees").len(), 2);
    assert_eq!(bench.depot.installed().unwrap().len(), 2);
}

#[test]
fn a_bad_archive_leaves_nothing_behind() {
    let bench = Bench::new();
    let hostile = bench.archive("a.tar", &[("top/bin/mysqld", &server("8.0.33"))]);
    let mut bytes = fs::read(&hostile).unwrap();
    bytes.truncate(700);
    fs::write(&hostile, bytes).unwrap();
    let error = bench.install(&recipe("mysql-8.0.33", "8.0.33", &hostile));
    let words = bench.words(&error.unwrap_err());
    assert!(words.starts_with("DIR/a.tar is truncated or damaged"), "{words}");
    let mut wrong = recipe("mysql-8.0.33", "8.0.33", &hostile);
    wrong.parcel.sha256 = Some("0".repeat(64));
    let words = bench.words(&bench.install(&wrong).unwrap_err());
    assert!(words.contains("expected 0000"), "{words}");
    for directory in ["builds", "trees", "tmp", "downloads"] {
        assert!(bench.names(directory).is_empty(), "{directory}");
    }
}

#[test]
fn what_does_not_fit_on_the_disk_is_not_begun() {
    let bench = Bench::new();
    let archive = bench.archive("a.tar", &[("top/bin/mysqld", &server("8.0.33"))]);
    let mut large = recipe("mysql-8.0.33", "8.0.33", &archive);
    large.size = Bytes(1 << 50);
    let words = bench.words(&bench.install(&large).unwrap_err());
    let begin = "not enough space in DIR/depot: 1024 TiB are needed, ";
    assert!(words.starts_with(begin) && words.ends_with("free"), "{words}");
}

#[test]
fn after_a_crash_there_is_nothing_or_a_whole_build() {
    let bench = Bench::new();
    let archive = bench.archive("a.tar", &[("top/bin/mysqld", &server("8.0.33"))]);
    // As a crash leaves it: half an unpacked tree, a tree without a name, a name half written.
    for left in ["tmp/.tmpA/scratch/raw", "trees/abc/bin", "downloads/.tmpB", "builds"] {
        fs::create_dir_all(bench.depot_path(left)).unwrap();
    }
    fs::write(bench.depot_path("tmp/.tmpA/scratch/raw/mysqld"), "half").unwrap();
    fs::write(bench.depot_path("tmp/.tmpC"), "{\"name\":").unwrap();
    let closed = fs::Permissions::from_mode(0o500);
    fs::set_permissions(bench.depot_path("trees/abc/bin"), closed).unwrap();
    assert!(bench.depot.installed().unwrap().is_empty());
    let build = bench.install(&recipe("mysql-8.0.33", "8.0.33", &archive)).unwrap();
    assert!(bench.names("tmp").is_empty() && bench.names("downloads").is_empty());
    assert_eq!(bench.names("trees"), [directory_of(&build).file_name().unwrap().to_str().unwrap()]);
}

#[test]
fn names_with_the_same_files_share_them_until_the_last_is_gone() {
    let bench = Bench::new();
    let archive = bench.archive("a.tar", &[("top/bin/mysqld", &server("8.0.33"))]);
    let one = bench.add("one", &archive).unwrap();
    let two = bench.add("two", &archive).unwrap();
    assert_eq!(directory_of(&one), directory_of(&two));
    assert_eq!(one.build.source, two.build.source);
    assert_eq!(bench.names("trees").len(), 1);
    assert_eq!(bench.remove("one").unwrap(), Bytes(0));
    assert!(ask(&directory_of(&two)).is_ok());
    assert_eq!(bench.remove("two").unwrap(), two.size);
    assert!(bench.names("trees").is_empty());
    // Other rules make other trees, even of the same archive.
    bench.add("three", &archive).unwrap();
    bench.install(&recipe("four", "8.0.33", &archive)).unwrap();
    assert_eq!(bench.names("trees").len(), 2);
}

#[test]
fn only_what_is_there_is_removed() {
    let bench = Bench::new();
    let words = |name: &str| bench.words(&bench.remove(name).unwrap_err());
    insta::assert_snapshot!(words("mysql"), @"no build is installed under the name `mysql`: none is installed");
    let archive = bench.archive("a.tar", &[("top/bin/mysqld", &server("8.0.33"))]);
    bench.add("one", &archive).unwrap();
    bench.add("two", &archive).unwrap();
    insta::assert_snapshot!(words("../one"), @"no build is installed under the name `../one`: there are one, two");
}

#[test]
fn a_directory_of_the_users_own_stays_where_it_is() {
    let bench = Bench::new();
    let own = bench.path("my builds/compiled");
    fs::create_dir_all(own.join("bin")).unwrap();
    let program = own.join("bin/mysqld");
    fs::write(&program, server("9.7.4")).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let add = |name: &str, path: &Path| {
        let what = Added::Path(path.to_owned());
        bench.depot.add(name, &what, &[], &ask, &mut |_| {})
    };
    let build = add("mine", &own).unwrap();
    assert_eq!(build.build.source, BuildSource::Path(own.display().to_string()));
    assert_eq!((build.build.id(), build.size, &build.archive), ("mine".into(), Bytes(0), &None));
    assert_eq!(bench.depot.find("mine").unwrap().unwrap(), build);
    insta::assert_snapshot!(bench.words(&add("mine", &own).unwrap_err()), @"`mine` is in use by the build in DIR/my builds/compiled: say `backslide remove mine` first, or choose another name");
    let taken = recipe("mine", "9.7.4", "none");
    insta::assert_snapshot!(bench.words(&bench.install(&taken).unwrap_err()), @"`mine` is in use by the build in DIR/my builds/compiled: say `backslide remove mine` first, or choose another name");
    assert_eq!(bench.remove("mine").unwrap(), Bytes(0));
    assert!(program.exists() && bench.depot.installed().unwrap().is_empty());
    insta::assert_snapshot!(bench.words(&add("none", &bench.path("none")).unwrap_err()), @"DIR/none does not run here: there is no server");
}

#[test]
fn names_are_plain() {
    let bench = Bench::new();
    let archive = bench.archive("a.tar", &[("bin/mysqld", &server("8.0.33"))]);
    for name in ["", ".", "..", "a/b", "a b", "-a", ".a", "ä", "a\n", &"a".repeat(101)] {
        let error = bench.add(name, &archive).unwrap_err();
        assert!(matches!(error, ObtainError::Name { .. }), "{name}: {error}");
        assert_eq!(bench.depot.find(name).unwrap(), None);
    }
    assert!(bench.add(&"a".repeat(100), &archive).is_ok());
    assert!(bench.add("A.b_c-1", &archive).is_ok());
    insta::assert_snapshot!(bench.words(&bench.add("a b", &archive).unwrap_err()), @"`a b` cannot be the name of a build: use 1 to 100 letters, digits, `.`, `-` and `_`, with a letter or digit first");
}

#[test]
fn the_server_in_an_archive_of_unknown_layout_is_found() {
    let bench = Bench::new();
    let base = |name: &str, files: &[(&str, &str)]| {
        let archive = bench.archive(&format!("{name}.tar"), files);
        let build = bench.add(name, &archive).unwrap();
        let directory = directory_of(&build);
        let inside = directory.strip_prefix(bench.depot_path("trees")).unwrap();
        let inside: PathBuf = inside.iter().skip(1).collect();
        inside.display().to_string()
    };
    let mysqld = server("8.0.33");
    assert_eq!(base("top", &[("mysql-8/bin/mysqld", &mysqld), ("mysql-8/readme", "")]), "");
    assert_eq!(base("plain", &[("bin/mysqld", &mysqld)]), "");
    assert_eq!(base("package", &[("usr/sbin/mysqld", &mysqld)]), "");
    assert_eq!(base("deep", &[("a/b/bin/mysqld", &mysqld), ("c", "")]), "a/b");
    assert_eq!(base("bare", &[("x/server/mysqld", &mysqld), ("c", "")]), "x/server/mysqld");
    // The first one is for another machine.
    let several = [("a/bin/mysqld", "\x7fELF other"), ("b/bin/mysqld", &mysqld)];
    assert_eq!(base("several", &several), "b");
    let mut outer = tar::Builder::new(Vec::new());
    let inner = tar(&[("bin/mysqld", &mysqld)]);
    let mut header = tar::Header::new_gnu();
    header.set_size(inner.len() as u64);
    header.set_mode(0o644);
    outer.append_data(&mut header, "x/linux.tar", inner.as_slice()).unwrap();
    outer.append_data(&mut header, "meta", inner.as_slice()).unwrap();
    fs::write(bench.path("outer.tar"), outer.into_inner().unwrap()).unwrap();
    let outer = bench.add("outer", &bench.path("outer.tar").display().to_string());
    assert!(ask(&directory_of(&outer.unwrap())).is_ok());
}

#[test]
fn an_archive_without_a_server_says_what_was_looked_for() {
    let bench = Bench::new();
    let words = |archive: &str| bench.words(&bench.add("x", archive).unwrap_err());
    let nothing = bench.archive("a.tar", &[("a/readme", "x"), ("b/mysqld.cnf", "y")]);
    insta::assert_snapshot!(words(&nothing), @"no server in DIR/a.tar: looked for mysqld, mariadbd or postgres in bin, sbin, libexec or any other directory of it");
    let other = bench.archive("b.tar", &[("bin/mysqld", "\x7fELF of another machine")]);
    let said = words(&other);
    assert!(said.contains("does not run here: cannot run it: Exec format error"), "{said}");
    fs::write(bench.path("page"), "<html>").unwrap();
    let page = words(&bench.path("page").display().to_string());
    assert!(page.contains("page of text"), "{page}");
    assert!(bench.names("trees").is_empty() && bench.names("tmp").is_empty());
}

#[test]
fn a_depot_may_be_moved() {
    let bench = Bench::new();
    let archive = bench.archive("a.tar", &[("bin/mysqld", &server("8.0.33"))]);
    bench.add("one", &archive).unwrap();
    fs::rename(bench.depot.root(), bench.path("moved")).unwrap();
    let moved = Depot::new(bench.path("moved"));
    let there = moved.find("one").unwrap().unwrap();
    assert!(directory_of(&there).starts_with(bench.path("moved")));
    assert!(ask(&directory_of(&there)).is_ok());
}

#[test]
fn a_record_that_cannot_be_read_is_named() {
    let bench = Bench::new();
    fs::create_dir_all(bench.depot_path("builds")).unwrap();
    fs::write(bench.depot_path("builds/one.json"), "{}").unwrap();
    fs::write(bench.depot_path("builds/notes.txt"), "not ours").unwrap();
    let damaged = bench.depot.damaged().unwrap().join("\n");
    let damaged = damaged.replace(&bench.directory.path().display().to_string(), "DIR");
    insta::assert_snapshot!(damaged, @"DIR/depot/builds/one.json is not a record of a build (missing field `base` at line 1 column 2): remove that file and install the build again");
    assert!(bench.depot.installed().unwrap().is_empty());
    // The others go on as before; only files that may be its own are left alone.
    fs::create_dir_all(bench.depot_path("trees/abc/bin")).unwrap();
    let archive = bench.archive("a.tar", &[("top/bin/mysqld", &server("8.0.33"))]);
    let build = bench.add("two", &archive).unwrap();
    assert_eq!(bench.depot.installed().unwrap(), [build]);
    assert_eq!(bench.remove("two").unwrap(), Bytes(0));
    assert!(bench.depot.installed().unwrap().is_empty());
    assert_eq!(bench.names("trees").len(), 2);
    fs::remove_file(bench.depot_path("builds/one.json")).unwrap();
    assert!(bench.depot.damaged().unwrap().is_empty());
    bench.add("three", &archive).unwrap();
    assert_eq!(bench.names("trees").len(), 1);
}

#[test]
fn a_build_that_a_run_uses_stays() {
    let bench = Bench::new();
    let archive = bench.archive("a.tar", &[("top/bin/mysqld", &server("8.0.33"))]);
    let recipe = recipe("mysql-8.0.33", "8.0.33", &archive);
    let build = bench.install(&recipe).unwrap();
    let second = bench.install(&Recipe { name: "second".into(), ..recipe.clone() }).unwrap();
    let inside = directory_of(&build).join("bin");
    let held = [bench.depot.hold("one", &inside), bench.depot.hold("one", &inside)];
    // The files stay under the other name, so that this one may go.
    assert_eq!(bench.remove(&second.name).unwrap(), Bytes(0));
    insta::assert_snapshot!(bench.words(&bench.remove(&build.name).unwrap_err()), @"mysql-8.0.33 is in use by a run: try again when that is done");
    assert_eq!(bench.depot.find(&build.name).unwrap().as_ref(), Some(&build));
    // Neither is it made anew, nor swept without its name.
    fs::write(inside.join("mysqld"), "").unwrap();
    assert!(matches!(bench.install(&recipe), Err(ObtainError::Held { .. })));
    fs::remove_file(bench.depot_path("builds/mysql-8.0.33.json")).unwrap();
    let other = bench.archive("b.tar", &[("bin/mysqld", &server("8.0.34"))]);
    bench.add("other", &other).unwrap();
    assert_eq!(bench.names("trees").len(), 2);
    drop(held);
    bench.remove("other").unwrap();
    assert!(bench.names("trees").is_empty());
    insta::assert_snapshot!(bench.words(&bench.depot.hold("mysql-8.0.31", &bench.depot_path("trees/x/bin")).unwrap_err()), @"the build mysql-8.0.31 in DIR/depot/trees/x/bin was removed: run `backslide install mysql-8.0.31`, or `backslide add mysql-8.0.31` for your own build");
    assert!(bench.depot.hold("mine", &bench.path("a build of the user's own")).is_ok());
}

#[test]
fn files_that_only_look_like_archives_are_left_alone() {
    let bench = Bench::new();
    let gzip = |content: &[u8]| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(content).unwrap();
        encoder.finish().unwrap()
    };
    let inner = gzip(&tar(&[("bin/mysqld", &server("8.0.33"))]));
    let mut truncated = inner.clone();
    truncated.truncate(40);
    let names: Vec<String> = (0..20).map(|n| format!("a/{n}.gz")).collect();
    let short = gzip(b"changes");
    let mut files: Vec<(&str, &[u8])> = names.iter().map(|n| (n.as_str(), &short[..])).collect();
    let long = gzip(&[b'x'; 2000]);
    files.extend([("b/changelog.gz", &long[..]), ("b/half", &truncated)]);
    let outer = |name: &str, files: &[(&str, &[u8])]| {
        let mut tar = tar::Builder::new(Vec::new());
        for (name, content) in files {
            let mut header = tar::Header::new_gnu();
            header.set_size(content.len() as u64);
            header.set_mode(0o644);
            tar.append_data(&mut header, name, *content).unwrap();
        }
        fs::write(bench.path(name), tar.into_inner().unwrap()).unwrap();
        bench.path(name).display().to_string()
    };
    let error = bench.add("none", &outer("none.tar", &files)).unwrap_err();
    let words = bench.words(&error);
    assert!(words.starts_with("no server in DIR/none.tar"), "{words}");
    files.push(("c/server.tar.gz", &inner));
    let build = bench.add("some", &outer("some.tar", &files)).unwrap();
    assert!(ask(&directory_of(&build)).is_ok());
    fs::write(bench.path("short.gz"), short).unwrap();
    let words =
        bench.words(&bench.add("x", &bench.path("short.gz").display().to_string()).unwrap_err());
    assert!(words.contains("gzip of something other than a tar archive"), "{words}");
}

#[test]
fn two_installs_at_once_wait_for_each_other() {
    let bench = Bench::new();
    let archive = bench.archive("a.tar", &[("top/bin/mysqld", &server("8.0.33"))]);
    let recipe = recipe("mysql-8.0.33", "8.0.33", &archive);
    let (began, begin) = mpsc::channel();
    let (waits, waiting) = mpsc::channel();
    let (bench, recipe) = (&bench, &recipe);
    thread::scope(|scope| {
        let first = scope.spawn(move || {
            let slow = |directory: &Path| {
                began.send(()).unwrap();
                // Until the other one waits, or for ever so long that it evidently does not.
                waiting.recv_timeout(Duration::from_secs(20)).unwrap();
                ask(directory)
            };
            bench.depot.install(recipe, &[], &slow, &mut |_| {})
        });
        begin.recv().unwrap();
        let mut said = Vec::new();
        let second = bench.depot.install(recipe, &[], &ask, &mut |event| {
            if said.is_empty() {
                waits.send(()).unwrap();
            }
            said.push(event);
        });
        let (first, second) = (first.join().unwrap().unwrap(), second.unwrap());
        assert_eq!(first.build, second.build);
        assert_eq!((first.made, second.made), (true, false));
        assert!(matches!(said[0], ObtainEvent::Waiting));
        assert!(!said.iter().any(|event| matches!(event, ObtainEvent::Unpacking { .. })));
    });
}

#[test]
fn a_removal_says_that_it_waits() {
    let bench = Bench::new();
    let archive = bench.archive("a.tar", &[("top/bin/mysqld", &server("8.0.33"))]);
    bench.add("one", &archive).unwrap();
    let lock = fs::File::create(bench.depot_path("lock")).unwrap();
    lock.lock().unwrap();
    let mut lock = Some(lock);
    let (depot, said) = (bench.depot.clone(), mpsc::channel());
    let removing =
        thread::spawn(move || depot.remove("one", &mut |event| said.0.send(event).unwrap()));
    let waited = said.1.recv_timeout(Duration::from_secs(20));
    drop(lock.take());
    assert!(removing.join().unwrap().is_ok());
    assert!(matches!(waited, Ok(ObtainEvent::Waiting)));
}

/// How a library of `one.c` is made, with one more flag.
fn compile(flag: &str) -> Compile {
    let words = |text: &str| text.split(' ').map(str::to_owned).collect();
    Compile {
        source: "one.c".to_owned(),
        version: VersionMarks { file: "one.c".to_owned(), after: Vec::new() },
        needs: Vec::new(),
        flags: ["-fPIC", flag].map(str::to_owned).to_vec(),
        options: Vec::new(),
        commands: vec![
            words("{cc} {flags} -c {source}/one.c"),
            words("{cc} -shared -o {into}/one.so one.o -lm"),
        ],
        result: String::new(),
        paths: Vec::new(),
        cpu: Nanos::SECOND,
        space: Bytes(16 << 20),
    }
}

/// The library in a directory, which is not asked.
fn ask_library(directory: &Path) -> Result<Build, Cause> {
    let library = directory.join("one.so");
    if !library.is_file() {
        return Err("there is no library".into());
    }
    let source = BuildSource::Path(library.display().to_string());
    Ok(Build::new(Dbms::Sqlite, "3.1".parse().unwrap(), source))
}

#[test]
fn a_source_file_is_compiled_and_kept_by_how_it_was() {
    let bench = Bench::new();
    let source = "int sqlite(void) { return NUMBER; }";
    let files = [("top/deep/one.c", "#error another one"), ("top/one.c", source)];
    let archive = bench.archive("a.tar", &files);
    let install = |name: &str, flag: &str| {
        let mut recipe = Recipe { dbms: Dbms::Sqlite, ..recipe(name, "3.1", &archive) };
        recipe.parcel.place.clear();
        recipe.compile = Some(compile(flag));
        bench.depot.install(&recipe, &[], &ask_library, &mut |_| {})
    };
    let one = install("sqlite-3.1", "-DNUMBER=1").unwrap().build;
    assert_eq!(one.build.facts.flags.as_deref(), Some("-fPIC -DNUMBER=1"));
    let files = fs::read_dir(directory_of(&one)).unwrap();
    let files: Vec<_> = files.map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(files, ["one.so"]);
    let two = install("sqlite-3.1two", "-DNUMBER=2").unwrap().build;
    assert_ne!(directory_of(&one), directory_of(&two), "other flags make another library");
    let same = install("sqlite-3.1same", "-DNUMBER=1").unwrap().build;
    assert_eq!(directory_of(&one), directory_of(&same));

    let error = bench.words(&install("sqlite-3.1bad", "-DNUMBER=no").unwrap_err());
    assert!(error.starts_with("cannot compile DIR/a.tar: "), "{error}");
    assert!(error.contains(" said: ") && error.contains("error: "), "{error}");
    assert!(error.ends_with("; the log is DIR/depot/logs/sqlite-3.1bad.log"), "{error}");
    assert_eq!((bench.names("tmp").len(), bench.names("trees").len()), (0, 2));
}

#[test]
fn a_source_file_of_the_users_own_is_compiled() {
    let bench = Bench::new();
    let file = bench.path("mine.c");
    fs::write(&file, "int sqlite(void) { return 0; }").unwrap();
    let what = Added::Source(file.clone(), Box::new(compile("-O0")));
    let mine = bench.depot.add("mine", &what, &[], &ask_library, &mut |_| {}).unwrap();
    assert!(directory_of(&mine).join("one.so").is_file());
    assert!(file.is_file(), "it is the user's own");
    let error = bench.depot.add("mine", &what, &[], &ask_library, &mut |_| {}).unwrap_err();
    assert!(bench.words(&error).starts_with("`mine` is in use by the build from DIR/mine.c"));
}

/// A repository with a file in two versions, and its commits.
fn repository(bench: &Bench) -> (Repository, Vec<Commit>) {
    let directory = bench.path("repository");
    fs::create_dir(&directory).unwrap();
    let git = |arguments: &[&str]| {
        let identity = ["-c", "user.name=a", "-c", "user.email=a@b"];
        let mut command = Command::new("git");
        let ran = command.arg("-C").arg(&directory).args(identity).args(arguments).output();
        assert!(ran.as_ref().is_ok_and(|ran| ran.status.success()), "{ran:?}");
    };
    git(&["init", "-q", "-b", "trunk"]);
    for version in ["3.1", "3.2", "3.1"] {
        fs::write(directory.join("one.c"), format!("const char *v = \"{version}\";")).unwrap();
        git(&["add", "."]);
        git(&["commit", "-q", "-m", version]);
    }
    let repository = Repository::new(directory);
    let commits = ["trunk~2", "trunk~1", "trunk"].map(|name| repository.commit(name).unwrap());
    (repository, commits.to_vec())
}

#[test]
fn a_commit_is_compiled_and_commits_with_the_same_files_share_it() {
    let bench = Bench::new();
    let (repository, commits) = repository(&bench);
    let how = |flag| {
        let after = vec!["v = ".to_owned()];
        let version = VersionMarks { file: "one.c".to_owned(), after };
        let compile = Compile { version, ..compile(flag) };
        CommitBuilds::new(repository.clone(), Dbms::Sqlite, compile).unwrap()
    };
    let (builds, others) = (how("-O1"), how("-O0"));
    assert_ne!(builds.name(&commits[0]), others.name(&commits[0]), "other flags, another build");
    let recipes: Vec<Recipe> = commits.iter().map(|it| builds.recipe(it).unwrap()).collect();
    let versions: Vec<String> = recipes.iter().map(|it| it.version.to_string()).collect();
    assert_eq!(versions, ["3.1", "3.2", "3.1"]);
    let install = |recipe: &Recipe| {
        let identify = |directory: &Path| {
            let build = ask_library(directory)?;
            Ok(Build { version: recipe.version.clone(), ..build })
        };
        bench.depot.install(recipe, &[], &identify, &mut |_| {}).unwrap()
    };
    let installed: Vec<_> = recipes.iter().map(|recipe| install(recipe).build).collect();
    assert_eq!(directory_of(&installed[0]), directory_of(&installed[2]), "the same files");
    assert_ne!(directory_of(&installed[0]), directory_of(&installed[1]));
    assert!(!install(&recipes[0]).made, "the second time at once");
    // Files without a version, and a repository that is gone.
    fs::rename(bench.path("repository"), bench.path("moved")).unwrap();
    let error = repository.commit("trunk").unwrap_err();
    assert!(error.is_of_machine());
    assert!(bench.words(&error).starts_with("git in DIR/repository: "), "{error}");
}
