//! Suites of Debian, what each is on top of, and which mirrors this host uses: its description of them for
//! apt, in both forms.

use std::fs;
use std::path::{Path, PathBuf};

use super::super::errand::files_in;
use crate::error::FetchError;

/// The keys of all of Debian's releases, as Debian and its derivatives install them.
const KEYRINGS: [&str; 2] = [
    "/usr/share/keyrings/debian-archive-keyring.gpg",
    "/usr/share/keyrings/debian-archive-keyring.pgp",
];

/// Names of suites by which a source is known to be Debian's; also with an ending.
const NAMES: [&str; 13] = [
    "buster",
    "bullseye",
    "bookworm",
    "trixie",
    "forky",
    "duke",
    "sid",
    "unstable",
    "testing",
    "stable",
    "oldstable",
    "oldoldstable",
    "experimental",
];

/// Releases; each has a security suite beside it.
const RELEASES: [&str; 3] = ["bullseye", "bookworm", "trixie"];

/// The suites that packages are taken from, besides the security suites of the releases.
const SUITES: [&str; 5] = ["bullseye", "bookworm", "trixie", "sid", "experimental"];

/// The suites that make up `suite`, each with which mirror has it.
pub(super) fn parts(suite: &str) -> Result<Vec<(MirrorKind, &str)>, FetchError> {
    if suite == "experimental" {
        return Ok(vec![(MirrorKind::Archive, "sid"), (MirrorKind::Archive, suite)]);
    }
    if SUITES.contains(&suite) {
        return Ok(vec![(MirrorKind::Archive, suite)]);
    }
    match suite.strip_suffix("-security") {
        Some(release) if RELEASES.contains(&release) => {
            Ok(vec![(MirrorKind::Archive, release), (MirrorKind::Security, suite)])
        }
        _ => Err(FetchError::Suite { suite: suite.to_owned(), known: SUITES.join(", ") }),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MirrorKind {
    Archive,
    Security,
}

/// What of a suite apt is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Contents {
    Packages,
    Sources,
}

impl Contents {
    /// The type of such a source, and the list of its index.
    const fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Packages => ("deb", "Packages"),
            Self::Sources => ("deb-src", "Sources"),
        }
    }
}

/// The description of a suite for apt, with the mirrors and keys of this host. Sources need no line of the host's own.
pub(super) fn describe(
    suite: &str,
    contents: Contents,
    what: &str,
    mirrors: &Mirrors,
) -> Result<String, FetchError> {
    let stanzas = parts(suite)?.into_iter().map(|(kind, suite)| {
        let (source, mirror) = match kind {
            MirrorKind::Archive => (&mirrors.archive, "mirror"),
            MirrorKind::Security => (&mirrors.security, "security mirror"),
        };
        let no_mirror = || FetchError::NoMirror { what: what.to_owned(), mirror };
        Ok(source.as_ref().ok_or_else(no_mirror)?.stanza(suite, contents))
    });
    let stanzas: Vec<String> = stanzas.collect::<Result<_, FetchError>>()?;
    Ok(stanzas.join("\n"))
}

/// One source of packages as the host describes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Source {
    uris: Vec<String>,
    suites: Vec<String>,
    components: Vec<String>,
    /// Files of keys, fingerprints, or a key itself, which has several lines.
    signed_by: Option<String>,
    trusted: Option<String>,
    disabled: bool,
}

impl Source {
    /// The description of one suite for apt: nothing but this index is asked for.
    pub(super) fn stanza(&self, suite: &str, contents: Contents) -> String {
        let (kind, target) = contents.names();
        let field = |name: &str, value: &Option<String>| {
            let value = value.as_ref();
            value.map_or_else(String::new, |value| format!("{name}: {value}\n"))
        };
        let keys = field("Signed-By", &self.signed_by) + &field("Trusted", &self.trusted);
        format!(
            "Types: {kind}\nURIs: {}\nSuites: {suite}\nComponents: main\nArchitectures: amd64\n\
             Targets: {target}\nLanguages: none\nPDiffs: no\n{keys}",
            self.uris.first().map_or("", String::as_str)
        )
    }
}

/// Debian's mirrors that this host uses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Mirrors {
    pub(super) archive: Option<Source>,
    pub(super) security: Option<Source>,
}

impl Mirrors {
    /// Those that apt's own configuration in `directory` names; what cannot be read names none.
    pub(super) fn of_host(directory: &Path) -> Self {
        let parts = directory.join("sources.list.d");
        let mut paths = vec![directory.join("sources.list")];
        let is_source = |name: &str| {
            let (_, form) = name.rsplit_once('.').unwrap_or_default();
            ["list", "sources"].contains(&form)
        };
        paths.extend(files_in(&parts, is_source).unwrap_or_default());
        let sources: Vec<Source> = paths.iter().flat_map(read).collect();
        let keyring = KEYRINGS.into_iter().find(|path| Path::new(path).is_file());
        Self::choose(&sources, keyring)
    }

