//! Honest archives come out as they are; hostile ones do not.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::sync::LazyLock;

use proptest::prelude::*;
use tar::{EntryType, Header};

use crate::tests::archives::{Bench, Tar, bzip2, deb, gzip, xz, zip, zstd, zstd_bomb};

fn honest() -> Tar {
    Tar::new()
        .directory("./")
        .directory("mysql/")
        .entry(EntryType::Regular, "mysql/bin/mysqld", "", 0o6777, b"server")
        .file("mysql/lib/libz.so.1.3", "library")
        .symlink("mysql/lib/libz.so", "libz.so.1")
        .symlink("mysql/lib/libz.so.1", "libz.so.1.3")
        .symlink("mysql/bin/libs", "../lib/.")
        .hard_link("mysql/bin/again", "mysql/bin/mysqld")
        .symlink("mysql/gone", "bin/nothing")
        .file("mysql/share/a", "first")
        .file("mysql/share/a", "second")
}

const UNPACKED: [&str; 11] = [
    "mysql/",
    "mysql/bin/",
    "mysql/bin/again* = server",
    "mysql/bin/libs -> ../lib/.",
    "mysql/bin/mysqld* = server",
    "mysql/lib/",
    "mysql/lib/libz.so -> libz.so.1",
    "mysql/lib/libz.so.1 -> libz.so.1.3",
    "mysql/lib/libz.so.1.3 = library",
    "mysql/share/",
    "mysql/share/a = second",
];

#[test]
fn every_compression_gives_the_same_files() {
    let tar = honest().bytes();
    let mut archives = vec![tar.clone(), gzip(&tar), zstd(&tar), deb("data.tar.gz", &gzip(&tar))];
    archives.push(deb("data.tar", &tar));
    archives.push(deb("data.tar.zst/", &zstd(&tar)));
    // Several members or frames, and a frame that is to be skipped.
    let (front, back) = tar.split_at(tar.len() / 3);
    archives.push([gzip(front), gzip(back)].concat());
    archives.push([bzip2(front), bzip2(back)].concat());
    let skipped = [0x51, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3];
    archives.push([skipped.to_vec(), zstd(front), skipped.to_vec(), zstd(back)].concat());
    match xz(&tar) {
        Some(compressed) => {
            archives.push(deb("data.tar.xz", &compressed));
            archives.push(compressed);
        }
        None => println!("skipped: no xz, the format of that name was not tried"),
    }
    for archive in archives {
        let bench = Bench::new();
        bench.unpack(&archive);
        assert_eq!(bench.listing(), UNPACKED);
        let first = fs::metadata(bench.tree().join("mysql/bin/mysqld")).unwrap();
        assert_eq!(first.nlink(), 2, "the hard link is a copy");
    }
}

#[test]
fn a_zip_with_links_and_modes() {
    let bench = Bench::new();
    bench.unpack(&zip(&[
        ("mysql/", "", 0o755),
        ("mysql/bin/mysqld", "server", 0o755),
        ("mysql/readme", "text", 0o666),
        ("mysql/bin/mariadbd -> mysqld", "", 0o777),
        ("empty", "", 0o600),
    ]));
    assert_eq!(
        bench.listing(),
        [
            "empty = ",
            "mysql/",
            "mysql/bin/",
            "mysql/bin/mariadbd -> mysqld",
            "mysql/bin/mysqld* = server",
            "mysql/readme = text"
        ]
    );
}

#[test]
fn names_that_lead_out_are_refused() {
    let refusal = |tar: Tar| Bench::new().refusal(&tar.bytes());
    insta::assert_snapshot!(refusal(Tar::new().file("a", "").file("/tmp/escaped", "x")), @"DIR/archive is refused: its entry `/tmp/escaped` has an absolute path; nothing was kept");
    insta::assert_snapshot!(refusal(Tar::new().file("a/../../escaped", "x")), @"DIR/archive is refused: its entry `a/../../escaped` has `..` in its path; nothing was kept");
    insta::assert_snapshot!(refusal(Tar::new().directory("..")), @"DIR/archive is refused: its entry `..` has `..` in its path; nothing was kept");
    insta::assert_snapshot!(refusal(Tar::new().file(".", "x")), @"DIR/archive is refused: its entry `.` has no usable name; nothing was kept");
    let zipped = |entries: &[(&str, &str, u32)]| Bench::new().refusal(&zip(entries));
    insta::assert_snapshot!(zipped(&[("../escaped", "x", 0o644)]), @"DIR/archive is refused: its entry `../escaped` has `..` in its path; nothing was kept");
    insta::assert_snapshot!(zipped(&[("/escaped\n\u{1b}", "x", 0o644)]), @r"DIR/archive is refused: its entry `/escaped\n\u{1b}` has an absolute path; nothing was kept");
}

