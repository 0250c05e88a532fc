//! How rounds are carried out: how many, what alternates, how much noise, by which margins they are judged.

use std::collections::BTreeMap;

use model::{
    BuildSource, Course, Direction, Interleave, Margin, MetricId, Nanos, Plan, Quarantine, Step,
    StepTask, System, describe, judged_metrics,
};

use crate::document::{self, Node, Value};
use crate::error::grouped;
use crate::fields::{Fields, Item};
use crate::keys::Takes::{Other, Small};
use crate::keys::{self, Key};
use crate::kind::WorkloadKind;
use crate::{Place, Result};

pub const MAX_ROUNDS: u32 = 1_000;
/// Rounds below which there is no verdict, so that nothing can be decided.
const ROUNDS_FOR_A_VERDICT: u32 = 3;
/// Milliseconds of a slice: a shorter one has too few operations, a longer one is less alike its neighbour.
const SLICE_MILLIS: std::ops::RangeInclusive<u32> = 10..=2_000;
/// More would make a long run of a host that is never quiet.
const MAX_RERUNS: u32 = 10;
/// Of one CPU: as much as the largest hosts have in all.
const MAX_PERCENT_OF_ONE: u32 = 100_000;
/// A larger one would be no margin: the double is twice as fast.
const MAX_MARGIN: u32 = 100;

/// Stands for any kind of operation where only the family of a metric matters.
const ANY_KIND: &str = "query";

/// Profiled rounds where a plan does not say how many: fewer give no useful interval.
pub const PROFILED: u32 = 3;

/// The usual lengths. Freezing takes a few milliseconds of each turn, whence the longer ones.
const SLICES: Interleave = Interleave::Slices(Nanos::from_millis(250));
const TURNS: Interleave = Interleave::Turns(Nanos::from_millis(500));
const SHORTEST_TURN: Nanos = Nanos::from_millis(250);
/// Where each engine is embedded, nothing is frozen, and neighbours disturb for about as long as usual turns last. Only
/// for one client: several would idle at the end of each turn until the longest operation ends.
const EMBEDDED_TURN: Nanos = Nanos::from_millis(20);
/// Turns that a window needs: among fewer, one with a checkpoint in it decides.
const TURNS_OF_A_WINDOW: u64 = 16;

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct CourseEntry {
    pub(crate) rounds: u32,
    /// Without its quarantine.
    course: Course,
    /// Where that is asked for.
    place: Place,
    /// Of a slice or turn, where it is named.
    length: Option<Nanos>,
    /// Where whole trials have a length of slices.
    stray_length: Option<Place>,
    pairs_place: Option<Place>,
    quarantine: Allowed,
    /// Where profiled rounds are asked for, and counted ones.
    profile_place: Place,
    count_place: Place,
}

#[derive(Clone, Debug, Default, PartialEq)]
enum Allowed {
    /// The limits of the catalog.
    #[default]
    Usual,
    /// These in place of some of them.
    Named(Node),
    Any,
}

/// The defaults are those of the catalog's `noise.toml`.
pub(crate) static LIMIT_KEYS: &[Key<Quarantine>] = &[
    Key("steal_percent", Other(|l, v| permille(v, 100, &mut l.steal_permille))),
    Key("foreign_percent", Other(|l, v| permille(v, MAX_PERCENT_OF_ONE, &mut l.foreign_permille))),
    Key(
        "throttled_percent",
        Other(|l, v| permille(v, MAX_PERCENT_OF_ONE, &mut l.throttled_permille)),
    ),
    Key("swapped_pages", Small(0..=u32::MAX, |l, n| l.swapped_pages = n)),
    Key("major_faults", Small(0..=u32::MAX, |l, n| l.major_faults = n)),
    Key("reruns", Small(0..=MAX_RERUNS, |l, n| l.reruns = n)),
];

