//! Copies of a directory with all that is in it: data is loaded once and cloned for each trial.

mod file;

use std::cmp::Reverse;
use std::fs::{self, DirBuilder, File, Metadata};
use std::io;
use std::ops::Range;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use crate::error::PathError;

/// Threads that copy, whatever the number of CPUs: mostly they wait for the disk.
const THREADS: usize = 4;

/// Bytes from which on a file is copied by itself.
const LARGE: u64 = 1 << 20;

/// Small files that a thread takes at once.
const BATCH: usize = 32;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cloned {
    pub files: u64,
    /// Their lengths, holes included.
    pub bytes: u64,
    /// Do all of them share their blocks with the original? Otherwise they were copied.
    pub reflinked: bool,
    /// Sockets, pipes and devices, which were left out; relative to the directory.
    pub skipped: Vec<PathBuf>,
}

/// Makes `to`, which must not exist, the same as the directory `from`: files with content, holes,
/// modes and times; directories, empty ones too; links as links, wherever they lead. Owners are those
/// of what this process makes, names of one file become files of their own.
///
/// Blocks are shared where the filesystem can do that (btrfs, XFS, bcachefs). Otherwise the data is copied by
/// several threads, each file by one of them from its start to its end, so that it lies on the disk as if it
/// had been written at once. Nothing is forced to the disk: after a copy both trees are in the
/// page cache, as far as it goes, and the new one is yet to be written ([`write_back`]); after sharing, no
/// page of the new one is cached.
///
/// An error leaves the partial copy.
pub fn clone_tree(from: &Path, to: &Path) -> Result<Cloned, PathError> {
    refuse_itself(from, to)?;
    let mut tree = Tree::default();
    tree.grow(from, to)?;
    let result = tree.fill(from, to)?;
    tree.close(to)?;
    Ok(result)
}

/// Waits until everything on the filesystem of `path` is on the disk, so that nobody's measurement pays for
/// writing it.
pub fn write_back(path: &Path) -> Result<(), PathError> {
    File::open(path)
        .and_then(|file| Ok(rustix::fs::syncfs(file)?))
        .map_err(PathError::of("write back", path))
}

/// A directory within itself would be cloned for ever.
fn refuse_itself(from: &Path, to: &Path) -> Result<(), PathError> {
    let source = fs::canonicalize(from).map_err(PathError::of("read", from))?;
    let parent = to.parent().filter(|parent| !parent.as_os_str().is_empty());
    let parent = parent.unwrap_or(Path::new("."));
    let parent = fs::canonicalize(parent).map_err(PathError::of("find", parent))?;
    if parent.starts_with(&source) {
        let cause = io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("it lies in {}, the tree to copy", from.display()),
        );
        return Err(PathError::of("make", to)(cause));
    }
    Ok(())
}

/// The content of a directory, by relative paths.
#[derive(Debug, Default)]
struct Tree {
    /// Each after the one that it is in; the first is the directory itself.
    directories: Vec<(PathBuf, Metadata)>,
    files: Vec<(PathBuf, Metadata)>,
    skipped: Vec<PathBuf>,
}

impl Tree {
    /// Makes the directories and links, and takes note of everything else.
    fn grow(&mut self, from: &Path, to: &Path) -> Result<(), PathError> {
        let metadata = fs::metadata(from).map_err(PathError::of("read", from))?;
        let mut open = vec![(PathBuf::new(), metadata)];
        while let Some((directory, metadata)) = open.pop() {
            let (source, target) = (below(from, &directory), below(to, &directory));
            let entries = fs::read_dir(&source).map_err(PathError::of("read", &source))?;
            DirBuilder::new()
                .mode(0o700)
                .create(&target)
                .map_err(PathError::of("create", &target))?;
            self.directories.push((directory.clone(), metadata));
            for entry in entries {
                let entry = entry.map_err(PathError::of("read", &source))?;
                let metadata = entry.metadata().map_err(PathError::of("read", &entry.path()))?;
                let path = directory.join(entry.file_name());
                if metadata.is_dir() {
                    open.push((path, metadata));
                } else if metadata.is_file() {
                    self.files.push((path, metadata));
                } else if metadata.is_symlink() {
                    copy_link(&from.join(&path), &to.join(&path))?;
                } else {
                    self.skipped.push(path);
                }
            }
        }
        self.skipped.sort();
        self.files.sort_by_cached_key(|(path, metadata)| order(path, metadata));
        Ok(())
    }