#[test]
fn links_that_lead_out_are_refused() {
    let refusal = |tar: Tar| Bench::new().refusal(&tar.bytes());
    insta::assert_snapshot!(refusal(Tar::new().symlink("a", "/etc/passwd")), @"DIR/archive is refused: its entry `a` is a link that leads out, to `/etc/passwd`; nothing was kept");
    insta::assert_snapshot!(refusal(Tar::new().symlink("a/b", "../../x")), @"DIR/archive is refused: its entry `a/b` is a link that leads out, to `../../x`; nothing was kept");
    // By way of another link, which by itself is harmless: `a/b/c` is `d`, and `d/..` is the top.
    let detour =
        Tar::new().directory("d").symlink("a/b/c", "../../d").symlink("out", "a/b/c/../../..");
    insta::assert_snapshot!(refusal(detour), @"DIR/archive is refused: its entry `out` is a link that leads out, to `a/b/c/../../..`; nothing was kept");
    insta::assert_snapshot!(refusal(Tar::new().symlink("a", "")), @"DIR/archive is refused: its entry `a` is a link without a usable target; nothing was kept");
    insta::assert_snapshot!(refusal(Tar::new().hard_link("a", "/etc/passwd")), @"DIR/archive is refused: its entry `a` is a link that leads out, to `/etc/passwd`; nothing was kept");
    insta::assert_snapshot!(refusal(Tar::new().hard_link("a", "../archive")), @"DIR/archive is refused: its entry `a` is a link that leads out, to `../archive`; nothing was kept");
    insta::assert_snapshot!(refusal(Tar::new().directory("b").hard_link("a", "b")), @"DIR/archive is refused: its entry `a` is a hard link to `b`, which is not a file; nothing was kept");
    insta::assert_snapshot!(refusal(Tar::new().symlink("b", "c").file("c", "").hard_link("a", "b")), @"DIR/archive is refused: its entry `a` is a hard link to `b`, which is not a file; nothing was kept");
    let zipped = |entries: &[(&str, &str, u32)]| Bench::new().refusal(&zip(entries));
    insta::assert_snapshot!(zipped(&[("a -> /etc/passwd", "", 0o777)]), @"DIR/archive is refused: its entry `a` is a link that leads out, to `/etc/passwd`; nothing was kept");
}

#[test]
fn nothing_is_written_through_a_link_or_in_place_of_something_else() {
    let refusal = |tar: Tar| Bench::new().refusal(&tar.bytes());
    let inside = Tar::new().directory("d").symlink("a", "d").file("a/b", "x");
    insta::assert_snapshot!(refusal(inside), @"DIR/archive is refused: its entry `a/b` would be written through the link `a`; nothing was kept");
    let outside = Tar::new().symlink("a", "/tmp").file("a/b", "x");
    insta::assert_snapshot!(refusal(outside), @"DIR/archive is refused: its entry `a/b` would be written through the link `a`; nothing was kept");
    let over = Tar::new().symlink("a", "/tmp/x").file("a", "x");
    insta::assert_snapshot!(refusal(over), @"DIR/archive is refused: its entry `a` comes twice: as a link and as a file; nothing was kept");
    let swapped = Tar::new().directory("a").symlink("a", "/tmp");
    insta::assert_snapshot!(refusal(swapped), @"DIR/archive is refused: its entry `a` comes twice: as a directory and as a link; nothing was kept");
    let implied = Tar::new().file("a/b", "").symlink("./a/", "/tmp");
    insta::assert_snapshot!(refusal(implied), @"DIR/archive is refused: its entry `./a/` comes twice: as a directory and as a link; nothing was kept");
    let below = Tar::new().file("a", "").file("a/b/c", "");
    insta::assert_snapshot!(refusal(below), @"DIR/archive is refused: its entry `a/b/c` lies below `a`, which is a file; nothing was kept");
    let hard = Tar::new().file("a", "1").symlink("b", "a").hard_link("b", "a");
    insta::assert_snapshot!(refusal(hard), @"DIR/archive is refused: its entry `b` comes twice: as a link and as a hard link; nothing was kept");
}

