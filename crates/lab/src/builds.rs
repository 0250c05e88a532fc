//! What builds there are, and which of them a plan means.

use std::cell::{OnceCell, RefCell};
use std::env;
use std::path::{Path, PathBuf};

use model::{
    Build, BuildSource, Bytes, Cause, Dbms, HostShape, Origin, Plan, Recipe, System, Version,
};
use obtain::{
    Added, Commit, CommitBuilds, Depot, Held, Installed, Listen, ObtainError, Obtained, Repository,
};
use plan::{BuildRequest, Catalog, Choices, PlanError, PlanFile, SourceRequest};

use crate::embedded;
use crate::error::SystemError;
use crate::foreign;
use crate::reach::{ForeignAddress, Secrets};

/// A download that another build of the series may save.
const LARGE: Bytes = Bytes::from_mib(200);
/// How many times less that other build must take.
const MUCH_SMALLER: u64 = 4;

/// Says in place of a version line that a build would first have to be installed.
const NOT_INSTALLED: &str = "not installed";

/// The build at a path: a server or a library, or the directory that it is in.
pub(crate) fn inspect(path: &Path) -> Result<Build, SystemError> {
    match embedded::library_at(path) {
        Some(library) => embedded::inspect(&library),
        None => Ok(servers::inspect(path)?),
    }
}

fn identify(path: &Path) -> Result<Build, Cause> {
    Ok(inspect(path)?)
}

fn depot_of_user() -> Depot {
    Depot::new(Depot::default_root())
}

/// Keeps the installed builds of `systems` from being removed for as long as what is returned lives.
pub fn hold_builds(systems: &[System]) -> Result<Vec<Held>, ObtainError> {
    let depot = depot_of_user();
    let held = systems.iter().filter_map(|system| {
        let BuildSource::Installed { directory, .. } = &system.build.source else { return None };
        Some(depot.hold(&system.build.id(), Path::new(directory)))
    });
    held.collect()
}

/// The builds of this machine and of the catalog. Looks around once, and only when that is needed.
#[derive(Debug)]
pub struct Builds {
    pub catalog: Catalog,
    pub depot: Depot,
    found: OnceCell<Vec<Build>>,
    secrets: RefCell<Secrets>,
    /// Builds of commits that somebody asked for; they are found by name like those of the catalog.
    offered: RefCell<Vec<Recipe>>,
    /// Builds of the catalog that plans meant and that are not installed.
    wanted: RefCell<Vec<Recipe>>,
}

impl Builds {
    pub fn new(catalog: Catalog, depot: Depot) -> Self {
        Self {
            catalog,
            depot,
            found: OnceCell::new(),
            secrets: RefCell::default(),
            offered: RefCell::default(),
            wanted: RefCell::default(),
        }
    }

    /// Those of the catalog that backslide brings along and of this user's depot.
    pub fn of_user() -> Result<Self, PlanError> {
        Ok(Self::new(Catalog::embedded()?, depot_of_user()))
    }

    /// What was found where servers usually are, newest first in each family.
    pub fn found(&self) -> &[Build] {
        self.found.get_or_init(servers::discover)
    }

    /// The one that is part of backslide: `sqlite` in plans. The catalog's build of that version has flags of its own.
    pub fn embedded() -> Result<Build, SystemError> {
        let version = drivers::sqlite_version();
        let number = version.parse().map_err(|_| SystemError::NoVersion)?;
        Ok(Build {
            version_line: format!("SQLite {version}, part of backslide"),
            ..Build::new(Dbms::Sqlite, number, BuildSource::Embedded)
        })
    }

    /// The build of the catalog that `name` means: the one of that name, else the newest that fits.
    pub fn recipe(&self, name: &str) -> Result<&Recipe, SystemError> {
        let request = BuildRequest::named(name);
        if is_built_in(&request) {
            return Err(SystemError::NothingToInstall(name.to_owned()));
        }
        let exact = self.catalog.recipe(name).ok();
        let found = exact.or_else(|| self.newest_recipe(&request));
        found.ok_or_else(|| self.not_in_catalog(&request))
    }