    fn choose(sources: &[Source], keyring: Option<&str>) -> Self {
        let best = |is_ours: fn(&str) -> bool, ending: &str| {
            let ours = sources.iter().filter(|source| source.has(is_ours));
            // The first of those that are alike.
            ours.rev().max_by_key(|source| source.likeness(ending)).map(|source| {
                let signed_by = source.signed_by.clone().or_else(|| keyring.map(str::to_owned));
                Source { signed_by, ..source.clone() }
            })
        };
        Self { archive: best(is_archive, "debian"), security: best(is_security, "debian-security") }
    }
}

impl Source {
    fn has(&self, is_ours: fn(&str) -> bool) -> bool {
        self.components.iter().any(|component| component == "main")
            && self.suites.iter().any(|suite| is_ours(suite))
            && !self.uris.is_empty()
    }

    /// How much it looks like Debian's own archive: others call their suites by Debian's names too.
    fn likeness(&self, ending: &str) -> i32 {
        let path_fits = |uri: &String| uri.trim_end_matches('/').rsplit('/').next() == Some(ending);
        let keys = self.signed_by.as_deref().unwrap_or_default();
        let facts = [
            (keys.contains("debian-archive"), 4),
            (self.uris.iter().any(path_fits), 2),
            (self.suites.iter().any(|suite| suite.ends_with("-updates")), 1),
            (self.disabled, -8),
        ];
        facts.iter().filter(|(holds, _)| *holds).map(|(_, points)| points).sum()
    }
}

fn is_archive(suite: &str) -> bool {
    let endings = ["-updates", "-backports", "-proposed-updates"];
    let base = endings.iter().find_map(|ending| suite.strip_suffix(ending));
    NAMES.contains(&base.unwrap_or(suite))
}

fn is_security(suite: &str) -> bool {
    let base = suite.strip_suffix("-security").or_else(|| suite.strip_suffix("/updates"));
    base.is_some_and(|base| NAMES.contains(&base))
}

fn read(path: &PathBuf) -> Vec<Source> {
    let text = fs::read_to_string(path).unwrap_or_default();
    if path.extension().is_some_and(|extension| extension == "sources") {
        of_stanzas(&text)
    } else {
        of_lines(&text)
    }
}

/// The form with a source a line: `deb [option=value …] address suite component …`.
fn of_lines(text: &str) -> Vec<Source> {
    text.lines().filter_map(of_line).collect()
}

fn of_line(line: &str) -> Option<Source> {
    let line = line.split('#').next().unwrap_or_default().trim();
    let rest = line.strip_prefix("deb")?;
    let rest = rest.strip_prefix(char::is_whitespace)?.trim_start();
    let (options, rest) = match rest.strip_prefix('[') {
        Some(rest) => rest.split_once(']')?,
        None => ("", rest),
    };
    let mut words = rest.split_whitespace().map(str::to_owned);
    let mut source = Source {
        uris: vec![words.next()?],
        suites: vec![words.next()?],
        components: words.collect(),
        ..Source::default()
    };
    for (name, value) in options.split_whitespace().filter_map(|option| option.split_once('=')) {
        match name.to_ascii_lowercase().as_str() {
            // Several are separated by commas here, and by spaces in the other form.
            "signed-by" => source.signed_by = Some(value.replace(',', " ")),
            "trusted" => source.trusted = Some(value.to_owned()),
            _ => {}
        }
    }
    Some(source)
}

/// The form with fields: stanzas that blank lines separate, each field going on in indented lines.
fn of_stanzas(text: &str) -> Vec<Source> {
    let mut stanzas: Vec<Vec<(String, String)>> = vec![Vec::new()];
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        if line.trim().is_empty() {
            stanzas.push(Vec::new());
        } else if let Some(fields) = stanzas.last_mut() {
            add_line(fields, line);
        }
    }
    stanzas.iter().filter_map(|fields| of_fields(fields)).collect()
}

fn add_line(fields: &mut Vec<(String, String)>, line: &str) {
    if line.starts_with([' ', '\t']) {
        if let Some((_, value)) = fields.last_mut() {
            value.push_str("\n ");
            value.push_str(line.trim());
        }
    } else if let Some((name, value)) = line.split_once(':') {
        fields.push((name.trim().to_ascii_lowercase(), value.trim().to_owned()));
    }
}

