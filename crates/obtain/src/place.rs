//! What of an archive goes where.
//!
//! Archives are unpacked whole beside the build's directory, and what the rules name is then given a
//! place in it. Nothing is copied: a file gets a second name, and the first one goes with the rest.

mod pattern;

use std::collections::HashMap;
use std::fs::{self, DirBuilder, File, Permissions};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use model::Placing;

use crate::archive;
use crate::error::{ObtainError, Result};
use crate::tree;
use pattern::{Pattern, matches, misplaced, plain};

/// Directories that programs lie in, at whatever depth. Archives made on other systems do not say which
/// files are programs.
pub(crate) const PROGRAM_PLACES: [&str; 3] = ["bin", "sbin", "libexec"];

/// Servers; in some archives they lie elsewhere.
pub(crate) const SERVERS: [&str; 3] = ["mysqld", "mariadbd", "postgres"];

/// Unpacks archives over each other and places their files in the directory `into`, by the rules, or as
/// they are where there are none. Neither `into` nor `scratch` exists yet; both are on one disk.
pub(crate) fn assemble(
    archives: &[PathBuf],
    rules: &[Placing],
    scratch: &Path,
    into: &Path,
) -> Result<()> {
    make_directory(scratch)?;
    let raw = scratch.join("raw");
    make_directory(&raw)?;
    archive::unpack_wanted(archives, &raw, &wanted(rules, |rule| &rule.from)?)?;
    if rules.is_empty() {
        fs::rename(&raw, into).map_err(ObtainError::io("move", &raw))?;
    } else {
        make_directory(into)?;
        let outer = archives.first().map_or(raw.as_path(), PathBuf::as_path);
        place(&raw, outer, rules, scratch, into)?;
    }
    tree::remove(scratch)?;
    tidy(into)
}

fn place(raw: &Path, outer: &Path, rules: &[Placing], scratch: &Path, into: &Path) -> Result<()> {
    let mut whole = Mover::new(raw, into)?;
    for rule in rules.iter().filter(|rule| !rule.link) {
        if rule.unpack {
            unpack_inner(raw, rule, &scratch.join("inner"), into)
                .map_err(|error| error.within(raw, outer))?;
        } else {
            whole.carry_out(rule, &rule.from)?;
        }
    }
    whole.finish()?;
    let links = rules.iter().filter(|rule| rule.link);
    links.into_iter().try_for_each(|rule| link(rule, into))
}

/// Places what is in the archives that a rule names.
fn unpack_inner(raw: &Path, rule: &Placing, inner: &Path, into: &Path) -> Result<()> {
    let pattern = Pattern::parse(rule, &rule.from)?;
    for found in pattern.find(raw)? {
        let archive = raw.join(&found);
        if !archive.is_file() {
            return Err(misplaced(rule, "names something other than an archive"));
        }
        make_directory(inner)?;
        let wanted = wanted(std::slice::from_ref(rule), |_| "")?;
        archive::unpack_wanted(&[archive], inner, &wanted)?;
        let mut mover = Mover::new(inner, into)?;
        mover.carry_out(rule, "")?;
        mover.finish()?;
        tree::remove(inner)?;
    }
    Ok(())
}

/// Which of an archive's paths have a place, as far as their names tell.
fn wanted<'a>(
    rules: &'a [Placing],
    from: impl Fn(&'a Placing) -> &'a str,
) -> Result<impl Fn(&Path) -> bool> {
    let placing = rules.iter().filter(|rule| !rule.link);
    let patterns = placing.map(|rule| {
        // What an inner archive leaves behind lies in that.
        let outer = rule.unpack && !from(rule).is_empty();
        let skip = if outer { &[][..] } else { &rule.skip[..] };
        let skip = skip.iter().map(|path| Pattern::parse(rule, path));
        Ok((Pattern::parse(rule, from(rule))?, skip.collect::<Result<Vec<_>>>()?))
    });
    let patterns = patterns.collect::<Result<Vec<_>>>()?;
    Ok(move |path: &Path| {
        patterns.is_empty()
            || patterns.iter().any(|(pattern, skip)| {
                let below = pattern.below(path);
                below.is_some_and(|below| !skip.iter().any(|skip| skip.leaves(&below)))
            })
    })
}

fn link(rule: &Placing, into: &Path) -> Result<()> {
    let from = plain(rule, &rule.from)?;
    let to = plain(rule, &rule.to)?;
    if fs::symlink_metadata(into.join(&from)).is_err() {
        return Err(misplaced(rule, "leads to nothing that is in the build"));
    }
    let full = into.join(&to);
    if to.as_os_str().is_empty() || fs::symlink_metadata(&full).is_ok() {
        return Err(misplaced(rule, "would replace an existing file"));
    }
    make_above(&full)?;
    symlink(tree::relative(&to, &from), &full).map_err(ObtainError::io("link", &full))
}

/// Gives the files of one unpacked tree their places.
struct Mover<'a> {
    raw: &'a Path,
    /// The same without links on the way, to tell where links in it lead.
    real: PathBuf,
    into: &'a Path,
    /// Where things went, by where they were.
    placed: HashMap<PathBuf, PathBuf>,
    /// Links: where they were, where they go. They are made last, when their targets have a place.
    links: Vec<(PathBuf, PathBuf)>,
}

impl<'a> Mover<'a> {
    fn new(raw: &'a Path, into: &'a Path) -> Result<Self> {
        let real = raw.canonicalize().map_err(ObtainError::io("find", raw))?;
        Ok(Self { raw, real, into, placed: HashMap::new(), links: Vec::new() })
    }

