//! `backslide bisect` over versions of SQLite, of which some are slow.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use common::{Bench, end, signal, wait_for};
use rustix::process::Signal;

/// Releases of the catalog with version numbers of equal length.
const VERSIONS: [&str; 6] = ["3.44.2", "3.45.0", "3.45.3", "3.46.0", "3.48.0", "3.49.1"];
/// The first slow one.
const SLOW: &str = "3.46.0";

/// One statement, which takes microseconds.
const WORKLOAD: &str = r#"name = "reads"
summary = "points of a small table"
[defaults]
rows = 500
[[table]]
name = "t"
rows = "rows"
primary_key = ["id"]
[table.columns]
id = { type = "int", value = "row" }
[operation.read]
draws = { id = { int = [1, "rows"] } }
sql = "SELECT id FROM {table} WHERE id = :id"
expect = 1
[[step]]
name = "read"
group = "point"
operation = "read"
"#;

/// Spins for most of a millisecond before each step of a statement.
const SPIN: &str = "int fast_step(void *s);
int sqlite3_step(void *s) { for (volatile int i = 0; i < 600000; i++) {} return fast_step(s); }
";

/// Each test has the machine for itself: noise from another one would move the result.
static MACHINE: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    MACHINE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn succeed(command: &mut Command) {
    let ran = command.output().unwrap();
    assert!(ran.status.success(), "{command:?}: {ran:?}");
}

/// The objects of the SQLite that is built in.
fn objects() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let builds = fs::read_dir(test.ancestors().nth(2).unwrap().join("build")).unwrap().flatten();
    let mut objects = builds.map(|entry| entry.path().join("out/libsqlite3.a"));
    objects.find(|path| path.is_file()).unwrap()
}

/// Links the objects to a library that says it is of this version.
fn library(directory: &Path, version: &str, is_slow: bool) -> PathBuf {
    let path = |name: &str| directory.join(name);
    fs::create_dir_all(directory).unwrap();
    let (objects, library) = (path("objects.a"), path("libsqlite3.so"));
    let mut copy = Command::new("objcopy");
    if is_slow {
        copy.arg("--redefine-sym=sqlite3_step=fast_step");
    }
    succeed(copy.arg(self::objects()).arg(&objects));
    fs::write(path("spin.c"), if is_slow { SPIN } else { "" }).unwrap();
    succeed(
        Command::new("cc")
            .args(["-O2", "-fPIC", "-shared", "-Wl,-Bsymbolic", "-o"])
            .arg(&library)
            .arg(path("spin.c"))
            .arg("-Wl,--whole-archive")
            .arg(objects)
            .args(["-Wl,--no-whole-archive", "-lpthread", "-ldl", "-lm"]),
    );
    let ours = drivers::sqlite_version();
    assert_eq!(ours.len(), version.len());
    let mut bytes = fs::read(&library).unwrap();
    let is_version = |at: &usize| bytes[*at..].starts_with(format!("{ours}\0").as_bytes());
    let places: Vec<usize> = (0..bytes.len()).filter(is_version).collect();
    for at in places {
        bytes[at..at + version.len()].copy_from_slice(version.as_bytes());
    }
    fs::write(&library, bytes).unwrap();
    library
}

/// A bench where these versions are installed.
fn bench(slow_from: Option<&str>) -> Bench {
    let bench = Bench::new();
    bench.write("reads.toml", WORKLOAD);
    for version in VERSIONS {
        let is_slow = slow_from.is_some_and(|from| version >= from);
        let library = library(&bench.path(version), version, is_slow);
        let name = format!("sqlite-{version}");
        bench.run(&["add", &name, "--path", library.to_str().unwrap()]).fine();
    }
    bench
}

const BISECT: [&str; 9] = [
    "bisect",
    "--good",
    "sqlite-3.44.2",
    "--bad",
    "sqlite-3.49.1",
    "--step",
    "read",
    "--workload",
    "reads.toml",
];

fn bisect(bench: &Bench, more: &[&str]) -> common::Ran {
    bench.run(&[&BISECT[..], more].concat())
}

fn runs(bench: &Bench) -> usize {
    bench.run(&["list", "--format", "json"]).json().as_array().unwrap().len()
}

/// Kills it after the run of this number has begun.
fn kill_in_run(bench: &Bench, child: Child, number: usize) {
    wait_for("a run", || (bench.lab().exists() && runs(bench) >= number).then_some(()));
    std::thread::sleep(Duration::from_millis(700));
    signal(&child, Signal::KILL);
    end(child);
}