    /// The build of the catalog that compiles the source of the version that `name` means.
    pub fn recipe_from_source(&self, name: &str) -> Result<&Recipe, SystemError> {
        let asked = self.recipe(name)?;
        let sources = self.catalog.recipes().iter().filter(|recipe| recipe.compile.is_some());
        let mut sources = sources.filter(|recipe| recipe.dbms == asked.dbms);
        let found = sources.clone().find(|recipe| recipe.version == asked.version);
        found.ok_or_else(|| SystemError::NoSource {
            name: asked.name.clone(),
            sources: sources.by_ref().map(|it| it.name.as_str()).collect::<Vec<_>>().join(", "),
        })
    }

    pub fn recipe_named(&self, name: &str) -> Option<Recipe> {
        let offered = self.offered.borrow().iter().find(|recipe| recipe.name == name).cloned();
        offered.or_else(|| self.catalog.recipe(name).ok().cloned())
    }

    /// The builds of a repository's commits, as the catalog compiles the source of a product.
    pub fn of_commits(
        &self,
        dbms: Dbms,
        repository: Repository,
        options: Option<&[String]>,
        flags: Option<&[String]>,
    ) -> Result<CommitBuilds, SystemError> {
        let mut compile =
            self.catalog.compile(dbms).cloned().ok_or(SystemError::NoCompile(dbms))?;
        if let Some(options) = options {
            options.clone_into(&mut compile.options);
        }
        if let Some(flags) = flags {
            flags.clone_into(&mut compile.flags);
        }
        Ok(CommitBuilds::new(repository, dbms, compile)?)
    }

    pub fn product_of(
        &self,
        repository: &Repository,
        commit: &Commit,
    ) -> Result<Dbms, SystemError> {
        let is_product = |dbms: &Dbms| {
            self.catalog.compile(*dbms).is_some_and(|compile| {
                let has_version = |text: String| compile.version.read(&text).is_some();
                repository.has(commit, &compile.source)
                    && repository.read(commit, &compile.version.file).is_ok_and(has_version)
            })
        };
        let found = Dbms::all().into_iter().find(is_product);
        found.ok_or_else(|| SystemError::NoProduct(repository.directory().to_owned()))
    }

    /// Makes a build known by its name. Nothing is compiled yet.
    pub fn offer(&self, recipe: &Recipe) {
        let mut offered = self.offered.borrow_mut();
        if !offered.iter().any(|other| other.name == recipe.name) {
            offered.push(recipe.clone());
        }
    }

    fn of_source(&self, source: &SourceRequest) -> Result<Build, SystemError> {
        let repository = Repository::new(expanded(&source.git));
        let commit = repository.commit(&source.commit)?;
        let (options, flags) = (source.configure.as_deref(), source.cflags.as_deref());
        let recipe = self.of_commits(source.dbms, repository, options, flags)?.recipe(&commit)?;
        match self.depot.find(&recipe.name)? {
            Some(installed) => Ok(installed.build),
            None => Ok(self.would_be(&recipe)),
        }
    }

    fn not_in_catalog(&self, request: &BuildRequest) -> SystemError {
        let all = self.catalog.recipes().iter();
        let all: Vec<Build> = all.map(not_installed).collect();
        let (name, nearest) = (request.name.clone(), nearest(request, &all));
        SystemError::NotInCatalog { name, nearest }
    }

    /// The newest build of the series of `recipe` that takes far less to download, where that one is large.
    pub fn much_smaller(&self, recipe: &Recipe) -> Option<&Recipe> {
        let same = |other: &&Recipe| {
            other.dbms == recipe.dbms
                && other.version.parts().get(..2) == recipe.version.parts().get(..2)
                && !is_named(&not_installed(other))
        };
        let is_far_less =
            |other: &&Recipe| other.download.0.saturating_mul(MUCH_SMALLER) <= recipe.download.0;
        let all = self.catalog.recipes().iter().filter(same);
        let smaller = all.filter(is_far_less).filter(|_| recipe.download >= LARGE);
        newest(smaller, |other| &other.version)
    }

    fn newest_recipe(&self, request: &BuildRequest) -> Option<&Recipe> {
        let fits = self.catalog.recipes().iter().filter(|recipe| {
            let build = not_installed(recipe);
            request.is_general() && request.fits(&build) && !is_named(&build)
        });
        newest(fits, |recipe| &recipe.version)
    }

