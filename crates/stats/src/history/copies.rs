//! Trials that are there twice: imported twice, or part of two files that were imported.

use std::collections::{BTreeMap, HashMap, HashSet};

use model::{Cell, RunData};

use super::collect::Part;
use super::lines::Copied;

/// Trials that count for nothing: the place of the part, the system, the round.
pub(super) type Left<'a> = HashSet<(usize, &'a str, u32)>;

/// A value of a trial: step, clients, metric, unit, bits.
type Value<'a> = (&'a str, u32, &'a str, &'static str, u64);

/// A trial as it would be copied: its build, engine and config, and all its values in order.
type Trial<'a> = (String, &'a str, &'a str, Vec<Value<'a>>);

/// Takes out each trial of which an earlier run has all values, to the last digit: such values are no evidence of
/// their own. Systems that have nothing else go too.
pub(super) fn without<'a>(parts: &[Part<'a>]) -> (Vec<Part<'a>>, Left<'a>, Vec<Copied>) {
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
            let Some(trial) = trial(part.data, system, values) else {
                continue;
            };
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
