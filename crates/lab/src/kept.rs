//! Ends systems. Evidence of a failure moves to the lab's logs before an instance is removed.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::site::{Site, SiteError};

/// Files of a failed system, where they are now.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    moved: Vec<(PathBuf, PathBuf)>,
    lost: Vec<String>,
}

impl Kept {
    pub(crate) fn of(logs: &Path, name: &str, files: &[PathBuf]) -> Self {
        let mut kept = Self::default();
        let mut taken = BTreeSet::new();
        for (number, file) in (1..).zip(files) {
            let own = file.file_name().unwrap_or_default().to_string_lossy();
            let mut to = logs.join(format!("{name}-{own}"));
            if !taken.insert(to.clone()) {
                to = logs.join(format!("{name}-{number}-{own}"));
            }
            // The lab's directory is one filesystem, unless the user made it several.
            let moved = |()| fs::rename(file, &to).or_else(|_| fs::copy(file, &to).map(drop));
            match fs::create_dir_all(logs).and_then(moved) {
                Ok(()) => kept.moved.push((file.clone(), to)),
                Err(error) => kept.lost.push(format!("cannot keep {}: {error}", to.display())),
            }
        }
        kept
    }

    /// `reason` with the places where the files are now, also where it names them itself.
    pub(crate) fn told_in(&self, reason: &str) -> String {
        let mut text = reason.to_owned();
        let mut moved: Vec<_> = self.moved.iter().collect();
        // The path of one file may be the beginning of another's.
        moved.sort_by_key(|(from, _)| std::cmp::Reverse(from.as_os_str().len()));
        for (from, to) in moved {
            text = text.replace(&from.display().to_string(), &to.display().to_string());
        }
        // After the lines of a log it has a line of its own.
        let separator = if text.contains('\n') { "\n" } else { "; " };
        if !self.moved.is_empty() {
            let places = self.moved.iter().map(|(_, to)| to.display().to_string());
            let places: Vec<String> = places.collect();
            text = format!("{text}{separator}kept: {}", places.join(", "));
        }
        for lost in &self.lost {
            text = format!("{text}{separator}{lost}");
        }
        text
    }
}

#[derive(Debug)]
pub(crate) struct Ending {
    pub(crate) trouble: Option<SiteError>,
    pub(crate) remark: Option<String>,
    pub(crate) kept: Kept,
}

/// Stops a site and removes it. Files are kept in between: only a server that has ended has written its log and core.
pub(crate) fn end(mut site: Box<dyn Site>, logs: &Path, name: &str, has_failed: bool) -> Ending {
    let stopped = if has_failed { site.give_up() } else { site.stop().map(|()| None) };
    let kept = if has_failed || stopped.is_err() {
        Kept::of(logs, name, &site.crash_files())
    } else {
        Kept::default()
    };
    let removed = site.remove();
    let (remark, trouble) = match stopped {
        Ok(remark) => (remark, removed.err()),
        Err(error) => (None, Some(error)),
    };
    Ending { trouble, remark, kept }
}

/// Ends a site that was asked something, outside of runs.
pub(crate) fn end_after<T>(
    site: Box<dyn Site>,
    logs: &Path,
    name: &str,
    result: Result<T, SiteError>,
) -> Result<T, SiteError> {
    let Ending { trouble, kept, .. } = end(site, logs, name, result.is_err());
    let error = match (result, trouble) {
        (Ok(value), None) => return Ok(value),
        (Err(error), None) | (Ok(_), Some(error)) => error,
        // Why it was not answered: the server was gone, and here is how.
        (Err(error), Some(trouble)) => {
            SiteError { reason: format!("{}; {}", error.reason, trouble.reason), ..error }
        }
    };
    Err(SiteError { reason: kept.told_in(&error.reason), ..error })
}

/// The error of a site that could not be made ready; its files are kept, the rest of the instance is removed.
pub(crate) fn settle(error: SiteError, logs: &Path, name: &str) -> SiteError {
    let kept = Kept::of(logs, name, &error.files);
    if let Some(directory) = &error.directory {
        // The error tells why; a leftover only takes up the disk until the lab is used again.
        let _leftover = fs::remove_dir_all(directory);
    }
    SiteError::with_log(kept.told_in(&error.reason), error.log_tail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_one_name_are_both_kept_and_the_text_names_their_new_places() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        fs::create_dir_all(at("x/data")).unwrap();
        let files = [at("x/core"), at("x/data/core"), at("x/core.1"), at("x/no")];
        for file in &files[..3] {
            fs::write(file, file.display().to_string()).unwrap();
        }
        let reason = format!("its core is {}", files[2].display());
        let error = SiteError {
            reason,
            log_tail: Vec::new(),
            files: files.to_vec(),
            directory: Some(at("x")),
        };
        let error = settle(error, &at("logs"), "r1");
        let told = error.reason.replace(&root.path().display().to_string(), "LAB");
        insta::assert_snapshot!(told, @"its core is LAB/logs/r1-core.1; kept: LAB/logs/r1-core, LAB/logs/r1-2-core, LAB/logs/r1-core.1; cannot keep LAB/logs/r1-no: No such file or directory (os error 2)");
        let text = fs::read_to_string(at("logs/r1-2-core")).unwrap();
        assert_eq!(Path::new(&text), files[1]);
        assert!(!at("x").exists());
    }
}