#[test]
fn it_names_the_build_although_it_is_killed_twice() {
    let _alone = alone();
    let bench = bench(Some(SLOW));
    let dry = bisect(&bench, &["--dry-run"]).fine();
    assert!(dry.starts_with("6 builds: rate of read, sqlite-3.44.2 to sqlite-3.49.1\n"), "{dry}");
    for number in [1, 3] {
        kill_in_run(&bench, bench.start(&BISECT), number);
    }
    let found = bisect(&bench, &["--format", "json"]).json();
    assert_eq!((&found["result"], &found["builds"]), (&"found".into(), &["sqlite-3.46.0"].into()));
    assert!(
        found["probability"].as_f64() > Some(0.95) && found["high"].as_f64() < Some(0.95),
        "{found}"
    );
    // The one that is not installed has no source here.
    let all = bench.run(&["list", "--format", "json"]).json();
    let unfinished = |run: &serde_json::Value| run["state"] != "finished" || run["failed"] != 0;
    assert!(!all.as_array().unwrap().iter().any(unfinished), "{all}");
    // Nothing is measured again to say it again.
    let before = runs(&bench);
    let told = bisect(&bench, &[]).fine();
    assert!(
        told.contains("\nsqlite-3.46.0 changed rate of read, with a probability of "),
        "{told}"
    );
    assert_eq!(runs(&bench), before);
}

/// A C compiler for the commits of [`repository`]: it links nothing, and the word `spin` makes a library slow.
fn compiler(bench: &Bench) -> PathBuf {
    let library =
        |name: &str, is_slow| library(&bench.path(name), drivers::sqlite_version(), is_slow);
    let (fast, slow) = (library("fast", false), library("slow", true));
    let script = format!(
        "#!/bin/sh\n[ \"$1\" = --version ] && echo stand-in && exit\n[ \"$1\" = -E ] && exit\n\
         while [ $# -gt 0 ]; do case $1 in -o) shift; out=$1;; *.c|*.o) source=$1;; esac; shift; done\n\
         [ \"${{source%.o}}\" != \"$source\" ] && cp \"$source\" \"$out\" && exit\n\
         grep -q broken \"$source\" && echo 'error: broken' >&2 && exit 1\n\
         if grep -q spin \"$source\"; then cp {} \"$out\"; else cp {} \"$out\"; fi\n",
        slow.display(),
        fast.display()
    );
    let directory = bench.path("bin");
    fs::create_dir(&directory).unwrap();
    let file = directory.join("cc");
    fs::write(&file, script).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    directory
}

/// A repository of eight commits. The sixth and later ones spin; the two in the middle do not compile.
fn repository(bench: &Bench) -> PathBuf {
    let directory = bench.path("repository");
    fs::create_dir(&directory).unwrap();
    let git = |arguments: &[&str]| {
        let identity = ["-c", "user.name=a", "-c", "user.email=a@b"];
        let mut command = Command::new("git");
        command.arg("-C").arg(&directory).args(identity).args(arguments);
        // Equal commits have equal hashes.
        for date in ["GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"] {
            command.env(date, "2026-01-01T00:00:00Z");
        }
        succeed(&mut command);
    };
    git(&["init", "-q", "-b", "trunk"]);
    for number in 1..=8 {
        let spin = if number >= 6 { "spin" } else { "" };
        let broken = if matches!(number, 4 | 5) { "broken" } else { "" };
        let version = drivers::sqlite_version();
        let text = format!("#define SQLITE_VERSION \"{version}\"\n/* {number} {spin} {broken} */");
        fs::write(directory.join("sqlite3.c"), text).unwrap();
        git(&["add", "."]);
        git(&["commit", "-q", "-m", &format!("Edit {number}")]);
        fs::write(directory.join("README"), number.to_string()).unwrap();
        git(&["add", "."]);
        git(&["commit", "-q", "-m", "Write"]);
        git(&["tag", &format!("v{number}")]);
    }
    directory
}