#[test]
fn a_file_that_replaces_one_with_two_names_leaves_the_other_alone() {
    let bench = Bench::new();
    let tar = Tar::new().file("a", "old").hard_link("b", "a").file("b", "new");
    bench.unpack(&tar.bytes());
    assert_eq!(bench.listing(), ["a = old", "b = new"]);
}

#[test]
fn devices_and_the_like_are_refused() {
    let kinds = [
        (EntryType::Char, "character device"),
        (EntryType::Block, "block device"),
        (EntryType::Fifo, "named pipe"),
        (EntryType::new(b'V'), "thing of an unknown kind"),
    ];
    for (kind, name) in kinds {
        let tar = Tar::new().entry(kind, "odd", "", 0o644, &[]);
        let expected =
            format!("DIR/archive is refused: its entry `odd` is a {name}; nothing was kept");
        assert_eq!(Bench::new().refusal(&tar.bytes()), expected);
    }
    let mut bytes = zip(&[("odd", "", 0o644)]);
    // The kind of a file is in the upper half of the external attributes, at 40 of its entry in the directory.
    let directory = bytes.windows(4).rposition(|w| w == b"PK\x01\x02").unwrap();
    bytes[directory + 41] = 0x10;
    insta::assert_snapshot!(Bench::new().refusal(&bytes), @"DIR/archive is refused: its entry `odd` is a named pipe; nothing was kept");
}

#[test]
fn links_of_packages_begin_at_their_root() {
    let bench = Bench::new();
    let tar = Tar::new()
        .file("./usr/lib/libz.so.1", "library")
        .symlink("./usr/bin/z", "/usr/lib/libz.so.1")
        .symlink("./etc/alternatives", "/nowhere/at/all")
        .symlink("./lib", "/usr/lib")
        .symlink("./usr/lib/top", "/");
    bench.unpack(&deb("data.tar.gz", &gzip(&tar.bytes())));
    assert_eq!(
        bench.listing(),
        [
            "etc/",
            "lib -> usr/lib",
            "usr/",
            "usr/bin/",
            "usr/bin/z -> ../lib/libz.so.1",
            "usr/lib/",
            "usr/lib/libz.so.1 = library",
            "usr/lib/top -> ../.."
        ]
    );
    let out = Tar::new().symlink("./usr/x", "../../etc/passwd").bytes();
    insta::assert_snapshot!(Bench::new().refusal(&deb("data.tar.gz", &gzip(&out))), @"DIR/archive is refused: its entry `usr/x` is a link that leads out, to `../../etc/passwd`; nothing was kept");
}

#[test]
fn packages_are_unpacked_over_each_other() {
    let bench = Bench::new();
    let one = bench.path().join("one.deb");
    let two = bench.path().join("two.deb");
    let library = Tar::new().symlink("./usr/lib/a.so", "a.so.1");
    fs::write(&one, deb("data.tar", &library.bytes())).unwrap();
    let file = Tar::new().file("./usr/lib/a.so.1", "a");
    fs::write(&two, deb("data.tar", &file.bytes())).unwrap();
    super::unpack(&[one, two], &bench.tree()).unwrap();
    assert_eq!(
        bench.listing(),
        ["usr/", "usr/lib/", "usr/lib/a.so -> a.so.1", "usr/lib/a.so.1 = a"]
    );
}

#[test]
fn links_in_a_circle_are_dropped() {
    let bench = Bench::new();
    let circle = Tar::new().symlink("a", "b").symlink("b", "./a").symlink("c", "c");
    bench.unpack(&circle.bytes());
    assert!(bench.listing().is_empty());
}

