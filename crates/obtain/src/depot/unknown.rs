//! Archives of unknown layout: where in them the server may be.

use std::fs;
use std::path::{Path, PathBuf};

use crate::archive;
use crate::error::{ObtainError, Result};
use crate::place::{self, PROGRAM_PLACES, SERVERS};
use crate::tree;

const LIMIT: usize = 20;

/// The most archives within an archive that are unpacked.
const INNER_LIMIT: usize = 16;

/// The requested name, for errors.
pub(super) const LOOKED_FOR: &str =
    "mysqld, mariadbd or postgres in bin, sbin, libexec or any other directory of it";

/// Places from which a server can be reached, the nearest to the top first: directories that hold `bin`
/// or its like, otherwise the program itself. Relative to `root`; empty for that itself.
pub(super) fn find(root: &Path) -> Result<Vec<String>> {
    let mut found: Vec<String> = Vec::new();
    for tree::Item { path, metadata } in tree::walk(root)? {
        let named = path.file_name().and_then(|name| name.to_str());
        // A link may be the only name by which a server is known: mysqld, which leads to mariadbd.
        let program = metadata.is_file() || metadata.is_symlink();
        if !program || !named.is_some_and(|name| SERVERS.contains(&name)) {
            continue;
        }
        let Some(path) = path.to_str() else { continue };
        found.extend(bases(path));
    }
    found.sort_by_key(|base| (base.matches('/').count(), base.len(), base.clone()));
    found.dedup();
    found.truncate(LIMIT);
    Ok(found)
}

/// From where the program at `path` can be reached.
fn bases(path: &str) -> Vec<String> {
    let mut parts: Vec<&str> = path.split('/').collect();
    parts.pop();
    if !parts.last().is_some_and(|last| PROGRAM_PLACES.contains(last)) {
        return vec![path.to_owned()];
    }
    parts.pop();
    let base = parts.join("/");
    // A package of a distribution has its server in usr/sbin, and what else it needs beside usr too.
    let above = match parts.as_slice() {
        [above @ .., "usr"] => Some(above.join("/")),
        _ => None,
    };
    above.into_iter().chain([base]).collect()
}

/// Where an archive holds no server but archives, as packages for several systems do: each of those that
/// has one in it becomes a directory of its name. What only looks like one, as a manual page that is
/// compressed, is left as it is.
pub(super) fn open_inner(made: &Path) -> Result<()> {
    if !find(made)?.is_empty() {
        return Ok(());
    }
    let files = tree::walk(made)?.into_iter();
    let files = files.filter(|item| item.metadata.is_file());
    let archives = files.map(|item| made.join(item.path));
    let archives = archives.filter(|path| archive::is_archive(path));
    let mut opened = 0;
    for file in archives {
        if opened == INNER_LIMIT {
            break;
        }
        let above = file.parent().unwrap_or(made);
        let inner = tempfile::tempdir_in(above).map_err(ObtainError::io("create", above))?;
        let content = inner.path().join("content");
        let scratch = inner.path().join("scratch");
        match place::assemble(std::slice::from_ref(&file), &[], &scratch, &content) {
            Ok(()) => opened += 1,
            Err(
                ObtainError::Format { .. }
                | ObtainError::Damaged { .. }
                | ObtainError::Placing { .. },
            ) => continue,
            Err(error) => return Err(error),
        }
        if !find(&content)?.is_empty() {
            tree::remove(&file)?;
            fs::rename(&content, &file).map_err(ObtainError::io("move", &content))?;
        }
    }
    Ok(())
}

/// Without the one directory that an archive has all its files in, if that is not one of a system.
pub(super) fn strip(made: PathBuf) -> Result<PathBuf> {
    let names = tree::names(&made)?;
    let [name] = names.as_slice() else {
        return Ok(made);
    };
    let inner = made.join(name);
    let meant = ["bin", "sbin", "libexec", "usr"].iter().any(|n| name == n);
    let directory = fs::symlink_metadata(&inner).is_ok_and(|kind| kind.is_dir());
    Ok(if directory && !meant { inner } else { made })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn servers_are_found_nearest_to_the_top_first() {
        let root = tempfile::tempdir().unwrap();
        for path in [
            "server/libexec/mysqld",
            "usr/sbin/mariadbd",
            "usr/lib/postgresql/18/bin/postgres",
            "package/server/mysqld",
            "bin/mysqld_safe",
            "share/postgres/readme",
        ] {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let found = find(root.path()).unwrap();
        assert_eq!(found, ["", "usr", "server", "package/server/mysqld", "usr/lib/postgresql/18"]);
    }
}
