//! Which packages are fetched: reads what apt says, and chooses.

use std::collections::BTreeMap;

use super::super::errand::is_plain;

/// A package that is asked for: in one version, or in the suite's newest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wanted<'a> {
    pub(super) name: &'a str,
    pub(super) version: Option<&'a str>,
}

impl<'a> Wanted<'a> {
    /// Reads `name` or `name=version`; `None` where it is neither.
    pub(super) fn parse(text: &'a str) -> Option<Self> {
        let (name, version) = match text.split_once('=') {
            Some((name, version)) => (name, Some(version)),
            None => (text, None),
        };
        let is_version = |version: &str| is_plain(version, ":~");
        (is_plain(name, "") && version.is_none_or(is_version)).then_some(Self { name, version })
    }

    pub(super) fn is_among(&self, versions: &[String]) -> bool {
        match self.version {
            Some(version) => versions.iter().any(|other| other == version),
            None => !versions.is_empty(),
        }
    }
}

/// The versions of each package in the table that `apt-cache madison` prints.
pub(super) fn versions(table: &str) -> BTreeMap<&str, Vec<String>> {
    let mut found: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for line in table.lines() {
        let mut columns = line.split(" | ").map(str::trim);
        if let (Some(name), Some(version)) = (columns.next(), columns.next()) {
            let versions = found.entry(name).or_default();
            if !versions.iter().any(|other| other == version) {
                versions.push(version.to_owned());
            }
        }
    }
    found
}

/// The packages of an installation that `apt-get install -s` only tells of, as `name=version`:
/// `Inst libc6 (2.36-9 Debian:12/stable [amd64]) []`.
pub(super) fn installed(simulation: &str) -> Vec<String> {
    simulation
        .lines()
        .filter_map(|line| {
            let (name, rest) = line.strip_prefix("Inst ")?.split_once(' ')?;
            let (_, rest) = rest.split_once('(')?;
            Some(format!("{name}={}", rest.split_whitespace().next()?))
        })
        .collect()
}

/// Beginnings of the names of packages with shared libraries.
const LIBRARIES: [&str; 3] = ["lib", "galera-", "zlib1g"];

/// Beginnings of those among them that no server loads: they belong to tools and daemons that the
/// packages depend on for their installation.
const NOT_NEEDED: [&str; 7] = [
    "libc-gconv-modules",
    "libdebconf",
    "libpam-modules",
    "libperl",
    "libsemanage",
    "libsystemd-shared",
    "libterm-",
];

/// Does this package have libraries that the programs may need?
pub(super) fn is_library(name: &str) -> bool {
    let begins = |beginnings: &[&str]| beginnings.iter().any(|start| name.starts_with(start));
    begins(&LIBRARIES) && !begins(&NOT_NEEDED) && !name.ends_with("-perl")
}