#[test]
fn a_bomb_is_stopped_by_what_it_says_or_by_its_ratio() {
    let mut header = Header::new_gnu();
    header.set_path("zeros").unwrap();
    header.set_mode(0o644);
    header.set_size(40 << 30);
    header.set_cksum();
    let says = Bench::new();
    let refusal = says.refusal(&zstd_bomb(header.as_bytes(), 100));
    assert!(
        refusal.contains("unpacks to more than 32.0 GiB") || refusal.contains("not enough space"),
        "{refusal}"
    );
    assert!(says.listing().is_empty(), "something was written");
    // An honest file, and after the end 300 MiB of padding out of 10 KB.
    let tar = Tar::new().file("a", "b").bytes();
    let refusal = Bench::new().refusal(&zstd_bomb(&tar, 300 << 3));
    insta::assert_snapshot!(refusal, @"DIR/archive is refused: it unpacks to more than 1000 times its own size; nothing was kept");
    // A name that takes more memory than there is.
    header.set_entry_type(EntryType::GNULongName);
    header.set_cksum();
    let refusal = Bench::new().refusal(&zstd_bomb(header.as_bytes(), 100));
    insta::assert_snapshot!(refusal, @"DIR/archive is refused: it has a header of more than 1.00 MiB; nothing was kept");
}

#[test]
fn a_zip_whose_entries_overlap_is_refused() {
    let mut bytes = zip(&[("a", "the same for all", 0o644), ("b", "the same for all", 0o644)]);
    // The second entry's place in the directory: at 42, four bytes.
    let second = bytes.windows(4).rposition(|w| w == b"PK\x01\x02").unwrap();
    bytes[second + 42..second + 46].fill(0);
    insta::assert_snapshot!(Bench::new().refusal(&bytes), @"DIR/archive is refused: it has entries that overlap; nothing was kept");
}

#[test]
fn an_encrypted_zip_and_one_with_a_name_twice_are_refused() {
    let mut bytes = zip(&[("secret", "x", 0o644)]);
    let entry = bytes.windows(4).rposition(|w| w == b"PK\x01\x02").unwrap();
    bytes[entry + 8] |= 1;
    insta::assert_snapshot!(Bench::new().refusal(&bytes), @"DIR/archive is refused: its entry `secret` is encrypted; nothing was kept");
    let mut bytes = zip(&[("aa", "x", 0o644), ("ab", "y", 0o644)]);
    for at in 0..bytes.len() - 1 {
        if bytes[at..].starts_with(b"ab") {
            bytes[at + 1] = b'a';
        }
    }
    insta::assert_snapshot!(Bench::new().refusal(&bytes), @"DIR/archive is refused: it has two entries of the same name; nothing was kept");
}

#[test]
fn what_is_no_archive_is_named() {
    let refusal = |bytes: &[u8]| Bench::new().refusal(bytes);
    insta::assert_snapshot!(refusal(b""), @"DIR/archive is not an archive that can be read: it is empty, not one of tar, tar.gz, tar.bz2, tar.xz, tar.zst, zip (jar, whl), deb");
    insta::assert_snapshot!(refusal(b"<html>404</html>"), @"DIR/archive is not an archive that can be read: it is a page of text (an error of a server or proxy?), not one of tar, tar.gz, tar.bz2, tar.xz, tar.zst, zip (jar, whl), deb");
    insta::assert_snapshot!(refusal(&gzip(&[b'x'; 2000])), @"DIR/archive is not an archive that can be read: it is gzip of something other than a tar archive, not one of tar, tar.gz, tar.bz2, tar.xz, tar.zst, zip (jar, whl), deb");
    insta::assert_snapshot!(refusal(b"!<arch>\nodd"), @"DIR/archive is truncated or damaged (failed to fill whole buffer): fetch it again");
    insta::assert_snapshot!(refusal(b"Rar!"), @"DIR/archive is not an archive that can be read: it is a RAR archive, not one of tar, tar.gz, tar.bz2, tar.xz, tar.zst, zip (jar, whl), deb");
}

/// All formats, of the same honest tar where they hold one.
fn samples() -> &'static [Vec<u8>] {
    static SAMPLES: LazyLock<Vec<Vec<u8>>> = LazyLock::new(make_samples);
    &SAMPLES
}

