//! Sizes of an instance on disk.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use model::Sizes;

/// Unit of `st_blocks`, whatever the filesystem's own block is.
const BLOCK: u64 = 512;

/// Sizes of the regular files below `root`. `data` and `log` name entries of `root`, with `*` for any
/// text; an entry that both name is data.
///
/// A file with several names counts once, and so does what a symlink leads to inside `root`; what lies
/// outside does not belong to the instance. Files that vanish during the walk are passed over.
///
/// # Errors
/// `root`, or something below it that is there, cannot be read.
pub fn measure(root: &Path, data: &[String], log: &[String]) -> io::Result<Sizes> {
    let root = fs::canonicalize(root).map_err(|error| told(root, &error))?;
    let mut entries = Vec::new();
    for path in entries_of(&root)? {
        entries.push((Part::of(path.file_name(), data, log), path));
    }
    // What the patterns name comes first: a file that has another name elsewhere counts as that.
    entries.sort();
    let mut walk = Walk::new(root)?;
    for (part, path) in entries {
        walk.add(part, path)?;
    }
    Ok(walk.sizes)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Data,
    Log,
    Other,
}

impl Part {
    fn of(name: Option<&OsStr>, data: &[String], log: &[String]) -> Self {
        let name = name.unwrap_or_default().to_string_lossy();
        let is_named = |patterns: &[String]| patterns.iter().any(|p| matches(p, &name));
        if is_named(data) {
            Self::Data
        } else if is_named(log) {
            Self::Log
        } else {
            Self::Other
        }
    }
}

/// Is this the name, with `*` in the pattern for any text?
fn matches(pattern: &str, name: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else {
        return pattern == name;
    };
    name.strip_prefix(head).is_some_and(|tail| {
        (0..=tail.len()).any(|n| tail.get(n..).is_some_and(|tail| matches(rest, tail)))
    })
}

struct Walk {
    root: PathBuf,
    /// Device and inode of the counted files.
    seen: HashSet<(u64, u64)>,
    sizes: Sizes,
}

impl Walk {
    fn new(root: PathBuf) -> io::Result<Self> {
        let metadata = fs::metadata(&root).map_err(|error| told(&root, &error))?;
        Ok(Self {
            root,
            seen: HashSet::from([(metadata.dev(), metadata.ino())]),
            sizes: Sizes::default(),
        })
    }

    fn add(&mut self, part: Part, path: PathBuf) -> io::Result<()> {
        let mut open = vec![path];
        while let Some(path) = open.pop() {
            let Some(metadata) = if_there(fs::symlink_metadata(&path), &path)? else {
                continue;
            };
            if metadata.is_symlink() {
                // A link that leads nowhere holds nothing.
                open.extend(fs::canonicalize(&path).ok().filter(|t| t.starts_with(&self.root)));
            } else if !self.seen.insert((metadata.dev(), metadata.ino())) {
                // Counted under another name.
            } else if metadata.is_dir() {
                open.extend(entries_of(&path)?);
            } else if metadata.is_file() {
                self.count(part, &metadata);
            }
        }
        Ok(())
    }

    fn count(&mut self, part: Part, metadata: &Metadata) {
        let size = metadata.len();
        match part {
            Part::Data => self.sizes.data.0 += size,
            Part::Log => self.sizes.log.0 += size,
            Part::Other => (),
        }
        self.sizes.total.0 += size;
        self.sizes.allocated.0 += metadata.blocks() * BLOCK;
    }
}

/// Paths of a directory's entries; empty if it is gone.
fn entries_of(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let Some(entries) = if_there(fs::read_dir(directory), directory)? else {
        return Ok(Vec::new());
    };
    entries.map(|entry| entry.map(|e| e.path()).map_err(|error| told(directory, &error))).collect()
}

fn if_there<T>(result: io::Result<T>, path: &Path) -> io::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(told(path, &error)),
    }
}