#[test]
fn what_is_wrong_is_told() {
    let _alone = alone();
    let bench = bench(None);
    let error = |more: &[&str]| {
        let ran = bench.run(&[&["bisect"], more].concat());
        assert_eq!((ran.code(), ran.stdout.as_str()), (1, ""), "{ran:?}");
        ran.stderr.trim_end().to_owned()
    };
    let asked: [[&[&str]; 2]; 8] = [
        [&["sqlite-3.49.1", "sqlite-3.44.2"], &["scan"]],
        [&["sqlite-3.44.2", "sqlite-3.44.2"], &["scan"]],
        [&["sqlite-3.44.2", "mysql-8.0.31"], &["scan"]],
        [&["sqlite-3.44.2", "sqlite-3.99"], &["scan"]],
        [&["sqlite-3.44.2", "sqlite-3.49.1"], &["scan", "--metric", "speed"]],
        [&["sqlite-3.44.2", "sqlite-3.49.1"], &["scann"]],
        [&["sqlite-3.44.2", "sqlite-3.49.1"], &["new-order", "--workload", "tpcc"]],
        // SQLite has no server.
        [
            &["sqlite-3.44.2", "sqlite-3.49.1"],
            &["read", "--workload", "reads.toml", "--metric", "server.cpu/o"],
        ],
    ];
    let errors = asked.map(|[ends, more]| {
        error(&[&["--good", ends[0], "--bad", ends[1], "--step"], more].concat())
    });
    insta::assert_snapshot!(errors.join("\n"), @r#"
    error: --good sqlite-3.49.1 is not older than --bad sqlite-3.44.2: exchange them; backslide finds improvements, too
    error: --good and --bad are the same
    error: sqlite-3.44.2 and mysql-8.0.31 are different products: name two versions of one
    error: --bad: no build `sqlite-3.99`: it is neither installed nor in the catalog; nearest `sqlite-3.54.1`; `backslide builds` lists available builds, `backslide add` adds one of your own, in a plan `path = "…"` says where one is
    error: --metric: no metric `speed`; `compare --metric all` lists those of a run
    error: bisect:24: no test `scann`; nearest `scan`; available: scan, delete, insert, update-one, update-index, update-zipf, point-query, update-inlist and 39 more (`backslide workloads micro`)
    error: --step: no step `new-order`; this workload measures load, index, h1
    6 builds: server.cpu/o of read, sqlite-3.44.2 to sqlite-3.49.1
    error: server.cpu/o is not measured here, or zero; `backslide show r1`
    "#);
    // Few pairs decide nothing.
    let ran = bisect(&bench, &["--pairs", "4", "--format", "json"]);
    assert_eq!(ran.code(), 11, "{ran:?}");
    assert!(ran.stdout.contains("\"result\": \"undecided\""), "{ran:?}");
}

#[test]
fn it_names_the_commit_and_skips_one_that_does_not_compile() {
    let _alone = alone();
    let bench = Bench::new();
    bench.write("reads.toml", WORKLOAD);
    let (compiler, repository) = (compiler(&bench), repository(&bench));
    let bisect = |good: &str, bad: &str| {
        let git = repository.to_str().unwrap();
        let fixed = ["bisect", "--git", git, "--step", "read", "--workload", "reads.toml"];
        let arguments = [&fixed[..], &["--good", good, "--bad", bad]].concat();
        let path = format!("{}:{}", compiler.display(), std::env::var("PATH").unwrap());
        let mut command = bench.command(&arguments);
        // The stand-in does not preprocess.
        command.env("PATH", path).env("CCACHE_DISABLE", "1").output().unwrap()
    };
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    fs::write(repository.join("sqlite3.c"), "edited").unwrap();
    let found = bisect("v1", "v8");
    let (told, notes) = (text(found.stdout), text(found.stderr));
    assert!(found.status.success(), "{told}{notes}");
    assert!(notes.contains("uncommitted changes are not measured\n"), "{notes}");
    // The middle comes first, and without it nothing tells the sixth from the two before it.
    assert!(notes.contains(" is skipped: ") && notes.contains("broken"), "{notes}");
    let told = told.replace('\n', " ");
    assert!(
        told.contains("one of the 3 builds git-") && told.contains("(Edit 6) changed"),
        "{told}"
    );
    let error = |good: &str, bad: &str| {
        let ran = bisect(good, bad);
        assert_eq!(ran.status.code(), Some(1), "{ran:?}");
        text(ran.stderr).replace(repository.to_str().unwrap(), "DIR")
    };
    let asked = [("v8", "v1"), ("v1", "none"), ("v1", "v1~0")];
    insta::assert_snapshot!(asked.map(|(good, bad)| error(good, bad)).join(""), @"
    error: --bad v1 is older than --good v8: exchange them; backslide finds improvements, too
    error: --bad names no commit
      because git in DIR: no commit `none`
    error: no commit from v1 to v1~0 changes sqlite3.c; name other files or directories with --paths
    ");
    let broken = error("v1", "v4");
    assert!(
        broken.contains(" was not installed\n") && broken.contains("said: error: broken"),
        "{broken}"
    );
    // Only the last commit is here.
    let shallow = bench.path("shallow");
    let origin = format!("file://{}", repository.display());
    succeed(Command::new("git").args(["clone", "-q", "--depth", "1", &origin]).arg(&shallow));
    let git = shallow.to_str().unwrap();
    let asked = ["--git", git, "--good", "v1", "--bad", "trunk", "--step", "read"];
    let told = bench.run(&[&["bisect"], &asked[..]].concat()).stderr.replace(git, "DIR");
    insta::assert_snapshot!(told, @"
    error: --good names no commit
      because git in DIR: no commit `v1`; this repository is shallow: run `git fetch --unshallow`
    ");
}