pub(crate) static KEYS: &[Key<CourseEntry>] = &[
    Key("rounds", Other(|c, v| rounds(v).map(|it| (c.rounds, c.course.first_look) = it))),
    Key("interleave", Other(interleave)),
    Key("slice_ms", Other(slice_ms)),
    Key("at_once", Other(at_once)),
    Key("quarantine", Other(|c, v| quarantine(v).map(|it| c.quarantine = it))),
    Key("profile", Other(|c, v| profile(v, &mut c.course.profiled, &mut c.profile_place))),
    Key("count", Other(|c, v| profile(v, &mut c.course.counted, &mut c.count_place))),
    Key("margins", Other(|c, v| margins(v).map(|it| c.course.margins = it))),
];

fn interleave(entry: &mut CourseEntry, item: Item<'_>) -> Result<()> {
    let ways = [("trials", Interleave::Trials), ("slices", SLICES), ("turns", TURNS)];
    entry.course.interleave = item.word("way to interleave", &ways)?;
    entry.place = item.place();
    Ok(())
}

fn slice_ms(entry: &mut CourseEntry, item: Item<'_>) -> Result<()> {
    match entry.course.interleave {
        Interleave::Trials => entry.stray_length = Some(item.place()),
        Interleave::Slices(_) | Interleave::Turns(_) => {
            entry.length = Some(Nanos::from_millis(item.small(SLICE_MILLIS)?.into()));
        }
    }
    Ok(())
}

/// `true`, or how many rounds.
fn profile(item: Item<'_>, of_each: &mut u32, place: &mut Place) -> Result<()> {
    let rounds = item.switch().map(|on| if on { PROFILED } else { 0 });
    let rounds = rounds.or_else(|_| item.small(1..=MAX_ROUNDS));
    let expected = format!("`true`, `false` or a whole number from 1 to {}", grouped(MAX_ROUNDS));
    *of_each = rounds.map_err(|_| item.wrong(&expected))?;
    *place = item.place();
    Ok(())
}

fn at_once(entry: &mut CourseEntry, item: Item<'_>) -> Result<()> {
    entry.course.pairs = item.word("number of systems", &[("all", false), ("pairs", true)])?;
    entry.pairs_place = entry.course.pairs.then(|| item.place());
    Ok(())
}

impl CourseEntry {
    pub(crate) const fn is_at_once(&self) -> bool {
        self.course.interleave.is_at_once()
    }

    /// How many of so many systems are up at once.
    pub(crate) fn up(&self, systems: usize) -> usize {
        match (self.course.interleave.is_at_once(), self.course.pairs) {
            (false, _) => 1,
            (true, true) => systems.min(2),
            (true, false) => systems,
        }
    }

    /// The usual length of turns is shorter for one client of embedded engines, and where these steps have short windows.
    fn interleave(&self, systems: &[System], steps: &[Step]) -> Interleave {
        let runs = |step: &&Step| step.measured && step.task == StepTask::Run;
        let are_embedded = systems.iter().all(|system| system.build.dbms.is_embedded())
            && steps.iter().filter(runs).all(|step| step.clients <= 1);
        match (self.course.interleave, self.length) {
            (Interleave::Slices(_), Some(length)) => Interleave::Slices(length),
            (Interleave::Turns(_), Some(length)) => Interleave::Turns(length),
            (Interleave::Turns(_), None) if are_embedded => Interleave::Turns(EMBEDDED_TURN),
            (Interleave::Turns(usual), None) => {
                let measured = steps.iter().filter(|step| step.measured);
                let shortest = measured.filter_map(|step| step.window).min();
                let share = shortest.map(|window| Nanos(window.0 / TURNS_OF_A_WINDOW));
                Interleave::Turns(share.map_or(usual, |share| share.clamp(SHORTEST_TURN, usual)))
            }
            (unnamed, _) => unnamed,
        }
    }

