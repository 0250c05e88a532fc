//! The builds of a bisection, in order.

use anyhow::{Result, bail};
use lab::Builds;
use model::{Build, Bytes, Nanos, Recipe};

use super::commits::Commits;

/// A slow connection, in bytes per second.
const DOWNLOAD: f64 = 4_000_000.0;

/// What a build takes that is not installed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Needs {
    pub(super) download: Bytes,
    /// To compile it.
    pub(super) compile: Nanos,
}

/// The ids of the builds from the good end to the bad end.
#[derive(Debug)]
pub(super) struct Ladder {
    names: Vec<String>,
    /// Which builds were installed at the start.
    installed: Vec<String>,
    /// What each build is made from, if the builds are commits.
    commits: Option<Commits>,
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

    pub(super) fn of_commits(commits: Commits, builds: &Builds) -> Result<Self> {
        let names = commits.all.iter().map(|commit| commits.builds.name(commit)).collect();
        Ok(Self { names, installed: installed(builds)?, commits: Some(commits) })
    }

    /// Makes the build of this place known by its name, as those of the catalog are.
    pub(super) fn offer(&self, place: usize, builds: &Builds) -> Result<()> {
        let Some(commits) = &self.commits else { return Ok(()) };
        if let Some(commit) = commits.all.get(place) {
            builds.offer(&commits.builds.recipe(commit)?);
        }
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
        let commit = self.commits.as_ref().and_then(|commits| commits.all.get(place));
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

    /// What this build takes before it can be measured; `None` where it is installed or cannot be.
    pub(super) fn needs(&self, place: usize, builds: &Builds) -> Option<Needs> {
        let name = self.name(place);
        if self.installed.iter().any(|one| one == name) {
            return None;
        }
        let jobs = u64::from(builds.depot.effort.jobs);
        if let Some(commits) = &self.commits {
            let compile = Nanos(commits.builds.compile.cpu.0 / jobs);
            return Some(Needs { compile, ..Needs::default() });
        }
        let recipe = builds.catalog.recipe(name).ok()?;
        let cpu = recipe.compile.as_ref().map_or(0, |compile| compile.cpu.0);
        Some(Needs { download: recipe.download, compile: Nanos(cpu / jobs) })
    }

    pub(super) fn install_seconds(&self, place: usize, builds: &Builds) -> f64 {
        self.needs(place, builds)
            .map_or(0.0, |needs| needs.compile.as_secs_f64() + needs.download.0 as f64 / DOWNLOAD)
    }
}

fn installed(builds: &Builds) -> Result<Vec<String>> {
    Ok(builds.depot.installed()?.into_iter().map(|one| one.name).collect())
}
