//! Paths with `*` for any text within a name.

use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use model::Placing;

use crate::error::{ObtainError, Result};
use crate::tree;

pub(super) struct Pattern {
    rule: String,
    parts: Vec<String>,
    /// Does it end with a slash: is what is below it meant?
    pub(super) content: bool,
}

impl Pattern {
    pub(super) fn parse(rule: &Placing, text: &str) -> Result<Self> {
        let path = plain(rule, text)?;
        let parts = path.iter().map(|part| part.to_string_lossy().into_owned());
        Ok(Self {
            rule: describe(rule),
            parts: parts.collect(),
            content: text.is_empty() || text.ends_with('/'),
        })
    }

    /// What it stands for in a tree, sorted; an error where that is nothing.
    pub(super) fn find(&self, root: &Path) -> Result<Vec<PathBuf>> {
        let mut found = vec![PathBuf::new()];
        for part in &self.parts {
            let mut next = Vec::new();
            for above in &found {
                if root.join(above).is_dir() {
                    let names = tree::names(&root.join(above))?.into_iter();
                    let names = names.filter(|name| matches(part.as_bytes(), name.as_bytes()));
                    next.extend(names.map(|name| above.join(name)));
                }
            }
            found = next;
        }
        if self.content {
            found.retain(|path| root.join(path).is_dir());
        }
        if found.is_empty() {
            return Err(ObtainError::Placing {
                rule: self.rule.clone(),
                cause: "matches nothing".to_owned(),
            });
        }
        Ok(found)
    }

    /// What of this path lies below what it stands for: empty for that itself, or for something above
    /// it, through which the way may lead. `None` for what lies elsewhere.
    pub(super) fn below(&self, path: &Path) -> Option<PathBuf> {
        let mut names = path.iter();
        for part in &self.parts {
            match names.next() {
                Some(name) if matches(part.as_bytes(), name.as_bytes()) => {}
                Some(_) => return None,
                None => return Some(PathBuf::new()),
            }
        }
        Some(names.collect())
    }

    /// As a path that stays behind: is this it, or in it?
    pub(super) fn leaves(&self, path: &Path) -> bool {
        let depth = path.iter().count();
        let directory = |at: &Path| depth > at.iter().count();
        path.ancestors().any(|at| self.is(at, directory(at)))
    }

    pub(super) fn is(&self, path: &Path, directory: bool) -> bool {
        (directory || !self.content)
            && path.iter().count() == self.parts.len()
            && path
                .iter()
                .zip(&self.parts)
                .all(|(name, part)| matches(part.as_bytes(), name.as_bytes()))
    }
}

pub(super) fn matches(pattern: &[u8], name: &[u8]) -> bool {
    let (mut p, mut n) = (0, 0);
    // Where the last star was, and how much of the name it stands for so far.
    let mut star = None;
    loop {
        match (pattern.get(p), name.get(n)) {
            (Some(b'*'), _) => {
                star = Some((p, n));
                p += 1;
            }
            (Some(a), Some(b)) if a == b => {
                p += 1;
                n += 1;
            }
            (None, None) => return true,
            _ => {
                let Some((at, taken)) = star.filter(|(_, taken)| *taken < name.len()) else {
                    return false;
                };
                star = Some((at, taken + 1));
                p = at + 1;
                n = taken + 1;
            }
        }
    }
}

/// A path of a rule: relative, without `..`.
pub(super) fn plain(rule: &Placing, text: &str) -> Result<PathBuf> {
    let mut path = PathBuf::new();
    for part in Path::new(text).components() {
        match part {
            Component::Normal(name) => path.push(name),
            Component::CurDir => {}
            Component::RootDir | Component::ParentDir | Component::Prefix(_) => {
                return Err(misplaced(rule, &format!("leads out of the build: `{text}`")));
            }
        }
    }
    Ok(path)
}

fn describe(rule: &Placing) -> String {
    let to = rule.to.trim_end_matches('/');
    let to = if to.is_empty() { "." } else { to };
    match (rule.link, rule.unpack) {
        (true, _) => format!("`link {to} → {}`", rule.from),
        (false, true) => format!("`content of {} → {to}/`", rule.from),
        (false, false) => format!("`{} → {to}/`", rule.from),
    }
}

pub(super) fn misplaced(rule: &Placing, cause: &str) -> ObtainError {
    ObtainError::Placing { rule: describe(rule), cause: cause.to_owned() }
}