    /// Checks what the keys say together, for a plan whose workload is of this kind.
    pub(crate) fn check(&self, kind: WorkloadKind) -> Result<()> {
        if let (Interleave::Trials, Some(place)) = (self.course.interleave, &self.pairs_place) {
            return Err(place.conflict(
                "`at_once = \"pairs\"` without `interleave = \"slices\"` or `\"turns\"`: whole trials run one \
                 at a time; leave it out, or add `interleave`",
            ));
        }
        let message = match (self.course.interleave, &self.stray_length, kind) {
            (Interleave::Trials, Some(place), _) => {
                return Err(place.conflict(
                    "`slice_ms` without `interleave = \"slices\"` or `\"turns\"`: whole trials have no slices; \
                     leave it out, or add `interleave`",
                ));
            }
            (
                Interleave::Slices(_),
                _,
                WorkloadKind::Insert | WorkloadKind::Tpcc | WorkloadKind::Lua,
            ) => Some(format!(
                "`interleave = \"slices\"` and `kind = \"{}\"`: its steps change data, so that no slice \
                 would be like the one before it; turns (`\"turns\"`) suit every step",
                kind.word()
            )),
            _ => None,
        };
        self.place.refuse(message)
    }
}

/// With the limits of the catalog where the plan names none, for these systems and steps.
pub(crate) fn resolve(
    entry: &CourseEntry,
    usual: Option<Quarantine>,
    systems: &[System],
    steps: &[Step],
) -> Result<Course> {
    check_servers(systems, entry)?;
    check_profiles(entry, systems)?;
    let mut quarantine = usual;
    match (&entry.quarantine, &mut quarantine) {
        (Allowed::Named(limits), Some(usual)) => {
            keys::read(LIMIT_KEYS, limits, QUARANTINE, usual)?;
        }
        (Allowed::Any, _) => quarantine = None,
        (Allowed::Usual, _) | (Allowed::Named(_), None) => {}
    }
    Ok(Course { quarantine, interleave: entry.interleave(systems, steps), ..entry.course.clone() })
}

/// Only what backslide starts itself can be sampled or counted.
fn check_profiles(entry: &CourseEntry, systems: &[System]) -> Result<()> {
    let is_foreign = |system: &&System| system.build.is_foreign();
    for (key, place, rounds, verb) in [
        ("profile", &entry.profile_place, entry.course.profiled, "samples"),
        ("count", &entry.count_place, entry.course.counted, "counts instructions of"),
    ] {
        let foreign = systems.iter().find(is_foreign).filter(|_| rounds > 0);
        place.refuse(foreign.map(|system| {
            let name = &system.name;
            format!("`{key}` and `connect` of `{name}`: backslide {verb} servers that it starts; leave one of them out")
        }))?;
    }
    Ok(())
}

const QUARANTINE: &str = "quarantine";

/// The limits of the catalog: all of them.
pub(crate) fn noise(text: &str, origin: &str) -> Result<Quarantine> {
    let root = document::parse(text, origin)?;
    let mut limits = Quarantine::default();
    let fields = keys::read(LIMIT_KEYS, &root, "noise", &mut limits)?;
    for key in keys::names(LIMIT_KEYS) {
        fields.need(key)?;
    }
    Ok(limits)
}

/// What may be meant otherwise: looks that cannot end the run, and margins that are never used.
pub(crate) fn remarks(plan: &Plan) -> Vec<String> {
    let early = plan.course.first_look.filter(|first| *first < ROUNDS_FOR_A_VERDICT).map(|first| {
        format!(
            "`min` = {first}: a verdict needs {ROUNDS_FOR_A_VERDICT} rounds, so no earlier look can end the \
             run; raise `min`"
        )
    });
    let is_unused = |metric: &&MetricId| {
        metric.0.starts_with("server.") && plan.systems.iter().all(|s| s.build.dbms.is_embedded())
    };
    let unused = plan.course.margins.keys().filter(is_unused).map(|metric| {
        format!("`{metric}` in margins: no system of the plan has it, because SQLite has no server")
    });
    early.into_iter().chain(unused).chain(plan.changed_in_turns()).collect()
}

