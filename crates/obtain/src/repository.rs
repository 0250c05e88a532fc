//! A git repository with the source of a product. Nothing is checked out: the user's working tree stays as it is.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use model::{BuildFacts, Bytes, Compile, Dbms, Origin, Parcel, Recipe};

use crate::compile::Compiler;
use crate::error::{ObtainError, Result};
use crate::fetch::Clients;
use crate::tree::text_digest;

#[derive(Clone, Debug)]
pub struct Repository {
    directory: PathBuf,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    pub hash: String,
    /// The hash of its files.
    pub tree: String,
    pub subject: String,
}

impl Repository {
    /// The repository in `directory`, where nothing is looked at yet.
    pub fn new(directory: PathBuf) -> Self {
        // Commands run in other directories, too.
        Self { directory: std::path::absolute(&directory).unwrap_or(directory) }
    }

    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The commit that a name, a tag or a branch stands for now.
    pub fn commit(&self, name: &str) -> Result<Commit> {
        let object = format!("{name}^{{commit}}");
        let hash = self.git(&["rev-parse", "--quiet", "--verify", "--end-of-options", &object]);
        let hash = hash.map_err(|_| self.no_commit(name))?;
        let log = self.log(&["-1", hash.trim()])?;
        log.into_iter().next().ok_or_else(|| self.no_commit(name))
    }

    /// The commits after `from` up to `to` that change one of `paths`, or any where there are none, along first
    /// parents; the oldest first.
    pub fn between(&self, from: &Commit, to: &Commit, paths: &[String]) -> Result<Vec<Commit>> {
        let range = format!("{}..{}", from.hash, to.hash);
        let paths = paths.iter().map(String::as_str);
        let arguments = ["--first-parent", "--reverse", &range, "--"].into_iter().chain(paths);
        self.log(&arguments.collect::<Vec<_>>())
    }

    fn log(&self, arguments: &[&str]) -> Result<Vec<Commit>> {
        let log = self.git(&[&["log", "--format=%H %T %s"], arguments].concat())?;
        let commit = |line: &str| {
            let mut words = line.splitn(3, ' ').map(str::to_owned);
            let (hash, tree) = (words.next()?, words.next()?);
            Some(Commit { hash, tree, subject: words.next().unwrap_or_default() })
        };
        Ok(log.lines().filter_map(commit).collect())
    }

    pub fn is_ancestor(&self, older: &Commit, newer: &Commit) -> Result<bool> {
        let asked = ["merge-base", "--is-ancestor", &older.hash, &newer.hash];
        Ok(self.output(&asked)?.status.success())
    }

    /// Has a commit this file?
    pub fn has(&self, commit: &Commit, file: &str) -> bool {
        let asked = ["cat-file", "-e", &format!("{}:{file}", commit.hash)];
        self.output(&asked).is_ok_and(|output| output.status.success())
    }

    /// The text of a file of a commit.
    pub fn read(&self, commit: &Commit, file: &str) -> Result<String> {
        self.git(&["show", &format!("{}:{file}", commit.hash)])
    }

    /// Are there changes of these paths that no commit has?
    pub fn is_dirty(&self, paths: &[String]) -> Result<bool> {
        let paths = paths.iter().map(String::as_str);
        let arguments =
            ["status", "--porcelain", "--untracked-files=no", "--"].into_iter().chain(paths);
        Ok(!self.git(&arguments.collect::<Vec<_>>())?.is_empty())
    }

    /// Of a repository without its whole history, what to do.
    pub fn shallow(&self) -> &'static str {
        let is_shallow = self.git(&["rev-parse", "--is-shallow-repository"]);
        let is_shallow = is_shallow.is_ok_and(|answer| answer.trim() == "true");
        if is_shallow { "; this repository is shallow: run `git fetch --unshallow`" } else { "" }
    }

    fn no_commit(&self, name: &str) -> ObtainError {
        // A directory that is no repository says so itself.
        match self.git(&["rev-parse", "--git-dir"]) {
            Ok(_) => self.error(format!("no commit `{name}`{}", self.shallow())),
            Err(error) => error,
        }
    }

    fn git(&self, arguments: &[&str]) -> Result<String> {
        let output = self.output(arguments)?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        Err(self.error(said))
    }

    fn output(&self, arguments: &[&str]) -> Result<Output> {
        let mut command = Command::new("git");
        command.arg("-C").arg(&self.directory).args(arguments).output().map_err(|cause| {
            self.error(format!("cannot run `git` ({cause}): install it (Debian's package `git`)"))
        })
    }

    fn error(&self, said: String) -> ObtainError {
        ObtainError::Git { repository: self.directory.clone(), said }
    }
}

/// Digits of a commit's hash in the name of its build, and of the digest of how it is compiled.
const COMMIT_DIGITS: usize = 12;
const HOW_DIGITS: usize = 4;

/// The builds of a repository's commits, all compiled in one way.
#[derive(Clone, Debug)]
pub struct CommitBuilds {
    pub repository: Repository,
    pub dbms: Dbms,
    pub compile: Compile,
    /// The start of the digest of recipe, compiler and flags.
    how: String,
}

impl CommitBuilds {
    /// An error where this machine cannot compile them.
    pub fn new(repository: Repository, dbms: Dbms, compile: Compile) -> Result<Self> {
        let what = format!("commits of {}", repository.directory.display());
        let compiler = Compiler::find(&compile, &what, &Clients::of_user(), &env::temp_dir())?;
        let how = start(&text_digest(&compiler.line()), HOW_DIGITS).to_owned();
        Ok(Self { repository, dbms, compile, how })
    }

    /// The name of a commit's build. It stands for the commit, the recipe, the compiler and the flags: what differs in
    /// one of these is another build.
    pub fn name(&self, commit: &Commit) -> String {
        format!("git-{}-{}", start(&commit.hash, COMMIT_DIGITS), self.how)
    }

    pub fn recipe(&self, commit: &Commit) -> Result<Recipe> {
        let marks = &self.compile.version;
        let text = self.repository.read(commit, &marks.file);
        let version = text.ok().and_then(|text| marks.read(&text));
        let version = version.ok_or_else(|| ObtainError::NoVersion {
            commit: start(&commit.hash, COMMIT_DIGITS).to_owned(),
            file: marks.file.clone(),
        })?;
        let repository = self.repository.directory.display().to_string();
        let (tree, hash) = (commit.tree.clone(), commit.hash.clone());
        let facts =
            BuildFacts { engines: vec![self.dbms.default_engine()], ..BuildFacts::default() };
        Ok(Recipe {
            name: self.name(commit),
            dbms: self.dbms,
            version,
            parcel: Parcel {
                origin: Origin::Git { repository, commit: hash, tree },
                sha256: None,
                place: Vec::new(),
            },
            download: Bytes(0),
            size: self.compile.space,
            facts,
            compile: Some(self.compile.clone()),
        })
    }
}

fn start(text: &str, digits: usize) -> &str {
    text.get(..digits).unwrap_or(text)
}
