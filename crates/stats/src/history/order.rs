//! The order of builds: that of their versions; a version of several runs is one build.

use std::collections::{BTreeSet, HashMap};

use model::{Build, BuildSource, Dbms, Engine, System};

use super::collect::Part;
use super::lines::At;

pub(super) struct Member<'a> {
    pub(super) at: At,
    /// Where it was measured: the place of the part, the name of the system there.
    pub(super) of: Vec<(usize, &'a str)>,
    /// Which versions it is in order with; `None` where it keeps its place.
    series: Option<(Dbms, Engine)>,
    build: Option<&'a Build>,
}

/// The builds of some parts in the order of their versions.
///
/// Systems of several runs that are the same build with the same engine and settings are one. A build that its
/// version does not tell from others ([`is_release`]) keeps its place, and is the same in two runs only where
/// it was installed and its files are the same.
pub(super) fn in_order<'a>(parts: &[Part<'a>]) -> Vec<Member<'a>> {
    let mut members: Vec<Member<'a>> = Vec::new();
    let mut known: HashMap<Identity, usize> = HashMap::new();
    for (place, part) in parts.iter().enumerate() {
        let plan = &part.data.info.plan;
        let named = part.systems.iter().map(|name| (*name, plan.system(name)));
        let same = namesakes(named.clone().filter_map(|(_, system)| system));
        for (name, system) in named {
            let identity = system.and_then(|system| identity(system, &same));
            let run = part.data.info.id.clone();
            if let Some(at) = identity.as_ref().and_then(|identity| known.get(identity)) {
                members[*at].of.push((place, name));
                members[*at].at.runs.push(run);
                continue;
            }
            if let Some(identity) = identity {
                known.insert(identity, members.len());
            }
            let build = system.map(|system| &system.build);
            members.push(Member {
                at: At {
                    runs: vec![run],
                    system: name.to_owned(),
                    build: build.map_or_else(|| name.to_owned(), Build::id),
                },
                of: vec![(place, name)],
                series: system
                    .filter(|system| is_release(&system.build))
                    .map(|system| (system.build.dbms, system.engine)),
                build,
            });
        }
    }
    by_version(members)
}

/// Puts releases into order on the places that releases have.
fn by_version(members: Vec<Member<'_>>) -> Vec<Member<'_>> {
    let mut products: Vec<(Dbms, Engine)> = Vec::new();
    for series in members.iter().filter_map(|member| member.series) {
        if !products.contains(&series) {
            products.push(series);
        }
    }
    let is_release: Vec<bool> = members.iter().map(|m| m.series.is_some()).collect();
    let (mut releases, others): (Vec<_>, Vec<_>) =
        members.into_iter().partition(|member| member.series.is_some());
    let product = |member: &Member<'_>| {
        let of = |product: &(Dbms, Engine)| member.series == Some(*product);
        products.iter().position(of)
    };
    let version = |member: &Member<'_>| member.build.map(|build| build.version.clone());
    releases.sort_by_cached_key(|member| (product(member), version(member)));
    let (mut releases, mut others) = (releases.into_iter(), others.into_iter());
    let each = is_release.into_iter();
    each.filter_map(|is_release| if is_release { releases.next() } else { others.next() }).collect()
}

/// Does the version tell the build from others? Not that of a path or of a server that is not ours, where the
/// next night may bring another of the same version, nor that of a build under a name of its own.
fn is_release(build: &Build) -> bool {
    match &build.source {
        BuildSource::Embedded => true,
        BuildSource::Installed { .. } | BuildSource::Obtainable { .. } => {
            let usual = format!("{}-{}", build.dbms, build.version);
            build.name.as_ref().is_none_or(|name| *name == usual)
        }
        // Without a version in its name it has version 0.
        BuildSource::Imported(_) => build.version.parts() != [0],
        BuildSource::Path(_) | BuildSource::Connect(_) => false,
    }
}

/// The equal parts of systems that form one build of a history.
#[derive(PartialEq, Eq, Hash)]
struct Identity {
    build: (Dbms, String),
    engine: Engine,
    config: String,
    set: Vec<(String, String)>,
    preload: String,
    huge_pages: bool,
    /// Where a run has several that are equal otherwise.
    name: Option<String>,
}

/// `None` for a build that may be another one in the next run.
fn identity(system: &System, same: &BTreeSet<&str>) -> Option<Identity> {
    let build = &system.build;
    let id = match &build.source {
        BuildSource::Installed { digest, .. } if !is_release(build) => digest.clone(),
        _ if is_release(build) => build.id(),
        _ => return None,
    };
    let set = system.set.iter();
    Some(Identity {
        build: (build.dbms, id),
        engine: system.engine,
        config: system.config.name.clone(),
        set: set.map(|(name, value)| (name.clone(), value.clone())).collect(),
        preload: system.preload.clone(),
        huge_pages: system.huge_pages,
        name: same.contains(system.name.as_str()).then(|| system.name.clone()),
    })
}

/// The names of systems of a run that nothing but their names tells apart.
fn namesakes<'a>(systems: impl Iterator<Item = &'a System>) -> BTreeSet<&'a str> {
    let none = BTreeSet::new();
    let mut known: HashMap<Identity, &str> = HashMap::new();
    let mut same = BTreeSet::new();
    for system in systems {
        let Some(identity) = identity(system, &none) else {
            continue;
        };
        if let Some(first) = known.insert(identity, &system.name) {
            same.extend([first, system.name.as_str()]);
        }
    }
    same
}
