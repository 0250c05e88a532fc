//! The builds of a history: trials that are there twice, imported twice or part of two files, are left out; builds are
//! in the order of their versions, and a version of several runs is one build.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use model::{Build, BuildSource, Cell, Dbms, Engine, Made, RunData, System};

use super::alike::{Facts, facts};
use super::collect::Part;
use super::lines::{At, Copied};

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
                members[*at].at.of.push((run, name.to_owned()));
                continue;
            }
            if let Some(identity) = identity {
                known.insert(identity, members.len());
            }
            let build = system.map(|system| &system.build);
            members.push(Member {
                at: At {
                    of: vec![(run, name.to_owned())],
                    build: build.map_or_else(|| name.to_owned(), Build::id),
                    made: system.map(|system| Made::of(part.data, system)).unwrap_or_default(),
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
    let mut seen = HashSet::new();
    let series = members.iter().filter_map(|member| member.series);
    let products: Vec<(Dbms, Engine)> = series.filter(|series| seen.insert(*series)).collect();
    let is_release: Vec<bool> = members.iter().map(|m| m.series.is_some()).collect();
    let (mut releases, others): (Vec<_>, Vec<_>) =
        members.into_iter().partition(|member| member.series.is_some());
    let product = |member: &Member<'_>| {
        products.iter().position(|product: &(Dbms, Engine)| member.series == Some(*product))
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

/// The equal parts of systems that form one build of a history; the name where a run has several that are equal
/// otherwise.
type Identity = (Dbms, String, Facts, Option<String>);

/// `None` for a build that may be another one in the next run.
fn identity(system: &System, same: &BTreeSet<&str>) -> Option<Identity> {
    let build = &system.build;
    let id = match &build.source {
        BuildSource::Installed { digest, .. } if !is_release(build) => digest.clone(),
        _ if is_release(build) => build.id(),
        _ => return None,
    };
    let name = same.contains(system.name.as_str()).then(|| system.name.clone());
    Some((build.dbms, id, facts(system), name))
}

/// The names of systems of a run that nothing but their names tells apart.
fn namesakes<'a>(systems: impl Iterator<Item = &'a System>) -> BTreeSet<&'a str> {
    let none = BTreeSet::new();
    let mut known: HashMap<Identity, &str> = HashMap::new();
    let mut same = BTreeSet::new();
    for system in systems {
        let Some(identity) = identity(system, &none) else { continue };
        if let Some(first) = known.insert(identity, &system.name) {
            same.extend([first, system.name.as_str()]);
        }
    }
    same
}

/// Trials that count for nothing: the place of the part, the system, the round.
pub(super) type Left<'a> = HashSet<(usize, &'a str, u32)>;

/// A value of a trial: step, clients, metric, unit, bits.
type Value<'a> = (&'a str, u32, &'a str, &'static str, u64);

/// A trial as it would be copied: its build, engine and config, and all its values in order.
type Trial<'a> = (String, &'a str, &'a str, Vec<Value<'a>>);

/// Takes out each trial whose values an earlier run has to the last digit, and systems that have nothing else.
pub(super) fn without_copies<'a>(parts: &[Part<'a>]) -> (Vec<Part<'a>>, Left<'a>, Vec<Copied>) {
    if parts.len() < 2 {
        return (parts.to_vec(), Left::new(), Vec::new());
    }
    let mut known: HashMap<Trial<'a>, usize> = HashMap::new();
    let mut left = Left::new();
    let mut copied: BTreeMap<(usize, usize, &str), u32> = BTreeMap::new();
    let mut kept = Vec::new();
    for (place, part) in parts.iter().enumerate() {
        let mut rounds: HashMap<&str, (u32, u32)> = HashMap::new();
        for ((system, round), values) in trials(part) {
            let Some(trial) = trial(part.data, system, values) else { continue };
            let (all, lost) = rounds.entry(system).or_default();
            *all += 1;
            // Rounds of one run may be equal: they were measured, or refused when they were imported.
            let first = *known.entry(trial).or_insert(place);
            if first != place {
                left.insert((place, system, round));
                *copied.entry((place, first, system)).or_default() += 1;
                *lost += 1;
            }
        }
        let is_kept = |system: &&&str| rounds.get(**system).is_none_or(|(all, lost)| lost < all);
        kept.push(Part {
            data: part.data,
            systems: part.systems.iter().filter(is_kept).copied().collect(),
        });
    }
    let id = |place: usize| parts[place].data.info.id.clone();
    let told = copied.into_iter().map(|((run, of, system), rounds)| Copied {
        run: id(run),
        of: id(of),
        system: system.to_owned(),
        rounds,
    });
    (kept, left, told.collect())
}

fn trials<'a>(part: &Part<'a>) -> BTreeMap<(&'a str, u32), Vec<&'a Cell>> {
    let mut trials: BTreeMap<(&str, u32), Vec<&Cell>> = BTreeMap::new();
    let systems: HashSet<&str> = part.systems.iter().copied().collect();
    for cell in part.data.cells.iter().filter(|cell| systems.contains(cell.system.as_str())) {
        trials.entry((&cell.system, cell.round)).or_default().push(cell);
    }
    trials
}

fn trial<'a>(data: &'a RunData, system: &str, cells: Vec<&'a Cell>) -> Option<Trial<'a>> {
    let system = data.info.plan.system(system)?;
    let value = |cell: &'a Cell| -> Value<'a> {
        (&cell.step.0, cell.clients, &cell.metric.0, cell.unit.name(), cell.value.to_bits())
    };
    let mut values: Vec<Value<'a>> = cells.into_iter().map(value).collect();
    values.sort_unstable();
    let (engine, config) = (system.engine.name(), system.config.name.as_str());
    Some((system.build.id(), engine, config, values))
}
