//! Archives for tests: as honest or hostile as is asked for.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use ::zip::write::SimpleFileOptions;
use ::zip::{CompressionMethod, ZipWriter};
use bzip2::write::BzEncoder;
use flate2::Compression;
use flate2::write::GzEncoder;
use tar::{Builder, EntryType, Header};

/// A tar that is being written, with names as they are given, checked by nobody.
pub(crate) struct Tar(Builder<Vec<u8>>);

impl Tar {
    pub(crate) fn new() -> Self {
        Self(Builder::new(Vec::new()))
    }

    pub(crate) fn entry(
        mut self,
        kind: EntryType,
        name: &str,
        link: &str,
        mode: u32,
        content: &[u8],
    ) -> Self {
        let mut header = Header::new_gnu();
        header.set_entry_type(kind);
        header.set_mode(mode);
        header.set_size(content.len() as u64);
        let old = header.as_old_mut();
        old.name[..name.len()].copy_from_slice(name.as_bytes());
        old.linkname[..link.len()].copy_from_slice(link.as_bytes());
        header.set_cksum();
        self.0.append(&header, content).unwrap();
        self
    }

    pub(crate) fn file(self, name: &str, content: &str) -> Self {
        self.entry(EntryType::Regular, name, "", 0o644, content.as_bytes())
    }

    pub(crate) fn directory(self, name: &str) -> Self {
        self.entry(EntryType::Directory, name, "", 0o755, &[])
    }

    pub(crate) fn symlink(self, name: &str, to: &str) -> Self {
        self.entry(EntryType::Symlink, name, to, 0o777, &[])
    }

    pub(crate) fn hard_link(self, name: &str, to: &str) -> Self {
        self.entry(EntryType::Link, name, to, 0o644, &[])
    }

    pub(crate) fn bytes(self) -> Vec<u8> {
        self.0.into_inner().unwrap()
    }
}

pub(crate) fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

pub(crate) fn bzip2(content: &[u8]) -> Vec<u8> {
    let mut encoder = BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

/// A zstd frame with one block that is not compressed for each 100 KiB, without a checksum.
pub(crate) fn zstd(content: &[u8]) -> Vec<u8> {
    // Magic; no flags; a window of 1 MiB.
    let mut bytes = vec![0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x50];
    let blocks: Vec<&[u8]> = content.chunks(100 << 10).collect();
    for (at, block) in blocks.iter().enumerate() {
        let last = u32::from(at + 1 == blocks.len());
        let header = (block.len() as u32) << 3 | last;
        bytes.extend_from_slice(&header.to_le_bytes()[..3]);
        bytes.extend_from_slice(block);
    }
    bytes
}

/// A zstd frame that begins with `head` and goes on with so many blocks of 128 KiB of zeros, each of which
/// takes four bytes.
pub(crate) fn zstd_bomb(head: &[u8], blocks: usize) -> Vec<u8> {
    let mut bytes = zstd(head);
    let size = head.len() as u32;
    // The first block is no longer the last.
    bytes[6..9].copy_from_slice(&(size << 3).to_le_bytes()[..3]);
    for at in 0..blocks {
        let last = u32::from(at + 1 == blocks);
        let header: u32 = (128 << 10) << 3 | 1 << 1 | last;
        bytes.extend_from_slice(&header.to_le_bytes()[..3]);
        bytes.push(0);
    }
    bytes
}

/// By the host's `xz`, since nothing here writes that format; `None` without one.
pub(crate) fn xz(content: &[u8]) -> Option<Vec<u8>> {
    let mut child =
        Command::new("xz").arg("-c").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().ok()?;
    let mut input = child.stdin.take().unwrap();
    let content = content.to_vec();
    let writer = std::thread::spawn(move || input.write_all(&content));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    output.status.success().then_some(output.stdout)
}

/// A package of Debian with this data.
pub(crate) fn deb(member: &str, data: &[u8]) -> Vec<u8> {
    let mut bytes = b"!<arch>\n".to_vec();
    let members: [(&str, &[u8]); 3] =
        [("debian-binary", b"2.0\n"), ("control.tar.gz", b"odd"), (member, data)];
    for (name, content) in members {
        let size = content.len();
        writeln!(bytes, "{name:<16}{:<12}{:<6}{:<6}{:<8}{size:<10}`", 0, 0, 0, 100_644).unwrap();
        bytes.extend_from_slice(content);
        if size % 2 == 1 {
            bytes.push(b'\n');
        }
    }
    bytes
}

/// A zip of files; a name with ` -> ` is a link.
pub(crate) fn zip(entries: &[(&str, &str, u32)]) -> Vec<u8> {
    let mut zip = ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, content, mode) in entries {
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Deflated)
            .unix_permissions(*mode);
        match name.split_once(" -> ") {
            Some((name, target)) => zip.add_symlink(name, target, options).unwrap(),
            None if name.ends_with('/') => zip.add_directory(*name, options).unwrap(),
            None => {
                zip.start_file(*name, options).unwrap();
                zip.write_all(content.as_bytes()).unwrap();
            }
        }
    }
    zip.finish().unwrap().into_inner()
}

/// A directory with an archive and room to unpack it.
pub(crate) struct Bench {
    directory: tempfile::TempDir,
}

impl Bench {
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir(directory.path().join("tree")).unwrap();
        Self { directory }
    }

    pub(crate) fn tree(&self) -> PathBuf {
        self.directory.path().join("tree")
    }

    /// The archive as a file whose name says nothing.
    pub(crate) fn archive(&self, bytes: &[u8]) -> PathBuf {
        let path = self.directory.path().join("archive");
        fs::write(&path, bytes).unwrap();
        path
    }

    /// What an error says, without the places of this run.
    pub(crate) fn refusal(&self, bytes: &[u8]) -> String {
        let archive = self.archive(bytes);
        let error = crate::archive::unpack(&[archive], &self.tree()).unwrap_err();
        self.assert_nothing_outside();
        error.to_string().replace(&self.directory.path().display().to_string(), "DIR")
    }

    pub(crate) fn unpack(&self, bytes: &[u8]) {
        crate::archive::unpack(&[self.archive(bytes)], &self.tree()).unwrap();
        self.assert_nothing_outside();
    }

    /// Everything that was unpacked: links with their targets, programs with a star.
    pub(crate) fn listing(&self) -> Vec<String> {
        use std::os::unix::fs::PermissionsExt;
        let items = crate::tree::walk(&self.tree()).unwrap().into_iter();
        let line = |item: crate::tree::Item| {
            let path = item.path.display().to_string();
            let full = self.tree().join(&item.path);
            let mode = item.metadata.permissions().mode() & 0o7777;
            if item.metadata.is_symlink() {
                format!("{path} -> {}", fs::read_link(full).unwrap().display())
            } else if item.metadata.is_dir() {
                assert_eq!(mode, 0o755, "{path}");
                format!("{path}/")
            } else {
                let content = fs::read_to_string(full).unwrap();
                assert!(mode == 0o755 || mode == 0o644, "{path}: {mode:o}");
                let star = if mode == 0o755 { "*" } else { "" };
                format!("{path}{star} = {content}")
            }
        };
        items.map(line).collect()
    }

    /// Beside the archive and what was unpacked there must be nothing.
    pub(crate) fn assert_nothing_outside(&self) {
        let names = crate::tree::names(self.directory.path()).unwrap();
        assert!(names == ["archive", "tree"] || names == ["tree"], "{names:?}");
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }
}
