//! Builds on this machine, kept by content: a directory a digest, a small file a name.
//!
//! ```text
//! builds/NAME.json      a name, what its server says that it is, and which tree it has
//! trees/DIGEST/         the files of builds; the digest is that of what they were made from
//! downloads/            DIGEST/: what was fetched so far of one origin, gone when that is installed;
//!                       what origins share; libraries and tools that builds need beside themselves
//! logs/NAME.log         what the compilation of a build printed
//! tmp/                  what is being unpacked; what is left over there goes with the next change
//! lock                  held by whoever changes something
//! ```
//!
//! A build is there when its name is, and the name is the last thing that is written. So a crash leaves
//! either nothing or a whole build, and reading needs no lock.

mod held;
mod maker;
mod record;
mod unknown;

use std::env;
use std::fs::{self, File};
use std::path::{Path, PathBuf, absolute};
use std::thread::available_parallelism;

use model::{BuildSource, Bytes, Compile, Helper, ObtainEvent, Origin, Recipe};

use crate::error::{ObtainError, Result};
use crate::tree;
use crate::{Identify, Listen, Work};
pub use held::Held;
pub use record::Installed;
use record::{Listing, Record};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Obtained {
    pub build: Installed,
    /// Was it made, for the first time or anew because it no longer answered? Otherwise it was there.
    pub made: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Added {
    Path(PathBuf),
    Archive(String),
    /// A source file, and how it is compiled.
    Source(PathBuf, Box<Compile>),
}

/// How much of the machine a compilation takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// Jobs at once.
    pub jobs: u32,
    /// As of `nice -n`: 19 gives way to everything else.
    pub nice: u8,
}

impl Effort {
    /// All CPUs, where nothing else needs them.
    pub fn usual() -> Self {
        let cpus = available_parallelism().map_or(1, |cpus| cpus.get() as u32);
        Self { jobs: cpus, nice: 10 }
    }
}

/// The builds of this user, shared by all labs.
#[derive(Clone, Debug)]
pub struct Depot {
    root: PathBuf,
    /// For builds that are compiled.
    pub effort: Effort,
}

impl Depot {
    /// The depot in `root`, which need not exist yet.
    pub fn new(root: PathBuf) -> Self {
        // Servers are started in directories of their own, where a relative path would lead elsewhere.
        let root = absolute(&root).unwrap_or(root);
        Self { root, effort: Effort::usual() }
    }