    /// Installs a build of the catalog; one that is there already is only looked at.
    pub fn install(
        &self,
        recipe: &Recipe,
        listen: &mut Listen<'_>,
    ) -> Result<Obtained, ObtainError> {
        self.depot.install(recipe, self.catalog.helpers(), &identify, listen)
    }

    pub fn add(
        &self,
        name: &str,
        what: &Added,
        listen: &mut Listen<'_>,
    ) -> Result<Installed, ObtainError> {
        self.depot.add(name, what, self.catalog.helpers(), &identify, listen)
    }

    /// The build that `request` means; the error says what was looked for and what to do.
    ///
    /// In this order: the path or address that it gives; the build with exactly this name, be it
    /// installed, found on this machine or in the catalog; the newest that is installed or found and
    /// that fits; the newest of the catalog that fits. Builds with names of their own are found by these
    /// only. A build of the catalog that is not installed
    /// is returned as it would be, and remembered: [`Builds::take_wanted`].
    pub fn find(&self, request: &BuildRequest) -> Result<Build, SystemError> {
        if let Some(path) = &request.path {
            return inspect(Path::new(path));
        }
        if let (Some(connect), Some(dbms)) = (&request.connect, request.dbms) {
            let address = ForeignAddress::parse(connect)?;
            self.secrets.borrow_mut().keep(&address);
            return foreign::ask(dbms, &address, &self.secrets.borrow());
        }
        if let Some(source) = &request.source {
            return self.of_source(source);
        }
        if is_built_in(request) {
            return Self::embedded();
        }
        let installed = self.depot.installed()?;
        if let Some(one) = installed.iter().find(|one| one.name == request.name) {
            return Ok(one.build.clone());
        }
        if let Some(build) = self.found().iter().find(|build| build.id() == request.name) {
            return Ok(build.clone());
        }
        if let Some(recipe) = self.recipe_named(&request.name) {
            return Ok(self.would_be(&recipe));
        }
        let here = installed.iter().map(|one| &one.build).chain(self.found());
        let fits = here.filter(|build| request.is_general() && request.fits(build));
        // Builds that have a name of their own, such as one with assertions, are meant by that name only.
        if let Some(build) = newest(fits.filter(|b| !is_named(b)), |build| &build.version) {
            return Ok(build.clone());
        }
        match self.newest_recipe(request) {
            Some(recipe) => Ok(self.would_be(recipe)),
            None => Err(self.missing(request, &installed)),
        }
    }

    pub fn expand(&self, file: &PlanFile, host: HostShape) -> Result<Plan, PlanError> {
        plan::expand(file, &self.catalog, &|request| Ok(self.find(request)?), host)
    }

    /// The names of the catalog's builds without the older minor versions of PostgreSQL and SQLite, over a hundred.
    pub fn leading(&self) -> Vec<&str> {
        let recipes = self.catalog.recipes();
        let is_older = |one: &Recipe, other: &Recipe| {
            one.dbms.product().many_minors
                && other.dbms == one.dbms
                && series(other) == series(one)
                && other.version > one.version
        };
        let is_ready = |one: &&Recipe| !matches!(one.parcel.origin, Origin::DebianSource { .. });
        let ready: Vec<&Recipe> = recipes.iter().filter(is_ready).collect();
        let leading = ready.iter().filter(|one| !ready.iter().any(|other| is_older(one, other)));
        leading.map(|recipe| recipe.name.as_str()).collect()
    }

    /// Builds of the catalog that [`Builds::find`] gave out since this was last asked and that are not installed.
    pub fn take_wanted(&self) -> Vec<Recipe> {
        self.wanted.take()
    }

    pub fn secrets(&self) -> Secrets {
        self.secrets.borrow().clone()
    }

    fn would_be(&self, recipe: &Recipe) -> Build {
        let mut wanted = self.wanted.borrow_mut();
        if !wanted.iter().any(|other| other.name == recipe.name) {
            wanted.push(recipe.clone());
        }
        not_installed(recipe)
    }

    fn missing(&self, request: &BuildRequest, installed: &[Installed]) -> SystemError {
        let here = installed.iter().map(|one| one.build.clone());
        let here = here.chain(self.found().iter().cloned());
        let of_catalog = self.catalog.recipes().iter().map(not_installed);
        let nearest = nearest(request, &here.chain(of_catalog).collect::<Vec<_>>());
        SystemError::NoBuild { nearest }
    }
}

