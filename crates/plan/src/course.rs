//! How the rounds of a plan are carried out: how many, what alternates in them, how much noise they may meet; and by
//! which margins they are judged.

use model::{BuildSource, Course, Interleave, Nanos, Plan, Quarantine, System};

use crate::document::{self, Node, Value};
use crate::error::grouped;
use crate::fields::{Fields, Item};
use crate::keys::{self, Key, NEEDED};
use crate::kind::WorkloadKind;
use crate::{Place, Result, margins};

const MAX_ROUNDS: u32 = 1_000;
/// Rounds below which there is no verdict, so that nothing can be decided.
const ROUNDS_FOR_A_VERDICT: u32 = 3;
/// Milliseconds of a slice: a shorter one has too few operations, a longer one is less alike its neighbour.
const SLICE_MILLIS: std::ops::RangeInclusive<u32> = 100..=2_000;
/// More would make a long run of a host that is never quiet.
const MAX_RERUNS: u32 = 10;
/// Of one CPU: as much as the largest hosts have in all.
const MAX_PERCENT_OF_ONE: u32 = 100_000;

/// The usual lengths. Freezing takes a few milliseconds of each turn.
const SLICES: Interleave = Interleave::Slices(Nanos::from_millis(250));
const TURNS: Interleave = Interleave::Turns(Nanos::from_millis(500));

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct CourseEntry {
    pub(crate) rounds: u32,
    /// Without its quarantine.
    course: Course,
    /// Where that is asked for.
    place: Place,
    /// Where whole trials have a length of slices.
    stray_length: Option<Place>,
    quarantine: Allowed,
}

/// The noise that a plan allows.
#[derive(Clone, Debug, Default, PartialEq)]
enum Allowed {
    /// The limits of the catalog.
    #[default]
    Usual,
    /// These in place of some of them.
    Named(Node),
    Any,
}

type LimitKey = Key<Quarantine>;

/// The defaults are those of the catalog's `noise.toml`.
pub(crate) static LIMIT_KEYS: [LimitKey; 6] = [
    LimitKey::other("steal_percent", "0 to 100, one decimal", |l, v| {
        permille(v, 100).map(|it| l.steal_permille = it)
    })
    .says("10", "CPU time stolen by the hypervisor, of all CPUs"),
    LimitKey::other("foreign_percent", "0 to 100,000, one decimal", |l, v| {
        permille(v, MAX_PERCENT_OF_ONE).map(|it| l.foreign_permille = it)
    })
    .says("30", "CPU time of other processes, of one CPU"),
    LimitKey::other("throttled_percent", "0 to 100,000, one decimal", |l, v| {
        permille(v, MAX_PERCENT_OF_ONE).map(|it| l.throttled_permille = it)
    })
    .says("10", "time throttled by the cgroup, of one CPU"),
    LimitKey::small("swapped_pages", 0..=u32::MAX, |l, n| l.swapped_pages = n)
        .says("256", "pages swapped per second"),
    LimitKey::small("major_faults", 0..=u32::MAX, |l, n| l.major_faults = n)
        .says("1_000", "major page faults of the server per second"),
    LimitKey::small("reruns", 0..=MAX_RERUNS, |l, n| l.reruns = n)
        .says("2", "how often backslide re-runs a disturbed round"),
];

type CourseKey = Key<CourseEntry>;

pub(crate) static KEYS: [CourseKey; 5] = [
    CourseKey::other("rounds", "1 to 1,000, or `{ min = 3, max = 12 }`", |c, v| {
        rounds(v).map(|it| (c.rounds, c.course.first_look) = it)
    })
    .says(NEEDED, "a verdict needs 3 rounds, one about less than 2 % needs 4. With `min` the run is looked at after \
           that many rounds and each further one, and ends when all is decided"),
    CourseKey::other("interleave", "`\"trials\"`, `\"slices\"`, `\"turns\"`", |c, v| {
        let ways = [("trials", Interleave::Trials), ("slices", SLICES), ("turns", TURNS)];
        (c.course.interleave, c.place) = (v.word("way to interleave", &ways)?, v.place());
        Ok(())
    })
    .says("\"trials\"", "one system after the other; or all systems of a round are up at once and alternate. Slices: \
           within the steps that change no data, for `micro` and `sql`. Turns: within every step, while the other \
           servers are frozen: [Turns](methodology.md#turns)"),
    CourseKey::other("slice_ms", "100 to 2,000", |c, v| {
        match &mut c.course.interleave {
            Interleave::Trials => c.stray_length = Some(v.place()),
            Interleave::Slices(length) | Interleave::Turns(length) => {
                *length = Nanos::from_millis(v.small(SLICE_MILLIS)?.into());
            }
        }
        Ok(())
    })
    .says("250", "milliseconds of a slice, or of a turn (where the default is 500); short ones tell more of short statements: \
           [Slices](methodology.md#slices)"),
    CourseKey::other("quarantine", "`false`, or a table with keys below", |c, v| {
        quarantine(v).map(|it| c.quarantine = it)
    })
    .says("the limits of the catalog", "backslide sets a trial aside that meets more noise, and re-runs its round: \
           [Noise](noise.md#disturbed-trials)"),
    CourseKey::other("margins", "0 to 100 per metric, two decimals", |c, v| {
        margins::read(v).map(|it| c.course.margins = it)
    })
    .says("each metric's own: [Metrics](metrics.md)", MARGINS),
];

