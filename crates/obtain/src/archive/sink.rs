//! Where archives are unpacked into: the only thing here that writes, and the judge of every entry.
//!
//! Symbolic links are made when all is read. Until then there are none on the disk that something could
//! be written through, and where each of them leads is known.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::checks::{Flaw, Inner, Leads, Link, Node, Nodes};
use super::checks::{follow, inner_path, parent, shown, target};
use super::meter::{CHUNK, Meter};
use crate::error::{ObtainError, Result};
use crate::tree;

/// The permissions of a program and of a directory. All else that an archive says is dropped: the bits
/// that change who runs it, writing by others, owners and times.
const PROGRAM: u32 = 0o755;

const PLAIN: u32 = 0o644;

pub(super) struct Sink<'a> {
    root: &'a Path,
    wanted: &'a dyn Fn(&Path) -> bool,
    archives: Vec<&'a Path>,
    /// That of the last archive.
    meter: Rc<Meter>,
    nodes: Nodes,
    rooted: bool,
    buffer: Vec<u8>,
}

impl<'a> Sink<'a> {
    pub(super) fn new(root: &'a Path, wanted: &'a dyn Fn(&Path) -> bool) -> Self {
        Self {
            root,
            wanted,
            archives: Vec::new(),
            meter: Rc::default(),
            nodes: HashMap::new(),
            rooted: false,
            buffer: vec![0; CHUNK],
        }
    }

    /// What comes from here on is of this archive.
    pub(super) fn begin(&mut self, archive: &'a Path, meter: Rc<Meter>) {
        self.archives.push(archive);
        self.meter = meter;
        self.rooted = false;
    }

    /// From here on, links that begin with a slash begin at the tree's root.
    pub(super) fn rooted(&mut self) {
        self.rooted = true;
    }

    pub(super) fn directory(&mut self, name: &[u8]) -> Result<()> {
        let path = self.admit(name)?;
        if path.is_empty() {
            return Ok(());
        }
        match self.nodes.get(&path) {
            Some(Node::Directory) => Ok(()),
            Some(other) => Err(replaced(name, other, "directory")),
            None => self.make_directory(path),
        }
    }

