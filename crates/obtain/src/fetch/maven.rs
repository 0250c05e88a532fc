//! Maven's repositories, by `mvn`.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::client::Call;
use super::errand::{Errand, is_plain};
use super::error::FetchError;
use crate::error::ObtainError;
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
        let wrong =
            || FetchError::Coordinates { source_name: "Maven", given: text.to_owned(), form: FORM };
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

    /// Where a repository has its files.
    fn directory(&self, repository: &Path) -> PathBuf {
        let group: PathBuf = self.group.split('.').collect();
        repository.join(group).join(self.artifact).join(self.version)
    }
}

pub(super) fn fetch(coordinates: &str, errand: &mut Errand<'_>) -> Result<PathBuf, ObtainError> {
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
}