fn of_fields(fields: &[(String, String)]) -> Option<Source> {
    let field = |wanted: &str| {
        let found = fields.iter().find(|(name, _)| name == wanted);
        found.map(|(_, value)| value.as_str())
    };
    let words = |wanted: &str| -> Vec<String> {
        let value = field(wanted).unwrap_or_default();
        value.split_whitespace().map(str::to_owned).collect()
    };
    words("types").iter().find(|kind| *kind == "deb")?;
    Some(Source {
        uris: words("uris"),
        suites: words("suites"),
        components: words("components"),
        signed_by: field("signed-by").map(str::to_owned),
        trusted: field("trusted").map(str::to_owned),
        disabled: field("enabled").is_some_and(|value| value.eq_ignore_ascii_case("no")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIELDS: &str = "\
Types: deb deb-src
# a comment within
URIs: http://mirror.example.org/debian
Suites: bookworm
 bookworm-updates
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg

types: deb
uris: http://security.example.org/debian-security/
suites: bookworm-security
components: main
signed-by:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 mDMEY
 -----END PGP PUBLIC KEY BLOCK-----

Types: deb-src
URIs: http://source.example.org/debian
Suites: sid
Components: main
";

    const LINES: &str = "\
# deb http://old.example.org/debian stretch main
deb http://vendor.example.org/apt bookworm main
deb-src http://mirror.example.org/debian bookworm main
deb [ arch=amd64 signed-by=/k/one.gpg,/k/two.gpg trusted=yes ] https://mirror.example.org/debian/ bookworm main contrib # ours
deb\thttp://security.example.org/debian-security bookworm-security main
deb http://ubuntu.example.org/ubuntu jammy main
deb [broken
";

    #[test]
    fn mirrors_in_fields() {
        let mirrors = Mirrors::choose(&of_stanzas(FIELDS), None);
        insta::assert_snapshot!(mirrors.archive.unwrap().stanza("sid", Contents::Packages), @r"
        Types: deb
        URIs: http://mirror.example.org/debian
        Suites: sid
        Components: main
        Architectures: amd64
        Targets: Packages
        Languages: none
        PDiffs: no
        Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
        ");
        let security = mirrors.security.unwrap();
        let stanza = security.stanza("sid", Contents::Sources);
        assert!(stanza.starts_with("Types: deb-src\n") && stanza.contains("\nTargets: Sources\n"));
        assert_eq!(security.uris[0], "http://security.example.org/debian-security/");
        assert_eq!(
            security.signed_by.unwrap(),
            "\n -----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n mDMEY\n -----END PGP PUBLIC KEY BLOCK-----"
        );
    }

    #[test]
    fn mirrors_in_lines() {
        let mirrors = Mirrors::choose(&of_lines(LINES), Some("/k/all.gpg"));
        let archive = mirrors.archive.unwrap();
        assert_eq!(archive.uris[0], "https://mirror.example.org/debian/");
        assert_eq!(archive.signed_by.as_deref(), Some("/k/one.gpg /k/two.gpg"));
        assert_eq!(archive.trusted.as_deref(), Some("yes"));
        let security = mirrors.security.unwrap();
        assert_eq!(security.uris[0], "http://security.example.org/debian-security");
        assert_eq!(security.signed_by.as_deref(), Some("/k/all.gpg"));
    }

    #[test]
    fn a_host_of_another_distribution_has_none_unless_it_is_told() {
        let ubuntu = of_lines("deb http://ubuntu.example.org/ubuntu jammy main universe\n");
        assert_eq!(Mirrors::choose(&ubuntu, None), Mirrors::default());
        let told = "Enabled: no\nTypes: deb\nURIs: http://mirror.example.org/debian\nSuites: sid\nComponents: main\n";
        let mirror = Mirrors::choose(&of_stanzas(told), None).archive.unwrap();
        assert_eq!(mirror.uris[0], "http://mirror.example.org/debian");
        // One that is in use goes first.
        let in_use = of_lines("deb http://other.example.org/remote trixie main\n");
        let both = [of_stanzas(told), in_use].concat();
        let mirror = Mirrors::choose(&both, None).archive.unwrap();
        assert_eq!(mirror.uris[0], "http://other.example.org/remote");
    }

    #[test]
    fn all_files_of_apt_are_read_in_order() {
        let root = tempfile::tempdir().unwrap();
        assert_eq!(Mirrors::of_host(root.path()), Mirrors::default());
        let parts = root.path().join("sources.list.d");
        fs::create_dir(&parts).unwrap();
        fs::write(root.path().join("sources.list"), "deb http://a.example.org/debian sid main")
            .unwrap();
        fs::write(parts.join("b.sources"), FIELDS).unwrap();
        fs::write(parts.join("c.list.disabled"), LINES).unwrap();
        let mirrors = Mirrors::of_host(root.path());
        assert_eq!(mirrors.archive.unwrap().uris[0], "http://mirror.example.org/debian");
        assert!(mirrors.security.is_some());
    }

    #[test]
    fn suites_and_what_they_are_on_top_of() {
        let names = |suite| -> Vec<&str> {
            parts(suite).unwrap().into_iter().map(|(_, name)| name).collect()
        };
        assert_eq!(names("bullseye"), ["bullseye"]);
        assert_eq!(names("experimental"), ["sid", "experimental"]);
        assert_eq!(
            parts("bookworm-security").unwrap(),
            [(MirrorKind::Archive, "bookworm"), (MirrorKind::Security, "bookworm-security")]
        );
    }

    #[test]
    fn unknown_suites_are_refused() {
        for suite in ["", "jammy", "sid-security", "-security", "bookworm -o x"] {
            assert!(parts(suite).is_err(), "{suite}");
        }
        insta::assert_snapshot!(parts("woody").unwrap_err(), @"cannot fetch from Debian's suite `woody`: the suites are bullseye, bookworm, trixie, sid, experimental, and {release}-security");
    }
}