    pub(super) fn file(
        &mut self,
        name: &[u8],
        program: bool,
        size: u64,
        content: &mut dyn Read,
    ) -> Result<()> {
        let path = self.admit_file(name, "file")?;
        self.meter.foresee(size).map_err(ObtainError::damaged)?;
        let full = self.full(&path);
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&full)
            .map_err(ObtainError::io("create", &full))?;
        let written = self.copy(content, &file, &full)?;
        if written != size {
            let cause = format!("`{}` has {written} of {size} bytes", shown(name));
            return Err(ObtainError::damaged(cause));
        }
        let mode = if program { PROGRAM } else { PLAIN };
        file.set_permissions(Permissions::from_mode(mode))
            .map_err(ObtainError::io("set the permissions of", &full))?;
        self.nodes.insert(path, Node::File);
        Ok(())
    }

    pub(super) fn symlink(&mut self, name: &[u8], to: &[u8]) -> Result<()> {
        let path = self.admit(name)?;
        let to = target(to).map_err(hostile(name))?;
        let link = Node::Link(Link {
            target: to.to_vec(),
            archive: self.archives.len().saturating_sub(1),
            rooted: self.rooted,
        });
        match self.nodes.get(&path) {
            None if path.is_empty() => Err(hostile(name)(Flaw::Name)),
            None | Some(Node::Link(_)) => {
                self.nodes.insert(path, link);
                Ok(())
            }
            Some(other) => Err(replaced(name, other, "link")),
        }
    }

    /// An entry that is not wanted, and whose content need not be read: judged all the same.
    pub(super) fn leave(&mut self, name: &[u8]) -> Result<bool> {
        let path = inner_path(name).map_err(hostile(name))?;
        if (self.wanted)(Path::new(OsStr::from_bytes(&path))) {
            return Ok(false);
        }
        self.meter.entry().map_err(ObtainError::damaged)?;
        Ok(true)
    }

    pub(super) fn hard_link(&mut self, name: &[u8], to: &[u8]) -> Result<()> {
        let leads_out = |_| hostile(name)(Flaw::LinkOut(shown(to)));
        let first = inner_path(to).map_err(leads_out)?;
        if self.nodes.get(&first) != Some(&Node::File) {
            return Err(hostile(name)(Flaw::HardLink(shown(to))));
        }
        if inner_path(name).is_ok_and(|path| path == first) {
            return Ok(());
        }
        let path = self.admit_file(name, "hard link")?;
        let full = self.full(&path);
        fs::hard_link(self.full(&first), &full).map_err(ObtainError::io("create", &full))?;
        self.nodes.insert(path, Node::File);
        Ok(())
    }

    /// An entry that no tree of files has.
    pub(super) fn special(name: &[u8], kind: &'static str) -> ObtainError {
        hostile(name)(Flaw::Special(kind))
    }

    /// All is read: makes the links that lead to something.
    pub(super) fn finish(self) -> Result<()> {
        for (path, node) in &self.nodes {
            let Node::Link(link) = node else { continue };
            let to = match follow(&self.nodes, path, link) {
                Leads::To(to) => to,
                // It may mean a file of a package or part that was not wanted.
                Leads::Nowhere => continue,
                Leads::Out if !(self.wanted)(Path::new(OsStr::from_bytes(path))) => continue,
                Leads::Out => return Err(self.leads_out(path, link)),
            };
            let target = if link.target.first() == Some(&b'/') {
                let [link, to] =
                    [path, to.as_slice()].map(|path| Path::new(OsStr::from_bytes(path)));
                tree::relative(link, to).into_os_string().into_vec()
            } else {
                link.target.clone()
            };
            let full = self.full(path);
            symlink(OsStr::from_bytes(&target), &full).map_err(ObtainError::io("link", &full))?;
        }
        Ok(())
    }

    fn leads_out(&self, path: &[u8], link: &Link) -> ObtainError {
        let archive = self.archives.get(link.archive).copied();
        ObtainError::Hostile {
            archive: archive.unwrap_or(self.root).to_owned(),
            entry: shown(path),
            flaw: Flaw::LinkOut(shown(&link.target)),
        }
    }

    fn full(&self, path: &[u8]) -> PathBuf {
        self.root.join(OsStr::from_bytes(path))
    }

    /// Judges an entry's name and makes the directories above it.
    fn admit(&mut self, name: &[u8]) -> Result<Inner> {
        self.meter.entry().map_err(ObtainError::damaged)?;
        let path = inner_path(name).map_err(hostile(name))?;
        self.make_parents(name, &path)?;
        Ok(path)
    }

    /// The same for a file, which may take the place of a file.
    fn admit_file(&mut self, name: &[u8], becomes: &'static str) -> Result<Inner> {
        let path = self.admit(name)?;
        match self.nodes.get(&path) {
            None if path.is_empty() => return Err(hostile(name)(Flaw::Name)),
            None => {}
            Some(Node::File) => {
                let full = self.full(&path);
                fs::remove_file(&full).map_err(ObtainError::io("replace", &full))?;
            }
            Some(other) => return Err(replaced(name, other, becomes)),
        }
        Ok(path)
    }

    fn make_parents(&mut self, name: &[u8], path: &[u8]) -> Result<()> {
        let Some(above) = parent(path) else {
            return Ok(());
        };
        if self.nodes.get(above) == Some(&Node::Directory) {
            return Ok(());
        }
        let ends = above.iter().enumerate().filter(|(_, byte)| **byte == b'/');
        let ends: Vec<usize> = ends.map(|(at, _)| at).chain([above.len()]).collect();
        for end in ends {
            let directory = above.get(..end).unwrap_or(above);
            match self.nodes.get(directory) {
                Some(Node::Directory) => {}
                Some(Node::Link(_)) => {
                    return Err(hostile(name)(Flaw::ThroughLink(shown(directory))));
                }
                Some(Node::File) => {
                    return Err(hostile(name)(Flaw::BelowFile(shown(directory))));
                }
                None => self.make_directory(directory.to_vec())?,
            }
        }
        Ok(())
    }

    fn make_directory(&mut self, path: Inner) -> Result<()> {
        let full = self.full(&path);
        DirBuilder::new()
            .mode(PROGRAM)
            .create(&full)
            // Whatever the mask of this process is, a server that runs as another user reads it.
            .and_then(|()| fs::set_permissions(&full, Permissions::from_mode(PROGRAM)))
            .map_err(ObtainError::io("create", &full))?;
        self.nodes.insert(path, Node::Directory);
        Ok(())
    }

    fn copy(&mut self, content: &mut dyn Read, mut file: &File, full: &Path) -> Result<u64> {
        let mut written = 0;
        loop {
            let count = match content.read(&mut self.buffer) {
                Ok(0) => return Ok(written),
                Ok(count) => count,
                Err(cause) if cause.kind() == io::ErrorKind::Interrupted => continue,
                Err(cause) => return Err(ObtainError::damaged(cause)),
            };
            self.meter.write(count as u64).map_err(ObtainError::damaged)?;
            let chunk = self.buffer.get(..count).unwrap_or_default();
            file.write_all(chunk).map_err(ObtainError::io("write", full))?;
            written += count as u64;
        }
    }
}

fn hostile(name: &[u8]) -> impl Fn(Flaw) -> ObtainError {
    move |flaw| ObtainError::hostile(shown(name), flaw)
}

fn replaced(name: &[u8], was: &Node, becomes: &'static str) -> ObtainError {
    hostile(name)(Flaw::Replaces(was.name(), becomes))
}
