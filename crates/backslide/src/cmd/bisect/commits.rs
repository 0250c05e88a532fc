//! The commits of a bisection.

use std::path::Path;

use anyhow::{Context, Result, bail};
use lab::Builds;
use obtain::{Commit, CommitBuilds, Repository};

use crate::args::BisectArgs;
use crate::printer::Printer;

/// Commits of one product, in order, and how each is compiled.
#[derive(Debug)]
pub(super) struct Commits {
    pub(super) builds: CommitBuilds,
    pub(super) all: Vec<Commit>,
}

impl Commits {
    /// The good commit, and those up to the bad one that change what is compiled, along first parents.
    pub(super) fn of(
        directory: &Path,
        args: &BisectArgs,
        builds: &Builds,
        printer: Printer,
    ) -> Result<Self> {
        let repository = Repository::new(directory.to_owned());
        let (good, bad) = (&args.good, &args.bad);
        let from = repository.commit(good).context("--good names no commit")?;
        let to = repository.commit(bad).context("--bad names no commit")?;
        if !repository.is_ancestor(&from, &to)? {
            if repository.is_ancestor(&to, &from)? {
                bail!(
                    "--bad {bad} is older than --good {good}: exchange them; backslide finds improvements, too"
                );
            }
            bail!("--good {good} is not an ancestor of --bad {bad}{}", repository.shallow());
        }
        let dbms = builds.product_of(&repository, &to)?;
        let flags = args.cflags.as_ref().map(|flags| words(flags));
        let options = (!args.configure.is_empty()).then_some(args.configure.as_slice());
        let builds = builds.of_commits(dbms, repository, options, flags.as_deref())?;
        let repository = &builds.repository;
        let paths = if args.paths.is_empty() { &builds.compile.paths } else { &args.paths };
        let all = [vec![from.clone()], repository.between(&from, &to, paths)?].concat();
        if all.len() < 2 {
            let what = if paths.is_empty() { "anything".to_owned() } else { paths.join(", ") };
            bail!(
                "no commit from {good} to {bad} changes {what}; name other files or directories with --paths"
            );
        }
        if repository.is_dirty(paths)? {
            printer.note("uncommitted changes are not measured");
        }
        Ok(Self { builds, all })
    }
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}
