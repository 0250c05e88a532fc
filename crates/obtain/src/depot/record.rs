//! The names of the depot: a small file each.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use model::{Build, BuildSource, Bytes};
use serde::{Deserialize, Serialize};

use crate::error::{ObtainError, Result};
use crate::tree;

const NAME_LIMIT: usize = 100;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Installed {
    pub name: String,
    /// What its server says that it is; the source is [`model::BuildSource::Installed`], or
    /// [`model::BuildSource::Path`] for a directory of the user's own.
    pub build: Build,
    /// SHA-256 of the archive that it came from, where it was one.
    pub archive: Option<String>,
    /// What it takes on the disk; zero for a directory of the user's own.
    pub size: Bytes,
    /// When it was installed: RFC 3339, in UTC.
    pub installed: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Record {
    #[serde(flatten)]
    pub(super) installed: Installed,
    /// The tree that it has; `None` for a directory of the user's own.
    pub(super) tree: Option<String>,
    /// Where in that tree the server is: a directory, or the program itself.
    pub(super) base: String,
    pub(super) added: bool,
}

impl Record {
    /// As callers see it: with the directory where the depot is now, should it have been moved.
    pub(super) fn installed(self, root: &Path) -> Installed {
        let mut installed = self.installed;
        if let (BuildSource::Installed { directory, .. }, Some(tree)) =
            (&mut installed.build.source, &self.tree)
        {
            *directory = path_of(root, tree, &self.base).display().to_string();
        }
        installed
    }
}

pub(super) fn path_of(root: &Path, tree: &str, base: &str) -> PathBuf {
    within(&root.join("trees").join(tree), base)
}

/// The place of something in a tree; of the tree itself where it is called nothing.
pub(super) fn within(tree: &Path, base: &str) -> PathBuf {
    if base.is_empty() { tree.to_owned() } else { tree.join(base) }
}

/// An error where no build can be called this.
pub(super) fn check_name(name: &str) -> Result<()> {
    let first = name.starts_with(|first: char| first.is_ascii_alphanumeric());
    let fits = name.chars().all(|c| c.is_ascii_alphanumeric() || ".-_".contains(c));
    if first && fits && name.len() <= NAME_LIMIT {
        Ok(())
    } else {
        Err(ObtainError::Name { name: name.to_owned() })
    }
}

#[derive(Debug, Default)]
pub(super) struct Listing {
    pub(super) whole: Vec<Record>,
    pub(super) damaged: Vec<ObtainError>,
}

fn names(root: &Path) -> PathBuf {
    root.join("builds")
}

fn path(root: &Path, name: &str) -> PathBuf {
    names(root).join(format!("{name}.json"))
}

pub(super) fn all(root: &Path) -> Result<Listing> {
    let directory = names(root);
    let mut listing = Listing::default();
    if !directory.exists() {
        return Ok(listing);
    }
    for file in tree::names(&directory)? {
        let file = file.to_string_lossy();
        // What is no name is not ours: a file that an editor or a file system left there.
        let name = file.strip_suffix(".json");
        if let Some(name) = name.filter(|name| check_name(name).is_ok()) {
            match find(root, name) {
                Ok(record) => listing.whole.extend(record),
                Err(error) => listing.damaged.push(error),
            }
        }
    }
    Ok(listing)
}

pub(super) fn find(root: &Path, name: &str) -> Result<Option<Record>> {
    if check_name(name).is_err() {
        return Ok(None);
    }
    let path = path(root, name);
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(cause) => return Err(ObtainError::io("read", &path)(cause)),
    };
    let unusable = |cause: String| ObtainError::Record { path: path.clone(), cause };
    let record: Record =
        serde_json::from_str(&text).map_err(|cause| unusable(cause.to_string()))?;
    if record.installed.name != name {
        return Err(unusable(format!("it is of `{}`", record.installed.name)));
    }
    Ok(Some(record))
}

/// Writes a record so that at any moment there is either the old one or the new one.
pub(super) fn write(root: &Path, record: &Record) -> Result<()> {
    let directory = names(root);
    let path = path(root, &record.installed.name);
    let write = || -> io::Result<()> {
        let mut file = tempfile::NamedTempFile::new_in(root.join("tmp"))?;
        serde_json::to_writer_pretty(&mut file, record)?;
        file.write_all(b"\n")?;
        file.as_file().sync_all()?;
        file.persist(&path)?;
        File::open(&directory)?.sync_all()
    };
    write().map_err(ObtainError::io("write", &path))
}

pub(super) fn remove(root: &Path, name: &str) -> Result<()> {
    let path = path(root, name);
    fs::remove_file(&path)
        .and_then(|()| File::open(names(root))?.sync_all())
        .map_err(ObtainError::io("remove", &path))
}