    /// Where builds are kept unless the user says otherwise: the directory that `BACKSLIDE_CACHE` names,
    /// otherwise `backslide` in the XDG cache directory.
    pub fn default_root() -> PathBuf {
        let named = |variable: &str| {
            env::var_os(variable).map(PathBuf::from).filter(|path| !path.as_os_str().is_empty())
        };
        default_root(named("BACKSLIDE_CACHE"), named("XDG_CACHE_HOME"), env::home_dir())
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Every build that is installed, by name, but for those of [`Depot::damaged`].
    pub fn installed(&self) -> Result<Vec<Installed>> {
        let records = record::all(&self.root)?.whole;
        Ok(records.into_iter().map(|record| record.installed(&self.root)).collect())
    }

    /// What is wrong with records that cannot be read: while there are such, no files of builds are removed.
    pub fn damaged(&self) -> Result<Vec<String>> {
        let damaged = record::all(&self.root)?.damaged;
        Ok(damaged.iter().map(ToString::to_string).collect())
    }

    /// Keeps the build of this name in `directory` on this machine while what is returned lives. A directory that is not
    /// the depot's is the user's to keep.
    pub fn hold(&self, build: &str, directory: &Path) -> Result<Held> {
        held::hold(&self.trees(), directory)?.ok_or_else(|| ObtainError::Gone {
            build: build.to_owned(),
            directory: directory.to_owned(),
        })
    }

    pub fn find(&self, name: &str) -> Result<Option<Installed>> {
        let record = record::find(&self.root, name)?;
        Ok(record.map(|record| record.installed(&self.root)))
    }

    /// Installs what `recipe` says; one that is there already is only looked at.
    pub fn install(
        &self,
        recipe: &Recipe,
        helpers: &[Helper],
        identify: &Identify<'_>,
        listen: &mut Listen<'_>,
    ) -> Result<Obtained> {
        record::check_name(&recipe.name)?;
        let mut work = Work { root: &self.root, helpers, identify, listen, effort: self.effort };
        if let Some(build) = self.standing(recipe, &mut work)? {
            return Ok(Obtained { build, made: false });
        }
        let _lock = self.begin(work.listen)?;
        // Another backslide may have installed it while this one waited.
        if let Some(build) = self.standing(recipe, &mut work)? {
            return Ok(Obtained { build, made: false });
        }
        let record = work.install(recipe)?;
        Ok(Obtained { build: record.installed(&self.root), made: true })
    }

    pub fn add(
        &self,
        name: &str,
        what: &Added,
        helpers: &[Helper],
        identify: &Identify<'_>,
        listen: &mut Listen<'_>,
    ) -> Result<Installed> {
        record::check_name(name)?;
        self.unused(name)?;
        let _lock = self.begin(listen)?;
        self.unused(name)?;
        let mut work = Work { root: &self.root, helpers, identify, listen, effort: self.effort };
        let record = match what {
            Added::Path(path) => in_place(name, path, &mut work)?,
            Added::Archive(place) => work.add(name, &origin_of(place)?, None)?,
            Added::Source(file, compile) => {
                work.add(name, &Origin::File(whole(file)?.display().to_string()), Some(compile))?
            }
        };
        Ok(record.installed(&self.root))
    }

    /// Forgets the build and removes its files, unless another name still has them. What it took. An error
    /// while a run holds it.
    pub fn remove(&self, name: &str, listen: &mut Listen<'_>) -> Result<Bytes> {
        if record::find(&self.root, name)?.is_none() {
            return Err(self.not_installed(name)?);
        }
        let _lock = held::lock(&self.root, listen)?;
        let Some(record) = record::find(&self.root, name)? else {
            return Err(self.not_installed(name)?);
        };
        let tree = record.tree.as_ref().map(|tree| self.trees().join(tree));
        let before = tree.as_deref().filter(|tree| tree.is_dir()).map(tree::size);
        let namesakes = record::all(&self.root)?.whole.into_iter();
        let is_last = namesakes.filter(|other| other.tree == record.tree).count() < 2;
        if let Some(tree) = tree.as_deref().filter(|_| is_last)
            && held::take(tree).is_none()
        {
            return Err(ObtainError::Held { what: name.to_owned() });
        }
        record::remove(&self.root, name)?;
        // Only a build that was compiled has one.
        let _log = fs::remove_file(log_of(&self.root, name));
        // With its name gone, a tree that no other name has is swept like any left-over.
        self.sweep()?;
        let gone = tree.is_none_or(|tree| !tree.exists());
        Ok(before.transpose()?.filter(|_| gone).unwrap_or_default())
    }

    fn trees(&self) -> PathBuf {
        self.root.join("trees")
    }

    /// Makes the depot ready for a change: alone, with its directories, and without left-overs.
    fn begin(&self, listen: &mut Listen<'_>) -> Result<File> {
        let lock = held::lock(&self.root, listen)?;
        for directory in ["builds", "trees", "downloads", "logs", "tmp"] {
            let directory = self.root.join(directory);
            fs::create_dir_all(&directory).map_err(ObtainError::io("create", &directory))?;
        }
        self.sweep()?;
        Ok(lock)
    }

    /// The build that `recipe` is for, if it is there and still answers as it did.
    fn standing(&self, recipe: &Recipe, work: &mut Work<'_>) -> Result<Option<Installed>> {
        let Some(record) = record::find(&self.root, &recipe.name)? else {
            return Ok(None);
        };
        if record.added {
            return Err(in_use(&record.installed(&self.root)));
        }
        let there = record.installed(&self.root);
        (work.listen)(ObtainEvent::Checking { what: there.name.clone() });
        let answer = (work.identify)(Path::new(directory_of(&there.build.source)));
        let same = answer.is_ok_and(|build| build.version_line == there.build.version_line);
        Ok(same.then_some(there))
    }

    fn unused(&self, name: &str) -> Result<()> {
        self.find(name)?.map_or(Ok(()), |there| Err(in_use(&there)))
    }

    fn not_installed(&self, name: &str) -> Result<ObtainError> {
        let names: Vec<String> = self.installed()?.into_iter().map(|b| b.name).collect();
        let there = if names.is_empty() {
            "none is installed".to_owned()
        } else {
            format!("there are {}", names.join(", "))
        };
        Ok(ObtainError::NotInstalled { name: name.to_owned(), there })
    }

    /// Removes what an earlier process left behind: unfinished work, and trees without a name. Under the
    /// lock, so that nobody is at work on them.
    fn sweep(&self) -> Result<()> {
        let Listing { whole, damaged } = record::all(&self.root)?;
        let named = |tree: &str| whole.iter().any(|r| r.tree.as_deref() == Some(tree));
        self.clear("tmp", |_| false)?;
        // A record that cannot be read may be that of any tree.
        self.clear("trees", |tree| !damaged.is_empty() || named(tree))?;
        // Work in progress has such a name there.
        self.clear("downloads", |name| !name.starts_with(".tmp"))
    }

    /// Removes what is in a directory, but for what is to be kept or in use.
    fn clear(&self, directory: &str, keep: impl Fn(&str) -> bool) -> Result<()> {
        let directory = self.root.join(directory);
        if !directory.is_dir() {
            return Ok(());
        }
        for name in tree::names(&directory)? {
            let path = directory.join(&name);
            if !keep(&name.to_string_lossy())
                && let Some(_unused) = held::take(&path)
            {
                tree::remove(&path)?;
            }
        }
        Ok(())
    }
}

/// What the compilation of a build printed.
fn log_of(root: &Path, name: &str) -> PathBuf {
    root.join("logs").join(format!("{name}.log"))
}

fn default_root(own: Option<PathBuf>, xdg: Option<PathBuf>, home: Option<PathBuf>) -> PathBuf {
    if let Some(own) = own {
        return own;
    }
    // A relative path there is to be ignored, as its specification says.
    xdg.filter(|path| path.is_absolute())
        .or_else(|| home.map(|home| home.join(".cache")))
        .unwrap_or_else(env::temp_dir)
        .join("backslide")
}

/// A directory of the user's own, which stays where it is.
fn in_place(name: &str, path: &Path, work: &mut Work<'_>) -> Result<Record> {
    let path = whole(path)?;
    let what = path.display().to_string();
    (work.listen)(ObtainEvent::Checking { what: what.clone() });
    let mut build = (work.identify)(&path)
        .map_err(|cause| ObtainError::Server { what: what.clone(), cause })?;
    if !matches!(build.source, BuildSource::Path(_)) {
        build.source = BuildSource::Path(what);
    }
    build.name = Some(name.to_owned());
    let record = Record {
        installed: Installed {
            name: name.to_owned(),
            build,
            archive: None,
            size: Bytes(0),
            installed: now(),
        },
        tree: None,
        base: String::new(),
        added: true,
    };
    record::write(work.root, &record)?;
    Ok(record)
}

fn origin_of(place: &str) -> Result<Origin> {
    if place.starts_with("http://") || place.starts_with("https://") {
        return Ok(Origin::Url(place.to_owned()));
    }
    Ok(Origin::File(whole(Path::new(place))?.display().to_string()))
}

fn whole(path: &Path) -> Result<PathBuf> {
    absolute(path).map_err(ObtainError::io("find", path))
}

fn in_use(there: &Installed) -> ObtainError {
    let by = match &there.build.source {
        BuildSource::Installed { origin, .. } => format!("the build from {origin}"),
        source => format!("the build in {}", directory_of(source)),
    };
    ObtainError::NameInUse { name: there.name.clone(), by }
}

fn directory_of(source: &BuildSource) -> &str {
    if let BuildSource::Installed { directory, .. } | BuildSource::Path(directory) = source {
        directory
    } else {
        ""
    }
}

/// The present moment: RFC 3339 in UTC, to the second.
pub fn now() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn builds_are_kept_where_the_user_says_else_in_his_cache() {
        let path = |text: &str| Some(PathBuf::from(text));
        let root = |own, xdg, home| default_root(own, xdg, home).display().to_string();
        assert_eq!(root(path("/b"), path("/x"), path("/home/u")), "/b");
        assert_eq!(root(None, path("/x"), path("/home/u")), "/x/backslide");
        assert_eq!(root(None, path("x"), path("/home/u")), "/home/u/.cache/backslide");
        assert!(root(None, None, None).ends_with("/backslide"));
    }
}
