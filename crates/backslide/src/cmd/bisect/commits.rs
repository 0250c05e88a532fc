//! The commits of a bisection: source files of SQLite in a git repository. Nothing is checked out: the user's working
//! tree stays as it is.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use anyhow::{Context, Result, bail};

/// Digits of a commit's hash in the name of its build.
const DIGITS: usize = 12;

#[derive(Debug)]
pub(super) struct Repository {
    directory: PathBuf,
    /// The path of the source file in each commit.
    file: String,
}

#[derive(Debug)]
pub(super) struct Commit {
    hash: String,
    pub(super) subject: String,
}

impl Commit {
    /// The name of its build.
    pub(super) fn name(&self) -> String {
        format!("git-{}", self.hash.get(..DIGITS).unwrap_or(&self.hash))
    }
}

impl Repository {
    pub(super) fn new(directory: &Path, file: &str) -> Self {
        Self { directory: directory.to_owned(), file: file.to_owned() }
    }

    /// The good commit, and those up to the bad one that change the file, along first parents.
    pub(super) fn commits(&self, good: &str, bad: &str) -> Result<Vec<Commit>> {
        let [from, to] =
            [("--good", good), ("--bad", bad)].map(|(name, commit)| self.commit(name, commit));
        let (from, to) = (from?, to?);
        if !self.is_ancestor(&from, &to)? {
            if self.is_ancestor(&to, &from)? {
                bail!(
                    "--bad {bad} is older than --good {good}: exchange them; backslide finds improvements, too"
                );
            }
            bail!("--good {good} is not an ancestor of --bad {bad}{}", self.shallow());
        }
        let format = "--format=%H %s";
        let range = format!("{from}..{to}");
        let log =
            self.git(&["log", "--first-parent", "--reverse", format, &range, "--", &self.file])?;
        let first = self.git(&["log", "-1", format, &from])?;
        let commits = first.lines().chain(log.lines()).map(|line| {
            let (hash, subject) = line.split_once(' ').unwrap_or((line, ""));
            Commit { hash: hash.to_owned(), subject: subject.to_owned() }
        });
        let commits: Vec<Commit> = commits.collect();
        if commits.len() < 2 {
            bail!(
                "no commit from {good} to {bad} changes {}: --file names the source file",
                self.file
            );
        }
        Ok(commits)
    }

    /// Writes the source file of a commit.
    pub(super) fn write(&self, commit: &Commit, to: &Path) -> Result<()> {
        let out = File::create(to).with_context(|| format!("cannot write {}", to.display()))?;
        let object = format!("{}:{}", commit.hash, self.file);
        let written = self.command(&["show", &object]).stdout(out).output();
        self.succeeded(written).map(drop)
    }

    /// Are there changes that no commit has?
    pub(super) fn is_dirty(&self) -> Result<bool> {
        Ok(!self.git(&["status", "--porcelain", "--", &self.file])?.is_empty())
    }

    fn commit(&self, argument: &str, commit: &str) -> Result<String> {
        let object = format!("{commit}^{{commit}}");
        let found = self.git(&["rev-parse", "--verify", "--end-of-options", &object]);
        let why = || format!("{argument}: no commit `{commit}`{}", self.shallow());
        Ok(found.with_context(why)?.trim().to_owned())
    }

    /// Of a repository without its whole history, what to do.
    fn shallow(&self) -> &'static str {
        let is_shallow = self.git(&["rev-parse", "--is-shallow-repository"]);
        let is_shallow = is_shallow.is_ok_and(|answer| answer.trim() == "true");
        if is_shallow { "; this repository is shallow: run `git fetch --unshallow`" } else { "" }
    }

    fn is_ancestor(&self, older: &str, newer: &str) -> Result<bool> {
        let asked = self.command(&["merge-base", "--is-ancestor", older, newer]).output();
        let output = asked.context(NO_GIT)?;
        Ok(output.status.success())
    }

    fn git(&self, arguments: &[&str]) -> Result<String> {
        let output = self.succeeded(self.command(arguments).output())?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("git");
        command.arg("-C").arg(&self.directory).args(arguments);
        command
    }

    fn succeeded(&self, output: std::io::Result<Output>) -> Result<Output> {
        let output = output.context(NO_GIT)?;
        if output.status.success() {
            return Ok(output);
        }
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("git in {}: {}", self.directory.display(), said.trim());
    }
}

const NO_GIT: &str = "cannot run `git`: install it";