/// `4`, or `{ min = 3, max = 12 }`: the most, and when the run is looked at first.
fn rounds(item: Item<'_>) -> Result<(u32, Option<u32>)> {
    if item.is_table() {
        let fields = Fields::new(item.node, "rounds", &["min", "max"])?;
        let (min, max) = (fields.need("min")?, fields.need("max")?);
        let (least, most) = (min.small(1..=MAX_ROUNDS)?, max.small(1..=MAX_ROUNDS)?);
        if least >= most {
            return Err(min.conflict(format!(
                "`min` ({least}) must be less than `max` ({most}); for a fixed number, write \
                 `rounds = {most}`"
            )));
        }
        return Ok((most, Some(least)));
    }
    let rounds = item.small(1..=MAX_ROUNDS).map_err(|_| {
        let most = grouped(MAX_ROUNDS);
        item.no_whole_number(&format!(
            "a whole number from 1 to {most}, or {{ min = 3, max = 12 }}"
        ))
    });
    Ok((rounds?, None))
}

/// All systems are up at once, and each has the database to itself: no two of them on one server.
fn check_servers(systems: &[System], entry: &CourseEntry) -> Result<()> {
    let way = match entry.course.interleave {
        Interleave::Trials => return Ok(()),
        Interleave::Slices(_) => "slices",
        Interleave::Turns(_) => "turns",
    };
    // Whoever logs in, it is the same server.
    let server = |system: &System| {
        let BuildSource::Connect(address) = &system.build.source else { return None };
        address.rsplit('@').next().map(str::to_owned)
    };
    let mut seen: Vec<String> = Vec::new();
    for address in systems.iter().filter_map(server) {
        if seen.contains(&address) {
            return Err(entry.place.conflict(format!(
                "`interleave = \"{way}\"` and two systems on the server at {address}, the control \
                 counted: both would be measured at once in one database; leave `interleave` out, or \
                 give each a server"
            )));
        }
        seen.push(address);
    }
    Ok(())
}

/// `false`, or a table with some of the limits.
fn quarantine(item: Item<'_>) -> Result<Allowed> {
    match item.node.value {
        Value::Switch(false) => Ok(Allowed::Any),
        Value::Table(_) => {
            keys::read(LIMIT_KEYS, item.node, QUARANTINE, &mut Quarantine::default())
                .map(|_| Allowed::Named(item.node.clone()))
        }
        _ => Err(item.wrong("false, or a table such as { foreign_percent = 50, reruns = 1 }")),
    }
}

/// Per cent with at most one decimal, in thousandths.
fn permille(item: Item<'_>, most: u32, target: &mut u32) -> Result<()> {
    *target = item.decimal(1, 0..=most * 10).ok_or_else(|| {
        let most = grouped(most);
        item.wrong(&format!("a number of per cent from 0 to {most}, with one decimal at most"))
    })?;
    Ok(())
}

/// In per cent: `{ rate = 1, "server.cpu/o" = 0.5 }`.
fn margins(item: Item<'_>) -> Result<BTreeMap<MetricId, Margin>> {
    item.table("a table such as { rate = 1, \"server.cpu/o\" = 0.5 }")?;
    Fields::named(item)?.all().map(|item| margin(item)).collect()
}

fn margin(item: Item<'_>) -> Result<(MetricId, Margin)> {
    if let Value::Table(_) = item.node.value {
        return Err(item.conflict(format!(
            "`{}` in margins is a table: the name of a metric with a dot or a slash is written in quotes, such \
             as \"response.p99\" = 5",
            item.key
        )));
    }
    let metric = MetricId::new(item.key);
    // By its whole name, or by a short form such as `response.p99`.
    let of_any_kind = || describe(&metric.of_subject(ANY_KIND)?);
    let Some(described) = describe(&metric).or_else(of_any_kind) else {
        return Err(item.unknown("metric", item.key, judged_metrics()));
    };
    match described.direction {
        Direction::Higher | Direction::Lower => Ok((metric, percent(item)?)),
        Direction::Neither => Err(item.conflict(format!(
            "`{metric}` in margins: backslide does not judge it, because neither direction is better; leave it out"
        ))),
    }
}

/// Per cent with at most two decimals.
fn percent(item: Item<'_>) -> Result<Margin> {
    item.decimal(2, 0..=MAX_MARGIN * Margin::PER_PERCENT).map(Margin).ok_or_else(|| {
        item.wrong(&format!(
            "a number of per cent from 0 to {MAX_MARGIN}, with two decimals at most"
        ))
    })
}