    fn fill(&self, from: &Path, to: &Path) -> Result<Cloned, PathError> {
        let work = Work {
            files: &self.files,
            batches: batches(&self.files),
            from,
            to,
            next: AtomicUsize::new(0),
            shares: AtomicBool::new(true),
            failure: Mutex::new(None),
        };
        // The first batch tells whether blocks can be shared.
        work.step();
        thread::scope(|scope| {
            for _ in 1..THREADS.min(work.batches.len()) {
                // With fewer threads it takes longer, that is all.
                let _helper = thread::Builder::new().spawn_scoped(scope, || work.all());
            }
            work.all();
        });
        let failure = work.failure.into_inner();
        if let Some(failure) = failure.unwrap_or_else(PoisonError::into_inner) {
            return Err(failure);
        }
        Ok(Cloned {
            files: self.files.len() as u64,
            bytes: self.files.iter().map(|(_, metadata)| metadata.len()).sum(),
            reflinked: work.shares.into_inner() && !self.files.is_empty(),
            skipped: self.skipped.clone(),
        })
    }

    /// Gives the directories their modes and times, which making files in them changes; the inner first.
    fn close(&self, to: &Path) -> Result<(), PathError> {
        self.directories.iter().rev().try_for_each(|(path, metadata)| {
            let path = below(to, path);
            File::open(&path)
                .and_then(|directory| file::finish(&directory, metadata))
                .map_err(PathError::of("finish", &path))
        })
    }
}

/// The path in `root`; `root` itself, without a slash at its end, for the empty one.
fn below(root: &Path, path: &Path) -> PathBuf {
    root.components().chain(path.components()).collect()
}

fn copy_link(from: &Path, to: &Path) -> Result<(), PathError> {
    let target = fs::read_link(from).map_err(PathError::of("read", from))?;
    symlink(target, to).map_err(PathError::of("create", to))
}

/// The large files first, the largest of them before the others, so that the threads end together. Then the
/// small ones as they lie on the disk: by directory, in the order of their inodes.
fn order(path: &Path, metadata: &Metadata) -> (Reverse<u64>, PathBuf, u64) {
    if metadata.len() >= LARGE {
        (Reverse(metadata.len()), path.to_owned(), 0)
    } else {
        let directory = path.parent().unwrap_or(path);
        (Reverse(0), directory.to_owned(), metadata.ino())
    }
}

/// One thread's unit of work: a large file, or some small ones of one directory, because two threads
/// that make files in one directory wait for each other.
fn batches(files: &[(PathBuf, Metadata)]) -> Vec<Range<usize>> {
    let mut batches: Vec<Range<usize>> = Vec::new();
    for (index, (path, metadata)) in files.iter().enumerate() {
        match batches.last_mut() {
            Some(last)
                if metadata.len() < LARGE
                    && last.len() < BATCH
                    && files[last.start].1.len() < LARGE
                    && files[last.start].0.parent() == path.parent() =>
            {
                last.end = index + 1;
            }
            _ => batches.push(index..index + 1),
        }
    }
    batches
}

/// The files that the threads take, a batch after the other.
struct Work<'a> {
    files: &'a [(PathBuf, Metadata)],
    batches: Vec<Range<usize>>,
    from: &'a Path,
    to: &'a Path,
    next: AtomicUsize,
    /// Could all files so far share their blocks? Not tried again once one could not.
    shares: AtomicBool,
    failure: Mutex<Option<PathError>>,
}