/// Of all that would be installed: what is wanted, and the libraries; sorted by name.
pub(super) fn choose(mut all: Vec<String>, wanted: &[Wanted<'_>]) -> Vec<String> {
    all.retain(|package| {
        let name = package.split('=').next().unwrap_or_default();
        is_library(name) || wanted.iter().any(|wanted| wanted.name == name)
    });
    all.sort_by(|a, b| a.split('=').cmp(b.split('=')));
    all.dedup();
    all
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Remote {
    pub(super) name: String,
    /// The name of the file that `apt-get download` makes of it.
    pub(super) file: String,
    pub(super) size: u64,
    pub(super) sha256: Option<String>,
}

/// The files that `apt-get download --print-uris` lists: `'address' file size SHA256:digits`.
pub(super) fn remotes(list: &str) -> Vec<Remote> {
    list.lines().filter_map(remote).collect()
}

fn remote(line: &str) -> Option<Remote> {
    let (_, rest) = line.strip_prefix('\'')?.split_once("' ")?;
    let mut words = rest.split_whitespace();
    let (file, size) = (words.next()?, words.next()?);
    let (name, _) = file.split_once('_')?;
    if !is_plain(file, "~:%_") {
        return None;
    }
    let sha256 = words.find_map(|digest| digest.strip_prefix("SHA256:"));
    Some(Remote {
        name: name.to_owned(),
        file: file.to_owned(),
        size: size.parse().ok()?,
        sha256: sha256.map(str::to_owned),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wanted_may_have_a_version() {
        let wanted = Wanted::parse("mariadb-server=1:10.11.18-0+deb12u1").unwrap();
        assert_eq!(wanted.version, Some("1:10.11.18-0+deb12u1"));
        assert!(wanted.is_among(&["x".into(), "1:10.11.18-0+deb12u1".into()]));
        assert!(!wanted.is_among(&["1:10.11.19-0+deb12u1".into()]));
        let newest = Wanted::parse("libaio1").unwrap();
        assert!(newest.is_among(&["0".into()]) && !newest.is_among(&[]));
        for text in ["", "-o", "a b", "a=", "a=1 2", "a/experimental", "../a"] {
            assert_eq!(Wanted::parse(text), None, "{text}");
        }
    }

    #[test]
    fn the_table_of_versions() {
        let table = "\
mariadb-server | 1:10.11.19-0+deb12u1 | http://example.org/debian-security bookworm-security/main amd64 Packages
mariadb-server | 1:10.11.18-0+deb12u1 | http://example.org/debian bookworm/main amd64 Packages
mariadb-server | 1:10.11.18-0+deb12u1 | http://example.org/debian bookworm-updates/main amd64 Packages
   libc6 | 2.36-9+deb12u10 | http://example.org/debian bookworm/main amd64 Packages
";
        let found = versions(table);
        assert_eq!(found["mariadb-server"], ["1:10.11.19-0+deb12u1", "1:10.11.18-0+deb12u1"]);
        assert_eq!(found["libc6"], ["2.36-9+deb12u10"]);
        assert!(versions("").is_empty());
    }

    #[test]
    fn of_what_would_be_installed_the_wanted_and_the_libraries_are_chosen() {
        let simulation = "\
NOTE: This is only a simulation!
Inst gcc-16-base (16.2.0-4 Debian:unstable [amd64])
Conf gcc-16-base (16.2.0-4 Debian:unstable [amd64])
Inst libc6 (2.43-7 Debian:unstable [amd64]) []
Inst libc-gconv-modules-extra (2.43-7 Debian:unstable [amd64])
Inst zlib1g (1:1.3.1 Debian:unstable [amd64])
Inst libperl5.42 (5.42-1 Debian:unstable [amd64])
Inst perl-base [5.40] (5.42-1 Debian:unstable [amd64])
Inst libdbi-perl (1.6-1 Debian:unstable [amd64])
Inst libsystemd-shared (261-1 Debian:unstable [amd64])
Inst libsystemd0 (261-1 Debian:unstable [amd64])
Inst galera-4 (26.4-1 Debian:unstable [amd64])
Inst mariadb-common (1:11.8.9 Debian:unstable [all])
Inst mariadb-server (1:11.8.9 Debian:unstable [amd64])
";
        let all = installed(simulation);
        assert_eq!(all.len(), 12);
        assert_eq!(all[5], "perl-base=5.42-1");
        let wanted = [Wanted::parse("mariadb-server").unwrap()];
        let chosen = choose(all, &wanted);
        let names: Vec<&str> = chosen.iter().filter_map(|p| p.split('=').next()).collect();
        assert_eq!(names, ["galera-4", "libc6", "libsystemd0", "mariadb-server", "zlib1g"]);
    }

    #[test]
    fn the_list_of_files() {
        let list = "\
'http://example.org/debian/pool/main/m/x/x_1%3a2.0-1_amd64.deb' x_1%3a2.0-1_amd64.deb 26124236 SHA256:628d
'http://example.org/y.deb' y_1_all.deb 12 MD5Sum:00 SHA256:11
'http://example.org/z.deb' ../z_1_all.deb 12 SHA256:11
noise
";
        let files = remotes(list);
        assert_eq!(files.len(), 2);
        assert_eq!(files[0].name, "x");
        assert_eq!(files[0].file, "x_1%3a2.0-1_amd64.deb");
        assert_eq!(files[0].size, 26_124_236);
        assert_eq!(files[1].sha256.as_deref(), Some("11"));
    }
}