fn told(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("cannot read {}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Bytes;
    use proptest::prelude::*;
    use std::os::unix::fs::symlink;

    fn write(root: &Path, name: &str, size: usize) {
        let path = root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, vec![7; size]).unwrap();
    }

    fn sizes_of(root: &Path) -> Sizes {
        let patterns = |names: &[&str]| names.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>();
        measure(root, &patterns(&["base", "ib"]), &patterns(&["wal", "redo*", "ib"])).unwrap()
    }

    #[test]
    fn parts_and_whole() {
        let root = tempfile::tempdir().unwrap();
        write(root.path(), "base/1/table", 10_000);
        write(root.path(), "base/1/deep/er/index", 5_000);
        write(root.path(), "ib/t", 1);
        write(root.path(), "wal", 300);
        write(root.path(), "redo.1", 20);
        write(root.path(), "redo/2", 4);
        write(root.path(), "other/base/x", 1_000);
        let sizes = sizes_of(root.path());
        assert_eq!(sizes.data, Bytes(15_001));
        assert_eq!(sizes.log, Bytes(324));
        assert_eq!(sizes.total, Bytes(16_325));
    }

    #[test]
    fn a_hole_has_size_but_no_blocks() {
        let root = tempfile::tempdir().unwrap();
        let sparse = fs::File::create(root.path().join("base")).unwrap();
        sparse.set_len(64 << 20).unwrap();
        let sizes = sizes_of(root.path());
        assert_eq!(sizes.data, Bytes::from_mib(64));
        assert!(sizes.allocated < Bytes::from_mib(1), "{sizes:?}");
        write(root.path(), "full", 1 << 20);
        fs::File::open(root.path().join("full")).unwrap().sync_all().unwrap();
        assert!(sizes_of(root.path()).allocated >= Bytes::from_mib(1));
    }

    #[test]
    fn several_names_count_once_and_as_the_part_that_is_named() {
        let root = tempfile::tempdir().unwrap();
        write(root.path(), "a/segment", 700);
        fs::hard_link(root.path().join("a/segment"), root.path().join("wal")).unwrap();
        write(root.path(), "space/t", 90);
        fs::create_dir(root.path().join("base")).unwrap();
        symlink("../space", root.path().join("base/link")).unwrap();
        let sizes = sizes_of(root.path());
        assert_eq!(sizes.log, Bytes(700));
        assert_eq!(sizes.data, Bytes(90));
        assert_eq!(sizes.total, Bytes(790));
    }

    #[test]
    fn links_out_in_circles_and_to_nowhere_add_nothing() {
        let outside = tempfile::tempdir().unwrap();
        write(outside.path(), "big", 9_999);
        let root = tempfile::tempdir().unwrap();
        write(root.path(), "base/t", 5);
        symlink(outside.path(), root.path().join("base/out")).unwrap();
        symlink("..", root.path().join("base/up")).unwrap();
        symlink("round", root.path().join("round")).unwrap();
        symlink("nowhere", root.path().join("lost")).unwrap();
        assert_eq!(sizes_of(root.path()).total, Bytes(5));
    }

    #[test]
    fn a_root_that_is_not_there_is_an_error_with_its_path() {
        let error = measure(Path::new("/no/such/root"), &[], &[]).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        assert!(error.to_string().contains("/no/such/root"));
    }

    #[test]
    fn files_may_vanish_during_the_walk() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().to_owned();
        let stop = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                    for n in 0..20 {
                        write(&path, &format!("tmp{n}/f"), 1);
                    }
                    for n in 0..20 {
                        fs::remove_dir_all(path.join(format!("tmp{n}"))).unwrap();
                    }
                }
            });
            let results: Vec<_> = (0..300).map(|_| measure(&path, &[], &[])).collect();
            stop.store(true, std::sync::atomic::Ordering::Relaxed);
            for result in results {
                assert!(result.unwrap().total <= Bytes(20));
            }
        });
    }

    #[test]
    fn stars_stand_for_any_text() {
        for (pattern, name, is_match) in [
            ("wal", "wal", true),
            ("wal", "wal2", false),
            ("ib_logfile*", "ib_logfile0", true),
            ("ib_logfile*", "ib_log", false),
            ("*.bin", "a.bin", true),
            ("*.bin", "a.bin.1", false),
            ("binlog.*", "binlog.", true),
            ("a*b*c", "aXbYc", true),
            ("a*b*c", "acb", false),
            ("*", "", true),
            ("**", "é", true),
            ("", "x", false),
        ] {
            assert_eq!(matches(pattern, name), is_match, "{pattern} {name}");
        }
    }

    proptest! {
        #[test]
        fn a_name_matches_itself_with_any_part_starred(name in "[a-cé]{0,8}", from in 0usize..9, to in 0usize..9) {
            let chars: Vec<char> = name.chars().collect();
            let (from, to) = (from.min(chars.len()), to.min(chars.len()));
            let (from, to) = (from.min(to), from.max(to));
            let head: String = chars[..from].iter().collect();
            let tail: String = chars[to..].iter().collect();
            let starred = format!("{head}*{tail}");
            prop_assert!(matches(&starred, &name));
        }
    }
}