/// A path in which `~/` is the user's own directory.
pub fn expanded(path: &str) -> PathBuf {
    match (path.strip_prefix("~/"), env::home_dir()) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => path.into(),
    }
}

/// Is it the product's name alone, or the id of the build that is part of backslide?
fn is_built_in(request: &BuildRequest) -> bool {
    let is_id = || Builds::embedded().is_ok_and(|build| build.id() == request.name);
    request.dbms.is_some_and(|dbms| dbms.is_embedded() && (request.name == dbms.name() || is_id()))
}

/// Names the nearest build after a semicolon, by version or by spelling; empty where there is none.
fn nearest(request: &BuildRequest, all: &[Build]) -> String {
    let told = |name: &str| format!("; nearest `{name}`");
    let said = request.dbms.zip(request.version.clone());
    let Some((dbms, version)) = said.or_else(|| misspelt(&request.name, all)) else {
        let choices = Choices::new(&request.name, all.iter().map(Build::id));
        return choices.nearest().map_or_else(String::new, told);
    };
    let distance = |build: &Build| -> Vec<u32> {
        let parts = version.parts().iter().zip(build.version.parts());
        parts.map(|(wanted, has)| wanted.abs_diff(*has)).collect()
    };
    let of_dbms = all.iter().filter(|b| b.dbms == dbms && !is_named(b));
    let by_distance = |a: &&Build, b: &&Build| {
        let distances = distance(a).cmp(&distance(b));
        distances.then_with(|| b.version.cmp(&a.version))
    };
    of_dbms.min_by(by_distance).map_or_else(String::new, |build| told(&build.id()))
}

/// The product that `postgress-15`, `pg15` and `mysql84` mean, and the version: 15, 15, and 8.4 where `all` have an 8.
fn misspelt(name: &str, all: &[Build]) -> Option<(Dbms, Version)> {
    let (product, version) = name.split_at(name.find(|c: char| c.is_ascii_digit())?);
    let dbms = meant(product.trim_end_matches(['-', '_', ':', ' ']))?;
    let of_dbms = || all.iter().filter(|build| build.dbms == dbms);
    let has = |series: &str| of_dbms().any(|build| series.parse() == Ok(build.version.major()));
    let divided = (1..version.len())
        .filter(|_| !has(version) && version.bytes().all(|byte| byte.is_ascii_digit()))
        .map(|at| version.split_at(at))
        .find(|(series, _)| has(series));
    let version = divided.map_or(version.to_owned(), |(major, minor)| format!("{major}.{minor}"));
    Some((dbms, version.parse().ok()?))
}

/// The product with a name like this: misspelt, cut short, or that of published results.
fn meant(product: &str) -> Option<Dbms> {
    let all = Dbms::all();
    let choices = Choices::new(product, all.iter().map(|dbms| dbms.name()));
    let begins = |dbms: &Dbms| product.len() > 2 && dbms.name().starts_with(product);
    let published =
        |dbms: &Dbms| dbms.product().published.iter().any(|names| names.letters == product);
    Dbms::from_alias(product)
        .or_else(|| Dbms::from_name(choices.nearest()?))
        .or_else(|| all.iter().copied().find(|dbms| begins(dbms) || published(dbms)))
}

fn not_installed(recipe: &Recipe) -> Build {
    Build {
        dbms: recipe.dbms,
        version: recipe.version.clone(),
        source: BuildSource::Obtainable { origin: recipe.parcel.origin.describe() },
        version_line: NOT_INSTALLED.to_owned(),
        name: Some(recipe.name.clone()),
        facts: recipe.facts.clone(),
    }
}

/// The major version of PostgreSQL, two numbers before 10; of SQLite it is always 3.
fn series(recipe: &Recipe) -> &[u32] {
    let is_one = recipe.dbms.is_embedded() || recipe.version.major() >= 10;
    recipe.version.parts().get(..if is_one { 1 } else { 2 }).unwrap_or_default()
}