fn make_samples() -> Vec<Vec<u8>> {
    let tar = honest().file("big", &"0123456789abcdef".repeat(4096)).bytes();
    let mut samples = vec![
        tar.clone(),
        gzip(&tar),
        zstd(&tar),
        bzip2(&tar),
        deb("data.tar.gz", &gzip(&tar)),
        zip(&[
            ("mysql/", "", 0o755),
            ("mysql/bin/mysqld", &"server".repeat(10_000), 0o755),
            ("mysql/link -> bin/mysqld", "", 0o777),
        ]),
    ];
    samples.extend(xz(&tar));
    samples
}

#[test]
fn a_truncated_archive_is_never_taken_for_whole() {
    for (kind, sample) in samples().iter().enumerate() {
        let step = (sample.len() / 60).max(1);
        // The tar ends with two empty blocks, of which one is enough.
        let whole = if kind == 0 { sample.len() - 512 } else { sample.len() };
        for cut in (0..whole).step_by(step).chain([whole - 1]) {
            let bench = Bench::new();
            let archive = bench.archive(&sample[..cut]);
            let unpacked = super::unpack(&[archive], &bench.tree());
            assert!(unpacked.is_err(), "kind {kind}, {cut} of {}", sample.len());
            bench.assert_nothing_outside();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn damage_never_panics_and_never_leads_out(
        kind in 0..6usize,
        flips in prop::collection::vec((any::<prop::sample::Index>(), 1..=255u8), 1..8),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let samples = samples();
        let mut bytes = samples[kind % samples.len()].clone();
        for (at, flip) in flips {
            let at = at.index(bytes.len());
            bytes[at] ^= flip;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        let bench = Bench::new();
        let archive = bench.archive(&bytes);
        let _either = super::unpack(&[archive], &bench.tree());
        bench.assert_nothing_outside();
        for item in crate::tree::walk(&bench.tree()).unwrap() {
            let full = bench.tree().join(&item.path);
            if let Ok(real) = full.canonicalize() {
                prop_assert!(real.starts_with(bench.tree().canonicalize().unwrap()));
            }
        }
    }

    #[test]
    fn any_names_and_links_stay_inside(
        entries in prop::collection::vec(("[ab./]{1,6}", "[ab./]{1,6}", 0..4u8), 1..12),
    ) {
        let mut tar = Tar::new();
        for (name, link, kind) in &entries {
            tar = match kind {
                0 => tar.file(name, "x"),
                1 => tar.directory(name),
                2 => tar.symlink(name, link),
                _ => tar.hard_link(name, link),
            };
        }
        let bench = Bench::new();
        let archive = bench.archive(&tar.bytes());
        let _either = super::unpack(&[archive], &bench.tree());
        bench.assert_nothing_outside();
        let root = bench.tree().canonicalize().unwrap();
        for item in crate::tree::walk(&root).unwrap() {
            // Every link that was made leads to something, and that is inside.
            let real = root.join(&item.path).canonicalize().unwrap();
            prop_assert!(real.starts_with(&root), "{:?} -> {:?}", item.path, real);
        }
    }

    #[test]
    fn any_header_with_a_right_checksum_is_read_or_refused(
        fields in prop::collection::vec(any::<u8>(), 512),
        kind in prop::sample::select(b"0123456789gxLKSDV\0".to_vec()),
        digits in prop::bool::ANY,
        follows in prop::collection::vec(any::<u8>(), 0..2048),
    ) {
        let mut header = Header::new_gnu();
        header.as_mut_bytes()[..257].copy_from_slice(&fields[..257]);
        header.as_mut_bytes()[265..].copy_from_slice(&fields[265..]);
        header.set_entry_type(EntryType::new(kind));
        if digits {
            // Numbers that can be read, so that it goes on from there.
            for number in [100..107, 124..135, 386..397, 398..409, 410..421, 483..494] {
                for byte in &mut header.as_mut_bytes()[number] {
                    *byte = b'0' + *byte % 8 * u8::from(*byte > 200);
                }
            }
        }
        header.set_cksum();
        let bench = Bench::new();
        let archive = bench.archive(&[header.as_bytes().as_slice(), &follows].concat());
        let _either = super::unpack(&[archive], &bench.tree());
        bench.assert_nothing_outside();
    }
}
