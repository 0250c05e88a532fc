//! The builds of a bisection, in order.

use anyhow::{Context, Result, bail};
use lab::Builds;
use model::{Build, Recipe};
use obtain::Added;

use super::commits::{Commit, Repository};
use crate::cmd::install;
use crate::printer::Printer;

/// To compile one source file.
const COMPILE_SECONDS: f64 = 30.0;
/// A slow connection, in bytes per second.
const DOWNLOAD: f64 = 4_000_000.0;

/// The ids of the builds from the good end to the bad end.
#[derive(Debug)]
pub(super) struct Ladder {
    names: Vec<String>,
    /// Which builds were installed at the start.
    installed: Vec<String>,
    /// What each build is made from, if the builds are commits.
    commits: Option<(Repository, Vec<Commit>)>,
}

impl Ladder {
    /// The builds of the catalog between two others, in the order of their versions. Builds with names of their own,
    /// such as a second package of a version, are not among them.
    pub(super) fn between(good: &Build, bad: &Build, builds: &Builds) -> Result<Self> {
        let [from, to] = [good, bad].map(Build::id);
        if good.dbms != bad.dbms {
            bail!("{from} and {to} are different products: name two versions of one");
        }
        if good.version >= bad.version {
            bail!(
                "--good {from} is not older than --bad {to}: exchange them; backslide finds improvements, too"
            );
        }
        let recipes = builds.catalog.recipes().iter().filter(|recipe| {
            recipe.dbms == good.dbms
                && good.version < recipe.version
                && recipe.version < bad.version
                && recipe.name == format!("{}-{}", recipe.dbms, recipe.version)
        });
        let mut between: Vec<&Recipe> = recipes.collect();
        between.sort_by(|a, b| a.version.cmp(&b.version));
        let between = between.into_iter().map(|recipe| recipe.name.clone());
        let names = [from].into_iter().chain(between).chain([to]).collect();
        Ok(Self { names, installed: installed(builds)?, commits: None })
    }

    /// The commits of a repository that change a source file of SQLite, from the good one to the bad one.
    pub(super) fn of_commits(
        repository: Repository,
        (good, bad): (&str, &str),
        builds: &Builds,
        printer: Printer,
    ) -> Result<Self> {
        let commits = repository.commits(good, bad)?;
        if repository.is_dirty()? {
            printer.note("changes that no commit has are not measured");
        }
        let names = commits.iter().map(Commit::name).collect();
        let commits = Some((repository, commits));
        Ok(Self { names, installed: installed(builds)?, commits })
    }

    /// Compiles the source of a commit, unless it has a build. Builds of releases come from the catalog when a plan
    /// needs them.
    pub(super) fn make(&self, place: usize, builds: &Builds, printer: Printer) -> Result<()> {
        let name = self.name(place);
        let Some((repository, commits)) = &self.commits else { return Ok(()) };
        let Some(commit) = commits.get(place) else { return Ok(()) };
        if builds.depot.find(name)?.is_some() {
            return Ok(());
        }
        let directory = tempfile::tempdir().context("cannot create a temporary directory")?;
        let source = directory.path().join("sqlite3.c");
        repository.write(commit, &source)?;
        let what = Added::Source(source, install::how_to_compile(builds)?);
        install::add_build(builds, name, &what, printer)?;
        Ok(())
    }

    /// The number of builds, the ends included.
    pub(super) fn builds(&self) -> usize {
        self.names.len()
    }

    /// The place of the bad end.
    pub(super) fn last(&self) -> usize {
        self.names.len().saturating_sub(1)
    }

    /// The build of this place; of one past the end, nothing.
    pub(super) fn name(&self, place: usize) -> &str {
        self.names.get(place).map_or("", String::as_str)
    }

    /// The build as people know it: a commit has its subject, too.
    pub(super) fn title(&self, place: usize) -> String {
        let commit = self.commits.as_ref().and_then(|(_, commits)| commits.get(place));
        let subject = commit.map_or_else(String::new, |commit| format!(" ({})", commit.subject));
        format!("{}{subject}", self.name(place))
    }

    pub(super) fn place(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|one| one == name)
    }

    /// Is it neither end?
    pub(super) fn is_inner(&self, place: usize) -> bool {
        0 < place && place + 1 < self.names.len()
    }

    /// What this build needs before it can be measured; `None` where it is installed or cannot be.
    pub(super) fn missing<'b>(&self, place: usize, builds: &'b Builds) -> Option<&'b Recipe> {
        let name = self.name(place);
        let is_missing = !self.installed.iter().any(|one| one == name);
        builds.catalog.recipe(name).ok().filter(|_| is_missing)
    }

    pub(super) fn install_seconds(&self, place: usize, builds: &Builds) -> f64 {
        if self.commits.is_some() {
            let is_installed = self.installed.iter().any(|one| one == self.name(place));
            return if is_installed { 0.0 } else { COMPILE_SECONDS };
        }
        self.missing(place, builds).map_or(0.0, |recipe| {
            let compile = if recipe.compile.is_some() { COMPILE_SECONDS } else { 0.0 };
            compile + recipe.download.0 as f64 / DOWNLOAD
        })
    }
}

fn installed(builds: &Builds) -> Result<Vec<String>> {
    Ok(builds.depot.installed()?.into_iter().map(|one| one.name).collect())
}
