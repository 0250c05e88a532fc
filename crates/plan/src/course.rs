//! How the rounds of a plan are carried out: how many, what alternates in them, how much noise they may meet; and by
//! which margins they are judged.

use std::collections::BTreeMap;

use model::{BuildSource, Course, Interleave, Margin, MetricId, Nanos, Plan, Quarantine, System};

use crate::catalog::Catalog;
use crate::document::{self, Value};
use crate::fields::{Fields, Item, grouped};
use crate::file::Kind;
use crate::{Place, PlanError, margins};

const MAX_ROUNDS: u32 = 1_000;
/// Rounds below which there is no verdict, so that nothing can be decided.
const ROUNDS_FOR_A_VERDICT: u32 = 3;
/// Milliseconds of a slice: a shorter one has too few operations, a longer one is less alike its neighbour.
const SLICES: std::ops::RangeInclusive<u32> = 100..=2_000;
const USUAL_SLICE: u32 = 250;
/// More would make a long run of a host that is never quiet.
const MAX_RERUNS: u32 = 10;
/// Of one CPU: as much as the largest hosts have in all.
const MAX_PERCENT_OF_ONE: u32 = 100_000;

const LIMIT_KEYS: [&str; 6] = [
    "steal_percent",
    "foreign_percent",
    "throttled_percent",
    "swapped_pages",
    "major_faults",
    "reruns",
];

/// What a plan says of it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CourseEntry {
    /// The most.
    pub(crate) rounds: u32,
    first_look: Option<u32>,
    /// How long slices are and where that is said; `None` for whole trials.
    slices: Option<(Nanos, Place)>,
    /// The limits that the plan names; `None` where it wants none.
    quarantine: Option<Limits>,
    /// The margins that it names.
    margins: BTreeMap<MetricId, Margin>,
}

/// The limits that are named; those of the catalog take the place of the others.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Limits {
    steal_permille: Option<u32>,
    foreign_permille: Option<u32>,
    throttled_permille: Option<u32>,
    swapped_pages: Option<u32>,
    major_faults: Option<u32>,
    reruns: Option<u32>,
}

/// Reads the keys of a plan whose workload is of this kind.
pub(crate) fn course(fields: &Fields<'_>, kind: Kind) -> Result<CourseEntry, PlanError> {
    let (rounds, first_look) = rounds(&fields.need("rounds")?)?;
    Ok(CourseEntry {
        rounds,
        first_look,
        slices: slices(fields, kind)?,
        quarantine: match fields.get("quarantine") {
            None => Some(Limits::default()),
            Some(item) => quarantine(&item)?,
        },
        margins: match fields.get("margins") {
            None => BTreeMap::new(),
            Some(item) => margins::read(&item)?,
        },
    })
}

/// With the limits of the catalog where the plan names none, for these systems.
pub(crate) fn resolve(
    entry: &CourseEntry,
    catalog: &Catalog,
    systems: &[System],
) -> Result<Course, PlanError> {
    let interleave = match &entry.slices {
        None => Interleave::Trials,
        Some((length, place)) => {
            check_servers(systems, place)?;
            Interleave::Slices(*length)
        }
    };
    let limits = entry.quarantine.zip(catalog.noise());
    Ok(Course {
        first_look: entry.first_look,
        interleave,
        quarantine: limits.map(|(named, usual)| named.or(usual)),
        margins: entry.margins.clone(),
    })
}

/// The limits of the catalog: all of them.
pub(crate) fn noise(text: &str, origin: &str) -> Result<Quarantine, PlanError> {
    let root = document::parse(text, origin)?;
    let fields = Fields::new(&root, "noise", &LIMIT_KEYS)?;
    for key in LIMIT_KEYS {
        fields.need(key)?;
    }
    // None is missing, so that nothing of this is left.
    let none = Quarantine {
        steal_permille: 0,
        foreign_permille: 0,
        throttled_permille: 0,
        swapped_pages: 0,
        major_faults: 0,
        reruns: 0,
    };
    Ok(limits(&fields)?.or(none))
}

/// What may be meant otherwise.
pub(crate) fn remarks(plan: &Plan) -> Vec<String> {
    let early = plan.course.first_look;
    let early = early.filter(|first| *first < ROUNDS_FOR_A_VERDICT);
    let told = early.map(|first| {
        format!(
            "`min` = {first}: a verdict needs {ROUNDS_FOR_A_VERDICT} rounds, so the first look that can end the \
             run comes after these"
        )
    });
    told.into_iter().collect()
}