const MARGINS: &str = "the smallest changes worth calling, in per cent: \
    `{ rate = 1, \"server.cpu/o\" = 0.5, \"response.p99\" = 5 }`. Metrics by id, or by the short form of what each \
    step is about; names with a dot or a slash in quotes. A name that no measured step has operations for is an error. \
    `plan` reports a margin of a server's metric in a plan of SQLite alone, which is never used. `--min-effect` \
    replaces all of them; `history` does not use them";

impl CourseEntry {
    /// Checks what the keys say together, for a plan whose workload is of this kind.
    pub(crate) fn check(&self, kind: WorkloadKind) -> Result<()> {
        let message = match (self.course.interleave, &self.stray_length, kind) {
            (Interleave::Trials, Some(place), _) => {
                return Err(place.conflict(
                    "`slice_ms` and no `interleave = \"slices\"` or `\"turns\"`: whole trials have no slices; \
                     leave it out, or say so",
                ));
            }
            (Interleave::Slices(_), _, WorkloadKind::Insert | WorkloadKind::Tpcc) => Some(format!(
                "`interleave = \"slices\"` and `kind = \"{}\"`: its steps change data, so that no slice \
                 would be like the one before it; turns (`\"turns\"`) suit every step",
                if kind == WorkloadKind::Insert { "insert" } else { "tpcc" }
            )),
            _ => None,
        };
        self.place.refuse(message)
    }
}

/// With the limits of the catalog where the plan names none, for these systems.
pub(crate) fn resolve(
    entry: &CourseEntry,
    usual: Option<Quarantine>,
    systems: &[System],
) -> Result<Course> {
    check_servers(systems, entry)?;
    let mut quarantine = usual;
    match (&entry.quarantine, &mut quarantine) {
        (Allowed::Named(limits), Some(usual)) => {
            keys::read(&LIMIT_KEYS, limits, QUARANTINE, usual)?;
        }
        (Allowed::Any, _) => quarantine = None,
        (Allowed::Usual, _) | (Allowed::Named(_), None) => {}
    }
    Ok(Course { quarantine, ..entry.course.clone() })
}

const QUARANTINE: &str = "quarantine";

/// The limits of the catalog: all of them.
pub(crate) fn noise(text: &str, origin: &str) -> Result<Quarantine> {
    let root = document::parse(text, origin)?;
    let mut limits = Quarantine::default();
    let fields = keys::read(&LIMIT_KEYS, &root, "noise", &mut limits)?;
    for key in keys::names(&LIMIT_KEYS) {
        fields.need(key)?;
    }
    Ok(limits)
}

pub(crate) fn remarks(plan: &Plan) -> Vec<String> {
    let early = plan.course.first_look.filter(|first| *first < ROUNDS_FOR_A_VERDICT);
    Vec::from_iter(early.map(|first| {
        format!(
            "`min` = {first}: a verdict needs {ROUNDS_FOR_A_VERDICT} rounds, so the first look that can end the \
             run comes after these"
        )
    }))
}

/// `4`, or `{ min = 3, max = 12 }`: the most, and when the run is looked at first.
fn rounds(item: Item<'_>) -> Result<(u32, Option<u32>)> {
    if item.is_table() {
        let fields = Fields::new(item.node, "rounds", &["min", "max"])?;
        let (min, max) = (fields.need("min")?, fields.need("max")?);
        let (least, most) = (min.small(1..=MAX_ROUNDS)?, max.small(1..=MAX_ROUNDS)?);
        if least >= most {
            return Err(min.conflict(format!(
                "`min` ({least}) must be less than `max` ({most}); a number that is fixed is \
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
            keys::read(&LIMIT_KEYS, item.node, QUARANTINE, &mut Quarantine::default())
                .map(|_| Allowed::Named(item.node.clone()))
        }
        _ => Err(item.wrong("false, or a table such as { foreign_percent = 50, reruns = 1 }")),
    }
}

/// Per cent with at most one decimal, in thousandths.
fn permille(item: Item<'_>, most: u32) -> Result<u32> {
    item.decimal(1, 0..=most * 10).ok_or_else(|| {
        let most = grouped(most);
        item.wrong(&format!("a number of per cent from 0 to {most}, with one decimal at most"))
    })
}