impl Work<'_> {
    /// Clones the next batch; false when there is none left, or a file has failed.
    fn step(&self) -> bool {
        let next = self.next.fetch_add(1, Ordering::Relaxed);
        let Some(batch) = self.batches.get(next) else {
            return false;
        };
        let cloned = self.files[batch.clone()].iter().try_for_each(|(path, metadata)| {
            let (from, to) = (self.from.join(path), self.to.join(path));
            self.one(&from, &to, metadata).map_err(PathError::of("copy", &from))
        });
        if let Err(failure) = cloned {
            // The others find nothing left.
            self.next.store(self.batches.len(), Ordering::Relaxed);
            let mut first = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
            first.get_or_insert(failure);
            return false;
        }
        true
    }

    fn all(&self) {
        while self.step() {}
    }

    fn one(&self, from: &Path, to: &Path, metadata: &Metadata) -> io::Result<()> {
        if self.shares.load(Ordering::Relaxed) {
            if file::reflink(from, to, metadata)? {
                return Ok(());
            }
            self.shares.store(false, Ordering::Relaxed);
        }
        file::copy(from, to, metadata)
    }
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::hash::{DefaultHasher, Hash, Hasher};
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::{FileExt, PermissionsExt};
    use std::os::unix::net::UnixListener;
    use std::process::Command;

    use proptest::prelude::*;

    use super::*;

    /// Something to put into a directory.
    #[derive(Clone, Debug)]
    enum Made {
        /// Pieces of data, each after a hole of the given size.
        File(Vec<(u32, Vec<u8>)>, u32),
        Link(String),
        Directory(Vec<(String, Made)>, u32),
    }

    fn made() -> impl Strategy<Value = Made> {
        let piece = (0..200_000u32, prop::collection::vec(any::<u8>(), 0..5_000));
        let file = (prop::collection::vec(piece, 0..4), 0..0o1000u32)
            .prop_map(|(pieces, mode)| Made::File(pieces, mode | 0o400));
        let link = "[a-z/.]{1,20}".prop_map(Made::Link);
        let leaf = prop_oneof![4 => file, 1 => link];
        leaf.prop_recursive(3, 24, 6, |inner| {
            (prop::collection::vec((NAME, inner), 0..6), 0..0o1000u32)
                .prop_map(|(entries, mode)| Made::Directory(entries, mode | 0o700))
        })
    }

    const NAME: &str = "[a-zA-Z0-9 #'é]{1,12}";

    fn make(path: &Path, what: &Made) {
        match what {
            Made::File(pieces, mode) => {
                let file = File::create(path).unwrap();
                let mut at = 0;
                for (hole, data) in pieces {
                    at += u64::from(*hole);
                    file.write_all_at(data, at).unwrap();
                    at += data.len() as u64;
                }
                file.set_len(at).unwrap();
                file.set_permissions(Permissions::from_mode(*mode)).unwrap();
            }
            Made::Link(to) => symlink(to, path).unwrap(),
            Made::Directory(entries, mode) => {
                fs::create_dir(path).unwrap();
                for (name, entry) in entries {
                    let path = path.join(name);
                    if path.symlink_metadata().is_err() {
                        make(&path, entry);
                    }
                }
                fs::set_permissions(path, Permissions::from_mode(*mode)).unwrap();
            }
        }
    }

    fn everything(root: &Path) -> Vec<PathBuf> {
        let mut paths = vec![root.to_owned()];
        let mut next = 0;
        while let Some(path) = paths.get(next) {
            next += 1;
            if path.symlink_metadata().unwrap().is_dir() {
                let entries = fs::read_dir(path).unwrap();
                paths.extend(entries.map(|entry| entry.unwrap().path()).collect::<Vec<_>>());
            }
        }
        paths
    }

    /// The properties that a clone shares with its original, a line an entry.
    fn described(root: &Path) -> Vec<String> {
        let lines = everything(root).into_iter().map(|path| {
            let metadata = path.symlink_metadata().unwrap();
            let name = path.strip_prefix(root).unwrap().as_os_str().as_bytes();
            let name = name.escape_ascii();
            if metadata.is_symlink() {
                return format!("{name} -> {}", fs::read_link(&path).unwrap().display());
            }
            let mut hasher = DefaultHasher::new();
            if metadata.is_file() {
                fs::read(&path).unwrap().hash(&mut hasher);
            }
            let (mode, seconds, nanos) = (metadata.mode(), metadata.mtime(), metadata.mtime_nsec());
            format!("{name} {mode:o} {seconds}.{nanos:09} {}", hasher.finish())
        });
        let mut lines: Vec<String> = lines.collect();
        lines.sort();
        lines
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn a_clone_is_the_same_as_its_original(
            entries in prop::collection::vec((NAME, made()), 0..8),
            mode in 0..0o1000u32,
        ) {
            let root = tempfile::tempdir().unwrap();
            let (from, to) = (root.path().join("from"), root.path().join("to"));
            make(&from, &Made::Directory(entries, mode | 0o700));
            let cloned = clone_tree(&from, &to).unwrap();
            let (original, clone) = (described(&from), described(&to));
            prop_assert_eq!(&original, &clone);
            let files = everything(&from).into_iter().map(|path| path.symlink_metadata().unwrap());
            let lengths: Vec<u64> = files.filter(Metadata::is_file).map(|file| file.len()).collect();
            prop_assert_eq!(cloned.files, lengths.len() as u64);
            prop_assert_eq!(cloned.bytes, lengths.iter().sum::<u64>());
        }
    }

    #[test]
    fn what_is_no_file_is_left_out_and_told() {
        let root = tempfile::tempdir().unwrap();
        let (from, to) = (root.path().join("from"), root.path().join("to"));
        fs::create_dir_all(from.join("a")).unwrap();
        fs::write(from.join("a/kept"), "x").unwrap();
        let _listener = UnixListener::bind(from.join("a/socket")).unwrap();
        let pipe = Command::new("mkfifo").arg(from.join("pipe")).status();
        assert!(pipe.unwrap().success());
        let cloned = clone_tree(&from, &to).unwrap();
        let skipped = ["a/socket", "pipe"].map(PathBuf::from);
        assert_eq!((cloned.files, cloned.skipped), (1, skipped.to_vec()));
        assert!(to.join("a/kept").exists() && !to.join("pipe").exists());
    }

    #[test]
    fn what_cannot_be_done_names_the_path() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        let message = |from: &str, to: &str| {
            let error = clone_tree(&at(from), &at(to)).unwrap_err().to_string();
            error.replace(&root.path().display().to_string(), "ROOT")
        };
        fs::create_dir(at("from")).unwrap();
        fs::write(at("file"), "x").unwrap();
        insta::assert_snapshot!(message("absent", "to"), @"cannot read ROOT/absent: No such file or directory (os error 2)");
        insta::assert_snapshot!(message("file", "to"), @"cannot read ROOT/file: Not a directory (os error 20)");
        insta::assert_snapshot!(message("from", "file"), @"cannot create ROOT/file: File exists (os error 17)");
        insta::assert_snapshot!(message("from", "from/to"), @"cannot make ROOT/from/to: it lies in ROOT/from, the tree to copy");
        insta::assert_snapshot!(message("from", "no/to"), @"cannot find ROOT/no: No such file or directory (os error 2)");
    }

    #[test]
    fn many_files_are_copied_by_several_threads_each_once() {
        let root = tempfile::tempdir().unwrap();
        let (from, to) = (root.path().join("from"), root.path().join("to"));
        fs::create_dir(&from).unwrap();
        for n in 0..500 {
            fs::write(from.join(n.to_string()), vec![n as u8; n * 50]).unwrap();
        }
        let cloned = clone_tree(&from, &to).unwrap();
        let bytes = (0..500u64).map(|n| n * 50).sum::<u64>();
        assert_eq!((cloned.files, cloned.bytes), (500, bytes));
        assert_eq!(described(&from), described(&to));
        write_back(&to).unwrap();
    }
}