/// `4`, or `{ min = 3, max = 12 }`: the most, and when the run is looked at first.
fn rounds(item: &Item<'_>) -> Result<(u32, Option<u32>), PlanError> {
    if let Value::Table(_) = item.node.value {
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
    let expected = format!(
        "a whole number from 1 to {}, or {{ min = 3, max = 12 }}",
        grouped(MAX_ROUNDS)
    );
    let rounds = item.small(1..=MAX_ROUNDS);
    let rounds = rounds.map_err(|_| item.no_whole_number(&expected))?;
    Ok((rounds, None))
}

fn slices(fields: &Fields<'_>, kind: Kind) -> Result<Option<(Nanos, Place)>, PlanError> {
    let words = [("trials", false), ("slices", true)];
    let asked = match fields.get("interleave") {
        Some(item) if item.word("way to interleave", &words)? => Some(item),
        _ => None,
    };
    let length = fields.get("slice_ms");
    let Some(asked) = asked else {
        return match length {
            None => Ok(None),
            Some(item) => Err(item.conflict(
                "`slice_ms` and no `interleave = \"slices\"`: whole trials have no slices; leave it out, \
                 or say so",
            )),
        };
    };
    let changes_data = match kind {
        Kind::Micro | Kind::Sql => None,
        Kind::Insert => Some("insert"),
        Kind::Tpcc => Some("tpcc"),
    };
    if let Some(kind) = changes_data {
        return Err(asked.conflict(format!(
            "`interleave = \"slices\"` and `kind = \"{kind}\"`: its steps change data, so that no slice would \
             be like the one before it; leave `interleave` out"
        )));
    }
    let millis = length.map_or(Ok(USUAL_SLICE), |item| item.small(SLICES))?;
    let length = Nanos::from_millis(u64::from(millis));
    Ok(Some((length, asked.place())))
}

/// All systems are up at once, and each has the database to itself: no two of them on one server.
fn check_servers(systems: &[System], place: &Place) -> Result<(), PlanError> {
    let server = |system: &System| match &system.build.source {
        // Whoever logs in, it is the same server.
        BuildSource::Connect(address) => address.rsplit('@').next().map(str::to_owned),
        BuildSource::Embedded
        | BuildSource::Path(_)
        | BuildSource::Installed { .. }
        | BuildSource::Imported(_) => None,
    };
    let mut seen: Vec<String> = Vec::new();
    for address in systems.iter().filter_map(server) {
        if seen.contains(&address) {
            return Err(PlanError::Conflict {
                place: place.clone(),
                message: format!(
                    "`interleave = \"slices\"` and two systems on the server at {address}, the control \
                     counted: both would be measured at once in one database; leave `interleave` out, or \
                     give each a server"
                ),
            });
        }
        seen.push(address);
    }
    Ok(())
}

/// `false`, or a table with some of the limits.
fn quarantine(item: &Item<'_>) -> Result<Option<Limits>, PlanError> {
    match item.node.value {
        Value::Switch(false) => Ok(None),
        Value::Table(_) => {
            let fields = Fields::new(item.node, "quarantine", &LIMIT_KEYS)?;
            limits(&fields).map(Some)
        }
        _ => Err(item.wrong("false, or a table such as { foreign_percent = 50, reruns = 1 }")),
    }
}

fn limits(fields: &Fields<'_>) -> Result<Limits, PlanError> {
    let permille = |key, most| {
        fields
            .get(key)
            .map(|item| permille(&item, most))
            .transpose()
    };
    let number = |key, most| {
        let item = fields.get(key);
        item.map(|item| item.small(0..=most)).transpose()
    };
    Ok(Limits {
        steal_permille: permille("steal_percent", 100)?,
        foreign_permille: permille("foreign_percent", MAX_PERCENT_OF_ONE)?,
        throttled_permille: permille("throttled_percent", MAX_PERCENT_OF_ONE)?,
        swapped_pages: number("swapped_pages", u32::MAX)?,
        major_faults: number("major_faults", u32::MAX)?,
        reruns: number("reruns", MAX_RERUNS)?,
    })
}

/// Per cent with at most one decimal, in thousandths.
fn permille(item: &Item<'_>, most: u32) -> Result<u32, PlanError> {
    let tenths = match item.node.value {
        Value::Integer(percent) => percent as f64 * 10.0,
        Value::Float(percent) => percent * 10.0,
        _ => f64::NAN,
    };
    let whole = tenths.round();
    let is_fine = (0.0..=f64::from(most) * 10.0).contains(&whole) && (tenths - whole).abs() < 1e-6;
    if is_fine {
        Ok(whole as u32)
    } else {
        Err(item.wrong(&format!(
            "a number of per cent from 0 to {}, with one decimal at most",
            grouped(most)
        )))
    }
}

impl Limits {
    /// What is not named is as usual.
    fn or(self, usual: Quarantine) -> Quarantine {
        Quarantine {
            steal_permille: self.steal_permille.unwrap_or(usual.steal_permille),
            foreign_permille: self.foreign_permille.unwrap_or(usual.foreign_permille),
            throttled_permille: self.throttled_permille.unwrap_or(usual.throttled_permille),
            swapped_pages: self.swapped_pages.unwrap_or(usual.swapped_pages),
            major_faults: self.major_faults.unwrap_or(usual.major_faults),
            reruns: self.reruns.unwrap_or(usual.reruns),
        }
    }
}