    fn carry_out(&mut self, rule: &Placing, from: &str) -> Result<()> {
        let to = plain(rule, &rule.to)?;
        let pattern = Pattern::parse(rule, from)?;
        let skip = rule.skip.iter().map(|path| Pattern::parse(rule, path));
        let skip = skip.collect::<Result<Vec<_>, _>>()?;
        for found in pattern.find(self.raw)? {
            let job = Job { rule, skip: &skip, base: &found };
            match found.file_name() {
                Some(name) if !pattern.content => self.put(&job, &found, &to.join(name))?,
                _ => self.put_content(&job, &found, &to)?,
            }
        }
        Ok(())
    }

    fn put(&mut self, job: &Job<'_>, from: &Path, to: &Path) -> Result<()> {
        let source = self.raw.join(from);
        let kind = fs::symlink_metadata(&source).map_err(ObtainError::io("look at", &source))?;
        if job.skips(from, kind.is_dir()) {
            return Ok(());
        }
        self.placed.insert(from.to_owned(), to.to_owned());
        if kind.is_symlink() {
            self.links.push((from.to_owned(), to.to_owned()));
            Ok(())
        } else if kind.is_dir() {
            self.put_content(job, from, to)
        } else {
            let full = self.into.join(to);
            if fs::symlink_metadata(&full).is_ok_and(|there| there.is_dir()) {
                let cause = format!("puts a file where a directory is: {}", to.display());
                return Err(misplaced(job.rule, &cause));
            }
            make_above(&full).map_err(|_| in_the_way(job.rule, to))?;
            tree::share(&source, &full)
        }
    }

    fn put_content(&mut self, job: &Job<'_>, from: &Path, to: &Path) -> Result<()> {
        let full = self.into.join(to);
        make_directory(&full).map_err(|_| in_the_way(job.rule, to))?;
        self.placed.insert(from.to_owned(), to.to_owned());
        for name in tree::names(&self.raw.join(from))? {
            self.put(job, &from.join(&name), &to.join(&name))?;
        }
        Ok(())
    }

    /// Makes the links: to where their targets went. A link to a file that stays behind becomes that
    /// file; one to a directory that stays behind stays behind too.
    fn finish(self) -> Result<()> {
        for (from, to) in &self.links {
            let source = self.raw.join(from);
            let full = self.into.join(to);
            let target = source.canonicalize().map_err(ObtainError::io("follow", &source))?;
            if fs::symlink_metadata(&full).is_ok() {
                continue;
            }
            let inside = target.strip_prefix(&self.real).ok();
            if let Some(place) = inside.and_then(|target| self.placed.get(target)) {
                make_above(&full)?;
                symlink(tree::relative(to, place), &full)
                    .map_err(ObtainError::io("link", &full))?;
            } else if target.is_file() {
                make_above(&full)?;
                tree::share(&target, &full)?;
            }
        }
        Ok(())
    }
}

struct Job<'a> {
    rule: &'a Placing,
    skip: &'a [Pattern],
    base: &'a Path,
}

impl Job<'_> {
    fn skips(&self, path: &Path, directory: bool) -> bool {
        let below = path.strip_prefix(self.base);
        below.is_ok_and(|below| self.skip.iter().any(|skip| skip.is(below, directory)))
    }
}

fn in_the_way(rule: &Placing, to: &Path) -> ObtainError {
    let cause = format!("needs the directory {}, where a file is", to.display());
    misplaced(rule, &cause)
}

/// Makes a directory that others may read, and those above it.
fn make_directory(path: &Path) -> Result<()> {
    let make = || -> io::Result<()> {
        if fs::symlink_metadata(path).is_ok_and(|there| there.is_dir()) {
            return Ok(());
        }
        DirBuilder::new().create(path)?;
        fs::set_permissions(path, Permissions::from_mode(0o755))
    };
    match make() {
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => {
            make_above(path)?;
            make().map_err(ObtainError::io("create", path))
        }
        made => made.map_err(ObtainError::io("create", path)),
    }
}

fn make_above(path: &Path) -> Result<()> {
    path.parent().map_or(Ok(()), make_directory)
}

/// Makes programs of what is one, and drops the empty files that some archives have for links.
fn tidy(root: &Path) -> Result<()> {
    for tree::Item { path, metadata } in tree::walk(root)? {
        let full = root.join(&path);
        let Some(name) = path.file_name().filter(|_| metadata.is_file()) else {
            continue;
        };
        if metadata.len() == 0 && matches(b"*.so*", name.as_bytes()) {
            fs::remove_file(&full).map_err(ObtainError::io("remove", &full))?;
            continue;
        }
        let mut above = path.parent().into_iter().flat_map(Path::iter);
        let meant = SERVERS.iter().any(|server| name == *server)
            || above.any(|directory| PROGRAM_PLACES.iter().any(|place| directory == *place));
        let closed = metadata.permissions().mode() & 0o111 == 0;
        if meant && closed && is_program(&full)? {
            fs::set_permissions(&full, Permissions::from_mode(0o755))
                .map_err(ObtainError::io("set the permissions of", &full))?;
        }
    }
    Ok(())
}

/// Does a file begin like a program or a script?
fn is_program(path: &Path) -> Result<bool> {
    let mut head = Vec::new();
    File::open(path)
        .and_then(|file| file.take(4).read_to_end(&mut head))
        .map_err(ObtainError::io("read", path))?;
    Ok(head.starts_with(b"#!") || head == b"\x7fELF")
}

#[cfg(test)]
mod tests;
