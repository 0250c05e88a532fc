//! The clone of one file: by sharing its blocks, otherwise by copying its data.

use std::fs::{File, Metadata, OpenOptions, Permissions};
use std::io::{self, Read, Seek};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use rustix::fs::{Advice, SeekFrom, Timespec, Timestamps};
use rustix::io::Errno;

/// Unit of `st_blocks`, whatever the filesystem's own block is.
const BLOCK: u64 = 512;

/// Makes `to`, which must not exist, a file with the same blocks as `from`; false where the filesystem
/// cannot share blocks between the two, and then `to` is not there.
pub(super) fn reflink(from: &Path, to: &Path, metadata: &Metadata) -> io::Result<bool> {
    let source = File::open(from)?;
    let target = create(to)?;
    match rustix::fs::ioctl_ficlone(&target, &source) {
        Ok(()) => {
            finish(&target, metadata)?;
            Ok(true)
        }
        Err(error @ (Errno::IO | Errno::NOSPC | Errno::DQUOT | Errno::FBIG)) => Err(error.into()),
        // How a filesystem says that it does not do this differs: not supported, invalid, not permitted.
        Err(_) => {
            drop(target);
            std::fs::remove_file(to)?;
            Ok(false)
        }
    }
}

/// Makes `to`, which must not exist, a file with the same content as `from`: holes stay holes.
pub(super) fn copy(from: &Path, to: &Path, metadata: &Metadata) -> io::Result<()> {
    let source = File::open(from)?;
    let target = create(to)?;
    let length = metadata.len();
    // A hint that changes nothing but speed.
    let _ignored = rustix::fs::fadvise(&source, 0, None, Advice::Sequential);
    if metadata.blocks() * BLOCK >= length {
        copy_range(&source, &target, 0, length)?;
    } else {
        copy_data(&source, &target, length)?;
        target.set_len(length)?;
    }
    finish(&target, metadata)
}

fn create(path: &Path) -> io::Result<File> {
    // For the owner alone until it is whole.
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(0o600).open(path)
}

fn copy_data(source: &File, target: &File, length: u64) -> io::Result<()> {
    let mut at = 0;
    while at < length {
        let data = match rustix::fs::seek(source, SeekFrom::Data(at)) {
            Ok(data) => data.min(length),
            // A hole up to the end.
            Err(Errno::NXIO) => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        let hole = rustix::fs::seek(source, SeekFrom::Hole(data))?.min(length);
        copy_range(source, target, data, hole)?;
        at = hole;
    }
    Ok(())
}

/// Copies the bytes from `at` to `end`; the standard library lets the kernel do it where it can.
fn copy_range(mut source: &File, mut target: &File, at: u64, end: u64) -> io::Result<()> {
    source.seek(io::SeekFrom::Start(at))?;
    target.seek(io::SeekFrom::Start(at))?;
    if io::copy(&mut source.take(end - at), &mut target)? < end - at {
        let kind = io::ErrorKind::UnexpectedEof;
        return Err(io::Error::new(kind, "it became shorter while it was copied"));
    }
    Ok(())
}

/// Gives the file the mode and the times of the original.
pub(super) fn finish(target: &File, metadata: &Metadata) -> io::Result<()> {
    target.set_permissions(Permissions::from_mode(metadata.mode() & 0o7777))?;
    let times = Timestamps {
        last_access: Timespec { tv_sec: metadata.atime(), tv_nsec: metadata.atime_nsec() },
        last_modification: Timespec { tv_sec: metadata.mtime(), tv_nsec: metadata.mtime_nsec() },
    };
    Ok(rustix::fs::futimens(target, &times)?)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::FileExt;

    use super::*;

    /// 3 MiB: 64 KiB of data, a hole, 64 KiB of data, a hole.
    fn sparse(path: &Path) -> Vec<u8> {
        let file = File::create(path).unwrap();
        file.write_all_at(&vec![1; 64 << 10], 0).unwrap();
        file.write_all_at(&vec![2; 64 << 10], 1 << 20).unwrap();
        file.set_len(3 << 20).unwrap();
        fs::read(path).unwrap()
    }

    #[test]
    fn a_range_is_copied_and_one_past_the_end_is_an_error() {
        let root = tempfile::tempdir().unwrap();
        let (from, to) = (root.path().join("from"), root.path().join("to"));
        let bytes: Vec<u8> = (0..1_000_003u32).map(|n| (n % 251) as u8).collect();
        fs::write(&from, &bytes).unwrap();
        let (source, target) = (File::open(&from).unwrap(), File::create(&to).unwrap());
        copy_range(&source, &target, 17, bytes.len() as u64).unwrap();
        assert_eq!(fs::read(&to).unwrap()[17..], bytes[17..]);
        let past_the_end = copy_range(&source, &target, 0, bytes.len() as u64 + 1);
        assert_eq!(past_the_end.unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    }

    #[test]
    fn holes_stay_holes() {
        let root = tempfile::tempdir().unwrap();
        let (from, to) = (root.path().join("from"), root.path().join("to"));
        let bytes = sparse(&from);
        let metadata = fs::metadata(&from).unwrap();
        if metadata.blocks() * BLOCK > 1 << 20 {
            eprintln!("skipped: this filesystem has no holes");
            return;
        }
        copy(&from, &to, &metadata).unwrap();
        assert_eq!(fs::read(&to).unwrap(), bytes);
        let blocks = fs::metadata(&to).unwrap().blocks();
        assert!(blocks <= metadata.blocks(), "{blocks} blocks");
    }

    #[test]
    fn a_filesystem_that_cannot_share_blocks_leaves_nothing() {
        // Nothing shares blocks with /proc.
        let root = tempfile::tempdir().unwrap();
        let to = root.path().join("to");
        let from = Path::new("/proc/version");
        let metadata = fs::metadata(from).unwrap();
        assert!(!reflink(from, &to, &metadata).unwrap());
        assert!(!to.exists());
    }
}