/// Has it another name than its family and version: a second build of a version, one of the user's own?
fn is_named(build: &Build) -> bool {
    build.name.as_ref().is_some_and(|name| *name != format!("{}-{}", build.dbms, build.version))
}

/// The last of the newest: what is installed comes before what was found, in a tie the first wins.
fn newest<'a, T>(
    all: impl Iterator<Item = &'a T>,
    version: impl Fn(&T) -> &Version,
) -> Option<&'a T> {
    all.fold(None, |best: Option<&T>, one| match best {
        Some(best) if version(best) >= version(one) => Some(best),
        _ => Some(one),
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn build(name: Option<&str>, version: &str) -> Build {
        Build {
            name: name.map(str::to_owned),
            ..Build::new(Dbms::Mysql, version.parse().unwrap(), BuildSource::Embedded)
        }
    }

    #[test]
    fn a_name_of_its_own_is_any_but_family_and_version() {
        assert!(!is_named(&build(None, "8.0.33")));
        assert!(!is_named(&build(Some("mysql-8.0.33"), "8.0.33")));
        assert!(is_named(&build(Some("asan-mysql"), "8.0.33")));
        assert!(is_named(&build(Some("mysql-8.0.33deb"), "8.0.33")));
    }

    #[test]
    fn the_newest_and_of_equals_the_first() {
        let builds =
            [build(Some("a"), "8.0.33"), build(Some("b"), "9.7.4"), build(Some("c"), "9.7.4")];
        let found = newest(builds.iter(), |build| &build.version).unwrap();
        assert_eq!(found.name.as_deref(), Some("b"));
        assert!(newest([].iter(), |build: &Build| &build.version).is_none());
    }

    fn builds_of(depot: &Path) -> Builds {
        Builds::new(Catalog::embedded().unwrap(), Depot::new(depot.to_owned()))
    }

    fn request(name: &str) -> BuildRequest {
        let plan = format!(
            "name = \"p\"\nrounds = 1\nworkload = {{ kind = \"insert\", scale = \"tiny\" }}\n\
             [[system]]\nbuild = \"{name}\"\n"
        );
        let file = plan::read(&plan, "p").unwrap();
        file.requests().remove(0)
    }

    #[test]
    fn what_is_not_installed_stands_for_itself_and_is_wanted_once() {
        let depot = tempfile::tempdir().unwrap();
        let builds = builds_of(depot.path());
        for name in ["mysql-5.5.9", "mysql-5.5.9", "postgres-18.6deb"] {
            let build = builds.find(&request(name)).unwrap();
            assert_eq!(build.id(), name);
            assert_eq!(build.version_line, NOT_INSTALLED);
        }
        let wanted = builds.take_wanted();
        let names: Vec<&str> = wanted.iter().map(|recipe| recipe.name.as_str()).collect();
        assert_eq!(names, ["mysql-5.5.9", "postgres-18.6deb"]);
        assert!(builds.take_wanted().is_empty());
    }

    #[test]
    fn a_misspelt_product_with_a_version_means_that_version() {
        let depot = tempfile::tempdir().unwrap();
        let builds = builds_of(depot.path());
        let error = |name| builds.find(&request(name)).unwrap_err().to_string();
        assert!(
            error("postgress-15").contains("nearest `postgres-15."),
            "{}",
            error("postgress-15")
        );
        assert!(
            error("mysq-8.0.31").contains("nearest `mysql-8.0.31`"),
            "{}",
            error("mysq-8.0.31")
        );
    }

    #[test]
    fn a_general_name_means_the_newest_of_the_catalog_and_no_variant() {
        let depot = tempfile::tempdir().unwrap();
        let builds = builds_of(depot.path());
        assert_eq!(builds.find(&request("mysql-5.6")).unwrap().id(), "mysql-5.6.24");
        let error = builds.find(&request("mysql-5.6.99")).unwrap_err().to_string();
        assert!(error.contains("nearest `mysql-5."), "{error}");
        let error = builds.find(&request("my-own")).unwrap_err().to_string();
        assert!(error.contains("`backslide builds`"), "{error}");
    }

    #[test]
    fn what_is_installed_may_be_named_in_general() {
        let depot = tempfile::tempdir().unwrap();
        let builds = builds_of(depot.path());
        let name = |asked: &str| builds.recipe(asked).map(|recipe| recipe.name.clone());
        assert_eq!(name("mysql-5.7").unwrap(), "mysql-5.7.22");
        assert_eq!(name("postgres-18.6deb").unwrap(), "postgres-18.6deb");
        assert_eq!(name("postgres-18").unwrap(), "postgres-18.6");
        assert!(name("sqlite").unwrap_err().to_string().contains("part of backslide"));
        assert_eq!(name("sqlite-3.46").unwrap(), "sqlite-3.46.0");
        assert!(name("mysqll-5.7.22").unwrap_err().to_string().contains("nearest `mysql-5.7.22`"));
    }

    #[test]
    fn what_is_built_in_is_not_the_build_of_the_catalog() {
        let depot = tempfile::tempdir().unwrap();
        let builds = builds_of(depot.path());
        let ours = Builds::embedded().unwrap();
        let version = drivers::sqlite_version();
        assert_eq!(ours.id(), format!("sqlite-{version}bundled"));
        for name in ["sqlite", &ours.id()] {
            assert_eq!(builds.find(&request(name)).unwrap(), ours);
        }
        for (asked, id) in [("sqlite-3.46.0", "sqlite-3.46.0"), ("sqlite-3.46", "sqlite-3.46.0")] {
            let found = builds.find(&request(asked)).unwrap();
            assert_eq!((found.id().as_str(), found.version_line.as_str()), (id, NOT_INSTALLED));
        }
        assert!(builds.find(&request(&format!("sqlite-{version}"))).unwrap() != ours);
    }

    #[test]
    fn the_nearest_build_is_near_in_version() {
        let depot = tempfile::tempdir().unwrap();
        let builds = builds_of(depot.path());
        let told = |name: &str| builds.recipe(name).unwrap_err().to_string();
        for (asked, nearest) in [
            ("postgres-20", "`postgres-19rc1`"),
            ("postgres-18.99", "`postgres-18.6`"),
            ("mysql-6", "`mysql-5.7.22`"),
            ("mysql-8.0.32", "`mysql-8.0.33`"),
            ("mariadb-13", "`mariadb-11.8.9`"),
            ("mysqll-5.7.22", "`mysql-5.7.22`"),
        ] {
            let told = told(asked);
            assert!(told.contains(&format!("nearest {nearest}")), "{told}");
        }
        let error = builds.find(&request("mysql-8.0.32")).unwrap_err().to_string();
        assert!(error.contains("nearest `mysql-8.0.33`"), "{error}");
    }

    #[test]
    fn a_product_that_the_catalog_does_not_have_can_be_added() {
        let depot = tempfile::tempdir().unwrap();
        let builds = builds_of(depot.path());
        assert_eq!(
            builds.recipe("percona").unwrap_err().to_string(),
            "the catalog has no build `percona`; `backslide builds` lists all; for a build of your own, \
             `backslide add NAME --path DIR` or `--archive FILE`"
        );
    }

    #[test]
    fn a_far_smaller_build_of_the_series_is_known() {
        let depot = tempfile::tempdir().unwrap();
        let builds = builds_of(depot.path());
        let smaller = |name: &str| {
            let recipe = builds.recipe(name).unwrap();
            builds.much_smaller(recipe).map(|other| other.name.clone())
        };
        assert_eq!(builds.recipe("mysql-8").unwrap().name, "mysql-8.0.33");
        assert_eq!(smaller("mysql-8").as_deref(), Some("mysql-8.0.31"));
        assert_eq!(smaller("mysql-8.0.31"), None);
        assert_eq!(smaller("postgres-18"), None);
    }

    #[test]
    fn older_minors_do_not_lead() {
        let depot = tempfile::tempdir().unwrap();
        let builds = builds_of(depot.path());
        let leading: BTreeSet<&str> = builds.leading().into_iter().collect();
        assert_eq!(leading.len(), 36);
        for name in [
            "mysql-5.5.9",
            "postgres-9.6.24",
            "postgres-18.6",
            "postgres-18.6deb",
            "postgres-19rc1",
            "sqlite-3.54.1",
        ] {
            assert!(leading.contains(name), "{name}");
        }
        assert!(!leading.contains("postgres-16.3") && !leading.contains("sqlite-3.46.0"));
    }
}
