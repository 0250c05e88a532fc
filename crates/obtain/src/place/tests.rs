//! What rules make of an archive.

use std::fs;

use model::Placing;

use super::assemble;
use crate::error::Result;
use crate::tests::archives::{Bench, Tar, gzip, zip};

fn rule(from: &str, to: &str) -> Placing {
    Placing { from: from.to_owned(), to: to.to_owned(), ..Placing::default() }
}

fn skipping(from: &str, to: &str, skip: &[&str]) -> Placing {
    Placing { skip: skip.iter().map(ToString::to_string).collect(), ..rule(from, to) }
}

fn unpacking(from: &str, to: &str, skip: &[&str]) -> Placing {
    Placing { unpack: true, ..skipping(from, to, skip) }
}

fn linking(from: &str, to: &str) -> Placing {
    Placing { link: true, ..rule(from, to) }
}

fn try_place(archive: &[u8], rules: &[Placing]) -> (Bench, Result<()>) {
    let bench = Bench::new();
    fs::remove_dir(bench.tree()).unwrap();
    let archive = bench.archive(archive);
    let scratch = bench.path().join("scratch");
    let done = assemble(&[archive], rules, &scratch, &bench.tree());
    (bench, done)
}

fn place(archive: &[u8], rules: &[Placing]) -> Vec<String> {
    let (bench, done) = try_place(archive, rules);
    done.unwrap();
    bench.assert_nothing_outside();
    bench.listing()
}

fn refusal(archive: &[u8], rules: &[Placing]) -> String {
    let (bench, done) = try_place(archive, rules);
    let error = done.unwrap_err().to_string();
    error.replace(&bench.path().display().to_string(), "DIR")
}

fn tar() -> Vec<u8> {
    Tar::new()
        .file("p/server/mysqld", "#!server")
        .file("p/server/notes", "#!text")
        .file("p/share/errmsg.sys", "messages")
        .file("p/share/doc/a.txt", "a")
        .file("p/share/doc/deep/b.txt", "b")
        .file("p/lib/libz.so.1.3", "library")
        .symlink("p/lib/libz.so.1", "libz.so.1.3")
        .symlink("p/share/z", "../lib/libz.so.1")
        .symlink("p/messages", "share")
        .bytes()
}

#[test]
fn files_directories_and_contents_go_where_rules_say() {
    let rules = [
        rule("p/server/mysqld", "bin"),
        rule("*/lib/libz.so*", "lib"),
        skipping("p/share/", "share", &["doc/", "z"]),
        rule("p/sh*/d*c", ""),
        skipping("p/server", "all/of", &["mysqld"]),
    ];
    assert_eq!(
        place(&tar(), &rules),
        [
            "all/",
            "all/of/",
            "all/of/server/",
            "all/of/server/notes = #!text",
            "bin/",
            "bin/mysqld* = #!server",
            "doc/",
            "doc/a.txt = a",
            "doc/deep/",
            "doc/deep/b.txt = b",
            "lib/",
            "lib/libz.so.1 -> libz.so.1.3",
            "lib/libz.so.1.3 = library",
            "share/",
            "share/errmsg.sys = messages",
        ]
    );
}

#[test]
fn a_path_of_a_rule_may_lead_through_a_link() {
    let rules = [skipping("p/messages/", "share", &["doc/*", "z"])];
    assert_eq!(place(&tar(), &rules), ["share/", "share/doc/", "share/errmsg.sys = messages"]);
}

#[test]
fn links_lead_to_where_their_targets_went_or_become_them() {
    let both = [rule("p/share/z", "x/y"), rule("p/lib/", "lib")];
    assert_eq!(
        place(&tar(), &both),
        [
            "lib/",
            "lib/libz.so.1 -> libz.so.1.3",
            "lib/libz.so.1.3 = library",
            "x/",
            "x/y/",
            "x/y/z -> ../../lib/libz.so.1.3",
        ]
    );
    let alone = [rule("p/lib/libz.so.1", "lib"), rule("p/messages", "")];
    assert_eq!(place(&tar(), &alone), ["lib/", "lib/libz.so.1 = library"]);
}

