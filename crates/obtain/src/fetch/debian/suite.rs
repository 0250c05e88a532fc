//! Suites of Debian, and what each is on top of.

use super::super::error::FetchError;
use super::sources::Mirrors;

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

impl MirrorKind {
    fn name(self) -> &'static str {
        match self {
            Self::Archive => "mirror",
            Self::Security => "security mirror",
        }
    }
}

/// The description of a suite for apt, with the mirrors and keys of this host.
pub(super) fn describe(suite: &str, what: &str, mirrors: &Mirrors) -> Result<String, FetchError> {
    let stanzas = parts(suite)?.into_iter().map(|(kind, suite)| {
        let mirror = match kind {
            MirrorKind::Archive => &mirrors.archive,
            MirrorKind::Security => &mirrors.security,
        };
        let mirror = mirror
            .as_ref()
            .ok_or_else(|| FetchError::NoMirror { what: what.to_owned(), mirror: kind.name() })?;
        Ok(mirror.stanza(suite))
    });
    let stanzas: Vec<String> = stanzas.collect::<Result<_, FetchError>>()?;
    Ok(stanzas.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

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
