//! Mappings of a process: its libraries, its allocator, its huge pages.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, PoisonError};

use model::{Dbms, hexadecimal};
use sha2::{Digest, Sha256};

use crate::installation::find_program;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapped {
    pub program: PathBuf,
    pub program_sha256: String,
    /// The shared libraries that the process maps, by path, each once.
    pub libraries: Vec<MappedLibrary>,
    /// Its allocator, and the allocator's file.
    pub allocator: String,
    /// The compilers that the program names: `gcc 8.5.0`; empty where it names none.
    pub compiler: String,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MappedLibrary {
    pub path: PathBuf,
    /// Has the file been removed or replaced since?
    pub deleted: bool,
}

/// Allocators that take the place of the C library's, by how the names of their files begin.
const ALLOCATORS: [(&str, &str); 4] = [
    ("libjemalloc", "jemalloc"),
    ("libtcmalloc", "tcmalloc"),
    ("libmimalloc", "mimalloc"),
    ("libsnmalloc", "snmalloc"),
];

/// How the kernel marks a file that has no name any more.
const DELETED: &str = " (deleted)";

impl Mapped {
    /// Looks at a process. Of several allocators the one in `preloaded` serves.
    pub(crate) fn of(pid: u32, preloaded: Option<&Path>) -> io::Result<Self> {
        let libraries = libraries(&read_maps(pid)?);
        // The link leads to the program even when its file is gone.
        let link = PathBuf::from(format!("/proc/{pid}/exe"));
        let program = fs::read_link(&link)?;
        let read = program_of(&link, &program)?;
        Ok(Self {
            program,
            program_sha256: read.sha256,
            allocator: allocator(&libraries, preloaded, read.allocator),
            libraries,
            compiler: read.compiler,
        })
    }
}

pub(crate) fn maps_file(pid: u32, file: &Path) -> io::Result<bool> {
    let real = fs::canonicalize(file)?;
    Ok(read_maps(pid)?.lines().filter_map(mapped_path).any(|path| Path::new(&path) == real))
}

/// Bytes of address space that the process has in huge pages of the kernel's pool.
pub(crate) fn huge_bytes(pid: u32) -> io::Result<u64> {
    Ok(huge_in(&fs::read_to_string(format!("/proc/{pid}/smaps"))?))
}

/// The mappings in the text of `/proc/PID/smaps` with the flag `ht`.
fn huge_in(smaps: &str) -> u64 {
    let mut size = 0;
    let mut huge = 0;
    for line in smaps.lines() {
        if let Some(kib) = line.strip_prefix("Size:") {
            let kib = kib.trim().strip_suffix(" kB").unwrap_or_default();
            size = kib.parse::<u64>().unwrap_or_default() * 1024;
        } else if let Some(flags) = line.strip_prefix("VmFlags:")
            && flags.split_ascii_whitespace().any(|flag| flag == "ht")
        {
            huge += size;
        }
    }
    huge
}

fn read_maps(pid: u32) -> io::Result<String> {
    // A path need not be text.
    let bytes = fs::read(format!("/proc/{pid}/maps"))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The path in a line such as `7f…-7f… r-xp 0000 fe:01 42   /lib/libc.so.6`.
fn mapped_path(line: &str) -> Option<String> {
    let start = line.find('/')?;
    // The kernel escapes line breaks alone.
    Some(line.get(start..)?.replace("\\012", "\n"))
}

fn libraries(maps: &str) -> Vec<MappedLibrary> {
    let mut libraries: Vec<MappedLibrary> = maps
        .lines()
        .filter_map(mapped_path)
        .map(|path| match path.strip_suffix(DELETED) {
            Some(path) => (path.to_owned(), true),
            None => (path, false),
        })
        .filter(|(path, _)| is_library(path))
        .map(|(path, deleted)| MappedLibrary { path: path.into(), deleted })
        .collect();
    libraries.sort();
    libraries.dedup();
    libraries
}

fn is_library(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    // `ha_rocksdb.so`, `libc.so.6`.
    name.split('.').skip(1).any(|part| part == "so")
}

/// What serves `malloc`: a preloaded allocator, otherwise the one in the program itself, whose symbols the
/// loader finds before those of libraries, otherwise one that it was linked with, otherwise the C library.
fn allocator(
    libraries: &[MappedLibrary],
    preloaded: Option<&Path>,
    in_program: Option<&str>,
) -> String {
    let real = preloaded.and_then(|path| fs::canonicalize(path).ok());
    let known = |library: &MappedLibrary| {
        let name = file_name(library);
        let known = ALLOCATORS.iter().find(|(start, _)| name.starts_with(start))?;
        Some(format!("{} ({})", known.1, library.path.display()))
    };
    let mut first = libraries.iter().filter(|library| Some(&library.path) == real.as_ref());
    let served = first
        .find_map(known)
        .or_else(|| in_program.map(|name| format!("{name}, linked into the program")))
        .or_else(|| libraries.iter().find_map(known));
    let c_library = || {
        let found = libraries.iter().find(|library| {
            let name = file_name(library);
            name.starts_with("libc.so") || name.starts_with("libc-2") || name.starts_with("ld-musl")
        });
        found.map(|library| format!("C library ({})", library.path.display()))
    };
    served.or_else(c_library).unwrap_or_else(|| "linked into the program".to_owned())
}

fn file_name(library: &MappedLibrary) -> &str {
    let name = library.path.file_name();
    name.and_then(|name| name.to_str()).unwrap_or_default()
}

/// What tells one state of a file from another without reading it: its name, where it lies, its
/// length, and when it was written.
type State = (PathBuf, u64, u64, u64, i64, i64);

/// Programs that this process has read: every trial asks for the same few.
static KNOWN: LazyLock<Mutex<HashMap<State, Program>>> = LazyLock::new(Mutex::default);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Program {
    sha256: String,
    /// The allocator that is linked into it, by the texts that this has in it.
    allocator: Option<&'static str>,
    /// Those that it names, joined by commas.
    compiler: String,
}

/// Texts of allocators in programs: their error messages.
const MARKS: [(&[u8], &str); 4] = [
    (b"<jemalloc>", "jemalloc"),
    (b"src/tcmalloc.cc", "tcmalloc"),
    (b"tcmalloc: large alloc", "tcmalloc"),
    (b"mimalloc: ", "mimalloc"),
];
/// The most that a mark may lie in the part of a file that was read before.
const OVERLAP: usize = 32;

/// Looks at the file that `path` leads to; `name` is its known name. Read once as long as the file
/// stays the same.
fn program_of(path: &Path, name: &Path) -> io::Result<Program> {
    let mut file = File::open(path)?;
    let metadata = file.metadata()?;
    let state = (
        name.to_owned(),
        metadata.dev(),
        metadata.ino(),
        metadata.len(),
        metadata.mtime(),
        metadata.mtime_nsec(),
    );
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(program) = known().get(&state) {
        return Ok(program.clone());
    }
    // Not under the lock: programs are large.
    let (sha256, allocator) = read(&mut file)?;
    let program = Program { sha256, allocator, compiler: elf::compilers(path)?.join(", ") };
    known().insert(state, program.clone());
    Ok(program)
}

/// The digest of a program, and the allocator in it.
fn read(file: &mut impl Read) -> io::Result<(String, Option<&'static str>)> {
    let mut hasher = Sha256::new();
    let mut allocator = None;
    // The end of the previous block, then the new one.
    let mut seen: Vec<u8> = Vec::new();
    let mut buffer = vec![0; 256 * 1024];
    loop {
        let length = file.read(&mut buffer)?;
        let Some(bytes) = buffer.get(..length).filter(|bytes| !bytes.is_empty()) else {
            break;
        };
        hasher.update(bytes);
        if allocator.is_none() {
            seen.extend_from_slice(bytes);
            allocator = mark_in(&seen);
            seen.drain(..seen.len().saturating_sub(OVERLAP));
        }
    }
    Ok((hexadecimal(&hasher.finalize()), allocator))
}

fn mark_in(bytes: &[u8]) -> Option<&'static str> {
    let found = MARKS.iter().find(|(mark, _)| memmem(bytes, mark));
    found.map(|(_, name)| *name)
}

/// Is `mark` in `bytes`? Looks at its first byte alone where it can: programs are large.
fn memmem(bytes: &[u8], mark: &[u8]) -> bool {
    let Some(&first) = mark.first() else {
        return false;
    };
    let mut rest = bytes;
    while let Some(at) = rest.iter().position(|&byte| byte == first) {
        rest = rest.get(at..).unwrap_or_default();
        if rest.starts_with(mark) {
            return true;
        }
        rest = rest.get(1..).unwrap_or_default();
    }
    false
}

/// SHA-256 of the server program at `path`: after a new compile of the same version it is another. Empty
/// where no program can be read; whoever starts it says so.
pub fn program_digest(dbms: Dbms, path: &Path) -> String {
    find_program(path, &[dbms])
        .ok()
        .and_then(|program| program_of(&program, &program).ok())
        .map_or_else(String::new, |program| program.sha256)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::time::{Duration, SystemTime};

    use super::*;

    const MAPS: &str = "\
    55d0-55d1 r--p 00000000 fe:00 1                          /opt/my sql/bin/mysqld
    7f00-7f01 r-xp 00001000 fe:00 4                          /usr/lib/x86_64-linux-gnu/libc.so.6
    7f01-7f02 r--p 00000000 fe:00 4                          /usr/lib/x86_64-linux-gnu/libc.so.6
    7f03-7f04 r-xp 00000000 fe:00 5                          /opt/my sql/lib/libjemalloc.so.1 (deleted)
    7f05-7f06 rw-s 00000000 00:01 6                          /dev/zero (deleted)
    7f07-7f08 r--p 00000000 fe:00 7                          /usr/lib/locale/locale-archive
    7f09-7f0a rw-p 00000000 00:00 0                          [heap]
    7f0b-7f0c rw-p 00000000 00:00 0
    ";

    #[test]
    fn libraries_by_path_each_once() {
        let found = libraries(MAPS);
        let text: Vec<String> = found
            .iter()
            .map(|library| format!("{} {}", library.path.display(), library.deleted))
            .collect();
        insta::assert_snapshot!(text.join("\n"), @r"
        /opt/my sql/lib/libjemalloc.so.1 true
        /usr/lib/x86_64-linux-gnu/libc.so.6 false
        ");
    }

    #[test]
    fn the_allocator_is_judged_from_the_libraries() {
        let judge = |maps: &str| allocator(&libraries(maps), None, None);
        insta::assert_snapshot!(judge(MAPS), @"jemalloc (/opt/my sql/lib/libjemalloc.so.1)");
        insta::assert_snapshot!(judge("1-2 r-xp 0 0:0 1 /lib64/libc-2.31.so"), @"C library (/lib64/libc-2.31.so)");
        insta::assert_snapshot!(judge("1-2 r-xp 0 0:0 1 /x/libtcmalloc_minimal.so.4\n1-2 r-xp 0 0:0 1 /x/libc.so.6"), @"tcmalloc (/x/libtcmalloc_minimal.so.4)");
        insta::assert_snapshot!(judge("1-2 r-xp 0 0:0 1 /x/static"), @"linked into the program");
    }

    #[test]
    fn of_two_allocators_the_preloaded_one_serves() {
        let directory = tempfile::tempdir().unwrap();
        let path = fs::canonicalize(directory.path()).unwrap().join("libtcmalloc.so.4");
        fs::write(&path, "").unwrap();
        let both = libraries(&format!(
            "1-2 r-xp 0 0:0 1 /a/libjemalloc.so.2\n1-2 r-xp 0 0:0 2 {}\n",
            path.display()
        ));
        assert!(allocator(&both, None, None).starts_with("jemalloc"));
        assert!(allocator(&both, Some(&path), Some("jemalloc")).starts_with("tcmalloc"));
        let own = allocator(&both, None, Some("mimalloc"));
        assert_eq!(own, "mimalloc, linked into the program");
    }

    #[test]
    fn only_mappings_of_the_pool_are_huge() {
        let smaps = "1-2 rw-p 0 0:0 0\nSize:               2048 kB\nVmFlags: rd wr mr\n\
                     3-4 rw-s 0 0:0 0 /anon_hugepage (deleted)\nSize:             145408 kB\nVmFlags: rd wr ht sd\n";
        assert_eq!(huge_in(smaps), 145_408 * 1024);
    }

    #[test]
    fn this_process_is_seen() {
        let own = Mapped::of(std::process::id(), None).unwrap();
        assert_eq!(own.program, std::env::current_exe().unwrap());
        assert_eq!(own.program_sha256.len(), 64);
        assert_eq!(own.compiler, program_of(&own.program, &own.program).unwrap().compiler);
        assert!(!own.compiler.is_empty());
        assert!(own.libraries.iter().all(|library| !library.deleted));
        let one = &own.libraries.first().unwrap().path;
        assert!(maps_file(std::process::id(), one).unwrap());
        let other = tempfile::NamedTempFile::new().unwrap();
        assert!(!maps_file(std::process::id(), other.path()).unwrap());
    }

    /// Gives a few bytes at a time.
    struct Slowly<'a>(&'a [u8], usize);

    impl Read for Slowly<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let length = self.1.min(self.0.len()).min(buffer.len());
            buffer[..length].copy_from_slice(&self.0[..length]);
            self.0 = &self.0[length..];
            Ok(length)
        }
    }

    #[test]
    fn an_allocator_in_the_program_is_seen_wherever_its_mark_lies() {
        let program = b"ELF\0 much before <<jemalloc>: error in malloc\0 and much after it, too";
        for length in 1..program.len() {
            let (_, allocator) = read(&mut Slowly(program, length)).unwrap();
            assert_eq!(allocator, Some("jemalloc"), "{length} at a time");
        }
        let (_, without) = read(&mut Slowly(b"malloc and jemalloc", 5)).unwrap();
        assert_eq!(without, None);
    }

    #[test]
    fn the_digest_is_that_of_the_content_and_follows_it() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let digest = || program_of(file.path(), file.path()).unwrap().sha256;
        fs::write(file.path(), "abc").unwrap();
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(digest(), abc);
        assert_eq!(digest(), abc);
        fs::write(file.path(), "abd").unwrap();
        let later = SystemTime::now() + Duration::from_secs(9);
        file.as_file().set_modified(later).unwrap();
        assert_ne!(digest(), abc);
    }

    #[test]
    fn a_new_compile_is_another_program() {
        let root = tempfile::tempdir().unwrap();
        let program = root.path().join("bin/postgres");
        fs::create_dir(root.path().join("bin")).unwrap();
        fs::write(&program, "one").unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let first = program_digest(Dbms::Postgres, root.path());
        assert_eq!(first.len(), 64);
        assert_eq!(first, program_digest(Dbms::Postgres, root.path()));
        fs::write(&program, "three").unwrap();
        assert_ne!(first, program_digest(Dbms::Postgres, root.path()));
        assert_eq!(program_digest(Dbms::Mysql, root.path()), "");
        assert_eq!(program_digest(Dbms::Sqlite, root.path()), "");
    }
}