#[test]
fn without_rules_all_stays_as_it_is() {
    let listing = place(&tar(), &[]);
    assert_eq!(listing.len(), 15);
    assert!(listing.contains(&"p/server/mysqld* = #!server".to_owned()));
    assert!(listing.contains(&"p/messages -> share".to_owned()));
}

#[test]
fn inner_archives_are_unpacked_with_the_same_distrust() {
    let inner = |tar: Tar| {
        let bench = Bench::new();
        let outer = bench.path().join("outer.tar");
        let mut builder = tar::Builder::new(fs::File::create(&outer).unwrap());
        let bytes = gzip(&tar.bytes());
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        builder.append_data(&mut header, "x/linux.tar.gz", bytes.as_slice()).unwrap();
        builder.into_inner().unwrap();
        fs::read(outer).unwrap()
    };
    let good = inner(Tar::new().file("bin/mysqld", "\x7fELF").file("doc/a", "a"));
    let rules = [unpacking("x/*.tar.gz", "in", &["doc/"])];
    assert_eq!(place(&good, &rules), ["in/", "in/bin/", "in/bin/mysqld* = \x7fELF"]);
    let bad = inner(Tar::new().file("../bin/mysqld", "x"));
    insta::assert_snapshot!(refusal(&bad, &rules), @"DIR/archive/x/linux.tar.gz is refused: its entry `../bin/mysqld` has `..` in its path; nothing was kept");
    // A link that leads out is no harm where it stays behind.
    let odd = inner(Tar::new().file("bin/mysqld", "x").symlink("bin/odd", "/tmp/x"));
    let skipped = [unpacking("x/*.tar.gz", "", &["bin/o*"])];
    assert_eq!(place(&odd, &skipped), ["bin/", "bin/mysqld = x"]);
    insta::assert_snapshot!(refusal(&odd, &rules), @"DIR/archive/x/linux.tar.gz is refused: its entry `bin/odd` is a link that leads out, to `/tmp/x`; nothing was kept");
    insta::assert_snapshot!(refusal(&tar(), &[unpacking("p/share", "", &[])]), @"the archive is not laid out as expected: the rule `content of p/share → ./` names something other than an archive");
}

#[test]
fn links_are_made_when_all_else_has_its_place() {
    let rules = [
        linking("bin/mysqld", "sbin/mysqld"),
        linking("bin", "usr/bin"),
        rule("p/server/mysqld", "bin"),
    ];
    assert_eq!(
        place(&tar(), &rules),
        [
            "bin/",
            "bin/mysqld* = #!server",
            "sbin/",
            "sbin/mysqld -> ../bin/mysqld",
            "usr/",
            "usr/bin -> ../bin",
        ]
    );
    insta::assert_snapshot!(refusal(&tar(), &[rule("p/server/", ""), linking("bin/mysqld", "x")]), @"the archive is not laid out as expected: the rule `link x → bin/mysqld` leads to nothing that is in the build");
    insta::assert_snapshot!(refusal(&tar(), &[rule("p/server/", ""), linking("notes", "mysqld")]), @"the archive is not laid out as expected: the rule `link mysqld → notes` would replace an existing file");
}

#[test]
fn a_rule_that_does_not_fit_is_named() {
    insta::assert_snapshot!(refusal(&tar(), &[rule("p/server/postgres", "bin")]), @"the archive is not laid out as expected: the rule `p/server/postgres → bin/` matches nothing");
    insta::assert_snapshot!(refusal(&tar(), &[rule("p/server/mysqld/", "bin/")]), @"the archive is not laid out as expected: the rule `p/server/mysqld/ → bin/` matches nothing");
    insta::assert_snapshot!(refusal(&tar(), &[rule("p/*", "../out")]), @"the archive is not laid out as expected: the rule `p/* → ../out/` leads out of the build: `../out`");
    insta::assert_snapshot!(refusal(&tar(), &[rule("/etc/", "")]), @"the archive is not laid out as expected: the rule `/etc/ → ./` leads out of the build: `/etc/`");
    let in_the_way = [rule("p/server/mysqld", "x"), rule("p/share/", "x/mysqld")];
    insta::assert_snapshot!(refusal(&tar(), &in_the_way), @"the archive is not laid out as expected: the rule `p/share/ → x/mysqld/` needs the directory x/mysqld, where a file is");
    let other_way = [rule("p/share/", "mysqld"), rule("p/server/mysqld", "")];
    insta::assert_snapshot!(refusal(&tar(), &other_way), @"the archive is not laid out as expected: the rule `p/server/mysqld → ./` puts a file where a directory is: mysqld");
}

#[test]
fn a_later_rule_wins_and_leaves_the_other_place_alone() {
    let rules = [
        rule("p/server/mysqld", "bin"),
        rule("p/server/mysqld", "first"),
        rule("p/server/notes", "bin"),
        rule("p/share/errmsg.sys", "bin"),
        rule("p/share/doc/a.txt", "bin"),
    ];
    let twice = Tar::new().file("a/x", "1").file("b/x", "2").bytes();
    assert_eq!(
        place(&twice, &[rule("a/x", ""), rule("a/x", "k"), rule("b/x", "")]),
        ["k/", "k/x = 1", "x = 2"]
    );
    assert_eq!(place(&tar(), &rules).len(), 7);
}

#[test]
fn programs_are_made_executable_and_placeholders_dropped() {
    let zip = zip(&[
        ("m/linux/bin/mysqld", "\x7fELF server", 0o644),
        ("m/linux/bin/x/script", "#!/bin/sh", 0o644),
        ("m/linux/bin/errors.txt", "text", 0o644),
        ("m/linux/libs/libaio.so", "", 0o644),
        ("m/linux/libs/libaio.so.1", "\x7fELF", 0o644),
        ("m/linux/libs/libaio.so.1.0.0", "", 0o644),
        ("m/linux/libs/empty.txt", "", 0o644),
        ("usr/lib/postgresql/18/bin/initdb", "\x7fELF", 0o600),
        ("package/postgres", "\x7fELF", 0o644),
    ]);
    let expected = [
        "m/",
        "m/linux/",
        "m/linux/bin/",
        "m/linux/bin/errors.txt = text",
        "m/linux/bin/mysqld* = \x7fELF server",
        "m/linux/bin/x/",
        "m/linux/bin/x/script* = #!/bin/sh",
        "m/linux/libs/",
        "m/linux/libs/empty.txt = ",
        "m/linux/libs/libaio.so.1 = \x7fELF",
        "package/",
        "package/postgres* = \x7fELF",
        "usr/",
        "usr/lib/",
        "usr/lib/postgresql/",
        "usr/lib/postgresql/18/",
        "usr/lib/postgresql/18/bin/",
        "usr/lib/postgresql/18/bin/initdb* = \x7fELF",
    ];
    assert_eq!(place(&zip, &[]), expected);
    assert_eq!(place(&zip, &[rule("", "")]), expected);
}

#[test]
fn what_no_rule_wants_of_a_zip_is_not_even_decompressed() {
    let mut bytes = zip(&[("keep/a", "kept", 0o644), ("tests/b", "broken below", 0o644)]);
    let at = bytes.windows(7).position(|w| w == b"tests/b").unwrap();
    bytes[at + 8] ^= 0xff;
    assert_eq!(place(&bytes, &[rule("keep/", "")]), ["a = kept"]);
    assert!(refusal(&bytes, &[rule("", "")]).contains("truncated or damaged"));
    // Its name is judged all the same.
    let hostile = zip(&[("keep/a", "kept", 0o644), ("../b", "", 0o644)]);
    assert!(refusal(&hostile, &[rule("keep/", "")]).contains("`..`"));
}

#[test]
fn stars_stand_for_any_text_within_a_name() {
    let matches =
        |pattern: &str, name: &str| super::pattern::matches(pattern.as_bytes(), name.as_bytes());
    for (pattern, name) in [
        ("", ""),
        ("*", ""),
        ("*", "a"),
        ("a*", "a"),
        ("*.so*", "libz.so.1"),
        ("*.so*", ".so"),
        ("a*b*c", "a-b-b-c"),
        ("*.so", "a.so.so"),
    ] {
        assert!(matches(pattern, name), "{pattern} {name}");
    }
    for (pattern, name) in
        [("", "a"), ("a", ""), ("a*b", "a"), ("*.so", "a.so.1"), ("a*b*c", "acb")]
    {
        assert!(!matches(pattern, name), "{pattern} {name}");
    }
}
